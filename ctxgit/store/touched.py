"""What the commits of sessions added, also of what has left the tree since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ctxgit.documents import load_toml
from ctxgit.model import Chunk
from ctxgit.store import layout
from ctxgit.store.git import Git

COMMITS_AT_ONCE = 2_000
"""Bounds the headers that are in memory at once."""


def commits(git: Git, tips: Iterable[str], *, without: Iterable[str]) -> list[str]:
    """Return the commits that ``tips`` are or come after, but for those of ``without``.

    What does not exist is left out, as after history was rewritten.
    """
    asked = "".join([*(f"{tip}\n" for tip in tips), *(f"^{tip}\n" for tip in without)])
    return git.run("rev-list", "--ignore-missing", "--stdin", stdin=asked.encode()).decode().split()


def touched_paths(git: Git, of: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each path that a chunk touched, with the commit of ``of`` that added the chunk."""
    for start in range(0, len(of), COMMITS_AT_ONCE):
        added = list(_added_headers(git, of[start : start + COMMITS_AT_ONCE]))
        headers = git.objects([oid for _, oid in added])
        for (commit, _), header in zip(added, headers, strict=True):
            if header is not None:
                yield from ((path, commit) for path in _paths(header.content))


def _added_headers(git: Git, of: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the commit and the object id of each chunk's header that was added."""
    options = ("--stdin", "--root", "-r", "-z", "--raw", "--no-abbrev", "--no-renames")
    asked = "".join(f"{commit}\n" for commit in of).encode()
    out = git.run("diff-tree", *options, "--diff-filter=A", "--", "tasks", "turns", stdin=asked)
    parts = iter(out.decode("utf-8", "replace").split("\0"))
    commit = ""
    for part in parts:
        if not part.startswith(":"):
            commit = part
        elif layout.record_kind(next(parts)) is Chunk:
            yield commit, part.split(" ")[3]


def _paths(header: bytes) -> list[str]:
    """Return the paths in a chunk's header: a key of the first table, which is short."""
    try:
        paths = load_toml(header.partition(b"\n[")[0]).get("paths")
    except ValueError:  # damaged: `ctx show` says so
        return []
    return [str(path) for path in paths] if isinstance(paths, list) else []
