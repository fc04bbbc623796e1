"""``ctx show ID``: any chunk, task or commit, whole."""

from __future__ import annotations

from ctxgit.actions import task
from ctxgit.actions.place import Place
from ctxgit.actions.task import TaskDetail
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.look.show import ShownChunk, ShownCommit, read_chunk, read_commit
from ctxgit.store import index
from ctxgit.store.git import Git

CHUNK_ID_LENGTH = 4
"""Fewer characters name no chunk: they would name too many."""


def show(place: Place, name: str) -> ShownChunk | ShownCommit | TaskDetail:
    """Return what ``name`` names.

    A chunk's id or tool use id, whole or its beginning; a task's label or number (the commit
    that finished it, or the task as it stands); a commit, branch or tag.

    Raises NotFoundError, also when a beginning is not the beginning of one chunk only.
    """
    if not name.strip() or name.startswith("-"):
        raise UsageError(f"{name!r} names nothing", hint="give an id; `ctx log` shows some")
    git = Git(place.store.git_dir)
    bare = name.removeprefix("toolu_")
    with index.opened(place.store) as opened:
        opened.refresh(git)
        entries = opened.chunks(bare) if len(bare) >= CHUNK_ID_LENGTH else []
    exact = [entry for entry in entries if entry.id == bare] or entries
    if len(exact) == 1:
        return read_chunk(git, exact[0])
    detail = _task(place, name.removeprefix("task "))
    if detail is not None:
        return read_commit(git, detail.tag) if detail.tag else detail
    if exact:
        shown = ", ".join(entry.id for entry in exact[:5])
        raise NotFoundError(f"{name} is ambiguous: {shown}", hint="give more of the id")
    return read_commit(git, name)


def _task(place: Place, name: str) -> TaskDetail | None:
    """Return the task of the session that ``name`` is the number or label of."""
    if not name.split("-", 1)[0].isdigit():
        return None
    try:
        return task.show(place, name)
    except NotFoundError:
        return None
