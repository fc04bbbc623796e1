"""Reading JSON that another program wrote: any field may be missing or of a wrong type.

Nothing here raises: what is not there, or not what was expected, comes back empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxgit.model import Json

_EMPTY: Json = MappingProxyType({})


def text(value: Json, *names: str) -> str:
    """Return the first of the fields ``names`` that is text and not empty, else ``""``."""
    found = (value.get(name) for name in names)
    return next((each for each in found if isinstance(each, str) and each), "")


def identifier(value: object) -> str:
    """Return an id as text: a string as it is, an integer in digits, anything else ``""``."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def identifiers(value: object) -> tuple[str, ...]:
    """Return the ids in a list, those that are none left out."""
    return tuple(found for each in items(value) if (found := identifier(each)))


def mapping(value: object) -> Json:
    """Return ``value`` if it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else _EMPTY


def items(value: object) -> Sequence[object]:
    """Return ``value`` if it is a JSON array, else an empty one."""
    return value if isinstance(value, (list, tuple)) else ()


def count(value: object) -> int | None:
    """Return a number that is not negative as an integer, anything else as ``None``."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return round(value) if value >= 0 and isfinite(value) else None
