"""Small pure tools for text: names made of text, first lines, clean strings."""

from __future__ import annotations

import re
import unicodedata

SLUG_LENGTH = 40
_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # marks that reorder a line on screen
)


def slugify(text: str, *, default: str = "untitled") -> str:
    """Return ``text`` as a name for a folder or a ref, in any language.

    Lower case, words joined by ``-``, at most ``SLUG_LENGTH`` characters, never empty and
    always a valid part of a git ref: letters and digits of every script stay, with the
    marks that some scripts write their vowels with.
    """
    words = _words(unicodedata.normalize("NFKC", text).casefold())
    if len(words) > SLUG_LENGTH:
        cut = words[: SLUG_LENGTH + 1]
        words = cut.rsplit("-", 1)[0] if "-" in cut[SLUG_LENGTH // 2 :] else words[:SLUG_LENGTH]
    return words.strip("-") or default


def _words(text: str) -> str:
    """Return the words of ``text`` joined by ``-``, composed (NFC)."""
    kept = [""]
    for character in text:
        if character.isalnum() or (kept[-1] and _is_vowel_or_accent(character)):
            kept[-1] += character
        elif kept[-1]:
            kept.append("")
    return unicodedata.normalize("NFC", "-".join(kept)).strip("-")


def _is_vowel_or_accent(character: str) -> bool:
    is_variant = "\ufe00" <= character <= "\ufe0f"  # of how the one before it is drawn
    return unicodedata.category(character) in {"Mn", "Mc"} and not is_variant


def is_safe_id(text: str) -> bool:
    """Whether ``text`` can stand in a file name and a ref as it is."""
    return _SAFE_ID.fullmatch(text) is not None


def one_line(text: str, limit: int) -> str:
    """Return ``text`` as one line of at most ``limit`` characters, control characters gone.

    The first line that is not blank; an ellipsis shows that there was more.
    """
    lines = (_CONTROL.sub(" ", line.replace("\t", " ")).strip() for line in text.splitlines())
    said = (line for line in lines if line)
    first, more = next(said, ""), next(said, "")
    if more and len(first) <= limit - 2:
        return f"{first} …"
    if more or len(first) > limit:
        return first[: limit - 1].rstrip() + "…"
    return first


def replace_surrogates(text: str) -> str:
    """Return ``text`` with lone surrogates replaced, so that it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def printable(text: str, *, lines: bool = False) -> str:
    """Return ``text`` without characters that steer a terminal; line breaks stay on demand."""
    if lines:
        return "\n".join(_CONTROL.sub("\ufffd", line) for line in text.split("\n"))
    return _CONTROL.sub("\ufffd", text.replace("\n", " "))


def counted(number: int, word: str) -> str:
    """Return ``number`` and ``word``, which takes an s unless there is one of it."""
    return f"{number} {word}{'s' * (number != 1)}"
