"""A store from elsewhere must not make git run anything."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.place import find_place
from ctxgit.actions.sync import sync
from ctxgit.errors import CtxError, StoreError
from ctxgit.gitdir import find_store
from ctxgit.store.repository import SETTINGS, check
from ctxgit.store.trust import check_config
from support.git import git, repository
from support.store import make_project, put_session, run_ctx

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.paths import StorePaths


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    return make_project(tmp_path / "project")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.hooksPath", "/evil"),
        ("core.fsmonitor", "/evil"),
        ("core.sshCommand", "/evil"),
        ("core.pager", "/evil"),
        ("core.gitProxy", "/evil"),
        ("core.attributesFile", "/evil"),
        ("filter.x.clean", "/evil"),
        ("diff.evil.textconv", "/evil"),
        ("diff.external", "/evil"),
        ("gpg.program", "/evil"),
        ("commit.gpgSign", "true"),
        ("log.showSignature", "true"),
        ("remote.x.uploadpack", "/evil"),
        ("remote.x.promisor", "true"),
        ("extensions.partialClone", "x"),
        ("include.path", "/evil"),
        ("includeIf.gitdir:/.path", "/evil"),
        ("alias.log", "!/evil"),
        ("credential.helper", "/evil"),
        ("gc.recentObjectsHook", "/evil"),
        ("unknown.key", "1"),
    ],
)
def test_what_might_run_a_program_is_refused(store: StorePaths, key: str, value: str) -> None:
    put_session(store, 1)
    git(store.root, "config", key, value)
    with pytest.raises(StoreError, match=r"config sets .* git might run") as raised:
        sync(store)
    assert raised.value.hint
    assert f"--unset-all {key.lower().split('.')[0]}" in raised.value.hint.lower()
    git(store.root, "config", "--unset-all", key)
    assert sync(store).sessions[0].events == 4


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("user.name", "Ada"),
        ("remote.origin.url", "https://example.invalid/x.git"),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        ("branch.main.remote", "origin"),
        ("core.fsync", "none"),
    ],
)
def test_what_names_no_program_is_a_person_s_own_business(
    store: StorePaths, key: str, value: str
) -> None:
    git(store.root, "config", key, value)
    check(store)


@pytest.mark.parametrize(
    "text",
    [
        "[core] hooksPath = /evil\n",
        "[core]\n\thooksPath = \\\n/evil\n",
        "[core]\n\tbare = false ; x\n\thookspath=/evil\n",
        '[core "x\\"]\n\thooksPath = /evil\n',
        "hooksPath = /evil\n",
        "[core]\n\thooksPath\n",
        "[CORE]\n\tHOOKSPATH = /evil\n",
        "\ufeff[core]\n\thooksPath = /evil\n",
    ],
)
def test_no_spelling_of_it_gets_through(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").write_text(text, encoding="utf-8")
    with pytest.raises(StoreError):
        check_config(tmp_path, SETTINGS)


@pytest.mark.parametrize("name", ["commondir", "config.worktree"])
def test_no_configuration_comes_from_another_place(store: StorePaths, name: str) -> None:
    (store.git_dir / name).write_text("../elsewhere\n", encoding="utf-8")
    with pytest.raises(StoreError, match=name):
        check(store)


def test_a_repository_of_the_user_s_is_no_store(tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    before = sorted(str(path) for path in project.rglob("*"))
    with pytest.raises(CtxError, match="there is no context store"):
        find_place(project, store=project)
    for words in (["status"], ["init"], ["config", "recap.enabled", "false", "--in", "shared"]):
        for named in (str(project), ".", ""):
            done = run_ctx(*words, "--store", named, cwd=project)
            assert done.code == 1, (words, named, done)
    assert sorted(str(path) for path in project.rglob("*")) == before
    assert git(project, "log", "--format=%s") == "Change a.txt"


def test_a_store_of_somebody_else_s_is_not_found(tmp_path: Path) -> None:
    store = make_project(tmp_path / "shared", in_git=False)
    below = tmp_path / "shared" / "work"
    below.mkdir()
    assert find_store(str(below)) == str(store.root)
    try:
        shutil.chown(store.runtime, user=65534)
    except PermissionError:
        pytest.skip("only root can give a folder away")
    assert find_store(str(below)) is None
    found = subprocess.run(["/bin/sh", "-c", f'[ -O "{store.runtime}" ]'], check=False).returncode
    assert found == 1
