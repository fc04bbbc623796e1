"""The order in which captured events count: by time, parallel tool calls by their cause.

Payloads carry no time, and the hooks of parallel calls end in any order. The time of
capture orders the events; where one answer of the model made several calls, the order in
which it made them, seen in the transcript, orders their results.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING

from ctxgit.claude.fields import items, mapping, text
from ctxgit.model import (
    Compacted,
    CompactionAnnounced,
    Event,
    Observed,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    SubagentStopped,
    TasksChanged,
    ToolFinished,
    TurnStopped,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import BinaryIO

RANK: Mapping[type[Event], int] = MappingProxyType(
    {
        SessionStarted: 0,
        Observed: 1,
        PromptSubmitted: 2,
        TasksChanged: 3,
        ToolFinished: 3,
        SubagentStopped: 4,
        CompactionAnnounced: 5,
        Compacted: 6,
        TurnStopped: 7,
        SessionEnded: 8,
    }
)
"""Which of two events captured at the same instant comes first."""
SEARCHED_BYTES = 8 * 1024 * 1024
BLOCK_BYTES = 64 * 1024

_INSIDE_A_RUN = (ToolFinished, TasksChanged, Observed)
"""Events that do not end a run of tool results; any other of the same loop does."""


def causal_order(events: Sequence[Event], positions: Mapping[str, int]) -> list[Event]:
    """Return ``events`` in the order of their causes.

    They are sorted by time, then kind (RANK), then id. Then, between two prompts, stops
    or other marks of one agent's loop, the agent's tool results whose ``tool_use_id`` is
    in ``positions`` are put in the order of these among the places that they hold;
    everything else stays where it is. Given unique ids, the result does not depend on the
    order of the input.
    """
    ordered = sorted(events, key=_by_time)
    result = list(ordered)
    for places in _runs(ordered, positions):
        run = sorted((ordered[place] for place in places), key=lambda e: positions[_call(e)])
        for place, event in zip(places, run, strict=True):
            result[place] = event
    return result


def transcript_positions(
    transcript: Path, wanted: Collection[str], *, limit_bytes: int = SEARCHED_BYTES
) -> dict[str, int]:
    """Return where in ``transcript`` the model made the calls ``wanted`` (tool use ids).

    Positions are only good for comparing. The file is read backwards until all are found,
    but no more than ``limit_bytes`` of it: what is not found is left out. Never raises,
    whatever the file is or holds, also while it is being written.
    """
    missing = set(wanted)
    found: dict[str, int] = {}
    try:
        if not missing or not transcript.is_file():
            return found
        with transcript.open("rb") as file:
            for offset, line in _lines_backwards(file, limit_bytes):
                calls = _calls(line, missing)
                found |= {call: offset + place for call, place in calls.items()}
                missing -= calls.keys()
                if not missing:
                    break
    except (OSError, ValueError):
        pass
    return found


def _by_time(event: Event) -> tuple[datetime, int, str]:
    return event.at, RANK.get(type(event), len(RANK)), event.id


def _call(event: Event) -> str:
    return event.tool_use_id if isinstance(event, ToolFinished) else ""


def _runs(ordered: Sequence[Event], positions: Mapping[str, int]) -> Iterator[list[int]]:
    """Yield the places of each run of tool results that have a position, loop by loop."""
    open_runs: dict[tuple[str, str], list[int]] = {}
    for place, event in enumerate(ordered):
        loop = event.session, event.agent
        if not isinstance(event, _INSIDE_A_RUN):
            yield open_runs.pop(loop, [])
        elif _call(event) in positions and isinstance(event, ToolFinished):
            open_runs.setdefault(loop, []).append(place)
    yield from open_runs.values()


def _lines_backwards(file: BinaryIO, limit_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of ``file``, last first, with their offsets, as far as the limit.

    A line whose beginning lies before the limit is left out.
    """
    start = file.seek(0, 2)
    floor = max(0, start - limit_bytes)
    after: list[bytes] = []
    while start > floor:
        size = min(BLOCK_BYTES, start - floor)
        start -= size
        file.seek(start)
        head, line_end, rest = file.read(size).partition(b"\n")
        if line_end:
            lines = (rest + b"".join(reversed(after))).split(b"\n")
            after.clear()
            yield from _numbered_backwards(lines, start + len(head) + 1)
        after.append(head)
    if floor == 0:
        yield 0, b"".join(reversed(after))


def _numbered_backwards(lines: list[bytes], offset: int) -> Iterator[tuple[int, bytes]]:
    end = offset + sum(map(len, lines)) + len(lines)
    for line in reversed(lines):
        end -= len(line) + 1
        yield end, line


def _calls(line: bytes, wanted: Collection[str]) -> dict[str, int]:
    """Return the calls among ``wanted`` that a line of the transcript makes, in order."""
    if b'"tool_use"' not in line:
        return {}
    content = [block for record in _records(line) for block in _content(record)]
    calls = (text(block, "id") for block in content if block.get("type") == "tool_use")
    made = [call for call in calls if call in wanted]
    return {call: place for place, call in enumerate(made)}


def _content(record: object) -> list[Mapping[str, object]]:
    fields = mapping(record)
    if fields.get("type") != "assistant":
        return []
    return [mapping(block) for block in items(mapping(fields.get("message")).get("content"))]


def _records(line: bytes) -> Iterator[object]:
    """Yield the JSON values of a line: one, or several where a line end got lost."""
    decoder = json.JSONDecoder()
    rest = line.decode("utf-8", "replace").strip()
    while rest:
        try:
            record, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            return
        yield record
        rest = rest[end:].strip()
