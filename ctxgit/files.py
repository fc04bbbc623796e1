"""Writing files that are whole or not there."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def write_atomically(path: Path, data: bytes, *, mode: int = 0o600, durable: bool = False) -> None:
    """Put ``data`` at ``path`` by a rename: a reader sees the old content or the new one.

    Missing folders are made with mode 0700. With ``durable`` the data is on disk before
    the rename. Raises OSError; no temporary file is left then.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def rewrite(path: Path, content: bytes) -> None:
    """Make ``content`` the content of a file of the user's, wholly or not at all.

    A symlink is written through. The file keeps its mode and, as far as the system allows,
    its owner; a new file gets the mode that the user's umask gives. Raises OSError.
    """
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            if target.exists():
                status = target.stat()
                with suppress(OSError):
                    os.fchown(descriptor, status.st_uid, status.st_gid)
                os.fchmod(descriptor, status.st_mode & 0o7777)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
