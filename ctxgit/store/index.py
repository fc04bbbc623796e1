"""The index: what lists and look-ups read. Derived from the branches, deletable at any time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ctxgit.errors import StoreError
from ctxgit.model import Chunk, State
from ctxgit.paths import StorePaths
from ctxgit.records import dataclass
from ctxgit.store import layout, sessions, touched
from ctxgit.store.git import Git

if TYPE_CHECKING:
    import sqlite3

SCHEMA_VERSION = 2
SCHEMA = """
CREATE TABLE session (
    key TEXT PRIMARY KEY, name TEXT NOT NULL, tip TEXT NOT NULL, work_tree TEXT NOT NULL,
    branch TEXT NOT NULL, started_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    ended TEXT NOT NULL, headline TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE chunk (
    id TEXT NOT NULL, session TEXT NOT NULL, path TEXT NOT NULL, tip TEXT NOT NULL,
    PRIMARY KEY (id, session)
) WITHOUT ROWID;
CREATE TABLE touched (
    path TEXT NOT NULL, tip TEXT NOT NULL, PRIMARY KEY (path, tip)
) WITHOUT ROWID;
CREATE TABLE walked (name TEXT PRIMARY KEY, tip TEXT NOT NULL) WITHOUT ROWID;
"""
TABLES = ("session", "chunk", "touched", "walked")
BUSY_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class SessionEntry:
    """A session as a list shows it. Times are ISO texts; ``headline`` is its last prompt's."""

    key: str
    name: str
    tip: str
    work_tree: str
    branch: str
    started_at: str
    updated_at: str
    ended: str
    headline: str


@dataclass(frozen=True, kw_only=True)
class ChunkEntry:
    """Where a chunk is: ``tip`` is a commit whose tree has it at ``path`` (no ending)."""

    id: str
    session: str
    path: str
    tip: str


@dataclass(frozen=True)
class Index:
    """The open index."""

    connection: sqlite3.Connection

    def put(self, branch: sessions.Branch, chunks: Iterable[Chunk]) -> None:
        """Take in a branch as it stands, and ``chunks``, which its last addition added.

        All its chunks are taken in where the index does not know what was there before.
        """
        state = branch.state
        if state is None:
            return
        query = "SELECT tip FROM session WHERE key = ?"
        known = self.connection.execute(query, (branch.key,)).fetchone() or ("",)
        if known != (branch.previous_tip,):
            chunks = state.chunks.values()
        with self.connection:
            self._put_session(branch, state)
            self.connection.executemany(
                "INSERT OR REPLACE INTO chunk VALUES (?, ?, ?, ?)",
                (
                    (chunk.id, branch.key, layout.chunk_path(state, chunk), branch.tip)
                    for chunk in chunks
                ),
            )

    def _put_session(self, branch: sessions.Branch, state: State) -> None:
        session = state.session
        turn = state.turns.get(state.current_turn)
        self.connection.execute(
            "INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                branch.key,
                branch.name,
                branch.tip,
                session.work_tree or session.cwd,
                session.branch,
                session.started_at.isoformat(),
                session.updated_at.isoformat(),
                session.ended,
                turn.headline if turn else "",
            ),
        )

    def refresh(self, git: Git) -> dict[str, StoreError]:
        """Bring the index up to the branches, whatever moved them.

        Returns why branches could not be read, by name: they are listed as they were known
        last, and the others are not hidden by them.
        """
        known = dict(self.connection.execute("SELECT name, tip FROM session"))
        refs = git.refs(layout.SESSIONS)
        there = {ref.removeprefix(layout.SESSIONS): oid for ref, oid in refs.items()}
        for name in known.keys() - there.keys():
            self._forget(name)
        unread: dict[str, StoreError] = {}
        for name, oid in there.items():
            if known.get(name) == oid:
                continue
            try:
                state = sessions.read_state(git, oid)
            except StoreError as error:
                unread[name] = error
            else:
                branch = sessions.Branch(key=state.session.id, name=name, tip=oid, state=state)
                self.put(branch, state.chunks.values())
        return unread

    def _forget(self, name: str) -> None:
        with self.connection:
            self.connection.execute(
                "DELETE FROM chunk WHERE session = (SELECT key FROM session WHERE name = ?)",
                (name,),
            )
            self.connection.execute("DELETE FROM session WHERE name = ?", (name,))

    def sessions(
        self, *, work_tree: str | None = None, prefix: str = "", limit: int | None = None
    ) -> list[SessionEntry]:
        """Return sessions, the last updated first, of one work tree or of all.

        ``prefix`` is the beginning of an id or of a branch's name; at most ``limit`` come.
        """
        rows = self.connection.execute(
            "SELECT key, name, tip, work_tree, branch, started_at, updated_at, ended, headline"
            " FROM session WHERE (? IS NULL OR work_tree = ?)"
            " AND (substr(key, 1, ?) = ? OR substr(name, 1, ?) = ?)"
            " ORDER BY updated_at DESC, key LIMIT ?",
            (
                *(work_tree, work_tree),
                *(len(prefix), prefix, len(prefix), prefix),
                -1 if limit is None else limit,
            ),
        )
        fields = [column[0] for column in rows.description]
        return [SessionEntry(**dict(zip(fields, row, strict=True))) for row in rows]

    def work_trees(self) -> list[str]:
        """Return the work trees that sessions were in."""
        rows = self.connection.execute("SELECT DISTINCT work_tree FROM session")
        return [root for (root,) in rows if root]

    def chunks(self, prefix: str) -> list[ChunkEntry]:
        """Return the chunks whose id begins with ``prefix``, at most a dozen."""
        rows = self.connection.execute(
            "SELECT id, session, path, tip FROM chunk WHERE id >= ? AND id < ? LIMIT 12",
            (prefix, prefix + "\U0010ffff"),
        )
        return [ChunkEntry(id=row[0], session=row[1], path=row[2], tip=row[3]) for row in rows]

    def touching(self, git: Git, places: Iterable[str]) -> set[str]:
        """Return the commits that added a chunk that read or wrote one of ``places``.

        These are absolute paths of files or folders. Every commit of a session that the index
        knows counts, whatever became of its chunks: what is new of them is read first.
        """
        self._walk(git)
        found: set[str] = set()
        for place in places:
            folder = place.rstrip("/") + "/"
            rows = self.connection.execute(
                "SELECT tip FROM touched WHERE path = ? OR (path >= ? AND path < ?)",
                (place, folder, folder[:-1] + chr(ord("/") + 1)),
            )
            found |= {tip for (tip,) in rows}
        return found

    def _walk(self, git: Git) -> None:
        """Bring what commits touched up to the branches, whatever moved them."""
        walked = dict(self.connection.execute("SELECT name, tip FROM walked"))
        tips = dict(self.connection.execute("SELECT name, tip FROM session"))
        if walked == tips:
            return
        left = [tip for name, tip in walked.items() if tips.get(name) != tip]
        lost = touched.commits(git, left, without=tips.values()) if left else []
        new = touched.commits(git, tips.values(), without=walked.values())
        paths = list(touched.touched_paths(git, new))
        with self.connection:
            for commit in lost:
                self.connection.execute("DELETE FROM touched WHERE tip = ?", (commit,))
            self.connection.executemany("INSERT OR IGNORE INTO touched VALUES (?, ?)", paths)
            self.connection.execute("DELETE FROM walked")
            self.connection.executemany("INSERT INTO walked VALUES (?, ?)", tips.items())


@contextmanager
def opened(store: StorePaths) -> Iterator[Index]:
    """Open the index, making it anew when it is missing, damaged or of another version.

    Where the store cannot be written it is made in memory, and empty at first.

    Raises StoreError when it cannot be used, also for what fails in the block; an index that
    turns out to be damaged only there is removed.
    """
    import sqlite3

    try:
        connection = _connected(store)
        try:
            yield Index(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        if not _is_damage(error):
            raise StoreError(f"the index {store.index} cannot be used: {error}") from error
        _remove(store)
        raise StoreError(
            f"the index {store.index} was damaged", hint="it is made again: try once more"
        ) from error


def _connected(store: StorePaths) -> sqlite3.Connection:
    import sqlite3

    try:
        return _connect(store)
    except sqlite3.Error as error:
        if not _is_damage(error):
            raise
        _remove(store)
        return _connect(store)


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is no sound database, rather than in use or out of reach."""
    import sqlite3

    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _remove(store: StorePaths) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        store.index.with_name(store.index.name + suffix).unlink(missing_ok=True)


def _connect(store: StorePaths) -> sqlite3.Connection:
    import sqlite3

    in_memory = not os.access(store.runtime, os.W_OK)
    connection = sqlite3.connect(":memory:" if in_memory else store.index, timeout=BUSY_SECONDS)
    try:
        connection.execute("PRAGMA synchronous = OFF")  # what a power cut takes is made again
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != SCHEMA_VERSION:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(
                f"BEGIN IMMEDIATE; {''.join(f'DROP TABLE IF EXISTS {name}; ' for name in TABLES)}"
                f"{SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT"
            )
            if not in_memory:
                store.index.chmod(0o600)
    except BaseException:
        connection.close()
        raise
    return connection
