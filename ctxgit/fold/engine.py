"""Which rule answers which event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ctxgit.fold import chunks, sessions, tasks, turns, workingset
from ctxgit.model import (
    Adopted,
    Cleared,
    Compacted,
    CompactionAnnounced,
    Event,
    Observed,
    PromptSubmitted,
    Restored,
    Session,
    SessionEnded,
    SessionStarted,
    State,
    Step,
    TasksChanged,
    ToolFinished,
    TurnStopped,
)
from ctxgit.records import replace

RULES: dict[type[Event], Callable[[State, Any], State]] = {
    SessionStarted: sessions.started,
    SessionEnded: sessions.ended,
    Compacted: sessions.compacted,
    Observed: sessions.observed,
    PromptSubmitted: turns.prompted,
    TurnStopped: turns.stopped,
    ToolFinished: chunks.finished,
    TasksChanged: tasks.changed,
    Cleared: workingset.cleared,
    Adopted: workingset.adopted,
    Restored: workingset.restored,
}
GOING_ON = (PromptSubmitted, ToolFinished, TurnStopped, CompactionAnnounced, SessionEnded)
"""Events of the main loop after which a compaction is another one than that before."""


def fold(state: State | None, event: Event) -> State:
    """Return the state after ``event``; ``None`` stands for a session not seen before.

    Total: every event is accepted in every state, in any order. An event of a kind that
    has no rule only moves the session's ``updated_at``.
    """
    state = _touched(state, event)
    rule = RULES.get(type(event))
    return rule(state, event) if rule else state


def steps(state: State | None, events: Iterable[Event]) -> Iterator[Step]:
    """Fold ``events`` one by one, yielding each with the state before and after it."""
    for event in events:
        after = fold(state, event)
        yield Step(before=state, event=event, after=after)
        state = after


def _touched(state: State | None, event: Event) -> State:
    if state is None:
        return State(session=Session(id=event.session, started_at=event.at, updated_at=event.at))
    session = state.session
    is_open = session.boundary_open and not (isinstance(event, GOING_ON) and not event.agent)
    updated_at = max(session.updated_at, event.at)
    return replace(state, session=replace(session, updated_at=updated_at, boundary_open=is_open))
