"""Libraries that take time to import are imported in one module each, and only when needed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ctxgit

PACKAGE = Path(ctxgit.__file__).parent
HOMES = {
    "git": "store/repository.py",
    "markdown_it": "markdown.py",
    "rich": "cli/drawing.py",
    "sqlite3": "store/index.py",
    "tomli_w": "documents.py",
}


WITH_OPTIONS = {"cli/app.py", "cli/options.py", "cli/state_verbs.py"}


def importers(library: str) -> set[str]:
    """Return the modules of ours that import ``library``, but for type checkers."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        guarded = {
            id(node)
            for branch in ast.walk(tree)
            if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
            for node in ast.walk(branch)
        }
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            if id(node) not in guarded and library in {name.split(".")[0] for name in names}:
                found.add(str(path.relative_to(PACKAGE)))
    return found


@pytest.mark.parametrize(("library", "home"), HOMES.items(), ids=HOMES)
def test_a_library_has_one_home(library: str, home: str) -> None:
    assert importers(library) == {home}


def test_the_command_line_is_parsed_where_verbs_are_wired() -> None:
    assert importers("typer") == WITH_OPTIONS


def test_this_test_sees_imports() -> None:
    assert len(importers("pathlib")) > 10
