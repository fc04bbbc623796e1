"""Whether a store's git configuration is one that ctxgit may run git with.

A store may come with a project from elsewhere, and git runs programs that a repository's
configuration names: hooks, filters, text converters, transports. So the file is read before
git is, and what is not known to be harmless is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ctxgit.errors import StoreError

_SECTION = re.compile(r'\[([A-Za-z0-9.-]+)(?: +"([^"\\]*)")?\]')
_ENTRY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)(?:\s*=\s*(.*))?")
_FREE = re.compile(
    r"user\.(?:name|email)"
    r"|core\.(?:repositoryformatversion|filemode|bare|ignorecase|precomposeunicode|symlinks)"
    r"|core\.(?:fsync|fsyncmethod|compression|bigfilethreshold|sharedrepository)"
    r"|gc\.auto|maintenance\.auto"
    r"|remote\..*\.(?:url|pushurl|fetch|push)"
    r"|branch\..*\.(?:remote|merge|rebase)"
)
"""Keys that may have any value: none of them names a program."""
_ELSEWHERE = ("commondir", "config.worktree")
"""Files by which git reads a configuration from another place."""


def check_config(git_dir: Path, ours: Mapping[str, str]) -> None:
    """Raise StoreError when the configuration in ``git_dir`` sets what it must not.

    ``ours`` are the settings of every store, which must have our values where they are set.
    """
    path = git_dir / "config"
    known = {key.lower(): value for key, value in ours.items()}
    for key, value in _entries(path):
        if not _FREE.fullmatch(key) and known.get(key) != value:
            raise StoreError(
                f"{path} sets {key}, and git might run what it names",
                hint=f"if you know why, take it out: git config --file {path} --unset-all {key}",
            )
    for name in _ELSEWHERE:
        if (git_dir / name).exists():
            raise StoreError(f"{git_dir / name} has no place in a context store")


def _entries(path: Path) -> Iterator[tuple[str, str]]:
    """Yield keys, in lower case but for the name in quotes, and values.

    Stricter than git: what might be read in two ways is refused. Raises StoreError.
    """
    section = ""
    try:
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except FileNotFoundError:
        return
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if not line or line.startswith(("#", ";")):
            continue
        if found := _SECTION.fullmatch(line):
            name = f".{found[2]}" if found[2] is not None else ""
            section = f"{found[1].lower()}{name}"
        elif section and not line.endswith("\\") and (found := _ENTRY.fullmatch(line)):
            value = found[2] if found[2] is not None else "true"
            yield f"{section}.{found[1].lower()}", value.strip().strip('"')
        else:
            raise StoreError(
                f"{path}, line {number}: not a line that ctxgit would write",
                hint="write one entry a line, without continuations",
            )
