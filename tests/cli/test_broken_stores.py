"""What verbs and hooks say of a store that is damaged, newer, read-only, or out of reach."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.sync import sync
from support import disk
from support.payloads import SESSION, payload
from support.store import (
    HOOKS,
    ctx,
    hook_environment,
    make_project,
    put_session,
    run_ctx,
    run_hook,
    spool_names,
)

if TYPE_CHECKING:
    from ctxgit.paths import StorePaths

Words = tuple[str, ...]
READING: tuple[Words, ...] = (
    ("status",),
    ("log",),
    ("show", "000001"),
    ("task", "list"),
    ("task", "show", "1"),
)
WRITING: tuple[Words, ...] = (
    ("task", "start", "Look"),
    ("config", "recap.enabled", "false", "--in", "shared"),
)


def without_head(store: StorePaths) -> None:
    (store.git_dir / "HEAD").unlink()


def without_objects(store: StorePaths) -> None:
    shutil.rmtree(store.git_dir / "objects")


def with_emptied_objects(store: StorePaths) -> None:
    without_objects(store)
    (store.git_dir / "objects").mkdir()
    forget_what_is_derived(store)


def with_truncated_packs(store: StorePaths) -> None:
    for pack in (store.git_dir / "objects" / "pack").glob("*.pack"):
        pack.chmod(0o600)
        os.truncate(pack, 40)
    forget_what_is_derived(store)


def of_a_newer_version(store: StorePaths) -> None:
    (store.root / "config.toml").write_text("format = 2\n")


def with_a_wrong_config(store: StorePaths) -> None:
    (store.root / "config.toml").write_text("format = \n")


def forget_what_is_derived(store: StorePaths) -> None:
    store.index.unlink()
    for cached in store.sessions.glob("*/state.json"):
        cached.unlink()


Breaking = Callable[["StorePaths"], None]
UNUSABLE: dict[Breaking, str] = {
    without_head: "is damaged: its repository is incomplete",
    without_objects: "is damaged: its repository is incomplete",
    of_a_newer_version: "has store format 2, this ctxgit knows 1",
    with_a_wrong_config: "config.toml is not valid",
}
DAMAGED: dict[Breaking, str] = {with_emptied_objects: "git ", with_truncated_packs: "git "}


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    store = make_project(tmp_path / "project")
    put_session(store, 3)
    sync(store)
    return store


@pytest.mark.parametrize("breaking", [*UNUSABLE, *DAMAGED], ids=lambda f: f.__name__)
def test_every_verb_says_what_is_wrong_and_what_to_do(
    breaking: Breaking, store: StorePaths
) -> None:
    breaking(store)
    project = store.root.parent
    expected = {**UNUSABLE, **DAMAGED}[breaking]
    verbs = [*READING, *(WRITING if breaking in UNUSABLE else ())]
    for words in [*verbs, *([("init",), ("sync",)] if breaking in UNUSABLE else [])]:
        done = ctx(*words, cwd=project)
        assert (done.code, done.out) == (1, ""), words
        lines = done.err.splitlines()
        error = [line for line in lines if line.startswith("error: ")]
        hint = [line for line in lines if line.startswith("hint: ")]
        assert len(error) == len(hint) == 1, words
        assert len(lines) == 2, words
        if breaking in UNUSABLE:
            assert str(store.root) in error[0]
            assert expected in error[0]
        told = ctx(*words, "--json", cwd=project)
        assert (told.code, told.err) == (1, ""), words
        assert set(told.json) == {"schema", "command", "error"}
        assert set(told.json["error"]) == {"code", "message", "hint"}
        assert error == [f"error: {told.json['error']['message']}"]
        assert hint == [f"hint: {told.json['error']['hint']}"]


@pytest.mark.parametrize("breaking", UNUSABLE, ids=lambda f: f.__name__)
def test_hooks_are_silent_and_keep_the_event(breaking: Breaking, store: StorePaths) -> None:
    breaking(store)
    (recap,) = store.recaps.iterdir()
    recap.unlink()
    environment = hook_environment(store.root.parent)
    for event in HOOKS:
        done = run_hook(event, payload(event), environment)
        assert (done.code, done.err) == (0, "")
        assert done.out == "" or event == "PreCompact"  # what it knows from the last sync
    kept = [name for name in spool_names(store) if not name.startswith(".")]
    assert len(kept) == len(HOOKS)
    assert "sync: " in store.log.read_text()


def test_a_mended_store_takes_in_what_came_meanwhile(store: StorePaths) -> None:
    (store.git_dir / "HEAD").rename(store.root / "HEAD")
    run_hook("Stop", payload("Stop"), hook_environment(store.root.parent))
    (store.root / "HEAD").rename(store.git_dir / "HEAD")
    assert ctx("sync", cwd=store.root.parent).code == 0
    assert spool_names(store) == []


def test_without_git_verbs_say_so(store: StorePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    new = store.root.parent.parent / "new"
    new.mkdir()
    for words, place in (
        *((words, store.root.parent) for words in (*READING, *WRITING)),
        (("init",), new),
    ):
        done = run_ctx(*words, cwd=place)
        assert (done.code, done.out) == (1, ""), words
        lines = done.err.splitlines()
        assert lines[-2:] == ["error: git is not on PATH", "hint: install git 2.34 or newer"], words
    assert list(new.iterdir()) == []


def test_without_git_hooks_keep_the_event(store: StorePaths) -> None:
    environment = hook_environment(store.root.parent)
    folders = environment["PATH"].split(os.pathsep)
    tools = [folder for folder in folders if not Path(folder, "git").exists()]
    only_needed = store.root.parent.parent / "bin"
    only_needed.mkdir()
    for name in ("cat", "date", "find", "ln", "mkdir", "mv", "rm"):
        (only_needed / name).symlink_to(shutil.which(name) or "")
    environment["PATH"] = os.pathsep.join([str(only_needed), *tools])
    done = run_hook("Stop", payload("Stop"), environment)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert len(spool_names(store)) == 2
    assert "git is not on PATH" in store.log.read_text()


@disk.needs_mounts
def test_a_read_only_store_can_be_read(store: StorePaths) -> None:
    project = store.root.parent
    environment = hook_environment(project)
    run_hook("UserPromptSubmit", payload("UserPromptSubmit"), environment)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [*disk.read_only(store.root), sys.executable, "-m", "ctxgit", *words]
        return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)

    for words in (("status",), ("log",), ("show", "000001"), ("task", "list"), ("config",)):
        done = run(*words, "--json")
        assert done.returncode == 0, done.stderr
        assert "data" in json.loads(done.stdout)
        told = [] if words == ("config",) else ["warning: waiting events are not shown"]
        assert [line[:37] for line in done.stderr.splitlines()] == told
    writing: list[Words] = [("sync",), *WRITING, ("config", "recap.enabled", "false")]
    for command in writing:
        done = run(*command)
        assert (done.returncode, done.stdout) == (1, ""), command
        assert "error: " in done.stderr
        assert "Read-only file system" in done.stderr
        assert "bug" not in done.stderr


def test_a_damaged_index_is_made_again(store: StorePaths) -> None:
    for content in (b"", b"junk" * 4000, store.index.read_bytes()[:5000]):
        store.index.write_bytes(content)
        done = ctx("status", "--json", cwd=store.root.parent)
        assert done.code == 0, done.err
        assert done.json["data"]["session"]["id"] == SESSION


def test_without_a_store_every_verb_tells_how_to_make_one(tmp_path: Path) -> None:
    for words in (*READING, *WRITING, ("sync",), ("config",)):
        done = ctx(*words, cwd=tmp_path)
        assert (done.code, done.out) == (1, "")
        assert done.err.splitlines() == [
            f"error: no context store for {tmp_path}",
            "hint: run `ctx init` in the project, or name a store with --store",
        ]
    assert list(tmp_path.iterdir()) == []


def test_a_named_store_that_is_not_there_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "named"
    for words in (*READING, *WRITING, ("sync",)):
        assert ctx(*words, "--store", str(named), cwd=tmp_path).code in {1, 2}
    monkeypatch.setenv("CTX_STORE", str(named))
    done = ctx("status", cwd=tmp_path)
    assert done.err.splitlines()[0] == f"error: there is no context store at {named}"
    assert list(tmp_path.iterdir()) == []
