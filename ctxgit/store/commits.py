"""Steps of a session as commits that a person can read in ``git log``.

A commit ends where something ended: a task was done, the model stopped, the context was
compacted, the session ended. What is left over at the end of a batch makes one more.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Iterator, Sequence

from ctxgit.model import (
    Adopted,
    Chunk,
    Cleared,
    Compacted,
    CompactionAnnounced,
    Event,
    PromptKind,
    PromptSubmitted,
    Restored,
    SessionEnded,
    SessionStarted,
    State,
    Step,
    SubagentStopped,
    Task,
    TaskStatus,
    TurnStopped,
)
from ctxgit.records import dataclass, field, replace
from ctxgit.store import layout
from ctxgit.store.stream import Commit
from ctxgit.text import counted, one_line
from ctxgit.tokens import format_tokens

SUBJECT_LENGTH = 72
CLEARED_SUBJECT = "End the session (clear)"
"""The subject of the commit that ends with a plain ``/clear``."""
LISTED_CHUNKS = 20
CLOSING = {
    TurnStopped: "Stop",
    Compacted: "PostCompact",
    SessionEnded: "SessionEnd",
    Cleared: "Clear",
    Adopted: "Load",
    Restored: "Restore",
}
"""Events that end something, with the client's word for them."""


def plan(
    steps: Iterable[Step], *, session_name: str, events: Sequence[str], trees: dict[str, str]
) -> list[Commit]:
    """Return the commits for ``steps``, oldest first.

    ``session_name`` is the last part of the branch's name; ``events`` are the names under
    which the batch was captured, ``trees`` goes into every commit as it is. Steps are taken
    one by one, and none is kept: the states of a large batch would fill the memory.
    """
    planned = [_commit(group, session_name, trees) for group in _groups(steps)]
    if planned and events:
        names = "".join(f"{event}\n" for event in events).encode()
        last = planned[-1]
        planned[-1] = replace(last, files={**last.files, layout.EVENTS_FILE: names})
    return planned


def _groups(steps: Iterable[Step]) -> Iterator[_Group]:
    group: _Group | None = None
    for step in steps:
        group = group or _Group(step.before, step)
        group.take(step)
        if type(step.event) in CLOSING or _is_boundary(step) or _finished(step):
            yield group
            group = None
    if group:
        yield group


def _is_boundary(step: Step) -> bool:
    """Whether the context was rewritten just now; the client's summary may come later."""
    before = step.before.session.compactions if step.before else 0
    return step.after.session.compactions > before


def _finished(step: Step) -> list[Task]:
    """Return the tasks that were done in this step; those that came back done were before."""
    before = step.before.tasks if step.before else {}
    if before is step.after.tasks or isinstance(step.event, (Adopted, Restored)):
        return []
    return [
        task
        for task in step.after.tasks.values()
        if task.status is TaskStatus.DONE
        and (task.number not in before or before[task.number].status is not TaskStatus.DONE)
    ]


@dataclass
class _Group:
    """What the steps of one commit amount to: their events and files, not their states."""

    before: State | None
    last: Step
    events: list[Event] = field(default_factory=list)
    files: dict[str, bytes | None] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        """Add a step."""
        self.last = step
        self.events.append(step.event)
        self.files.update(layout.files(step))

    @property
    def after(self) -> State:
        return self.last.after

    @property
    def finished(self) -> list[Task]:
        return _finished(self.last)

    @property
    def chunks(self) -> list[Chunk]:
        known = self.before.session.chunks if self.before else 0
        return [chunk for chunk in self.after.chunks.values() if chunk.number > known]

    @property
    def answered(self) -> bool:
        return isinstance(self.last.event, TurnStopped)

    @property
    def labels(self) -> list[str]:
        """Labels of the tasks the commit is about, in order of number."""
        numbers = {chunk.task for chunk in self.chunks if chunk.task}
        numbers |= {task.number for task in self.finished}
        return [self.after.tasks[number].label for number in sorted(numbers)]


def _commit(group: _Group, session_name: str, trees: dict[str, str]) -> Commit:
    return Commit(
        at=group.after.session.updated_at,
        message=_message(group),
        files={**group.files, layout.SESSION_FILE: layout.session_file(group.after)},
        trees=trees,
        tags=tuple(_tags(group, session_name)),
    )


def _tags(group: _Group, session_name: str) -> Iterator[str]:
    """Yield the full names of the refs that shall point at the commit."""
    for task in group.finished:
        yield layout.task_tag(session_name, task)
    if isinstance(group.last.event, SessionEnded) and layout.lost_in_clear(group.after):
        yield layout.cleared_ref(session_name, group.after.session.updated_at)


def _message(group: _Group) -> str:
    chunks = group.chunks
    body = [_line(group.after, chunk) for chunk in chunks[:LISTED_CHUNKS]]
    if len(chunks) > LISTED_CHUNKS:
        body.append(f"… and {len(chunks) - LISTED_CHUNKS} more")
    trailers = [f"Ctx-Event: {_event(group)}", f"Ctx-Session: {group.after.session.id}"]
    trailers += [f"Ctx-Task: {label}" for label in group.labels]
    trailers.append(f"Ctx-Chunks: {len(chunks)}")
    trailers.append(f"Ctx-Tokens: {sum(chunk.tokens for chunk in chunks)}")
    parts = [_subject(group), *(["\n".join(body)] if body else []), "\n".join(trailers)]
    return "\n\n".join(parts) + "\n"


def _event(group: _Group) -> str:
    if group.finished:
        return "TaskCompleted"
    if isinstance(group.last.event, SessionStarted):
        return "SessionStart"
    return CLOSING.get(type(group.last.event), "Sync")


def _subject(group: _Group) -> str:
    """Return what ended, else how much was done, else what else was heard."""
    ended = _ending(group)
    if ended:
        return _fitted(ended)
    if group.chunks or group.answered:
        return _turn_subject(group)
    return _fitted(_task_news(group) or _other_news(group)) or _turn_subject(group)


def _ending(group: _Group) -> str:
    session = group.after.session
    if group.finished:
        return "Finish " + " and ".join(_named(task) for task in group.finished)
    if _is_boundary(group.last) and isinstance(group.last.event, SessionStarted):
        return f"Compact the context ({session.compactions})"
    match group.last.event:
        case Cleared():
            return "Clear the working set"
        case Adopted(source=source):
            return f"Go on from {source}"
        case Restored(chunks=chunks):
            return f"Bring back {len(chunks)} result{'s' * (len(chunks) != 1)}"
        case Compacted(trigger=trigger):
            how = f" ({trigger})" if trigger else ""
            return f"Keep the client's summary of compaction {session.compactions}{how}"
        case SessionEnded():
            return f"End the session ({session.ended})"
    return ""


def _task_news(group: _Group) -> str:
    before = group.before.tasks if group.before else {}
    changed = [task for task in group.after.tasks.values() if before.get(task.number) is not task]
    if not changed:
        return ""
    verbs = {TaskStatus.PENDING: "Declare", TaskStatus.ACTIVE: "Start"}
    return f"{verbs.get(changed[-1].status, 'Abandon')} {_named(changed[-1])}"


def _other_news(group: _Group) -> str:
    for event in reversed(group.events):
        match event:
            case CompactionAnnounced(trigger=trigger):
                return f"Announce a compaction ({trigger or 'manual'})"
            case SubagentStopped(agent_type=kind) if kind:
                return f"End a subagent ({kind})"
            case PromptSubmitted(kind=PromptKind.USER):
                return ""
            case SessionStarted(source=source):
                return f"Start the session ({source or 'startup'})"
    return ""


def _turn_subject(group: _Group) -> str:
    chunks = group.chunks
    turn = group.after.turns.get(group.after.turn_of(group.last.event.prompt_id))
    count = f" ({_counted(chunks)})" if chunks else ""
    if turn is None or not turn.number:
        return f"Work before the first prompt{count}"
    head = f"{'Turn' if chunks or not group.answered else 'Answer turn'} {turn.number}"
    room = SUBJECT_LENGTH - len(head) - len(count) - 2
    headline = one_line(turn.headline, room) if room > 0 else ""
    return f"{head}: {headline}{count}" if headline else f"{head}{count}"


def _counted(chunks: Sequence[Chunk]) -> str:
    tokens = format_tokens(sum(chunk.tokens for chunk in chunks))
    return f"{counted(len(chunks), 'result')}, {tokens} tokens"


def _named(task: Task) -> str:
    return f"task {task.number}: {task.subject}"


def _fitted(subject: str) -> str:
    return one_line(subject, SUBJECT_LENGTH)


def _line(state: State, chunk: Chunk) -> str:
    where = chunk.paths[0] if chunk.paths else ""
    root = state.session.work_tree or state.session.cwd
    if root and where.startswith(root + "/"):
        where = os.path.relpath(where, root)
    failed = ", failed" if chunk.failed else ""
    detail = f" {one_line(where, 80)}" if where else ""
    tool = one_line(chunk.tool, 80)
    return f"- {tool}{detail} ({format_tokens(chunk.tokens)} tokens{failed})"
