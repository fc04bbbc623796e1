"""``ctx task``: what work is for, said by hand; and for which session it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ctxgit.actions.sync import sync
from support.git import git, linked_work_tree
from support.payloads import payload
from support.store import Done, branches, ctx, make_project, put, put_session, read_event

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.paths import StorePaths

S = "session-one"


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    store = make_project(tmp_path / "project")
    put_session(store, 2, session=S)
    sync(store)
    return store


@pytest.fixture
def project(store: StorePaths) -> Path:
    return store.root.parent


def data(done: Done) -> Any:
    assert (done.code, done.err) == (0, "")
    return done.json["data"]


def tasks(project: Path, *words: str) -> list[tuple[int, str, str]]:
    rows = data(ctx("task", "list", *words, "--json", cwd=project))["tasks"]
    return [(row["number"], row["subject"], row["status"]) for row in rows]


def test_the_life_of_a_task(store: StorePaths, project: Path) -> None:
    assert ctx("task", "list", cwd=project).out == "No tasks.\n"
    assert ctx("task", "start", "Fix it", cwd=project).out == "Started task 1: Fix it\n"
    put(store, read_event(7, session=S), session=S)
    done = ctx("task", "done", cwd=project)
    tag = "task/2026-01-02-session/01-fix-it"
    assert done.out == f"Finished task 1: Fix it, tag {tag}\n"
    assert git(store.root, "tag", "--list") == tag
    assert tasks(project) == [(1, "Fix it", "done")]
    shown = data(ctx("task", "show", "1", "--json", cwd=project))
    assert [chunk["id"] for chunk in shown["chunks"]] == ["000007"]
    assert ctx("task", "use", "1", cwd=project).out == "Going on with task 1: Fix it\n"
    assert tasks(project) == [(1, "Fix it", "active")]
    assert ctx("task", "abandon", cwd=project).out == "Gave up task 1: Fix it\n"
    assert tasks(project) == [(1, "Fix it", "abandoned")]
    assert git(store.root, "fsck", "--strict") == ""


def test_a_task_goes_by_number_label_subject_or_a_part_of_it(project: Path) -> None:
    for subject in ("Fix the door", "Oil the door", "Überprüfe 日本"):
        ctx("task", "start", subject, cwd=project)
    for name, number in {
        "1": 1,
        "01-fix-the-door": 1,
        "Fix the door": 1,
        "fix": 1,
        "OIL": 2,
        "überprüfe": 3,
        "日本": 3,
    }.items():
        assert data(ctx("task", "show", name, "--json", cwd=project))["task"]["number"] == number


@pytest.mark.parametrize("name", ["9", "door", "window", "1" * 5000, "²", "-", "a\nb", "0", "-1"])
def test_another_name_is_told_with_those_there_are(name: str, project: Path) -> None:
    for subject in ("Fix the door", "Oil the door"):
        ctx("task", "start", subject, cwd=project)
    for words in (("show",), ("done",), ("use",)):
        done = ctx("task", *words, "--", name, cwd=project)
        assert (done.code, done.out) == (1, "")
        error, hint = done.err.splitlines()
        assert error.startswith("error: there is no task ")
        assert hint == "hint: tasks: 1 (Fix the door), 2 (Oil the door)"


def test_no_task_is_active_at_first(project: Path) -> None:
    for verb in ("done", "abandon"):
        done = ctx("task", verb, cwd=project)
        assert done.code == 1
        assert done.err.splitlines() == [
            "error: no task is active",
            "hint: name one; `ctx task list` shows them",
        ]


def test_a_task_waits_for_others(store: StorePaths, project: Path) -> None:
    ctx("task", "start", "One", cwd=project)
    ctx("task", "start", "Two", cwd=project)
    done = ctx("task", "start", "Three", "--after", "1", "--after", "Two", "--json", cwd=project)
    assert data(done)["task"]["blocked_by"] == [1, 2]
    assert "Three (after 1, 2)" in ctx("task", "list", cwd=project).out
    before = branches(store), tasks(project)
    wrong = ctx("task", "start", "Four", "--after", "7", cwd=project)
    assert wrong.code == 1
    assert wrong.err.startswith("error: there is no task 7 in session ")
    assert (branches(store), tasks(project)) == before


def test_what_a_tool_returns_goes_to_the_task_begun_last(store: StorePaths, project: Path) -> None:
    for number, words in enumerate(
        [("start", "One"), ("start", "Two"), ("use", "1"), ("done",), ("done",)]
    ):
        assert ctx("task", *words, cwd=project).code == 0
        put(store, read_event(10 + number, session=S), session=S)
    sync(store)
    chunks = {
        number: [
            chunk["id"]
            for chunk in data(ctx("task", "show", number, "--json", cwd=project))["chunks"]
        ]
        for number in ("1", "2")
    }
    assert chunks == {"1": ["000010", "000012"], "2": ["000011", "000013"]}


def test_a_subject_of_several_lines_is_one_line_in_lists(project: Path) -> None:
    done = ctx("task", "start", "  Fix\nthe \x1b[31mdoor\n\n", cwd=project)
    assert done.code == 0
    assert done.out == "Started task 1: Fix …\n"


def test_doing_it_again_changes_nothing(store: StorePaths, project: Path) -> None:
    ctx("task", "start", "One", cwd=project)
    results = [ctx("task", "done", "1", "--json", cwd=project) for _ in range(2)]
    assert results[0] == results[1]
    assert len(git(store.root, "tag", "--list").splitlines()) == 1


# --- which session ----------------------------------------------------------------------------


def test_without_a_word_it_is_the_newest_of_the_work_tree(store: StorePaths, project: Path) -> None:
    tree = linked_work_tree(project, project.parent / "tree")
    (project / "sub").mkdir()
    put_session(store, 1, session="newer")
    put_session(store, 1, session="of-tree", cwd=str(tree))
    sync(store)
    for place, session in ((project, "newer"), (project / "sub", "newer"), (tree, "of-tree")):
        assert data(ctx("task", "list", "--json", cwd=place))["session"] == session
        assert data(ctx("task", "start", "x", "--json", cwd=place))["session"] == session
    assert tasks(project, "--session", S) == []


@pytest.mark.usefixtures("store")
def test_a_work_tree_without_sessions_gets_the_newest_of_all(project: Path) -> None:
    tree = linked_work_tree(project, project.parent / "tree")
    assert data(ctx("status", "--json", cwd=tree))["session"]["id"] == S


def test_an_agent_gets_its_own(
    store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session in ("two", "two-and-more"):
        put_session(store, 1, session=session)
    put(store, payload("Stop", session_id="../odd"), session="none")
    sync(store)
    for session in ("two", S, "two-and-more"):
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session)
        done = ctx("task", "start", f"of {session}", "--json", cwd=project)
        assert data(done)["session"] == session
        assert tasks(project) == [(1, f"of {session}", "active")]
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "../odd")
    assert data(ctx("status", "--json", cwd=project))["session"]["id"].startswith("x-")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "")
    assert data(ctx("status", "--json", cwd=project))["session"]["id"]


def test_an_agent_whose_session_is_not_there_yet_gets_no_other(
    store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "fresh")
    for words in (("start", "Look"), ("done",), ("list",)):
        done = ctx("task", *words, cwd=project)
        assert (done.code, done.out) == (1, "")
        assert done.err.splitlines() == [
            "error: session fresh is not recorded here yet",
            "hint: name another with --session",
        ]
    assert ctx("task", "list", "--session", S, cwd=project).code == 0
    put(store, payload("SessionStart", session_id="fresh"), session="fresh")
    assert ctx("task", "start", "Look", cwd=project).code == 0
    assert len(branches(store)) == 2


def test_a_session_can_be_named(store: StorePaths, project: Path) -> None:
    put_session(store, 1, session="session-two")
    put_session(store, 1, session="other")
    sync(store)
    for name, expected in {
        S: S,
        "session-t": "session-two",
        "o": "other",
        "2026-01-02-other": "other",
        "2026-01-02-o": "other",
    }.items():
        done = ctx("status", "--session", name, "--json", cwd=project)
        assert data(done)["session"]["id"] == expected


def test_a_sync_can_be_of_one_session(store: StorePaths, project: Path) -> None:
    put_session(store, 1, session="session-two")
    put_session(store, 1, session="other")
    rows = data(ctx("sync", "--session", "session-t", "--json", cwd=project))["sessions"]
    assert [row["key"] for row in rows] == ["session-two"]
    assert ctx("sync", "--session", "nobody", cwd=project).out == "Nothing to do.\n"
    assert len(branches(store)) == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sess", "session sess is ambiguous: "),
        ("2026", "session 2026 is ambiguous: "),
        ("nobody", "there is no session nobody"),
        ("session-one-more", "there is no session session-one-more"),
        ("%", "there is no session %"),
    ],
)
def test_a_name_that_is_not_one_sessions_is_refused(
    name: str, message: str, store: StorePaths, project: Path
) -> None:
    put_session(store, 1, session="session-two")
    sync(store)
    for words in (("status",), ("log",), ("task", "list"), ("task", "start", "x")):
        done = ctx(*words, "--session", name, cwd=project)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith(f"error: {message}")
    assert tasks(project, "--session", S) == []


def test_a_session_nearly_named_is_suggested(project: Path) -> None:
    done = ctx("status", "--session", "session-ome", cwd=project)
    assert done.err.splitlines()[1] == "hint: did you mean session-one?"


def test_before_any_session_there_is_nothing_to_say_it_for(tmp_path: Path) -> None:
    store = make_project(tmp_path / "new")
    project = store.root.parent
    for words in (("start", "x"), ("list",), ("done",), ("show", "1")):
        done = ctx("task", *words, cwd=project)
        assert done.code == 1
        assert done.err.startswith("error: no session is recorded yet\n")
    status = ctx("status", "--json", cwd=project)
    assert data(status)["session"] is None
    assert ctx("status", cwd=project).out == f"No session is recorded yet in {store.root}\n"
    assert ctx("log", cwd=project).out == "No commits yet.\n"


def test_the_store_can_be_named_from_anywhere(store: StorePaths, tmp_path: Path) -> None:
    done = ctx("status", "--store", str(store.root), "--json", cwd=tmp_path)
    assert data(done)["session"]["id"] == S
