"""Rules about chunks: what a tool result was made for."""

from __future__ import annotations

import hashlib

from ctxgit.fold import tasks, turns
from ctxgit.model import Chunk, State, ToolFinished
from ctxgit.records import replace
from ctxgit.text import is_safe_id
from ctxgit.tokens import estimate_tokens

TOOL_USE_PREFIX = "toolu_"


def chunk_id(event: ToolFinished) -> str:
    """Return the id of the chunk made of ``event``: the tool use's, without its prefix."""
    bare = event.tool_use_id.removeprefix(TOOL_USE_PREFIX)
    if is_safe_id(bare):
        return bare
    return hashlib.sha256((bare or event.id).encode()).hexdigest()[:24]


def finished(state: State, event: ToolFinished) -> State:
    """Apply what the call did to tasks, then tag its result.

    A task's own lifecycle call belongs to that task; any other result to the task its
    agent activated last; without one, to the turn of its prompt. The same tool use told
    twice makes one chunk.
    """
    identity = chunk_id(event)
    if identity in state.chunks:
        return state
    state = turns.with_turn(tasks.changed(state, event), event)
    turn = state.turn_of(event.prompt_id)
    task = _task_of(state, event)
    content = event.content.encode()
    chunk = Chunk(
        id=identity,
        number=state.session.chunks + 1,
        tool=event.tool,
        task=task,
        turn=turn,
        place=state.tasks[task].chunks if task else state.turns[turn].chunks,
        at=event.at,
        agent=event.agent,
        tool_use_id=event.tool_use_id,
        failed=event.failed,
        duration_ms=event.duration_ms,
        tokens=estimate_tokens(event.content),
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        paths=event.paths,
        media=event.media,
    )
    return _counted(replace(state, chunks={**state.chunks, identity: chunk}), chunk)


def _task_of(state: State, event: ToolFinished) -> int:
    task = tasks.only_one(state, event) or state.active_task(event.agent)
    return task.number if task else 0


def _counted(state: State, chunk: Chunk) -> State:
    state = replace(state, session=replace(state.session, chunks=chunk.number))
    if not chunk.task:
        turn = state.turns[chunk.turn]
        return turns.put(
            state, replace(turn, chunks=turn.chunks + 1, tokens=turn.tokens + chunk.tokens)
        )
    task = state.tasks[chunk.task]
    task = replace(task, chunks=task.chunks + 1, tokens=task.tokens + chunk.tokens)
    return replace(state, tasks={**state.tasks, task.number: task})
