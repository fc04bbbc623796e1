"""Making and opening the hidden repository. The only module that imports GitPython."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ctxgit.documents import load_toml
from ctxgit.errors import GitError, StoreError, StoreVersionError
from ctxgit.paths import StorePaths, scrubbed_environment
from ctxgit.store.git import last_word, no_git
from ctxgit.store.trust import check_config

if TYPE_CHECKING:
    import git

FORMAT = 1
MAIN = "main"
SETTINGS = {
    "user.name": "ctxgit",
    "user.email": "ctx@ctxgit.invalid",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "core.hooksPath": os.devnull,  # the user's own hooks are for the user's own repositories
    "core.sharedRepository": "0600",
    "core.logAllRefUpdates": "true",
    "core.autocrlf": "false",
    "core.excludesFile": os.devnull,  # nor what is ignored or filtered in those
    "core.attributesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.fsync": "all",
    "gc.auto": "0",  # never a surprise in a hook: see store/maintenance.py
    "gc.reflogExpire": "never",
    "gc.reflogExpireUnreachable": "never",
    "maintenance.auto": "false",
    "receive.autogc": "false",
    "advice.detachedHead": "false",
}


OUR_DEFAULTS = {
    "GIT_TEMPLATE_DIR": "",  # no hooks and excludes of the user's
    "GIT_DEFAULT_HASH": "sha1",
    "GIT_DEFAULT_REF_FORMAT": "files",  # stale locks and loose refs are looked for as files
}


def create(store: StorePaths, template: Path) -> bool:
    """Make a store from ``template``; return False when there is one already.

    It appears whole or not at all. Raises StoreError when something else is in its place,
    GitError when git refuses, OSError when the folder cannot be written.
    """
    is_taken = _is_taken(store.root)
    if store.runtime.is_dir():  # perhaps since just now
        make_runtime(store)
        return False
    if is_taken:
        raise StoreError(
            f"{store.root} is there and is no context store",
            hint="move it away, or name another place with --store",
        )
    import shutil  # noqa: PLC0415 - every sync imports this module, few make a store

    making = store.root.with_name(f"{store.root.name}.making-{os.getpid()}")
    shutil.rmtree(making, ignore_errors=True)  # of a killed process that had our id
    try:
        _build(StorePaths(making), template)
        with suppress(OSError):  # it is not there, or another process was quicker
            store.root.rmdir()
        try:
            making.rename(store.root)
        except OSError:
            if not store.runtime.is_dir():  # else another process was quicker
                raise
            return False
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return True


def _is_taken(root: Path) -> bool:
    try:
        return any(root.iterdir())
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        return True


def check(store: StorePaths) -> None:
    """Raise StoreError when the store is damaged or its configuration might run a program.

    Raises StoreVersionError when a newer ctxgit made it.
    """
    if not (store.git_dir / "HEAD").is_file() or not (store.git_dir / "objects").is_dir():
        raise StoreError(
            f"{store.root} is damaged: its repository is incomplete",
            hint=f"restore it from a backup, or move it away and run `ctx init`: {store.root}",
        )
    check_config(store.git_dir, SETTINGS)
    with suppress(FileNotFoundError):
        try:
            written = load_toml((store.root / "config.toml").read_bytes()).get("format", FORMAT)
        except ValueError as error:
            raise StoreError(
                f"{store.root / 'config.toml'} is not valid: {error}",
                hint=f"mend it, or bring it back: git -C {store.root} checkout config.toml",
            ) from error
        if not isinstance(written, int) or written > FORMAT:
            raise StoreVersionError(
                f"{store.root} has store format {written}, this ctxgit knows {FORMAT}",
                hint="install a newer ctxgit",
            )


def is_changed(store: StorePaths, path: Path) -> bool:
    """Whether ``path`` differs from what is committed on main. Raises GitError."""
    name = str(path.relative_to(store.root))
    with _repository(store) as repository:
        return bool(repository.git.status("--porcelain", "--untracked-files", "--", name))


def commit_main(store: StorePaths, paths: list[Path], message: str) -> None:
    """Commit ``paths`` on main, and nothing else that may lie changed beside them.

    The caller holds the store's lock. Raises GitError.
    """
    with _repository(store) as repository:
        names = [str(path.relative_to(store.root)) for path in paths]
        repository.git.add("--", *names)
        repository.git.commit("--quiet", "--only", "-m", message, "--", *names)


def make_runtime(store: StorePaths) -> None:
    """Make the folders that are never versioned."""
    for folder in (store.runtime, store.spool, store.rejected, store.recaps, store.sessions):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _build(making: StorePaths, template: Path) -> None:
    import shutil  # noqa: PLC0415 - as above

    shutil.copytree(template, making.root)
    for folder, _, files in os.walk(making.root):
        Path(folder).chmod(0o700)
        for name in files:
            (Path(folder) / name).chmod(0o600)
    with _our_environment(), _private_files():
        import git

        try:
            repository = git.Repo.init(making.root, initial_branch=MAIN)
            with repository.config_writer() as config:
                for name, value in SETTINGS.items():
                    section, option = name.split(".")
                    config.set_value(section, option, value)
            repository.git.add("--all")
            repository.git.commit("--quiet", "-m", "Make the context store")
        except git.GitCommandNotFound as error:
            raise no_git() from error
        except git.GitCommandError as error:
            raise GitError(f"git could not make the store: {_said(error)}") from error
        repository.close()
        make_runtime(making)


@contextmanager
def _repository(store: StorePaths) -> Iterator[git.Repo]:
    with _our_environment():
        import git

        try:
            with git.Repo(store.root) as repository:
                yield repository
        except git.GitCommandNotFound as error:
            raise no_git() from error
        except git.GitCommandError as error:
            raise GitError(f"git failed in {store.root}: {_said(error)}") from error


def _said(error: git.GitCommandError) -> str:
    """Return what git said, in one line; GitPython puts it between quotes."""
    text = str(error.stderr or error.stdout).strip().removesuffix("'")
    return last_word(text.partition("'")[2] or text) or f"exit code {error.status}"


@contextmanager
def _our_environment() -> Iterator[None]:
    """Give GitPython, which takes the process's environment, the scrubbed one.

    With defaults of our own for a new repository, whatever the user's configuration says.
    GitPython has to be imported in here: it runs git then, and raises ImportError unless kept
    quiet.
    """
    inherited = dict(os.environ)
    ours = {**scrubbed_environment(), **OUR_DEFAULTS, "GIT_PYTHON_REFRESH": "quiet"}
    try:
        os.environ.clear()
        os.environ.update(ours)
        yield
    finally:
        os.environ.clear()
        os.environ.update(inherited)


@contextmanager
def _private_files() -> Iterator[None]:
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
