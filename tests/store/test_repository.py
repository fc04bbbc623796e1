from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import ctxgit
from ctxgit import resources
from ctxgit.errors import GitError, StoreError, StoreVersionError
from ctxgit.look.log import LogQuery, read_log
from ctxgit.paths import StorePaths
from ctxgit.store import repository
from ctxgit.store.git import Git
from support.events import Story
from support.git import git
from support.recording import loaded, record

ROOT = Path(ctxgit.__file__).parents[1]
CREATE = """
import sys
from pathlib import Path
from ctxgit import resources
from ctxgit.paths import StorePaths
from ctxgit.store import repository
sys.stdin.readline()
print(repository.create(StorePaths(Path(sys.argv[1])), resources.template_dir()))
"""


@pytest.fixture
def new(tmp_path: Path) -> StorePaths:
    """The place of a store that is not there yet."""
    return StorePaths(tmp_path / "project" / ".context-store")


def create(store: StorePaths) -> bool:
    store.root.parent.mkdir(exist_ok=True)
    return repository.create(store, resources.template_dir())


def modes(root: Path) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {"folders": {stat.S_IMODE(root.stat().st_mode)}, "files": set()}
    for path in root.rglob("*"):
        kind = "folders" if path.is_dir() else "files"
        found[kind].add(stat.S_IMODE(path.stat().st_mode))
    return found


def leftovers(store: StorePaths) -> list[str]:
    return sorted(path.name for path in store.root.parent.iterdir() if path != store.root)


# --- what is made --------------------------------------------------------------------------


def test_a_store_is_a_repository_with_one_commit_and_the_template(new: StorePaths) -> None:
    assert create(new)
    assert git(new.root, "log", "--format=%an <%ae> %s") == (
        "ctxgit <ctx@ctxgit.invalid> Make the context store"
    )
    assert git(new.root, "symbolic-ref", "HEAD") == "refs/heads/main"
    there = {path.name for path in resources.template_dir().iterdir()}
    assert set(git(new.root, "ls-tree", "-r", "--name-only", "main").split("\n")) == there
    assert git(new.root, "status", "--porcelain", "--ignored") == ""
    assert git(new.root, "fsck", "--strict") == ""
    repository.check(new)
    assert leftovers(new) == []


def test_the_runtime_folders_are_there(new: StorePaths) -> None:
    create(new)
    for folder in (new.runtime, new.spool, new.rejected, new.recaps, new.sessions):
        assert folder.is_dir()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_nobody_else_can_read_it(new: StorePaths, umask: int) -> None:
    before = os.umask(umask)
    try:
        create(new)
        record(new, Story("s").prompt().result())
    finally:
        os.umask(before)
    found = modes(new.root)
    assert found["folders"] == {0o700}
    assert {mode & 0o077 for mode in found["files"]} == {0}
    assert found["files"] <= {0o600, 0o400}


def test_the_umask_is_as_it_was(new: StorePaths) -> None:
    before = os.umask(0o027)
    try:
        create(new)
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)


def test_the_environment_is_as_it_was(new: StorePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    before = dict(os.environ)
    create(new)
    assert dict(os.environ) == before


def test_git_is_never_asked_to_collect_garbage(new: StorePaths) -> None:
    create(new)
    for name, value in repository.SETTINGS.items():
        assert git(new.root, "config", "--local", "--get", name) == value


# --- what is there already -----------------------------------------------------------------


def test_making_it_again_changes_nothing(new: StorePaths) -> None:
    assert create(new)
    record(new, Story("s").prompt())
    before = {path: path.stat().st_mtime_ns for path in new.root.rglob("*")}
    assert not create(new)
    assert {path: path.stat().st_mtime_ns for path in new.root.rglob("*")} == before


def test_missing_runtime_folders_are_made_again(new: StorePaths) -> None:
    create(new)
    new.spool.rmdir()
    assert not create(new)
    assert new.spool.is_dir()


def test_an_empty_folder_is_taken(new: StorePaths) -> None:
    new.root.mkdir(parents=True)
    assert create(new)


def test_a_folder_with_other_things_is_left_alone(new: StorePaths) -> None:
    new.root.mkdir(parents=True)
    (new.root / "mine.txt").write_text("mine")
    with pytest.raises(StoreError, match=f"{new.root} is there and is no context store"):
        create(new)
    assert [path.name for path in new.root.iterdir()] == ["mine.txt"]
    assert leftovers(new) == []


def test_what_the_user_has_set_up_for_git_stays_out(
    new: StorePaths, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    hooks = tmp_path / "hooks"
    template = tmp_path / "template"
    for folder in (hooks, template / "hooks"):
        folder.mkdir(parents=True)
        for name in ("pre-commit", "post-commit", "commit-msg", "reference-transaction"):
            (folder / name).write_text(f"#!/bin/sh\ntouch {traces}/{name}\nexit 1\n")
            (folder / name).chmod(0o755)
    ignore = tmp_path / "ignore"
    ignore.write_text("*.toml\n*.md\n.git*\n")
    attributes = tmp_path / "attributes"
    attributes.write_text("* filter=shout text eol=crlf\n")
    (home / ".gitconfig").write_text(
        f"""
        [user]
            name = Somebody
            email = somebody@example.com
            signingKey = 0123456789
        [commit]
            gpgSign = true
            template = /nowhere
        [gpg]
            program = /nowhere/gpg
        [init]
            defaultBranch = trunk
            templateDir = {template}
        [core]
            hooksPath = {hooks}
            excludesFile = {ignore}
            attributesFile = {attributes}
            autocrlf = true
            fsmonitor = touch {traces}/fsmonitor
            quotePath = true
        [filter "shout"]
            clean = touch {traces}/clean && tr a-z A-Z
            required = true
        [color]
            ui = always
        [log]
            showSignature = true
            decorate = full
        [i18n]
            commitEncoding = latin1
            logOutputEncoding = latin1
        [gc]
            auto = 1
        [transfer]
            fsckObjects = true
        """
    )
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    create(new)
    story = Story("s").prompt("Ändern \N{ROCKET}").result().stop()
    story_subject = "Turn 1: Ändern \N{ROCKET} (1 result, 3 tokens)"
    branch = record(new, story)
    (new.root / "config.toml").write_text("format = 1\n[hint]\nmax_characters = 7\n")
    repository.commit_main(new, [new.root / "config.toml"], "Set hint.max_characters to 7")
    assert list(traces.iterdir()) == []
    assert loaded(new, "s").state == story.state
    repo = Git(new.git_dir)
    config_text = repo.run("cat-file", "blob", "main:config.toml")
    assert config_text == b"format = 1\n[hint]\nmax_characters = 7\n"
    subjects = repo.run("log", "--format=%an %s", "main", branch.ref, "--").decode().splitlines()
    assert sorted(subjects) == [
        "ctxgit Make the context store",
        "ctxgit Set hint.max_characters to 7",
        f"ctxgit {story_subject}",
    ]
    there = {path.name for path in resources.template_dir().iterdir()}
    names = repo.run("ls-tree", "-r", "--name-only", "main").decode().split()
    assert set(names) == there
    assert not (new.git_dir / "hooks").exists()
    assert [entry.subject for entry in read_log(repo, LogQuery(limit=5))] == [story_subject]


def test_of_many_who_make_it_at_once_one_does(new: StorePaths) -> None:
    new.root.parent.mkdir()
    command = [sys.executable, "-c", CREATE, str(new.root)]
    pipe = subprocess.PIPE
    makers = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) for _ in range(5)
    ]
    for maker in makers:
        assert maker.stdin is not None
        maker.stdin.write("go\n")
        maker.stdin.flush()
    answers = [maker.communicate()[0] for maker in makers]
    assert sorted(answers) == ["False\n"] * 4 + ["True\n"]
    repository.check(new)
    assert git(new.root, "log", "--format=%s") == "Make the context store"
    assert leftovers(new) == []


def test_what_a_killed_creation_left_is_no_obstacle(new: StorePaths) -> None:
    left = new.root.with_name(f"{new.root.name}.making-{os.getpid()}")
    (left / "knowledge").mkdir(parents=True)
    assert create(new)
    assert leftovers(new) == []


def test_a_file_in_its_place_is_left_alone(new: StorePaths) -> None:
    new.root.parent.mkdir()
    new.root.write_text("mine")
    with pytest.raises(StoreError, match="is there and is no context store"):
        create(new)
    assert new.root.read_text() == "mine"
    assert leftovers(new) == []


# --- whoever the user is -------------------------------------------------------------------


def test_an_inherited_repository_does_not_mislead(
    new: StorePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a hook of the user's own git, which exports where it works."""
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", "-b", "main", str(other))
    git(other, "commit", "-q", "--allow-empty", "-m", "Mine")
    before = git(other, "for-each-ref"), (other / ".git" / "config").read_text()
    for name, value in {
        "GIT_DIR": other / ".git",
        "GIT_WORK_TREE": other,
        "GIT_INDEX_FILE": other / ".git" / "index",
        "GIT_OBJECT_DIRECTORY": other / ".git" / "objects",
        "GIT_COMMON_DIR": other / ".git",
        "GIT_CEILING_DIRECTORIES": tmp_path,
        "GIT_NAMESPACE": "ns",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_AUTHOR_NAME": "Somebody",
        "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z",
    }.items():
        monkeypatch.setenv(name, str(value))
    create(new)
    record(new, Story("s").prompt())
    for name in list(os.environ):
        if name.startswith("GIT_") and name not in {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"}:
            monkeypatch.delenv(name)
    assert (git(other, "for-each-ref"), (other / ".git" / "config").read_text()) == before
    assert git(new.root, "log", "--format=%an %s", "main") == "ctxgit Make the context store"
    assert git(new.root, "for-each-ref", "--format=%(refname:short)").split("\n") == [
        "main",
        "session/2026-01-02-s",
    ]


def test_without_git_a_new_process_says_so_too(new: StorePaths, tmp_path: Path) -> None:
    """GitPython looks for git as soon as it is imported."""
    new.root.parent.mkdir()
    command = [sys.executable, "-c", CREATE, str(new.root)]
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(
        command, input=b"go\n", capture_output=True, check=False, cwd=ROOT, env=environment
    )
    assert done.stderr.splitlines()[-1] == b"ctxgit.errors.GitError: git is not on PATH"
    assert leftovers(new) == []


def test_without_git_there_is_an_error_that_says_so(
    new: StorePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is not on PATH"):
        Git(new.git_dir).run("version")
    with pytest.raises(GitError, match="git is not on PATH"):
        create(new)
    assert leftovers(new) == []
    assert not new.root.exists()


def test_git_is_the_one_on_the_users_path(
    new: StorePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    real = shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/calls\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    create(new)
    assert {"init", "add", "commit"} <= set((tmp_path / "calls").read_text().split())


# --- check ---------------------------------------------------------------------------------


def test_a_store_of_a_newer_format_is_refused(store: StorePaths) -> None:
    for text in ("format = 2", 'format = "1"', "format = 1.5"):
        (store.root / "config.toml").write_text(text)
        with pytest.raises(StoreVersionError, match=f"{store.root} has store format") as raised:
            repository.check(store)
        assert raised.value.hint == "install a newer ctxgit"


def test_a_store_whose_configuration_is_gone_or_old_is_good(store: StorePaths) -> None:
    (store.root / "config.toml").write_text("")
    repository.check(store)
    (store.root / "config.toml").unlink()
    repository.check(store)


def test_an_invalid_configuration_is_named(store: StorePaths) -> None:
    (store.root / "config.toml").write_text("format = ")
    with pytest.raises(StoreError, match=r"config\.toml is not valid"):
        repository.check(store)


@pytest.mark.parametrize("name", ["HEAD", "objects"])
def test_an_incomplete_repository_is_damage(store: StorePaths, name: str) -> None:
    (store.git_dir / name).rename(store.root / "gone")
    with pytest.raises(StoreError, match=f"{store.root} is damaged"):
        repository.check(store)


# --- commit_main ---------------------------------------------------------------------------


def test_only_the_named_files_are_committed(store: StorePaths) -> None:
    (store.root / "config.toml").write_text("format = 1\n[recap]\nenabled = false\n")
    (store.root / "README.md").write_text("Being edited")
    git(store.root, "add", "README.md")
    (store.root / "note.md").write_text("A draft")
    repository.commit_main(store, [store.root / "config.toml"], "Set it")
    assert git(store.root, "show", "--format=%s", "--name-only", "main").split() == [
        "Set",
        "it",
        "config.toml",
    ]
    assert git(store.root, "status", "--porcelain").split("\n") == ["M  README.md", "?? note.md"]


def test_a_commit_that_git_refuses_is_told_in_one_line(store: StorePaths) -> None:
    (store.git_dir / "index.lock").touch()
    with pytest.raises(GitError, match=r"^git failed in \S+: fatal: Unable to create [^\n]+$"):
        repository.commit_main(store, [store.root / "config.toml"], "Set it")
    (store.git_dir / "index.lock").unlink()
    with pytest.raises(GitError, match=r"^git failed in \S+: [^\n]+$"):
        repository.commit_main(store, [store.root / "config.toml"], "Nothing has changed")
