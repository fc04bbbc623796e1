"""Keeping an event: whole or not at all, over nothing, silently, whatever the machine is like."""

from __future__ import annotations

import hashlib
import os
import re
import resource
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import disk
from support.git import git
from support.payloads import SESSION
from support.store import (
    NEEDED,
    SHELLS,
    hook_command,
    hook_environment,
    log_text,
    make_project,
    only,
    run_hook,
    spool_names,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ctxgit.paths import StorePaths

EVENT = "PostToolUse"
STANDING = "1767355200000000000"
"""What a clock says that stands still."""
WITH_STUBS = SHELLS[:3]
"""busybox takes its own commands before those on PATH."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.fixture
def store(project: Path) -> StorePaths:
    return make_project(project)


@pytest.fixture
def environment(store: StorePaths) -> dict[str, str]:
    return hook_environment(store.root.parent)


def kept(store: StorePaths) -> list[Path]:
    """Return the events in the spool."""
    return sorted(path for path in store.spool.iterdir() if not path.name.startswith("."))


def keep(
    data: bytes,
    environment: Mapping[str, str],
    *,
    sh: Sequence[str] = ("/bin/sh",),
    cwd: Path | None = None,
) -> None:
    """Run the hook of a tool's result, which must say nothing."""
    done = run_hook(EVENT, data, environment, sh=sh, cwd=cwd)
    assert (done.code, done.out, done.err) == (0, "", "")


def keep_with_pid(before: str, data: bytes, environment: Mapping[str, str]) -> None:
    """Run the shell commands ``before``, then the hook in the same process: both have one $$."""
    run = f"{before}; exec /bin/sh -c {shlex.quote(hook_command(EVENT))}"
    done = subprocess.run(
        ["/bin/sh", "-c", run], input=data, env=dict(environment), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


CONTENTS = {
    "json": b'{"hook_event_name": "PostToolUse"}\n',
    "empty": b"",
    "no line end": b"{}",
    "NULs": b"\0" * 1000 + b"a\0b\n\0",
    "backslashes and percents": b"\\n\\0 %s %n\\c",
    "every byte": bytes(range(256)) * 20,
    "5 MB": hashlib.shake_256(b"5").digest(5 * 1024 * 1024),
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("data", CONTENTS.values(), ids=CONTENTS)
def test_the_bytes_are_kept_as_they_came(
    data: bytes, shell: tuple[str, ...], store: StorePaths, environment: dict[str, str]
) -> None:
    keep(data, environment, sh=shell)
    (event,) = kept(store)
    assert event.read_bytes() == data
    assert event.stat().st_mode & 0o7777 == 0o600
    stamp, session, client, hook = event.name.split(".")
    assert (session, client) == (SESSION, "4242")
    assert re.fullmatch(r"[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", stamp)
    assert hook.isdigit()


def test_files_are_private_whatever_the_umask(
    store: StorePaths, environment: dict[str, str]
) -> None:
    shutil.rmtree(store.spool)
    before = os.umask(0)
    try:
        keep(b"{}", environment)
    finally:
        os.umask(before)
    assert store.spool.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in store.spool.iterdir()} == {0o600}


@pytest.mark.parametrize("links", ["", "exit 1"], ids=["hard links", "no hard links"])
def test_no_event_replaces_another(
    links: str, store: StorePaths, environment: dict[str, str], tmp_path: Path
) -> None:
    """The clock stands still and pids are used again: the names a hook would take are taken."""
    stubs = {"date": f"echo {STANDING}"} | ({"ln": links} if links else {})
    environment["PATH"] = only(tmp_path / "bin", *NEEDED, **stubs)
    taken = f'"{store.spool}/{STANDING}.{SESSION}.4242.$$'
    keep_with_pid(f'echo 1 >{taken}"; echo 2 >{taken}.1"', b"new", environment)
    assert sorted(path.read_bytes() for path in kept(store)) == [b"1\n", b"2\n", b"new"]


def test_what_another_hook_is_writing_is_not_written_over(
    store: StorePaths, environment: dict[str, str], tmp_path: Path
) -> None:
    environment["PATH"] = only(tmp_path / "bin", *NEEDED, date=f"echo {STANDING}")
    hidden = f'"{store.spool}/.{STANDING}.{SESSION}.4242.$$"'
    keep_with_pid(f"echo theirs >{hidden}", b"ours", environment)
    assert {path.read_bytes() for path in store.spool.iterdir()} == {b"theirs\n", b"ours"}


def test_a_name_taken_in_the_last_moment_costs_neither_event(
    store: StorePaths, environment: dict[str, str], tmp_path: Path
) -> None:
    """Another event comes between the look at the name and the taking of it."""
    link = f'exec {shutil.which("ln")} "$@"'
    between = f'for path; do :; done; echo theirs >"$path"; {link}'
    environment["PATH"] = only(tmp_path / "bin", *NEEDED, ln=between)
    keep(b"ours", environment)
    assert sorted(path.read_bytes() for path in kept(store)) == [b"ours", b"theirs\n"]


def test_without_hard_links_the_event_is_moved(
    store: StorePaths, environment: dict[str, str], tmp_path: Path
) -> None:
    environment["PATH"] = only(tmp_path / "bin", *NEEDED, ln="exit 1")
    keep(b"content", environment)
    (event,) = kept(store)
    assert event.read_bytes() == b"content"
    assert spool_names(store) == [event.name]


@pytest.mark.parametrize("shell", WITH_STUBS)
def test_nothing_half_written_is_left(
    shell: tuple[str, ...], store: StorePaths, environment: dict[str, str], tmp_path: Path
) -> None:
    environment["PATH"] = only(tmp_path / "bin", *NEEDED, "head", cat="head -c 3; exit 1")
    keep(b"0123456789", environment, sh=shell)
    assert spool_names(store) == []
    (line,) = log_text(store).splitlines()
    assert line.endswith(f"hook {EVENT}: the event could not be kept in {store.spool}")
    assert store.log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("shell", SHELLS)
def test_a_process_that_may_write_no_more_leaves_nothing(
    shell: tuple[str, ...], store: StorePaths, environment: dict[str, str]
) -> None:
    """``cat`` is killed in the middle, by the limit on the size of files."""
    limited = [str(shutil.which(shell[0])), *shell[1:], "-c", hook_command(EVENT)]
    done = subprocess.run(
        limited,
        input=b"x" * 200_000,
        env=environment,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)),
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert spool_names(store) == []
    assert "could not be kept" in log_text(store)


@disk.needs_mounts
@pytest.mark.parametrize("shell", SHELLS)
def test_a_full_disk_leaves_nothing(
    shell: tuple[str, ...], store: StorePaths, environment: dict[str, str]
) -> None:
    listing = f'/bin/sh -c "$1" && ls -A "{store.spool}" >"{store.root}/listing"'
    full = [*disk.small(store.spool, "64k"), str(shutil.which(shell[0])), *shell[1:]]
    done = subprocess.run(
        [*full, "-c", listing, "sh", hook_command(EVENT)],
        input=b"x" * 200_000,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (store.root / "listing").read_text() == ""
    assert "could not be kept" in log_text(store)


@disk.needs_mounts
@pytest.mark.parametrize("shell", SHELLS)
def test_a_store_that_cannot_be_written_is_passed_by(
    shell: tuple[str, ...], store: StorePaths, environment: dict[str, str]
) -> None:
    before = sorted(store.runtime.rglob("*"))
    keep(b"{}", environment, sh=[*disk.read_only(store.root), *shell])
    assert sorted(store.runtime.rglob("*")) == before


@pytest.mark.parametrize("lines", [10, 6000])
def test_the_log_is_begun_anew_when_it_is_long(
    lines: int, store: StorePaths, environment: dict[str, str], tmp_path: Path
) -> None:
    old = "2026-01-02T12:00:00Z hook Stop: " + "x" * 67 + "\n"
    store.log.write_text(old * lines)
    store.log.with_name("log.1").write_text("older\n")
    environment["PATH"] = only(tmp_path / "bin", *NEEDED, cat="exit 1")
    keep(b"{}", environment)
    is_long = len(old) * lines > 512 * 1024
    assert log_text(store).count("\n") == (1 if is_long else lines + 1)
    assert store.log.with_name("log.1").read_text() == (old * lines if is_long else "older\n")


SESSIONS = {
    "": "none",
    "../../x": "none",
    "a/b": "none",
    "a.b": "none",
    "a b": "none",
    "-rf": "none",
    "_a": "none",
    ".": "none",
    "$(touch x)": "none",
    "a\nb": "none",
    "é": "none",
    "a" * 300: "none",
    "a" * 129: "none",
    "a" * 128: "a" * 128,
    "A_b-9": "A_b-9",
    "none": "none",
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_session_id_unfit_for_a_name_is_left_out(
    shell: tuple[str, ...], store: StorePaths, environment: dict[str, str]
) -> None:
    for session, expected in SESSIONS.items():
        keep(b"{}", environment | {"CLAUDE_CODE_SESSION_ID": session}, sh=shell)
        (event,) = kept(store)
        assert event.name.split(".")[1] == expected
        assert len(event.name.split(".")) == 4
        shutil.rmtree(store.spool)


@pytest.mark.parametrize("pid", ["", "x", "1.2", "../1", "-1"])
def test_a_client_pid_that_is_none_is_left_out(
    pid: str, store: StorePaths, environment: dict[str, str]
) -> None:
    keep(b"{}", environment | {"CLAUDE_PID": pid})
    (event,) = kept(store)
    assert event.name.split(".")[2] == "none"


@pytest.mark.parametrize("shell", SHELLS)
def test_hardly_anything_is_asked_of_the_environment(
    shell: tuple[str, ...],
    store: StorePaths,
    project: Path,
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    """No HOME, no session, no git; the current folder says which project it is."""
    bare = {
        "PATH": only(tmp_path / "bin", *NEEDED),
        "CLAUDE_PLUGIN_ROOT": environment["CLAUDE_PLUGIN_ROOT"],
    }
    keep(b"{}", bare, sh=shell, cwd=project)
    (event,) = kept(store)
    assert event.name.split(".")[1:3] == ["none", "none"]


@pytest.mark.parametrize("clock", ["exit 1", "echo", "echo 1767355200N", "echo 1767355200%N"])
def test_a_poor_clock_costs_no_event(
    clock: str, store: StorePaths, environment: dict[str, str], tmp_path: Path
) -> None:
    """Where the kernel gives no ids the stamp is a time; some know no nanoseconds."""
    plugin = tmp_path / "plugin"
    shutil.copytree(Path(environment["CLAUDE_PLUGIN_ROOT"]) / "hooks", plugin / "hooks")
    hook = plugin / "hooks" / "hook.sh"
    kernel = "/proc/sys/kernel/random/uuid"
    assert kernel in hook.read_text(encoding="utf-8")
    hook.write_text(hook.read_text(encoding="utf-8").replace(kernel, "/nowhere"), encoding="utf-8")
    environment["CLAUDE_PLUGIN_ROOT"] = str(plugin)
    environment["PATH"] = only(tmp_path / "bin", *NEEDED, date=clock)
    keep(b"{}", environment)
    (event,) = kept(store)
    assert event.name.split(".")[0] == ("1767355200" if "17" in clock else "0")


def test_an_event_may_come_before_the_spool_does(
    store: StorePaths, environment: dict[str, str]
) -> None:
    shutil.rmtree(store.spool)
    keep(b"{}", environment)
    assert len(kept(store)) == 1


def test_the_store_can_be_named(store: StorePaths, environment: dict[str, str]) -> None:
    other = make_project(store.root.parent.parent / "other")
    keep(b"{}", environment | {"CTX_STORE": str(other.root)})
    assert (len(kept(store)), len(kept(other))) == (0, 1)


def test_a_named_store_that_is_none_is_not_replaced_by_the_projects(
    store: StorePaths, environment: dict[str, str], tmp_path: Path
) -> None:
    keep(b"{}", environment | {"CTX_STORE": str(tmp_path / "gone")})
    assert kept(store) == []
    assert not (tmp_path / "gone").exists()


def test_an_empty_name_names_no_store(store: StorePaths, environment: dict[str, str]) -> None:
    keep(b"{}", environment | {"CTX_STORE": ""})
    assert len(kept(store)) == 1


def test_a_path_may_hold_anything(tmp_path: Path) -> None:
    odd = tmp_path / "a b'c\"$(touch x);*&\n\\é"
    store = make_project(odd)
    keep(b"{}", hook_environment(odd))
    assert len(kept(store)) == 1
    assert git(odd, "status", "--porcelain") == ""
