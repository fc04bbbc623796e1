"""``ctx undo`` and ``ctx redo``: verbs taken back and done again, by the operation log."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from ctxgit.actions.place import Place, find_session
from ctxgit.actions.rewrite import LOCK_SECONDS, follow
from ctxgit.actions.sync import sync
from ctxgit.errors import NotFoundError, StoreError, UsageError
from ctxgit.records import dataclass
from ctxgit.store import index, layout, sessions
from ctxgit.store.git import Git
from ctxgit.store.lock import locked
from ctxgit.store.operations import OperationLog


@dataclass(frozen=True, kw_only=True)
class RefMove:
    """A ref, by its short name, and where it was and is; empty where it is not there."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class Reverted:
    """A verb that was taken back or done again; ``at`` is when it was first done."""

    verb: str
    summary: str
    at: datetime
    session: str
    refs: tuple[RefMove, ...]


@dataclass(frozen=True, kw_only=True)
class UndoResult:
    """What was taken back or done again, in the order in which that was done."""

    operations: tuple[Reverted, ...]


def undo(place: Place, n: int = 1) -> UndoResult:
    """Take the last ``n`` verbs back: those of the session where one is named or running.

    Each moves its refs back to where they were; nothing is lost, ``redo`` does it again.
    Raises UsageError for ``n`` below 1, NotFoundError when there is nothing to undo,
    StoreError when a ref has moved on since; those before the one refused are undone then.
    """
    if n < 1:
        raise UsageError(f"{n} is no number of verbs to undo")
    done: list[Reverted] = []
    for _ in range(n):
        try:
            done.append(_revert(place, "undo"))
        except (NotFoundError, StoreError) as error:
            if not done:
                raise
            raise StoreError(f"undone {len(done)} of {n}: {error.message}", error.hint) from error
    return UndoResult(operations=tuple(done))


def redo(place: Place) -> UndoResult:
    """Do the verb again that was taken back last. Raises as ``undo`` does."""
    return UndoResult(operations=(_revert(place, "redo"),))


def _revert(place: Place, verb: str) -> Reverted:
    store, now = place.store, datetime.now(UTC)
    log = OperationLog(store)
    operation = log.next_to(verb, session=_asking(place))
    if operation is None:
        raise NotFoundError(f"there is nothing to {verb}", hint="`ctx log` shows what was done")
    key = operation.session
    if any(ref.startswith(layout.SESSIONS) for ref in operation.refs):
        sync(store, session=key, wait=LOCK_SECONDS)  # so that it shows if it has moved on
        with locked(store.session_dir(key) / "lock", wait=LOCK_SECONDS):
            log.revert(operation, verb, at=now)
            branch = sessions.load(store, key, started_at=now)
        follow(store, branch)
    else:
        log.revert(operation, verb, at=now)
    old, new = (1, 0) if verb == "undo" else (0, 1)
    return Reverted(
        verb=operation.verb,
        summary=operation.summary,
        at=datetime.fromisoformat(operation.at),
        session=operation.session,
        refs=tuple(
            RefMove(name=_short(ref), before=ids[old], after=ids[new])
            for ref, ids in operation.refs.items()
        ),
    )


def _asking(place: Place) -> str:
    """Return the session whose verbs are meant, empty for all at a person's prompt."""
    current = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if not (place.session or current):
        return ""
    with index.opened(place.store) as opened:
        opened.refresh(Git(place.store.git_dir))
        return find_session(place, opened).key if place.session else current


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
