from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from ctxgit import gitdir
from support.git import (
    bare_repository,
    commit,
    git,
    linked_work_tree,
    make_store,
    repository,
    separate_repository,
    submodule,
)

ODD_NAMES = ["two words", "žluťoučký-漢字", 'it\'s "odd" $HOME;*[x] \\', "-n"]


def places(root: Path) -> dict[str, Path]:
    """One folder in each kind of work tree, and in sub folders of some."""
    main = repository(root / "main")
    (main / "deep" / "er").mkdir(parents=True)
    origin = repository(root / "origin")
    sub = submodule(main, origin)
    bare = bare_repository(root / "bared" / ".bare")
    apart = separate_repository(root / "apart", root / "git-dirs" / "apart")
    link = root / "link"
    link.symlink_to(main)
    moved = repository(root / "moved")
    (moved / ".git").rename(root / "moved.git")
    (moved / ".git").symlink_to(root / "moved.git")
    return {
        "root": main,
        "sub folder": main / "deep" / "er",
        "linked": linked_work_tree(main, root / "linked"),
        "submodule": sub,
        "linked of submodule": linked_work_tree(sub, root / "linked-sub"),
        "linked of bare": linked_work_tree(bare, root / "bared" / "side"),
        "separate": apart,
        "linked of separate": linked_work_tree(apart, root / "linked-apart"),
        "through a symlink": link / "deep",
        "symlinked .git": moved,
    }


def test_git_dir_and_common_dir_are_those_of_git(tmp_path: Path) -> None:
    for kind, place in places(tmp_path).items():
        wanted = git(
            place,
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--git-dir",
            "--git-common-dir",
        ).splitlines()
        found = gitdir.find_git_dir(str(place))
        assert found is not None, kind
        assert [*found, gitdir.common_dir(found[1])] == [
            os.path.realpath(path) for path in wanted
        ], kind


def test_head_is_that_of_git_in_every_kind_of_work_tree(tmp_path: Path) -> None:
    for kind, place in places(tmp_path).items():
        found = gitdir.find_git_dir(str(place))
        assert found is not None
        branch = git(place, "branch", "--show-current")
        assert branch in {"main", "side"}
        assert gitdir.read_head(found[1]) == (branch, git(place, "rev-parse", "HEAD")), kind


def test_a_bare_repository_reached_directly_has_no_work_tree(tmp_path: Path) -> None:
    bare = bare_repository(tmp_path / "repo.git")
    assert gitdir.find_git_dir(str(bare / "refs" / "heads")) == ("", str(bare))
    assert gitdir.read_head(str(bare)) == ("main", git(bare, "rev-parse", "HEAD"))


def test_no_git_dir_outside_git(tmp_path: Path) -> None:
    assert gitdir.find_git_dir(str(tmp_path)) is None


def test_a_git_file_that_leads_nowhere_ends_the_search(tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    linked = linked_work_tree(main, main / "linked")
    for named in (f"gitdir: {tmp_path}/gone\n", "gitdir:", "", "nonsense"):
        (linked / ".git").write_text(named)
        assert gitdir.find_git_dir(str(linked)) is None


def test_a_git_folder_that_is_no_repository_is_passed_by(tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    (main / "sub" / ".git").mkdir(parents=True)
    assert gitdir.find_git_dir(str(main / "sub")) == (str(main), str(main / ".git"))
    store = make_store(main)
    assert gitdir.find_store(str(main / "sub")) == str(store)


def test_a_relative_git_file_is_taken_from_its_folder(tmp_path: Path) -> None:
    sub = submodule(repository(tmp_path / "main"), repository(tmp_path / "origin"))
    assert (sub / ".git").read_text() == "gitdir: ../.git/modules/sub\n"
    wanted = (str(sub), str(tmp_path / "main" / ".git" / "modules" / "sub"))
    assert gitdir.find_git_dir(str(sub)) == wanted


class TestHead:
    def test_detached(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        git(root, "checkout", "-q", "--detach")
        assert gitdir.read_head(str(root / ".git")) == ("", git(root, "rev-parse", "HEAD"))

    def test_unborn(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q", "-b", "new/born")
        assert gitdir.read_head(str(tmp_path / ".git")) == ("new/born", "")

    def test_packed_among_others_like_it(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        old = git(root, "rev-parse", "HEAD")
        for branch in ("mai", "main2", "x/main"):
            git(root, "branch", branch)
        git(root, "tag", "-a", "-m", "tag", "main")
        new = commit(root, "b.txt")
        git(root, "pack-refs", "--all")
        assert not (root / ".git" / "refs" / "heads" / "main").exists()
        assert new != old
        assert gitdir.read_head(str(root / ".git")) == ("main", new)

    def test_unborn_while_a_packed_name_begins_with_its_name(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        git(root, "pack-refs", "--all")
        git(root, "symbolic-ref", "HEAD", "refs/heads/mai")
        assert gitdir.read_head(str(root / ".git")) == ("mai", "")

    def test_loose_before_packed(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        git(root, "pack-refs", "--all")
        new = commit(root, "b.txt")
        assert gitdir.read_head(str(root / ".git")) == ("main", new)

    def test_packed_seen_from_a_linked_work_tree(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        linked = linked_work_tree(root, tmp_path / "linked", "feature/ü")
        git(root, "pack-refs", "--all")
        found = gitdir.find_git_dir(str(linked))
        assert found is not None
        assert gitdir.read_head(found[1]) == ("feature/ü", git(linked, "rev-parse", "HEAD"))

    def test_a_branch_that_is_another_name_of_a_branch(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        git(root, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
        git(root, "symbolic-ref", "HEAD", "refs/heads/alias")
        assert gitdir.read_head(str(root / ".git")) == ("main", git(root, "rev-parse", "main"))

    def test_a_symlink_as_old_git_made_it(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        git(root, "-c", "core.preferSymlinkRefs=true", "symbolic-ref", "HEAD", "refs/heads/main")
        assert (root / ".git" / "HEAD").is_symlink()
        assert gitdir.read_head(str(root / ".git")) == ("main", git(root, "rev-parse", "main"))

    def test_sha256(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main", "--object-format=sha256")
        commit_id = git(root, "rev-parse", "HEAD")
        assert len(commit_id) == 64
        assert gitdir.read_head(str(root / ".git")) == ("main", commit_id)

    @pytest.mark.parametrize(
        "head",
        [
            "ref: refs/heads/.invalid\n",  # what a repository with reftable has there
            "ref: ../../etc/passwd\n",
            "ref: \0\n",
            "0123\n",
            "",
        ],
    )
    def test_what_cannot_be_read_is_nothing(self, tmp_path: Path, head: str) -> None:
        root = repository(tmp_path / "main")
        (root / ".git" / "HEAD").write_text(head)
        assert gitdir.read_head(str(root / ".git")) == ("", "")

    def test_a_circle_of_symbolic_refs_ends(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        (root / ".git" / "refs" / "heads" / "main").write_text("ref: refs/heads/main\n")
        assert gitdir.read_head(str(root / ".git")) == ("main", "")

    def test_no_git_dir(self, tmp_path: Path) -> None:
        assert gitdir.read_head(str(tmp_path / "gone")) == ("", "")


class TestFindStore:
    def test_from_every_folder_of_the_main_work_tree(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        (root / "a" / "b").mkdir(parents=True)
        assert gitdir.find_store(str(root / "a")) is None
        store = make_store(root)
        for place in (root, root / "a" / "b", root / ".git" / "info", root / "gone" / "for good"):
            assert gitdir.find_store(str(place)) == str(store)

    def test_from_inside_the_store(self, tmp_path: Path) -> None:
        store = make_store(repository(tmp_path / "main"))
        (store / "knowledge").mkdir()
        for place in (store, store / "knowledge", store / ".git" / "ctx"):
            assert gitdir.find_store(str(place)) == str(store)

    def test_a_folder_of_that_name_alone_is_no_store(self, tmp_path: Path) -> None:
        (tmp_path / ".context-store" / ".git").mkdir(parents=True)
        assert gitdir.find_store(str(tmp_path)) is None

    def test_linked_work_trees_share_it(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        linked = linked_work_tree(root, tmp_path / "elsewhere" / "linked")
        (linked / "sub").mkdir()
        assert gitdir.find_store(str(linked / "sub")) is None
        store = make_store(root)
        assert gitdir.find_store(str(linked / "sub")) == str(store)

    def test_a_linked_work_tree_may_have_its_own(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        linked = linked_work_tree(root, tmp_path / "linked")
        make_store(root)
        own = make_store(linked)
        assert gitdir.find_store(str(linked)) == str(own)

    @pytest.mark.parametrize("name", [".bare", ".git", "repo.git"])
    def test_beside_a_bare_repository(self, tmp_path: Path, name: str) -> None:
        bare = bare_repository(tmp_path / "proj" / name)
        side = linked_work_tree(bare, tmp_path / "proj" / "side")
        far = linked_work_tree(bare, tmp_path / "far", "far")
        assert gitdir.find_store(str(side)) is None
        store = make_store(tmp_path / "proj")
        for place in (side, far, bare, tmp_path / "proj"):
            assert gitdir.find_store(str(place)) == str(store)

    def test_a_nested_repository_or_submodule_has_none_of_its_own(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        sub = submodule(root, repository(tmp_path / "origin"))
        nested = repository(root / "nested")
        make_store(root)
        for place in (sub, nested, linked_work_tree(nested, root / "nested-linked")):
            assert gitdir.find_store(str(place)) is None

    def test_the_store_that_info_exclude_names(self, tmp_path: Path) -> None:
        apart = separate_repository(tmp_path / "apart", tmp_path / "git-dirs" / "apart")
        linked = linked_work_tree(apart, tmp_path / "linked")
        store = make_store(apart)
        assert gitdir.find_store(str(apart)) == str(store)
        assert gitdir.find_store(str(linked)) is None
        exclude = tmp_path / "git-dirs" / "apart" / "info" / "exclude"
        exclude.write_text(f"*.o\n# ctxgit store: /gone\n# ctxgit store: {store}\n")
        assert gitdir.find_store(str(linked)) == str(store)

    def test_beside_a_separate_git_dir_is_no_place(self, tmp_path: Path) -> None:
        apart = separate_repository(tmp_path / "apart", tmp_path / "dirs" / "apart")
        make_store(tmp_path / "dirs")
        assert gitdir.find_store(str(apart)) is None

    def test_what_is_named_and_gone_yields_to_the_usual_place(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        linked = linked_work_tree(root, tmp_path / "linked")
        store = make_store(root)
        (root / ".git" / "info" / "exclude").write_text("# ctxgit store: /gone\n")
        assert gitdir.find_store(str(linked)) == str(store)

    def test_outside_git_up_to_the_root(self, tmp_path: Path) -> None:
        (tmp_path / "a" / "b").mkdir(parents=True)
        assert gitdir.find_store(str(tmp_path / "a" / "b")) is None
        store = make_store(tmp_path)
        assert gitdir.find_store(str(tmp_path / "a" / "b")) == str(store)

    def test_a_symlink_into_a_project_is_in_the_project(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "main")
        (root / "sub").mkdir()
        (tmp_path / "link").symlink_to(root / "sub")
        store = make_store(root)
        assert gitdir.find_store(str(tmp_path / "link")) == str(store)

    @pytest.mark.parametrize("name", ODD_NAMES)
    def test_odd_names(self, tmp_path: Path, name: str) -> None:
        root = repository(tmp_path / name)
        linked = linked_work_tree(root, tmp_path / f"{name} linked")
        store = make_store(root)
        assert gitdir.find_store(str(linked)) == str(store)

    def test_a_relative_directory_and_the_working_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = make_store(tmp_path)
        monkeypatch.chdir(tmp_path)
        assert gitdir.find_store("a") == str(store)
        assert gitdir.find_store("") == str(store)

    @pytest.mark.parametrize("name", ["a\0b", "\ud800", "/" + "x" * 5000])
    def test_what_is_no_path_has_no_store(self, name: str) -> None:
        assert gitdir.find_store(name) is None
        assert gitdir.find_git_dir(name) is None


def test_nothing_slow_is_imported() -> None:
    tree = ast.parse(Path(gitdir.__file__).read_text(encoding="utf-8"))
    imported = [ast.unparse(node) for node in ast.walk(tree) if "Import" in type(node).__name__]
    assert imported == ["from __future__ import annotations", "import os", "import zlib"]
