"""Rules about turns: one user prompt and all that follows until the next."""

from __future__ import annotations

from ctxgit.model import Event, PromptKind, PromptSubmitted, State, Turn, TurnStopped
from ctxgit.records import replace
from ctxgit.text import one_line

HEADLINE_LENGTH = 120


def prompted(state: State, event: PromptSubmitted) -> State:
    """Open a turn for a user's prompt; a notice goes on with the turn that is there.

    The same one told again (two copies of the plugin) changes nothing, known by its id and,
    since one id may stand for several prompts, its words.
    """
    headline = one_line(event.text, HEADLINE_LENGTH)
    is_notice = event.kind is PromptKind.NOTICE
    known = (turn for turn in state.turns.values() if event.prompt_id in turn.prompt_ids)
    if any(is_notice or turn.headline == headline for turn in known):
        return state
    if is_notice:
        state = with_turn(state, event)
        turn = state.turns[state.current_turn]
        ids = (event.prompt_id,) if event.prompt_id else ()
        return put(state, replace(turn, prompt_ids=(*turn.prompt_ids, *ids), ended_at=None))
    state = replace(state, session=replace(state.session, cleared=False))
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
    return put(state, replace(turn, ended_at=max(turn.ended_at or event.at, event.at)))


def with_turn(state: State, event: Event) -> State:
    """Return ``state`` with at least turn 0 in it."""
    return state if state.turns else put(state, Turn(number=0, started_at=event.at))


def put(state: State, turn: Turn) -> State:
    """Return ``state`` with ``turn`` added or replaced."""
    return replace(state, turns={**state.turns, turn.number: turn})
