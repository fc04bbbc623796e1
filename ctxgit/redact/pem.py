"""Private keys in PEM and OpenPGP armour, also as listings, diffs and searches show them.

A key is looked at line by line, since each line may stand behind something: a line number, the
mark of a diff, a comment or a quote, the path that ``grep`` prints, an opening quote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxgit.redact.matching import Span, Text, compiled, first

if TYPE_CHECKING:
    import re

PEM_BEGIN = rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_END = rb"-----END [A-Z0-9 ]{1,40}(?:-----)?"
_BREAK = rb"[\r\n]\s*+|\\[nr]|[ \t](?=[A-Za-z0-9+/]{40})"
"""Where a line ends: also at an escaped newline, and in keys whose newlines became spaces."""

_COLOUR = rb"\x1b\[[\d;]{0,12}[mK]"
_FURNITURE = rb"(?:" + _COLOUR + rb"|[^A-Za-z0-9\x1b]++|\d{1,7}(?![A-Za-z0-9+/=]))*+"
_BEFORE = _FURNITURE + rb"(?:[^\s:]{1,200}[:-]" + _FURNITURE + rb")?"
"""What may stand before a line of a key; the second part is the path that a search prints."""
_AFTER = rb"(?:" + _COLOUR + rb"|[^A-Za-z0-9\x1b])*+"
_LINE = _BEFORE + rb"(?P<body>[A-Za-z0-9+/]{16,}+={0,2})" + _AFTER
_PADDED = _BEFORE + rb"(?P<body>[A-Za-z0-9+/]{1,64}+={1,2})" + _AFTER
_CUT = (
    rb"(?:" + _FURNITURE + rb"(?=[A-Za-z0-9+/]{1,64}=*[\s\"'\\]*\Z)|" + _BEFORE + rb"(?=\w{8}))"
    rb"(?P<body>[A-Za-z0-9+/]{1,64}+={0,2})[\s\"'\\]*+"
)
_CHECKSUM = rb"(?:\s{1,4}|\\[nr]){1,2}[ +>-]{0,4}=[A-Za-z0-9+/]{4}(?![A-Za-z0-9+/])"
_HEADER = _BEFORE + rb"[\w-]{4,10}: ?[\w.,() -]{1,80}" + _AFTER
_LONG = rb"[A-Za-z0-9+/]{40,}+"
_MIXED = rb"(?=[^A-Z]*+[A-Z])(?=[^a-z]*+[a-z])\D*+\d"
_REACH = 160
"""Bytes before a long run in its line, as of ``builder.append("…`` or a path with spaces."""
_SKIPPED = 4
"""Lines in a row that are none of a key's, as ``[12 lines cut]``, after which it may go on."""


def private_key(text: Text, match: re.Match[bytes]) -> Span | None:
    """Return the span of the key that ``match`` begins, None if no line of a key follows.

    It ends with its END line, whatever stands before that; if there is none before the next
    key, with its last line of data.
    """
    raw, (start, at) = text.raw, match.span()
    stop = raw.find(b"-----BEGIN", at)
    stop = len(raw) if stop < 0 else stop
    close = raw.find(b"-----END ", at, stop)
    if close < 0:
        end = _data_end(raw, at, stop, is_whole=False)
        return (start, end) if end >= 0 else None
    if _data_end(raw, at, close, is_whole=True) < 0:
        return None
    return start, max(close, close + len(first(_END, raw, close)))


def _data_end(raw: bytes, at: int, stop: int, *, is_whole: bool) -> int:
    """Return where the data of a key that begins at ``at`` ends, -1 if there is none.

    In a key that ``is_whole`` the first line of data is enough.
    """
    end, skipped, is_last = -1, 0, False
    while not is_last and skipped <= _SKIPPED:
        found = compiled(_BREAK).search(raw, at, stop)
        until = found.start() if found else stop
        is_last = found is None or found.end() == len(raw)
        data = _line_data(raw, at, until, follows=not skipped)
        if data < 0 <= end and not skipped:
            pattern = _CUT if is_last and stop == len(raw) else _PADDED
            data = _group_end(pattern, raw, at, until)
        if data >= 0:
            end, skipped = data, 0
        elif not compiled(rb"(?:" + _HEADER + rb"|" + _FURNITURE + rb")").fullmatch(raw, at, until):
            skipped += 1
        if end >= 0 and (is_whole or raw[end - 1 : end] == b"="):
            return end + len(first(_CHECKSUM, raw, end))
        at = found.end() if found else stop
    return end


def _line_data(raw: bytes, at: int, until: int, *, follows: bool) -> int:
    """Return where the data in a line ends, -1 if the line is none of a key's.

    One that ``follows`` the line before may be short; after a gap, or behind something unknown,
    it must be long and of letters in both cases and digits.
    """
    if follows:
        end = _group_end(_LINE, raw, at, until)
        if end >= 0:
            return end
    for run in compiled(_LONG).finditer(raw, at, min(until, at + 2 * _REACH)):
        if run.start() > at + _REACH:
            break
        if compiled(_MIXED).match(run[0]):
            return run.start() + len(first(rb"[A-Za-z0-9+/]++={0,2}", raw, run.start()))
    return -1


def _group_end(pattern: bytes, raw: bytes, at: int, until: int) -> int:
    match = compiled(pattern).fullmatch(raw, at, until)
    return match.end("body") if match else -1
