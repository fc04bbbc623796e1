"""``ctx config``: read and change settings."""

from __future__ import annotations

from ctxgit import config
from ctxgit.actions.place import Place, config_files, load_config
from ctxgit.errors import UsageError
from ctxgit.files import write_atomically
from ctxgit.records import dataclass
from ctxgit.store import repository
from ctxgit.store.lock import locked

LOCK_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class SettingRow:
    """A setting: its value, the layer it comes from (``default`` when none sets it)."""

    key: str
    value: config.Value
    layer: str
    default: config.Value
    help: str


@dataclass(frozen=True, kw_only=True)
class ConfigResult:
    """Settings, and whether a change was made."""

    settings: tuple[SettingRow, ...]
    changed: bool = False


def read(place: Place, name: str | None = None) -> ConfigResult:
    """Return one setting, or all. Raises ConfigError."""
    names = [config.find_key(name).name] if name else list(config.KEYS)
    settings = load_config(place.store).settings
    return ConfigResult(settings=tuple(_row(settings[each]) for each in names))


def write(place: Place, name: str, text: str | None, layer: config.Layer | None) -> ConfigResult:
    """Set ``name`` in a layer, or take it out with ``None``; return the setting in force then.

    Without ``layer``: this machine's, or the nearest the key may stand in. Raises
    ConfigError, UsageError, StoreError.
    """
    key = config.find_key(name)
    chosen = layer or key.layers[-1]
    try:
        value = None if text is None else key.parse(text)
    except ValueError as error:
        raise UsageError(f"{text} is no value for {name}: {error}") from error
    path = config_files(place.store)[chosen]
    if chosen is config.Layer.SHARED:
        said = f"Set {name} to {text}" if text is not None else f"Unset {name}"
        changed = _write_shared(place, name, value, said)
    else:
        changed = config.set_value(path, chosen, name, value)
    return ConfigResult(settings=read(place, name).settings, changed=changed)


def _write_shared(place: Place, name: str, value: config.Value | None, said: str) -> bool:
    """Set ``name`` on main by a commit of its own; nothing is set if that fails."""
    path = config_files(place.store)[config.Layer.SHARED]
    with locked(place.store.runtime / "lock", wait=LOCK_SECONDS):
        if repository.is_changed(place.store, path):
            repository.commit_main(place.store, [path], f"Take in edits of {path.name}")
        before = path.read_bytes() if path.exists() else b""
        changed = config.set_value(path, config.Layer.SHARED, name, value)
        try:
            if changed:
                repository.commit_main(place.store, [path], said)
        except BaseException:
            write_atomically(path, before)
            raise
    return changed


def layer_named(name: str | None) -> config.Layer | None:
    """Return the layer called ``name``; raises UsageError when there is none."""
    if name is None:
        return None
    if name not in list(config.Layer):
        raise UsageError(f"there is no layer {name}", hint=f"layers: {', '.join(config.Layer)}")
    return config.Layer(name)


def _row(setting: config.Setting) -> SettingRow:
    return SettingRow(
        key=setting.key.name,
        value=setting.value,
        layer=setting.layer or "default",
        default=setting.key.default,
        help=setting.key.help,
    )
