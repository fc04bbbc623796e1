"""What a person sees on a terminal, and what a program reads from a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.sync import sync
from support.payloads import payload, tool_payload
from support.store import make_project, put, put_session, read_event, run_ctx

if TYPE_CHECKING:
    from pathlib import Path

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
LONG = "word " * 60
WORDS = (
    ("status",),
    ("log",),
    ("show", "000001"),
    ("show", "odd1"),
    ("show", "session/2026-01-02-one"),
    ("task", "list"),
    ("task", "show", "1"),
    ("config",),
    ("sync",),
    ("init",),
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose every name asks for trouble."""
    store = make_project(tmp_path / "[bold]pro:smile:ject[/]")
    put_session(store, 2, session="one")
    put(store, payload("UserPromptSubmit", session_id="one", prompt=f"[/red] {LONG}"))
    todo = {"todos": [{"content": f"[x] {LONG}", "status": "in_progress"}]}
    put(store, tool_payload("TodoWrite", todo, {}, tool_use_id="t1", session_id="one"))
    tool = "mcp__[/]\x1b[31m__:fire:"
    given = {"file_path": "/p/[red]" + "x" * 300, "note": "\x1b]0;title\x07[/b]"}
    output = f"\x1b[2J[bold]{LONG}\rover\x07"
    put(store, tool_payload(tool, given, output, tool_use_id="odd1", session_id="one"))
    put(store, read_event(9, session="one"))
    sync(store)
    return store.root.parent


def on_terminal(*words: str, cwd: Path, width: int = 80, **env: str) -> str:
    """Run ctx on a terminal of its own and return what it shows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxgit", *words],
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=kept | {"TERM": "xterm-256color", "CTX_PAGER": "cat"} | env,
    )
    os.close(theirs)
    shown = bytearray()
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait(timeout=30) == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")


def plain(text: str) -> str:
    """Return ``text`` without colours; nothing else may steer the terminal."""
    without = ESCAPE.sub("", text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", without)
    return without


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_a_terminal_gets_colours_and_nothing_else(words: tuple[str, ...], project: Path) -> None:
    shown = on_terminal(*words, cwd=project)
    plain(shown)
    assert bool(ESCAPE.search(shown)) == (words != ("sync",))


@pytest.mark.parametrize("words", WORDS[:3], ids=" ".join)
def test_without_colours_the_words_are_the_same(words: tuple[str, ...], project: Path) -> None:
    coloured = on_terminal(*words, cwd=project)
    bare = on_terminal(*words, cwd=project, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", bare)
    assert plain(bare) == plain(coloured)
    assert "\x1b" not in on_terminal(*words, cwd=project, TERM="dumb")


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_a_pipe_gets_whole_lines_without_colours(words: tuple[str, ...], project: Path) -> None:
    narrow = run_ctx(*words, cwd=project, env={"COLUMNS": "20", "TERM": "xterm-256color"})
    assert (narrow.code, narrow.err) == (0, "")
    if words != ("show", "odd1"):  # whose content is what the tool returned
        assert "\x1b" not in narrow.out
    wide = run_ctx(*words, cwd=project, env={"COLUMNS": "500"})
    assert narrow == wide
    assert (
        not [line for line in narrow.out.splitlines() if line != line.rstrip()]
        or words[0] == "show"
    )


@pytest.mark.parametrize("width", [10, 40])
@pytest.mark.parametrize("words", WORDS[:8], ids=" ".join)
def test_any_width_will_do(words: tuple[str, ...], width: int, project: Path) -> None:
    shown = plain(on_terminal(*words, cwd=project, width=width))
    assert shown.strip()
    if words[0] in {"log", "task", "config"} and width >= 40:
        assert max(map(len, shown.splitlines())) <= width


def test_what_is_shown_is_what_was_recorded(project: Path) -> None:
    """Square brackets and colons are no markup, neither in names nor in texts."""
    status = run_ctx("status", cwd=project).out
    assert f"Work tree {project}, branch main" in status
    assert "Turn 2: [/red] word" in status
    assert "[x] word word" in status
    assert str(project) in run_ctx("init", cwd=project).out
    task = run_ctx("task", "show", "1", cwd=project).out
    assert "mcp__[/]\N{REPLACEMENT CHARACTER}[31m__:fire:" in task
    assert "/p/[red]" + "x" * 300 in task
    chunk = run_ctx("show", "odd1", cwd=project).out
    assert "  note: \N{REPLACEMENT CHARACTER}]0;title\N{REPLACEMENT CHARACTER}[/b]" in chunk
    assert f"\x1b[2J[bold]{LONG}" in chunk


def test_a_long_line_is_one_line_in_a_pipe(project: Path) -> None:
    (line,) = [line for line in run_ctx("log", cwd=project).out.splitlines() if "Turn 2" in line]
    assert line.startswith("│ ")
    (row,) = [row for row in run_ctx("task", "list", cwd=project).out.splitlines() if "[x]" in row]
    assert "active" in row
