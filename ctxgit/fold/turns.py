"""Rules about turns: one user prompt and all that follows until the next."""

from __future__ import annotations

from dataclasses import replace

from ctxgit.model import Event, PromptKind, PromptSubmitted, State, Turn, TurnStopped
from ctxgit.text import one_line

HEADLINE_LENGTH = 120


def prompted(state: State, event: PromptSubmitted) -> State:
    """Open a turn for a user's prompt; a notice goes on with the turn that is there.

    The same prompt told twice (two copies of the plugin) opens one turn.
    """
    headline = one_line(event.text, HEADLINE_LENGTH)
    current = state.turns.get(state.current_turn)
    if current and event.prompt_id in current.prompt_ids and current.headline == headline:
        return state
    if event.kind is PromptKind.NOTICE:
        state = with_turn(state, event)
        turn = state.turns[state.current_turn]
        if event.prompt_id and event.prompt_id not in turn.prompt_ids:
            turn = replace(turn, prompt_ids=(*turn.prompt_ids, event.prompt_id))
        return put(state, replace(turn, ended_at=None))
    turn = Turn(
        number=state.current_turn + 1,
        started_at=event.at,
        headline=headline,
        prompt_ids=(event.prompt_id,) if event.prompt_id else (),
    )
    return put(state, turn)


def stopped(state: State, event: TurnStopped) -> State:
    """Note when the model ended its answer; a later Stop of the turn moves the time."""
    state = with_turn(state, event)
    turn = state.turns[state.turn_of(event.prompt_id)]
    return put(state, replace(turn, ended_at=event.at))


def with_turn(state: State, event: Event) -> State:
    """Return ``state`` with at least turn 0 in it."""
    return state if state.turns else put(state, Turn(number=0, started_at=event.at))


def put(state: State, turn: Turn) -> State:
    """Return ``state`` with ``turn`` added or replaced."""
    return replace(state, turns={**state.turns, turn.number: turn})
