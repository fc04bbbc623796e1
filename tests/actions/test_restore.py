"""Content from history, back in the working set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.clear import clear
from ctxgit.actions.restore import fork, restore
from ctxgit.actions.save import save
from ctxgit.actions.show import show
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.look.show import ShownChunk
from ctxgit.store import sessions
from support.events import Story
from support.git import git
from support.recording import paths, record
from support.store import check_objects
from support.work import OTHER, work

if TYPE_CHECKING:
    from ctxgit.actions.place import Place
    from ctxgit.model import State
    from ctxgit.paths import StorePaths
    from ctxgit.store.git import Git

CALLS = ["note1", "made1", "used1", "read1", "done1", "made2", "used2", "bash1"]
"""The ids of the chunks of work(), oldest first."""


@pytest.fixture
def session(place: Place, store: StorePaths) -> str:
    """The short name of a recorded session's branch."""
    return record(store, work(place.directory)).name


def state_of(repo: Git, name: str) -> State:
    return sessions.read_state(repo, f"session/{name}")


def tree(repo: Git, name: str, *folders: str) -> str:
    return repo.run("ls-tree", "-r", f"session/{name}", *folders).decode()


def test_everything_cleared_comes_back_byte_for_byte(
    place: Place, store: StorePaths, repo: Git, session: str
) -> None:
    before, state = tree(repo, session, "tasks", "turns"), state_of(repo, session)
    kept = clear(place).kept
    done = restore(place, [kept])
    assert [row.id for row in done.restored] == CALLS
    assert (done.already, done.tasks) == ((), (1, 2))
    assert tree(repo, session, "tasks", "turns") == before
    now = state_of(repo, session)
    assert (now.tasks, now.chunks, now.turns) == (state.tasks, state.chunks, state.turns)
    assert git(store.root, "log", "-1", "--format=%s", f"session/{session}") == (
        "Bring back 8 results"
    )
    check_objects(store)


def test_the_tag_of_a_task_that_comes_back_stays_where_it_was_done(
    place: Place, repo: Git, session: str
) -> None:
    tags = repo.refs("refs/tags/task/")
    clear(place)
    restore(place, ["task 1"])
    assert repo.refs("refs/tags/task/") == tags
    assert len(tags) == 1
    assert state_of(repo, session).session.tasks == 2


def test_one_chunk_comes_back_with_its_task_and_content(
    place: Place, repo: Git, session: str
) -> None:
    clear(place)
    done = restore(place, ["toolu_read1"])
    assert ([row.id for row in done.restored], done.tasks) == (["read1"], (1,))
    # All of its task, as it is now, though it was not yet done when the result came.
    assert state_of(repo, session).tasks[1].status == "done"
    found = show(place, "read1")
    assert isinstance(found, ShownChunk)
    assert found.content == "def login(): ...\n"
    again = restore(place, ["read1"])
    assert (again.restored, again.already) == ((), ("read1",))


@pytest.mark.parametrize(
    ("name", "calls"),
    [("task 1", ["made1", "used1", "read1", "done1"]), ("2", ["made2", "used2", "bash1"])],
)
def test_all_chunks_of_a_task_come_back_done_or_not(
    place: Place, repo: Git, session: str, name: str, calls: list[str]
) -> None:
    clear(place)
    done = restore(place, [name])
    assert [row.id for row in done.restored] == calls
    assert set(state_of(repo, session).chunks) == set(calls)


def test_several_names_come_back_at_once_or_none(place: Place, repo: Git, session: str) -> None:
    clear(place)
    tip = repo.refs("refs/heads/session/")
    with pytest.raises(NotFoundError, match="nothing is called nowhere"):
        restore(place, ["read1", "nowhere"])
    assert repo.refs("refs/heads/session/") == tip
    done = restore(place, ["bash1", "note1", "bash1"])
    assert [row.id for row in done.restored] == ["note1", "bash1"]
    assert list(state_of(repo, session).chunks) == ["note1", "bash1"]


@pytest.mark.usefixtures("session")
def test_what_left_the_working_set_is_found_without_the_index(
    place: Place, store: StorePaths
) -> None:
    clear(place)
    git(store.root, "update-ref", "-d", f"refs/heads/{clear(place).kept or 'none'}")
    store.index.unlink()
    found = show(place, "read1")
    assert isinstance(found, ShownChunk)
    assert found.content == "def login(): ...\n"
    store.index.unlink()
    assert [row.id for row in restore(place, ["read1"]).restored] == ["read1"]


@pytest.mark.usefixtures("session")
def test_what_cannot_come_back_is_told(place: Place) -> None:
    save(place, "x")
    with pytest.raises(NotFoundError, match="save/x holds no tool results") as caught:
        restore(place, ["x"])
    assert caught.value.hint == "a save holds none: `ctx load` prints it"
    for names in ([], [""], ["-x"]):
        with pytest.raises(UsageError):
            restore(place, names)
    with pytest.raises(NotFoundError, match="holds no state of a session"):
        fork(place, "main")


def test_ambiguous_beginnings_are_named(place: Place, store: StorePaths) -> None:
    record(store, Story().start(cwd=str(place.directory)).result("abcd1").result("abcd2"))
    with pytest.raises(NotFoundError, match="abcd is ambiguous: abcd1, abcd2"):
        restore(place, ["abcd"])


def test_a_chunk_of_another_session_becomes_a_result_of_the_turn(
    place: Place, store: StorePaths, repo: Git, session: str
) -> None:
    story = Story(session=OTHER).start(cwd=str(place.directory)).prompt("Go on").result("mine")
    name = record(store, story).name
    done = restore(replace(place, session=OTHER), ["bash1"])
    assert (done.session, done.tasks) == (name, ())
    chunk = state_of(repo, name).chunks["bash1"]
    assert (chunk.number, chunk.task, chunk.turn, chunk.place) == (2, 0, 1, 1)
    assert "turns/00/0001/00/bash1.md" in paths(repo, f"session/{name}")
    assert state_of(repo, session) == work(place.directory).state
    check_objects(store)


def test_a_fork_of_a_state_starts_from_its_tasks_and_chunks(
    place: Place, store: StorePaths, repo: Git, session: str
) -> None:
    story = Story(session=OTHER).start(cwd=str(place.directory)).prompt().create("1", "Mine")
    theirs = record(store, story)
    done = fork(replace(place, session=OTHER), session)
    source, now = state_of(repo, session), state_of(repo, theirs.name)
    assert (done.session, done.source) == (theirs.name, f"session/{session}")
    assert (done.tasks, done.results) == (2, 8)
    assert now.tasks == source.tasks
    assert list(now.chunks) == CALLS
    for name, chunk in now.chunks.items():
        assert (chunk.task, chunk.sha256) == (source.chunks[name].task, source.chunks[name].sha256)
    assert repo.refs(f"refs/heads/{done.kept}") == {f"refs/heads/{done.kept}": theirs.tip}
    assert repo.refs(f"refs/tags/task/{theirs.name}/") == {}
    found = show(place, "read1")
    assert isinstance(found, ShownChunk)
    assert found.content == "def login(): ...\n"
    check_objects(store)


@pytest.mark.usefixtures("session")
def test_a_fork_of_a_cleared_state_takes_a_clear_back(
    place: Place, repo: Git, session: str
) -> None:
    before, state = tree(repo, session, "tasks", "turns"), state_of(repo, session)
    clear(place)
    fork(place, "@cleared")
    assert tree(repo, session, "tasks", "turns") == before
    assert state_of(repo, session).chunks == state.chunks


def test_a_fork_of_a_save_starts_from_its_tasks(
    place: Place, store: StorePaths, repo: Git, session: str
) -> None:
    save(place, "x")
    record(store, Story(session=OTHER).start(cwd=str(place.directory)))
    done = fork(replace(place, session=OTHER), "x")
    assert (done.tasks, done.results, done.kept) == (2, 0, "")  # there was nothing to keep
    assert state_of(repo, done.session).tasks == state_of(repo, session).tasks


def test_a_task_of_another_name_does_not_stay_behind_in_the_tree(
    place: Place, store: StorePaths, repo: Git, session: str
) -> None:
    record(store, Story(session=OTHER).start(cwd=str(place.directory)).prompt().create("1", "Mine"))
    done = fork(replace(place, session=OTHER), session)
    listed = paths(repo, f"session/{done.session}")
    assert [path for path in listed if path.endswith("task.toml")] == [
        "tasks/01-fix-the-login/task.toml",
        "tasks/02-test-it/task.toml",
    ]
