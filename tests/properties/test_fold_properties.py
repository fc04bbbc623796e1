"""What holds for the fold of any events whatever, in any order."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgit.fold import fold, steps
from ctxgit.model import (
    Chunk,
    Event,
    PromptSubmitted,
    State,
    TaskChange,
    TasksChanged,
    TaskStatus,
    ToolFinished,
)
from support.any_events import EVENTS
from support.events import SESSION, START, told


def folded(state: State | None, told: list[Event]) -> State:
    for event in told:
        state = fold(state, event)
    assert state is not None
    return state


def untimed(state: State) -> State:
    return replace(state, session=replace(state.session, updated_at=START))


@given(EVENTS)
def test_every_chunk_belongs_to_exactly_one_task_or_turn_that_is_there(given: list[Event]) -> None:
    state = told(given).state
    for chunk in state.chunks.values():
        if chunk.task:
            assert chunk.task in state.tasks
        assert chunk.turn in state.turns


@given(EVENTS)
def test_counts_are_those_of_the_chunks(given: list[Event]) -> None:
    state = told(given).state
    chunks = list(state.chunks.values())
    assert state.session.chunks == len(chunks)
    for task in state.tasks.values():
        own = [chunk for chunk in chunks if chunk.task == task.number]
        assert (task.chunks, task.tokens) == _sums(own)
    for turn in state.turns.values():
        own = [chunk for chunk in chunks if not chunk.task and chunk.turn == turn.number]
        assert (turn.chunks, turn.tokens) == _sums(own)


def _sums(chunks: list[Chunk]) -> tuple[int, int]:
    return len(chunks), sum(chunk.tokens for chunk in chunks)


@given(EVENTS)
def test_numbers_and_places_count_without_a_gap(given: list[Event]) -> None:
    state = told(given).state
    chunks = list(state.chunks.values())
    assert [chunk.number for chunk in chunks] == list(range(1, len(chunks) + 1))
    assert list(state.tasks) == list(range(1, len(state.tasks) + 1))
    assert list(state.turns) in (
        list(range(len(state.turns))),
        list(range(1, len(state.turns) + 1)),
    )
    places = Counter((c.task, 0 if c.task else c.turn) for c in chunks)
    taken = {(c.task, 0 if c.task else c.turn, c.place) for c in chunks}
    assert taken == {(*scope, place) for scope, count in places.items() for place in range(count)}


@given(EVENTS)
def test_keys_are_the_numbers_and_ids_of_what_they_name(given: list[Event]) -> None:
    state = told(given).state
    assert all(number == turn.number for number, turn in state.turns.items())
    assert all(number == task.number for number, task in state.tasks.items())
    assert all(name == chunk.id for name, chunk in state.chunks.items())


@given(EVENTS)
def test_tasks_are_sound(given: list[Event]) -> None:
    state = told(given).state
    for task in state.tasks.values():
        assert task.subject
        assert task.name
        assert task.status.is_open == (task.ended_at is None)
        assert task.number not in task.blocked_by
        assert set(task.blocked_by) <= set(state.tasks)
        assert len(set(task.blocked_by)) == len(task.blocked_by)
        assert task.activation <= state.session.activations
        assert (task.activation > 0) or task.status is not TaskStatus.ACTIVE
    activations = [task.activation for task in state.tasks.values() if task.activation]
    assert len(set(activations)) == len(activations)


@given(EVENTS, st.data())
def test_batches_may_be_cut_anywhere(given: list[Event], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(given)))
    state = folded(None, given[:cut]) if cut else None
    state = folded(state, given[cut:]) if given[cut:] else state
    assert state == told(given).state
    *_, last = steps(None, given)
    assert last.after == state


@given(EVENTS)
def test_no_state_is_changed_in_place(given: list[Event]) -> None:
    state: State | None = None
    for event in given:
        before = deepcopy(state)
        after = fold(state, event)
        assert state == before
        state = after


@given(EVENTS)
def test_what_did_not_change_is_the_same_object(given: list[Event]) -> None:
    """The store writes what is another object: it must be what differs, and all of it."""
    for step in steps(None, given):
        if step.before is None:
            continue
        for name in ("turns", "tasks", "chunks"):
            before, after = getattr(step.before, name), getattr(step.after, name)
            assert set(before) <= set(after)
            assert list(after)[: len(before)] == list(before)


@given(EVENTS)
def test_what_two_copies_of_a_hook_tell_counts_once(given: list[Event]) -> None:
    """Each event told twice in a row changes nothing but the time; verbs tell things once."""
    state: State | None = None
    for event in given:
        once = fold(state, event)
        is_captured = type(event) is not TasksChanged and _has_identity(event)
        assert not is_captured or untimed(fold(once, event)) == untimed(once)
        state = once


@given(EVENTS)
def test_results_and_prompts_told_again_at_any_time_change_nothing(given: list[Event]) -> None:
    state = told(given).state
    for event in given:
        if isinstance(event, (ToolFinished, PromptSubmitted)) and _has_identity(event):
            after = fold(state, event)
            assert (after.turns, after.tasks, after.chunks) == (
                state.turns,
                state.tasks,
                state.chunks,
            )


def _has_identity(event: Event) -> bool:
    """Prompts are told apart by their id; without one, the same words may be asked again."""
    return bool(event.prompt_id) or not isinstance(event, PromptSubmitted)


@given(EVENTS)
def test_time_only_goes_on(given: list[Event]) -> None:
    state = told(given).state
    assert state.session.updated_at == max(event.at for event in given)
    assert state.session.started_at == given[0].at
    assert state.session.id == SESSION


@settings(max_examples=5)
@given(st.integers(300, 600))
def test_many_tasks_and_results_are_folded_too(count: int) -> None:
    given: list[Event] = []
    for number in range(count):
        change = TaskChange(key=str(number), subject=f"Task {number}", status=TaskStatus.ACTIVE)
        given.append(
            ToolFinished(
                id=str(number),
                at=START,
                session=SESSION,
                tool_use_id=f"t{number}",
                origin="TaskCreate",
                changes=(change,),
            )
        )
    state = told(given).state
    assert len(state.tasks) == len(state.chunks) == count
    assert state.active_task() == state.tasks[count]
