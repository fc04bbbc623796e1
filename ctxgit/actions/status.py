"""``ctx status``: where a session stands."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ctxgit.actions.place import Place, find_session, load_branch
from ctxgit.capture import spool
from ctxgit.errors import NotFoundError
from ctxgit.model import Chunk, State, Task
from ctxgit.records import dataclass
from ctxgit.store import index
from ctxgit.store.git import Git


@dataclass(frozen=True, kw_only=True)
class TaskRow:
    """A task as it is listed."""

    number: int
    subject: str
    status: str
    agent: str
    blocked_by: tuple[int, ...]
    chunks: int
    tokens: int


@dataclass(frozen=True, kw_only=True)
class ChunkRow:
    """A chunk as it is listed."""

    id: str
    tool: str
    at: datetime
    failed: bool
    tokens: int
    paths: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SessionStatus:
    """A session as it stands in the store."""

    id: str
    branch: str
    tip: str
    started_at: datetime
    updated_at: datetime
    ended: str
    work_tree: str
    project_branch: str
    project_head: str
    turns: int
    prompt: str
    compactions: int
    chunks: int
    tokens: int
    tasks: tuple[TaskRow, ...]


@dataclass(frozen=True, kw_only=True)
class StatusResult:
    """The store, and the session that is meant; ``None`` before any is recorded.

    ``pending`` events wait in the spool, ``rejected`` ones could not be read.
    """

    store: str
    pending: int
    rejected: int
    session: SessionStatus | None


def status(place: Place) -> StatusResult:
    """Return where the session stands. Raises NotFoundError for an unknown ``--session``."""
    with index.opened(place.store) as opened:
        opened.refresh(Git(place.store.git_dir))
        try:
            entry = find_session(place, opened)
        except NotFoundError:
            if place.session:
                raise
            entry = None
    branch = load_branch(place, entry) if entry else None
    return StatusResult(
        store=str(place.store.root),
        pending=len(spool.pending(place.store)),
        rejected=sum(1 for _ in place.store.rejected.glob("*")),
        session=_session(branch.name, branch.tip, branch.state)
        if branch and branch.state
        else None,
    )


def task_rows(state: State) -> tuple[TaskRow, ...]:
    """Return the tasks of a session in order of their numbers."""
    return rows_of(state.tasks.values())


def rows_of(tasks: Iterable[Task]) -> tuple[TaskRow, ...]:
    """Return tasks as they are listed."""
    return tuple(
        TaskRow(
            number=task.number,
            subject=task.subject,
            status=task.status,
            agent=task.agent,
            blocked_by=task.blocked_by,
            chunks=task.chunks,
            tokens=task.tokens,
        )
        for task in tasks
    )


def chunk_rows(chunks: Iterable[Chunk]) -> tuple[ChunkRow, ...]:
    """Return chunks as they are listed."""
    return tuple(
        ChunkRow(
            id=chunk.id,
            tool=chunk.tool,
            at=chunk.at,
            failed=chunk.failed,
            tokens=chunk.tokens,
            paths=chunk.paths,
        )
        for chunk in chunks
    )


def _session(name: str, tip: str, state: State) -> SessionStatus:
    session = state.session
    turn = state.turns.get(state.current_turn)
    return SessionStatus(
        id=session.id,
        branch=f"session/{name}",
        tip=tip,
        started_at=session.started_at,
        updated_at=session.updated_at,
        ended=session.ended,
        work_tree=session.work_tree or session.cwd,
        project_branch=session.branch,
        project_head=session.head,
        turns=state.current_turn,
        prompt=turn.headline if turn else "",
        compactions=session.compactions,
        chunks=len(state.chunks),
        tokens=sum(chunk.tokens for chunk in state.chunks.values()),
        tasks=task_rows(state),
    )
