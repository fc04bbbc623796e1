"""What every verb has in common: help, exit codes, where words go, the JSON envelope."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command  # noqa: TID253 - the app is made of it

from ctxgit.actions.sync import sync
from ctxgit.cli.app import app
from support.payloads import payload
from support.store import ctx, make_project, only, put, put_session, run_ctx

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxgit.paths import StorePaths

BIN = Path(sys.executable).parent
SECRET = "ghp_" + "a1B2c3D4e5" * 3


def verbs(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every verb and of every group of verbs."""
    yield words
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from verbs(inner, (*words, name))


VERBS = list(verbs(get_command(app)))
DATA = {
    "status": ("status",),
    "log": ("log",),
    "show": ("show", "000001"),
    "sync": ("sync",),
    "config": ("config",),
    "init": ("init",),
    "task start": ("task", "start", "Look"),
    "task use": ("task", "use", "1"),
    "task done": ("task", "done", "1"),
    "task abandon": ("task", "abandon", "1"),
    "task list": ("task", "list"),
    "task show": ("task", "show", "1"),
}
"""A call of each verb that has a result, by the name in its envelope."""


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    store = make_project(tmp_path / "project")
    put_session(store, 3)
    sync(store)
    return store


@pytest.fixture
def project(store: StorePaths) -> Path:
    return store.root.parent


# --- help -------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_verb_explains_itself(words: tuple[str, ...], option: str, tmp_path: Path) -> None:
    done = ctx(*words, option, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    usage = " ".join(("Usage: ctx", *words))
    assert re.match(rf"{re.escape(usage)} ", done.out)
    assert "\x1b" not in done.out
    assert re.search(r"^  \S.*\.$", done.out, re.MULTILINE), "says what it does in a sentence"


def test_the_version_is_told(tmp_path: Path) -> None:
    done = ctx("--version", cwd=tmp_path)
    assert done.code == 0
    assert re.fullmatch(r"ctx \d+\.\d+\.\d+\S*\n", done.out)


@pytest.mark.parametrize("words", [(), ("task",)])
def test_no_verb_at_all_shows_the_help_as_a_wrong_use(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    done = ctx(*words, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: ctx")


# --- wrong use --------------------------------------------------------------------------------

WRONG = {
    ("frobnicate",): "no such command 'frobnicate'",
    ("status", "--frobnicate"): "no such option: --frobnicate",
    ("show",): "missing argument 'ID'",
    ("show", "a", "b"): "got unexpected extra argument",
    ("log", "-n", "0"): "0 is not in the range",
    ("log", "-n", "many"): "'many' is not a valid int",
    ("task", "frobnicate"): "no such command 'frobnicate'",
    ("task", "start"): "missing argument",
    ("task", "start", "  "): "a task needs a subject",
    ("show", " "): "names nothing",
    ("config", "recap.enabled", "maybe"): "maybe is no value for recap.enabled",
    ("config", "recap.enabled", "true", "--in", "mars"): "there is no layer mars",
}


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_use_is_told_in_a_sentence(words: tuple[str, ...], project: Path) -> None:
    done = ctx(*words, cwd=project)
    assert (done.code, done.out) == (2, "")
    error, *hint = done.err.splitlines()
    assert error.startswith("error: ")
    assert WRONG[words] in error
    assert [line.startswith("hint: ") for line in hint] in ([], [True])


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_use_is_told_as_json(words: tuple[str, ...], project: Path) -> None:
    done = ctx(*words, "--json", cwd=project)
    assert (done.code, done.err) == (2, "")
    assert set(done.json) == {"schema", "command", "error"}
    assert done.json["error"]["code"] == "usage"
    assert words[: len(done.json["command"].split())] == tuple(done.json["command"].split())


# --- results ----------------------------------------------------------------------------------


def test_every_verb_with_a_result_is_looked_at_here() -> None:
    leaves = {" ".join(words) for words in VERBS} - {"", "task"}
    assert set(DATA) <= leaves


@pytest.mark.parametrize("name", DATA)
def test_a_result_as_json_is_one_line_in_the_envelope(name: str, project: Path) -> None:
    ctx("task", "start", "First", cwd=project)
    done = ctx(*DATA[name], "--json", cwd=project)
    assert (done.code, done.err) == (0, "")
    assert done.out.count("\n") == 1
    assert set(done.json) == {"schema", "command", "data"}
    assert (done.json["schema"], done.json["command"]) == (1, name)
    assert done.out.isprintable() or "\n" in done.out


@pytest.mark.parametrize("name", DATA)
def test_a_failure_has_the_same_name_in_its_envelope(name: str, tmp_path: Path) -> None:
    store = tmp_path / "nowhere"
    words = [*DATA[name], "--json"]
    if name == "init":
        (tmp_path / "file").touch()
        store = tmp_path / "file" / "store"
    done = ctx(*words, "--store", str(store), cwd=tmp_path)
    assert (done.code, done.err) == (1, "")
    assert done.json["command"] == name
    assert done.json["error"]["message"]


def test_results_and_words_go_apart(store: StorePaths, project: Path) -> None:
    put(store, b"no event")
    done = ctx("sync", cwd=project)
    assert done.out == "Nothing to do.\n"
    assert done.err == "warning: 1 events could not be read; see `ctx status`\n"


def test_words_about_bad_input_steer_no_terminal(project: Path) -> None:
    done = ctx("show", "a\x1b[31m\nb\x07", cwd=project)
    assert done.code == 1
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", done.err)
    assert done.err.count("\n") == 2


def test_the_current_folder_may_be_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'cd "{gone}" && rmdir "{gone}" && exec "{sys.executable}" -m ctxgit "$@"'
    for words in (["status"], ["init"], ["sync"]):
        done = subprocess.run(
            ["/bin/sh", "-c", script, "sh", *words], capture_output=True, text=True, check=False
        )
        gone.mkdir()
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.splitlines()[0] == "error: the current directory is gone"


# --- a bug ------------------------------------------------------------------------------------


def test_a_bug_is_told_with_the_place_of_its_details(
    store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise LookupError(f"nothing under {SECRET}")

    monkeypatch.setattr("ctxgit.actions.log.read_log", fail)
    log = store.runtime / "crash.log"
    done = ctx("log", cwd=project)
    assert (done.code, done.out) == (3, "")
    assert done.err == f"error: a bug in ctxgit; the details are in {log}\n"
    text = log.read_text(encoding="utf-8")
    assert text.startswith("ctx log, ctxgit ")
    assert "LookupError: nothing under [redacted:github-token]" in text
    assert SECRET not in text
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("named", ["", "nowhere"])
def test_a_bug_where_there_is_no_store_is_logged_at_the_users(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise LookupError

    monkeypatch.setattr("ctxgit.cli.verbs.find_place", fail)
    monkeypatch.setenv("CTX_STORE", str(tmp_path / named) if named else "")
    log = Path(os.environ["XDG_CONFIG_HOME"], "ctxgit", "crash.log")
    done = ctx("log", cwd=tmp_path)
    assert done.code == 3
    assert str(log) in done.err
    assert "LookupError" in log.read_text()
    assert list(tmp_path.iterdir()) == []


# --- processes --------------------------------------------------------------------------------

ENTRIES = {
    "ctx": [str(BIN / "ctx")],
    "ctxgit": [str(BIN / "ctxgit")],
    "python -m ctxgit": [sys.executable, "-m", "ctxgit"],
}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
@pytest.mark.parametrize("verb", ["sync", "status"])
def test_every_entry_leads_to_the_same(entry: list[str], verb: str, project: Path) -> None:
    if shutil.which(entry[0]) is None:
        pytest.skip(f"{entry[0]} is not installed")
    done = subprocess.run(
        [*entry, verb, "--json"], cwd=project, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == ctx(verb, "--json", cwd=project).json
    wrong = subprocess.run([*entry, "frob"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2


@pytest.mark.parametrize("verb", ["sync", "log", "status", "config"])
def test_a_reader_that_goes_is_no_trouble(verb: str, project: Path) -> None:
    script = f'"{sys.executable}" -m ctxgit {verb} | true; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", script], cwd=project, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_the_first_line_of_many_comes_quietly(store: StorePaths, project: Path) -> None:
    for number in range(300):
        put(store, payload("UserPromptSubmit", prompt=f"{number}", prompt_id=f"{number}"))
        put(store, payload("Stop", prompt_id=f"{number}"))
    sync(store)
    script = f'"{sys.executable}" -m ctxgit log -n 1000 | head -1'
    done = subprocess.run(
        ["bash", "-c", script], cwd=project, capture_output=True, text=True, check=True
    )
    assert done.stdout == "● session/2026-01-02-0a1b2c3d\n"
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("verb", ["sync", "log", "status"])
@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["words", "json"])
def test_output_that_cannot_be_written_is_an_error(
    verb: str, as_json: list[str], project: Path
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ctxgit", verb, *as_json],
            cwd=project,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    expected = "error: cannot write the output: No space left on device\n"
    assert done.stderr == ("" if as_json else expected)


@pytest.mark.parametrize("verb", ["sync", "status"])
def test_closed_streams_are_no_trouble(verb: str, project: Path) -> None:
    for closed in (">&-", "2>&-", "<&-", ">&- 2>&-"):
        script = f'exec "{sys.executable}" -m ctxgit {verb} {closed}'
        done = subprocess.run(
            ["/bin/sh", "-c", script], cwd=project, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", [["sync"], ["status"]])
def test_an_interrupt_ends_with_130(words: list[str], store: StorePaths, tmp_path: Path) -> None:
    """Sent while git runs, which here takes its time."""
    put(store, payload("Stop"))
    for fifo in ("ready", "go"):
        os.mkfifo(tmp_path / fifo)
    wait = f'echo >"{tmp_path}/ready"; read -r _ <"{tmp_path}/go"; exit 1'
    path = only(tmp_path / "bin", git=wait)
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxgit", *words],
        cwd=store.root.parent,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    (tmp_path / "ready").read_text()
    process.send_signal(signal.SIGINT)
    with (tmp_path / "go").open("w") as go:
        go.write("\n")
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_of_the_terminal_will_do(encoding: str, tmp_path: Path) -> None:
    store = make_project(tmp_path / "日本é")
    put(store, payload("UserPromptSubmit", prompt="日本 é \N{GRINNING FACE}", cwd=str(store.root)))
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    for words in (["status"], ["log"], ["status", "--json"], ["sync"], ["show", "nothing é"]):
        done = subprocess.run(
            [sys.executable, "-m", "ctxgit", *words],
            cwd=store.root.parent,
            env=environment,
            capture_output=True,
            check=False,
        )
        assert done.returncode == (words[0] == "show"), done.stderr
        done.stdout.decode(encoding)
        if "--json" in words:
            prompt = json.loads(done.stdout.decode(encoding))["data"]["session"]["prompt"]
            assert prompt == "日本 é \N{GRINNING FACE}"


# --- completion -------------------------------------------------------------------------------


@pytest.mark.parametrize("sh", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_a_completion_script_is_printed(sh: str, entry: list[str], tmp_path: Path) -> None:
    if shutil.which(entry[0]) is None:
        pytest.skip(f"{entry[0]} is not installed")
    done = subprocess.run(
        [*entry, "--show-completion", sh],
        env={
            **os.environ,
            "SHELL": f"/bin/{sh}",
            "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
        },
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    name = "ctxgit" if entry[0].endswith("/ctxgit") else "ctx"
    assert f"_{name}_completion" in done.stdout or f"--command {name}" in done.stdout
    if shutil.which(sh):
        subprocess.run([sh, "-n"], input=done.stdout, text=True, check=True)


def test_verbs_are_completed(tmp_path: Path) -> None:
    done = run_ctx(
        cwd=tmp_path,
        env={"_CTX_COMPLETE": "complete_bash", "COMP_WORDS": "ctx ta", "COMP_CWORD": "1"},
    )
    assert done.out.split() == ["task"]
