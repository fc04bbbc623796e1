"""Secrets in parsed JSON: in its strings and keys, under names, and spread over a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxgit.redact.assignments import is_plain
from ctxgit.redact.gate import mark, masked, redact, secrets_in
from ctxgit.redact.json_names import are_pairs, words_of_elements, words_of_items
from ctxgit.redact.matching import Text
from ctxgit.redact.rules import COMMANDS, KEYS
from ctxgit.text import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxgit.redact.rules import Rule

_UNQUOTED = bytes.maketrans(b" \t\r\n\"'`\\;|&<>()", b"_" * 15)
"""An argument is one word of its command, whatever is in it."""


def redact_json(value: object) -> object:
    """Return a parsed JSON value with the secrets in it replaced.

    A string under a name of a secret is masked whole, unless it is plainly none; so is a
    number of six digits or more under the name of a password. The name is a key of the string
    or of what it is in, or stands beside it: ``{"name": …, "value": …}``, ``["--password", …]``.
    The structure stays, at any depth; keys that become equal are told apart by ``~2``, ….
    """
    root: list[object] = [None]
    # A node, the container and place its result goes to, the word by which a name makes it a
    # secret, whether it is a pair. The container is a list or a dict, the place an index or a
    # key: no one type.
    work: list[tuple[object, Any, Any, bytes, bool]] = [(value, root, 0, b"", False)]
    while work:
        node, parent, place, word, is_pair = work.pop()
        if isinstance(node, dict):
            keys = _redact_keys(node)
            parent[place] = fresh = dict.fromkeys(keys)
            words = words_of_items(node, word)
            work += [
                (item, fresh, key, own, False)
                for key, item, own in zip(keys, node.values(), words, strict=True)
            ]
        elif isinstance(node, list | tuple):
            parent[place] = items = _redact_across(node)
            words = words_of_elements(items, word, is_pair=is_pair)
            pairs = are_pairs(items)
            work += [
                (item, items, index, own, pairs)
                for index, (item, own) in enumerate(zip(items, words, strict=True))
            ]
        else:
            parent[place] = _redact_leaf(node, word)
    return root[0]


def _redact_leaf(value: object, word: bytes) -> object:
    """Return what stands for a leaf, which a name makes a secret if there is a ``word`` of it."""
    if isinstance(value, str):
        if not word:
            return redact(value)
        value = replace_surrogates(value)
        is_harmless = is_plain(value.encode(), word) and redact(value) == value
        return value if is_harmless else mark("secret-value")
    if word.startswith(b"p") and type(value) is int:
        return value if is_plain(str(abs(value)).encode(), word) else mark("secret-value")
    return value


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


# --- secrets over several strings ---------------------------------------------------------


def _redact_across(node: Sequence[object]) -> list[object]:
    """Return a list without the secrets that show only in its strings taken together.

    The lines of a private key, and the arguments of a command.
    """
    items = list(node)
    strings = [item for item in items if isinstance(item, str)]
    if any("-----BEGIN" in item for item in strings):
        items = _masked_across(items, b"\n", KEYS)
    if any(item.startswith("-p") for item in strings):
        items = _masked_across(items, b" ", COMMANDS)
    return items


def _masked_across(items: list[object], gap: bytes, rules: Sequence[Rule]) -> list[object]:
    """Return ``items`` with what ``rules`` find in them, joined by ``gap``, masked in each."""
    parts = [redact(item).encode() if isinstance(item, str) else b"" for item in items]
    words = parts if gap == b"\n" else [part.translate(_UNQUOTED) for part in parts]
    secrets = secrets_in(Text.of(gap.join(words)), rules)
    fresh, at, done = list(items), 0, 0
    for index, part in enumerate(parts):
        end, inside = at + len(part), []
        while done < len(secrets) and secrets[done][0] < end:
            start, until, kind = secrets[done]
            if until > at:
                inside.append((max(start, at) - at, min(until, end) - at, kind))
            if until > end:
                break
            done += 1
        if inside and isinstance(items[index], str):
            fresh[index] = masked(part, inside).decode(errors="replace")
        at = end + len(gap)
    return fresh
