"""The text of a response nothing else is known about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from ctxgit.claude.fields import items, mapping, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from ctxgit.model import Json

_TEXT_FIELDS = ("content", "text", "output", "result", "stdout")
_ASIDE = frozenset({"structuredContent", "_meta", "usage"})
"""Fields that repeat the text or are about its making."""
REMARK = 200
"""Characters up to which a field beside the text is a remark that need not be shown."""


def plain_text(value: object) -> str:
    """Return the text of ``value`` where it is clear what that is, else ``value`` as JSON.

    Clear are a string, a list of content blocks, and an object with one field of text
    (or of blocks) beside which there are only figures and remarks. Raises RecursionError
    where ``value`` is nested too deeply.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return blocks_text(value)
    found = _text_in(mapping(value))
    return pretty(value) if found is None else found


def blocks_text(value: object) -> str:
    """Return the texts of a list of content blocks, a line end between them.

    A block of an unknown kind is shown as JSON, a list without any block as a whole.
    """
    blocks = items(value)
    texts = [block_text(block) for block in blocks]
    if blocks and all(each is None for each in texts):
        return pretty(value)
    return "\n".join(
        pretty(block) if each is None else each for block, each in zip(blocks, texts, strict=True)
    )


def block_text(block: object) -> str | None:
    """Return the text of one content block (MCP's or the model API's), ``None`` if unknown.

    Images and the like are expected to be lines already (see :mod:`ctxgit.claude.media`).
    """
    if isinstance(block, str):
        return block
    fields = mapping(block)
    kind = text(fields, "type")
    if kind == "text" and fields.get("text") == "":
        return ""
    read = _BLOCKS.get(kind)
    return (read(fields) or None) if read else None


def pretty(value: object) -> str:
    """Return ``value`` as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=_plain)


def _text_in(fields: Json) -> str | None:
    block = block_text(fields)
    if block is not None:
        return block
    named = next((name for name in _TEXT_FIELDS if _is_text(fields.get(name))), None)
    if named is None:
        return None
    beside = (value for name, value in fields.items() if name != named and name not in _ASIDE)
    return plain_text(fields[named]) if all(map(_is_remark, beside)) else None


def _is_text(value: object) -> bool:
    blocks = items(value)
    return (isinstance(value, str) and value != "") or (
        bool(blocks) and all(block_text(block) is not None for block in blocks)
    )


def _is_remark(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= REMARK and "\n" not in value
    return not (isinstance(value, (Mapping, list, tuple)) and value)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _binary(fields: Json) -> str:
    return text(fields, "data") or text(mapping(fields.get("source")), "data", "url")


def _linked(fields: Json) -> str:
    return " ".join(filter(None, (text(fields, "name"), text(fields, "uri"))))


_BLOCKS: Mapping[str, Callable[[Json], str]] = MappingProxyType(
    {
        "text": lambda fields: text(fields, "text"),
        "resource": lambda fields: text(mapping(fields.get("resource")), "text", "blob"),
        "resource_link": _linked,
        "tool_reference": lambda fields: text(fields, "tool_name"),
        "image": _binary,
        "audio": _binary,
        "video": _binary,
        "document": _binary,
    }
)
