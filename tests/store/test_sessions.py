from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from ctxgit import model
from ctxgit.errors import GitError, StoreError, StoreVersionError
from ctxgit.store import layout, sessions
from ctxgit.store.git import Git
from ctxgit.store.stream import FAST_IMPORT, Commit, stream
from support.any_events import EVENTS
from support.events import ACTIVE, DONE, START, Story, told
from support.git import git
from support.recording import content, loaded, paths, record

if TYPE_CHECKING:
    from ctxgit.model import Event
    from ctxgit.paths import StorePaths


def busy(session: str = "0a1b2c3d-0000-4000-8000-000000000001") -> Story:
    story = Story(session).start().prompt("Fix the login").result("r1", input={"a": [1, None]})
    story.create("1", "Fix it").update("1", ACTIVE).result("r2", "x" * 5_000, paths=("/a b/ü",))
    story.update("1", DONE).subagent_stop().stop("Fixed.")
    story.observe(work_tree="/home/user/project", branch="main", head="1a2b3c")
    story.announce().start("compact").compacted("All fixed.").prompt("Next").result("r3")
    return story.end("clear")


def edit(store: StorePaths, ref: str, **files: bytes | None) -> None:
    """Someone changes files on a branch by hand."""
    repo = Git(store.git_dir)
    named = {
        name.replace("__", "/").replace("_toml", ".toml"): data for name, data in files.items()
    }
    commit = Commit(at=START + timedelta(days=1), message="By hand\n", files=named, trees={})
    repo.run(*FAST_IMPORT, stdin=stream(ref, repo.refs(ref)[ref], [commit]))


def forget(store: StorePaths, key: str) -> None:
    """Take away what is kept beside the branch, as on another machine."""
    shutil.rmtree(store.session_dir(key))


# --- there and back ------------------------------------------------------------------------


def test_the_tree_holds_the_whole_state(store: StorePaths, repo: Git) -> None:
    story = busy()
    branch = record(store, story)
    assert branch.state == story.state
    assert sessions.read_state(repo, branch.tip) == story.state


def test_a_branch_is_loaded_as_it_was_added_with_and_without_its_copy(store: StorePaths) -> None:
    branch = replace(record(store, busy()), previous_tip="")
    assert loaded(store, branch.key) == branch
    forget(store, branch.key)
    assert loaded(store, branch.key) == branch


def test_an_added_to_branch_tells_where_it_stood_before(store: StorePaths) -> None:
    first = record(store, Story().prompt())
    second = record(store, Story().prompt().stop(), since=1)
    assert (first.previous_tip, second.previous_tip) == ("", first.tip)


def test_a_new_session_has_a_name_and_nothing_else(store: StorePaths) -> None:
    branch = loaded(store, "0a1b2c3d-0000")
    assert branch == sessions.Branch(key="0a1b2c3d-0000", name="2026-01-02-0a1b2c3d")
    assert branch.ref == "refs/heads/session/2026-01-02-0a1b2c3d"


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(EVENTS)
def test_any_state_is_read_back_from_its_tree(
    store: StorePaths, repo: Git, given: list[Event]
) -> None:
    """One store with a branch for each example."""
    count = len(repo.refs(layout.SESSIONS))
    story = told(replace(event, session=f"s{count}") for event in given)
    story.session = f"s{count}"
    branch = record(store, story)
    assert sessions.read_state(repo, branch.tip) == story.state
    forget(store, branch.key)
    again = loaded(store, branch.key)
    assert (again.state, again.name, again.tip) == (story.state, branch.name, branch.tip)


@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(EVENTS)
def test_any_batches_lead_to_the_same_tree_of_records(
    store: StorePaths, repo: Git, given: list[Event]
) -> None:
    count = len(repo.refs(layout.SESSIONS))
    whole = told(replace(event, session=f"w{count}") for event in given)
    whole.session = f"w{count}"
    cut = len(given) // 2
    first = Story(whole.session, whole.events[:cut])
    if cut:
        record(store, first)
    tip = record(store, whole, since=cut).tip
    expected = replace(whole.state, session=replace(whole.state.session, id=whole.session))
    assert sessions.read_state(repo, tip) == expected


def test_what_is_stored_is_sound(store: StorePaths, repo: Git) -> None:
    for key in ("s1", "s2"):
        record(store, busy(key))
    assert repo.run("fsck", "--strict", "--full") == b""


# --- growth --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_story() -> Story:
    """Tell of 2,000 turns, 500 tasks, and 5,000 results in the last turn."""
    story = Story("long")
    for number in range(1, 501):
        story.create(str(number), f"Task {number}", agent="a1")
    for number in range(1, 2_001):
        story.prompt(f"Prompt {number}", f"p{number}")
    for number in range(5_000):
        story.result(f"r{number:04d}", f"The text of result {number}.")
    return story


def added(store: StorePaths) -> int:
    folder = store.git_dir / "objects" / "pack"
    return sum(path.stat().st_size for path in folder.iterdir())


def test_a_long_session_stays_cheap_and_its_folders_small(
    store: StorePaths, repo: Git, long_story: Story
) -> None:
    record(store, long_story)
    before = added(store)
    text = Path(model.__file__).read_text(encoding="utf-8")[:4_096]  # as agents read
    count = len(long_story.events)
    branch = record(store, long_story.result("last", text), since=count)
    assert added(store) - before <= 8 * 1024
    listing = repo.run("ls-tree", "-r", "-t", "-z", "--name-only", branch.tip).decode().split("\0")
    folders: dict[str, int] = {}
    for path in filter(None, listing):
        folder = path.rpartition("/")[0]
        folders[folder] = folders.get(folder, 0) + 1
    assert max(folders.values()) <= 100
    headers = [path for path in listing if path.endswith(".toml")]
    # A session, 2,000 turns and that before them, 500 tasks, 5,001 chunks and those of the tasks.
    assert len(headers) == 1 + 2_001 + 500 + 5_001 + 500


def test_a_text_that_was_read_ten_times_is_stored_once(store: StorePaths, repo: Git) -> None:
    story = Story().prompt()
    for number in range(10):
        story.result(f"r{number}", "the same text\n" * 100)
    tip = record(store, story).tip
    listing = repo.run("ls-tree", "-r", tip).decode().splitlines()
    blobs = {line.split()[2] for line in listing if line.endswith(".md") and "/r" in line}
    assert len([line for line in listing if line.endswith(".md") and "/r" in line]) == 10
    assert len(blobs) == 1


# --- names ---------------------------------------------------------------------------------


def test_two_sessions_that_begin_alike_have_branches_of_their_own(store: StorePaths) -> None:
    keys = [f"0a1b2c3d-0000-4000-8000-00000000000{n}" for n in range(3)]
    branches = [record(store, busy(key)) for key in keys]
    assert [branch.name for branch in branches] == [
        "2026-01-02-0a1b2c3d",
        "2026-01-02-0a1b2c3d-000",
        "2026-01-02-0a1b2c3d-0000-40",
    ]
    for branch in branches:
        forget(store, branch.key)
        again = loaded(store, branch.key)
        assert (again.name, again.state) == (branch.name, branch.state)


@pytest.mark.parametrize("key", ["session-1", "a-", "abcdefg--h", "x" * 128])
def test_a_session_of_any_safe_id_is_found_again_without_its_copy(
    store: StorePaths, key: str
) -> None:
    branch = record(store, busy(key))
    forget(store, key)
    assert (loaded(store, key).name, loaded(store, key).tip) == (branch.name, branch.tip)


def test_ids_that_only_differ_at_their_end_have_names_of_their_own(store: StorePaths) -> None:
    keys = ["abc", "abc-", "abc--", "abc_"]
    names = {record(store, busy(key)).name for key in keys}
    assert len(names) == 4
    for key in keys:
        forget(store, key)
        assert loaded(store, key).key == key
        assert loaded(store, key).tip


def test_the_day_in_the_name_is_that_of_the_first_event(store: StorePaths) -> None:
    late = START + timedelta(days=3)
    first = sessions.load(store, "s1", started_at=late)
    sessions.add(store, first, Story("s1").start().steps(), ["1"])
    assert sessions.load(store, "s1", started_at=START).name == "2026-01-05-s1"


# --- what is there of a session ------------------------------------------------------------


def test_the_branch_is_for_people_to_read(store: StorePaths, repo: Git) -> None:
    branch = record(store, busy())
    assert paths(repo, branch.tip) == [
        ".events",
        "agents/a1.md",
        "compactions/01.md",
        "session.toml",
        "tasks/01-fix-it/00/c4.md",
        "tasks/01-fix-it/00/c4.toml",
        "tasks/01-fix-it/00/c5.md",
        "tasks/01-fix-it/00/c5.toml",
        "tasks/01-fix-it/00/c7.md",
        "tasks/01-fix-it/00/c7.toml",
        "tasks/01-fix-it/00/r2.md",
        "tasks/01-fix-it/00/r2.toml",
        "tasks/01-fix-it/task.toml",
        "turns/00/0001/00/r1.md",
        "turns/00/0001/00/r1.toml",
        "turns/00/0001/prompt.md",
        "turns/00/0001/reply.md",
        "turns/00/0001/turn.toml",
        "turns/00/0002/00/r3.md",
        "turns/00/0002/00/r3.toml",
        "turns/00/0002/prompt.md",
        "turns/00/0002/turn.toml",
    ]
    assert content(repo, f"{branch.tip}:turns/00/0001/reply.md") == "Fixed."


def test_knowledge_is_the_same_tree_as_mains(store: StorePaths, repo: Git) -> None:
    entry = store.root / "knowledge" / "rules" / "one.md"
    entry.parent.mkdir(parents=True)
    entry.write_text("+++\nbroken toml\n+++\nUse tabs.\n")
    (entry.parent / "two.toml").write_text("not = a record")
    git(store.root, "add", "--all")
    git(store.root, "commit", "-q", "-m", "Know more")
    story = busy()
    branch = record(store, story)
    trees = repo.run("rev-parse", f"{branch.tip}:knowledge", "main:knowledge").split()
    assert trees[0] == trees[1]
    assert sessions.read_state(repo, branch.tip) == story.state
    assert loaded(store, branch.key).knowledge == trees[0].decode()


def test_a_file_called_knowledge_is_none(store: StorePaths) -> None:
    (store.root / "knowledge").write_text("I know that I know nothing.\n")
    git(store.root, "add", "--all")
    git(store.root, "commit", "-q", "-m", "Know less")
    story = busy()
    assert record(store, story).knowledge == ""
    assert loaded(store, story.session).state == story.state


def test_the_last_commit_tells_which_events_it_took(store: StorePaths) -> None:
    story = Story().prompt().stop()
    record(store, story)
    assert loaded(store, story.session).events == {"000001", "000002"}
    record(store, story.prompt(), since=2)
    assert loaded(store, story.session).events == {"000003"}


# --- the copy of the state -----------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"format": 1}',
        b"[" * 100_000,
        b'{"format": 99, "name": "x"}',
        b'{"format": 1, "name": "", "commit": 5}',
    ],
)
def test_a_damaged_copy_is_made_again(store: StorePaths, damage: bytes) -> None:
    branch = record(store, busy())
    (store.session_dir(branch.key) / "state.json").write_bytes(damage)
    assert loaded(store, branch.key) == branch


def test_a_copy_with_wrong_rows_is_made_again(store: StorePaths) -> None:
    branch = record(store, busy())
    path = store.session_dir(branch.key) / "state.json"
    good = json.loads(path.read_bytes())
    for name, rows in (("chunks", [{"id": 5}]), ("turns", 7), ("session", []), ("tasks", [None])):
        path.write_text(json.dumps({**good, name: rows}))
        assert loaded(store, branch.key).state == branch.state


def test_a_copy_of_another_commit_is_not_used(store: StorePaths) -> None:
    branch = record(store, busy())
    edit(store, branch.ref, note=b"x")
    again = loaded(store, branch.key)
    assert again.tip != branch.tip
    assert again.state == branch.state
    assert sessions.cached_state(store, branch.key, branch.tip) == branch.state
    assert sessions.cached_state(store, branch.key, again.tip) is None
    assert sessions.last_state(store, branch.key) == branch.state


def test_a_copy_that_cannot_be_written_is_no_loss(store: StorePaths) -> None:
    (store.session_dir("s1") / "state.json").mkdir(parents=True)
    story = busy("s1")
    assert record(store, story).state == story.state
    assert loaded(store, "s1").state == story.state


# --- what goes wrong -----------------------------------------------------------------------


def test_a_session_of_a_newer_format_is_refused(store: StorePaths) -> None:
    branch = record(store, busy())
    edit(store, branch.ref, session_toml=b'format = 2\nid = "x"\nmood = "new"\n')
    with pytest.raises(StoreVersionError, match="format 2, this ctxgit knows 1"):
        loaded(store, branch.key)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("session.toml", b"format = "),
        ("session.toml", b"format = 1\n"),
        ("session.toml", None),
        ("tasks/01-fix-it/task.toml", b"\xff"),
        ("tasks/01-fix-it/task.toml", b"number = 'x'"),
        ("tasks/01-fix-it/task.toml", None),
        ("turns/00/0002/turn.toml", b"number = 2"),
        ("turns/00/0002/turn.toml", None),
        ("turns/00/0001/00/r1.toml", b"]"),
        ("turns/00/0001/00/r1.toml", b"id = 'r1'"),
    ],
)
def test_a_damaged_file_is_named(store: StorePaths, path: str, data: bytes | None) -> None:
    branch = record(store, busy())
    edit(store, branch.ref, **{path: data})
    named = path if data is not None else path.rpartition("/")[0] or path
    with pytest.raises(StoreError, match=named) as raised:
        loaded(store, branch.key)
    assert not isinstance(raised.value, (GitError, StoreVersionError))


def test_an_id_like_the_name_of_a_record_is_an_id(store: StorePaths, repo: Git) -> None:
    story = Story().prompt().result("task").result("session")
    for number in range(70):  # the last ones lie on shelves
        story.verb(subject=f"Step {number}", status=ACTIVE)
    story.result("turn")
    tip = record(store, story).tip
    assert {"turns/00/0001/00/task.toml", "tasks/04/70-step-69/00/turn.toml"} <= {*paths(repo, tip)}
    assert sessions.read_state(repo, tip) == story.state


def test_files_that_people_add_are_none_of_ours(store: StorePaths) -> None:
    branch = record(store, busy())
    edit(
        store,
        branch.ref,
        **{"notes.toml": b"]", "mine/task.toml": b"x = 1", "tasks/README.md": b""},
    )
    assert loaded(store, branch.key).state == branch.state


def test_a_lock_that_a_killed_git_left_is_removed(store: StorePaths, repo: Git) -> None:
    story = busy()
    branch = record(store, story)
    lock = store.git_dir / f"{branch.ref}.lock"
    tag = f"refs/tags/task/{branch.name}/02-more"
    tag_lock = store.git_dir / f"{tag}.lock"
    for path in (lock, tag_lock):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    count = len(story.events)
    after = record(store, story.create("2", "More").update("2", DONE), since=count)
    assert not lock.exists()
    assert not tag_lock.exists()
    assert repo.refs(branch.ref, tag) == {branch.ref: after.tip, tag: after.tip}


def test_what_someone_else_added_is_not_overwritten_and_nothing_changes(
    store: StorePaths, repo: Git
) -> None:
    story = Story().prompt("Go", "p1").create("1", "Fix it")
    record(store, story)
    stale = loaded(store, story.session)
    edit(store, stale.ref, note=b"mine")
    before = repo.refs("refs/")
    story.update("1", DONE).stop()
    with pytest.raises(GitError, match="fast-import"):
        sessions.add(store, stale, story.steps(2), ["000003", "000004"])
    assert repo.refs("refs/") == before
    after = record(store, story, since=2)
    assert after.state == story.state
    assert content(repo, f"{after.tip}:note") == "mine"
    assert repo.refs("refs/tags/task/") != {}


def test_a_branch_deleted_by_hand_is_begun_again(store: StorePaths, repo: Git) -> None:
    story = busy()
    branch = record(store, story)
    repo.run("update-ref", "-d", branch.ref)
    again = loaded(store, branch.key)
    assert (again.name, again.tip, again.state) == (branch.name, "", None)
    record(store, story)
    assert loaded(store, branch.key).state == story.state
    (tag,) = repo.refs("refs/tags/task/")
    repo.run("merge-base", "--is-ancestor", tag, branch.ref)


def test_a_branch_renamed_by_hand_is_found_by_what_it_says(store: StorePaths, repo: Git) -> None:
    story = busy()
    branch = record(store, story)
    renamed = f"refs/heads/session/login-{branch.key[:8]}"
    repo.run("update-ref", renamed, branch.tip)
    repo.run("update-ref", "-d", branch.ref)
    again = loaded(store, branch.key)
    assert (again.ref, again.tip, again.state) == (renamed, branch.tip, branch.state)


def test_the_tag_of_a_task_done_before_stays_when_git_refuses(store: StorePaths, repo: Git) -> None:
    story = Story().prompt().create("1").update("1", DONE).update("1", ACTIVE)
    record(store, story)
    stale = loaded(store, story.session)
    edit(store, stale.ref, note=b"mine")
    before = repo.refs("refs/")
    with pytest.raises(GitError, match="fast-import"):
        sessions.add(store, stale, story.update("1", DONE).steps(4), ["000005"])
    assert repo.refs("refs/") == before


def test_a_tag_that_a_killed_git_set_before_the_branch_is_set_again(
    store: StorePaths, repo: Git
) -> None:
    """Refs are moved one by one: the tag may be there and the branch not yet."""
    story = Story().prompt().create("1", "Fix it").stop()
    first = record(store, story)
    record(store, story.update("1", DONE), since=3)
    repo.run("update-ref", first.ref, first.tip)
    story.stop()  # the next batch holds one event more
    after = record(store, story, since=3)
    assert sessions.read_state(repo, after.tip) == story.state
    (tag,) = repo.refs("refs/tags/task/")
    assert repo.run("log", "-1", "--format=%s", tag) == b"Finish task 1: Fix it\n"
    repo.run("merge-base", "--is-ancestor", tag, after.ref)


def test_a_branch_moved_back_by_hand_goes_on_from_there(store: StorePaths, repo: Git) -> None:
    story = Story().prompt().create("1", "Fix it").stop()
    first = record(store, story)
    record(store, story.update("1", ACTIVE).update("1", DONE).stop(), since=3)
    repo.run("update-ref", first.ref, first.tip)
    other = Story(story.session, story.events[:3], first.state)
    other.update("1", DONE, "other").stop("Otherwise.")
    after = record(store, other, since=3)
    assert sessions.read_state(repo, after.tip) == other.state
    (tag,) = repo.refs("refs/tags/task/")
    assert content(repo, f"{tag}:tasks/01-fix-it/00/other.md") == "Updated task #1"


def test_a_name_that_another_session_got_since_is_not_taken_for_ours(
    store: StorePaths, repo: Git
) -> None:
    first = record(store, busy("0a1b2c3d-1"))
    repo.run("update-ref", "-d", first.ref)
    second = record(store, busy("0a1b2c3d-2"))
    assert second.name == first.name
    again = loaded(store, first.key)
    assert (again.name, again.state) == (f"{first.name}-1", None)


def test_an_unreadable_branch_of_another_session_is_no_obstacle(store: StorePaths) -> None:
    other = record(store, busy("0a1b2c3d-1"))
    edit(store, other.ref, session_toml=b"]")
    story = busy("0a1b2c3d-2")
    assert record(store, story).state == story.state
    forget(store, story.session)
    assert loaded(store, story.session).state == story.state


def test_the_environment_of_another_repository_does_not_mislead(
    store: StorePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "other")
    for name in ("GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, os.fspath(tmp_path / "other" / ".git"))
    story = busy()
    branch = record(store, story)
    assert loaded(store, branch.key).state == story.state
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_OBJECT_DIRECTORY")
    assert git(tmp_path / "other", "for-each-ref") == ""
