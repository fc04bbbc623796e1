"""Disks that are full or cannot be written, for one process: mounts nobody else sees."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def _unshare() -> list[str]:
    """Return the command that gives a process mounts of its own, empty where there is none."""
    for words in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        trial = [*words, "/bin/sh", "-c", "mount -t tmpfs -o size=4k none /mnt"]
        if shutil.which(words[0]) is None:
            break
        if subprocess.run(trial, capture_output=True, check=False).returncode == 0:
            return words
    return []


_UNSHARE = _unshare()
needs_mounts = pytest.mark.skipif(not _UNSHARE, reason="mounting needs Linux and the right to")


def small(folder: Path, size: str) -> list[str]:
    """Return the beginning of a command that finds ``folder`` on a new, small disk.

    What is written there goes with the process; what was there before is not seen.
    """
    return _mounted(f'mount -t tmpfs -o mode=0700,size={size} none "$0"', folder)


def read_only(folder: Path) -> list[str]:
    """Return the beginning of a command that cannot write to ``folder``."""
    return _mounted('mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"', folder)


def _mounted(mount: str, folder: Path) -> list[str]:
    return [*_UNSHARE, "/bin/sh", "-c", f'{mount} && exec "$@"', str(folder)]
