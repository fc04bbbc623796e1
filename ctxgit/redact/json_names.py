"""Which values of a JSON structure are secret because of a name: a key, a header, a flag."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ctxgit.redact.assignments import LONGEST_NAME, is_about_flag, secret_word
from ctxgit.redact.gate import redact
from ctxgit.redact.matching import compiled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOOSE = b"auth"
"""The word under which only what looks random is a secret."""
PAIR = 2

_ABOUT = frozenset(
    b"type description title format name kind label help hint placeholder message messages error"
    b" errors summary comment note purpose id ref $ref $schema status state scope scopes expires"
    b" expires_at expires_in expiry created created_at updated updated_at createdat updatedat"
    b" expiresat expiresin user username login email account host hostname url uri path file"
    b" filename env variable source provider region version algorithm alg role issuer audience"
    b" required pattern enum element selector component in autocomplete inputtype".split()
)
"""Keys of what is said about a secret, in an object under its name."""
_EXAMPLES = frozenset({"default", "const", "example", "examples", "value"})
"""Keys of a JSON schema that hold values."""
_SCHEMA_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_SCHEMA_KEYS = frozenset({"$ref", "anyOf", "oneOf", "allOf", "properties"})
_NAME_KEYS = frozenset(
    {"name", "key", "header", "field", "variable", "var", "param", "parameter", "option"}
)
_FIELD_KEYS = frozenset({"element", "selector", "label", "id"})
"""Keys of the name of an input field, as those who drive a browser give it."""
_VALUE_KEYS = frozenset({"value", "values", "val"})
_FIELD_NAME = rb"(?P<name>.*?)(?:[ _-](?:text ?box|text|field|input|box))?[\"'\])]*\Z"
_NAME = rb"[A-Za-z][A-Za-z_.-]*"
_FLAG = rb"--?[A-Za-z][\w.-]*"
_HEADER = rb"(?:proxy-)?authorization|(?:set-)?cookie|[a-z\d]+(?:-[a-z\d]+)+"


# --- objects ------------------------------------------------------------------------------


def words_of_items(node: Mapping[object, object], inherited: bytes) -> list[bytes]:
    """Return, for each item of an object, the word by which a name makes its value a secret.

    Its own key does, the name in the object whose value it is, or the key of the object
    itself, of which ``inherited`` is the word, unless it only says something about the secret.
    """
    is_schema = bool(inherited) and _is_schema(node)
    paired, typed = _paired(node)
    words = []
    for key, item in node.items():
        name = key.lower() if isinstance(key, str) else ""
        word = _word_of_key(key, item) if isinstance(key, str) else b""
        if not word and paired and (name in _VALUE_KEYS or (typed and name == "text")):
            word = paired
        if not word and (
            name in _EXAMPLES if is_schema else name.encode(errors="replace") not in _ABOUT
        ):
            word = inherited
        words.append(word)
    return words


def _word_of_key(key: str, item: object) -> bytes:
    """Return the word of a key, also of one in the plural whose value is a container."""
    word = secret_word(key)
    if word or key[-1:] not in {"s", "S"}:
        return word
    word = secret_word(key[:-1])
    if word in {b"token", LOOSE} or (word and not isinstance(item, dict | list | tuple)):
        return LOOSE
    return word


def _is_schema(node: Mapping[object, object]) -> bool:
    kinds = node.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    is_typed = all(isinstance(kind, str) and kind in _SCHEMA_TYPES for kind in kinds)
    return (bool(kinds) and is_typed) or not _SCHEMA_KEYS.isdisjoint(node)


def _paired(node: Mapping[object, object]) -> tuple[bytes, bool]:
    """Return the word of the name an object gives its own value, and whether it is typed in."""
    for key, name in node.items():
        if not (isinstance(key, str) and isinstance(name, str)):
            continue
        is_field = key.lower() in _FIELD_KEYS
        if is_field or key.lower() in _NAME_KEYS:
            word = _word_of_field(name)
            if word:
                return word, is_field
    return b"", False


@lru_cache(maxsize=256)
def _word_of_field(name: str) -> bytes:
    """Return the word of a name such as ``X-Api-Key``, ``Password field`` or ``#password``."""
    raw = name.encode(errors="replace")
    if len(raw) > 2 * LONGEST_NAME or b"[redacted:" in raw:
        return b""
    match = compiled(b"(?is)" + _FIELD_NAME).match(raw)
    return secret_word(match["name"].decode(errors="replace")) if match else b""


# --- lists --------------------------------------------------------------------------------


def words_of_elements(items: Sequence[object], inherited: bytes, *, is_pair: bool) -> list[bytes]:
    """Return, for each element of a list, the word by which a name makes it a secret.

    The flag or the header before it does, or the key of the list, of which ``inherited`` is
    the word, unless it is a secret's name itself. ``is_pair`` says that the list is a name and
    its value.
    """
    words = [b"" if inherited and _is_name(item) else inherited for item in items]
    for index in range(1, len(items)):
        name, item = items[index - 1], items[index]
        if isinstance(name, str) and not isinstance(item, dict | list | tuple):
            is_value = is_pair and index == 1
            word = _word_before(name, item, is_value=is_value, is_alone=len(items) == PAIR)
            words[index] = word or words[index]
    return words


def are_pairs(items: Sequence[object]) -> bool:
    """Whether a list is one of names and values, as headers and forms are written."""
    return bool(items) and all(
        isinstance(item, list | tuple) and len(item) == PAIR and isinstance(item[0], str)
        for item in items
    )


def _is_name(item: object) -> bool:
    """Whether an element is the name of a secret, such as ``DB_PASSWORD``."""
    if not isinstance(item, str) or len(item) > LONGEST_NAME:
        return False
    is_word = compiled(_NAME).fullmatch(item.encode(errors="replace")) is not None
    return is_word and bool(secret_word(item))


def _word_before(name: str, item: object, *, is_value: bool, is_alone: bool) -> bytes:
    """Return the word of a name that makes the element after it a secret."""
    raw = name.encode(errors="replace") if len(name) <= LONGEST_NAME else b""
    is_flag = compiled(_FLAG).fullmatch(raw) is not None
    is_header = compiled(_HEADER).fullmatch(raw.lower()) is not None
    is_known = is_flag or is_header or is_value or (is_alone and _is_name(name))
    word = secret_word(name) if is_known else b""
    if not word:
        return b""
    value = redact(item).encode() if isinstance(item, str) else b"0"
    if is_flag:
        return b"" if is_about_flag(value) else word
    if _is_name(item) or not (is_value or not compiled(_NAME).fullmatch(value)):
        return b""
    return word
