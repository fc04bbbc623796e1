"""The one gate that takes secrets out of text before anything is written to the store.

``redact`` and ``redact_json`` are the whole interface: a secret becomes ``[redacted:<kind>]``.
What a secret looks like is a table, :mod:`ctxgit.redact.rules`. A literal of a rule that does
not occur costs one substring search, and its pattern is never compiled.
"""

from __future__ import annotations

from typing import Any

from ctxgit.redact.assignments import is_plain, secret_word
from ctxgit.redact.matching import Text
from ctxgit.redact.rules import RULES
from ctxgit.text import replace_surrogates

__all__ = ["redact", "redact_json"]

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
        secrets = _secrets(Text.of(clean))
        if not secrets:
            break
        clean = _masked(clean, secrets)
    return text if clean is raw else clean.decode(errors="replace")


def redact_json(value: object) -> object:
    """Return a parsed JSON value with the secrets in its strings and keys replaced.

    A string under a key that names a secret is masked whole, unless it is plainly none. The
    structure stays, at any depth; keys that become equal are told apart by ``~2``, ``~3``, ….
    """
    root: list[object] = [None]
    # A node, the container and place its result goes to, the word by which its key names a
    # secret. The container is a list or a dict, the place an index or a key: no one type.
    work: list[tuple[object, Any, Any, bytes]] = [(value, root, 0, b"")]
    while work:
        node, parent, place, word = work.pop()
        if isinstance(node, str):
            parent[place] = _redact_named(node, word) if word else redact(node)
        elif isinstance(node, dict):
            keys = _redact_keys(node)
            parent[place] = fresh = dict.fromkeys(keys)
            work += [
                (item, fresh, key, secret_word(name) if isinstance(name, str) else b"")
                for key, (name, item) in zip(keys, node.items(), strict=True)
            ]
        elif isinstance(node, list | tuple):
            parent[place] = items = [None] * len(node)
            work += [(item, items, index, word) for index, item in enumerate(node)]
        else:
            parent[place] = node
    return root[0]


def _redact_named(value: str, word: bytes) -> str:
    """Return what stands for a string under a key that names a secret."""
    value = replace_surrogates(value)
    if is_plain(value.encode(), word) and redact(value) == value:
        return value
    return _mark("secret-value")


def _redact_keys(node: dict[object, object]) -> list[object]:
    """Return the keys of an object, in order, redacted and still all different."""
    keys: dict[object, None] = {}
    seen: dict[object, int] = {}
    for name in node:
        key = base = redact(name) if isinstance(name, str) else name
        while key in keys:
            seen[base] = seen.get(base, 1) + 1
            key = f"{base}~{seen[base]}"
        keys[key] = None
    return list(keys)


def _secrets(text: Text) -> list[Secret]:
    """Return start, end and kind of every secret, in order; those that overlap are one."""
    found = sorted(
        (start, -end, rank, rule.kind)
        for rank, rule in enumerate(RULES)
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


def _masked(raw: bytes, secrets: list[Secret]) -> bytes:
    parts, done = [], 0
    for start, end, kind in secrets:
        parts += [raw[done:start], _mark(kind).encode()]
        done = end
    return b"".join([*parts, raw[done:]])


def _mark(kind: str) -> str:
    return f"[redacted:{kind}]"
