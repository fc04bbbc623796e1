"""A whole session leaves the user's repository as it was, in every kind of work tree."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.git import (
    bare_repository,
    git,
    linked_work_tree,
    repository,
    separate_repository,
    submodule,
)
from support.store import HOOKS, ROOT, hook_environment, run_ctx, run_hook

if TYPE_CHECKING:
    from collections.abc import Callable

SESSION = [
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "demo" / "session").iterdir())
]
SHORT = [*SESSION[:5], *SESSION[-2:]]
"""Its start, some results, a stop and the end."""
MISLEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR")


def plain(base: Path) -> Path:
    return repository(base / "project")


def linked(base: Path) -> Path:
    return linked_work_tree(repository(base / "project"), base / "tree")


def bare(base: Path) -> Path:
    return linked_work_tree(bare_repository(base / "bare.git"), base / "tree")


def separate(base: Path) -> Path:
    return separate_repository(base / "project", base / "elsewhere.git")


def sub(base: Path) -> Path:
    return submodule(repository(base / "outer"), repository(base / "origin"))


def facts(base: Path, work_tree: Path) -> dict[str, str]:
    """Return all there is to know of the repositories below ``base`` but for the stores.

    ``info/exclude`` is where a store is hidden: the one file that may change.
    """
    states = {
        path: hashlib.sha256(path.read_bytes()).hexdigest() + f" {path.stat().st_mode:o}"
        for path in base.rglob("*")
        if path.is_file() and ".context-store" not in path.parts and path.name != "exclude"
    }
    asked = {
        " ".join(words): git(work_tree, *words)
        for words in (
            ("rev-parse", "HEAD"),
            ("for-each-ref",),
            ("config", "--list", "--local"),
            ("status", "--porcelain"),
            ("stash", "list"),
            ("worktree", "list", "--porcelain"),
        )
    }
    ignored = git(work_tree, "status", "--porcelain", "--ignored").splitlines()
    asked["ignored"] = "\n".join(line for line in ignored if line != "!! .context-store/")
    return {str(path): state for path, state in states.items()} | asked


def replay(project: Path, session_texts: list[str]) -> None:
    """Give recorded events to the hooks, as the client did."""
    for text in session_texts:
        marks = {"{project}": project, "{home}": os.environ["HOME"], "{key}": "x"}
        for mark, value in marks.items():
            text = text.replace(mark, str(value))  # noqa: PLW2901 - filled in
        record = json.loads(text)
        session = record["stdin"]["session_id"]
        environment = hook_environment(project, session=session, pid=record["pid"])
        environment |= dict.fromkeys(MISLEADING, "/nowhere")
        if record["event"] in HOOKS:
            done = run_hook(record["event"], record["stdin"], environment)
            assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    ("layout", "events"),
    [(plain, SESSION), *((layout, SHORT) for layout in (linked, bare, separate, sub))],
)
def test_a_whole_session_changes_nothing(
    layout: Callable[[Path], Path],
    events: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = tmp_path / "base"
    base.mkdir()
    project = layout(base)
    (project / "ignored.o").touch()
    (project / ".gitignore").write_text("*.o\n")
    (project / "a.txt").write_text("changed\n")
    (project / "new.txt").write_text("staged\n")
    git(project, "add", "new.txt")
    for name in MISLEADING:
        monkeypatch.setenv(name, "/nowhere")
    git(project, "status")  # git itself refreshes the index
    before = facts(base, project)
    assert run_ctx("init", cwd=project).code == 0
    replay(project, events)
    for words in (
        ("status",),
        ("task", "start", "Look"),
        ("config", "recap.enabled", "false", "--in", "shared"),
    ):
        done = run_ctx(*words, cwd=project)
        assert (done.code, done.err) == (0, ""), words
    assert facts(base, project) == before
