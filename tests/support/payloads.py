"""Builders of hook payloads with sane defaults, for tests."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SESSION = "0a1b2c3d-0000-4000-8000-000000000001"
CWD = "/home/user/project"
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MISSING = object()
"""Given as a field's value, the payload has no such field."""

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
PNG_BASE64 = base64.b64encode(PNG).decode()

_TOOL = {"tool_name": "Bash", "tool_input": {}, "tool_use_id": "toolu_01", "duration_ms": 5}
_DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "Fix the login"},
    "PostToolUse": {**_TOOL, "tool_response": {}},
    "PostToolUseFailure": {**_TOOL, "error": "Exit code 1", "is_interrupt": False},
    "SubagentStop": {
        "agent_id": "a1",
        "agent_type": "Explore",
        "stop_hook_active": False,
        "last_assistant_message": "Found it",
    },
    "Stop": {"stop_hook_active": False, "last_assistant_message": "Done"},
    "StopFailure": {"error": "unknown", "last_assistant_message": "API Error: 500"},
    "PreCompact": {"trigger": "manual", "custom_instructions": None},
    "PostCompact": {"trigger": "manual", "compact_summary": "What was done"},
    "SessionEnd": {"reason": "other"},
}


def payload(event: str, **fields: Any) -> dict[str, Any]:
    """Return a payload of kind ``event``; ``fields`` add to the defaults or replace them."""
    whole = {
        "session_id": SESSION,
        "transcript_path": f"/home/user/.claude/projects/p/{SESSION}.jsonl",
        "cwd": CWD,
        "prompt_id": "prompt-1",
        "hook_event_name": event,
        **_DEFAULTS.get(event, {}),
        **fields,
    }
    return {name: value for name, value in whole.items() if value is not MISSING}


def tool_payload(tool: str, tool_input: Any, response: Any, **fields: Any) -> dict[str, Any]:
    """Return the payload of a call that was done."""
    return payload(
        "PostToolUse", tool_name=tool, tool_input=tool_input, tool_response=response, **fields
    )


def spooled(value: object) -> bytes:
    """Return ``value`` as the client writes it to a hook."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
