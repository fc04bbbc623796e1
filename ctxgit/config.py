"""Configuration: what can be set, where, and which file wins.

Three files, the nearer wins: this machine's (``.git/ctx/config.toml`` in the store), the
user's own, the one shared with the project (``config.toml`` on the store's main branch).
A key that loosens safety or tunes a person's own client is never taken from the shared one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from ctxgit.documents import Table, dump_toml, load_toml
from ctxgit.errors import ConfigError
from ctxgit.files import write_atomically
from ctxgit.records import dataclass

Value = str | int | bool
_NUMBER = re.compile(r"-?[0-9]{1,18}")


class Layer(StrEnum):
    """A file that configuration comes from, farthest first."""

    SHARED = "shared"
    USER = "user"
    MACHINE = "machine"


@dataclass(frozen=True, kw_only=True)
class Key:
    """Something that can be set.

    ``allowed`` lists the values of a word, ``minimum`` bounds a number, ``layers`` are the
    files it may stand in.
    """

    name: str
    default: Value
    help: str
    allowed: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 2**31
    layers: tuple[Layer, ...] = tuple(Layer)

    def check(self, value: object) -> Value:
        """Return ``value`` when it may be set; raises ValueError saying what is allowed."""
        if isinstance(self.default, bool):
            if isinstance(value, bool):
                return value
            raise ValueError("true or false is allowed")
        if isinstance(self.default, int):
            if type(value) is int and self.minimum <= value <= self.maximum:
                return value
            raise ValueError(f"a number from {self.minimum} to {self.maximum} is allowed")
        if isinstance(value, str) and (not self.allowed or value in self.allowed):
            return value
        words = ", ".join(f'"{word}"' for word in self.allowed) or "a text"
        raise ValueError(f"{words} is allowed")

    def parse(self, text: str) -> Value:
        """Return the value a person typed; raises ValueError as ``check`` does."""
        if isinstance(self.default, bool) and text in {"true", "false"}:
            return text == "true"
        if isinstance(self.default, int) and not isinstance(self.default, bool):
            return self.check(int(text) if _NUMBER.fullmatch(text) else text)
        return self.check(text)


KEYS = {
    key.name: key
    for key in (
        Key(
            name="auto_init",
            default="off",
            allowed=("off", "on"),
            layers=(Layer.USER,),
            help="Make a store at the first session in a git repository that has none",
        ),
        Key(
            name="recap.enabled",
            default=True,
            help="Tell the model at a session's start where the work stands",
        ),
        Key(
            name="recap.max_characters",
            default=10_000,
            minimum=2_000,
            maximum=10_000,
            help="Length of that text in UTF-16 units; the client takes 10,000 from a hook",
        ),
        Key(
            name="hint.max_characters",
            default=2_000,
            maximum=10_000,
            help="Length of the advice to a compaction's summariser; 0 for none",
        ),
        Key(
            name="maintenance.packs",
            default=50,
            minimum=2,
            layers=(Layer.USER, Layer.MACHINE),
            help="Repack the store when it has this many packs",
        ),
    )
}


@dataclass(frozen=True)
class Setting:
    """What a key is set to, and by which layer; ``None`` when by none."""

    key: Key
    value: Value
    layer: Layer | None


@dataclass(frozen=True)
class Config:
    """The settings in force."""

    settings: Mapping[str, Setting]

    def text(self, name: str) -> str:
        """Return a word or text."""
        return str(self.settings[name].value)

    def number(self, name: str) -> int:
        """Return a number."""
        return int(self.settings[name].value)

    def flag(self, name: str) -> bool:
        """Return a switch."""
        return bool(self.settings[name].value)


def load_config(files: Mapping[Layer, Path]) -> Config:
    """Return the settings that ``files`` give; missing files set nothing.

    Raises ConfigError naming the file, the key and what is allowed.
    """
    settings = {name: Setting(key, key.default, None) for name, key in KEYS.items()}
    for layer in Layer:
        path = files.get(layer)
        if path is None:
            continue
        for name, value in _entries(path):
            settings[name] = Setting(KEYS[name], _checked(path, layer, name, value), layer)
    return Config(settings)


def find_key(name: str) -> Key:
    """Return the key called ``name``; raises ConfigError with near matches."""
    if name in KEYS:
        return KEYS[name]
    import difflib  # noqa: PLC0415 - only to help with a mistake

    near = difflib.get_close_matches(name, KEYS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(KEYS)}"
    raise ConfigError(f"unknown configuration key {name}", hint=hint)


def set_value(path: Path, layer: Layer, name: str, value: Value | None) -> bool:
    """Set ``name`` in the file of ``layer``, or take it out; return whether that changed it.

    A symlink is written through: people keep their settings elsewhere. Raises ConfigError
    when the file is not valid, or when the key is not known or has no place there.
    """
    table = _read(path)
    before = dump_toml(table)
    *folders, leaf = name.split(".")
    place = table
    for folder in folders:
        inner = place.setdefault(folder, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"{folder} in {path} is no table")
        place = inner
    if value is None:
        place.pop(leaf, None)
    else:
        place[leaf] = _checked(path, layer, name, value)
    table = {key: item for key, item in table.items() if item != {}}
    after = dump_toml(table)
    if after != before:
        write_atomically(path.resolve(), after)
    return after != before


def _checked(path: Path, layer: Layer, name: str, value: object) -> Value:
    key = find_key(name)
    if layer not in key.layers:
        places = " or ".join(f"--in {allowed}" for allowed in key.layers)
        raise ConfigError(f"{name} is not taken from {path}", hint=f"set it with {places}")
    try:
        return key.check(value)
    except ValueError as error:
        raise ConfigError(f"{name} in {path} is wrong: {error}") from error


def _entries(path: Path) -> Iterator[tuple[str, object]]:
    for name, value in _flat(_read(path)):
        if name == "format":  # the store's own, see store/repository.py
            continue
        if name not in KEYS:
            try:
                find_key(name)
            except ConfigError as error:
                raise ConfigError(f"{error.message} in {path}", hint=error.hint) from error
        yield name, value


def _flat(table: Table, prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, dict) and prefix + key not in KEYS:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _read(path: Path) -> Table:
    try:
        return load_toml(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error
