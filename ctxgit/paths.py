"""Where things are: the project, its store, the files in a store, the user's settings.

:mod:`ctxgit.gitdir` has the rules by which a store is found; this module adds pathlib, the
environment, and hiding a store from ``git status``.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ctxgit import gitdir
from ctxgit.errors import GitError, NotInProjectError, StoreError
from ctxgit.files import rewrite
from ctxgit.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

_HIDES_MARK = b"# ctxgit hides: "
_OUR_GIT = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_CONFIG_COUNT": "2",  # as strong as -c on the command line
    "GIT_CONFIG_KEY_0": "core.hooksPath",
    "GIT_CONFIG_VALUE_0": os.devnull,
    "GIT_CONFIG_KEY_1": "core.fsmonitor",
    "GIT_CONFIG_VALUE_1": "false",
}


@dataclass(frozen=True)
class Project:
    """A place that has, or may get, one store.

    ``root`` is the folder in which the store lies. ``work_tree`` is the root of the work
    tree that was asked about, or ``root`` where there is none. ``git_dir`` is that work
    tree's own git directory, ``common_dir`` the one it shares with its linked work trees;
    both are ``None`` outside git. All are absolute and free of symlinks.
    """

    root: Path
    work_tree: Path
    git_dir: Path | None
    common_dir: Path | None


def find_project(directory: Path) -> Project:
    """Return the project that ``directory`` belongs to, whatever ``GIT_*`` variables say.

    The root is that of the main work tree, which for a submodule is the submodule's own;
    for a bare repository with work trees, the folder that contains the common directory;
    outside git, the folder of a store above, else ``directory``; inside a store, its project.

    Raises NotInProjectError where ``directory`` does not exist, lies in a git directory, or
    belongs to a work tree whose repository or main work tree cannot be told.
    """
    if not directory.is_dir():
        raise NotInProjectError(f"there is no directory {directory}")
    here = directory.resolve()
    if gitdir.STORE_NAME in here.parts:
        here = Path(*here.parts[: here.parts.index(gitdir.STORE_NAME)])
    found = gitdir.find_git_dir(str(here))
    if found is None:
        return _project_without_git(here)
    git_dir, common = Path(found[1]), Path(gitdir.common_dir(found[1]))
    if not found[0]:
        return _project_in_git_dir(here, git_dir, common)
    work_tree = Path(found[0])
    root = work_tree if common == git_dir else _main_root(common)
    return Project(root, work_tree, git_dir, common)


def _project_without_git(here: Path) -> Project:
    for level in (here, *here.parents):
        if (level / ".git").is_file():
            raise NotInProjectError(
                f"{level / '.git'} names a git directory that is not there",
                hint="run `git worktree repair` in the main work tree",
            )
    store = gitdir.find_store(str(here))
    root = Path(store).parent if store else here
    return Project(root, root, None, None)


def _project_in_git_dir(here: Path, git_dir: Path, common: Path) -> Project:
    """Only a bare repository that has work trees is a project when reached from inside."""
    if _core_settings(common)[0] and (common / "worktrees").is_dir():
        return Project(common.parent, common.parent, git_dir, common)
    raise NotInProjectError(
        f"{here} is in a git directory, not in a work tree",
        hint="run it in a work tree of the project, or name a store with --store",
    )


def _main_root(common: Path) -> Path:
    """Return the root of a project from the common directory of a linked work tree."""
    if common.name == ".git":
        return common.parent
    is_bare, named = _core_settings(common)
    if named and (common / named).is_dir():
        return (common / named).resolve()
    if is_bare:
        return common.parent
    store = next(filter(gitdir.is_store, gitdir.stores_named_in(str(common))), None)
    if store:
        return Path(store).parent
    raise NotInProjectError(
        f"cannot tell the main work tree of the repository {common}",
        hint="run `ctx init` in the main work tree, or name a store with --store",
    )


def _core_settings(common: Path) -> tuple[bool, str]:
    """Return ``core.bare`` and ``core.worktree`` of a repository, ``""`` where not set."""
    query = ("config", "--null", "--get-regexp", r"^core\.(bare|worktree)$")
    listed = _run_git("--git-dir", str(common), *query, cwd=common)
    items = (item.partition("\n") for item in os.fsdecode(listed.stdout).split("\0"))
    settings = {key: value if is_set else "true" for key, is_set, value in items}
    is_bare = settings.get("core.bare", "").lower() in {"true", "yes", "on", "1"}
    return is_bare, settings.get("core.worktree", "")


def _run_git(*arguments: str, cwd: Path) -> CompletedProcess[bytes]:
    import subprocess  # noqa: PLC0415 - most uses of this module run no git

    command, environment = ["git", *arguments], scrubbed_environment()
    try:
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)
    except OSError as error:
        raise GitError(f"cannot run git: {error.strerror}", hint="install git") from error


def scrubbed_environment() -> dict[str, str]:
    """Return the environment for a git process of ours: no ``GIT_*`` that redirects it.

    Messages are in English; git asks no questions, takes no lock just to refresh a cache,
    fetches nothing and runs no hook and no monitor. What else a store's own configuration
    could make it run is refused before (:mod:`ctxgit.store.trust`).
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | _OUR_GIT


def store_for(directory: Path, override: Path | None = None) -> Path:
    """Return the store for ``directory``: ``override``, else ``CTX_STORE``, else the found one.

    A store named by hand is returned as an absolute path whether or not it is there.
    Raises NotInProjectError where nothing is named and none is found.
    """
    if named := override or os.environ.get("CTX_STORE"):
        return Path(named).absolute()
    found = gitdir.find_store(str(directory))
    if found is None:
        raise NotInProjectError(
            f"no context store for {directory}",
            hint="run `ctx init` in the project, or name a store with --store",
        )
    return Path(found)


@dataclass(frozen=True)
class StorePaths:
    """The places in the store at ``root``. Nothing below ``runtime`` is ever versioned."""

    root: Path

    @property
    def git_dir(self) -> Path:
        """The store's git directory."""
        return self.root / ".git"

    @property
    def runtime(self) -> Path:
        """The folder of all that is not versioned."""
        return self.git_dir / "ctx"

    @property
    def spool(self) -> Path:
        """The folder of events that wait to be recorded."""
        return self.runtime / "spool"

    @property
    def rejected(self) -> Path:
        """The folder of spooled files that are no events."""
        return self.runtime / "rejected"

    @property
    def log(self) -> Path:
        """The log of faults."""
        return self.runtime / "log"

    @property
    def index(self) -> Path:
        """The SQLite index, which can be deleted at any time."""
        return self.runtime / "index.sqlite"

    @property
    def recaps(self) -> Path:
        """The folder of recaps made ahead of time."""
        return self.runtime / "recaps"

    @property
    def sessions(self) -> Path:
        """The folder of what is kept for each session."""
        return self.runtime / "sessions"

    @property
    def config(self) -> Path:
        """The machine's own configuration."""
        return self.runtime / "config.toml"

    def session_dir(self, key: str) -> Path:
        """Return the folder of the session with the safe id ``key``."""
        return self.sessions / key


def user_config_path() -> Path:
    """Return the user's own configuration file, by the XDG base directory specification."""
    named = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    base = named if named.is_absolute() else Path.home() / ".config"
    return base / "ctxgit" / "config.toml"


def user_data_dir() -> Path:
    """Return the folder of the user's own data, by the XDG base directory specification."""
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    base = named if named.is_absolute() else Path.home() / ".local" / "share"
    return base / "ctxgit"


def claude_config_dir() -> Path:
    """Return the folder where Claude Code keeps its settings and sessions."""
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(named) if named else Path.home() / ".claude"


def hide_store(project: Project, store: Path) -> bool:
    """Hide ``store`` from ``git status`` in all work trees; return whether that was news.

    Adds two lines to ``info/exclude``: a comment that names the store, and its pattern.
    Every other byte stays. Nothing is done outside git, or for a store that lies in no work
    tree of the project. Raises StoreError if the file cannot be changed.
    """
    place = store.parent.resolve() / store.name
    pattern = _store_pattern(project, place)
    if project.common_dir is None or pattern is None:
        return False
    entry = (_comment(gitdir.STORE_MARK, place), pattern)

    def with_store(lines: list[bytes]) -> list[bytes]:
        kept = _without(lines, _stale_stores(lines, place))
        return kept if _holds(kept, entry) else _with(_without(kept, {entry[0]}), entry)

    return _edit_exclude(project.common_dir, with_store)


def unhide_store(project: Project, store: Path) -> bool:
    """Take back :func:`hide_store` and, with the last store, each :func:`hide_path`.

    The file is again what it was, byte for byte, and is removed if it was made by us; what
    the user wrote since stays. Returns whether there was something to take back.
    """
    if project.common_dir is None:
        return False
    place = store.parent.resolve() / store.name

    def without_store(lines: list[bytes]) -> list[bytes]:
        kept = _without(lines, _stale_stores(lines, place) | {_comment(gitdir.STORE_MARK, place)})
        more = _comments(kept, gitdir.STORE_MARK)
        return kept if more else _without(kept, _comments(kept, _HIDES_MARK))

    return _edit_exclude(project.common_dir, without_store)


def hide_path(project: Project, path: str) -> bool:
    """Hide the file ``path`` from ``git status``, unless the user's own rules do already.

    ``path`` is relative to the work tree's root, as ``.claude/settings.local.json``. Returns
    whether that was news. The lines go with the store's, see :func:`unhide_store`.
    """
    if project.common_dir is None:
        return False
    if _run_git("check-ignore", "-q", "--", path, cwd=project.work_tree).returncode == 0:
        return False
    entry = (_comment(_HIDES_MARK, f"/{path}"), _pattern(path))

    def with_path(lines: list[bytes]) -> list[bytes]:
        return lines if _holds(lines, entry) else _with(lines, entry)

    return _edit_exclude(project.common_dir, with_path)


def _comment(mark: bytes, path: str | Path) -> bytes:
    return mark + os.fsencode(path).replace(b"\n", b"?")


def _store_pattern(project: Project, place: Path) -> bytes | None:
    """Return the pattern that matches ``place`` alone, ``None`` if it is in no work tree."""
    for tree in (project.work_tree, project.root):
        if place.is_relative_to(tree) and (tree / ".git").exists():
            # A pattern that ends in a slash matches folders only, and a symlink is none.
            return _pattern(str(place.relative_to(tree))) + (b"" if place.is_symlink() else b"/")
    return None


def _pattern(path: str) -> bytes:
    """Return ``path`` as a gitignore(5) pattern; ``?`` stands in for a line feed."""
    escaped = re.sub(rb"([*?\[\\])", rb"\\\1", os.fsencode(path))
    return b"/" + escaped.replace(b"\n", b"?")


def _edit_exclude(common: Path, edit: Callable[[list[bytes]], list[bytes]]) -> bool:
    r"""Let ``edit`` change the lines of ``info/exclude``; return whether it did.

    The lines are what ``\n`` separates, so that the last is empty if the file ends with one.
    An entry of ours, a comment and a pattern, stands before that last line or else at the
    end. So taking it out restores the file, be it not there ([b""]) or empty ([]).
    """
    exclude = common / "info" / "exclude"
    try:
        before = _lines_of(exclude)
        after = edit(before)
        if after == before:
            return False
        if after == [b""]:
            exclude.resolve().unlink()
            with suppress(OSError):  # the folder has other files
                exclude.parent.rmdir()
        else:
            exclude.parent.mkdir(exist_ok=True)
            rewrite(exclude, b"\n".join(after))
    except OSError as error:
        raise StoreError(f"cannot change {exclude}: {error.strerror}") from error
    return True


def _lines_of(path: Path) -> list[bytes]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return [b""]
    return content.split(b"\n") if content else []


def _with(lines: list[bytes], entry: tuple[bytes, bytes]) -> list[bytes]:
    at = len(lines) - (lines[-1:] == [b""])
    return [*lines[:at], *entry, *lines[at:]]


def _holds(lines: list[bytes], entry: tuple[bytes, bytes]) -> bool:
    return entry in pairwise(line.rstrip(b"\r") for line in lines)


def _comments(lines: list[bytes], mark: bytes) -> set[bytes]:
    return {line.rstrip(b"\r") for line in lines if line.startswith(mark)}


def _stale_stores(lines: list[bytes], place: Path) -> set[bytes]:
    """Return the comments of other stores that are not there any more: the project moved."""
    others = _comments(lines, gitdir.STORE_MARK) - {_comment(gitdir.STORE_MARK, place)}
    named = {line: os.fsdecode(line.removeprefix(gitdir.STORE_MARK)) for line in others}
    return {line for line, store in named.items() if not Path(store).is_dir()}


def _without(lines: list[bytes], comments: set[bytes]) -> list[bytes]:
    """Return ``lines`` without the entries that begin with one of ``comments``."""
    kept: list[bytes] = []
    comment = b""
    for line in lines:
        text = line.rstrip(b"\r")
        if text in comments:
            comment = text
            continue
        if not _belongs(comment, text):
            kept.append(line)
        comment = b""
    return kept


def _belongs(comment: bytes, line: bytes) -> bool:
    """Whether ``line`` is the pattern written after ``comment``, not one of the user's."""
    path = re.sub(rb"\\(.)", rb"\1", line.rstrip(b"/"))
    return path.startswith(b"/") and comment.endswith(path)
