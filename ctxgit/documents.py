"""Our values as TOML tables and back, and the TOML text of a table.

A table leaves out what is at its default, so that a file shows what there is to say and a
new field needs no migration. Unknown keys are ignored, as an older program must be able to
read what a newer one wrote within one store format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, TypeVar, cast

from ctxgit.model import Media, TaskStatus

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    T = TypeVar("T", bound=DataclassInstance)

Table = dict[str, object]


def to_table(value: DataclassInstance) -> Table:
    """Return a frozen dataclass of :mod:`ctxgit.model` as a table of TOML values."""
    table: Table = {}
    for name, default in _defaults(type(value)):
        item = getattr(value, name)
        if item is not default and item != default:
            table[name] = _plain(item)
    return table


def from_table(cls: type[T], table: Mapping[str, object]) -> T:
    """Return the ``cls`` a table stands for.

    Raises ValueError when a required key is missing or a value has the wrong shape.
    """
    readers = _readers(cls)
    try:
        return cls(**{name: readers[name](item) for name, item in table.items() if name in readers})
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"not a {cls.__name__.lower()}: {error}") from error


def dump_toml(table: Mapping[str, object]) -> bytes:
    """Return ``table`` as TOML text in UTF-8."""
    import tomli_w  # noqa: PLC0415 - only the writing side needs it

    return tomli_w.dumps(table).encode()


def load_toml(data: bytes) -> Table:
    """Return the table of a TOML text; raises ValueError when it is not one."""
    import tomllib  # noqa: PLC0415 - the normal sync reads no TOML

    return tomllib.loads(data.decode())


def jsonable(value: object) -> str:
    """Return a time as text, for ``json.dumps(default=jsonable)``."""
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a document")


def _plain(item: object) -> object:
    if isinstance(item, tuple):
        return [_plain(part) for part in item]
    if isinstance(item, Media):
        return to_table(item)
    return str(item) if isinstance(item, TaskStatus) else item


@cache
def _defaults(cls: type[DataclassInstance]) -> tuple[tuple[str, object], ...]:
    return tuple((name, getattr(cls, name, None)) for name in cls.__annotations__)


@cache
def _readers(cls: type[DataclassInstance]) -> dict[str, Callable[[object], object]]:
    return {name: _READERS[str(kind)] for name, kind in cls.__annotations__.items()}


def _time(item: object) -> datetime:
    moment = datetime.fromisoformat(item) if isinstance(item, str) else item
    if not isinstance(moment, datetime):
        raise TypeError(f"{item!r} is no time")
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _exactly(kind: type[object]) -> Callable[[object], object]:
    def read(item: object) -> object:
        if type(item) is not kind:
            raise TypeError(f"{item!r} is no {kind.__name__}")
        return item

    return read


def _tuple_of(read: Callable[[object], object]) -> Callable[[object], object]:
    return lambda items: tuple(read(item) for item in cast("list[object]", items))


_READERS: dict[str, Callable[[object], object]] = {
    "str": _exactly(str),
    "int": _exactly(int),
    "int | None": _exactly(int),
    "bool": _exactly(bool),
    "datetime": _time,
    "datetime | None": _time,
    "TaskStatus": lambda item: TaskStatus(cast("str", item)),
    "tuple[str, ...]": _tuple_of(_exactly(str)),
    "tuple[int, ...]": _tuple_of(_exactly(int)),
    "tuple[Media, ...]": _tuple_of(lambda item: from_table(Media, cast("Table", item))),
}
