"""The spool: where hooks leave events, and how a sync takes them.

An event's name is ``<stamp>.<session>.<client pid>.<pid>[.<n>]``: a stamp that no other
event has, the session id the client put into the environment, the pids of the client and
of the hook; ``none`` where one was not to be had or not safe. The stamp is a UUID of the
kernel's, which a shell gets without a process (the event's time is then that of its file),
or the time in nanoseconds since 1970. A name beginning with a dot is a file still being
written, or the first name of one that is. See ``hooks/hook.sh``, which writes them. A file
of any other name is an event too, of no known session.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ctxgit.files import write_atomically
from ctxgit.paths import StorePaths
from ctxgit.records import dataclass
from ctxgit.text import is_safe_id

NONE = "none"
DIGEST_LENGTH = 16
_STAMP = r"(?:[0-9]{1,20}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
_HOOK_NAME = re.compile(_STAMP + r"(?:\.[A-Za-z0-9][A-Za-z0-9_-]*){3,}")


@dataclass(frozen=True)
class Spooled:
    """One event in the spool, not read yet."""

    path: Path

    @property
    def name(self) -> str:
        """The event's id."""
        return self.path.name

    @property
    def session(self) -> str:
        """The session's id as the hook saw it, ``none`` where it saw none."""
        return self.name.split(".")[1] if self.has_hook_name else NONE

    @property
    def client_pid(self) -> str:
        """The pid of the client, empty where the hook saw none."""
        pid = self.name.split(".")[2] if self.has_hook_name else NONE
        return pid if pid != NONE else ""

    @property
    def pid(self) -> int:
        """The pid of the hook, which tells the order within a tick of the clock; else 0."""
        pid = self.name.split(".")[3] if self.has_hook_name else ""
        return int(pid) if pid.isascii() and pid.isdigit() else 0

    @property
    def has_hook_name(self) -> bool:
        """Whether the name has the form that a hook gives it."""
        return _HOOK_NAME.fullmatch(self.name) is not None and is_safe_id(self.name.split(".")[1])

    @property
    def arrived_ns(self) -> int:
        """When the event was kept, in nanoseconds since 1970.

        The stamp where it is a time (of seconds where ``date`` has no more), else the time
        of the file.
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

        The end of the new name tells the old one, so that no event of that session can
        ever have had it. Raises OSError. Replaces no other event.
        """
        if self.has_hook_name:
            stamp, former, *rest = self.name.split(".")
        else:
            former = hashlib.sha256(os.fsencode(self.name)).hexdigest()[:DIGEST_LENGTH]
            stamp, rest = str(self.arrived_ns), [NONE, NONE]
        name = ".".join([stamp, session, *rest, former])
        return Spooled(_moved(self.path, self.path.with_name(name)))


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
    return sorted(found, key=lambda event: (event.arrived_ns, event.pid, event.name))


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
    """Put an event that cannot be read aside, so that it neither is lost nor comes back.

    Returns where it is then. Raises OSError.
    """
    store.rejected.mkdir(mode=0o700, parents=True, exist_ok=True)
    return _moved(event.path, store.rejected / event.name)


def remove(events: Iterable[Spooled]) -> None:
    """Remove events that are committed, under both names a hook gave them. Raises OSError."""
    for event in events:
        _first_name(event.path).unlink(missing_ok=True)
        event.path.unlink(missing_ok=True)


def _moved(path: Path, target: Path) -> Path:
    """Move an event, which loses its first name, to ``target`` or beside what is there."""
    _first_name(path).unlink(missing_ok=True)
    while target.exists():
        target = target.with_name(f"{target.name}.1")
    return path.rename(target)


def _first_name(path: Path) -> Path:
    return path.with_name(f".{path.name}")
