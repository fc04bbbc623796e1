"""Commits as a stream for ``git fast-import``: the engine that writes sessions.

One process makes blobs, trees, commits and refs, whatever the store's size, and refuses to
move a ref that is not where it should be (measured: ``docs/adr/0003-fast-import.md``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ctxgit.records import dataclass

IDENTITY = "ctxgit <ctx@ctxgit.invalid>"
FAST_IMPORT = (
    "-c",
    "fastimport.unpackLimit=1",  # always a pack: one file to write and fsync, no loose objects
    "fast-import",
    "--quiet",
    "--done",
    "--date-format=raw",
)


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A commit to be made.

    ``files`` maps paths to contents, ``None`` deletes the path; ``trees`` maps paths to
    ids of trees that exist. ``tags`` are the full names of refs that shall point at it,
    which is for the caller to see to: fast-import moves one ref after another.
    With ``is_whole`` the tree holds these and nothing else; without, what the parent had too.
    """

    at: datetime
    message: str
    files: Mapping[str, bytes | None]
    trees: Mapping[str, str]
    tags: tuple[str, ...] = ()
    is_whole: bool = False


def stream(ref: str, parent: str | None, commits: Sequence[Commit]) -> Iterator[bytes]:
    """Yield the stream that adds ``commits`` to ``ref``, which stands at ``parent`` now.

    git answers it with the object id of each commit, a line each.
    Raises ValueError for a ref or path that cannot stand in a stream.
    """
    for mark, commit in enumerate(commits, start=1):
        yield from _commit(_plain(ref), parent if mark == 1 else None, mark, commit)
    yield from (b"get-mark :%d\n" % mark for mark in range(1, len(commits) + 1))
    yield b"done\n"


def _commit(ref: str, parent: str | None, mark: int, commit: Commit) -> Iterator[bytes]:
    when = f"{int(commit.at.timestamp())} +0000"
    yield f"commit {ref}\nmark :{mark}\nauthor {IDENTITY} {when}\n".encode()
    yield f"committer {IDENTITY} {when}\n".encode()
    yield _data(commit.message.encode())
    if parent is not None:
        yield f"from {parent}\n".encode()
    if commit.is_whole:
        yield b"deleteall\n"
    for path, oid in commit.trees.items():
        yield f"M 040000 {oid} {_plain(path)}\n".encode()
    for path, content in sorted(commit.files.items(), key=_order):
        if content is None:
            yield f"D {_plain(path)}\n".encode()
        else:
            yield f"M 100644 inline {_plain(path)}\n".encode()
            yield _data(content)
    yield b"\n"


def _order(file: tuple[str, bytes | None]) -> tuple[bool, str]:
    """Put deletions first, then like with like: git tries a delta against the file before."""
    path, content = file
    return content is not None, path.rpartition(".")[2]


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _plain(name: str) -> str:
    if not name or name.startswith('"') or "\n" in name or "\0" in name:
        raise ValueError(f"{name!r} cannot stand in a fast-import stream")
    return name
