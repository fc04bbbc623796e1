"""The bars: what is promised, and how a figure comes of the times of one round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sizes
from stores import Place
from timer import Round


@dataclass(frozen=True, kw_only=True)
class TimeBar:
    """A figure of one round's times, in ``unit``, that shall not exceed ``limit``.

    ``subjects`` are the names of what it is computed from.
    """

    name: str
    limit: float
    unit: str
    subjects: tuple[str, ...]
    figure: Callable[[Round], float]
    shown: str = ""


@dataclass(frozen=True, kw_only=True)
class SizeBar:
    """A size, in ``unit``, that shall not exceed ``limit``."""

    name: str
    limit: float
    unit: str
    measure: Callable[[Place], float]
    shown: str = ""


Bar = TimeBar | SizeBar


def _of(name: str, subject: str, limit: float, unit: str) -> TimeBar:
    """Return a bar on the time of ``subject`` in units of another's."""
    return TimeBar(
        name=name,
        limit=limit,
        unit=unit,
        subjects=(subject, unit),
        figure=lambda times: times[subject] / times[unit],
    )


def _beyond(name: str, subject: str, base: str, limit: float) -> TimeBar:
    """Return a bar on what ``subject`` takes more than ``base``, in P."""
    return TimeBar(
        name=name,
        limit=limit,
        unit="P",
        subjects=(subject, base, "P"),
        figure=lambda times: (times[subject] - times[base]) / times["P"],
        shown=f"{'F' if base == 'F' else base} + ",
    )


def _growth(name: str, subject: str, smaller: str) -> TimeBar:
    return TimeBar(
        name=name,
        limit=1.5,
        unit="x",
        subjects=(subject, smaller),
        figure=lambda times: times[subject] / times[smaller],
    )


BARS: tuple[Bar, ...] = (
    _of("PostToolUse hook, 4 KB", "hook 4 KB", 0.4, "P"),
    _of("PostToolUse hook, 100 KB", "hook 100 KB", 0.4, "P"),
    _of("PostToolUse hook, 2 MB", "hook 2 MB", 0.6, "P"),
    _of("Stop hook, its sync detached", "stop", 1.4, "P"),
    _of("SessionStart hook, text prepared", "session start", 2, "P"),
    _of("commit of 1 chunk into 100,000", "commit 1 into 100,000", 2, "F"),
    _of("commit of 100 chunks into 100,000", "commit 100 into 100,000", 12, "F"),
    _growth(
        "commit of 1 chunk: 100,000 against 10,000", "commit 1 into 100,000", "commit 1 into 10,000"
    ),
    _growth(
        "commit of 100 chunks: 100,000 against 10,000",
        "commit 100 into 100,000",
        "commit 100 into 10,000",
    ),
    _beyond("ctx sync of one chunk", "sync", "F", 9),
    _beyond("detached sync of one chunk", "sync detached", "F", 9),
    SizeBar(
        name="bytes of a 4 KB chunk: fresh session",
        limit=8,
        unit="KB",
        measure=sizes.in_fresh_session,
    ),
    SizeBar(
        name="bytes of a 4 KB chunk: in a turn of 5,000",
        limit=8,
        unit="KB",
        measure=sizes.in_long_turn,
    ),
    SizeBar(
        name="bytes of a 4 KB chunk: after 2,000 syncs",
        limit=8,
        unit="KB",
        measure=sizes.after_many_syncs,
    ),
    SizeBar(
        name="repository of 30,000 chunks, 70 % re-reads",
        limit=0.2,
        unit="of the raw bytes",
        measure=sizes.of_rereads,
    ),
    _of("ctx status --json, fresh store", "status", 14, "P"),
    _beyond("ctx log --json, 50 of 10,000 commits", "log json", "status", 3),
    _beyond("ctx log on a terminal", "log drawn", "status", 8),
)
