"""``ctx sync``: take what hooks left in the spool into the store.

Spool, redaction, fold, one ``git fast-import`` a batch, then the spooled files go. A
session has one lock, so sessions do not wait for each other; a sync that is killed at any
moment leaves either the events or the commit that holds them, and the next one tells which.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from ctxgit import gitdir
from ctxgit.actions import recaps
from ctxgit.capture import spool
from ctxgit.capture.spool import Spooled
from ctxgit.claude.order import causal_order, transcript_positions
from ctxgit.claude.payload import decode, to_event
from ctxgit.diagnostics import log
from ctxgit.errors import PayloadError, StoreError
from ctxgit.files import write_atomically
from ctxgit.fold import steps
from ctxgit.model import Event, Observed, SessionStarted, ToolFinished
from ctxgit.paths import StorePaths
from ctxgit.records import dataclass, field, replace
from ctxgit.redact import redact, redact_json
from ctxgit.store import index, repository, sessions
from ctxgit.store.lock import locked

BATCH_EVENTS = 2_000
BATCH_BYTES = 64 * 1024 * 1024
"""A batch is held in memory; what is more goes into the next one."""
EVENT_BYTES = 256 * 1024 * 1024
"""No tool returns this much; a larger event is put aside unread."""
LOCK_SECONDS = 30.0
TEXTS = ("text", "content", "message", "summary", "instructions")
"""Fields of events that are put together of parts of a payload."""
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True)
class SyncedSession:
    """What a sync did for one session."""

    key: str
    name: str
    events: int
    chunks: int
    commits: int
    tip: str


@dataclass(frozen=True, kw_only=True)
class SyncResult:
    """What a sync did; ``rejected`` events could not be read and were put aside."""

    sessions: tuple[SyncedSession, ...]
    rejected: int


def sync(
    store: StorePaths, *, session: str | None = None, wait: float = LOCK_SECONDS
) -> SyncResult:
    """Commit the spooled events of ``session`` (its id, or how that begins), or of all sessions.

    Doing it again does nothing. Raises StoreError (locked for longer than ``wait`` seconds,
    damaged, of a newer format, full or read-only disk, no git, an event that cannot be
    read), after all else was done; what is not committed is in the spool then.
    """
    repository.check(store)
    keys = list(dict.fromkeys(event.session for event in _addressed(store)))
    if session is not None and session != spool.NONE:
        keys = [key for key in keys if key.startswith(session)]
    drains: dict[str, _Drain] = {}
    faults: list[StoreError] = []
    while keys:
        key = keys.pop(0)
        drain = drains.setdefault(key, _Drain(store, key))
        try:
            drain.run(wait)
        except StoreError as error:  # the other sessions need not wait for this one
            faults.append(error)
        except OSError as error:
            faults.append(_no_access(error, store.root))
        if session is None:
            keys += [other for other in drain.handed_on if other not in keys]
    if faults:
        raise faults[0]
    return SyncResult(
        sessions=tuple(drain.result() for drain in drains.values() if drain.events),
        rejected=sum(drain.rejected for drain in drains.values()),
    )


def _no_access(error: OSError, place: Path) -> StoreError:
    return StoreError(f"cannot use {error.filename or place}: {error.strerror}")


def _addressed(store: StorePaths) -> list[Spooled]:
    """Return the spooled events, each under the session its payload names."""
    found = []
    for event in spool.pending(store):
        decoded = None
        if event.session == spool.NONE:
            with suppress(Exception):  # met again, and told, when its turn comes
                decoded = _decoded(event)
        if decoded and not (event.has_hook_name and event.session == decoded.session):
            with suppress(OSError):
                found.append(event.renamed_for(decoded.session))
                continue
        found.append(event)
    return found


@dataclass
class _Drain:
    """Taking one session's events, batch by batch, under its lock."""

    store: StorePaths
    key: str
    branch: sessions.Branch | None = None
    events: int = 0
    chunks: int = 0
    commits: int = 0
    rejected: int = 0
    handed_on: set[str] = field(default_factory=set)
    unusable: dict[str, StoreError] = field(default_factory=dict)

    def run(self, wait: float) -> None:
        """Take all there is. Raises StoreError, also for an event that had to be left."""
        self.handed_on.clear()
        with locked(self.store.session_dir(self.key) / "lock", wait=wait):
            self.branch = None
            while batch := list(_limited(self.store, self.key, self.unusable)):
                self._take(batch)
        for error in self.unusable.values():
            raise error

    def result(self) -> SyncedSession:
        """Return what was done."""
        branch = self.branch or sessions.Branch(key=self.key, name="")
        return SyncedSession(
            key=self.key,
            name=branch.name,
            events=self.events,
            chunks=self.chunks,
            commits=self.commits,
            tip=branch.tip,
        )

    def _take(self, batch: Sequence[Spooled]) -> None:
        events = _in_order(event for item in batch if (event := self._read(item)) is not None)
        if not events:
            return
        if self.branch is None:
            self.branch = sessions.load(
                self.store, self.key, started_at=min(event.at for event in events)
            )
            left = [item for item in self._all() if item.name in self.branch.events]
            if left:  # a sync was killed between its commit and here
                sessions.restore_tags(self.store, self.branch)
                spool.remove(left)
        fresh = [event for event in events if event.id not in self.branch.events]
        if fresh:
            self._commit(self.branch, fresh)

    def _all(self) -> list[Spooled]:
        return [item for item in spool.pending(self.store) if item.session == self.key]

    def _commit(self, branch: sessions.Branch, events: list[Event]) -> None:
        names = [event.id for event in events]
        try:
            known = branch.state.session.chunks if branch.state else 0
            done = steps(branch.state, self._ordered(branch, events))
            branch, commits = sessions.add(self.store, branch, done, names)
        except (StoreError, OSError, ImportError):
            raise
        except Exception as error:  # noqa: BLE001 - a bug of ours must not hold up a session
            self._without_the_cause(events, error)
            return
        self.branch = branch
        self._note(branch, known)
        self.events += len(events)
        self.commits += commits
        spool.remove(Spooled(self.store.spool / name) for name in names)

    def _without_the_cause(self, events: list[Event], error: Exception) -> None:
        """Commit one by one what cannot be committed at once; leave what cannot at all."""
        if len(events) == 1:
            self._leave(events[0].id, error)
            return
        for event in events:
            if self.branch:
                self._commit(self.branch, [event])

    def _leave(self, name: str, error: Exception) -> None:
        place = self.store.spool / name
        why = error.strerror if isinstance(error, OSError) else type(error).__name__
        self.unusable[name] = StoreError(f"cannot take in the event {place}: {why}")

    def _read(self, item: Spooled) -> Event | None:
        """Return the event, or put aside or hand on what is none of this session."""
        try:
            event = _decoded(item)
        except FileNotFoundError:  # another sync was quicker
            return None
        except PayloadError as error:
            event, reason = None, error.message
        except ImportError:
            raise
        except Exception as error:  # noqa: BLE001 - the event waits: it may not be redacted
            self._leave(item.name, error)
            return None
        else:
            reason = "an event of no known kind"
        if event is None:
            target = spool.reject(self.store, item)
            self.rejected += 1
            log(self.store.log, "sync", f"{reason}; it was put aside as {target}")
        elif event.session != self.key:
            item.renamed_for(event.session)
            self.handed_on.add(event.session)
            return None
        return event

    def _ordered(self, branch: sessions.Branch, events: list[Event]) -> list[Event]:
        ordered = causal_order(events, _positions(branch, events))
        seen = _observed(branch, ordered, self.store)
        return [seen, *ordered] if seen else ordered

    def _note(self, branch: sessions.Branch, known: int) -> None:
        """Bring up to date what is derived from the commit; it can be made again."""
        chunks = branch.state.chunks.values() if branch.state else ()
        added = [chunk for chunk in chunks if chunk.number > known]
        self.chunks += len(added)
        with _only_logged(self.store, branch.name), index.opened(self.store) as opened:
            opened.put(branch, added)
        with _only_logged(self.store, branch.name):
            recaps.write(self.store, branch)


@contextmanager
def _only_logged(store: StorePaths, name: str) -> Iterator[None]:
    """Let the block fail: the events are safe, and must not be folded again."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - see above
        log(store.log, "sync", f"what is derived from {name} is behind: {error!r}")


def _in_order(events: Iterable[Event]) -> list[Event]:
    """Return events, given as they lie in the spool, with times that tell their order.

    Clocks tick in milliseconds: what came within a tick is put a microsecond apart.
    """
    told: list[Event] = []
    for event in events:
        is_tied = told and event.at <= told[-1].at
        told.append(replace(event, at=told[-1].at + MICROSECOND) if is_tied else event)
    return told


def _limited(store: StorePaths, key: str, without: Container[str]) -> Iterator[Spooled]:
    """Yield the session's oldest events but some, as many as fit into a batch."""
    count = size = 0
    for item in spool.pending(store):
        if item.session != key or item.name in without:
            continue
        with suppress(FileNotFoundError):  # another sync was quicker
            size += item.path.stat().st_size
            if count and (size > BATCH_BYTES or count >= BATCH_EVENTS):
                return
            count += 1
            yield item


def _decoded(item: Spooled) -> Event | None:
    """Return a spooled event, redacted, its paths free of symlinks. Raises PayloadError."""
    if item.path.stat().st_size > EVENT_BYTES:
        raise PayloadError(f"an event of more than {EVENT_BYTES} bytes")
    payload = redact_json(decode(item.path.read_bytes()))
    if not isinstance(payload, dict):  # redaction keeps the kind of a value
        raise PayloadError("an event that is no object")
    event = to_event(payload, id=item.name, at=item.arrived_at, client_pid=item.client_pid)
    if event is None:
        return None
    # A payload may hold a text line by line, and a secret of several lines is seen in none.
    texts: dict[str, Any] = {
        name: redact(getattr(event, name)) for name in TEXTS if hasattr(event, name)
    }
    if isinstance(event, ToolFinished) and event.paths:
        real = dict.fromkeys(redact(os.path.realpath(path)) for path in event.paths)
        return replace(event, paths=tuple(real), **texts)
    return replace(event, **texts) if texts else event


def _positions(branch: sessions.Branch, events: Sequence[Event]) -> dict[str, int]:
    """Return where the calls of parallel tool results stand in the transcript."""
    by_agent: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, ToolFinished) and event.tool_use_id:
            by_agent.setdefault(event.agent, []).append(event.tool_use_id)
    path = _transcript(branch, events)
    positions: dict[str, int] = {}
    if path:
        for agent, wanted in by_agent.items():
            if len(wanted) > 1:
                positions |= transcript_positions(_transcript_of(Path(path), agent), wanted)
    return positions


def _transcript(branch: sessions.Branch, events: Sequence[Event]) -> str:
    started = (event for event in events if isinstance(event, SessionStarted))
    path = next((event.transcript_path for event in started if event.transcript_path), "")
    return path or (branch.state.session.transcript_path if branch.state else "")


def _transcript_of(main: Path, agent: str) -> Path:
    return main.with_suffix("") / "subagents" / f"agent-{agent}.jsonl" if agent else main


def _observed(
    branch: sessions.Branch, events: Sequence[Event], store: StorePaths
) -> Observed | None:
    """Return what can be seen of the project now, if it differs from what is known."""
    started = [event for event in events if isinstance(event, SessionStarted)]
    known = branch.state.session if branch.state else None
    cwd = next((event.cwd for event in reversed(started) if event.cwd), known.cwd if known else "")
    found = gitdir.find_git_dir(cwd or str(store.root.parent))
    work_tree, head = (found[0], gitdir.read_head(found[1])) if found else (cwd, ("", ""))
    seen = Observed(
        id="observed",
        at=events[0].at,  # first, so that the last event of a commit says what ended it
        session=branch.key,
        work_tree=redact(work_tree),
        branch=redact(head[0]),
        head=head[1],
        previous=_previous(store, started),
    )
    news = (seen.work_tree, seen.branch, seen.head, seen.previous or (known and known.previous))
    if known and news == (known.work_tree, known.branch, known.head, known.previous):
        return None
    return seen


def _previous(store: StorePaths, started: Sequence[SessionStarted]) -> str:
    """Return the session that the same client process showed before, after a ``/clear``.

    A file for each client names its session, and the one before that: so the answer is the
    same again when a sync was killed after it.
    """
    previous = ""
    for event in started:
        if not event.client_pid:
            continue
        path = store.runtime / "clients" / event.client_pid
        last = earlier = ""
        with suppress(OSError, ValueError):
            last, _, earlier = path.read_text(encoding="utf-8").partition(" ")
        if last != event.session:
            earlier = last if event.source == "clear" else ""
        previous = earlier or previous
        with suppress(OSError):
            write_atomically(path, f"{event.session} {earlier}".encode())
    return previous
