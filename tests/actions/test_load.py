"""Loading a save, a session or a cleared state."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgit.actions.clear import clear
from ctxgit.actions.load import load
from ctxgit.actions.save import save
from ctxgit.deliver.frame import CLOSING, OPENING, units
from ctxgit.deliver.loaded import MAX_TOKENS, PART_UNITS, Loaded, Where, parts, whole
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.store import sessions
from ctxgit.tokens import estimate_tokens
from support.events import START, Story
from support.git import commit, git
from support.recording import record
from support.store import check_objects
from support.work import OTHER, work

if TYPE_CHECKING:
    from ctxgit.actions.place import Place
    from ctxgit.paths import StorePaths
    from ctxgit.store.git import Git


@pytest.fixture
def session(place: Place, store: StorePaths) -> str:
    """The short name of a recorded session's branch."""
    os.utime(place.directory / "a.txt", (0, 0))
    return record(store, work(place.directory)).name


def test_a_save_is_loaded_with_what_it_brings_and_what_it_leaves(
    place: Place, session: str
) -> None:
    made = save(place, "payments", message="half way")
    result = load(place, "payments")
    assert (result.kind, result.commit, result.part, result.parts) == ("save", made.commit, 0, 1)
    lines = result.text.splitlines()
    assert (lines[0], lines[-1]) == (OPENING, CLOSING)
    assert "# Loaded: save/payments" in lines
    assert any(f"session {session}. half way" in line for line in lines)
    assert "Brought back: 2 tasks (1 open), 2 prompts; 0 knowledge entries in the store." in lines
    assert any(line.startswith("Not brought back: 8 tool results,") for line in lines)
    assert "> Fix the login &lt;now>" in lines  # nothing stored opens a tag
    assert f"# Handoff from session {session}" in lines
    assert (result.loaded.gone, result.loaded.changed) == ((), ())
    assert "no longer hold" not in result.text


@pytest.mark.usefixtures("session")
def test_files_gone_or_changed_since_are_counted_and_named(place: Place) -> None:
    save(place, "x")
    file = place.directory / "a.txt"
    os.utime(file, (2**31, 2**31))
    result = load(place, "x")
    assert (result.loaded.gone, result.loaded.changed) == ((), ("a.txt",))
    assert "0 of its files gone, 1 changed since" in result.text
    assert "- a.txt (changed since)" in result.text
    file.unlink()
    result = load(place, "x")
    assert (result.loaded.gone, result.loaded.changed) == (("a.txt",), ())
    assert "- a.txt (gone)" in result.text


@pytest.mark.usefixtures("session")
def test_branch_and_head_are_told_when_they_differ(place: Place, store: StorePaths) -> None:
    head = git(place.directory, "rev-parse", "HEAD")
    story = work(place.directory, OTHER).observe(
        work_tree=str(place.directory), branch="main", head=head
    )
    record(store, story)
    save(place, "x")
    assert f"The project stands where it stood then: main, {head[:10]}." in load(place, "x").text
    git(place.directory, "switch", "-qc", "side")
    new = commit(place.directory, "b.txt")
    text = load(place, "x").text
    assert f"stood at main, {head[:10]}; now it stands at side, {new[:10]}." in text


def test_sessions_and_cleared_states_are_loaded_by_a_handoff_made_anew(
    place: Place, session: str
) -> None:
    by_session = load(place, session)
    assert by_session.kind == "session"
    assert "> Fix the login &lt;now>" in by_session.text
    kept = clear(place).kept
    by_clear = load(place, "@cleared")
    assert (by_clear.kind, by_clear.loaded.label) == ("cleared", kept)
    assert by_clear.loaded.tasks == 2
    assert by_clear.text.replace(kept, f"session/{session}") == by_session.text
    assert load(place, session).loaded.tasks == 0
    by_task = load(place, "task 1")
    assert (by_task.kind, by_task.loaded.tasks) == ("task", 1)


def test_what_holds_no_state_is_refused(place: Place, store: StorePaths) -> None:
    with pytest.raises(NotFoundError, match="holds nothing to load"):
        load(place, "main")
    empty = record(store, Story().start(cwd=str(place.directory)))
    with pytest.raises(NotFoundError, match="is empty"):
        load(place, empty.name)
    with pytest.raises(NotFoundError, match="nothing is called nowhere"):
        load(place, "nowhere", into=empty.name)


def test_into_gives_a_session_the_tasks_and_keeps_what_it_had(
    place: Place, store: StorePaths, repo: Git, session: str
) -> None:
    save(place, "x")
    story = Story(session=OTHER).start(cwd=str(place.directory)).prompt().create("1", "Other work")
    theirs = record(store, story)
    result = load(place, "x", into=OTHER[:8])
    assert result.loaded.into == theirs.name
    assert repo.refs(f"refs/heads/{result.loaded.kept}") == {
        f"refs/heads/{result.loaded.kept}": theirs.tip
    }
    now = sessions.read_state(repo, f"session/{theirs.name}")
    assert now.tasks == work(place.directory).state.tasks
    assert now.chunks == {}
    assert f"Session {theirs.name} has the tasks now" in result.text
    assert result.loaded.kept in result.text
    subject = git(store.root, "log", "-1", "--format=%s", f"session/{theirs.name}")
    assert subject == "Go on from save/x"
    assert sessions.read_state(repo, f"session/{session}").chunks  # the source is as it was
    check_objects(store)


@pytest.mark.usefixtures("session")
def test_into_an_unknown_session_or_for_a_part_there_is_not_changes_nothing(
    place: Place, store: StorePaths
) -> None:
    save(place, "x")
    refs = git(store.root, "for-each-ref")
    with pytest.raises(NotFoundError, match="no session zzzz"):
        load(place, "x", into="zzzz")
    for part in (0, -1, 2):
        with pytest.raises(UsageError, match="no part") as caught:
            load(place, "x", into=OTHER, part=part)
        assert caught.value.hint == "its parts are 1 to 1"
    assert git(store.root, "for-each-ref") == refs


def test_a_huge_session_is_loaded_in_parts_that_make_up_the_whole(
    place: Place, store: StorePaths
) -> None:
    story = Story().start(cwd=str(place.directory))
    for number in range(80):
        story.prompt(f"Prompt {number}: " + "<b>word</b> " * 80)
        story.result(f"b{number}", "no", tool="Bash", failed=True, paths=(f"/p/{number}" * 20,))
    record(store, story.stop("An answer. " * 900))
    save(place, "huge")
    result = load(place, "huge")
    assert result.tokens <= MAX_TOKENS
    assert result.parts > 2
    told = [load(place, "huge", part=number + 1) for number in range(result.parts)]
    for number, part in enumerate(told, start=1):
        assert units(part.text) <= PART_UNITS
        assert f"Part {number} of {result.parts} of save/huge." in part.text
        assert part.text.startswith(OPENING)
        assert part.text.endswith(f"{CLOSING}\n")
    body = [
        line
        for part in told
        for line in part.text.splitlines()[2:-1]
        if not line.startswith(("Part ", "(Goes on in part "))
    ]
    assert body == result.text.splitlines()[2:-1]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
BODIES = st.lists(
    st.builds(lambda text, times: text * times, TEXTS, st.sampled_from([1, 20, 2_000])), max_size=40
).map("\n".join)
WHERE = st.builds(Where, work_tree=TEXTS, branch=TEXTS, head=TEXTS)
FILES = st.lists(TEXTS.map(lambda text: text * 9), max_size=60).map(tuple)
LOADED = st.builds(
    Loaded,
    label=TEXTS,
    at=st.just(START),
    session=TEXTS,
    message=TEXTS.map(lambda text: text * 20),
    then=WHERE,
    now=WHERE,
    gone=FILES,
    changed=FILES,
    tasks=st.integers(0, 3),
    open_tasks=st.just(0),
    prompts=st.integers(0, 3),
    knowledge=st.integers(0, 3),
    results=st.integers(0, 3),
    into=TEXTS,
    kept=TEXTS,
)


@given(LOADED, BODIES)
def test_all_that_is_loaded_is_framed_and_bounded(loaded: Loaded, body: str) -> None:
    text = whole(loaded, body)
    assert estimate_tokens(text) <= MAX_TOKENS
    told = parts(loaded, body)
    for each in (text, *told):
        assert each.startswith(f"{OPENING}\n")
        assert each.endswith(f"\n{CLOSING}\n")
        assert each.count("<") == 2  # those of the frame
    assert all(units(part) <= PART_UNITS for part in told)
