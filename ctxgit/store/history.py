"""What left the working set, found again: chunks in commits of the past."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ctxgit.documents import Table, from_table, load_toml
from ctxgit.errors import StoreError
from ctxgit.model import Chunk, Returned, Task
from ctxgit.store import layout
from ctxgit.store.git import Git
from ctxgit.store.index import ChunkEntry

HEADERS = ":(glob)**/{name}*" + layout.HEADER
"""The pathspec of the chunks whose id begins with ``name``."""


def find_chunks(git: Git, prefix: str) -> list[ChunkEntry]:
    """Return the chunks whose id begins with ``prefix``, a safe id, wherever in history.

    Reads the names that all commits added, so it takes long in a large store: for what the
    index, which knows the newest trees, does not have. Raises GitError.
    """
    everywhere = ("--all", "--reflog")
    places = added(git, everywhere, HEADERS.format(name=prefix))
    commits = list(dict.fromkeys(places.values()))
    records = _records(git, [f"{commit}:{layout.SESSION_FILE}" for commit in commits])
    sessions = {name.split(":", 1)[0]: str(table.get("id", "")) for name, table in records.items()}
    found = {
        (path.rsplit("/", 1)[-1], sessions.get(commit, "")): (path, commit)
        for path, commit in reversed(places.items())
    }
    return [
        ChunkEntry(id=name, session=session, path=path, tip=commit)
        for (name, session), (path, commit) in found.items()
    ]


def added(git: Git, commits: Sequence[str], *pathspecs: str) -> dict[str, str]:
    """Return the chunks that ``commits`` and those before them added: path to newest commit.

    Paths are without an ending. Raises GitError.
    """
    options = ("--diff-filter=A", "--no-renames", "--name-only", "--format=%x01%H", "-z")
    out = git.run("log", *options, *commits, "--", *pathspecs).decode("utf-8", "replace")
    found: dict[str, str] = {}
    for record in out.split("\x01")[1:]:
        commit, *paths = (part.strip("\n") for part in record.split("\0"))
        for path in paths:
            if layout.record_kind(path) is Chunk:
                found.setdefault(path.removesuffix(layout.HEADER), commit)
    return found


def chunk_paths(git: Git, commit: str) -> list[str]:
    """Return the paths, without an ending, of the chunks in the tree of ``commit``."""
    out = git.run("ls-tree", "-r", "-z", "--name-only", commit).decode("utf-8", "replace")
    paths = (path for path in out.split("\0") if layout.record_kind(path) is Chunk)
    return [path.removesuffix(layout.HEADER) for path in paths]


def returned(git: Git, places: Mapping[str, str], *, tasks_at: str = "") -> list[Returned]:
    """Return the chunks at ``places`` (path without an ending to commit), oldest first.

    Their tasks are as the tree of ``tasks_at`` has them, else as that of the chunk's commit.
    Raises StoreError for files that are gone or damaged.
    """
    endings = layout.CHUNK_ENDINGS
    files = git.objects([f"{at}:{path}{end}" for path, at in places.items() for end in endings])
    records = _records(git, _neighbours(places, tasks_at))
    found: list[Returned] = []
    for number, (path, commit) in enumerate(places.items()):
        blobs = files[number * len(endings) : (number + 1) * len(endings)]
        task_file = f"{layout.task_dir_of(path)}/task.toml"
        task = records.get(f"{tasks_at}:{task_file}") or records.get(f"{commit}:{task_file}")
        session = records.get(f"{commit}:{layout.SESSION_FILE}") or {}
        contents = {end: blob.content for end, blob in zip(endings, blobs, strict=True) if blob}
        try:
            found.append(
                Returned(
                    session=str(session.get("id", "")),
                    chunk=from_table(Chunk, load_toml(contents.get(layout.HEADER, b""))),
                    task=from_table(Task, task) if task else None,
                    files=contents,
                )
            )
        except ValueError as error:
            raise StoreError(f"{path} in the store is damaged: {error}") from error
    return sorted(found, key=lambda each: each.chunk.number)


def _neighbours(places: Mapping[str, str], tasks_at: str) -> set[str]:
    """Return the names of the records that say what the chunks at ``places`` are of."""
    names = {f"{commit}:{layout.SESSION_FILE}" for commit in places.values()}
    for path, commit in places.items():
        folder = layout.task_dir_of(path)
        if folder:
            names |= {f"{at}:{folder}/task.toml" for at in (commit, tasks_at) if at}
    return names


def _records(git: Git, names: Iterable[str]) -> dict[str, Table]:
    """Return the TOML files there are of those named."""
    wanted = list(names)
    blobs = git.objects(wanted)
    try:
        return {
            name: load_toml(blob.content) for name, blob in zip(wanted, blobs, strict=True) if blob
        }
    except ValueError as error:
        raise StoreError(f"a record in the store is damaged: {error}") from error


def holds(git: Git, commit: str) -> str:
    """Return whether a commit holds a ``save`` or the state of a ``session``, else empty."""
    save, session = git.objects([f"{commit}:save.toml", f"{commit}:{layout.SESSION_FILE}"])
    return "save" if save else "session" if session else ""
