"""``ctx show ID``: any chunk, task or commit, whole."""

from __future__ import annotations

from ctxgit.actions.place import Place, find_session
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.look.show import ShownChunk, ShownCommit, read_chunk, read_commit
from ctxgit.store import index, layout
from ctxgit.store.git import Git

CHUNK_ID_LENGTH = 4
"""Fewer characters name no chunk: they would name too many."""


def show(place: Place, name: str) -> ShownChunk | ShownCommit:
    """Return what ``name`` names.

    A chunk's id or tool use id, whole or its beginning; a task's tag, label or number (the
    commit that finished it); a commit, branch or tag.

    Raises NotFoundError, also when a beginning is not the beginning of one chunk only.
    """
    if not name.strip() or name.startswith("-"):
        raise UsageError(f"{name!r} names nothing", hint="give an id; `ctx log` shows some")
    git = Git(place.store.git_dir)
    bare = name.removeprefix("toolu_")
    with index.opened(place.store) as opened:
        opened.refresh(git)
        entries = opened.chunks(bare) if len(bare) >= CHUNK_ID_LENGTH else []
        tag = _task_tag(place, opened, name, git)
    exact = [entry for entry in entries if entry.id == bare] or entries
    if len(exact) == 1:
        return read_chunk(git, exact[0])
    if exact and tag is None:
        shown = ", ".join(entry.id for entry in exact[:5])
        raise NotFoundError(f"{name} is ambiguous: {shown}", hint="give more of the id")
    return read_commit(git, tag or name)


def _task_tag(place: Place, opened: index.Index, name: str, git: Git) -> str | None:
    """Return the tag of the done task of the session that ``name`` is the label or number of."""
    number = name.removeprefix("task ").strip()
    try:
        session = find_session(place, opened)
    except NotFoundError:
        return None
    for ref in git.refs(f"{layout.TASK_TAGS}{session.name}/"):
        label = ref.rsplit("/", 1)[-1]
        if number == label or (number.isdigit() and label.split("-")[0] == f"{int(number):02d}"):
            return ref
    return None
