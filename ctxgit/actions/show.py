"""``ctx show ID``: any chunk, task, save, state, knowledge entry or commit, whole."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime

from ctxgit.actions import chunk, task
from ctxgit.actions.material import read_material
from ctxgit.actions.naming import Named, resolve
from ctxgit.actions.place import Place, find_session, session_at
from ctxgit.actions.status import TaskRow, rows_of
from ctxgit.actions.task import TaskDetail
from ctxgit.deliver.handoff import SAVE_TOKENS, handoff
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.look.show import (
    ShownChunk,
    ShownCommit,
    ShownEntry,
    read_chunk,
    read_commit,
    read_entry,
)
from ctxgit.records import dataclass
from ctxgit.store import index, layout, saves
from ctxgit.store.git import Git, committed_at
from ctxgit.store.index import ChunkEntry, Index
from ctxgit.text import replace_surrogates

SHOWN = 5
"""How many names are shown of those that could be meant."""


@dataclass(frozen=True, kw_only=True)
class ShownSave:
    """A save: what it says of itself, its tasks, and its handoff."""

    name: str
    commit: str
    at: datetime
    session: str
    message: str
    tokens: int
    work_tree: str
    branch: str
    head: str
    tasks: tuple[TaskRow, ...]
    handoff: str


@dataclass(frozen=True, kw_only=True)
class ShownCleared:
    """A state that was cleared: its tasks, its chunks, and the handoff made of it."""

    name: str
    commit: str
    at: datetime
    session: str
    tasks: tuple[TaskRow, ...]
    chunks: int
    tokens: int
    handoff: str


Shown = ShownChunk | ShownCommit | ShownEntry | ShownSave | ShownCleared | TaskDetail


def show(place: Place, name: str) -> Shown:
    """Return what ``name`` names.

    A chunk's id or tool use id, whole or its beginning; a task's label or number (the commit
    that finished it, or the task as it stands); a save or a cleared state, as
    ``naming.resolve`` knows them; a knowledge entry's path or name; a commit, branch or tag.

    Raises NotFoundError, also when a beginning is not the beginning of one chunk only.
    """
    name = replace_surrogates(name)
    if not name.strip() or name.startswith("-"):
        raise UsageError(f"{name!r} names nothing", hint="give an id; `ctx log` shows some")
    git = Git(place.store.git_dir)
    bare = name.removeprefix("toolu_")
    with index.opened(place.store) as opened:
        opened.refresh(git)
        found = _chunks(place, opened, git, bare) if len(bare) >= chunk.ID_LENGTH else []
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
        return _named(place, git, resolve(place, name))
    except (NotFoundError, UsageError) as error:
        other = read_entry(git, name) or _lost(place, git, name)
        if other is None:
            if not near and _is_task_name(name):
                task.show(place, name.removeprefix("task "))  # says which tasks of which session
            hint = f"did you mean {', '.join(near)}?" if near else error.hint
            raise NotFoundError(f"nothing in the store is called {name}", hint=hint) from error
        return other


# --- saves and states ------------------------------------------------------------------------


def _named(place: Place, git: Git, named: Named) -> ShownCommit | ShownSave | ShownCleared:
    if named.kind == "save":
        return _save(git, named)
    if named.kind == "cleared":
        return _cleared(place, git, named)
    return read_commit(git, named.commit)


def _save(git: Git, named: Named) -> ShownSave:
    save = saves.read(git, named.commit)
    facts = save.facts
    return ShownSave(
        name=named.label,
        commit=save.commit,
        at=facts.at,
        session=facts.session,
        message=facts.message,
        tokens=facts.tokens,
        work_tree=facts.work_tree,
        branch=facts.branch,
        head=facts.head,
        tasks=rows_of(save.tasks),
        handoff=save.handoff,
    )


def _cleared(place: Place, git: Git, named: Named) -> ShownCleared | ShownCommit:
    commit, session = git.objects([named.commit, f"{named.commit}:{layout.SESSION_FILE}"])
    if session is None:  # somebody's own branch
        return read_commit(git, named.commit)
    branch, state = session_at(place, named.commit, session)
    chunks = state.chunks.values()
    return ShownCleared(
        name=named.label,
        commit=named.commit,
        at=committed_at(commit),
        session=branch.key,
        tasks=rows_of(state.tasks.values()),
        chunks=len(chunks),
        tokens=sum(each.tokens for each in chunks),
        handoff=handoff(read_material(git, branch), limit=SAVE_TOKENS).text,
    )


# --- chunks and tasks ------------------------------------------------------------------------


def _chunks(place: Place, opened: Index, git: Git, bare: str) -> list[ChunkEntry]:
    """Return the chunks whose id is or begins with ``bare``, of the session that is meant.

    Raises NotFoundError where one id is that of several sessions, and none is meant, unless
    they hold the same, as after a fork.
    """
    found = opened.chunks(bare)
    found = [entry for entry in found if entry.id == bare] or found
    if len(found) > 1 and (place.session or os.environ.get("CLAUDE_CODE_SESSION_ID")):
        with suppress(NotFoundError):
            key = find_session(place, opened).key
            found = [entry for entry in found if entry.session == key] or found
    if len(found) > 1 and len({entry.id for entry in found}) == 1:
        contents = git.objects([f"{entry.tip}:{entry.path}.md" for entry in found])
        if len({content.oid for content in contents if content}) == 1:
            return found[:1]
        names = {entry.key: entry.name for entry in opened.sessions()}
        shown = ", ".join(sorted(names[entry.session] for entry in found))
        raise NotFoundError(
            f"{found[0].id} is in several sessions: {shown}", hint="name one with --session"
        )
    return found


def _near(opened: Index, bare: str) -> list[str]:
    """Return the ids that have the longest beginning in common with ``bare``."""
    for length in range(len(bare) - 1, chunk.ID_LENGTH - 1, -1):
        if entries := opened.chunks(bare[:length]):
            return list(dict.fromkeys(entry.id for entry in entries))[:SHOWN]
    return []


def _lost(place: Place, git: Git, name: str) -> ShownChunk | None:
    lost = chunk.find_lost(place, name)
    return read_chunk(git, lost) if lost else None


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
