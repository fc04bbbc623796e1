"""One thing of the store, whole: a chunk, a commit, a knowledge entry."""

from __future__ import annotations

import json

from ctxgit.documents import Table, load_toml
from ctxgit.errors import NotFoundError, StoreError
from ctxgit.look.log import LogEntry, LogQuery, read_log
from ctxgit.records import dataclass
from ctxgit.store import layout
from ctxgit.store.git import Git
from ctxgit.store.index import ChunkEntry

SHOWN_FILES = ("--format=", "--name-status", "-z", "--no-renames", "--no-ext-diff")
MAIN = "refs/heads/main"
ENTRY = ".md"


@dataclass(frozen=True, kw_only=True)
class ShownChunk:
    """A chunk: the facts of its header, its input, and what the tool returned."""

    id: str
    session: str
    path: str
    header: Table
    input: Table
    content: str


@dataclass(frozen=True, kw_only=True)
class ShownCommit:
    """A commit: its message whole, and the files it changed with git's letter for each."""

    entry: LogEntry
    message: str
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class ShownEntry:
    """A knowledge entry on main: its path in the tree and its whole text."""

    path: str
    text: str


def read_chunk(git: Git, entry: ChunkEntry) -> ShownChunk:
    """Return the chunk that the index names. Raises StoreError when its files are gone."""
    base = f"{entry.tip}:{entry.path}"
    header, content, large_input = git.objects([f"{base}.toml", f"{base}.md", f"{base}.input.json"])
    if header is None or content is None:
        raise StoreError(
            f"chunk {entry.id} is not where the index says", hint="run `ctx sync`, then try again"
        )
    table = load_toml(header.content)
    as_json = large_input.content if large_input else str(table.pop("input_json", "{}")).encode()
    given = table.pop("input", None)
    return ShownChunk(
        id=entry.id,
        session=entry.session,
        path=entry.path,
        header=table,
        input=given if isinstance(given, dict) else json.loads(as_json),
        content=content.content.decode("utf-8", "replace"),
    )


def read_entry(git: Git, name: str) -> ShownEntry | None:
    """Return the knowledge entry on main with that path, whole or below its folder, or slug."""
    out = git.run("ls-tree", "-r", "-z", MAIN, f"{layout.KNOWLEDGE}/")
    lines = out.decode("utf-8", "replace").split("\0")
    listed = [line.split(" ", 2)[2].split("\t", 1) for line in lines if line]
    wanted = name.removeprefix(f"{layout.KNOWLEDGE}/").removesuffix(ENTRY)
    found = [
        (oid, path)
        for oid, path in listed
        if f"/{path.removesuffix(ENTRY)}".endswith(f"/{wanted}") and path.endswith(ENTRY)
    ]
    if len(found) > 1:
        shown = ", ".join(path for _, path in found[:5])
        raise NotFoundError(f"{name} is ambiguous: {shown}", hint="give more of the path")
    if not found:
        return None
    ((oid, path),) = found
    (blob,) = git.objects([oid])
    return ShownEntry(path=path, text=blob.content.decode("utf-8", "replace") if blob else "")


def read_commit(git: Git, name: str) -> ShownCommit:
    """Return the commit that ``name`` names. Raises NotFoundError when none is."""
    (found,) = git.objects([f"{name}^{{commit}}"])
    if found is None:
        raise NotFoundError(
            f"nothing in the store is called {name}",
            hint="`ctx log` shows commits, `ctx task show` the chunks of a task",
        )
    (entry,) = read_log(git, LogQuery(limit=1, refs=(found.oid,)))
    listing = git.run("show", *SHOWN_FILES, found.oid)
    parts = listing.decode("utf-8", "replace").strip("\0").split("\0")
    message = found.content.partition(b"\n\n")[2].decode("utf-8", "replace")
    return ShownCommit(
        entry=entry,
        message=message.strip(),
        files=tuple(zip(parts[::2], parts[1::2], strict=False)),
    )
