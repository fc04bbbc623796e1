"""``ctx sync``: take what hooks left in the spool into the store.

Spool, redaction, fold, one ``git fast-import`` a batch, then the spooled files go. A
session has one lock, so sessions do not wait for each other; a sync that is killed at any
moment leaves either the events or the commit that holds them, and the next one tells which.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

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
from ctxgit.model import Event, Observed, SessionStarted, Step, ToolFinished
from ctxgit.paths import StorePaths
from ctxgit.redact import redact_json
from ctxgit.store import index, repository, sessions
from ctxgit.store.lock import locked

BATCH_EVENTS = 2_000
BATCH_BYTES = 64 * 1024 * 1024
"""A batch is held in memory; what is more goes into the next one."""
EVENT_BYTES = 256 * 1024 * 1024
"""No tool returns this much; a larger event is put aside unread."""
LOCK_SECONDS = 30.0


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
    """Commit the spooled events of ``session``, or of all sessions.

    Doing it again does nothing. Raises StoreError (locked for longer than ``wait`` seconds,
    damaged, of a newer format, full or read-only disk, no git); the spool is intact then.
    """
    repository.check(store)
    try:
        waiting = _addressed(store)
        keys = dict.fromkeys(event.session for event in waiting)
        if session is not None and session != spool.NONE:
            keys = {key: None for key in keys if key == session}
        done = [_sync_session(store, key, wait) for key in keys]
    except OSError as error:
        raise StoreError(f"cannot write to {store.root}: {error.strerror}") from error
    return SyncResult(
        sessions=tuple(result for result, _ in done if result is not None),
        rejected=sum(rejected for _, rejected in done),
    )


def _addressed(store: StorePaths) -> list[Spooled]:
    """Return the spooled events, each under the session its payload names."""
    found = []
    for event in spool.pending(store):
        if event.session == spool.NONE:
            with suppress(PayloadError, OSError):
                decoded = _decoded(event)
                if decoded is not None:
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

    def run(self) -> None:
        while batch := list(_limited(self.store, self.key)):
            self._take(batch)

    def _take(self, batch: Sequence[Spooled]) -> None:
        readable = [(item, event) for item in batch if (event := self._read(item)) is not None]
        if not readable:
            return
        branch = self.branch or sessions.load(
            self.store, self.key, started_at=min(event.at for _, event in readable)
        )
        fresh = [event for item, event in readable if item.name not in branch.events]
        if fresh:
            done = list(steps(branch.state, self._ordered(branch, fresh)))
            names = [item.name for item, _ in readable]
            before = branch.state.session.chunks if branch.state else 0
            branch, commits = sessions.add(self.store, branch, done, names)
            self._note(branch, done, before)
            self.events += len(fresh)
            self.commits += commits
        self.branch = branch
        spool.remove([item for item, _ in readable])

    def _read(self, item: Spooled) -> Event | None:
        """Return the event, or put aside or hand on what is none of this session."""
        try:
            event = _decoded(item)
        except PayloadError as error:
            event, reason = None, error.message
        else:
            reason = "an event of no known kind"
        if event is None:
            target = spool.reject(self.store, item)
            self.rejected += 1
            log(self.store.log, "sync", f"{reason}; it was put aside as {target}")
        elif event.session != self.key:
            item.renamed_for(event.session)
            return None
        return event

    def _ordered(self, branch: sessions.Branch, events: list[Event]) -> list[Event]:
        ordered = causal_order(events, _positions(branch, events))
        seen = _observed(branch, ordered, self.store)
        return [*ordered, seen] if seen else ordered

    def _note(self, branch: sessions.Branch, done: Sequence[Step], before: int) -> None:
        """Bring up to date what is derived from the commit; it can be made again."""
        state = done[-1].after
        added = [chunk for chunk in state.chunks.values() if chunk.number > before]
        self.chunks += len(added)
        try:
            with index.opened(self.store) as opened:
                opened.put(branch, added)
            recaps.write(self.store, branch)
        except Exception as error:  # noqa: BLE001 - the events are safe, and must not be folded again
            log(self.store.log, "sync", f"what is derived from {branch.name} is behind: {error!r}")


def _sync_session(store: StorePaths, key: str, wait: float) -> tuple[SyncedSession | None, int]:
    drain = _Drain(store, key)
    with locked(store.session_dir(key) / "lock", wait=wait):
        drain.run()
    branch = drain.branch
    if branch is None or not drain.events:
        return None, drain.rejected
    return (
        SyncedSession(
            key=key,
            name=branch.name,
            events=drain.events,
            chunks=drain.chunks,
            commits=drain.commits,
            tip=branch.tip,
        ),
        drain.rejected,
    )


def _limited(store: StorePaths, key: str) -> Iterator[Spooled]:
    """Yield the session's oldest events, as many as fit into a batch."""
    count = size = 0
    for item in spool.pending(store):
        if item.session != key:
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
    if isinstance(event, ToolFinished) and event.paths:
        real = dict.fromkeys(os.path.realpath(path) for path in event.paths)
        return replace(event, paths=tuple(real))
    return event


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
    previous = _previous(store, started)
    seen = Observed(
        id="observed",
        at=max(event.at for event in events),
        session=branch.key,
        work_tree=work_tree,
        branch=head[0],
        head=head[1],
        previous=previous,
    )
    unchanged = known and not previous and known.work_tree == work_tree
    if unchanged and known and (known.branch, known.head) == head:
        return None
    return seen


def _previous(store: StorePaths, started: Sequence[SessionStarted]) -> str:
    """Return the session that the same client process showed before, after a ``/clear``."""
    previous = ""
    for event in started:
        if not event.client_pid:
            continue
        path = store.runtime / "clients" / event.client_pid
        with suppress(OSError):
            before = path.read_text(encoding="utf-8")
            if event.source == "clear" and before != event.session:
                previous = before
        with suppress(OSError):
            write_atomically(path, event.session.encode())
    return previous
