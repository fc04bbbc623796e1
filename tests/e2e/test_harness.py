"""The harness without the client: scripts, the stream, and the end of everything."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import sandbox
from harness.mock_api import PLAYBOOK, message, stream
from harness.sandbox import Sandbox
from harness.script import Playbook, Step, ToolUse, model_text, request_kind, use
from harness.terminal import input_box
from harness.waiting import eventually

PLAY = Playbook(scripts={"left": (Step("L0"), Step("L1")), "right": (Step("R0"),)})


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def returned(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "content": text}]}


@pytest.mark.parametrize(
    ("messages", "reply"),
    [
        ([said("user", "go left")], "L0"),
        ([said("user", "go left"), said("assistant", "L0"), returned("right")], "L1"),
        ([said("user", "left"), said("assistant", "L0"), said("user", "right")], "R0"),
        ([said("user", "left, no: right")], "R0"),
        ([said("user", "right, no: left")], "L0"),
        ([said("user", "right"), said("assistant", "R0"), said("user", "more")], "Done."),
        ([said("user", "<system-reminder>left</system-reminder>")], "Done."),
        ([said("assistant", "left")], "Done."),
    ],
)
def test_the_newest_key_picks_the_script_and_replies_its_step(
    messages: list[dict[str, Any]], reply: str
) -> None:
    assert PLAY.answer({"tools": [{}], "messages": messages}) == Step(reply)


def test_kinds_of_requests() -> None:
    conversation = {"tools": [{}], "messages": [said("user", "hi")]}
    ask = "Your task is to create a detailed summary of the conversation so far."
    compaction = {"tools": [{}], "messages": [said("user", "hi"), said("user", ask)]}
    title = {"system": [{"type": "text", "text": "Write a title."}], "messages": []}
    bodies: list[dict[str, Any]] = [conversation, compaction, title, {"messages": []}]
    kinds = [request_kind(body) for body in bodies]
    assert kinds == ["main", "compact", "title", "other"]
    play = Playbook(compact="short", title="named")
    assert play.answer(compaction).text == "short"
    assert play.answer(title).text == "named"


def test_a_playbook_survives_its_file(tmp_path: Path) -> None:
    step = Step("t", (ToolUse("Read", {"file_path": "ü"}, "toolu_1"),), {"input_tokens": 1}, 0.5)
    play = Playbook(scripts={"k": (step, use("Bash", command="ls"))}, title="T")
    play.save(tmp_path / "play.json")
    assert Playbook.load(tmp_path / "play.json") == play


def test_a_streamed_message_adds_up_to_the_whole() -> None:
    reply = message({"model": "m"}, Step("Hi", (ToolUse("Read", {"file_path": "a"}, "toolu_1"),)))
    events = list(stream(reply))
    assert [event["type"] for event in events if "index" not in event] == [
        "message_start",
        "message_delta",
        "message_stop",
    ]
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert deltas[0]["text"] == "Hi"
    assert json.loads(deltas[1]["partial_json"]) == {"file_path": "a"}
    assert events[-2]["delta"]["stop_reason"] == "tool_use"


def test_model_text_marks_roles_and_errors() -> None:
    failed = {"type": "tool_result", "content": "gone", "is_error": True}
    body: dict[str, Any] = {"messages": [said("user", "hi"), {"role": "user", "content": [failed]}]}
    assert model_text(body) == "[user] hi\n[user] error: gone"


def test_the_input_box_is_between_the_last_two_rules() -> None:
    rule = "─" * 40
    assert input_box(f"> old\n{rule}\n> new\n{rule}\nmode") == "\n> new\n"
    assert input_box("a dialog") == "a dialog"


@pytest.mark.parametrize("namespaces", [True, False])
def test_nothing_outlives_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, namespaces: bool
) -> None:
    if namespaces and sandbox.namespace_options() is None:
        pytest.skip("namespaces are not allowed here")
    if not namespaces:
        monkeypatch.setattr(sandbox, "namespace_options", lambda: None)
    Playbook().save(tmp_path / PLAYBOOK)
    with Sandbox(tmp_path) as room:
        daemon = ["sh", "-c", "setsid sleep 600 >/dev/null 2>&1 &"]
        subprocess.run(room.command(daemon, {"PATH": "/usr/bin:/bin"}, tmp_path), check=True)
        assert eventually(lambda: list(room.processes().values()) == ["sleep 600"])
        (daemon_pid,) = room.processes()
    assert not command_line(daemon_pid)


def command_line(pid: int) -> str:
    """Return a process's command line, empty when it has ended, even if nobody buried it."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
