"""Finding repositories and stores by reading files: no git process, no import that takes time.

A hook whose whole budget is two starts of an interpreter imports this module, so paths are
plain strings and nothing here raises: what cannot be read counts as not there. The layout
of git's files is that of gitrepository-layout(5) and gitglossary(7).
"""

from __future__ import annotations

import os
import zlib

STORE_NAME = ".context-store"
"""The name of the store's folder wherever its place is not given by hand."""

STORE_MARK = b"# ctxgit store: "
"""How the comment begins by which a repository's ``info/exclude`` names its store."""

_MAX_SYMREFS = 5  # git follows no more: SYMREF_MAXDEPTH in refs.c
_OBJECT_ID_LENGTHS = (40, 64)  # hex digits of SHA-1 and SHA-256
_NO_HEAD = ("", "")
_REFTABLE_STUB = "refs/heads/.invalid"  # what HEAD names when refs are not kept in files


def find_git_dir(directory: str) -> tuple[str, str] | None:
    """Return the work tree's root and the git directory that git would use in ``directory``.

    Both are absolute and free of symlinks. The root is ``""`` inside a git directory itself
    (a bare repository, or somewhere in ``.git``). ``None`` outside git, and where a
    ``.git`` file names something that is no git directory: there git gives up too. The
    environment and ``core.worktree`` are not asked.
    """
    for level in _levels(directory):
        entry = os.path.join(level, ".git")
        if os.path.isfile(entry):
            git_dir = read_git_file(entry)
            return (level, git_dir) if is_git_dir(git_dir) else None
        if is_git_dir(entry):
            return level, os.path.realpath(entry)
        if is_git_dir(level):
            return "", level
    return None


def read_git_file(path: str) -> str:
    """Return the git directory that the ``.git`` file at ``path`` names, ``""`` if none."""
    content = _read(path)
    if not content.startswith(b"gitdir: "):
        return ""
    named = os.fsdecode(content[len(b"gitdir: ") :].rstrip(b"\r\n"))
    return _resolve(os.path.dirname(path), named)


def is_git_dir(path: str) -> bool:
    """Whether ``path`` has what git asks of a git directory: HEAD, objects and refs."""
    if not path or not os.path.lexists(os.path.join(path, "HEAD")):
        return False
    shared = common_dir(path)
    return all(os.path.isdir(os.path.join(shared, name)) for name in ("objects", "refs"))


def common_dir(git_dir: str) -> str:
    """Return the directory that the work trees of ``git_dir``'s repository share.

    It is ``git_dir`` itself unless that belongs to a linked work tree.
    """
    named = os.fsdecode(_read(os.path.join(git_dir, "commondir")).rstrip(b"\r\n"))
    return (_resolve(git_dir, named) or git_dir) if named else git_dir


def read_head(git_dir: str) -> tuple[str, str]:
    """Return the branch and the commit id of HEAD, for one work tree's git directory.

    The branch is without ``refs/heads/`` and ``""`` when HEAD is detached; the commit is
    ``""`` on an unborn branch. Both are ``""`` where HEAD cannot be read from files.
    """
    shared = common_dir(git_dir)
    value = _read_ref(os.path.join(git_dir, "HEAD"))
    name = ""
    for _ in range(_MAX_SYMREFS):
        if not value.startswith(b"ref:"):
            break
        name = os.fsdecode(value[len(b"ref:") :].strip())
        if name == _REFTABLE_STUB or not name.startswith("refs/"):
            return _NO_HEAD
        value = _read_ref(os.path.join(shared, name)) or _read_packed_ref(shared, name)
    return name.removeprefix("refs/heads/"), _as_object_id(value)


def find_store(directory: str) -> str | None:
    """Return the store that belongs to ``directory``, by these rules.

    1. Resolve symlinks, then look at ``directory`` and each folder above it in turn.
    2. A folder named ``.context-store`` is a store, not a place in a project: go on above.
    3. ``<folder>/.context-store`` is the answer if it is a store: has a folder ``.git/ctx``
       that belongs to who asks.
    4. A folder with ``.git`` is the edge of a repository; nothing above it is asked:
       a. ``.git`` is a folder with HEAD: a main work tree, and it has no store.
       b. ``.git`` is a file and the git directory it names has no ``commondir``: a main work
          tree too (a submodule, ``--separate-git-dir``), and it has no store.
       c. ``.git`` is a file and ``commondir`` is there: a linked work tree. The answer is
          the first that is a store of: ``.context-store`` beside the common directory;
          those named by ``# ctxgit store: `` lines in its ``info/exclude`` (which a copied
          project still holds of its original, so they come second).
    5. At the root of the file system: no store.
    """
    for level in _levels(directory):
        if os.path.basename(level) == STORE_NAME:
            continue
        store = os.path.join(level, STORE_NAME)
        if is_store(store):
            return store
        entry = os.path.join(level, ".git")
        if os.path.isfile(entry):
            return _store_of_linked_work_tree(read_git_file(entry))
        if os.path.lexists(os.path.join(entry, "HEAD")):
            return None
    return None


def work_tree_key(work_tree: str) -> str:
    """Return a short file name for what is kept for ``work_tree``.

    Eight hex digits: two work trees may share one, so the file says whose it is.
    """
    return f"{zlib.crc32(os.fsencode(work_tree)):08x}"


def is_store(path: str) -> bool:
    """Whether ``path`` is a store of ours: a repository with a runtime folder that we own.

    Anyone may put a folder of this name above a place where others work.
    """
    runtime = os.path.join(path, ".git", "ctx")
    return os.path.isdir(runtime) and os.stat(runtime).st_uid == os.geteuid()


def stores_named_in(shared: str) -> list[str]:
    """Return the stores that ``info/exclude`` of the common directory ``shared`` names.

    They are absolute paths in the file's order, whether or not a store is still there.
    """
    lines = _read(os.path.join(shared, "info", "exclude")).split(b"\n")
    marked = (line.rstrip(b"\r") for line in lines if line.startswith(STORE_MARK))
    return [os.fsdecode(line[len(STORE_MARK) :]) for line in marked]


def _store_of_linked_work_tree(git_dir: str) -> str | None:
    shared = common_dir(git_dir)
    if shared == git_dir:
        return None
    beside = os.path.join(os.path.dirname(shared), STORE_NAME)
    candidates = (beside, *stores_named_in(shared))
    return next((store for store in candidates if is_store(store)), None)


def _levels(directory: str) -> list[str]:
    """``directory`` without symlinks and all folders above it, nearest first."""
    level = _resolve(directory, "")
    levels = [level] if level else []
    while level and level != os.path.dirname(level):
        level = os.path.dirname(level)
        levels.append(level)
    return levels


def _resolve(base: str, path: str) -> str:
    """``path`` taken from ``base``, absolute and free of symlinks; ``""`` if it cannot be one."""
    try:
        return os.path.realpath(os.path.join(base, path))
    except (OSError, ValueError):  # the current folder is gone; a NUL or a lone surrogate
        return ""


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError):
        return b""


def _read_ref(path: str) -> bytes:
    """Return what a loose ref holds; a symlink into ``refs/`` counts as ``ref: …``."""
    try:
        target = os.readlink(path)
    except (OSError, ValueError):
        return _read(path).strip()
    return b"ref: " + os.fsencode(target) if target.startswith("refs/") else _read(path).strip()


def _read_packed_ref(shared: str, name: str) -> bytes:
    packed = b"\n" + _read(os.path.join(shared, "packed-refs"))
    at = packed.find(b" " + os.fsencode(name) + b"\n")
    return packed[packed.rfind(b"\n", 0, at) + 1 : at] if at >= 0 else b""


def _as_object_id(value: bytes) -> str:
    hexadecimal = not value.strip(b"0123456789abcdef")
    return value.decode() if hexadecimal and len(value) in _OBJECT_ID_LENGTHS else ""
