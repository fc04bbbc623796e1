from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgit import paths
from ctxgit.errors import CtxError, NotInProjectError, StoreError
from ctxgit.paths import Project, find_project, hide_path, hide_store, unhide_store
from support.git import (
    bare_repository,
    git,
    linked_work_tree,
    make_store,
    repository,
    separate_repository,
    submodule,
)

SETTINGS = ".claude/settings.local.json"


def exclude_of(project: Project) -> Path:
    assert project.common_dir is not None
    return project.common_dir / "info" / "exclude"


class TestFindProject:
    def test_root_and_sub_folder(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        (root / "a" / "b").mkdir(parents=True)
        wanted = Project(root, root, root / ".git", root / ".git")
        assert find_project(root) == wanted
        assert find_project(root / "a" / "b") == wanted

    def test_linked_work_tree(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        linked = linked_work_tree(root, root / "trees" / "linked")
        git_dir = root / ".git" / "worktrees" / "linked"
        assert find_project(linked) == Project(root, linked, git_dir, root / ".git")

    def test_submodule_and_its_linked_work_tree(self, tmp_path: Path) -> None:
        sub = submodule(repository(tmp_path / "main"), repository(tmp_path / "origin"))
        common = tmp_path / "main" / ".git" / "modules" / "sub"
        assert find_project(sub) == Project(sub, sub, common, common)
        linked = linked_work_tree(sub, tmp_path / "linked")
        git_dir = common / "worktrees" / "linked"
        assert find_project(linked) == Project(sub, linked, git_dir, common)

    @pytest.mark.parametrize("name", [".bare", ".git", "repo.git"])
    def test_bare_repository_with_work_trees(self, tmp_path: Path, name: str) -> None:
        proj = tmp_path / "proj"
        bare = bare_repository(proj / name)
        side = linked_work_tree(bare, proj / "side")
        far = linked_work_tree(bare, tmp_path / "far", "far")
        assert find_project(side) == Project(proj, side, bare / "worktrees" / "side", bare)
        assert find_project(far) == Project(proj, far, bare / "worktrees" / "far", bare)
        assert find_project(bare / "refs") == Project(proj, proj, bare, bare)
        assert find_project(proj).root == proj

    def test_bare_repository_named_by_a_git_file(self, tmp_path: Path) -> None:
        proj = tmp_path / "proj"
        bare = bare_repository(proj / ".bare")
        (proj / ".git").write_text("gitdir: ./.bare\n")
        side = linked_work_tree(proj, proj / "side")
        assert find_project(proj) == Project(proj, proj, bare, bare)
        assert find_project(side).root == proj

    def test_separate_git_dir(self, tmp_path: Path) -> None:
        apart = separate_repository(tmp_path / "apart", tmp_path / "dirs" / "apart")
        common = tmp_path / "dirs" / "apart"
        assert find_project(apart) == Project(apart, apart, common, common)

    def test_linked_work_tree_of_a_separate_git_dir(self, tmp_path: Path) -> None:
        apart = separate_repository(tmp_path / "apart", tmp_path / "dirs" / "apart")
        linked = linked_work_tree(apart, tmp_path / "linked")
        with pytest.raises(NotInProjectError) as caught:
            find_project(linked)
        assert "`ctx init` in the main work tree" in (caught.value.hint or "")
        assert "--store" in (caught.value.hint or "")

        hide_store(find_project(apart), make_store(apart))
        assert find_project(linked).root == apart

    def test_core_worktree_tells_the_main_work_tree(self, tmp_path: Path) -> None:
        apart = separate_repository(tmp_path / "apart", tmp_path / "dirs" / "apart")
        linked = linked_work_tree(apart, tmp_path / "linked")
        git(apart, "config", "core.worktree", "../../apart")
        assert find_project(linked).root == apart
        git(apart, "config", "extensions.worktreeConfig", "true")
        git(apart, "config", "--unset", "core.worktree")
        git(apart, "config", "--worktree", "core.worktree", str(apart))
        assert (tmp_path / "dirs" / "apart" / "config.worktree").exists()
        assert find_project(linked).root == apart

    def test_no_git(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        assert find_project(tmp_path / "a") == Project(tmp_path / "a", tmp_path / "a", None, None)
        make_store(tmp_path)
        assert find_project(tmp_path / "a") == Project(tmp_path, tmp_path, None, None)

    def test_inside_a_store(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        store = make_store(root)
        assert find_project(store / ".git" / "ctx") == find_project(root)

    def test_through_a_symlink(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        (tmp_path / "link").symlink_to(root)
        assert find_project(tmp_path / "link") == find_project(root)

    @pytest.mark.parametrize("name", ["two words", "žluťoučký-漢字", '"odd" $x;*[y] \\', "-n"])
    def test_odd_names(self, tmp_path: Path, name: str) -> None:
        bare = bare_repository(tmp_path / name / ".bare")
        assert find_project(linked_work_tree(bare, tmp_path / "w")).root == tmp_path / name

    def test_inherited_variables_do_not_mislead(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = repository(tmp_path / "other")
        bare = bare_repository(tmp_path / "proj" / ".bare")
        linked = linked_work_tree(bare, tmp_path / "proj" / "side")
        monkeypatch.setenv("GIT_DIR", str(other / ".git"))
        monkeypatch.setenv("GIT_WORK_TREE", str(other))
        monkeypatch.setenv("GIT_COMMON_DIR", str(other / ".git"))
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.worktree")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(other))
        project = find_project(linked)
        assert (project.root, project.common_dir) == (tmp_path / "proj", bare)

    def test_refused(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        linked = linked_work_tree(root, tmp_path / "linked")
        server = bare_repository(tmp_path / "server.git")
        for place in (root / ".git", root / ".git" / "worktrees" / "linked", server):
            with pytest.raises(NotInProjectError, match="is in a git directory"):
                find_project(place)
        with pytest.raises(NotInProjectError, match=r"no directory .*gone"):
            find_project(tmp_path / "gone")
        with pytest.raises(NotInProjectError, match="no directory"):
            find_project(root / "a.txt")
        shutil.rmtree(root / ".git")
        with pytest.raises(NotInProjectError, match="names a git directory that is not there"):
            find_project(linked)


class TestStoreFor:
    def test_the_flag_then_the_variable_then_the_place(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = make_store(tmp_path)
        monkeypatch.chdir(tmp_path)
        assert paths.store_for(tmp_path) == store
        monkeypatch.setenv("CTX_STORE", "")
        assert paths.store_for(tmp_path) == store
        monkeypatch.setenv("CTX_STORE", "named")
        assert paths.store_for(tmp_path) == tmp_path / "named"
        assert paths.store_for(tmp_path, Path()) == tmp_path
        assert paths.store_for(tmp_path, tmp_path / "flag") == tmp_path / "flag"

    def test_none(self, tmp_path: Path) -> None:
        with pytest.raises(NotInProjectError) as caught:
            paths.store_for(tmp_path)
        assert caught.value.message == f"no context store for {tmp_path}"
        assert "run `ctx init`" in (caught.value.hint or "")


def test_places_in_a_store(tmp_path: Path) -> None:
    places = paths.StorePaths(tmp_path)
    runtime = tmp_path / ".git" / "ctx"
    assert (places.git_dir, places.runtime) == (tmp_path / ".git", runtime)
    inside = {
        places.spool: "spool",
        places.rejected: "rejected",
        places.log: "log",
        places.index: "index.sqlite",
        places.recaps: "recaps",
        places.session_dir("abc"): "sessions/abc",
        places.config: "config.toml",
    }
    assert {place: str(place.relative_to(runtime)) for place in inside} == inside


def test_the_user_s_places(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/xdg")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/claude")
    assert paths.user_config_path() == Path("/xdg/ctxgit/config.toml")
    assert paths.claude_config_dir() == Path("/claude")
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")  # to be ignored, says the specification
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert paths.user_config_path() == home / ".config" / "ctxgit" / "config.toml"
    assert paths.claude_config_dir() == home / ".claude"


def test_the_environment_for_git_has_nothing_that_redirects_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("OTHER", "kept")
    environment = paths.scrubbed_environment()
    assert environment["OTHER"] == "kept"
    assert "/elsewhere" not in environment.values()


def test_git_runs_no_program_that_a_repository_names(tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    ran = tmp_path / "ran"
    for name in ("reference-transaction", "fsmonitor"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {ran}\n", encoding="utf-8")
        (hooks / name).chmod(0o755)
    git(project, "config", "core.hooksPath", str(hooks))
    git(project, "config", "core.fsmonitor", str(hooks / "fsmonitor"))
    for command in (["branch", "one"], ["status"]):
        subprocess.run(["git", *command], cwd=project, env=paths.scrubbed_environment(), check=True)
    assert not ran.exists()
    for command in (["branch", "two"], ["status"]):  # the trap works for any other git
        git(project, *command)
    assert ran.exists()


class TestHideStore:
    def assert_clean(self, *work_trees: Path) -> None:
        for work_tree in work_trees:
            assert git(work_tree, "status", "--porcelain") == ""

    def test_status_does_not_show_it_in_any_work_tree(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        linked = linked_work_tree(root, tmp_path / "linked")
        store, own = make_store(root), make_store(linked)
        assert git(root, "status", "--porcelain") == "?? .context-store/"
        assert hide_store(find_project(root), store)
        self.assert_clean(root, linked)
        assert hide_store(find_project(linked), own)
        assert (
            (root / ".git" / "info" / "exclude")
            .read_text()
            .endswith(
                f"# ctxgit store: {store}\n/.context-store/\n"
                f"# ctxgit store: {own}\n/.context-store/\n"
            )
        )

    def test_neither_the_submodule_nor_what_contains_it_shows_it(self, tmp_path: Path) -> None:
        outer = repository(tmp_path / "main")
        sub = submodule(outer, repository(tmp_path / "origin"))
        store = make_store(sub)
        assert git(outer, "status", "--porcelain") != ""
        assert hide_store(find_project(sub), store)
        self.assert_clean(outer, sub)

    def test_the_linked_work_tree_of_a_submodule_finds_it(self, tmp_path: Path) -> None:
        sub = submodule(repository(tmp_path / "main"), repository(tmp_path / "origin"))
        linked = linked_work_tree(sub, tmp_path / "linked")
        store = make_store(sub)
        hide_store(find_project(linked), store)
        self.assert_clean(tmp_path / "main", sub, linked)
        assert paths.store_for(linked) == store

    def test_the_linked_work_tree_of_a_separate_git_dir_finds_it(self, tmp_path: Path) -> None:
        apart = separate_repository(tmp_path / "apart", tmp_path / "dirs" / "apart")
        linked = linked_work_tree(apart, tmp_path / "linked")
        store = make_store(apart)
        hide_store(find_project(apart), store)
        self.assert_clean(apart, linked)
        assert paths.store_for(linked) == store

    @pytest.mark.parametrize("name", ["[a]*?\\", " spaces ", "#!é漢", "line\nfeed"])
    def test_a_store_in_an_oddly_named_sub_folder(self, tmp_path: Path, name: str) -> None:
        root = repository(tmp_path / "main")
        (root / name).mkdir()
        store = make_store(root / name)
        assert git(root, "status", "--porcelain") != ""
        project = find_project(root)
        before = exclude_of(project).read_bytes()
        assert hide_store(project, store)
        self.assert_clean(root)
        assert not hide_store(project, store)
        assert unhide_store(project, store)
        assert exclude_of(project).read_bytes() == before

    def test_only_that_one_folder_is_hidden(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        hide_store(find_project(root), make_store(root))
        (root / "sub").mkdir()
        (root / "sub" / ".context-store").touch()
        assert git(root, "status", "--porcelain") == "?? sub/"

    def test_a_store_that_is_a_symlink(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        (root / ".context-store").symlink_to(make_store(tmp_path))
        assert hide_store(find_project(root), root / ".context-store")
        self.assert_clean(root)

    def test_nothing_to_hide(self, tmp_path: Path) -> None:
        bare = bare_repository(tmp_path / "proj" / "repo.git")
        side = linked_work_tree(bare, tmp_path / "proj" / "side")
        (tmp_path / "plain").mkdir()
        for place, store in {
            side: make_store(tmp_path / "proj"),
            tmp_path / "plain": make_store(tmp_path / "plain"),
            repository(tmp_path / "main"): make_store(tmp_path),
        }.items():
            project = find_project(place)
            assert not hide_store(project, store)
            assert not unhide_store(project, store)
        assert b"ctxgit" not in exclude_of(find_project(side)).read_bytes()

    def test_a_project_that_moved_names_its_store_anew(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "old")
        before = (root / ".git" / "info" / "exclude").read_bytes()
        hide_store(find_project(root), make_store(root))
        moved = root.rename(tmp_path / "new")
        project = find_project(moved)
        assert hide_store(project, moved / ".context-store")
        assert not hide_store(project, moved / ".context-store")
        assert b"/old/" not in exclude_of(project).read_bytes()
        self.assert_clean(moved)
        moved_again = moved.rename(tmp_path / "newer")
        assert unhide_store(find_project(moved_again), moved_again / ".context-store")
        assert exclude_of(find_project(moved_again)).read_bytes() == before

    def test_mode_and_symlink_stay(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        project, store = find_project(root), make_store(root)
        target = tmp_path / "dotfiles-exclude"
        target.write_text("*.o\n")
        target.chmod(0o640)
        exclude_of(project).unlink()
        exclude_of(project).symlink_to(target)
        assert hide_store(project, store)
        assert exclude_of(project).is_symlink()
        assert target.stat().st_mode & 0o777 == 0o640
        assert unhide_store(project, store)
        assert target.read_text() == "*.o\n"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["dotfiles-exclude", "main"]

    def test_a_file_and_folder_of_our_making_go_again(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main", "--template=")
        project, store = find_project(root), make_store(root)
        assert not (root / ".git" / "info").exists()
        hide_store(project, store)
        hide_path(project, SETTINGS)
        self.assert_clean(root)
        unhide_store(project, store)
        assert not (root / ".git" / "info").exists()

    def test_what_the_user_wrote_since_stays(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main", "--template=")
        project, store = find_project(root), make_store(root)
        hide_store(project, store)
        exclude = exclude_of(project)
        exclude.write_bytes(b"before\r\n" + exclude.read_bytes() + b"/after\n")
        hide_path(project, SETTINGS)
        unhide_store(project, store)
        assert exclude.read_bytes() == b"before\r\n/after\n"

    def test_a_pattern_that_is_not_ours_is_not_taken(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        project, store = find_project(root), make_store(root)
        exclude_of(project).write_text(f"# ctxgit store: {store}\n/build/\n")
        unhide_store(project, store)
        assert exclude_of(project).read_text() == "/build/\n"

    def test_a_file_that_cannot_be_changed(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main", "--template=")
        (root / ".git" / "info").touch()
        with pytest.raises(StoreError, match="info/exclude"):
            hide_store(find_project(root), make_store(root))

    @given(
        lines=st.lists(st.binary(max_size=8) | st.sampled_from([b"*.o", b"/x/", b"# y", b"!z"])),
        end=st.sampled_from([b"", b"\n", b"\r\n", b"\n\n", b"\\"]),
        bom=st.sampled_from([b"", b"\xef\xbb\xbf"]),
        newline=st.sampled_from([b"\n", b"\r\n"]),
        with_settings=st.booleans(),
    )
    def test_every_byte_comes_back(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        lines: list[bytes],
        end: bytes,
        bom: bytes,
        newline: bytes,
        *,
        with_settings: bool,
    ) -> None:
        root = tmp_path_factory.mktemp("main")
        (root / ".git" / "info").mkdir(parents=True)
        store = root / ".context-store"
        project = Project(root, root, root / ".git", root / ".git")
        exclude = exclude_of(project)
        before = bom + newline.join(lines) + end
        exclude.write_bytes(before)
        assert hide_store(project, store)
        hidden = exclude.read_bytes()
        assert hidden.startswith(before)
        assert b"\n/.context-store/" in hidden
        assert not hide_store(project, store)
        assert exclude.read_bytes() == hidden
        if with_settings:  # not a repository to git, which therefore ignores nothing in it
            assert hide_path(project, SETTINGS)
            assert not hide_path(project, SETTINGS)
        assert unhide_store(project, store)
        assert exclude.read_bytes() == before
        assert not unhide_store(project, store)


class TestHidePath:
    def test_status_does_not_show_it(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        project = find_project(root)
        (root / ".claude").mkdir()
        (root / SETTINGS).touch()
        assert git(root, "status", "--porcelain") == "?? .claude/"
        assert hide_path(project, SETTINGS)
        assert git(root, "status", "--porcelain") == ""
        assert not hide_path(project, SETTINGS)

    def test_not_if_the_user_s_rules_hide_it(self, tmp_path: Path, home: Path) -> None:
        root = repository(tmp_path / "main")
        (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/.ignored\n")
        (home / ".ignored").write_text("settings.local.json\n")
        before = exclude_of(find_project(root)).read_bytes()
        assert not hide_path(find_project(root), SETTINGS)
        assert exclude_of(find_project(root)).read_bytes() == before

    def test_outside_git(self, tmp_path: Path) -> None:
        assert not hide_path(find_project(tmp_path), SETTINGS)

    def test_without_git_on_the_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        project = find_project(repository(tmp_path / "main"))
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(CtxError, match="cannot run git"):
            hide_path(project, SETTINGS)
