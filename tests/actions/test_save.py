"""Saving a session's state under a name."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.listing import list_saves
from ctxgit.actions.save import make_handoff, save, save_name
from ctxgit.deliver.handoff import SAVE_TOKENS
from ctxgit.documents import load_toml
from ctxgit.errors import NotFoundError, StoreError, UsageError
from ctxgit.store import saves
from ctxgit.store.lock import locked
from support.events import Story
from support.git import git
from support.recording import content, paths, record
from support.store import check_objects
from support.work import work

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.actions.place import Place
    from ctxgit.paths import StorePaths
    from ctxgit.store.git import Git


@pytest.fixture
def session(place: Place, store: StorePaths) -> str:
    """The short name of a recorded session's branch."""
    return record(store, work(place.directory)).name


def test_a_save_holds_tasks_and_handoff_and_nothing_that_tools_returned(
    place: Place, repo: Git, session: str
) -> None:
    made = save(place, "Payments", message="half way")
    assert (made.name, made.asked, made.again) == ("payments", "Payments", False)
    assert (made.tasks, made.prompts, made.files) == (2, 2, 1)
    assert [path for path in paths(repo, made.commit) if not path.startswith("knowledge/")] == [
        "handoff.md",
        "save.toml",
        "tasks/01-fix-the-login/task.toml",
        "tasks/02-test-it/task.toml",
    ]
    facts = load_toml(content(repo, f"{made.commit}:save.toml").encode())
    assert facts["session_name"] == session
    assert (facts["turn"], facts["chunk"]) == (2, 8)  # the results that work() tells of
    assert facts["files"] == ["a.txt"]
    text = content(repo, f"{made.commit}:handoff.md")
    assert "> Fix the login <now>" in text  # verbatim
    assert "- task 2 (active" in text
    subject, _, body = git(place.store.root, "log", "-1", "--format=%B", made.commit).partition(
        "\n"
    )
    assert subject == "half way"
    assert "Ctx-Position: turn 2, chunk 8" in body


def test_saving_again_adds_a_commit_whose_only_parent_is_the_save_before(
    place: Place, session: str
) -> None:
    first, second = save(place, "x"), save(place, "x")
    assert second.again
    assert git(place.store.root, "log", "--format=%H %P", "save/x").splitlines() == [
        f"{second.commit} {first.commit}",
        f"{first.commit} ",
    ]
    check_objects(place.store)
    (entry,) = list_saves(place).entries
    assert (entry.name, entry.kind, entry.tokens) == ("save/x", "save", second.tokens)
    kinds = {each.name for each in list_saves(place, everything=True).entries}
    assert kinds == {"save/x", f"session/{session}"}


@pytest.mark.usefixtures("session")
def test_without_a_name_it_is_that_of_the_first_prompt(place: Place) -> None:
    assert save(place).name == "read-the-notes"


def test_without_a_prompt_it_is_the_date(place: Place, store: StorePaths) -> None:
    record(store, Story().start(cwd=str(place.directory)).result())
    assert save(place).name == "2026-01-02"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("../a", "a"),
        ("a..b", "a-b"),
        (".lock", "lock"),
        ("a.lock", "a-lock"),
        ("Überweisung №5", "überweisung-no5"),  # NFKC spells the sign out
        ("支払い", "支払い"),
        ("🎉 party", "party"),
        ("a/b\\c:d~e^f@{g}", "a-b-c-d-e-f-g"),
        ("w" * 200, "w" * 40),
    ],
)
def test_names_become_slugs_that_git_takes(text: str, name: str, tmp_path: Path) -> None:
    assert save_name(text) == name
    assert git(tmp_path, "check-ref-format", "--branch", f"save/{name}") == f"save/{name}"


@pytest.mark.parametrize("text", ["-x", "--force", "", " ", "🎉", "...", "x" * 300, "\0"])
def test_what_makes_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no name for a save") as caught:
        save_name(text)
    assert caught.value.hint
    assert len(caught.value.message) < 80


def test_an_empty_session_is_refused(place: Place, store: StorePaths, repo: Git) -> None:
    record(store, Story().start(cwd=str(place.directory)))
    for name in ("x", None):
        with pytest.raises(NotFoundError, match="is empty: there is nothing to hand over"):
            save(place, name)
    with pytest.raises(NotFoundError):
        make_handoff(place)
    assert repo.refs(saves.SAVES) == {}


def test_a_huge_session_is_saved_within_bounds_and_says_what_it_left_out(
    place: Place, store: StorePaths, repo: Git
) -> None:
    story = Story().start(cwd=str(place.directory))
    for number in range(60):
        story.prompt(f"Prompt {number}: " + "word " * 1_000)
        story.result(f"b{number}", "no", tool="Bash", failed=True, paths=(f"/p/{number}" * 20,))
    record(store, story.stop("An answer. " * 2_000))
    made = save(place, "huge")
    assert made.tokens <= SAVE_TOKENS < 30_000
    # Half the room, 14,000 tokens, holds 11 prompts of about 1,255 tokens.
    assert made.omitted["prompts"] == 60 - made.prompts == 49
    text = content(repo, f"{made.commit}:handoff.md")
    assert "(49 earlier prompts left out.)" in text
    assert "Prompt 59: word" in text
    assert "Left out for length: 49 prompts" in text


@pytest.mark.usefixtures("session")
def test_no_secret_gets_into_a_save(place: Place, repo: Git) -> None:
    secret = "ghp_" + "a1B2" * 9
    made = save(place, "x", message=f"with {secret}")
    everything = git(place.store.root, "log", "-p", "--format=%B", "--all")
    assert secret not in everything
    assert "[redacted:" in everything
    assert made.name == "x"
    assert repo.refs(saves.SAVES)


@pytest.mark.usefixtures("session")
def test_two_processes_that_save_under_one_name_at_once_both_do(place: Place) -> None:
    command = [sys.executable, "-c", _SAVE, str(place.directory)]
    with locked(place.store.runtime / "lock", wait=5):  # both come to where they write first
        both = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    assert [process.communicate()[1] for process in both] == [b"", b""]
    assert [process.returncode for process in both] == [0, 0]
    assert git(place.store.root, "rev-list", "--count", "save/x") == "2"
    check_objects(place.store)


_SAVE = """
import sys
from pathlib import Path
from ctxgit.actions.place import find_place
from ctxgit.actions.save import save
from ctxgit.errors import CtxError
try:
    save(find_place(Path(sys.argv[1])), "x")
except CtxError as error:
    sys.exit(f"error: {error.message}")
"""


@pytest.mark.usefixtures("session")
def test_a_lock_that_a_killed_git_left_does_not_stop_a_save(place: Place) -> None:
    stale = place.store.git_dir / "refs/heads/save/x.lock"
    stale.parent.mkdir(parents=True)
    stale.touch()
    assert save(place, "x").name == "x"


def test_a_handoff_is_printed_written_and_saved_on_demand(
    place: Place, session: str, tmp_path: Path
) -> None:
    assert make_handoff(place).name == ""
    made = make_handoff(place, "x", copy=tmp_path)
    assert made.name == "x"
    assert (tmp_path / "handoff-x.md").read_text(encoding="utf-8") == made.text
    assert made.text.startswith(f"# Handoff from session {session}\n")
    with pytest.raises(UsageError, match="cannot write"):
        make_handoff(place, copy=tmp_path / "nowhere")


def test_a_damaged_save_is_told(repo: Git) -> None:
    blob = repo.run("hash-object", "-w", "--stdin", stdin=b"not toml").decode().strip()
    tree = repo.run("mktree", stdin=f"100644 blob {blob}\tsave.toml\n".encode()).decode().strip()
    commit = repo.run("commit-tree", "-m", "x", tree).decode().strip()
    with pytest.raises(StoreError, match="is damaged"):
        saves.read(repo, commit)
