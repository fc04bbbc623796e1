"""Hooks in a project without a store: one word to the user, once; or a store, if asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import disk
from support.git import git, linked_work_tree, repository
from support.payloads import payload
from support.store import HOOKS, SHELLS, hook_environment, run_hook

if TYPE_CHECKING:
    from collections.abc import Mapping

HINT = "ctxgit keeps no context for this project yet; `ctx init` starts it."


def start(environment: Mapping[str, str], *, source: str = "startup") -> str:
    """Run the hook of a session's start and return the message for the user, if any."""
    done = run_hook("SessionStart", payload("SessionStart", source=source), environment)
    assert (done.code, done.err) == (0, "")
    if not done.out:
        return ""
    answer = json.loads(done.out)
    assert set(answer) == {"systemMessage"}  # which the client never shows to the model
    return str(answer["systemMessage"])


def set_auto_init(value: str) -> None:
    config = Path(os.environ["XDG_CONFIG_HOME"], "ctxgit", "config.toml")
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"auto_init = {value}\n", encoding="utf-8")


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


@pytest.mark.parametrize("event", sorted(HOOKS.keys() - {"SessionStart"}))
def test_other_events_say_and_keep_nothing(event: str, project: Path) -> None:
    before = files(project)
    done = run_hook(event, payload(event), hook_environment(project))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert files(project) == before


@pytest.mark.parametrize("sh", SHELLS)
def test_the_user_is_told_once(sh: tuple[str, ...], project: Path) -> None:
    environment = hook_environment(project)
    before = files(project)
    first = run_hook("SessionStart", payload("SessionStart"), environment, sh=sh)
    assert json.loads(first.out) == {"systemMessage": HINT}
    assert start(environment) == ""
    assert start(environment, source="resume") == ""
    assert files(project) == before


def test_once_for_each_project(project: Path) -> None:
    other = repository(project.parent / "other")
    assert [start(hook_environment(each)) for each in (project, other, project, other)] == [
        HINT,
        HINT,
        "",
        "",
    ]


def test_folders_and_work_trees_of_a_repository_are_one_project(project: Path) -> None:
    (project / "sub").mkdir()
    tree = linked_work_tree(project, project.parent / "tree")
    assert start(hook_environment(project / "sub")) == HINT
    assert start(hook_environment(project)) == ""
    assert start(hook_environment(tree)) == ""


def test_once_for_each_folder_of_data_of_the_plugin(project: Path, tmp_path: Path) -> None:
    environment = hook_environment(project)
    assert start(environment) == HINT
    assert start(environment | {"CLAUDE_PLUGIN_DATA": str(tmp_path / "other data")}) == HINT
    assert start(environment) == ""


def test_without_a_folder_for_data_it_is_once_as_well(project: Path) -> None:
    environment = hook_environment(project)
    del environment["CLAUDE_PLUGIN_DATA"]
    assert [start(environment), start(environment)] == [HINT, ""]


def test_a_folder_outside_git_is_told_too(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    assert [start(hook_environment(folder)), start(hook_environment(folder))] == [HINT, ""]


def test_a_store_is_made_if_the_user_wants_that(project: Path) -> None:
    set_auto_init('"on"')
    (project / "sub").mkdir()
    assert "made a context store" in start(hook_environment(project / "sub"))
    assert (project / ".context-store" / ".git" / "ctx" / "spool").is_dir()
    assert git(project, "status", "--porcelain") == ""
    assert not (project / ".claude").exists()
    assert start(hook_environment(project)) == ""
    spool = project / ".context-store" / ".git" / "ctx" / "spool"
    run_hook("UserPromptSubmit", payload("UserPromptSubmit"), hook_environment(project))
    assert len(list(spool.iterdir())) == 2


def test_no_store_is_made_outside_git(tmp_path: Path) -> None:
    set_auto_init('"on"')
    folder = tmp_path / "folder"
    folder.mkdir()
    assert start(hook_environment(folder)) == HINT
    assert files(folder) == []


def test_the_project_does_not_decide_that_it_gets_a_store(project: Path) -> None:
    for place in (".config/ctxgit", "."):
        (project / place).mkdir(parents=True, exist_ok=True)
        (project / place / "config.toml").write_text('auto_init = "on"\n')
    assert start(hook_environment(project)) == HINT
    assert not (project / ".context-store").exists()


@pytest.mark.parametrize("value", ['"off"', "true", "= ", '"sometimes"'])
def test_any_other_setting_makes_none(value: str, project: Path) -> None:
    set_auto_init(value)
    message = start(hook_environment(project))
    assert message.startswith("ctxgit keeps no context for this project")
    assert (message == HINT) == (value == '"off"')
    assert start(hook_environment(project)) == ""
    assert not (project / ".context-store").exists()


@disk.needs_mounts
def test_a_store_that_cannot_be_made_is_told_once(project: Path) -> None:
    set_auto_init('"on"')
    sh = [*disk.read_only(project), "/bin/sh"]
    said = []
    for _ in range(2):
        done = run_hook("SessionStart", payload("SessionStart"), hook_environment(project), sh=sh)
        assert (done.code, done.err) == (0, "")
        said.append(done.out)
    assert "Read-only file system" in json.loads(said[0])["systemMessage"]
    assert said[1] == ""


def test_a_home_that_cannot_be_written_is_no_trouble(project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environment = hook_environment(project) | {"CLAUDE_PLUGIN_DATA": str(tmp_path / "file" / "x")}
    assert start(environment) == ""
