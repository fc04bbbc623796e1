"""A real project with a store for each test: made once, then copied."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.place import Place
from ctxgit.paths import StorePaths
from ctxgit.store.git import Git
from support.store import make_project

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def made_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return a function that makes the project the first time it is called in a test."""
    root = tmp_path_factory.mktemp("made") / "project"

    def make() -> Path:
        if not root.exists():
            make_project(root)
        return root

    return make


@pytest.fixture
def project(made_project: Callable[[], Path], tmp_path: Path) -> Path:
    """A project in git with a new store."""
    root = tmp_path / "project"
    shutil.copytree(made_project(), root)
    return root


@pytest.fixture
def store(project: Path) -> StorePaths:
    """The project's store."""
    return StorePaths(project / ".context-store")


@pytest.fixture
def place(project: Path, store: StorePaths) -> Place:
    """The place a verb is given for in the project's root."""
    return Place(store=store, directory=project)


@pytest.fixture
def repo(store: StorePaths) -> Git:
    """The store's repository."""
    return Git(store.git_dir)
