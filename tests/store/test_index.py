from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from ctxgit.errors import StoreError
from ctxgit.store import index
from ctxgit.store.stream import FAST_IMPORT, Commit, stream
from support.events import ACTIVE, START, Story
from support.recording import content, loaded, record

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.paths import StorePaths
    from ctxgit.store.git import Git
    from ctxgit.store.sessions import Branch


def story(key: str) -> Story:
    return Story(key).start().prompt(f"Ask {key}").result(f"r-{key}").result("same", f"Of {key}")


def names(store: StorePaths, repo: Git) -> list[str]:
    """Return the sessions that a refreshed index lists."""
    with index.opened(store) as opened:
        opened.refresh(repo)
        return [entry.key for entry in opened.sessions()]


def places(store: StorePaths, prefix: str) -> list[tuple[str, str]]:
    with index.opened(store) as opened:
        return [(entry.session, entry.path) for entry in opened.chunks(prefix)]


def put(store: StorePaths, branch: Branch, since: int = 0) -> None:
    """Take in what a sync has just added."""
    assert branch.state is not None
    chunks = [chunk for chunk in branch.state.chunks.values() if chunk.number > since]
    with index.opened(store) as opened:
        opened.put(branch, chunks)


# --- lists ---------------------------------------------------------------------------------


def test_a_session_is_listed_as_it_stands(store: StorePaths) -> None:
    told = story("s1").observe(work_tree="/p", branch="main", head="1a").prompt("Next").end("clear")
    branch = record(store, told)
    put(store, branch)
    with index.opened(store) as opened:
        assert opened.sessions() == [
            index.SessionEntry(
                key="s1",
                name="2026-01-02-s1",
                tip=branch.tip,
                work_tree="/p",
                branch="main",
                started_at="2026-01-02T03:04:06+00:00",
                updated_at="2026-01-02T03:04:12+00:00",
                ended="clear",
                headline="Next",
            )
        ]


def test_sessions_are_listed_by_work_tree_prefix_and_latest_first(
    store: StorePaths, repo: Git
) -> None:
    for number, (key, tree) in enumerate([("aa1", "/p"), ("aa2", "/q"), ("b_1", "/p")]):
        told = Story(key).start(cwd="/c").observe(at=number * 60, work_tree=tree)
        record(store, told)
    record(store, Story("b%2").start(cwd="/p", at=1))
    with index.opened(store) as opened:
        opened.refresh(repo)
        assert [entry.key for entry in opened.sessions(work_tree="/p")] == ["b_1", "aa1", "b%2"]
        assert [entry.key for entry in opened.sessions(prefix="aa")] == ["aa2", "aa1"]
        assert [entry.key for entry in opened.sessions(prefix="2026-01-02-aa1")] == ["aa1"]
        assert [entry.key for entry in opened.sessions(prefix="b%")] == ["b%2"]
        assert [entry.key for entry in opened.sessions(prefix="b_")] == ["b_1"]
        assert opened.sessions(prefix="zz") == []


def test_a_session_updated_in_the_same_second_but_later_comes_first(store: StorePaths) -> None:
    for key, micros in (("s1", 0), ("s2", 5), ("s3", 500_000)):
        put(store, record(store, Story(key).start(at=1 + micros / 1e6)))
    with index.opened(store) as opened:
        assert [entry.key for entry in opened.sessions()] == ["s3", "s2", "s1"]


def test_a_chunk_is_where_the_index_says(store: StorePaths, repo: Git) -> None:
    told = story("s1").create("1", "Fix it").update("1", ACTIVE).result("x9", "Found me.")
    put(store, record(store, told))
    with index.opened(store) as opened:
        (entry,) = opened.chunks("x")
    assert (entry.id, entry.session, entry.path) == ("x9", "s1", "tasks/01-fix-it/00/x9")
    assert content(repo, f"{entry.tip}:{entry.path}.md") == "Found me."


def test_the_same_id_in_two_sessions_is_two_chunks(store: StorePaths, repo: Git) -> None:
    for key in ("s1", "s2"):
        put(store, record(store, story(key)))
    with index.opened(store) as opened:
        found = opened.chunks("same")
    assert [content(repo, f"{entry.tip}:{entry.path}.md") for entry in found] == ["Of s1", "Of s2"]


def test_a_prefix_is_no_pattern_and_a_dozen_is_enough(store: StorePaths) -> None:
    told = Story("s1").prompt()
    for number in range(20):
        told.result(f"a{number:02d}")
    put(store, record(store, told.result("a_x")))
    with index.opened(store) as opened:
        assert [entry.id for entry in opened.chunks("a")] == [f"a{n:02d}" for n in range(12)]
        assert [entry.id for entry in opened.chunks("a_")] == ["a_x"]
        assert opened.chunks("a%") == []
        assert opened.chunks("'; DROP TABLE chunk; --") == []


# --- derived, deletable at any time --------------------------------------------------------


def damaged(path: Path, how: str) -> None:
    import sqlite3

    if how == "missing":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "text":
        path.write_bytes(b"this is no database\n" * 500)
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:5_000])
    elif how == "other version":
        with sqlite3.connect(path) as connection:
            connection.executescript("PRAGMA user_version = 99; DROP TABLE chunk")
        connection.close()


@pytest.mark.parametrize("how", ["missing", "empty", "text", "cut", "other version"])
def test_it_is_made_again_from_the_branches(store: StorePaths, repo: Git, how: str) -> None:
    for key in ("s1", "s2"):
        put(store, record(store, story(key)))
    damaged(store.index, how)
    assert sorted(names(store, repo)) == ["s1", "s2"]
    assert places(store, "r-s1") == [("s1", "turns/00/0001/00/r-s1")]


def test_damage_behind_the_first_page_is_told_and_mended(store: StorePaths, repo: Git) -> None:
    for number in range(40):
        put(store, record(store, story(f"s{number}")))
    data = bytearray(store.index.read_bytes())
    assert len(data) > 3 * 4_096
    data[4_096:] = b"\xa5" * (len(data) - 4_096)
    store.index.write_bytes(data)
    with pytest.raises(StoreError, match=r"the index .*index\.sqlite was damaged"):
        names(store, repo)
    assert len(names(store, repo)) == 40


def test_a_failing_block_is_heard_as_it_is(store: StorePaths) -> None:
    with pytest.raises(ValueError, match="oops"), index.opened(store):
        raise ValueError("oops")


def test_an_index_that_cannot_be_opened_is_told(store: StorePaths, repo: Git) -> None:
    store.index.mkdir()
    with pytest.raises(StoreError, match=r"index\.sqlite"):
        names(store, repo)


def test_an_index_that_is_in_use_is_not_thrown_away(
    store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "BUSY_SECONDS", 0)
    branch = record(store, story("s1"))
    with index.opened(store) as opened:
        opened.connection.execute("BEGIN IMMEDIATE")
        inode = store.index.stat().st_ino
        with pytest.raises(StoreError, match="locked"):
            put(store, branch)
        assert store.index.stat().st_ino == inode


def test_a_sync_after_one_whose_index_failed_takes_in_what_that_one_added(
    store: StorePaths, repo: Git
) -> None:
    told = story("s1")
    put(store, record(store, told))
    record(store, told.result("missed"), since=len(told.events) - 1)
    branch = record(store, told.result("new"), since=len(told.events) - 1)
    put(store, branch, since=3)
    names(store, repo)
    assert [places(store, call) != [] for call in ("missed", "new")] == [True, True]


def test_a_sync_after_a_deletion_takes_in_what_was_there_before(
    store: StorePaths, repo: Git
) -> None:
    told = story("s1")
    put(store, record(store, told))
    store.index.unlink()
    branch = record(store, told.result("new"), since=len(told.events) - 1)
    put(store, branch, since=2)
    assert names(store, repo) == ["s1"]
    assert places(store, "r-s1") == [("s1", "turns/00/0001/00/r-s1")]
    assert places(store, "new") == [("s1", "turns/00/0001/00/new")]


def test_it_is_private(store: StorePaths) -> None:
    with index.opened(store):
        pass
    assert stat.S_IMODE(store.index.stat().st_mode) == 0o600


# --- branches moved by hand ----------------------------------------------------------------


def test_a_branch_deleted_by_hand_is_forgotten(store: StorePaths, repo: Git) -> None:
    branches = [record(store, story(key)) for key in ("s1", "s2")]
    assert sorted(names(store, repo)) == ["s1", "s2"]
    repo.run("update-ref", "-d", branches[0].ref)
    assert names(store, repo) == ["s2"]
    assert [session for session, _ in places(store, "same")] == ["s2"]


def test_a_branch_moved_by_hand_is_read_again(store: StorePaths, repo: Git) -> None:
    told = story("s1")
    first = record(store, told)
    record(store, told.prompt("Later"), since=len(told.events) - 1)
    names(store, repo)
    repo.run("update-ref", first.ref, first.tip)
    with index.opened(store) as opened:
        opened.refresh(repo)
        (entry,) = opened.sessions()
    assert (entry.tip, entry.headline) == (first.tip, "Ask s1")


def test_a_branch_renamed_by_hand_is_listed_by_its_new_name(store: StorePaths, repo: Git) -> None:
    branch = record(store, story("s1"))
    names(store, repo)
    repo.run("update-ref", "refs/heads/session/login", branch.tip)
    repo.run("update-ref", "-d", branch.ref)
    with index.opened(store) as opened:
        opened.refresh(repo)
        assert [(entry.key, entry.name) for entry in opened.sessions()] == [("s1", "login")]
    assert places(store, "r-s1") != []


def test_a_branch_that_was_damaged_keeps_its_last_good_entry(store: StorePaths, repo: Git) -> None:
    branch = record(store, story("s1"))
    names(store, repo)
    damage = Commit(at=START, message="x", files={"session.toml": b"]"}, trees={})
    repo.run(*FAST_IMPORT, stdin=stream(branch.ref, branch.tip, [damage]))
    assert names(store, repo) == ["s1"]
    assert places(store, "r-s1") != []


def test_one_damaged_branch_does_not_hide_the_others(store: StorePaths, repo: Git) -> None:
    branches = [record(store, story(key)) for key in ("s1", "s2", "s3")]
    for branch, data in zip(branches, (b"]", b"format = 99\n"), strict=False):
        damage = Commit(at=START, message="x", files={"session.toml": data}, trees={})
        repo.run(*FAST_IMPORT, stdin=stream(branch.ref, branch.tip, [damage]))
    assert names(store, repo) == ["s3"]
    with index.opened(store) as opened:
        unread = opened.refresh(repo)
    assert sorted(unread) == ["2026-01-02-s1", "2026-01-02-s2"]
    assert "session.toml" in unread["2026-01-02-s1"].message
    assert "format 99" in unread["2026-01-02-s2"].message


def test_without_sessions_there_is_nothing(store: StorePaths, repo: Git) -> None:
    assert names(store, repo) == []
    with index.opened(store) as opened:
        opened.put(loaded(store, "new"), [])
        assert opened.sessions() == []
