from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from ctxgit.claude.order import BLOCK_BYTES, causal_order, transcript_positions
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
from support.payloads import AT, SESSION

TRANSCRIPTS = Path(__file__).parents[3] / "shared" / "claude-code" / "transcripts"


def made(kind: type[Event], second: int, name: str, agent: str = "") -> Event:
    return kind(id=name, at=AT + timedelta(seconds=second), session=SESSION, agent=agent)


def done(second: int, call: str, agent: str = "") -> ToolFinished:
    at = AT + timedelta(seconds=second)
    return ToolFinished(id=f"e-{call}", at=at, session=SESSION, agent=agent, tool_use_id=call)


def calls(events: list[Event]) -> list[str]:
    return [e.tool_use_id if isinstance(e, ToolFinished) else e.id for e in events]


# --- causal_order ------------------------------------------------------------------------


def test_time_comes_first() -> None:
    events = [made(TurnStopped, 2, "stop"), done(1, "a"), made(PromptSubmitted, 0, "prompt")]
    assert calls(causal_order(events, {})) == ["prompt", "a", "stop"]


def test_events_of_one_instant_are_ranked_by_kind_then_id() -> None:
    kinds: list[type[Event]] = [
        SessionEnded,
        TurnStopped,
        Compacted,
        CompactionAnnounced,
        SubagentStopped,
        TasksChanged,
        PromptSubmitted,
        Observed,
        SessionStarted,
    ]
    events = [made(kind, 0, kind.__name__) for kind in kinds]
    assert [type(event) for event in causal_order(events, {})] == kinds[::-1]
    twins = [done(0, "b"), made(TasksChanged, 0, "e-aa"), done(0, "a")]
    assert [event.id for event in causal_order(twins, {})] == ["e-a", "e-aa", "e-b"]


def test_parallel_calls_take_the_order_of_the_transcript() -> None:
    events = [made(PromptSubmitted, 0, "prompt"), done(1, "c"), done(2, "a"), done(3, "b")]
    ordered = causal_order(events, {"a": 10, "b": 20, "c": 30})
    assert calls(ordered) == ["prompt", "a", "b", "c"]


def test_unknown_calls_keep_their_place() -> None:
    events = [done(1, "c"), done(2, "x"), done(3, "a"), done(4, "y"), done(5, "b")]
    assert calls(causal_order(events, {"a": 1, "b": 2, "c": 3})) == ["a", "x", "b", "y", "c"]


def test_each_agent_only_fills_its_own_places() -> None:
    events = [done(1, "m2"), done(2, "s2", "a1"), done(3, "m1"), done(4, "s1", "a1")]
    ordered = causal_order(events, {"m1": 5, "m2": 6, "s1": 1, "s2": 2})
    assert calls(ordered) == ["m1", "s1", "m2", "s2"]


@pytest.mark.parametrize(
    "kind", [PromptSubmitted, TurnStopped, SessionStarted, Compacted, CompactionAnnounced]
)
def test_a_mark_of_the_loop_is_not_crossed(kind: type[Event]) -> None:
    events = [done(1, "b"), made(kind, 2, "mark"), done(3, "a")]
    assert calls(causal_order(events, {"a": 1, "b": 2})) == ["b", "mark", "a"]


def test_a_mark_of_another_loop_is_crossed() -> None:
    stop = made(SubagentStopped, 2, "stop", "a1")
    events = [done(1, "b"), stop, done(3, "a"), done(1, "s2", "a1"), done(4, "s1", "a1")]
    ordered = causal_order(events, {"a": 1, "b": 2, "s1": 3, "s2": 4})
    assert calls(ordered) == ["a", "s2", "stop", "b", "s1"]


@pytest.mark.parametrize("kind", [TasksChanged, Observed])
def test_verbs_and_observations_part_no_batch(kind: type[Event]) -> None:
    events = [done(1, "b"), made(kind, 2, "between"), done(3, "a")]
    assert calls(causal_order(events, {"a": 1, "b": 2})) == ["a", "between", "b"]


# --- transcript_positions ----------------------------------------------------------------


def answer(*names: str, filler: int = 0) -> bytes:
    content: list[dict[str, object]] = [{"type": "text", "text": "x" * filler}]
    content += [{"type": "tool_use", "id": n, "name": "Read", "input": {}} for n in names]
    line = {"type": "assistant", "message": {"role": "assistant", "content": content}}
    return json.dumps(line).encode() + b"\n"


def result(name: str) -> bytes:
    content = [{"type": "tool_result", "tool_use_id": name, "content": f'"tool_use" {name}'}]
    return json.dumps({"type": "user", "message": {"content": content}}).encode() + b"\n"


def replay(name: str) -> bytes:
    content = [{"type": "tool_use", "id": name}]
    line = {"type": "api-request-blob", "message": {"role": "assistant", "content": content}}
    return json.dumps(line).encode() + b"\n"


def order_in(transcript: Path, *wanted: str, **limits: int) -> list[str]:
    found = transcript_positions(transcript, wanted, **limits)
    return sorted(found, key=found.__getitem__)


def test_positions_follow_the_calls_not_their_results(tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    lines = [answer("a"), answer("b"), result("b"), replay("b"), result("a"), replay("a")]
    transcript.write_bytes(b"".join(lines))
    assert order_in(transcript, "b", "a", "lost") == ["a", "b"]


def test_positions_of_calls_on_one_line(tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_bytes(answer("c") + answer("b", "x", "a"))
    assert order_in(transcript, "a", "b", "c") == ["c", "b", "a"]


def test_lines_longer_than_a_block_are_read(tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    parts = [answer("a", filler=3 * BLOCK_BYTES), b"\n", answer("b", filler=BLOCK_BYTES)]
    transcript.write_bytes(b"".join(parts) + answer("c"))
    assert order_in(transcript, "c", "b", "a") == ["a", "b", "c"]


def test_block_borders_may_fall_anywhere(tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    tail = answer("b")
    for shift in (-1, 0, 1):
        head = answer("a")
        padding = BLOCK_BYTES - len(tail) + shift - 1
        transcript.write_bytes(head + b"y" * padding + b"\n" + tail)
        assert order_in(transcript, "a", "b") == ["a", "b"]


def test_a_position_is_an_offset_in_the_file(tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    first = answer("a")
    transcript.write_bytes(first + answer("b"))
    assert transcript_positions(transcript, ["a", "b"]) == {"a": 0, "b": len(first)}


def test_what_lies_before_the_limit_is_not_found(tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    last = answer("b")
    transcript.write_bytes(answer("a") + last)
    assert order_in(transcript, "a", "b", limit_bytes=len(last) + 1) == ["b"]
    assert order_in(transcript, "a", "b", limit_bytes=len(last) - 1) == []
    assert order_in(transcript, "a", "b", limit_bytes=0) == []
    transcript.write_bytes(answer("a").rstrip() + last)
    assert order_in(transcript, "a", "b", limit_bytes=len(last)) == []


def test_a_copied_call_counts_where_it_is_last(tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_bytes(answer("a") + answer("b") + answer("a"))
    assert order_in(transcript, "a", "b") == ["b", "a"]


def test_broken_lines_are_passed_over(tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    lines = [
        answer("a"),
        b'{"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "lost\n',
        b'"tool_use" \xff\xfe\x00\n',
        b'["tool_use"]\n' + b'{"x": "tool_use"}\n' + b"[" * 50_000 + b'"tool_use"\n',
        answer("b").rstrip() + answer("c"),
        answer("d")[:-20],
    ]
    transcript.write_bytes(b"".join(lines))
    assert order_in(transcript, "d", "c", "b", "a", "lost") == ["a", "b", "c"]


def test_what_is_no_transcript_gives_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    unreadable = tmp_path / "dangling"
    unreadable.symlink_to(tmp_path / "nowhere")
    for path in (
        tmp_path,
        tmp_path / "missing",
        tmp_path / "pipe",
        tmp_path / "empty",
        tmp_path / ("n" * 5000),
        Path("/proc/self/mem"),
        unreadable,
        Path("nul\0byte"),
    ):
        assert transcript_positions(path, ["a"]) == {}


@pytest.mark.skipif(
    not TRANSCRIPTS.is_dir(), reason="no recorded transcripts beside the repository"
)
def test_calls_of_a_recorded_transcript_are_found() -> None:
    transcript = TRANSCRIPTS / "c_payloads.jsonl"
    wanted = ["toolu_6b7f755b17c94543a7ae7d36", "toolu_c1fe802536df41568506d3fe"]
    assert order_in(transcript, *wanted) == wanted[::-1]
