"""A real store for each test: made once, then copied, since making one takes long."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ctxgit import resources
from ctxgit.paths import StorePaths
from ctxgit.store import repository
from ctxgit.store.git import Git
from support.git import git

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = ".context-store"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return a function that makes the store the first time it is called in a test."""
    root = tmp_path_factory.mktemp("made") / NAME

    def make() -> Path:
        if not root.exists():
            repository.create(StorePaths(root), resources.template_dir())
            git(root, "config", "core.fsync", "none")  # a power cut would spoil the tests anyway
        return root

    return make


@pytest.fixture
def store(made: Callable[[], Path], tmp_path: Path) -> StorePaths:
    """A new store in a project of its own."""
    root = tmp_path / "project" / NAME
    shutil.copytree(made(), root)
    return StorePaths(root)


@pytest.fixture
def repo(store: StorePaths) -> Git:
    """The store's repository."""
    return Git(store.git_dir)
