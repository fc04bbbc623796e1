"""``ctx config``: each layer read and written, the shared one by a commit of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.git import git
from support.store import Done, ctx, make_project

if TYPE_CHECKING:
    from ctxgit.paths import StorePaths

KEY = "recap.max_characters"


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    return make_project(tmp_path / "project")


@pytest.fixture
def project(store: StorePaths) -> Path:
    return store.root.parent


def user_file() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"], "ctxgit", "config.toml")


def data(done: Done) -> Any:
    assert (done.code, done.err) == (0, "")
    return done.json["data"]


def setting(project: Path, key: str = KEY) -> tuple[Any, str]:
    (row,) = data(ctx("config", key, "--json", cwd=project))["settings"]
    return row["value"], row["layer"]


def test_every_setting_is_listed_with_its_origin(project: Path) -> None:
    rows = data(ctx("config", "--json", cwd=project))["settings"]
    assert {row["layer"] for row in rows} == {"default"}
    assert all(row["value"] == row["default"] for row in rows)
    assert {"auto_init", KEY, "recap.enabled"} <= {row["key"] for row in rows}
    shown = ctx("config", cwd=project).out
    for row in rows:
        assert row["key"] in shown
        assert row["help"] in shown


def test_the_nearer_layer_wins_and_can_be_unset(store: StorePaths, project: Path) -> None:
    for value, layer in ((3000, "shared"), (4000, "user"), (5000, "machine")):
        result = data(ctx("config", KEY, str(value), "--in", layer, "--json", cwd=project))
        assert result["changed"] is True
        assert setting(project) == (value, layer)
    for layer, left in (
        ("machine", (4000, "user")),
        ("user", (3000, "shared")),
        ("shared", (10_000, "default")),
    ):
        for changed in (True, False):
            done = ctx("config", KEY, "--unset", "--in", layer, "--json", cwd=project)
            assert data(done)["changed"] is changed
        assert setting(project) == left
    for path in (store.config, user_file()):
        assert path.stat().st_mode & 0o777 == 0o600


def test_without_a_layer_it_is_this_machines(store: StorePaths, project: Path) -> None:
    ctx("config", KEY, "3000", cwd=project)
    assert setting(project) == (3000, "machine")
    assert not user_file().exists()
    assert git(store.root, "log", "--format=%s", "main") == "Make the context store"


def test_what_may_stand_in_the_users_file_only_goes_there(project: Path) -> None:
    assert ctx("config", "auto_init", "on", cwd=project).code == 0
    assert setting(project, "auto_init") == ("on", "user")
    for layer in ("shared", "machine"):
        done = ctx("config", "auto_init", "off", "--in", layer, cwd=project)
        assert (done.code, done.out) == (1, "")
        assert done.err.splitlines()[1] == "hint: set it with --in user"


def test_a_setting_nearly_named_is_suggested(project: Path) -> None:
    for words in (["recap.enable"], ["recap.enable", "true"], ["recap.enable", "--unset"]):
        done = ctx("config", *words, cwd=project)
        assert done.code == 1
        assert done.err.splitlines() == [
            "error: unknown configuration key recap.enable",
            "hint: did you mean recap.enabled?",
        ]


@pytest.mark.parametrize("value", ["1999", "10001", "1e3", "", "²", "--5", "٣", "true", "1" * 5000])
def test_a_wrong_value_changes_nothing(value: str, store: StorePaths, project: Path) -> None:
    done = ctx("config", KEY, "--", value, cwd=project)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[0].endswith("a number from 2000 to 10000 is allowed")
    assert not store.config.exists()


def test_a_shared_setting_is_a_commit_of_its_own(store: StorePaths, project: Path) -> None:
    """Also in the middle of a person's own work on main."""
    readme = store.root / "README.md"
    readme.write_text("mine\n")
    (store.root / "staged.md").write_text("staged\n")
    (store.root / "new.md").write_text("new\n")
    git(store.root, "add", "staged.md")
    before = git(store.root, "status", "--porcelain")
    assert ctx("config", KEY, "3000", "--in", "shared", cwd=project).code == 0
    assert git(store.root, "log", "-1", "--format=%s", "main") == f"Set {KEY} to 3000"
    assert git(store.root, "show", "--format=", "--name-only", "main") == "config.toml"
    assert git(store.root, "status", "--porcelain") == before
    assert readme.read_text() == "mine\n"
    ctx("config", KEY, "--unset", "--in", "shared", cwd=project)
    assert git(store.root, "log", "-1", "--format=%s", "main") == f"Unset {KEY}"
    assert git(store.root, "status", "--porcelain") == before


def test_a_persons_edit_of_the_same_file_gets_a_commit_of_its_own(
    store: StorePaths, project: Path
) -> None:
    config = store.root / "config.toml"
    config.write_text(config.read_text() + "\n[hint]\nmax_characters = 300\n")
    assert ctx("config", KEY, "3000", "--in", "shared", cwd=project).code == 0
    subjects = git(store.root, "log", "-2", "--format=%s", "main").splitlines()
    assert subjects == [f"Set {KEY} to 3000", "Take in edits of config.toml"]
    assert setting(project, "hint.max_characters") == (300, "shared")
    assert git(store.root, "status", "--porcelain") == ""


def test_a_commit_that_fails_leaves_no_setting(store: StorePaths, project: Path) -> None:
    lock = store.git_dir / "index.lock"
    lock.touch()
    before = (store.root / "config.toml").read_bytes()
    done = ctx("config", KEY, "3000", "--in", "shared", cwd=project)
    assert (done.code, done.out) == (1, "")
    assert "index.lock" in done.err
    assert (store.root / "config.toml").read_bytes() == before
    lock.unlink()
    assert ctx("config", KEY, "3000", "--in", "shared", cwd=project).code == 0
    assert git(store.root, "status", "--porcelain") == ""
    assert setting(project) == (3000, "shared")


def test_the_users_own_git_settings_have_no_say(project: Path) -> None:
    ignore = Path(os.environ["HOME"], "ignore")
    ignore.write_text("*.toml\n*.md\n")
    hooks = Path(os.environ["HOME"], "hooks")
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    Path(os.environ["HOME"], ".gitconfig").write_text(
        f"[core]\nexcludesFile = {ignore}\nhooksPath = {hooks}\nautocrlf = true\nabbrev = 4\n"
        "[commit]\ngpgSign = true\n[tag]\ngpgSign = true\n[gpg]\nprogram = false\n"
        "[color]\nui = always\n[log]\nshowSignature = true\ndecorate = full\nshowRoot = false\n"
        "[diff]\nexternal = false\nnoprefix = true\n[format]\npretty = oneline\n"
        "[init]\ndefaultBranch = trunk\n[user]\nuseConfigOnly = true\n"
        '[trailer]\nseparators = "#"\n[status]\nshowUntrackedFiles = no\nshort = true\n'
    )
    assert ctx("config", KEY, "3000", "--in", "shared", cwd=project).code == 0
    other = project.parent / "other"
    other.mkdir()
    assert ctx("init", cwd=other).code == 0
    tree = git(other / ".context-store", "ls-tree", "-r", "--name-only", "main").splitlines()
    assert tree == [".gitattributes", "README.md", "config.toml"]
    (root,) = data(ctx("log", "--json", cwd=project))["commits"] or [None]
    assert root is None
