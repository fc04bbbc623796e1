"""``ctx task``: say what work is for, where the client has no tools for it.

A verb leaves an event in the spool, as a hook does, and syncs: so tasks declared by hand
and by tools go the same way.
"""

from __future__ import annotations

from ctxgit.actions.place import Place, find_session, load_branch
from ctxgit.actions.status import ChunkRow, TaskRow, chunk_rows, task_rows
from ctxgit.actions.sync import sync
from ctxgit.capture import spool
from ctxgit.claude.payload import task_payload
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.model import State, Task, TaskChange, TaskStatus
from ctxgit.records import dataclass
from ctxgit.store import index, layout, sessions
from ctxgit.store.git import Git

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
    change = TaskChange(subject=subject, status=TaskStatus.ACTIVE, blocked_by=blocked_by)
    return _tell(place, key, change)


def set_status(place: Place, name: str | None, status: TaskStatus) -> TaskResult:
    """Put a task, the active one without ``name``, into ``status``.

    Raises NotFoundError when there is no such task or none is active.
    """
    key, state = _state(place)
    task = _find(state, name) if name else state.active_task()
    if task is None:
        raise NotFoundError("no task is active", hint="name one; `ctx task list` shows them")
    return _tell(place, key, TaskChange(number=task.number, status=status))


def list_tasks(place: Place) -> TaskList:
    """Return the tasks of the session."""
    key, state = _state(place)
    return TaskList(session=key, tasks=task_rows(state))


def show(place: Place, name: str) -> TaskDetail:
    """Return the task called ``name`` (its number, label or subject) and its chunks.

    Raises NotFoundError.
    """
    branch, state = _branch(place)
    task = _find(state, name)
    chunks = [chunk for chunk in state.chunks.values() if chunk.task == task.number]
    return TaskDetail(
        session=branch.key,
        task=_row(state, task),
        tag=_tag(branch, task),
        chunks=chunk_rows(chunks),
    )


def _state(place: Place) -> tuple[str, State]:
    branch, state = _branch(place)
    return branch.key, state


def _branch(place: Place) -> tuple[sessions.Branch, State]:
    with index.opened(place.store) as opened:
        opened.refresh(Git(place.store.git_dir))
        entry = find_session(place, opened)
    branch = load_branch(place, entry)
    if branch.state is None:
        raise NotFoundError(f"session {entry.name} has no state")
    return branch, branch.state


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


def _tell(place: Place, key: str, change: TaskChange) -> TaskResult:
    spool.write(place.store, task_payload(key, [change]), session=key)
    sync(place.store, session=key)
    branch, state = _branch(Place(store=place.store, directory=place.directory, session=key))
    if change.number is None:
        task = max(state.tasks.values(), key=lambda task: task.activation)
    else:
        task = state.tasks[change.number]
    return TaskResult(session=key, task=_row(state, task), tag=_tag(branch, task))


def _tag(branch: sessions.Branch, task: Task) -> str:
    if task.status is not TaskStatus.DONE:
        return ""
    return layout.task_tag(branch.name, task).removeprefix("refs/tags/")


def _row(state: State, task: Task) -> TaskRow:
    return next(row for row in task_rows(state) if row.number == task.number)
