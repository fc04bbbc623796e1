"""Long output through a pager, on real terminals."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.sync import sync
from ctxgit.cli import pager
from support.git import git
from support.store import make_project, only, put_session, run_ctx

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.paths import StorePaths

MARK = "through the pager"
needs_less = pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    store = make_project(tmp_path / "project")
    put_session(store, 1, session="one")
    sync(store)
    return store


@pytest.fixture
def project(store: StorePaths) -> Path:
    return store.root.parent


class Terminal:
    """A ctx that runs on a terminal of its own."""

    def __init__(self, *words: str, cwd: Path, **env: str) -> None:
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ctxgit", *words],
            cwd=cwd,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=os.environ | {"TERM": "xterm-256color"} | env,
            preexec_fn=lambda: _lead(theirs),  # noqa: PLW1509 - Ctrl-C needs a session of its own
        )
        os.close(theirs)
        self.shown = b""

    def until(self, text: bytes = b"") -> str:
        """Read until ``text`` is shown, or to the end."""
        deadline = time.monotonic() + 30
        while not (text and text in self.shown):
            ready, _, _ = select.select([self.ours], [], [], deadline - time.monotonic())
            assert ready, self.shown
            if not self.read():
                break
        return self.shown.decode("utf-8", "replace").replace("\r\n", "\n")

    def read(self) -> bytes:
        """Read what is shown now; nothing once the other side is closed."""
        piece = b""
        with suppress(OSError):
            piece = os.read(self.ours, 65536)
        self.shown += piece
        return piece

    def press(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def end(self) -> tuple[int, str]:
        """Return the exit code, and all that was shown."""
        shown = self.until()
        os.close(self.ours)
        return self.process.wait(timeout=30), shown


def _lead(terminal: int) -> None:
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def on_terminal(*words: str, cwd: Path, **env: str) -> str:
    code, shown = Terminal(*words, cwd=cwd, **env).end()
    assert code == 0, shown
    return shown


def told(name: str) -> str:
    """Return a pager that says which it is, and shows what it gets."""
    return f"echo {name} {MARK}; cat"


# --- which ---------------------------------------------------------------------------------


def test_the_nearest_wish_counts(project: Path, home: Path) -> None:
    own = home / "gitconfig"
    wishes = {"CTX_PAGER": told("ctx"), "GIT_PAGER": told("git"), "PAGER": told("other")}
    environment = wishes | {"GIT_CONFIG_GLOBAL": str(own)}
    git(project, "config", "--file", str(own), "core.pager", told("config"))
    for name, expected in (("CTX_PAGER", "ctx"), ("GIT_PAGER", "git"), ("", "config")):
        shown = on_terminal("log", cwd=project, **environment)
        assert shown.splitlines()[0] == f"{expected} {MARK}"
        environment.pop(name, None)
    own.unlink()
    assert on_terminal("log", cwd=project, **environment).splitlines()[0] == f"other {MARK}"


def test_what_a_repository_says_is_not_heard(project: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    git(project, "config", "core.pager", f"touch {mark}; cat")
    git(project, "config", "pager.log", f"touch {mark}; cat")
    assert "session/2026-01-02-one" in on_terminal("log", cwd=project, PAGER="cat")
    assert not mark.exists()


def test_the_users_configuration_may_include_another(project: Path, home: Path) -> None:
    (home / "own").write_text("[include]\n\tpath = more\n")
    git(project, "config", "--file", str(home / "more"), "core.pager", told("included"))
    shown = on_terminal("log", cwd=project, GIT_CONFIG_GLOBAL=str(home / "own"))
    assert shown.splitlines()[0] == f"included {MARK}"


@pytest.mark.parametrize("wish", ["", "cat", " cat "])
def test_an_empty_wish_and_cat_mean_none(wish: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "other")
    assert pager.command() == "other"
    monkeypatch.setenv("CTX_PAGER", wish)
    assert pager.command() == ""


def test_without_a_wish_it_is_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PAGER", raising=False)
    assert pager.command() == "less"


def test_a_pager_that_is_not_there_is_done_without(project: Path, tmp_path: Path) -> None:
    path = only(tmp_path / "bin", "git")
    for wish in ({}, {"CTX_PAGER": "no-such-pager --really"}):
        assert "session/2026-01-02-one" in on_terminal("log", cwd=project, PATH=path, **wish)


# --- when ----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("log",), ("show", "000000"), ("diff", "@{0}")], ids=" ".join)
def test_what_can_be_long_goes_through_it(words: tuple[str, ...], project: Path) -> None:
    assert MARK in on_terminal(*words, cwd=project, CTX_PAGER=told("it"))
    assert MARK not in on_terminal("--no-pager", *words, cwd=project, CTX_PAGER=told("it"))
    assert MARK not in on_terminal(*words, "--json", cwd=project, CTX_PAGER=told("it"))


def test_without_a_terminal_there_is_none(project: Path) -> None:
    done = run_ctx("log", cwd=project, env={"CTX_PAGER": told("it")})
    assert (done.code, done.err) == (0, "")
    assert MARK not in done.out
    assert "session/2026-01-02-one" in done.out


def test_colours_and_width_are_the_terminals(project: Path) -> None:
    without = on_terminal("log", cwd=project, CTX_PAGER="cat")
    assert "\x1b[" in without
    assert on_terminal("log", cwd=project, CTX_PAGER="sh -c cat") == without
    bare = on_terminal("log", cwd=project, CTX_PAGER="sh -c cat", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", bare)


def test_the_content_alone_is_the_same_through_it(project: Path) -> None:
    shown = on_terminal("show", "000000", "--raw", cwd=project, CTX_PAGER="sh -c cat")
    assert shown == "     1\ttext 0\n" or shown.endswith("text 0\n")


def test_less_gets_gits_defaults_unless_the_user_has_some(project: Path) -> None:
    wish = 'echo "LESS=$LESS LV=$LV"; cat'
    assert on_terminal("log", cwd=project, CTX_PAGER=wish).startswith("LESS=FRX LV=-c\n")
    shown = on_terminal("log", cwd=project, CTX_PAGER=wish, LESS="i")
    assert shown.startswith("LESS=i LV=-c\n")


# --- its end -------------------------------------------------------------------------------


@pytest.fixture
def long(store: StorePaths, project: Path) -> Path:
    """A project whose log takes far more than a pipe holds."""
    tree = git(store.root, "rev-parse", "session/2026-01-02-one^{tree}")
    stream = "".join(
        f"commit refs/heads/session/2026-01-02-one\nmark :{number}\n"
        f"committer x <x@y> {1767400000 + number} +0000\ndata 60\n{'subject ' * 7}end\n"
        + (f"M 040000 {tree} \n" if number == 1 else "")
        for number in range(1, 4001)
    )
    subprocess.run(
        ["git", "fast-import", "--quiet", "--force"],
        input=stream.encode(),
        cwd=store.root,
        check=True,
    )
    return project


def test_leaving_the_pager_early_is_no_error(long: Path) -> None:
    for wish in ("head -2", "true", "sh -c 'exec <&-; sleep 0'"):
        shown = on_terminal("log", "-n", "4000", cwd=long, CTX_PAGER=wish)
        assert "rror" not in shown
        assert "Traceback" not in shown


@needs_less
def test_less_waits_for_the_person_and_ctrl_c_is_its_own(long: Path) -> None:
    terminal = Terminal("log", "-n", "4000", cwd=long, CTX_PAGER="less")
    terminal.until(b":")
    assert terminal.process.poll() is None
    terminal.press(b"G")
    terminal.until(b"(END)")
    terminal.press(b"\x03")
    while terminal.process.poll() is None:  # less forgets keys that come while it is interrupted
        with suppress(OSError):
            terminal.press(b"q")
        if select.select([terminal.ours], [], [], 0.2)[0]:
            terminal.read()
    code, shown = terminal.end()
    assert (code, "Traceback" in shown) == (0, False)


@needs_less
def test_what_fits_on_the_screen_is_shown_at_once(project: Path) -> None:
    code, shown = Terminal("log", cwd=project, CTX_PAGER="less").end()
    assert code == 0
    assert "session/2026-01-02-one" in shown


def test_the_verbs_own_failure_stays_one(project: Path) -> None:
    code, shown = Terminal("show", "nothing-such", cwd=project, CTX_PAGER=told("it")).end()
    assert code == 1
    assert MARK not in shown
    assert "error: nothing in the store is called nothing-such" in shown


def test_the_signal_is_as_before_afterwards(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CTX_PAGER", "sh -c 'echo first; cat'")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    before = signal.getsignal(signal.SIGINT)
    stdout = sys.stdout
    with pager.paged():
        print("inside")  # noqa: T201 - what is paged
        assert sys.stdout.isatty()
    assert sys.stdout is stdout
    assert signal.getsignal(signal.SIGINT) is before
    assert capfd.readouterr().out == "first\ninside\n"
