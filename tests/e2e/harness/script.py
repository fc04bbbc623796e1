"""What the scripted model says: steps, and the choice of the step for a request.

A script has a key and steps. The newest user text that contains a key picks its script (of
several keys in one text, the one that stands last); the n-th assistant reply after that text
is the script's n-th step. The place is read off the request itself, so that retries,
subagents and task notifications stay in step.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Json: TypeAlias = dict[str, Any]
Kind = Literal["main", "compact", "title", "other"]

SUMMARY = "<analysis>Read it all.</analysis>\n<summary>\nWhat was said so far.\n</summary>"
TITLE = '{"title": "A scripted session"}'
DEFAULT = "Done."

# How client 2.1.332 asks: seen in its requests.
_COMPACTION = re.compile(
    r"create a detailed summary of (?:the|this) conversation|"
    r"detailed summary of the RECENT portion"
)
_TITLE = re.compile(r"\btitle\b")
_REMINDER = "<system-reminder>"


@dataclass(frozen=True)
class ToolUse:
    """One tool call of a reply. ``id`` is made up by the model when empty."""

    name: str
    input: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True)
class Step:
    """One reply of the model.

    ``usage`` overrides figures of the API's usage object, in tokens; the rest is estimated.
    ``delay`` is how long the model thinks, in seconds.
    """

    text: str = ""
    tools: tuple[ToolUse, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    delay: float = 0


def use(tool: str, **arguments: object) -> Step:
    """Return a reply that only calls one tool."""
    return Step(tools=(ToolUse(tool, arguments),))


@dataclass(frozen=True)
class Playbook:
    """Everything the model can say: scripts by key, and replies outside any script."""

    scripts: Mapping[str, Sequence[Step]] = field(default_factory=dict)
    compact: str = SUMMARY
    title: str = TITLE
    default: str = DEFAULT

    def save(self, path: Path) -> None:
        """Write the playbook as JSON, at once: the server reads it at every request."""
        temporary = path.with_suffix(".new")
        temporary.write_text(json.dumps(asdict(self)), encoding="utf-8")
        temporary.replace(path)

    @classmethod
    def load(cls, path: Path) -> Playbook:
        """Read what ``save`` wrote."""
        data = json.loads(path.read_text(encoding="utf-8"))
        scripts = {
            key: tuple(_step_from(step) for step in steps)
            for key, steps in data.pop("scripts").items()
        }
        return cls(scripts=scripts, **data)

    def answer(self, body: Json) -> Step:
        """Return the reply to the request ``body``."""
        asked = request_kind(body)
        if asked == "compact":
            return Step(self.compact)
        if asked == "title":
            return Step(self.title)
        return self._scripted(body.get("messages", [])) or Step(self.default)

    def _scripted(self, messages: Sequence[Json]) -> Step | None:
        for at in range(len(messages) - 1, -1, -1):
            key = self._key(messages[at])
            if key:
                replies = sum(message["role"] == "assistant" for message in messages[at + 1 :])
                steps = self.scripts[key]
                return steps[replies] if replies < len(steps) else None
        return None

    def _key(self, message: Json) -> str:
        if message["role"] != "user":
            return ""
        text = "\n".join(text for text in message_texts(message) if not text.startswith(_REMINDER))
        return max((key for key in self.scripts if key in text), key=text.rfind, default="")


def request_kind(body: Json) -> Kind:
    """Return what a request is for: the conversation, its compaction, its title, or else."""
    messages = body.get("messages", [])
    if messages and _COMPACTION.search("\n".join(message_texts(messages[-1]))):
        return "compact"
    if body.get("tools"):
        return "main"
    return "title" if _TITLE.search(system_text(body)) else "other"


def message_texts(message: Json) -> list[str]:
    """Return the text blocks of a message, without tool results."""
    content = message["content"]
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if block["type"] == "text"]


def system_text(body: Json) -> str:
    """Return the request's system prompt as one text."""
    system = body.get("system") or ""
    return system if isinstance(system, str) else "\n".join(block["text"] for block in system)


def model_text(body: Json) -> str:
    """Return all that the model saw of the conversation, roles marked, one block a line."""
    lines = []
    for message in body.get("messages", []):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        lines += [f"[{message['role']}] {_block_text(block)}" for block in blocks]
    return "\n".join(lines)


def _block_text(block: Json) -> str:
    match block["type"]:
        case "text":
            return str(block["text"])
        case "tool_use":
            return f"{block['name']} {json.dumps(block['input'])}"
        case "tool_result":
            mark = "error: " if block.get("is_error") else "result: "
            content = block.get("content", "")
            return mark + (content if isinstance(content, str) else json.dumps(content))
        case other:
            return f"({other})"


def _step_from(data: Json) -> Step:
    tools = tuple(ToolUse(**tool) for tool in data.pop("tools"))
    return Step(tools=tools, **data)
