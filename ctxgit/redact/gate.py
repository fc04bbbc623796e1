"""Secrets in text: every rule is looked for, and what any of them finds is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxgit.redact.matching import Text
from ctxgit.redact.rules import RULES, Rule
from ctxgit.text import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORTEST_TEXT = 8
"""Bytes below which no rule applies: ``pwd=abcd`` is the shortest secret with its name."""
PASSES = 4
"""A mark may make a neighbour readable as a secret; two passes are the most seen so far."""

Secret = tuple[int, int, str]


def redact(text: str) -> str:
    """Return ``text`` with every secret replaced by ``[redacted:<kind>]``.

    The same object if there is nothing to replace. Lone surrogates are replaced too, so that
    the result can be encoded. Never raises; the result redacted again is the same.
    """
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        text = replace_surrogates(text)
        raw = text.encode()
    if len(raw) < SHORTEST_TEXT:
        return text
    clean = raw
    for _ in range(PASSES):
        secrets = secrets_in(Text.of(clean))
        if not secrets:
            break
        clean = masked(clean, secrets)
    return text if clean is raw else clean.decode(errors="replace")


def secrets_in(text: Text, rules: Sequence[Rule] = RULES) -> list[Secret]:
    """Return start, end and kind of every secret, in order; those that overlap are one."""
    found = sorted(
        (start, -end, rank, rule.kind)
        for rank, rule in enumerate(rules)
        for start, end in rule.spans(text)
    )
    merged: list[Secret] = []
    for start, end, _, kind in found:
        if merged and start < merged[-1][1]:
            begin, until, kept = merged[-1]
            merged[-1] = (begin, max(until, -end), kept)
        else:
            merged.append((start, -end, kind))
    return merged


def masked(raw: bytes, secrets: list[Secret]) -> bytes:
    """Return ``raw`` with a mark in the place of each of ``secrets``, which are in order."""
    parts, done = [], 0
    for start, end, kind in secrets:
        parts += [raw[done:start], mark(kind).encode()]
        done = end
    return b"".join([*parts, raw[done:]])


def mark(kind: str) -> str:
    """Return what stands for a secret."""
    return f"[redacted:{kind}]"
