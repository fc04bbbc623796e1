"""``ctx log``: what happened, newest first."""

from __future__ import annotations

from ctxgit.actions.place import Place, find_session
from ctxgit.look.log import LogEntry, read_log
from ctxgit.records import dataclass
from ctxgit.store import index, layout
from ctxgit.store.git import Git


@dataclass(frozen=True, kw_only=True)
class LogResult:
    """Commits, newest first."""

    commits: tuple[LogEntry, ...]


def log(place: Place, *, limit: int = 50) -> LogResult:
    """Return the newest commits of the session that is asked for, else of all sessions.

    Raises NotFoundError for an unknown session.
    """
    git = Git(place.store.git_dir)
    refs: tuple[str, ...] = ()
    if place.session:
        with index.opened(place.store) as opened:
            opened.refresh(git)
            refs = (layout.SESSIONS + find_session(place, opened).name,)
    return LogResult(commits=tuple(read_log(git, limit=limit, refs=refs)))
