"""Rules about tasks: how they are declared, found again, started and ended."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ctxgit.model import State, Task, TaskChange, TasksChanged, TaskStatus
from ctxgit.records import replace
from ctxgit.text import one_line, slugify

SUBJECT_LENGTH = 200
CREATION = "TaskCreate"
"""The origin of what the client's tool says that makes tasks."""
BY_HAND = "ctx"
"""The origin of what a verb says; it names tasks by our numbers."""


def changed(state: State, event: TasksChanged) -> State:
    """Apply what a tool or a verb said about tasks."""
    if event.whole_list:
        return _list_replaced(state, event)
    about: list[tuple[int, TaskChange]] = []
    for change in event.changes:
        task = _meant(state, event, change)
        if task is not None:
            state = _apply(state, event, change, task)
            about.append((task.number, change))
    return _with_dependencies(state, event, about)


def find(state: State, agent: str, change: TaskChange) -> Task | None:
    """Return the task that ``change`` is about, ``None`` when there is none yet.

    By our number; by the client's id, the agent's own tasks before the main loop's before
    those of other agents, the newest first; a change with neither names a new task.
    """
    if change.number is not None:
        return state.tasks.get(change.number)
    if not change.key:
        return None
    same_key = [task for task in state.tasks.values() if task.key == change.key]
    return max(
        same_key,
        key=lambda task: (task.agent == agent, not task.agent, task.number),
        default=None,
    )


def only_one(state: State, event: TasksChanged) -> Task | None:
    """Return the task that all of an event, folded just now, was about, if it was one."""
    if len(event.changes) != 1 or event.whole_list:
        return None
    (change,) = event.changes
    if change.key or change.number is not None:
        return find(state, event.agent, change)
    return state.tasks[max(state.tasks)]  # a change with neither has just declared it


def _meant(state: State, event: TasksChanged, change: TaskChange) -> Task | None:
    """Return the task to be changed: the one there is, else a new one, none by our number."""
    task = find(state, event.agent, change)
    if task is None and change.number is not None:
        return None
    if task is None or (event.origin == CREATION and _is_another(event, change, task)):
        return _declared(state, event, change)
    return replace(task, origin=CREATION) if event.origin == CREATION else task


def _is_another(event: TasksChanged, change: TaskChange, found: Task) -> bool:
    """Whether a creation reuses the id of another task: ids begin again in the client.

    It does not when it arrives after an update that had to declare the task without it.
    """
    is_named = found.origin == CREATION
    return (
        found.agent != event.agent
        or not found.status.is_open
        or (is_named and found.subject != _subject(change))
    )


def _apply(state: State, event: TasksChanged, change: TaskChange, task: Task) -> State:
    """Put ``change`` into ``task``, which may be new to the state."""
    subject = _subject(change)
    task = replace(
        task,
        subject=subject or task.subject,
        description=task.description if change.description is None else change.description,
    )
    return with_status(state, task, change.status, event.at)


def _declared(state: State, event: TasksChanged, change: TaskChange) -> Task:
    subject = _subject(change) or (f"task {change.key}" if change.key else "untitled")
    return Task(
        number=state.session.tasks + 1,
        name=slugify(subject),
        subject=subject,
        status=TaskStatus.PENDING,
        created_at=event.at,
        agent=event.agent,
        origin=event.origin,
        key=change.key,
    )


def with_status(state: State, task: Task, status: TaskStatus | None, at: datetime) -> State:
    """Return ``state`` with ``task`` put into ``status``; ``None`` leaves its status.

    Becoming active counts an activation, also when it was active before: the last one
    activated is the one that work is tagged with.
    """
    session = replace(state.session, tasks=max(state.session.tasks, task.number))
    if status is TaskStatus.ACTIVE:
        session = replace(session, activations=session.activations + 1)
        task = replace(task, status=status, activation=session.activations, ended_at=None)
    elif status is TaskStatus.PENDING:
        task = replace(task, status=status, ended_at=None)
    elif status is not None and status is not task.status:
        task = replace(task, status=status, ended_at=at)
    return replace(state, session=session, tasks={**state.tasks, task.number: task})


def _with_dependencies(
    state: State, event: TasksChanged, about: Iterable[tuple[int, TaskChange]]
) -> State:
    """Turn the names in ``blocked_by`` and ``blocks`` into numbers; unknown ones are dropped."""
    tasks = dict(state.tasks)
    for own, change in about:
        for number in _numbers(state, event, change.blocked_by):
            tasks[own] = _blocked(tasks[own], number)
        for number in _numbers(state, event, change.blocks):
            tasks[number] = _blocked(tasks[number], own)
    return replace(state, tasks=tasks)


def _numbers(state: State, event: TasksChanged, names: Iterable[str]) -> list[int]:
    """Return the numbers of tasks named by the client's ids, in a verb by our own numbers."""
    if event.origin == BY_HAND:
        numbers = {str(number): number for number in state.tasks}
        return [numbers[name] for name in names if name in numbers]
    found = (find(state, event.agent, TaskChange(key=name)) for name in names)
    return [task.number for task in found if task is not None]


def _blocked(task: Task, by: int) -> Task:
    if by == task.number or by in task.blocked_by:
        return task
    return replace(task, blocked_by=(*task.blocked_by, by))


# --- lists without ids (TodoWrite) ---------------------------------------------------------


def _list_replaced(state: State, event: TasksChanged) -> State:
    """Match a whole list by content: what is new, what changed, what was dropped."""
    mine = [
        task
        for task in state.tasks.values()
        if task.origin == event.origin and task.agent == event.agent
    ]
    pairs = _matched(mine, event.changes)
    kept = {task.number for task, _ in pairs if task is not None}
    for task, told in pairs:
        is_same = task is not None and told.status is task.status
        change = replace(told, status=None) if is_same else told
        state = _apply(state, event, change, task or _declared(state, event, change))
    for task in mine:
        if task.number not in kept and task.status.is_open:
            state = with_status(state, task, TaskStatus.ABANDONED, event.at)
    return state


def _matched(
    mine: list[Task], changes: tuple[TaskChange, ...]
) -> list[tuple[Task | None, TaskChange]]:
    """Pair each item with the task of the same subject, else with one renamed in place.

    A task was renamed when exactly one open task and one item are left over.
    """
    free = sorted(mine, key=lambda task: not task.status.is_open)
    pairs: list[tuple[Task | None, TaskChange]] = []
    for change in changes:
        task = next((task for task in free if task.subject == _subject(change)), None)
        if task is not None:
            free.remove(task)
        pairs.append((task, change))
    left = [task for task in free if task.status.is_open]
    new = [index for index, (task, _) in enumerate(pairs) if task is None]
    if len(left) == len(new) == 1:
        pairs[new[0]] = (left[0], pairs[new[0]][1])
    return pairs


def _subject(change: TaskChange) -> str:
    return one_line(change.subject or "", SUBJECT_LENGTH)
