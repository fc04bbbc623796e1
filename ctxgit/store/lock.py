"""Locks between processes: the kernel frees them when their holder dies.

The git that a holder runs holds them too: it may outlive a holder that was killed, and
what it does then must not meet another's.

The one module that knows ``flock``, so that another system can come.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ctxgit.errors import StoreLockedError

POLL_SECONDS = 0.02
REFS_LOCK = "refs.lock"
"""In the runtime folder: shared by those who move refs, held alone by the one who packs them."""


@contextmanager
def locked(path: Path, *, wait: float, shared: bool = False) -> Iterator[None]:
    """Hold the lock ``path`` for the length of the block, alone or with others who share it.

    Waits up to ``wait`` seconds for another holder, then raises StoreLockedError. The lock
    file stays: removing it would let two holders in.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.set_inheritable(descriptor, True)  # noqa: FBT003 - takes no names
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        _acquire(descriptor, kind, path, time.monotonic() + wait)
        try:
            yield
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # also for a child that is still there
    finally:
        os.close(descriptor)


def remove_stale_ref_locks(git_dir: Path, refs: Iterable[str]) -> None:
    """Remove the locks that a killed git left on ``refs``, full names.

    The caller holds the lock of their only writer, and shares the one against packing.
    """
    for ref in refs:
        with suppress(OSError):
            (git_dir / f"{ref}.lock").unlink()


def _acquire(descriptor: int, kind: int, path: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise StoreLockedError(
                    f"another process holds {path}", hint="try again in a moment"
                ) from None
            time.sleep(POLL_SECONDS)
        else:
            return
