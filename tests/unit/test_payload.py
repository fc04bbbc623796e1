from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from ctxgit.claude.payload import (
    MAX_DEPTH,
    decode,
    observed_payload,
    prompt_kind,
    session_key,
    task_payload,
    to_event,
)
from ctxgit.errors import PayloadError
from ctxgit.model import (
    Compacted,
    CompactionAnnounced,
    Event,
    Observed,
    PromptKind,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    SubagentStopped,
    TaskChange,
    TasksChanged,
    TaskStatus,
    ToolFinished,
    TurnStopped,
)
from support.payloads import AT, CWD, MISSING, SESSION, payload, spooled, tool_payload

RECORDED = Path(__file__).parents[3] / "shared" / "claude-code" / "payloads"
COMMON: dict[str, Any] = {"id": "e1", "at": AT, "session": SESSION, "prompt_id": "prompt-1"}


def event_of(value: dict[str, Any], **arguments: Any) -> Event | None:
    return to_event(decode(spooled(value)), id="e1", at=AT, **arguments)


# --- decode ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1}',
        b'\xef\xbb\xbf{"a": 1}',
        b'{"a": 1}\r\n\r\n',
        b'{"a": 1}\n\x00\x00\x00',
        b'\x00 \n{"a": 1}',
    ],
)
def test_decode_lets_marks_and_padding_pass(data: bytes) -> None:
    assert decode(data) == {"a": 1}


def test_decode_replaces_bytes_that_are_no_utf8() -> None:
    assert decode(b'{"a": "x\xffy\xe9"}') == {"a": "x\ufffdy\ufffd"}


def test_decode_takes_raw_control_characters_in_strings() -> None:
    assert decode(b'{"a": "one\ttwo\nthree"}') == {"a": "one\ttwo\nthree"}


def test_decode_drops_numbers_that_json_cannot_hold() -> None:
    assert decode(b'{"a": NaN, "b": -Infinity, "c": 1e999, "d": 1.5}') == {
        "a": None,
        "b": None,
        "c": None,
        "d": 1.5,
    }


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \n\x00",
        b"\xef\xbb\xbf",
        b'{"a": "tok-en',
        b"not json",
        b"[1, 2]",
        b'"text"',
        b"null",
        b'{"a": 1}{"a": 2}',
        b'{"a": ' + b"9" * 10_000 + b"}",
        b'{"a": ' + b"[" * 100_000,
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a": ' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}",
    ],
    ids=lambda data: data[:12].decode("utf-8", "replace"),
)
def test_decode_refuses_what_is_no_object(data: bytes) -> None:
    with pytest.raises(PayloadError) as raised:
        decode(data)
    assert "tok-en" not in raised.value.message


def test_decode_takes_nesting_up_to_the_limit() -> None:
    inner = MAX_DEPTH - 1
    assert "a" in decode(b'{"a": ' + b"[" * inner + b"]" * inner + b"}")


# --- session_key -------------------------------------------------------------------------


@pytest.mark.parametrize("session_id", [SESSION, "a", "A_b-9"])
def test_a_safe_session_id_is_kept(session_id: str) -> None:
    assert session_key(session_id) == session_id


@pytest.mark.parametrize(
    "session_id", ["../../etc", "a b", "-x", "x.lock", "é", "a" * 129, "\ud800"]
)
def test_an_unsafe_session_id_is_replaced_by_its_digest(session_id: str) -> None:
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
    assert session_key(session_id) == f"x-{digest[:16]}"


def test_a_session_id_of_a_wrong_type_still_names_the_session() -> None:
    assert session_key(17) == "17"
    assert session_key(["a"]) == session_key(["a"]) != session_key(["b"])


@pytest.mark.parametrize("session_id", [None, ""])
def test_no_session_id_is_refused(session_id: object) -> None:
    with pytest.raises(PayloadError):
        session_key(session_id)


# --- to_event: kinds ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            payload("SessionStart", source="resume"),
            SessionStarted(
                **COMMON,
                source="resume",
                transcript_path=f"/home/user/.claude/projects/p/{SESSION}.jsonl",
                cwd=CWD,
                client_pid="4711",
            ),
        ),
        (
            payload("UserPromptSubmit", prompt="/context:save a b"),
            PromptSubmitted(**COMMON, text="/context:save a b", kind=PromptKind.USER),
        ),
        (
            payload("SubagentStop"),
            SubagentStopped(**COMMON, agent="a1", agent_type="Explore", message="Found it"),
        ),
        (payload("Stop"), TurnStopped(**COMMON, message="Done")),
        (payload("StopFailure"), TurnStopped(**COMMON, message="API Error: 500")),
        (payload("PreCompact"), CompactionAnnounced(**COMMON, trigger="manual")),
        (
            payload("PreCompact", trigger="auto", custom_instructions="keep the plan"),
            CompactionAnnounced(**COMMON, trigger="auto", instructions="keep the plan"),
        ),
        (
            payload("PostCompact"),
            Compacted(**COMMON, trigger="manual", summary="What was done"),
        ),
        (payload("SessionEnd", reason="clear"), SessionEnded(**COMMON, reason="clear")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_kind_becomes_its_event(value: dict[str, Any], expected: Event) -> None:
    assert event_of(value, client_pid="4711") == expected


def test_a_tool_call_becomes_one_event() -> None:
    value = tool_payload(
        "Read",
        {"file_path": "src/../a.txt"},
        {"type": "text", "file": {"filePath": f"{CWD}/a.txt", "content": "alpha\n"}},
        agent_id="a1",
        duration_ms=17,
    )
    assert event_of(value) == ToolFinished(
        **COMMON,
        agent="a1",
        tool="Read",
        tool_use_id="toolu_01",
        input={"file_path": "src/../a.txt"},
        content="alpha\n",
        paths=(f"{CWD}/a.txt",),
        duration_ms=17,
    )


def test_a_failed_call_has_the_error_as_its_content() -> None:
    event = event_of(payload("PostToolUseFailure", tool_input={"command": "false"}))
    assert isinstance(event, ToolFinished)
    assert (event.failed, event.content, event.input) == (True, "Exit code 1", {"command": "false"})


def test_an_interrupted_call_without_a_word_says_so() -> None:
    event = event_of(payload("PostToolUseFailure", error="", is_interrupt=True))
    assert isinstance(event, ToolFinished)
    assert event.content == "[interrupted]"


@pytest.mark.parametrize(
    "kind",
    ["Notification", "PreToolUse", "PostToolBatch", "TaskCreated", "Setup", "SomethingNew"],
)
def test_other_kinds_carry_nothing(kind: str) -> None:
    assert event_of(payload(kind)) is None
    assert event_of(payload(kind, session_id=MISSING)) is None


@pytest.mark.parametrize("name", [MISSING, "", None, 5, ["Stop"]])
def test_a_payload_without_a_kind_is_no_event(name: object) -> None:
    with pytest.raises(PayloadError):
        event_of(payload("Stop", hook_event_name=name))


@pytest.mark.parametrize("session_id", [MISSING, None, ""])
def test_a_recorded_kind_needs_a_session(session_id: object) -> None:
    with pytest.raises(PayloadError):
        event_of(payload("Stop", session_id=session_id))


def test_an_agent_id_is_made_safe_like_a_session_id() -> None:
    event = event_of(payload("Stop", agent_id="../up"))
    assert event is not None
    assert event.agent == session_key("../up")


@pytest.mark.parametrize(
    "kind",
    [
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "SubagentStop",
        "Stop",
        "PreCompact",
        "PostCompact",
        "SessionEnd",
        "CtxTasks",
        "CtxObserved",
    ],
)
def test_a_kind_alone_makes_an_empty_event(kind: str) -> None:
    event = event_of({"hook_event_name": kind, "session_id": SESSION})
    assert event is not None
    assert (event.session, event.agent, event.prompt_id) == (SESSION, "", "")


@pytest.mark.parametrize("duration", [-1, True, "5", None, [1]])
def test_a_duration_that_is_none_is_left_out(duration: object) -> None:
    event = event_of(tool_payload("Bash", {}, {}, duration_ms=duration))
    assert isinstance(event, ToolFinished)
    assert event.duration_ms is None


def test_nesting_too_deep_for_us_is_a_payload_error() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(PayloadError):
        to_event(tool_payload("X", {}, deep), id="e1", at=AT)
    with pytest.raises(PayloadError):
        to_event(payload("Stop", session_id=deep), id="e1", at=AT)


# --- our own kinds -----------------------------------------------------------------------

CHANGES = (
    TaskChange(
        subject="Fix login", description="", status=TaskStatus.ACTIVE, blocked_by=("2", "3")
    ),
    TaskChange(number=2, status=TaskStatus.DONE),
    TaskChange(key="7", subject="Renamed", blocks=("8",)),
    TaskChange(number=0),
)


def test_task_changes_of_a_verb_come_back_whole() -> None:
    event = event_of(task_payload(SESSION, CHANGES, agent="a1"))
    expected = {**COMMON, "prompt_id": ""}
    assert event == TasksChanged(**expected, agent="a1", origin="ctx", changes=CHANGES)


def test_task_changes_that_address_no_task_are_left_out() -> None:
    changes = [None, 5, {}, {"status": "done"}, {"number": True}, {"key": 4, "status": "lost"}]
    event = event_of(payload("CtxTasks", changes=changes))
    assert isinstance(event, TasksChanged)
    assert event.changes == (TaskChange(key="4"),)


def test_an_observation_comes_back_whole() -> None:
    seen: dict[str, Any] = {
        "work_tree": "/w",
        "branch": "main",
        "head": "a" * 40,
        "previous": "s-0",
    }
    event = event_of(observed_payload(SESSION, **seen))
    assert event == Observed(**{**COMMON, "prompt_id": ""}, **seen)


# --- prompts -----------------------------------------------------------------------------

NOTIFICATION = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"


@pytest.mark.parametrize(
    "prompt",
    [
        NOTIFICATION,
        f"\n{NOTIFICATION}\n{NOTIFICATION}\n",
        f"{NOTIFICATION}\nRead the output file to retrieve the result: /tmp/tasks/b1.output",
        f"{NOTIFICATION}\nFull transcript available at: /tmp/tasks/b1.output",
        "<system-reminder>\nfoo <b>\n</system-reminder>",
        (
            "<local-command-caveat>Caveat</local-command-caveat>"
            "<local-command-stdout></local-command-stdout>"
        ),
        "<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>",
        '<teammate-message teammate_id="lead">go on</teammate-message>',
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
    ],
)
def test_what_only_the_client_writes_is_a_notice(prompt: str) -> None:
    assert prompt_kind(prompt) is PromptKind.NOTICE


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "fix it",
        "/context:save one two",
        "<command-name>/foo</command-name><command-args>x</command-args>",
        "<bash-input>ls</bash-input>",
        "<div>why is this not centred?</div>",
        "<system-reminder>x</system-reminder>\nand now fix it",
        f"why did I get this?\n{NOTIFICATION}",
        f"{NOTIFICATION}\nwhy did I get this?",
        "<task-notification> is what I see",
        "[Request interrupted by user] was shown, why?",
    ],
)
def test_what_a_person_may_have_typed_is_theirs(prompt: str) -> None:
    assert prompt_kind(prompt) is PromptKind.USER


def test_a_prompt_of_content_blocks_is_read_as_text() -> None:
    blocks = [{"type": "text", "text": "look"}, {"type": "text", "text": "here"}]
    event = event_of(payload("UserPromptSubmit", prompt=blocks))
    assert isinstance(event, PromptSubmitted)
    assert event.text == "look\nhere"


# --- payloads recorded from the client ---------------------------------------------------


@pytest.mark.skipif(not RECORDED.is_dir(), reason="no recorded payloads beside the repository")
def test_recorded_payloads_are_read() -> None:
    without_text = set()
    for sample in sorted(RECORDED.glob("*.json")):
        if sample.name.startswith("statusline"):
            continue
        value = json.loads(sample.read_bytes())["stdin"]
        event = event_of(value)
        kept = value["hook_event_name"].startswith(("PostToolUse", "Stop", "SubagentStop"))
        assert not kept or event is not None, sample.name
        if isinstance(event, ToolFinished):
            assert event.failed == (value["hook_event_name"] == "PostToolUseFailure"), sample.name
            assert event.tool_use_id == value["tool_use_id"]
            assert event.duration_ms == value["duration_ms"]
            if not event.content or event.content.startswith("{"):
                without_text.add(sample.name)
    assert without_text == set()
