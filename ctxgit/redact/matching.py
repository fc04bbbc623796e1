"""The forms of a text in which rules look, and patterns compiled when first needed."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

Span = tuple[int, int]

LONG_RUN = 20
"""Bytes of the shortest provider token, an AWS access key id."""
_BEFORE_RUN = 8
"""Bytes kept before a run, for literals that end in no token byte: ``ya29.``, ``Bearer ``."""

ALPHANUMERIC = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_RUN = b"a" * LONG_RUN
_SHAPE = bytes(97 if byte in ALPHANUMERIC + b"_-" else 32 for byte in range(256))


class Text(NamedTuple):
    """A text as UTF-8, in the forms in which rules look for their literals.

    ``folded`` has ASCII letters in lower case at the same positions, which makes ``apiKey``
    and ``API_KEY`` one search. ``runs`` holds only the runs of at least ``LONG_RUN`` letters,
    digits and ``_-``, each with a few bytes before it; in prose and code they are few.
    ``links`` is ``raw`` if there is a link in it, ``curls`` if a call of curl, else empty.
    """

    raw: bytes
    folded: bytes
    runs: bytes = b""
    links: bytes = b""
    curls: bytes = b""

    @classmethod
    def of(cls, raw: bytes) -> Text:
        """Return ``raw`` in all its forms."""
        links = raw if b"://" in raw else b""
        curls = raw if b"curl" in raw else b""
        return cls(raw, raw.lower(), _long_runs(raw), links, curls)


def _long_runs(raw: bytes) -> bytes:
    shape, runs = raw.translate(_SHAPE), []
    at = shape.find(_RUN)
    while at >= 0:
        end = shape.find(b" ", at)
        end = len(shape) if end < 0 else end
        runs.append(raw[max(0, at - _BEFORE_RUN) : end])
        at = shape.find(_RUN, end)
    return b"\n".join(runs)


@cache
def compiled(pattern: bytes) -> re.Pattern[bytes]:
    """Return ``pattern`` compiled; the first time it is asked for, not at import."""
    return re.compile(pattern)


def first(pattern: bytes, raw: bytes, start: int = 0) -> bytes:
    """Return what ``pattern`` matches at ``start``, empty if it does not match."""
    match = compiled(pattern).match(raw, start)
    return match[0] if match else b""
