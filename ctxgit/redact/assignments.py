"""Values that are secret because of their name: ``NAME=…``, ``"name": "…"``, ``--name …``.

A name alone is no proof: ``token = next(tokens)`` assigns code, ``password: str`` a type. So
the value is judged: a quoted one unless it is plainly no secret, a bare one by its form and by
where it stands.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from ctxgit.redact.matching import ALPHANUMERIC, Span, Text, compiled, first

if TYPE_CHECKING:
    import re

SHORTEST_VALUE = 4
LONGEST_NAME = 96
LONGEST_JUDGED = 128
"""Bytes of a bare value that are judged; a secret is masked to its end all the same."""

_WORD = (
    rb"(?P<word>passw(?:or)?d|passphrase|passcode|pass|pwd|secret|token|credentials?"
    rb"|auth(?:orization)?|connection[ _.-]?string|key)"
    rb"(?:[_-]?(?:value|string|text|str|hash|base64|base|b64|hex|raw|production|prod|dev|staging"
    rb"|live|test|default|new|old|current|confirmation|confirm|v?\d{1,3}))*+"
)
ASSIGNMENT = (
    _WORD + rb"(?:\\{0,7}[\"'`]\]?)?(?P<sep>[ \t]{0,40}(?:=>|[:?]=|=(?![=~>])|>|,(?=[ \t]?\\*[\"'])"
    rb"|:[ \t]{0,4}[a-z][\w.\[\]|]{0,40}[ \t]{1,4}=(?=[ \t]{0,4}[\"'])|:(?![:=]))[ \t]{0,40}"
    rb"|[ \t]{1,4})(?:(?P<format>f)?b?(?P<quote>\\{0,7}(?:\"{3}|'{3}|[\"'`])))?"
    rb"(?P<scheme>(?:bearer|basic|token|digest|apikey|negotiate)[ ]+)?"
)
_KEY_HEADS = tuple(
    b"api access private secret signing signature encryption encrypt account master auth service"
    b" storage consumer deploy ssh admin webhook subscription jwt hmac app".split()
)
_PLAIN_WORDS = frozenset(
    b"true false none null undefined default required optional enabled disabled unset unknown"
    b" empty missing present string bytes bool boolean integer number float object char array"
    b" list dict text any self token password secret bearer basic digest negotiate apikey"
    b" authentication authorization credentials auth tokens passwords hidden masked redacted"
    b" read write admin files compat int32 int64 uint8 uint16 uint32 uint64 float64 uint8array"
    b" inherit prompt input stdin value values type types".split()
)
_FLAG_PROSE = frozenset(
    b"and are but can flag flags for from has into may must not option options argument arguments"
    b" should that the this use using via was when which will with you your".split()
)
_FIELD = rb"(?:\$\{[^{}]*\}|\{\{[^{}]*\}\}|\{[^{}]*\}|%\([\w.]+\)s|%[a-z])"
_PLACEHOLDER = (
    rb"(?:(?i:bearer|basic|token)[ ]+)?(?:(?:" + _FIELD + rb"[:@/ ._-]*)+|<[^<>]*>|\[[\w :-]*\]"
    rb"|\$\([^()]*\)|%\w+%|\$[A-Z_][A-Z0-9_]*|\$\w*(?i:pass|pwd|secret|token|key)\w*"
    rb"|[xX*.#?_-]+|(?:\xe2\x80\xa6|\xe2\x80\xa2)+|#[0-9A-Fa-f]{3,8}"
    rb"|(?i:your|insert|enter|replace)[a-zA-Z _-]{1,30})"
)
_REFERENCES = (b"$", b"{", b"<", b"%", b"[", b"(")
_CODE = rb"[A-Za-z_][\w.]*(?:[(\[{]|::|->)|&?\w+::"
_DOTTED = rb"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"
_RANDOM = rb"(?=\D*+\d)(?=[^A-Za-z]*+[A-Za-z])\S{16,}+"
_BARE_BYTE = rb"[^\s\"'`\\<>]"
_BARE = (
    _BARE_BYTE + rb"{0,%d}+(?:\\(?![nrt\"'\\])" % LONGEST_JUDGED + _BARE_BYTE + rb"{0,64}+){0,4}+"
)
_BARE_REST = rb"(?:" + _BARE_BYTE + rb"++|\\(?![nrt\"'\\]))*+"
_ELEMENT = rb"[^\s<>]{1,200}</"
_LINE_END = rb"[ \t]+#|[ \t]*(?:[\r\n\"'`]|\\[nr\"']|\Z)"
_LINE_LEADS = frozenset({b"", b"export", b"set", b"env", b"setx", b"declare", b"local", b"$env"})
_LINE_FURNITURE = b" \t\r0123456789+-#>:|\xe2\x86\x92"
"""What stands before a line's own text: list marks, and the line numbers of listings."""


# --- names --------------------------------------------------------------------------------


def secret_word(key: str) -> bytes:
    """Return the word by which a key names a secret, in any style of writing; or empty."""
    return _last_secret_word(key[-LONGEST_NAME:])


@lru_cache(maxsize=1024)
def _last_secret_word(key: str) -> bytes:
    raw = key.encode(errors="replace")
    text = Text(raw, raw.lower())
    found = compiled(rb"(?:" + _WORD + rb"|cookies?)\Z").search(text.folded)
    if not found:
        return b""
    word = found["word"] or b"cookie"
    return word if _names_secret(text, found.start(), word) else b""


def _names_secret(text: Text, at: int, word: bytes) -> bool:
    """Whether the word at ``at`` names a secret there: ``api_key`` but not ``sort_key``."""
    before = text.folded[max(0, at - 16) : at]
    if word == b"key":
        return before.rstrip(b"_-. ").endswith(_KEY_HEADS)
    if word not in {b"pass", b"pwd", b"auth"} or not before[-1:].isalpha():
        return True
    is_camel = text.raw[at : at + 1].isupper() and text.raw[at - 1 : at].islower()
    return is_camel or before[-2:-1] == b"\\"


# --- values -------------------------------------------------------------------------------


def is_plain(value: bytes, word: bytes, shortest: int = SHORTEST_VALUE) -> bool:
    """Whether the value of a name with ``word`` in it is plainly not a secret.

    Too short, a common word, a placeholder; under ``auth``, whatever does not look random,
    and under ``pwd`` the working directory.
    """
    if len(value) < shortest or value.lower() in _PLAIN_WORDS:
        return True
    if word == b"auth" and not _looks_random(value):
        return True
    if word == b"pwd" and value[:1] in b"/~":
        return True
    if value.isdigit():
        return len(value) < shortest + 2
    return len(value) <= LONGEST_NAME and compiled(_PLACEHOLDER).fullmatch(value) is not None


def _looks_random(value: bytes) -> bool:
    """Whether a value has letters and digits, no space, and is 16 bytes or longer."""
    return compiled(_RANDOM).fullmatch(value) is not None


def assigned(text: Text, match: re.Match[bytes]) -> Span | None:
    """Return the span of the value given to the name that ``match`` found, if it is a secret."""
    at = match.start()
    if not _names_secret(text, at, match["word"]):
        return None
    before = text.folded[max(0, at - LONGEST_NAME) : at]
    lead = before.rstrip(ALPHANUMERIC + b"_-.")
    head, sep = before[len(lead) :], match["sep"].strip()
    is_flag = head.startswith(b"--")
    is_constant = text.raw[at : match.end("word")].isupper()
    if (sep == b"" and not is_flag) or (sep == b"," and not (is_flag or is_constant)):
        return None
    if sep == b">" and not (lead.endswith(b"<") and first(_ELEMENT, text.raw, match.end())):
        return None
    return _quoted(text.raw, match) if match["quote"] else _bare(text.raw, match, head, lead)


# --- quoted values ------------------------------------------------------------------------


def _quoted(raw: bytes, match: re.Match[bytes]) -> Span | None:
    """Return the span of a quoted value; one that is cut off must look random."""
    start = match.end()
    end = _closing(raw, match["quote"], start)
    value = raw[start:end]
    if end < 0 or b"\n" in value:
        value = first(_BARE, raw, start)
        return (start, _run_end(raw, start, value)) if _looks_random(value) else None
    is_prompt = b" " in value and value.rstrip().endswith((b":", b"?", b"."))
    is_code = value[:1] in b" +,;:)]}&|" or (match["format"] is not None and b"{" in value)
    is_link = value.startswith((b"http://", b"https://", b"arn:"))
    is_option = b"," in match["sep"] and is_about_flag(value)
    if is_prompt or is_code or is_link or is_option or is_plain(value, match["word"]):
        return None
    return start, end


def _closing(raw: bytes, quote: bytes, start: int) -> int:
    """Return where the value opened by ``quote`` ends, -1 if it never does.

    Each level of JSON in JSON doubles backslashes and adds one, so a value opened after 0, 1,
    3 or 7 of them is closed by a quote after as many, or as many more as quoted backslashes
    leave; a quote inside the value has more, one outside fewer.
    """
    depth = quote.count(b"\\")
    end = raw.find(quote[depth:], start)
    while end >= 0:
        before = raw[max(start, end - LONGEST_NAME) : end]
        slashes = len(before) - len(before.rstrip(b"\\"))
        if slashes < depth or slashes % (2 * depth + 2) == depth:
            return end - min(slashes, depth)
        end = raw.find(quote[depth:], end + 1)
    return -1


# --- bare values --------------------------------------------------------------------------


class _Place(IntEnum):
    """How sure a bare value is one, by where it stands."""

    LOOSE = 0
    LINE = 1  # alone on its line, as in YAML and INI
    INLINE = 2  # after a flag, in a query, in an element, before a command
    SHELL = 3  # alone on a line of an environment file, or in quotes with its name


_VALUES = {
    _Place.LOOSE: rb"[^&;,|)}\]]*+",
    _Place.LINE: rb"[\s\S]*+",
    _Place.INLINE: rb"[^&;|#]*+",
    _Place.SHELL: rb"[\s\S]*+",
}
"""How far a bare value goes, by its place."""


def _bare(raw: bytes, match: re.Match[bytes], head: bytes, lead: bytes) -> Span | None:
    """Return the span of an unquoted value."""
    start, word, is_flag = match.end(), match["word"], head.startswith(b"-")
    value = first(_BARE, raw, start)
    place = _place(raw, match, head, lead, start + len(value))
    value = first(_VALUES[place], value)
    if place == _Place.INLINE:
        value = value.rstrip(b")]},.")
    is_colon = b":" in match["sep"]
    if value.startswith(_REFERENCES) or compiled(_CODE).match(value):
        return None
    if is_plain(value, word, SHORTEST_VALUE - is_flag):
        return None
    if (is_flag and is_about_flag(value)) or (is_colon and head + word == b"pass"):
        return None
    if word == b"authorization":
        is_secret = bool(match["scheme"]) or _looks_random(value)
    else:
        is_secret = _is_secret(value, match, place, head + word)
    return (start, _run_end(raw, start, value)) if is_secret else None


def _place(raw: bytes, match: re.Match[bytes], head: bytes, lead: bytes, end: int) -> _Place:
    """Return where a bare value stands, of which a first look ends at ``end``."""
    sep = match["sep"]
    if head.startswith(b"--") or (head.startswith(b"-") and sep == b"="):
        return _Place.INLINE
    if sep in {b"=", b">"} and lead.endswith((b"?", b"&", b";", b"<")):
        return _Place.INLINE
    line = lead.replace(b"\\n", b"\n").rpartition(b"\n")[2]
    in_quotes = lead.endswith((b'"', b"'", b"`"))
    is_constant = raw[match.start() - len(head) : match.start("sep")].isupper()
    closed = compiled(_LINE_END).match(raw, end) and raw[end - 1 : end] not in b",;)"
    if not closed or not (in_quotes or line.strip(_LINE_FURNITURE) in _LINE_LEADS):
        return _Place.INLINE if sep == b"=" and is_constant else _Place.LOOSE
    in_shell = in_quotes or is_constant or not line.isspace()
    return _Place.SHELL if sep == b"=" and in_shell else _Place.LINE


def is_about_flag(value: bytes) -> bool:
    """Whether what follows a flag is the next flag, its metavariable or prose about it."""
    is_metavariable = value.isupper() and value.replace(b"_", b"").isalpha()
    return is_metavariable or value[:1] == b"-" or value.lower() in _FLAG_PROSE


def _is_secret(value: bytes, match: re.Match[bytes], place: _Place, name: bytes) -> bool:
    """Whether a bare value is a secret rather than a name, a type, a word or a path."""
    word, is_colon = match["word"], b":" in match["sep"]
    if value.isdigit():
        return word.startswith(b"p")
    if b"://" in value or (is_colon and value[:1] in b"*&!"):
        return False
    if not compiled(rb"\w+").fullmatch(value):
        return _is_mixed_secret(value, word, place)
    if place >= _Place.INLINE:
        return not name.endswith(value.lower())
    if word in value.lower():
        return False
    if compiled(rb"\D*+\d").match(value):
        return len(value) >= SHORTEST_VALUE + 2
    return place == _Place.LINE and is_colon and value.islower()


def _is_mixed_secret(value: bytes, word: bytes, place: _Place) -> bool:
    """Whether a bare value that is not one word is a secret."""
    if value[:1] in b"/~." or value[1:3] == b":\\":
        return _looks_random(value) and b"." not in value and value.count(b"/") * 12 < len(value)
    if place >= _Place.INLINE:
        return word not in value.lower() or not compiled(_DOTTED).fullmatch(value)
    if compiled(_DOTTED).fullmatch(value):
        return False
    if compiled(rb"\D*+\d").match(value):
        return len(value) >= SHORTEST_VALUE + 2
    return place == _Place.LINE and len(value) >= 3 * SHORTEST_VALUE


def _run_end(raw: bytes, start: int, value: bytes) -> int:
    """Return where the bare value that begins with ``value`` ends."""
    end = start + len(value)
    if len(value) < LONGEST_JUDGED:
        return end
    return end + len(first(_BARE_REST, raw, end))
