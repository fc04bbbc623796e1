"""``ctx show``: any result, task or commit by the name a person has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ctxgit.actions.sync import sync
from support.git import git
from support.payloads import payload, tool_payload
from support.store import Done, ctx, make_project, put, put_session, read_event, run_ctx

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.paths import StorePaths

LINES = (
    "first\n\ttab \x1b[31mred\x1b[0m [bold]x[/] :smile:\n日本 \N{GRINNING FACE}\n" + "x" * 20_000
)


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    store = make_project(tmp_path / "project")
    put_session(store, 3, session="one")
    put(store, read_event(77, session="one", text=LINES), session="one")
    sync(store)
    return store


@pytest.fixture
def project(store: StorePaths) -> Path:
    return store.root.parent


def data(done: Done) -> Any:
    assert (done.code, done.err) == (0, "")
    return done.json["data"]


@pytest.mark.parametrize("name", ["000077", "toolu_000077", "00007"])
def test_a_chunk_by_its_id_or_the_beginning(name: str, project: Path) -> None:
    shown = data(ctx("show", name, "--json", cwd=project))
    assert (shown["id"], shown["session"], shown["content"]) == ("000077", "one", LINES)
    assert shown["input"] == {"file_path": "/p/77.txt"}


def test_the_content_alone_is_what_the_tool_returned(project: Path) -> None:
    for words in (["000077", "--raw"], ["--raw", "000077"]):
        assert ctx("show", *words, cwd=project).out == LINES
    for encoding in ("ascii", "utf-8"):
        done = run_ctx("show", "000077", "--raw", cwd=project, env={"PYTHONIOENCODING": encoding})
        assert done.out == LINES


def test_a_beginning_of_several_names_none(project: Path) -> None:
    done = ctx("show", "0000", cwd=project)
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        "error: 0000 is ambiguous: 000000, 000001, 000002, 000077",
        "hint: give more of the id",
    ]


def test_an_id_nearly_right_is_answered_with_those_like_it(project: Path) -> None:
    done = ctx("show", "00007x", cwd=project)
    assert done.code == 1
    assert done.err.splitlines() == [
        "error: nothing in the store is called 00007x",
        "hint: did you mean 000077?",
    ]


@pytest.mark.parametrize(
    "name", ["zzzz", "nothing at all", "HEAD:README.md", "a..b", "^main", "main^{tree}", "%s", "é"]
)
def test_an_unknown_name_is_told(name: str, project: Path) -> None:
    done = ctx("show", "--", name, cwd=project)
    assert (done.code, done.out) == (1, "")
    error, hint = done.err.splitlines()
    assert error == f"error: nothing in the store is called {name}"
    assert hint.startswith("hint: ")


def test_one_id_in_two_sessions_is_that_of_the_named_one(store: StorePaths, project: Path) -> None:
    """A forked session tells the tool results of the one it came from again."""
    put(store, read_event(77, session="two", text="of two"), session="two")
    sync(store)
    done = ctx("show", "000077", cwd=project)
    assert done.code == 1
    assert done.err.splitlines() == [
        "error: 000077 is in several sessions: 2026-01-02-one, 2026-01-02-two",
        "hint: name one with --session",
    ]
    for session, expected in {"one": LINES, "two": "of two"}.items():
        shown = data(ctx("show", "000077", "--session", session, "--json", cwd=project))
        assert (shown["session"], shown["content"]) == (session, expected)


def test_an_agent_is_shown_its_own_of_the_same_id(
    store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, read_event(77, session="two", text="of two"), session="two")
    sync(store)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "one")
    assert data(ctx("show", "000077", "--json", cwd=project))["session"] == "one"


def test_commits_tags_and_branches(store: StorePaths, project: Path) -> None:
    ctx("task", "start", "Fix it", cwd=project)
    ctx("task", "done", cwd=project)
    tag = git(store.root, "tag", "--list")
    commit = git(store.root, "rev-parse", tag)
    for name in (tag, f"refs/tags/{tag}", commit, commit[:10], "1", "task 1", "01-fix-it"):
        assert data(ctx("show", name, "--json", cwd=project))["entry"]["commit"] == commit
    branch = "session/2026-01-02-one"
    shown = data(ctx("show", branch, "--json", cwd=project))
    assert shown["entry"]["commit"] == git(store.root, "rev-parse", branch)
    root = git(store.root, "rev-list", "--max-parents=0", "main")
    assert ("A", "README.md") in [
        tuple(f) for f in data(ctx("show", root, "--json", cwd=project))["files"]
    ]


def test_every_commit_of_the_log_can_be_shown(store: StorePaths, project: Path) -> None:
    put(store, payload("SessionEnd", session_id="one"), session="one")
    rows = data(ctx("log", "--json", cwd=project))["commits"]
    assert len(rows) >= 2
    for row in rows:
        assert ctx("show", row["short"], cwd=project).code == 0


def test_inputs_large_and_null_are_shown_whole(store: StorePaths, project: Path) -> None:
    inputs = {"a": None, "b": [1, None, {"c": True}], "text": "x" * 10_000, "é": "日本"}
    put(store, tool_payload("Odd", inputs, "out", tool_use_id="odd1", session_id="one"))
    small = {"a": None, "b": 1.5}
    put(store, tool_payload("Odd", small, "out", tool_use_id="odd2", session_id="one"))
    assert data(ctx("show", "odd1", "--json", cwd=project))["input"] == inputs
    assert data(ctx("show", "odd2", "--json", cwd=project))["input"] == small
    assert ctx("show", "odd1", cwd=project).code == 0
