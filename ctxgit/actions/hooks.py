"""What a hook starts, beyond keeping the event: syncs, advice, a word to a new user."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ctxgit import config, gitdir, paths
from ctxgit.actions import place
from ctxgit.actions.sync import sync
from ctxgit.deliver.hint import hint
from ctxgit.diagnostics import log
from ctxgit.errors import CtxError, StoreError
from ctxgit.paths import StorePaths
from ctxgit.store import maintenance, sessions
from ctxgit.text import is_safe_id

PRE_COMPACT_LOCK_SECONDS = 10.0
NICENESS = 5


def sync_detached(store: str, session: str) -> str:
    """Commit the session's events, then everybody's left-overs, then tidy up if it is time."""
    with suppress(OSError):
        os.setsid()
    with suppress(OSError):
        os.nice(NICENESS)
    where = StorePaths(Path(store))
    with suppress(StoreError):  # met again below, if it stays
        sync(where, session=session)
    sync(where)
    maintenance.run_if_due(where, packs=place.load_config(where).number("maintenance.packs"))
    return ""


def pre_compact(store: str, session: str) -> str:
    """Commit the session's events and return the advice to the summariser.

    Where they cannot be committed now, it is that of the last sync.
    """
    where = StorePaths(Path(store))
    try:
        sync(where, session=session, wait=PRE_COMPACT_LOCK_SECONDS)
    except StoreError as error:
        log(where.log, "pre-compact", error.message)
    limit = place.load_config(where).number("hint.max_characters")
    state = sessions.last_state(where, session) if is_safe_id(session) else None
    return hint(state, limit=limit) if state else ""


def no_store(_: str, directory: str) -> str:
    """Make a store where the user's configuration says so, else say once how to make one."""
    try:
        if _made_by_itself(Path(directory)):
            return _message("ctxgit made a context store here; it records from the next prompt on.")
        said = "ctxgit keeps no context for this project yet; `ctx init` starts it."
    except CtxError as error:
        said = f"ctxgit keeps no context for this project: {error.message}"
    marker = _hint_marker(directory)
    if marker.exists():
        return ""
    marker.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    marker.touch(mode=0o600)
    return _message(said)


def _made_by_itself(project: Path) -> bool:
    files = {config.Layer.USER: paths.user_config_path()}
    if config.load_config(files).text("auto_init") != "on":
        return False
    from ctxgit.actions.init import init  # noqa: PLC0415 - imports GitPython

    if paths.find_project(project).git_dir is None:
        return False
    init(project)
    return True


def _hint_marker(directory: str) -> Path:
    """Return the file that is there when the project has been told; one for a repository."""
    found = gitdir.find_git_dir(directory)
    project = gitdir.common_dir(found[1]) if found else directory
    data = os.environ.get("CLAUDE_PLUGIN_DATA")
    folder = Path(data) if data else paths.claude_config_dir() / "plugins" / "data" / "ctxgit"
    return folder / "told" / gitdir.work_tree_key(project)


def _message(text: str) -> str:
    return json.dumps({"systemMessage": text}) + "\n"


VERBS: dict[str, Callable[..., str]] = {
    "sync": sync_detached,
    "pre-compact": pre_compact,
    "no-store": no_store,
}
