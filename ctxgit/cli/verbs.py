"""What every verb shares: its place, and the events that wait taken in first."""

from __future__ import annotations

from pathlib import Path

from ctxgit.actions.place import Place, find_place
from ctxgit.actions.sync import SyncResult
from ctxgit.capture import spool
from ctxgit.cli.output import print_json, tell
from ctxgit.errors import NotInProjectError, StoreError
from ctxgit.text import counted

CATCH_UP_SECONDS = 2.0


def place(store: Path | None, session: str | None = None, *, catch_up: bool = True) -> Place:
    """Return the place the command was given for, with waiting events taken in.

    A store that cannot be written now is read as it is, and that is said on stderr. Raises
    NotInProjectError, StoreError.
    """
    found = find_place(here(), store=store, session=session)
    if catch_up and spool.pending(found.store):
        from ctxgit.actions.sync import sync  # noqa: PLC0415 - only when there is something

        try:
            sync(found.store, wait=CATCH_UP_SECONDS)
        except StoreError as error:
            tell(f"warning: waiting events are not shown: {error.message}")
    return found


def here() -> Path:
    """Return the current folder. Raises NotInProjectError when it is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise NotInProjectError("the current directory is gone", hint="cd to another") from None


def sync_plainly(*, as_json: bool) -> None:
    """Run ``ctx sync`` for all sessions of the project's store."""
    from ctxgit.actions.sync import sync  # noqa: PLC0415

    print_sync(sync(place(None, catch_up=False).store), as_json=as_json)


def print_sync(result: SyncResult, *, as_json: bool) -> None:
    """Print what a sync did."""
    if as_json:
        print_json("sync", result)
        return
    for session in result.sessions:
        results = counted(session.chunks, "result")
        commits = counted(session.commits, "commit")
        print(f"{session.name}: {session.events} events, {results}, {commits}")  # noqa: T201
    if not result.sessions:
        print("Nothing to do.")  # noqa: T201
    if result.rejected:
        tell(f"warning: {result.rejected} events could not be read; see `ctx status`")
