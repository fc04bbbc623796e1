"""The spool: where hooks leave events, and how a sync takes them.

An event's name is ``<time>.<session>.<client pid>.<pid>[.<n>]``: the time in nanoseconds
since 1970, the session id the client put into the environment, the pids of the client and
of the hook; ``none`` where one was not to be had or not safe. A name beginning with a dot
is a file still being written. See ``hooks/hook.sh``, which writes them.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ctxgit.files import write_atomically
from ctxgit.paths import StorePaths

NONE = "none"
NAME_PARTS = 4


@dataclass(frozen=True)
class Spooled:
    """One event in the spool, not read yet; sorts by time, then by name."""

    path: Path

    @property
    def name(self) -> str:
        """The event's id."""
        return self.path.name

    @property
    def session(self) -> str:
        """The session's id as the hook saw it, ``none`` where it saw none."""
        parts = self.name.split(".")
        return parts[1] if len(parts) >= NAME_PARTS else NONE

    @property
    def client_pid(self) -> str:
        """The pid of the client, empty where the hook saw none."""
        parts = self.name.split(".")
        return parts[2] if len(parts) >= NAME_PARTS and parts[2] != NONE else ""

    @property
    def arrived_ns(self) -> int:
        """When the hook was started, in nanoseconds since 1970.

        From the name; where ``date`` has no nanoseconds the name holds a count of seconds,
        and a name of another form counts by its file's time.
        """
        stamp = self.name.split(".", 1)[0]
        if stamp.isascii() and stamp.isdigit() and len(stamp) <= 20:  # noqa: PLR2004 - of 64 bits
            return int(stamp) if len(stamp) > 12 else int(stamp) * 10**9  # noqa: PLR2004
        with suppress(OSError):
            return self.path.stat().st_mtime_ns
        return 0

    @property
    def arrived_at(self) -> datetime:
        """The same as a time, to the microsecond."""
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        with suppress(OverflowError):
            return epoch + timedelta(microseconds=self.arrived_ns // 1000)
        return epoch

    def renamed_for(self, session: str) -> Spooled:
        """Move the file under the session it turned out to belong to; return it there.

        Raises OSError, and never replaces another event.
        """
        stamp, _, *rest = (self.name.split(".") + [NONE] * NAME_PARTS)[: NAME_PARTS + 1]
        target = self.path.with_name(".".join([stamp, session, *rest]))
        if target.exists():
            raise FileExistsError(target)
        return Spooled(self.path.rename(target))


def pending(store: StorePaths) -> list[Spooled]:
    """Return the events in the spool, oldest first; none when there is no spool."""
    try:
        with os.scandir(store.spool) as entries:
            found = [
                Spooled(Path(entry.path))
                for entry in entries
                if not entry.name.startswith(".") and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
    return sorted(found, key=lambda event: (event.arrived_ns, event.name))


def write(store: StorePaths, payload: Mapping[str, object], *, session: str) -> Path:
    """Put an event of our own into the spool, as a hook does; return where it is.

    Raises OSError when it cannot be kept.
    """
    stamp = time.time_ns()
    while True:
        path = store.spool / f"{stamp}.{session}.{NONE}.{os.getpid()}"
        if not path.exists():
            break
        stamp += 1
    write_atomically(path, json.dumps(payload).encode(), durable=True)
    return path


def reject(store: StorePaths, event: Spooled) -> Path:
    """Put an event that cannot be read aside, so that it neither is lost nor comes back."""
    store.rejected.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = store.rejected / event.name
    event.path.replace(target)
    remove([event])
    return target


def remove(events: Iterable[Spooled]) -> None:
    """Remove events that are committed, under both names a hook gave them.

    What cannot be removed stays for the next sync.
    """
    for event in events:
        for path in (event.path.with_name(f".{event.name}"), event.path):
            with suppress(OSError):
                path.unlink()
