"""What a compaction's summariser is told: plain text, short, since the client echoes it."""

from __future__ import annotations

from collections.abc import Iterator

from ctxgit.deliver.frame import escape, units
from ctxgit.model import State, TaskStatus
from ctxgit.text import counted, one_line
from ctxgit.tokens import format_tokens

OPENING = (
    "ctxgit keeps every tool result of this session (`ctx show ID`): say what they taught,"
    " do not copy them."
)


def hint(state: State, *, limit: int) -> str:
    """Return the advice for ``state``, at most ``limit`` UTF-16 units, whole lines only.

    The latest prompt first, then open tasks, the last activated one first, then those that
    are done, the newest first. Empty when ``limit`` leaves no room or there is nothing to say.
    """
    kept: list[str] = []
    room = limit
    for line in _lines(state):
        room -= units(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept) if len(kept) > 1 else ""


def _lines(state: State) -> Iterator[str]:
    yield OPENING
    turn = state.turns.get(state.current_turn)
    if turn and turn.headline:
        yield f"Keep: what the user asked last: {escape(turn.headline)}"
    for task in sorted(state.tasks.values(), key=lambda task: -task.activation):
        if task.status.is_open:
            yield f"Keep: task {task.number} is {task.status}: {_subject(task.subject)}"
    for task in reversed(state.tasks.values()):
        if task.status is TaskStatus.DONE:
            size = f"{counted(task.chunks, 'result')}, {format_tokens(task.tokens)} tokens"
            subject = _subject(task.subject)
            yield f"May go: the results of task {task.number}, done: {subject} ({size})"


def _subject(text: str) -> str:
    return escape(one_line(text, 120))
