"""``ctx init``: make the store, hide it, and let the client load the plugin."""

from __future__ import annotations

import os
from pathlib import Path

from ctxgit import gitdir, paths, resources
from ctxgit.actions import interpreter
from ctxgit.claude import settings
from ctxgit.errors import StoreError
from ctxgit.paths import StorePaths
from ctxgit.records import dataclass
from ctxgit.store import repository

SETTINGS = ".claude/settings.local.json"


@dataclass(frozen=True, kw_only=True)
class InitResult:
    """What there is after ``ctx init``, and what of it is new."""

    store: str
    created: bool
    settings: str
    enabled: bool
    newly_enabled: bool
    plugin: str


def init(directory: Path, *, store: Path | None = None, enable: bool = False) -> InitResult:
    """Make the store of the project that ``directory`` is in, unless there is one.

    It is where ``store`` or ``CTX_STORE`` says, else at the root of the main work tree.

    With ``enable`` the client's local settings are told to load the plugin at its next
    start. Doing it again changes nothing. Raises NotInProjectError, StoreError, GitError,
    SettingsError.
    """
    project = paths.find_project(directory)
    named = store or os.environ.get("CTX_STORE")
    place = StorePaths(Path(named or project.root / gitdir.STORE_NAME).absolute())
    try:
        created = repository.create(place, resources.template_dir())
        interpreter.record()
    except OSError as error:
        raise StoreError(f"cannot make a store in {place.root}: {error.strerror}") from error
    repository.check(place)
    paths.hide_store(project, place.root)
    settings_path = project.work_tree / SETTINGS
    plugin = resources.plugin_dir()
    newly_enabled = enable and settings.enable_plugin(settings_path, plugin)
    if enable:
        paths.hide_path(project, SETTINGS)
    return InitResult(
        store=str(place.root),
        created=created,
        settings=str(settings_path),
        enabled=settings.is_enabled(settings_path, plugin),
        newly_enabled=newly_enabled,
        plugin=str(plugin),
    )
