from __future__ import annotations

import json
import random
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgit.claude.order import causal_order
from ctxgit.claude.payload import decode, session_key, task_payload, to_event
from ctxgit.claude.tools import TOOLS
from ctxgit.errors import PayloadError
from ctxgit.model import (
    Compacted,
    Event,
    Observed,
    PromptSubmitted,
    SubagentStopped,
    TaskChange,
    TasksChanged,
    TaskStatus,
    ToolFinished,
    TurnStopped,
)
from ctxgit.text import is_safe_id, replace_surrogates
from support.payloads import AT, PNG_BASE64, SESSION, payload, spooled

settings.register_profile("ctxgit-payload", derandomize=True, deadline=None, max_examples=150)
PROFILE = settings.get_profile("ctxgit-payload")

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(
    ["\ud800", "\0", "data:image/png;base64," + PNG_BASE64, PNG_BASE64, "/a/../b", "in_progress"]
)
NUMBERS = st.integers() | st.floats() | st.booleans() | st.none()
# Names that the readers look for, so that they meet values of every kind behind them.
_NAMES = (
    "type text data mimeType source base64 blob resource content file filePath cells outputs "
    "image stdout stderr persistedOutputPath persistedOutputSize structuredPatch lines oldStart "
    "filenames results answers questions annotations plan task tasks id subject status newTodos "
    "todos taskId success error result code agentId edits old_string new_string path "
    "file_path addBlockedBy cell_id source image_data media_type uri name"
)
NAMES = st.sampled_from(_NAMES.split())
JSON = st.recursive(
    NUMBERS | ANY_TEXT,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(NAMES | ANY_TEXT, inner, max_size=6)
    ),
    max_leaves=25,
)
_KINDS = (
    "SessionStart UserPromptSubmit PostToolUse PostToolUseFailure SubagentStop Stop StopFailure "
    "PreCompact PostCompact SessionEnd CtxTasks CtxObserved Notification"
)
KINDS = st.sampled_from(_KINDS.split())
_FIELDS = (
    "session_id transcript_path cwd prompt_id agent_id tool_name tool_input tool_response error "
    "is_interrupt duration_ms tool_use_id prompt source reason trigger compact_summary "
    "last_assistant_message agent_type changes work_tree branch head previous"
)
FIELDS = st.sampled_from(_FIELDS.split())


def assert_encodes(value: Any) -> None:
    """Every string in ``value`` becomes UTF-8 once its surrogates are replaced."""
    if isinstance(value, str) and not isinstance(value, Enum):
        assert "\ud800" not in replace_surrogates(value)
        replace_surrogates(value).encode()
    elif is_dataclass(value):
        for field in fields(value):
            assert_encodes(getattr(value, field.name))
    elif isinstance(value, dict):
        for name, each in value.items():
            assert_encodes(name)
            assert_encodes(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            assert_encodes(each)


@PROFILE
@given(st.binary(max_size=200) | st.text(max_size=80).map(lambda t: t.encode("utf-8", "replace")))
def test_arbitrary_bytes_are_an_object_or_refused(data: bytes) -> None:
    with suppress(PayloadError):
        assert isinstance(decode(data), dict)


@PROFILE
@given(JSON)
def test_arbitrary_json_is_an_object_or_refused(value: object) -> None:
    data = spooled(value)
    if isinstance(value, dict):
        assert decode(data).keys() == json.loads(data.decode("utf-8", "replace")).keys()
        return
    with pytest.raises(PayloadError):
        decode(data)


@PROFILE
@given(JSON)
def test_arbitrary_json_never_breaks_reading(value: object) -> None:
    if not isinstance(value, dict):
        value = {"hook_event_name": value}
    with suppress(PayloadError):
        assert_encodes(to_event(value, id="e1", at=AT))


@PROFILE
@given(KINDS, st.dictionaries(FIELDS, JSON, max_size=8))
def test_any_field_of_any_kind_may_hold_anything(kind: str, held: dict[str, object]) -> None:
    held.setdefault("session_id", SESSION)
    value = payload(kind, **held)
    if value["session_id"] in (None, ""):
        value["session_id"] = SESSION
    event = to_event(value, id="e1", at=AT)
    assert (event is None) == (kind == "Notification")
    if event is not None:
        assert is_safe_id(event.session)
        assert not event.agent or is_safe_id(event.agent)
        assert_encodes(event)


@PROFILE
@given(
    st.sampled_from([*TOOLS, "mcp__x"]),
    JSON,
    JSON,
    st.sampled_from(["PostToolUse", "PostToolUseFailure"]),
)
def test_any_tool_may_be_asked_and_answer_anything(
    tool: str, asked: object, answered: object, kind: str
) -> None:
    value = payload(kind, tool_name=tool, tool_input=asked, tool_response=answered, error=answered)
    event = to_event(value, id="e1", at=AT)
    assert isinstance(event, ToolFinished)
    assert_encodes(event)
    assert all(path.startswith("/") for path in event.paths)
    assert all(media.sha256[:8] in event.content for media in event.media)
    assert not (event.failed and (event.changes or event.whole_list))
    assert bool(event.origin) == (bool(event.changes) or event.whole_list)
    if isinstance(answered, str) and kind == "PostToolUseFailure" and not event.media:
        assert event.content == (answered or "")


@PROFILE
@given(ANY_TEXT.filter(bool))
def test_session_keys_are_safe_and_stay(session_id: str) -> None:
    key = session_key(session_id)
    assert is_safe_id(key)
    assert session_key(key) == key


CHANGES = st.lists(
    st.builds(
        TaskChange,
        key=st.text(max_size=5),
        number=st.integers(0, 99),
        subject=st.none() | st.text(max_size=9),
        description=st.none() | st.text(max_size=9),
        status=st.none() | st.sampled_from(TaskStatus),
        blocked_by=st.lists(st.text(min_size=1, max_size=3), max_size=2).map(tuple),
        blocks=st.lists(st.text(min_size=1, max_size=3), max_size=2).map(tuple),
    ),
    max_size=4,
).map(tuple)


@PROFILE
@given(CHANGES)
def test_task_changes_survive_the_spool(changes: tuple[TaskChange, ...]) -> None:
    event = to_event(decode(spooled(task_payload(SESSION, changes))), id="e1", at=AT)
    assert isinstance(event, TasksChanged)
    assert event.changes == changes


# --- order -------------------------------------------------------------------------------

CALLS = [f"t{number}" for number in range(6)]
ORDERED_KINDS: list[type[Event]] = [
    ToolFinished,
    ToolFinished,
    ToolFinished,
    PromptSubmitted,
    TurnStopped,
    SubagentStopped,
    Observed,
    TasksChanged,
    Compacted,
]


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    history: list[Event] = []
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(ORDERED_KINDS))
        common: dict[str, Any] = {
            "id": f"e{number}",
            "at": AT + timedelta(seconds=draw(st.integers(0, 4))),
            "session": SESSION,
            "agent": draw(st.sampled_from(["", "a1"])),
        }
        if kind is ToolFinished:
            common["tool_use_id"] = draw(st.sampled_from(["", *CALLS]))
        history.append(kind(**common))
    return history


POSITIONS = st.dictionaries(st.sampled_from(CALLS), st.integers(0, 9))


@PROFILE
@given(histories(), POSITIONS, st.integers(0, 5))
def test_order_is_a_permutation_that_the_input_order_does_not_change(
    history: list[Event], positions: dict[str, int], seed: int
) -> None:
    ordered = causal_order(history, positions)
    assert sorted(event.id for event in ordered) == sorted(event.id for event in history)
    shuffled = random.Random(seed).sample(history, len(history))  # noqa: S311 - no secret
    assert causal_order(shuffled, positions) == ordered


@PROFILE
@given(histories())
def test_without_positions_order_is_time(history: list[Event]) -> None:
    ordered = causal_order(history, {})
    assert [event.at for event in ordered] == sorted(event.at for event in history)


@PROFILE
@given(histories(), POSITIONS)
def test_only_known_results_move_and_only_among_their_agents_places(
    history: list[Event], positions: dict[str, int]
) -> None:
    by_time = causal_order(history, {})
    ordered = causal_order(history, positions)
    for before, after in zip(by_time, ordered, strict=True):
        assert before.agent == after.agent
        if before != after:
            assert isinstance(before, ToolFinished)
            assert isinstance(after, ToolFinished)
            assert {before.tool_use_id, after.tool_use_id} <= positions.keys()


@PROFILE
@given(histories(), POSITIONS)
def test_within_a_loop_known_results_follow_the_transcript(
    history: list[Event], positions: dict[str, int]
) -> None:
    last: dict[str, int] = {}
    for event in causal_order(history, positions):
        if isinstance(event, ToolFinished):
            place = positions.get(event.tool_use_id)
            if place is not None:
                assert place >= last.get(event.agent, -1)
                last[event.agent] = place
        elif not isinstance(event, (TasksChanged, Observed)):
            last.pop(event.agent, None)
