"""The demo's recorded session is whole, ordered and says nothing of the machine it came from."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DEMO = Path(__file__).parents[2] / "demo"
FILES = sorted((DEMO / "session").iterdir())
SESSION = [json.loads(file.read_text(encoding="utf-8")) for file in FILES]


def tools(event: str, tool: str) -> list[dict[str, Any]]:
    stdins = [record["stdin"] for record in SESSION if record["event"] == event]
    return [stdin for stdin in stdins if stdin["tool_name"] == tool]


def test_files_are_numbered_and_named_by_their_event() -> None:
    expected = [f"{n:04d}-{record['event']}.json" for n, record in enumerate(SESSION, start=1)]
    assert [file.name for file in FILES] == expected
    assert all(record["event"] == record["stdin"]["hook_event_name"] for record in SESSION)
    assert len({(record["pid"], record["stdin"]["session_id"]) for record in SESSION}) == 1


def test_the_story_in_its_turns() -> None:
    turning = {"PostToolUse", "PostToolUseFailure", "SubagentStop"}
    assert [record["event"] for record in SESSION if record["event"] not in turning] == [
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "UserPromptSubmit",
        "Stop",
        "PreCompact",
        "SessionStart",
        "PostCompact",
        "UserPromptSubmit",
        "Stop",
        "SessionEnd",
    ]
    updates = [
        (stdin["tool_input"]["taskId"], stdin["tool_input"]["status"])
        for stdin in tools("PostToolUse", "TaskUpdate")
    ]
    assert updates == [
        ("1", "in_progress"),
        ("1", "completed"),
        ("2", "in_progress"),
        ("2", "completed"),
    ]
    assert len(tools("PostToolUseFailure", "Bash")) == 1
    assert sum("agent_id" in stdin for stdin in tools("PostToolUse", "Read")) == 2


def test_the_recorder_asks_for_what_was_recorded() -> None:
    hooks = json.loads((DEMO / "recorder" / "hooks" / "hooks.json").read_text(encoding="utf-8"))
    assert set(hooks["hooks"]) == {record["event"] for record in SESSION}


def test_placeholders_stand_for_machine_and_secret() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in FILES)
    assert set(re.findall(r"(?<!\$)\{\w+\}", text)) == {"{project}", "{home}", "{key}"}
    assert not re.search(r"/(?:tmp|root|home|Users|var)/(?!claude-)", text)
    assert not re.search(r"AKIA[0-9A-Z]{16}", text)
