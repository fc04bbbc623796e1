"""What holds for any verbs and events whatever, in any order, in a real store."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxgit.actions import task
from ctxgit.actions.clear import clear
from ctxgit.actions.load import load
from ctxgit.actions.place import Place, current_branch
from ctxgit.actions.restore import fork, restore
from ctxgit.actions.save import save
from ctxgit.actions.undo import redo, undo
from ctxgit.errors import CtxError
from ctxgit.fold import steps
from ctxgit.model import Event, TaskStatus
from ctxgit.paths import StorePaths
from ctxgit.records import replace
from ctxgit.store import history, layout, maintenance, sessions
from ctxgit.store.git import Git
from support.any_events import EVENTS
from support.events import SESSION, START
from support.recording import loaded
from support.store import check_objects, make_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OTHER = "ffffffff-0000-4000-8000-000000000002"
FEW = settings(
    max_examples=5,
    # A store for each example is made in the test; the fixture only holds one to copy.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return a function that makes a project the first time it is called in a test."""
    root = tmp_path_factory.mktemp("template") / "project"

    def make() -> Path:
        if not root.exists():
            knowledge = make_project(root).root / "knowledge"
            knowledge.mkdir(exist_ok=True)
        return root

    return make


@contextmanager
def project(template: Callable[[], Path]) -> Iterator[Place]:
    """A project with a store, gone after the block."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        shutil.copytree(template(), root)
        yield Place(store=StorePaths(root / ".context-store"), directory=root, session=SESSION)


def tell(place: Place, events: list[Event]) -> None:
    """Commit events of the place's session as a sync does."""
    key = place.session or SESSION
    branch = loaded(place.store, key)
    since = branch.state.session.updated_at if branch.state else START
    told = [
        replace(event, session=key, at=since + timedelta(seconds=number))
        for number, event in enumerate(events, start=1)
    ]
    done = list(steps(branch.state, told))
    sessions.add(place.store, branch, done, [event.id for event in told])


def tip(place: Place) -> str:
    return current_branch(place)[0].tip


def a_chunk(place: Place) -> str:
    """Return the id of some chunk that there ever was, empty when there was none."""
    git = Git(place.store.git_dir)
    names = sorted(path.rsplit("/", 1)[-1] for path in history.added(git, ["--all"]))
    return next((name for name in reversed(names) if len(name) > 3), "")


VERBS: dict[str, Callable[[Place], object]] = {
    "save a": lambda place: save(place, "a"),
    "save b": lambda place: save(place, "b"),
    "load a": lambda place: load(place, "a", into=place.session),
    "load cleared": lambda place: load(place, "@cleared", into=place.session),
    "clear": clear,
    "restore chunk": lambda place: restore(place, [a_chunk(place)]),
    "restore task": lambda place: restore(place, ["task 1"]),
    "restore cleared": lambda place: restore(place, ["@cleared"]),
    "fork save": lambda place: fork(place, "a"),
    "fork other": lambda place: fork(
        place, f"session/{loaded(place.store, OTHER if place.session == SESSION else SESSION).name}"
    ),
    "fork cleared": lambda place: fork(place, "@cleared"),
    "start": lambda place: task.start(place, "A task"),
    "done": lambda place: task.set_status(place, None, TaskStatus.DONE),
    "abandon": lambda place: task.set_status(place, "1", TaskStatus.ABANDONED),
}
BACK: dict[str, Callable[[Place], object]] = {
    "undo": undo,
    "redo": redo,
    "maintain": lambda place: maintenance.run(place.store),
}


def try_to(verb: Callable[[Place], object], place: Place) -> bool:
    """Do what may be refused, but only as an expected failure; return whether it was done."""
    try:
        verb(place)
    except CtxError:
        return False
    return True


def every_text(place: Place) -> set[str]:
    """Return the ids of all objects that refs reach."""
    out = Git(place.store.git_dir).run("rev-list", "--objects", "--no-object-names", "--all")
    return set(out.decode().split())


STEPS = st.lists(EVENTS | st.sampled_from([*VERBS, *BACK]), min_size=3, max_size=10)


@FEW
@given(first=EVENTS, others=EVENTS, told=STEPS, turns=st.lists(st.booleans(), min_size=10))
def test_no_text_is_lost_and_objects_stay_whole(
    template: Callable[[], Path],
    first: list[Event],
    others: list[Event],
    told: list[list[Event] | str],
    turns: list[bool],
) -> None:
    with project(template) as mine:
        theirs = replace(mine, session=OTHER)
        tell(mine, first)
        tell(theirs, others)
        seen = every_text(mine)
        for step, is_mine in zip(told, turns, strict=False):
            place = mine if is_mine else theirs
            if isinstance(step, str):
                try_to({**VERBS, **BACK}[step], place)
            else:
                tell(place, step)
            seen |= every_text(place)
            git = Git(place.store.git_dir)
            branch, state = current_branch(place)
            assert sessions.read_state(git, branch.tip) == state
        there = Git(mine.store.git_dir).objects(sorted(seen))
        assert all(there)
        check_objects(mine.store)


@FEW
@given(first=EVENTS, others=EVENTS, before=st.lists(st.sampled_from([*VERBS]), max_size=3))
@pytest.mark.parametrize("verb", VERBS)
def test_undo_after_any_verb_gives_the_state_before(
    template: Callable[[], Path],
    verb: str,
    first: list[Event],
    others: list[Event],
    before: list[str],
) -> None:
    with project(template) as place:
        tell(place, first)
        tell(replace(place, session=OTHER), others)
        for each in ("save a", "clear", *before):
            try_to(VERBS[each], place)
        git = Git(place.store.git_dir)
        refs, state = git.refs(), current_branch(place)[1]
        done = try_to(VERBS[verb], place)
        after = git.refs()
        if not done or after == refs:
            assert after == refs  # what is refused has changed nothing
            return
        undo(place)
        assert git.refs() == refs
        assert current_branch(place)[1] == state
        redo(place)
        assert git.refs() == after


@FEW
@given(first=EVENTS, others=EVENTS)
def test_what_is_saved_and_loaded_is_equal(
    template: Callable[[], Path], first: list[Event], others: list[Event]
) -> None:
    with project(template) as mine:
        theirs = replace(mine, session=OTHER)
        tell(mine, first)
        tell(theirs, others)
        if not try_to(lambda place: save(place, "x"), mine):
            return
        result = load(mine, "x", into=OTHER)
        git = Git(mine.store.git_dir)
        (source, was), (target, now) = current_branch(mine), current_branch(theirs)
        assert now.tasks == was.tasks
        assert (target.knowledge, now.chunks) == (source.knowledge, {})
        assert now.turns == theirs_before(git, result.loaded.kept, theirs)
        names = [f"{commit}:{layout.KNOWLEDGE}" for commit in (source.tip, target.tip, "save/x")]
        assert len({entry and entry.oid for entry in git.objects(names)}) == 1
        tell(theirs, others)  # the session goes on from there
        assert sessions.read_state(git, tip(theirs)) == current_branch(theirs)[1]


def theirs_before(git: Git, kept: str, place: Place) -> object:
    """Return the turns that the session had: a load leaves them as they are."""
    if kept:
        return sessions.read_state(git, kept).turns
    return current_branch(place)[1].turns
