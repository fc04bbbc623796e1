"""Two states compared, purely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgit.look.diff import (
    ChunkMove,
    DiffResult,
    SectionDiff,
    Side,
    Snapshot,
    TaskDiff,
    TaskFacts,
    compare,
    compare_documents,
)
from support.any_events import EVENTS
from support.events import ACTIVE, DONE, START, Story, told

if TYPE_CHECKING:
    from ctxgit.model import State

SIDE = Side(name="session/x", kind="session", commit="1" * 40, at=START)


def snapshot(state: State, document: str = "") -> Snapshot:
    tasks = {task.label: task for task in state.tasks.values()}
    return Snapshot(side=SIDE, tasks=tasks, chunks=state.chunks, document=document)


def diff(before: Story, after: Story) -> DiffResult:
    return compare(snapshot(before.state), snapshot(after.state))


def story() -> Story:
    return (
        Story().prompt().create("1", "Fix it", call="made").result("old", "text", paths=("/p/a",))
    )


# --- tasks and chunks ----------------------------------------------------------------------


def test_a_task_is_told_by_what_it_was_and_is() -> None:
    after = story().update("1", DONE).create("2", "Test it")
    assert diff(story(), after).tasks == (
        TaskDiff(
            label="01-fix-it",
            before=TaskFacts(subject="Fix it", status="pending"),
            after=TaskFacts(subject="Fix it", status="done"),
        ),
        TaskDiff(
            label="02-test-it", before=None, after=TaskFacts(subject="Test it", status="pending")
        ),
    )


def test_a_task_that_went_and_one_of_a_new_subject() -> None:
    (gone, new) = diff(story(), Story().prompt().create("1", "Other", call="made")).tasks
    assert (gone.label, gone.after) == ("01-fix-it", None)
    assert (new.label, new.before) == ("01-other", None)
    (changed,) = diff(story(), story().update("1", subject="Fix all")).tasks
    assert changed.before
    assert changed.after
    assert (changed.before.subject, changed.after.subject) == ("Fix it", "Fix all")


def test_a_task_of_which_only_the_counts_changed_is_the_same() -> None:
    before = story().update("1", ACTIVE)
    after = story().update("1", ACTIVE).result("new")
    assert diff(before, after).tasks == ()


def test_chunks_in_and_out_have_their_tokens() -> None:
    after = Story().prompt().result("new", "word " * 40, paths=("/p/b", "/p/c")).result("newer", "")
    result = diff(story(), after)
    new, old = after.chunk("new"), story().chunk("old")
    assert result.chunks_in[0] == ChunkMove(id="new", tool="Read", tokens=new.tokens, path="/p/b")
    assert [chunk.id for chunk in result.chunks_in] == ["new", "newer"]
    assert [chunk.id for chunk in result.chunks_out] == ["made", "old"]
    assert result.tokens_in == new.tokens + after.chunk("newer").tokens
    assert result.tokens_out == old.tokens + story().chunk("made").tokens
    assert old.tokens
    assert result.chunks_compared


def test_what_holds_no_chunks_has_lost_none() -> None:
    save = Snapshot(side=SIDE)
    for before, after in ((save, snapshot(story().state)), (snapshot(story().state), save)):
        result = compare(before, after)
        assert not result.chunks_compared
        assert (result.chunks_in, result.chunks_out) == ((), ())


# --- documents -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("# A\n\none\n", "# A\none\n", []),
        ("# A\none\ntwo\n", "# A\ntwo\nthree\n", [("A", "changed", ["three"], ["one"])]),
        ("# A\n", "# A\n## B\nx\n\ny\n", [("B", "added", ["x", "y"], [])]),
        ("# A\n## B\nx\n# C\n", "# A\n# C\n", [("B", "removed", [], ["x"])]),
        ("x\n", "y\n", [("", "changed", ["y"], ["x"])]),
        ("", "# A\n", [("A", "added", [], [])]),
        ("# A\n1\n# A\n2\n", "# A\n1\n# A\n3\n", [("A", "changed", ["3"], ["2"])]),
        ("# B\nx\n# A\n", "# C\n# A\n", [("C", "added", [], []), ("B", "removed", [], ["x"])]),
        ("# A\nx\ny\n", "# A\ny\nx\n", [("A", "changed", ["x"], ["x"])]),
    ],
)
def test_documents_differ_by_section(before: str, after: str, expected: list[Any]) -> None:
    found = [
        (part.title, part.change, sorted(part.added), sorted(part.removed))
        for part in compare_documents(before, after)
    ]
    if before == "# A\nx\ny\n":  # which of the two moved is open
        ((title, change, added, removed),) = found
        assert (title, change, added) == ("A", "changed", removed)
    else:
        assert found == expected


def test_a_heading_in_code_is_text_of_its_section() -> None:
    found = list(compare_documents("# A\n```\n# b\n```\n", "# A\n```\n# c\n```\n"))
    assert found == [SectionDiff(title="A", change="changed", added=("# c",), removed=("# b",))]


# --- properties ----------------------------------------------------------------------------

TEXTS = st.lists(st.sampled_from(["# A", "## B", "x", "y", "", "```", "- x"])).map("\n".join)


@given(EVENTS, TEXTS)
def test_a_state_does_not_differ_from_itself(given_events: list[Any], document: str) -> None:
    state = told(given_events).state
    result = compare(snapshot(state, document), snapshot(state, document))
    assert result.is_empty
    assert (result.tokens_in, result.tokens_out) == (0, 0)


@given(EVENTS, EVENTS)
def test_there_and_back_is_the_same_turned_round(one: list[Any], other: list[Any]) -> None:
    there = compare(snapshot(told(one).state), snapshot(told(other).state))
    back = compare(snapshot(told(other).state), snapshot(told(one).state))
    assert (there.chunks_in, there.chunks_out) == (back.chunks_out, back.chunks_in)
    turned = {(task.label, task.after, task.before) for task in back.tasks}
    assert {(task.label, task.before, task.after) for task in there.tasks} == turned


@given(TEXTS, TEXTS)
def test_every_line_that_came_or_went_is_told(before: str, after: str) -> None:
    found = list(compare_documents(before, after))
    old, new = (
        sorted(line for line in text.split("\n") if line.strip()) for text in (before, after)
    )
    if old != new:
        assert found
    if before == after:
        assert not found
