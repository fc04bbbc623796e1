"""Builders of real repositories in the layouts that people use."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def git(directory: Path, *arguments: str) -> str:
    """Run git in ``directory`` and return what it printed, without the last line feed.

    What inherited variables could redirect is left out; identity and configuration stay.
    """
    misleading = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"}
    environment = {name: value for name, value in os.environ.items() if name not in misleading}
    command = ["git", "-c", "protocol.file.allow=always", *arguments]
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, os.fsdecode(done.stderr)
    return os.fsdecode(done.stdout).removesuffix("\n")


def commit(work_tree: Path, name: str = "a.txt", text: str = "a\n") -> str:
    """Commit one file and return the commit's id."""
    (work_tree / name).write_text(text)
    git(work_tree, "add", "--", name)
    git(work_tree, "commit", "-q", "-m", f"Change {name}")
    return git(work_tree, "rev-parse", "HEAD")


def repository(root: Path, *options: str) -> Path:
    """Make a repository with one commit on ``main`` and return its root."""
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main", *options)
    commit(root)
    return root


def separate_repository(root: Path, git_dir: Path) -> Path:
    """Make a repository whose git directory lies elsewhere, and return its root."""
    git_dir.parent.mkdir(parents=True, exist_ok=True)
    return repository(root, f"--separate-git-dir={git_dir}")


def bare_repository(git_dir: Path) -> Path:
    """Make a bare repository with one commit on ``main`` and return its git directory."""
    origin = repository(git_dir.parent / f"{git_dir.name}-origin")
    git(origin.parent, "clone", "-q", "--bare", str(origin), str(git_dir))
    return git_dir


def linked_work_tree(repository: Path, place: Path, branch: str = "side") -> Path:
    """Add a work tree on a new branch to a repository, reached through any of its folders."""
    git(repository, "worktree", "add", "-q", "-b", branch, str(place))
    return place


def submodule(outer: Path, origin: Path, name: str = "sub") -> Path:
    """Add ``origin`` as a submodule of ``outer``, commit it, and return its work tree."""
    git(outer, "submodule", "--quiet", "add", str(origin), name)
    git(outer, "commit", "-q", "-m", f"Add {name}")
    return outer / name


def make_store(root: Path, name: str = ".context-store") -> Path:
    """Make the least that counts as a store in ``root``: a repository with ``.git/ctx``."""
    store = root / name
    store.mkdir()
    git(store, "init", "-q", "-b", "main")
    (store / ".git" / "ctx").mkdir()
    return store
