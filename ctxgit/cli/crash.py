"""A bug, told: the details go to a log, the person gets its path."""

from __future__ import annotations

import os
import platform
import traceback
from pathlib import Path

from ctxgit import __version__, paths
from ctxgit.errors import CtxError


def report(command: str) -> str:
    """Log the exception being handled; return the line to show."""
    details = redacted(traceback.format_exc())
    where = _log_path()
    first = redacted(f"ctx {command}, ctxgit {__version__}, Python {platform.python_version()}")
    try:
        where.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(where, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with open(descriptor, "a", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - a descriptor
            file.write(f"{first}\n{details}\n")
    except OSError:
        return f"error: a bug in ctxgit, please report it:\n{details}"
    return f"error: a bug in ctxgit; the details are in {where}"


def redacted(details: str) -> str:
    """Return a traceback without secrets, or nothing where that cannot be made sure."""
    try:
        from ctxgit.redact import redact  # noqa: PLC0415 - may be what failed

        return redact(details)
    except Exception:  # noqa: BLE001 - better no details than a secret
        return "(the details could not be redacted)"


def _log_path() -> Path:
    user = paths.user_config_path().parent / "crash.log"
    try:
        runtime = paths.StorePaths(paths.store_for(Path.cwd())).runtime
    except (CtxError, OSError):
        return user
    return runtime / "crash.log" if runtime.is_dir() else user
