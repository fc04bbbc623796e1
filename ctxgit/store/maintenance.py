"""Keeping the store quick: packs rolled up, refs packed, left-overs of killed processes gone.

Never within a hook's time and never beside itself; git's own automatic gc is off.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ctxgit.errors import StoreLockedError
from ctxgit.paths import StorePaths
from ctxgit.store.git import Git
from ctxgit.store.lock import REFS_LOCK, locked

LOOSE_REFS = 500
REFS_SECONDS = 10.0
STALE_SECONDS = 24 * 3600
"""A temporary file this old belongs to a process that was killed."""
STALE_LOCK_SECONDS = 3600
"""The same for a lock of git's: nothing it is held for takes long in a store."""
LEFT_OVER = {
    "fast_import_crash_*": STALE_SECONDS,
    "packed-refs.new": STALE_SECONDS,
    "objects/pack/tmp_*": STALE_SECONDS,
    "objects/pack/.tmp-*": STALE_SECONDS,
    "ctx/spool/.*": STALE_SECONDS,
    "ctx/*/.*.tmp": STALE_SECONDS,
    "ctx/sessions/*/.*.tmp": STALE_SECONDS,
    "packed-refs.lock": STALE_LOCK_SECONDS,
    "refs/**/*.lock": STALE_LOCK_SECONDS,
    "objects/pack/*.lock": STALE_LOCK_SECONDS,
    "objects/info/*.lock": STALE_LOCK_SECONDS,
}
"""What killed processes leave in the git directory, and the age that tells it is theirs."""


def is_due(store: StorePaths, *, packs: int) -> bool:
    """Whether the store has ``packs`` packs or more, or many loose refs."""
    return _count(store.git_dir / "objects" / "pack", ".pack", packs) or _count(
        store.git_dir / "refs", "", LOOSE_REFS
    )


def run_if_due(store: StorePaths, *, packs: int) -> bool:
    """Do maintenance if it is due and nobody else is at it; return whether it was done.

    Raises GitError.
    """
    if not is_due(store, packs=packs):
        return False
    with suppress(StoreLockedError):
        with locked(store.runtime / "maintenance.lock", wait=0):
            run(store)
        return True
    return False


def run(store: StorePaths) -> None:
    """Do maintenance now. The caller holds the maintenance lock. Raises GitError."""
    git = Git(store.git_dir)
    for path in _left_over(store):
        with suppress(OSError):
            path.unlink()
    git.run("repack", "--quiet", "--geometric=2", "-d", "--write-midx")
    with suppress(StoreLockedError), locked(store.runtime / REFS_LOCK, wait=REFS_SECONDS):
        (store.git_dir / "packed-refs.lock").unlink(missing_ok=True)  # a killed packer's
        git.run("pack-refs", "--all")  # at the next time, where sessions are written all along
    git.run("commit-graph", "write", "--reachable", "--no-progress")


def _left_over(store: StorePaths) -> Iterator[Path]:
    now = time.time()
    for pattern, seconds in LEFT_OVER.items():
        for path in store.git_dir.glob(pattern):
            with suppress(OSError):
                if path.stat().st_mtime < now - seconds:
                    yield path


def _count(folder: Path, ending: str, limit: int) -> bool:
    """Whether ``folder`` holds at least ``limit`` files with that ending, at any depth."""
    count = 0
    for _, _, files in os.walk(folder):
        count += sum(name.endswith(ending) for name in files)
        if count >= limit:
            return True
    return False
