"""hook.sh finds the store that ctxgit/gitdir.py finds, in every layout that git can make."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ctxgit import gitdir
from support.git import (
    bare_repository,
    git,
    linked_work_tree,
    make_store,
    repository,
    separate_repository,
    submodule,
)
from support.store import SHELLS, hook_environment, run_hook

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def inside(root: Path, name: str = "a b/c") -> Path:
    """Make a folder below ``root`` and return it."""
    folder = root / name
    folder.mkdir(parents=True)
    return folder


def name_in_exclude(common: Path, store: Path, *, end: str = "\n") -> None:
    """Let ``info/exclude`` name a store, with other lines around it."""
    (common / "info").mkdir(exist_ok=True)
    mark = os.fsdecode(gitdir.STORE_MARK)
    (common / "info" / "exclude").write_text(f"# mine\n*.o\n{mark}{store}{end}/x/{end}")


def without_git(base: Path) -> list[Path]:
    root = base / "project"
    root.mkdir()
    store = make_store(root)
    knowledge = inside(store, "knowledge/how to")
    return [root, inside(root), store, knowledge, store / ".git", base]


def main_work_tree(base: Path) -> list[Path]:
    root = repository(base / "project")
    store = make_store(root)
    return [root, inside(root), store, store / ".git", root / ".git", base]


def without_a_store(base: Path) -> list[Path]:
    make_store(base)
    root = repository(base / "project")
    (root / ".context-store").mkdir()
    return [root, inside(root), root / ".context-store"]


def broken_git_folders(base: Path) -> list[Path]:
    """What git does not take for a repository is no edge of one."""
    make_store(base)
    empty, dangling, file, stray = (inside(base, name) for name in ("e", "d", "f", "s"))
    (empty / ".git").mkdir()
    (dangling / ".git").mkdir()
    (dangling / ".git" / "HEAD").symlink_to("refs/heads/gone")
    (file / ".git").write_text("gitdir: ../gone\n")
    (stray / ".git").write_text("no repository\n")
    return [inside(place) for place in (empty, dangling, file, stray)]


def linked_work_trees(base: Path) -> list[Path]:
    root = repository(base / "project")
    make_store(root)
    near = linked_work_tree(root, root / "trees" / "near", "near")
    far = linked_work_tree(root, base / "far away", "far")
    return [near, inside(near), far, inside(far)]


def linked_with_relative_paths(base: Path) -> list[Path]:
    root = repository(base / "project")
    make_store(root)
    tree = linked_work_tree(root, base / "tree")
    relative = os.path.relpath(root / ".git" / "worktrees" / "tree", tree)
    (tree / ".git").write_text(f"gitdir: {relative}\n")
    return [tree, inside(tree)]


def linked_without_a_store(base: Path) -> list[Path]:
    make_store(base)
    root = repository(base / "deep" / "project")
    return [linked_work_tree(root, base / "tree"), inside(root)]


def bare_with_work_trees(base: Path) -> list[Path]:
    bare = bare_repository(base / "project" / "bare.git")
    make_store(bare.parent)
    tree = linked_work_tree(bare, base / "project" / "tree")
    far = linked_work_tree(bare, base / "far", "far")
    return [tree, inside(tree), far, bare, bare / "refs"]


def separate_git_dir(base: Path) -> list[Path]:
    root = separate_repository(base / "project", base / "elsewhere" / "project.git")
    make_store(root)
    return [root, inside(root)]


def linked_to_a_separate_git_dir(base: Path) -> list[Path]:
    common = base / "elsewhere" / "project.git"
    root = separate_repository(base / "project", common)
    store = make_store(root)
    name_in_exclude(common, store)
    tree = linked_work_tree(root, base / "tree")
    return [root, tree, inside(tree)]


def a_store_elsewhere(base: Path) -> list[Path]:
    """Named in info/exclude: asked in linked work trees only, and after the one beside."""
    root = repository(base / "project")
    elsewhere = base / "elsewhere é"
    elsewhere.mkdir()
    name_in_exclude(root / ".git", make_store(elsewhere))
    return [root, linked_work_tree(root, base / "tree")]


def a_copied_project(base: Path) -> list[Path]:
    root = repository(base / "copy")
    original = base / "original"
    original.mkdir()
    name_in_exclude(root / ".git", make_store(original))
    make_store(root)
    return [root, linked_work_tree(root, base / "tree")]


def stores_that_are_gone(base: Path) -> list[Path]:
    root = repository(base / "project")
    here = base / "here"
    here.mkdir()
    name_in_exclude(root / ".git", base / "gone" / ".context-store")
    mark = os.fsdecode(gitdir.STORE_MARK)
    with (root / ".git" / "info" / "exclude").open("a") as file:
        file.write(f"{mark}{make_store(here)}\n/x/\n")
    return [linked_work_tree(root, base / "tree")]


def submodules(base: Path) -> list[Path]:
    origin = repository(base / "origin")
    outer = repository(base / "outer")
    inner = submodule(outer, origin)
    bare_inner = submodule(outer, origin, "other")
    make_store(outer)
    make_store(inner)
    return [outer, inner, inside(inner), bare_inner, inside(bare_inner)]


def through_symlinks(base: Path) -> list[Path]:
    root = repository(base / "project")
    make_store(root)
    folder = inside(root)
    other = repository(base / "other")
    link = base / "link"
    link.symlink_to(root)
    (other / "in").symlink_to(folder)
    return [link, link / "a b", other / "in", other]


def a_symlinked_store(base: Path) -> list[Path]:
    root = repository(base / "project")
    away = base / "away"
    away.mkdir()
    (root / ".context-store").symlink_to(make_store(away, "any name"))
    return [root, inside(root), linked_work_tree(root, base / "tree")]


def nested_repositories(base: Path) -> list[Path]:
    outer = repository(base / "outer")
    make_store(outer)
    inner = repository(outer / "inner")
    ignored = inside(outer, "vendor")
    return [outer, inner, inside(inner), ignored]


def heads_of_all_kinds(base: Path) -> list[Path]:
    root = repository(base / "project")
    make_store(root)
    git(root, "checkout", "-q", "--detach")
    unborn = base / "unborn"
    unborn.mkdir()
    git(unborn, "init", "-q")
    make_store(unborn)
    return [root, unborn]


LAYOUTS = [
    without_git,
    main_work_tree,
    without_a_store,
    broken_git_folders,
    linked_work_trees,
    linked_with_relative_paths,
    linked_without_a_store,
    bare_with_work_trees,
    separate_git_dir,
    linked_to_a_separate_git_dir,
    a_store_elsewhere,
    a_copied_project,
    stores_that_are_gone,
    submodules,
    through_symlinks,
    a_symlinked_store,
    nested_repositories,
    heads_of_all_kinds,
]


def stores_with_an_event(base: Path) -> list[str]:
    """Return the stores below ``base`` that got an event, and empty their spools."""
    found = []
    for event in base.rglob(".git/ctx/spool/*"):
        if event.name.startswith("."):
            found.append(str(event.parents[3]))
        event.unlink()
    return found


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("sh", SHELLS)
def test_both_find_the_same_store(
    layout: Callable[[Path], list[Path]], sh: tuple[str, ...], tmp_path: Path
) -> None:
    base = tmp_path / "base"
    base.mkdir()
    found = {}
    expected = {}
    for place in layout(base):
        store = gitdir.find_store(str(place))
        expected[place] = [os.path.realpath(store)] if store else []
        done = run_hook("PostToolUse", b"{}", hook_environment(place), sh=sh, cwd=base)
        assert (done.code, done.out, done.err) == (0, "", "")
        found[place] = stores_with_an_event(base)
    assert found == expected


def test_the_layouts_are_worth_something(tmp_path: Path) -> None:
    """Stores are found, and there are places where none is: both in many layouts."""
    answers = set()
    for layout in LAYOUTS:
        base = tmp_path / layout.__name__
        base.mkdir()
        answers |= {(layout, gitdir.find_store(str(place)) is None) for place in layout(base)}
    assert sum(is_none for _, is_none in answers) >= 7
    assert sum(not is_none for _, is_none in answers) >= 14
