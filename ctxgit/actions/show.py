"""``ctx show ID``: any chunk, task or commit, whole."""

from __future__ import annotations

import os
from contextlib import suppress

from ctxgit.actions import task
from ctxgit.actions.place import Place, find_session
from ctxgit.actions.task import TaskDetail
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.look.show import ShownChunk, ShownCommit, read_chunk, read_commit
from ctxgit.store import index
from ctxgit.store.git import Git
from ctxgit.store.index import ChunkEntry, Index
from ctxgit.text import replace_surrogates

CHUNK_ID_LENGTH = 4
"""Fewer characters name no chunk: they would name too many."""
SHOWN = 5
"""How many names are shown of those that could be meant."""


def show(place: Place, name: str) -> ShownChunk | ShownCommit | TaskDetail:
    """Return what ``name`` names.

    A chunk's id or tool use id, whole or its beginning; a task's label or number (the commit
    that finished it, or the task as it stands); a commit, branch or tag.

    Raises NotFoundError, also when a beginning is not the beginning of one chunk only.
    """
    name = replace_surrogates(name)
    if not name.strip() or name.startswith("-"):
        raise UsageError(f"{name!r} names nothing", hint="give an id; `ctx log` shows some")
    git = Git(place.store.git_dir)
    bare = name.removeprefix("toolu_")
    with index.opened(place.store) as opened:
        opened.refresh(git)
        found = _chunks(place, opened, bare) if len(bare) >= CHUNK_ID_LENGTH else []
        near = [] if found else _near(opened, bare)
    if len(found) == 1:
        return read_chunk(git, found[0])
    detail = _task(place, name.removeprefix("task "))
    if detail is not None:
        return read_commit(git, detail.tag) if detail.tag else detail
    if found:
        shown = ", ".join(entry.id for entry in found[:SHOWN])
        raise NotFoundError(f"{name} is ambiguous: {shown}", hint="give more of the id")
    try:
        return read_commit(git, name)
    except NotFoundError as error:
        if near:
            raise NotFoundError(error.message, hint=f"did you mean {', '.join(near)}?") from error
        if _is_task_name(name):
            task.show(place, name.removeprefix("task "))  # says which tasks of which session
        raise


def _chunks(place: Place, opened: Index, bare: str) -> list[ChunkEntry]:
    """Return the chunks whose id is or begins with ``bare``, of the session that is meant.

    Raises NotFoundError where one id is that of several sessions, and none is meant.
    """
    found = opened.chunks(bare)
    found = [entry for entry in found if entry.id == bare] or found
    if len(found) > 1 and (place.session or os.environ.get("CLAUDE_CODE_SESSION_ID")):
        with suppress(NotFoundError):
            key = find_session(place, opened).key
            found = [entry for entry in found if entry.session == key] or found
    if len(found) > 1 and len({entry.id for entry in found}) == 1:
        names = {entry.key: entry.name for entry in opened.sessions()}
        shown = ", ".join(sorted(names[entry.session] for entry in found))
        raise NotFoundError(
            f"{found[0].id} is in several sessions: {shown}", hint="name one with --session"
        )
    return found


def _near(opened: Index, bare: str) -> list[str]:
    """Return the ids that have the longest beginning in common with ``bare``."""
    for length in range(len(bare) - 1, CHUNK_ID_LENGTH - 1, -1):
        if entries := opened.chunks(bare[:length]):
            return list(dict.fromkeys(entry.id for entry in entries))[:SHOWN]
    return []


def _task(place: Place, name: str) -> TaskDetail | None:
    """Return the task of the session that ``name`` is the number or label of."""
    if not _is_task_name(name):
        return None
    try:
        return task.show(place, name)
    except NotFoundError:
        return None


def _is_task_name(name: str) -> bool:
    return name.removeprefix("task ").split("-", 1)[0].isdigit()
