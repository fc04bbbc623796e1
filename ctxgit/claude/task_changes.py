"""What the client's task tools, and our own verbs, say about tasks."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from ctxgit.claude.fields import identifier, identifiers, items, mapping, text
from ctxgit.model import TaskChange, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxgit.model import Json

CLIENT_STATUS = MappingProxyType(
    {
        "pending": TaskStatus.PENDING,
        "in_progress": TaskStatus.ACTIVE,
        "completed": TaskStatus.DONE,
        "deleted": TaskStatus.ABANDONED,
        "cancelled": TaskStatus.ABANDONED,
    }
)
"""The client's words for where a task stands, and ours."""

_TASK_ID = re.compile(r"#(\w+)")


def created_task(tool_input: Json, response: object) -> tuple[TaskChange, ...]:
    """Return what TaskCreate declares: the client gives the id only in its response."""
    task = mapping(mapping(response).get("task"))
    key = identifier(task.get("id"))
    if not key and isinstance(response, str) and (found := _TASK_ID.search(response)):
        key = found[1]
    subject = text(tool_input, "subject") or text(task, "subject")
    description = text(tool_input, "description") or text(task, "description")
    if not key and not subject:
        return ()
    return (TaskChange(key=key, subject=subject or None, description=description or None),)


def updated_task(tool_input: Json, response: object) -> tuple[TaskChange, ...]:
    """Return what TaskUpdate changes; fields that it does not name stay as they are."""
    key = identifier(tool_input.get("taskId")) or identifier(mapping(response).get("taskId"))
    if not key:
        return ()
    change = TaskChange(
        key=key,
        subject=text(tool_input, "subject") or None,
        description=text(tool_input, "description") or None,
        status=CLIENT_STATUS.get(text(tool_input, "status")),
        blocked_by=identifiers(tool_input.get("addBlockedBy")),
        blocks=identifiers(tool_input.get("addBlocks")),
    )
    return (change,)


def todo_list(tool_input: Json, response: object) -> tuple[TaskChange, ...] | None:
    """Return the whole list that TodoWrite leaves, ``None`` if it cannot be read whole.

    Todos are matched by their text: only some old clients gave them ids.
    """
    found = mapping(response).get("newTodos")
    todos = found if isinstance(found, list) else tool_input.get("todos")
    if not isinstance(todos, list):
        return None
    changes = tuple(
        TaskChange(subject=subject, status=CLIENT_STATUS.get(text(mapping(todo), "status")))
        for todo in todos
        if (subject := text(mapping(todo), "content"))
    )
    return changes if len(changes) == len(todos) else None


def decode_changes(value: object) -> tuple[TaskChange, ...]:
    """Return the changes in the JSON of :func:`encode_changes`; unreadable ones left out."""
    read = (_decode_change(mapping(each)) for each in items(value))
    return tuple(each for each in read if each.key or each.number is not None or each.subject)


def encode_changes(changes: Iterable[TaskChange]) -> list[dict[str, object]]:
    """Return ``changes`` as JSON, each object with only the fields that say something."""
    return [_encode_change(change) for change in changes]


def _decode_change(value: Json) -> TaskChange:
    number, subject, description = (value.get(n) for n in ("number", "subject", "description"))
    try:
        status = TaskStatus(text(value, "status"))
    except ValueError:
        status = None
    return TaskChange(
        key=identifier(value.get("key")),
        number=number if isinstance(number, int) and not isinstance(number, bool) else None,
        subject=subject if isinstance(subject, str) else None,
        description=description if isinstance(description, str) else None,
        status=status,
        blocked_by=identifiers(value.get("blocked_by")),
        blocks=identifiers(value.get("blocks")),
    )


def _encode_change(change: TaskChange) -> dict[str, object]:
    fields: dict[str, object] = {
        "key": change.key or None,
        "number": change.number,
        "subject": change.subject,
        "description": change.description,
        "status": change.status and change.status.value,
        "blocked_by": list(change.blocked_by) or None,
        "blocks": list(change.blocks) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}
