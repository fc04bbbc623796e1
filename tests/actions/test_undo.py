"""Verbs taken back and done again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ctxgit.actions import task
from ctxgit.actions.clear import clear
from ctxgit.actions.load import load
from ctxgit.actions.place import Place, current_branch
from ctxgit.actions.recaps import of_work_tree
from ctxgit.actions.restore import fork, restore
from ctxgit.actions.save import save
from ctxgit.actions.undo import redo, undo
from ctxgit.errors import NotFoundError, StoreError, UsageError
from ctxgit.model import TaskStatus
from support.events import Story
from support.git import git
from support.recording import record
from support.store import check_objects, put, read_event
from support.work import OTHER, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from ctxgit.paths import StorePaths

VERBS: dict[str, Callable[[Place], object]] = {
    "save": lambda place: save(place, "other"),
    "save again": lambda place: save(place, "x"),
    "load": lambda place: load(place, "x", into=place.session or work(place.directory).session),
    "clear": clear,
    "restore": lambda place: restore(place, ["mine"]),
    "fork": lambda place: fork(place, "x"),
    "task start": lambda place: task.start(place, "More", after=("2",)),
    "task done": lambda place: task.set_status(place, "2", TaskStatus.DONE),
    "task abandon": lambda place: task.set_status(place, "2", TaskStatus.ABANDONED),
}


@pytest.fixture
def session(place: Place, store: StorePaths) -> str:
    """The short name of a recorded session's branch, with a save ``x``, and another session."""
    story = Story(session=OTHER).start(cwd="/elsewhere").prompt().result("mine")
    record(store, story)
    name = record(store, work(place.directory)).name
    save(place, "x")
    return name


def refs(store: StorePaths) -> str:
    return git(store.root, "for-each-ref", "--format=%(refname) %(objectname)")


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("verb", VERBS)
def test_undo_takes_any_verb_back_and_redo_does_it_again(
    place: Place, store: StorePaths, verb: str
) -> None:
    before, state = refs(store), current_branch(place)[1]
    VERBS[verb](place)
    after = refs(store)
    assert after != before
    done = undo(place)
    assert refs(store) == before
    assert current_branch(place)[1] == state
    (operation,) = done.operations
    assert operation.verb == verb.removesuffix(" again")
    assert operation.refs
    assert all(move.before != move.after for move in operation.refs)
    again = redo(place)
    assert refs(store) == after
    assert again.operations[0].verb == operation.verb
    assert [(m.name, m.after, m.before) for m in again.operations[0].refs] == [
        (m.name, m.before, m.after) for m in operation.refs
    ]
    check_objects(store)


@pytest.mark.usefixtures("session")
def test_several_are_taken_back_and_done_again_in_turn(place: Place, store: StorePaths) -> None:
    states = [refs(store)]
    for verb in ("task start", "clear", "save"):
        VERBS[verb](place)
        states.append(refs(store))
    assert [operation.verb for operation in undo(place, 2).operations] == ["save", "clear"]
    assert refs(store) == states[1]
    redo(place)
    assert refs(store) == states[2]
    undo(place, 2)
    assert refs(store) == states[0]
    for expected in states[1:]:
        redo(place)
        assert refs(store) == expected
    with pytest.raises(NotFoundError, match="nothing to redo"):
        redo(place)


@pytest.mark.usefixtures("session")
def test_another_verb_ends_what_can_be_done_again(place: Place) -> None:
    clear(place)
    undo(place)
    save(place, "new")
    with pytest.raises(NotFoundError, match="nothing to redo"):
        redo(place)


def test_nothing_to_undo_is_told(place: Place, store: StorePaths) -> None:
    record(store, work(place.directory))
    for n in (0, -1):
        with pytest.raises(UsageError):
            undo(place, n)
    with pytest.raises(NotFoundError, match="nothing to undo"):
        undo(place)
    save(place, "x")
    with pytest.raises(StoreError, match="undone 1 of 2: there is nothing to undo"):
        undo(place, 2)


def test_it_is_refused_when_the_session_has_moved_on(
    place: Place, store: StorePaths, session: str
) -> None:
    clear(place)
    put(store, read_event(9))  # still in the spool
    with pytest.raises(StoreError, match=f"session/{session} has moved on since `ctx clear`") as at:
        undo(place)
    assert "ctx load" in str(at.value.hint)
    moved = refs(store)
    with pytest.raises(StoreError, match="has moved on"):
        undo(place)
    assert refs(store) == moved
    assert "read1" not in current_branch(place)[1].chunks


def test_a_redo_is_refused_when_the_session_has_moved_on(
    place: Place, store: StorePaths, session: str
) -> None:
    clear(place)
    undo(place)
    put(store, read_event(9))
    with pytest.raises(StoreError, match=f"session/{session} has moved on"):
        redo(place)


def test_a_session_takes_back_only_its_own(
    place: Place, store: StorePaths, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear(place)
    other = Place(store=store, directory=place.directory, session=OTHER)
    task.start(other, "Theirs")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", work(place.directory).session)
    assert undo(place).operations[0].verb == "clear"
    assert undo(other).operations[0].verb == "task start"
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    assert undo(place).operations[0].verb == "save"  # at a person's prompt: the last of all
    assert current_branch(Place(store=store, directory=place.directory, session=session))[1].chunks


def test_two_that_saved_under_one_name_undo_the_last_first(place: Place, store: StorePaths) -> None:
    record(store, Story(session=OTHER).start(cwd="/elsewhere").prompt().result("mine"))
    first = record(store, work(place.directory))
    mine = Place(store=store, directory=place.directory, session=first.key)
    theirs = Place(store=store, directory=place.directory, session=OTHER)
    save(mine, "x")
    save(theirs, "x")
    with pytest.raises(StoreError, match="save/x has moved on since `ctx save`"):
        undo(mine)
    undo(theirs)
    undo(mine)
    assert "save/x" not in refs(store)


@pytest.mark.usefixtures("session")
def test_index_and_recap_follow(place: Place, store: StorePaths) -> None:
    recap = of_work_tree(store, str(place.directory))
    task.start(place, "Something new")
    assert "Something new" in recap.read_text(encoding="utf-8")
    undo(place)
    assert "Something new" not in recap.read_text(encoding="utf-8")
    assert len(task.list_tasks(place).tasks) == 2
    put(store, read_event(9))
    assert task.start(place, "Another").task.number == 3
    assert "000009" in current_branch(place)[1].chunks  # what came in was not undone with it


@pytest.mark.usefixtures("session")
def test_what_hooks_leave_while_a_verb_runs_is_not_taken_back_with_it(
    place: Place, store: StorePaths
) -> None:
    put(store, read_event(9))
    task.start(place, "Something new")
    undo(place)
    assert "000009" in current_branch(place)[1].chunks


@pytest.mark.usefixtures("session")
def test_a_torn_log_is_read_as_far_as_it_goes(place: Place, store: StorePaths) -> None:
    log = store.runtime / "operations"
    with log.open("ab") as file:
        file.write(b'\n{"number": 2, "verb": "cl\xff')
    clear(place)
    assert undo(place).operations[0].verb == "clear"
    log.write_bytes(b"")
    with pytest.raises(NotFoundError, match="nothing to undo"):
        undo(place)


def test_no_secret_gets_into_a_task(place: Place, store: StorePaths) -> None:
    record(store, work(place.directory))
    secret = "ghp_" + "a1B2" * 9
    made = task.start(place, f"Use {secret}")
    assert secret not in made.task.subject
    assert secret not in (store.runtime / "operations").read_text(encoding="utf-8")
