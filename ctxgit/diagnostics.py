"""The log of a store: what went wrong where nobody could be told.

One line an entry, redacted, at most ``LIMIT_BYTES`` in the file and as much in the one
before it (``log.1``). Writing never fails the caller.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

LIMIT_BYTES = 512 * 1024
LINE_LENGTH = 2000


def log(path: Path, source: str, message: str) -> None:
    """Append a line to the log at ``path``; ``source`` says who speaks (sync, hook, …)."""
    from ctxgit.redact import redact  # noqa: PLC0415 - a run in which nothing fails needs none

    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    with suppress(Exception):
        text = " ".join(redact(message).split())[:LINE_LENGTH]
        _rotate(path)
        with path.open("a", encoding="utf-8", errors="replace") as file:
            path.chmod(0o600)
            file.write(f"{moment} {source}: {text}\n")


def _rotate(path: Path) -> None:
    with suppress(FileNotFoundError):
        if path.stat().st_size > LIMIT_BYTES:
            path.replace(path.with_name(path.name + ".1"))
