"""Locks between processes: the kernel frees them when their holder dies.

The one module that knows ``flock``, so that another system can come.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        _acquire(descriptor, kind, path, time.monotonic() + wait)
        yield
    finally:
        os.close(descriptor)


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
