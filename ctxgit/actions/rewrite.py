"""Changing a session's state by hand: one event, folded and committed like any other.

What hooks left is taken in first, under the session's lock, and the refs before and after
go into the operation log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, count

from ctxgit.actions import recaps
from ctxgit.actions.sync import sync
from ctxgit.diagnostics import log
from ctxgit.errors import CtxError, NotFoundError, StoreError
from ctxgit.fold import steps
from ctxgit.model import Event, State
from ctxgit.paths import StorePaths
from ctxgit.records import dataclass
from ctxgit.store import index, layout, sessions
from ctxgit.store.git import Git
from ctxgit.store.lock import locked
from ctxgit.store.operations import OperationLog

LOCK_SECONDS = 10.0
"""How long a verb waits for a sync of the session."""


@dataclass(frozen=True, kw_only=True)
class Rewritten:
    """A session's state changed by hand.

    ``branch`` and ``state`` are the session as it is now, ``was`` its state before, ``kept``
    the short name of the branch that keeps that, empty where nothing was to be kept.
    """

    branch: sessions.Branch
    state: State
    was: State
    kept: str = ""


def apply(
    store: StorePaths,
    key: str,
    make: Callable[[State, datetime], Sequence[Event]],
    *,
    verb: str,
    summary: str,
    keeps: bool = False,
) -> Rewritten:
    """Fold the events that ``make`` returns into session ``key``, and commit them.

    With ``keeps`` a branch ``cleared/…`` is made of the state before, unless it is blank.
    Without an event nothing is done. Raises NotFoundError for an unknown session, StoreError.
    """
    try:
        sync(store, session=key, wait=LOCK_SECONDS)
    except StoreError as error:  # one event that cannot be read does not end all verbs
        log(store.log, verb, error.message)
    now = datetime.now(UTC)
    git = Git(store.git_dir)
    with locked(store.session_dir(key) / "lock", wait=LOCK_SECONDS):
        branch = sessions.load(store, key, started_at=now)
        state = branch.state
        if state is None:
            raise NotFoundError(f"there is no session {key}")
        done = list(steps(state, make(state, now)))
        if not done:
            return Rewritten(branch=branch, state=state, was=state)
        keep = _free_ref(git, branch, now) if keeps and not state.is_blank else ""
        patterns = [branch.ref, f"{layout.TASK_TAGS}{branch.name}/", *([keep] if keep else [])]
        operations = OperationLog(store)
        with (
            operations.recorded(verb, summary, session=key, at=now, patterns=patterns),
            _kept(git, keep, branch.tip),
        ):
            after, _ = sessions.add(store, branch, done, sorted(branch.events))
    follow(store, after)
    return Rewritten(
        branch=after,
        state=done[-1].after,
        was=state,
        kept=keep.removeprefix("refs/heads/"),
    )


def follow(store: StorePaths, branch: sessions.Branch) -> None:
    """Bring up to date what is derived from a session's branch: index and recaps.

    A fault there is logged: the verb has been done, and both can be made again.
    """
    state = branch.state
    try:
        with index.opened(store) as opened:
            opened.put(branch, state.chunks.values() if state else ())
        recaps.write(store, branch)
    except (CtxError, OSError) as error:
        log(store.log, "rewrite", f"what is derived from {branch.name} is behind: {error!r}")


@contextmanager
def _kept(git: Git, ref: str, commit: str) -> Iterator[None]:
    """Keep ``commit`` under a new ref, if one is named, unless the block fails."""
    if ref:
        git.run("update-ref", "--create-reflog", ref, commit, "")
    try:
        yield
    except BaseException:
        if ref:
            git.run("update-ref", "-d", ref, commit)
        raise


def _free_ref(git: Git, branch: sessions.Branch, at: datetime) -> str:
    """Return the full name of a ref, not there yet, that keeps a state cleared now."""
    first = layout.cleared_ref(branch.name, at)
    taken = git.refs(f"{first}*")
    names = chain([first], (f"{first}-{number}" for number in count(2)))
    return next(name for name in names if name not in taken)
