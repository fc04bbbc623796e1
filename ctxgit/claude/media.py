"""Taking what is not text out of JSON: images, sound, documents, binary output.

Each is replaced, where it stood, by one line such as
``[image/png, 12,345 bytes, sha256 0123abcd…]`` and described by a :class:`Media`.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from collections.abc import Mapping

from ctxgit.claude.fields import text
from ctxgit.model import Json, Media

UNKNOWN_TYPE = "application/octet-stream"
SHOWN_DIGITS = 8
"""Hex digits of the digest that the line in the text shows."""
CONTROL_SHARE = 1 / 3
"""Above this share of control and replacement characters a string is not text: the rule of
Perl's ``-B`` (perldoc -f -X), but for a single NUL, which ``find -print0`` prints too."""

_MEDIA_TYPE = re.compile(r"[\w.+-]{1,127}/[\w.+-]{1,127}")  # RFC 6838, 4.2
_PICTURE_OR_SOUND = re.compile(r"(?:image|audio|video|font)/")
_TEXTUAL_TYPE = re.compile(r"text/|.*(?:json|xml|yaml|toml|javascript|csv|form-urlencoded)")
_BASE64 = re.compile(r"[A-Za-z0-9+/_=\s-]+")
# One within a text stays: a style sheet that was read is kept as it is.
_DATA_URI = re.compile(
    r"\s*data:([\w.+-]{1,127}/[\w.+-]{1,127})?(?:;[\w=.+-]+)*;base64,([A-Za-z0-9+/_=\s-]+)"
)
# Backspace, tab, line ends, form feed and escape belong to what terminals print.
_NOT_TEXT = re.compile(r"[\x00-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")
_MAGIC = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF", "application/pdf"),
)


def media_line(media: Media) -> str:
    """Return the line that stands for ``media`` in a text."""
    return f"[{media.media_type}, {media.size:,} bytes, sha256 {media.sha256[:SHOWN_DIGITS]}…]"


def take_out(value: object) -> tuple[object, tuple[Media, ...]]:
    """Return ``value`` with every binary part replaced by its line, and what was taken out.

    ``value`` is JSON and stays as it is; the copy has the same shape, its objects and
    arrays are plain dicts and lists. Equal parts are listed once, in the order met.
    Raises RecursionError where ``value`` is nested too deeply.
    """
    found: dict[Media, None] = {}
    return _replace(value, found), tuple(found)


def _replace(value: object, found: dict[Media, None]) -> object:
    if isinstance(value, str):
        return _replace_in_text(value, found)
    if isinstance(value, (list, tuple)):
        return [_replace(each, found) for each in value]
    if not isinstance(value, Mapping):
        return value
    field = _binary_field(value)
    return {
        name: _line(_decoded(str(each)), _declared_type(value), found)
        if name == field
        else _replace(each, found)
        for name, each in value.items()
    }


def _binary_field(block: Json) -> str:
    """Return the name of the field that holds encoded bytes, empty if there is none.

    Known are the blocks of the model's API (``source`` of type base64), those of MCP
    (``data`` or ``blob`` beside ``mimeType``), the client's files (``base64``) and
    notebook outputs (``image_data``).
    """
    if text(block, "base64", "image_data"):
        return next(name for name in ("base64", "image_data") if text(block, name))
    declared = _declared_type(block)
    if text(block, "blob") and (declared or text(block, "uri")):
        return "blob"
    data = text(block, "data")
    if not data:
        return ""
    kind = block.get("type")
    known = kind in ("base64", "image", "audio", "video", "document") or _PICTURE_OR_SOUND.match(
        declared
    )
    guessed = declared and not _TEXTUAL_TYPE.match(declared) and _BASE64.fullmatch(data)
    return "data" if known or guessed else ""


def _declared_type(block: Json) -> str:
    names = ("mimeType", "mime_type", "media_type", "mediaType", "type")
    declared = (text(block, name) for name in names)
    return next((each for each in declared if _MEDIA_TYPE.fullmatch(each)), "")


def _replace_in_text(value: str, found: dict[Media, None]) -> str:
    if _is_binary(value):
        return _line(value.encode("utf-8", "surrogatepass"), "", found)
    if ";base64," in value and (uri := _DATA_URI.fullmatch(value)):
        return _line(_decoded(uri[2]), uri[1] or "", found)
    return value


def _is_binary(value: str) -> bool:
    if not _NOT_TEXT.search(value):
        return False
    return len(_NOT_TEXT.findall(value)) > CONTROL_SHARE * len(value)


def _line(data: bytes, declared: str, found: dict[Media, None]) -> str:
    sniffed = (name for magic, name in _MAGIC if data.startswith(magic))
    media = Media(
        sha256=hashlib.sha256(data).hexdigest(),
        media_type=declared or next(sniffed, UNKNOWN_TYPE),
        size=len(data),
    )
    found[media] = None
    return media_line(media)


def _decoded(encoded: str) -> bytes:
    """Return the bytes that ``encoded`` stands for, or its own where it is no base64."""
    compact = "".join(encoded.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return binascii.a2b_base64(compact + "=" * (-len(compact) % 4), strict_mode=True)
    except ValueError:
        return encoded.encode("utf-8", "surrogatepass")
