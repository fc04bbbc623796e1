"""Session branches: found, loaded into a state, added to.

The tree of a branch holds the whole state; ``state.json`` in the session's runtime folder
is a copy of it for the commit it names, so that a sync need not read thousands of headers.
It can be deleted at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import TypeVar

from ctxgit.documents import Table, from_table, jsonable, load_toml, to_table
from ctxgit.errors import StoreError, StoreVersionError
from ctxgit.files import write_atomically
from ctxgit.model import Chunk, Session, State, Step, Task, TaskStatus, Turn
from ctxgit.paths import StorePaths
from ctxgit.records import dataclass, field, replace
from ctxgit.store import commits, layout
from ctxgit.store.git import Git, GitObject
from ctxgit.store.lock import REFS_LOCK, locked, remove_stale_ref_locks
from ctxgit.store.stream import FAST_IMPORT, stream

Record = TypeVar("Record", Session, Turn, Task, Chunk)

FORMAT = 1
CACHE_FORMAT = 1
REFS_SECONDS = 30.0
"""Maintenance packs thousands of refs in less than one."""
SHORT_ID, LONG_ID = 8, 128


@dataclass(frozen=True, kw_only=True)
class Branch:
    """A session's branch as it stands.

    ``name`` is the last part of the ref (``2026-11-30-07d9a8cd``), ``tip`` its commit,
    empty before the first; ``state`` is ``None`` then. ``events`` are the names of the
    events that the last commit took in, ``knowledge`` the tree of main's knowledge.
    ``previous_tip`` is where it stood before the last addition, empty when just loaded.
    """

    key: str
    name: str
    tip: str = ""
    state: State | None = None
    events: frozenset[str] = field(default_factory=frozenset)
    knowledge: str = ""
    previous_tip: str = ""

    @property
    def ref(self) -> str:
        """The full name of the ref."""
        return layout.SESSIONS + self.name


def load(store: StorePaths, key: str, *, started_at: datetime) -> Branch:
    """Return the branch of session ``key``, a new one named for ``started_at`` if none is.

    Raises StoreVersionError when a newer ctxgit wrote it, StoreError when it is damaged.
    """
    git = Git(store.git_dir)
    cached = _read_cache(store, key)
    remembered = str(cached.get("name") or "")
    branch = _at(git, key, remembered, cached) if remembered else None
    if branch is None or not branch.tip:
        name = _find_name(git, key) or remembered or _new_name(git, key, started_at)
        branch = _at(git, key, name, cached)
    if branch.state is not None and branch.state.session.id != key:
        # It was deleted by hand since, and its name given to another session.
        return _at(git, key, _find_name(git, key) or _new_name(git, key, started_at), cached)
    return branch


def _at(git: Git, key: str, name: str, cached: Table) -> Branch:
    """Return the branch called ``name`` as it stands."""
    ref = layout.SESSIONS + name
    commit, events, knowledge = git.objects(
        [ref, f"{ref}:{layout.EVENTS_FILE}", f"refs/heads/main:{layout.KNOWLEDGE}"]
    )
    tree = knowledge.oid if knowledge is not None and knowledge.type == "tree" else ""
    branch = Branch(key=key, name=name, knowledge=tree)
    if commit is None:
        return branch
    return replace(
        branch,
        tip=commit.oid,
        state=_cached_state(cached, commit.oid) or read_state(git, commit.oid),
        events=frozenset(events.content.decode().splitlines()) if events else frozenset(),
    )


def add(
    store: StorePaths, branch: Branch, steps: Iterable[Step], events: Sequence[str]
) -> tuple[Branch, int]:
    """Commit ``steps`` to ``branch``; return it as it is then, and the count of commits.

    A large batch is best given as the iterator that it comes from (:func:`commits.plan`).
    All in one ``git fast-import``: either every commit is there or none is; then the tags,
    which ``restore_tags`` makes up for after a kill in between. The caller holds the
    session's lock. Raises GitError, StoreLockedError; nothing has changed then.
    """
    git = Git(store.git_dir)
    trees = {layout.KNOWLEDGE: branch.knowledge} if branch.knowledge else {}
    state = branch.state

    def seen() -> Iterator[Step]:
        nonlocal state
        for step in steps:
            state = step.after
            yield step

    planned = commits.plan(seen(), session_name=branch.name, events=events, trees=trees)
    with locked(store.runtime / REFS_LOCK, wait=REFS_SECONDS, shared=True):
        tags = [tag for commit in planned for tag in commit.tags]
        remove_stale_ref_locks(store.git_dir, [branch.ref, *tags])
        out = git.run(*FAST_IMPORT, stdin=stream(branch.ref, branch.tip or None, planned))
        made = out.decode().split()
        _tag(git, {tag: oid for c, oid in zip(planned, made, strict=True) for tag in c.tags})
    added = replace(
        branch,
        tip=made[-1],
        previous_tip=branch.tip,
        state=state,
        events=frozenset(events),
    )
    _write_cache(store, added)
    return added, len(planned)


def restore_tags(store: StorePaths, branch: Branch) -> None:
    """Make the tags and cleared refs that a sync killed after its commits did not come to make.

    The caller holds the session's lock. Raises GitError.
    """
    git = Git(store.git_dir)
    tasks = branch.state.tasks.values() if branch.state else ()
    there = git.refs(f"{layout.TASK_TAGS}{branch.name}/")
    missing: dict[str, str] = {}
    for task in tasks:
        tag = layout.task_tag(branch.name, task)
        if task.status is TaskStatus.DONE and tag not in there:
            path = f"{layout.task_dir(task)}/task.toml"
            found = git.run(
                "log",
                "-1",
                "--no-textconv",
                "--format=%H",
                '-Sstatus = "done"',
                branch.tip,
                "--",
                path,
            )
            missing[tag] = found.decode().strip() or branch.tip
    missing |= _missing_cleared(git, branch)
    with locked(store.runtime / REFS_LOCK, wait=REFS_SECONDS, shared=True):
        remove_stale_ref_locks(store.git_dir, missing)
        _tag(git, missing)


def _missing_cleared(git: Git, branch: Branch) -> dict[str, str]:
    """Return the ref that keeps what the last plain ``/clear`` ended, unless it is there."""
    words = ("-F", f"--grep={commits.CLEARED_SUBJECT}", "--format=%H")
    commit = git.run("log", "-1", *words, branch.tip).decode().strip()
    state = read_state(git, commit) if commit else None
    if state is None or not layout.lost_in_clear(state):
        return {}
    ref = layout.cleared_ref(branch.name, state.session.updated_at)
    return {} if ref in git.refs(ref) else {ref: commit}


def _tag(git: Git, tags: dict[str, str]) -> None:
    """Point refs at commits, all or none of them."""
    if tags:
        lines = "".join(f"update {tag} {oid}\n" for tag, oid in tags.items())
        git.run("update-ref", "--stdin", stdin=lines.encode())


def read_state(git: Git, commit: str) -> State:
    """Return the state that the tree of ``commit`` holds.

    Raises StoreVersionError, or StoreError naming the file that cannot be read.
    """
    listing = git.run("ls-tree", "-r", "-z", commit).decode("utf-8", "replace").split("\0")
    entries = [line.split("\t", 1) for line in listing if line]
    wanted = [(meta.split(" ")[2], path) for meta, path in entries if layout.record_kind(path)]
    found = git.objects([oid for oid, _ in wanted])
    return _assembled(
        {path: _table(path, blob) for (_, path), blob in zip(wanted, found, strict=True)}
    )


def cached_state(store: StorePaths, key: str, tip: str) -> State | None:
    """Return the copy of the state of session ``key`` at commit ``tip``, if there is one."""
    return _cached_state(_read_cache(store, key), tip)


def last_state(store: StorePaths, key: str) -> State | None:
    """Return the copy of the session's state as the last sync left it, if there is one."""
    cached = _read_cache(store, key)
    return _cached_state(cached, str(cached.get("commit")))


def _table(path: str, blob: GitObject | None) -> Table:
    try:
        return load_toml(blob.content if blob else b"")
    except ValueError as error:
        raise StoreError(f"{path} in the store is damaged: {error}") from error


def _assembled(tables: dict[str, Table]) -> State:
    session = tables.pop(layout.SESSION_FILE, {})
    written = session.get("format", 0)
    if isinstance(written, int) and written > FORMAT:
        raise StoreVersionError(
            f"the session has format {written}, this ctxgit knows {FORMAT}",
            hint="install a newer ctxgit",
        )
    chunks = _records(Chunk, tables)
    state = _state(
        _record(Session, layout.SESSION_FILE, session),
        [*_records(Turn, tables).values()],
        [*_records(Task, tables).values()],
        [*chunks.values()],
    )
    for path, chunk in chunks.items():
        if not _has_scope(state, chunk):
            raise StoreError(f"{path} in the store is of a task or turn that is not there")
    return state


def _records(kind: type[Record], tables: dict[str, Table]) -> dict[str, Record]:
    return {
        path: _record(kind, path, table)
        for path, table in tables.items()
        if layout.record_kind(path) is kind
    }


def _record(kind: type[Record], path: str, table: Table) -> Record:
    try:
        return from_table(kind, table)
    except ValueError as error:
        raise StoreError(f"{path} in the store is damaged: {error}") from error


def _has_scope(state: State, chunk: Chunk) -> bool:
    return chunk.task in state.tasks if chunk.task else chunk.turn in state.turns


def _state(session: Session, turns: list[Turn], tasks: list[Task], chunks: list[Chunk]) -> State:
    return State(
        session=session,
        turns={turn.number: turn for turn in sorted(turns, key=lambda turn: turn.number)},
        tasks={task.number: task for task in sorted(tasks, key=lambda task: task.number)},
        chunks={chunk.id: chunk for chunk in sorted(chunks, key=lambda chunk: chunk.number)},
    )


# --- names -----------------------------------------------------------------------------------


def _find_name(git: Git, key: str) -> str:
    """Return the name of the branch of session ``key``, empty when it has none."""
    prefix = _shortened(key, SHORT_ID)
    names = [ref.removeprefix(layout.SESSIONS) for ref in git.refs(f"{layout.SESSIONS}*-{prefix}*")]
    files = git.objects([f"{layout.SESSIONS}{name}:{layout.SESSION_FILE}" for name in names])
    for name, blob in zip(names, files, strict=True):
        with suppress(StoreError):
            if _table(name, blob).get("id") == key:
                return name
    return ""


def _new_name(git: Git, key: str, started_at: datetime) -> str:
    """Return a free name: the date and as much of the id as tells it from the others."""
    taken = {ref.removeprefix(layout.SESSIONS) for ref in git.refs(layout.SESSIONS)}
    day = started_at.date().isoformat()
    lengths = (*range(SHORT_ID, len(key), 4), LONG_ID)
    candidates = (f"{day}-{_shortened(key, length)}" for length in lengths)
    numbered = (f"{day}-{_shortened(key, LONG_ID)}-{number}" for number in count(2))
    return next(name for name in chain(candidates, numbered) if name not in taken)


def _shortened(key: str, length: int) -> str:
    return key[:length].rstrip("-_")


# --- the copy of the state -------------------------------------------------------------------


def _cache_path(store: StorePaths, key: str) -> Path:
    return store.session_dir(key) / "state.json"


def _read_cache(store: StorePaths, key: str) -> Table:
    try:
        cached = json.loads(_cache_path(store, key).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return cached if isinstance(cached, dict) and cached.get("format") == CACHE_FORMAT else {}


def _cached_state(cached: Table, tip: str) -> State | None:
    if cached.get("commit") != tip:
        return None
    try:
        rows = {name: cached[name] for name in ("session", "turns", "tasks", "chunks")}
        return _state_from_rows(rows)
    except (KeyError, TypeError, ValueError):
        return None


def _state_from_rows(rows: dict[str, object]) -> State:
    def each(name: str) -> list[Table]:
        listed = rows[name]
        if not isinstance(listed, list):
            raise TypeError(name)
        return listed

    (session,) = each("session")
    return _state(
        from_table(Session, session),
        [from_table(Turn, row) for row in each("turns")],
        [from_table(Task, row) for row in each("tasks")],
        [from_table(Chunk, row) for row in each("chunks")],
    )


def _write_cache(store: StorePaths, branch: Branch) -> None:
    state = branch.state
    if state is None:
        return
    cached = {
        "format": CACHE_FORMAT,
        "name": branch.name,
        "commit": branch.tip,
        "session": [to_table(state.session)],
        "turns": [to_table(turn) for turn in state.turns.values()],
        "tasks": [to_table(task) for task in state.tasks.values()],
        "chunks": [to_table(chunk) for chunk in state.chunks.values()],
    }
    with suppress(OSError):  # a copy that cannot be written is made again from the tree
        write_atomically(
            _cache_path(store, branch.key),
            json.dumps(cached, default=jsonable, separators=(",", ":")).encode(),
        )
