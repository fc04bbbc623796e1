"""``ctx task``: say what work is for, where the client has no tools for it.

A verb is an event, folded by the rules that those of the client's tools are folded by.
"""

from __future__ import annotations

from datetime import datetime

from ctxgit.actions.place import Place, current_branch
from ctxgit.actions.rewrite import apply
from ctxgit.actions.status import ChunkRow, TaskRow, chunk_rows, task_rows
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.fold.tasks import BY_HAND
from ctxgit.model import Event, State, Task, TaskChange, TasksChanged, TaskStatus
from ctxgit.records import dataclass
from ctxgit.redact import redact
from ctxgit.store import layout, sessions
from ctxgit.text import one_line

VERBS = {
    TaskStatus.ACTIVE: "use",
    TaskStatus.DONE: "done",
    TaskStatus.ABANDONED: "abandon",
    TaskStatus.PENDING: "pending",
}

MANY_DIGITS = 10
"""No session has tasks whose number is that long; Python refuses to read a much longer one."""


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """A task after a verb; ``tag`` is the short name of its tag once it is done."""

    session: str
    task: TaskRow
    tag: str


@dataclass(frozen=True, kw_only=True)
class TaskDetail:
    """A task, its tag once it is done, and the chunks scoped to it."""

    session: str
    task: TaskRow
    tag: str
    chunks: tuple[ChunkRow, ...]


@dataclass(frozen=True, kw_only=True)
class TaskList:
    """The tasks of a session."""

    session: str
    tasks: tuple[TaskRow, ...]


def start(place: Place, subject: str, *, after: tuple[str, ...] = ()) -> TaskResult:
    """Declare a task and make it the active one; ``after`` are tasks it waits for.

    Raises UsageError for a subject without text, NotFoundError for an unknown task.
    """
    if not subject.strip():
        raise UsageError("a task needs a subject", hint='try: ctx task start "Fix the login"')
    key, state = _state(place)
    blocked_by = tuple(str(_find(state, name).number) for name in after)
    clean = redact(subject)
    change = TaskChange(subject=clean, status=TaskStatus.ACTIVE, blocked_by=blocked_by)
    return _tell(place, key, change, verb="task start", summary=one_line(clean, 80))


def set_status(place: Place, name: str | None, status: TaskStatus) -> TaskResult:
    """Put a task, the active one without ``name``, into ``status``.

    Raises NotFoundError when there is no such task or none is active.
    """
    key, state = _state(place)
    task = _find(state, name) if name else state.active_task()
    if task is None:
        raise NotFoundError("no task is active", hint="name one; `ctx task list` shows them")
    change = TaskChange(number=task.number, status=status)
    summary = f"task {task.number}: {one_line(task.subject, 80)}"
    return _tell(place, key, change, verb=f"task {VERBS[status]}", summary=summary)


def list_tasks(place: Place) -> TaskList:
    """Return the tasks of the session."""
    key, state = _state(place)
    return TaskList(session=key, tasks=task_rows(state))


def show(place: Place, name: str) -> TaskDetail:
    """Return the task called ``name`` (its number, label or subject) and its chunks.

    Raises NotFoundError.
    """
    branch, state = current_branch(place)
    task = _find(state, name)
    chunks = [chunk for chunk in state.chunks.values() if chunk.task == task.number]
    return TaskDetail(
        session=branch.key,
        task=_row(state, task),
        tag=_tag(branch, task),
        chunks=chunk_rows(chunks),
    )


def _state(place: Place) -> tuple[str, State]:
    branch, state = current_branch(place)
    return branch.key, state


def _find(state: State, name: str) -> Task:
    number = int(name) if name.isascii() and name.isdigit() and len(name) < MANY_DIGITS else None
    for task in state.tasks.values():
        if number == task.number or name in {task.label, task.subject}:
            return task
    near = [task for task in state.tasks.values() if name.casefold() in task.subject.casefold()]
    if len(near) == 1:
        return near[0]
    listed = (near or list(state.tasks.values()))[-5:]
    shown = ", ".join(f"{task.number} ({task.subject})" for task in listed)
    raise NotFoundError(
        f"there is no task {name} in session {state.session.id}",
        hint=f"tasks: {shown}" if shown else "name another session with --session",
    )


def _tell(place: Place, key: str, change: TaskChange, *, verb: str, summary: str) -> TaskResult:
    def changed(_: State, at: datetime) -> list[Event]:
        event = TasksChanged(
            id=f"ctx-{verb}", at=at, session=key, origin=BY_HAND, changes=(change,)
        )
        return [event]

    done = apply(place.store, key, changed, verb=verb, summary=summary)
    number = change.number or done.state.session.tasks
    task = done.state.tasks[number]
    return TaskResult(session=key, task=_row(done.state, task), tag=_tag(done.branch, task))


def _tag(branch: sessions.Branch, task: Task) -> str:
    if task.status is not TaskStatus.DONE:
        return ""
    return layout.task_tag(branch.name, task).removeprefix("refs/tags/")


def _row(state: State, task: Task) -> TaskRow:
    return next(row for row in task_rows(state) if row.number == task.number)
