"""The place a verb is given for: its store, its settings, its session."""

from __future__ import annotations

import os
from pathlib import Path

from ctxgit import config, gitdir, paths
from ctxgit.claude.payload import session_key
from ctxgit.documents import load_toml
from ctxgit.errors import NotFoundError, NotInProjectError, StoreError
from ctxgit.model import State
from ctxgit.records import dataclass
from ctxgit.store import index, layout, repository, sessions
from ctxgit.store.git import Git, GitObject
from ctxgit.text import replace_surrogates


@dataclass(frozen=True, kw_only=True)
class Place:
    """A store, and the directory and session from which it is looked at."""

    store: paths.StorePaths
    directory: Path
    session: str | None = None

    @property
    def work_tree(self) -> str:
        """The root of the work tree the directory is in, or the directory."""
        found = gitdir.find_git_dir(str(self.directory))
        return found[0] if found and found[0] else str(self.directory)


def find_place(directory: Path, *, store: Path | None = None, session: str | None = None) -> Place:
    """Return the place for ``directory``.

    Raises NotInProjectError when there is no store, StoreError when it cannot be used.
    """
    found = paths.StorePaths(paths.store_for(directory, store))
    if not found.runtime.is_dir():
        raise NotInProjectError(
            f"there is no context store at {found.root}", hint="run `ctx init` to make one"
        )
    repository.check(found)
    repository.make_runtime(found)
    named = None if session is None else replace_surrogates(session)
    return Place(store=found, directory=directory.resolve(), session=named)


def load_config(store: paths.StorePaths) -> config.Config:
    """Return the settings in force for ``store``; raises ConfigError."""
    return config.load_config(config_files(store))


def config_files(store: paths.StorePaths) -> dict[config.Layer, Path]:
    """Return the file of each layer."""
    return {
        config.Layer.SHARED: store.root / "config.toml",
        config.Layer.USER: paths.user_config_path(),
        config.Layer.MACHINE: store.config,
    }


def find_session(place: Place, opened: index.Index) -> index.SessionEntry:
    """Return the session that is meant.

    By ``--session`` (an id, a branch's name, or the beginning of either that only one has),
    else ``CLAUDE_CODE_SESSION_ID``, else the last updated of this work tree, else of the
    store. Raises NotFoundError, StoreError where none can be read.
    """
    if place.session:
        return _named(place.session, opened)
    if current := os.environ.get("CLAUDE_CODE_SESSION_ID"):
        return _running(current, opened)
    entries = opened.sessions(work_tree=place.work_tree, limit=1) or opened.sessions(limit=1)
    if entries:
        return entries[0]
    if Git(place.store.git_dir).refs(layout.SESSIONS):
        raise StoreError(
            f"no session in {place.store.root} can be read: the store is damaged",
            hint=f"see what is: git -C {place.store.root} fsck",
        )
    raise NotFoundError("no session is recorded yet", hint="work in Claude Code, then come back")


def _running(session: str, opened: index.Index) -> index.SessionEntry:
    """Return the session in which the command runs; it must not be taken for another."""
    key = session_key(session)
    entries = [entry for entry in opened.sessions(prefix=key) if entry.key == key]
    if not entries:
        raise NotFoundError(
            f"session {session} is not recorded here yet", hint="name another with --session"
        )
    return entries[0]


def _named(name: str, opened: index.Index) -> index.SessionEntry:
    entries = opened.sessions(prefix=name)
    exact = [entry for entry in entries if name in {entry.key, entry.name}]
    if len(exact) == 1 or len(entries) == 1:
        return (exact or entries)[0]
    if entries:
        shown = ", ".join(entry.name for entry in entries[:5])
        raise NotFoundError(f"session {name} is ambiguous: {shown}", hint="give more of the id")
    import difflib  # noqa: PLC0415 - hardly ever needed

    others = [known for entry in opened.sessions() for known in (entry.key, entry.name)]
    near = difflib.get_close_matches(name, others, n=1)
    hint = f"did you mean {near[0]}?" if near else "`ctx log` shows the sessions there are"
    raise NotFoundError(f"there is no session {name}", hint=hint)


def current_branch(place: Place) -> tuple[sessions.Branch, State]:
    """Return the branch and state of the session that is meant. Raises NotFoundError."""
    with index.opened(place.store) as opened:
        opened.refresh(Git(place.store.git_dir))
        entry = find_session(place, opened)
    branch = load_branch(place, entry)
    if branch.state is None:
        raise NotFoundError(f"session {entry.name} has no state")
    return branch, branch.state


def load_branch(place: Place, entry: index.SessionEntry) -> sessions.Branch:
    """Return the branch of a listed session with its state."""
    state = state_at(place, entry.key, entry.tip)
    (knowledge,) = Git(place.store.git_dir).objects([f"{entry.tip}:{layout.KNOWLEDGE}"])
    return sessions.Branch(
        key=entry.key,
        name=entry.name,
        tip=entry.tip,
        state=state,
        knowledge=knowledge.oid if knowledge else "",
    )


def state_at(place: Place, key: str, commit: str) -> State:
    """Return the state of session ``key`` that ``commit`` holds. Raises StoreError."""
    state = sessions.cached_state(place.store, key, commit)
    return state or sessions.read_state(Git(place.store.git_dir), commit)


def session_at(place: Place, commit: str, facts: GitObject) -> tuple[sessions.Branch, State]:
    """Return the session that ``commit`` holds, ``facts`` being its ``session.toml``.

    It is called by its id's beginning there. Raises StoreError.
    """
    try:
        key = str(load_toml(facts.content).get("id"))
    except ValueError as error:
        raise StoreError(f"{layout.SESSION_FILE} in {commit} is damaged: {error}") from error
    state = state_at(place, key, commit)
    name = key[: sessions.SHORT_ID]
    return sessions.Branch(key=key, name=name, tip=commit, state=state), state
