from __future__ import annotations

import os
import subprocess
import time
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from ctxgit.errors import StoreLockedError
from ctxgit.store import layout, maintenance, sessions
from ctxgit.store.lock import REFS_LOCK, locked
from ctxgit.store.stream import FAST_IMPORT, Commit, stream
from support.events import DONE, START, Story
from support.recording import content, loaded, record

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.paths import StorePaths
    from ctxgit.store.git import Git


def small(key: str) -> Story:
    return (
        Story(key)
        .prompt(f"Ask {key}")
        .result(f"r-{key}", f"Text of {key}\n")
        .verb(subject=f"Task of {key}", status=DONE)
    )


def filled(store: StorePaths, count: int = 12) -> list[str]:
    """Record sessions, a pack each; return their keys."""
    keys = [f"s{number:02d}" for number in range(count)]
    for key in keys:
        record(store, small(key))
    return keys


def packs(store: StorePaths) -> list[Path]:
    return sorted((store.git_dir / "objects" / "pack").glob("*.pack"))


def objects(repo: Git) -> set[str]:
    out = repo.run("cat-file", "--batch-all-objects", "--batch-check=%(objectname)", "--unordered")
    return set(out.decode().split())


# --- when ----------------------------------------------------------------------------------


def test_it_is_due_when_packs_have_piled_up(store: StorePaths) -> None:
    assert not maintenance.is_due(store, packs=2)
    filled(store, 3)
    assert maintenance.is_due(store, packs=3)
    assert not maintenance.is_due(store, packs=4)


def test_it_is_due_when_refs_have_piled_up(store: StorePaths, repo: Git) -> None:
    tip = repo.run("rev-parse", "main").decode().strip()
    lines = (f"create refs/tags/t{n} {tip}\n" for n in range(maintenance.LOOSE_REFS))
    repo.run("update-ref", "--stdin", stdin="".join(lines).encode())
    assert maintenance.is_due(store, packs=50)
    assert maintenance.run_if_due(store, packs=50)
    assert not maintenance.is_due(store, packs=50)


def test_it_is_done_only_when_due(store: StorePaths) -> None:
    filled(store, 3)
    before = packs(store)
    assert not maintenance.run_if_due(store, packs=4)
    assert packs(store) == before
    assert maintenance.run_if_due(store, packs=3)
    assert len(packs(store)) == 1


def test_it_is_not_done_twice_at_a_time(store: StorePaths) -> None:
    filled(store, 3)
    before = packs(store)
    with locked(store.runtime / "maintenance.lock", wait=0):
        assert not maintenance.run_if_due(store, packs=2)
    assert packs(store) == before


# --- what ----------------------------------------------------------------------------------


def test_it_keeps_every_object_in_fewer_packs(store: StorePaths, repo: Git) -> None:
    keys = filled(store)
    lost = loaded(store, keys.pop())
    repo.run("update-ref", "-d", lost.ref)  # what no ref names any more is kept, too
    refs, before = repo.refs("refs/"), objects(repo)
    maintenance.run(store)
    assert objects(repo) >= before
    assert len(packs(store)) <= 2
    assert repo.refs("refs/") == refs
    assert repo.run("fsck", "--strict", "--full", "--no-dangling") == b""
    for key in keys:
        assert sessions.read_state(repo, loaded(store, key).tip) == small(key).state
    assert sessions.read_state(repo, lost.tip) == small(lost.key).state


def test_it_packs_refs_and_writes_a_commit_graph(store: StorePaths) -> None:
    keys = filled(store, 3)
    maintenance.run(store)
    packed = (store.git_dir / "packed-refs").read_text(encoding="utf-8")
    assert all(f"refs/heads/session/2026-01-02-{key}" in packed for key in keys)
    assert not [path for path in (store.git_dir / "refs").rglob("*") if path.is_file()]
    assert (store.git_dir / "objects" / "info" / "commit-graph").is_file()


def test_after_it_sessions_go_on_and_it_can_be_done_again(store: StorePaths, repo: Git) -> None:
    story = small("s")
    record(store, story)
    for number in range(3):
        maintenance.run(store)
        story.prompt(f"More {number}")
        record(store, story, since=len(story.events) - 1)
    maintenance.run(store)
    assert sessions.read_state(repo, loaded(store, "s").tip) == story.state
    assert repo.run("fsck", "--strict", "--full") == b""


# --- beside others -------------------------------------------------------------------------


def test_an_import_that_runs_meanwhile_is_not_disturbed(store: StorePaths, repo: Git) -> None:
    """The import reads its parent's trees from packs that are rolled up under it."""
    keys = filled(store, 6)
    branch = loaded(store, keys[0])
    more = Commit(at=START, message="x", files={"turns/00/0001/00/n.md": b"n"}, trees={})
    whole = b"".join(stream(branch.ref, branch.tip, [more, more]))
    middle = whole.index(b"commit ", 1)
    command = ["git", f"--git-dir={store.git_dir}", *FAST_IMPORT]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        process.stdin.write(whole[:middle])
        process.stdin.flush()
        maintenance.run(store)
        out, _ = process.communicate(whole[middle:])
    assert process.returncode == 0
    assert repo.refs(branch.ref) == {branch.ref: out.decode().split()[-1]}
    assert content(repo, f"{branch.ref}:turns/00/0001/00/r-{keys[0]}.md") == f"Text of {keys[0]}\n"
    assert repo.run("fsck", "--strict", "--full") == b""


def test_sessions_that_are_recorded_meanwhile_lose_nothing(store: StorePaths, repo: Git) -> None:
    stories = [Story(f"s{number}").prompt() for number in range(2)]

    def work(story: Story) -> None:
        record(store, story)
        for number in range(12):
            story.result(f"r{number}").verb(subject=f"Task {number}", status=DONE)
            record(store, story, since=len(story.events) - 2)

    threads = [Thread(target=work, args=[story]) for story in stories]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        maintenance.run(store)
    maintenance.run(store)
    for story in stories:
        branch = loaded(store, story.session)
        assert sessions.read_state(repo, branch.tip) == story.state
        assert len(repo.refs(f"{layout.TASK_TAGS}{branch.name}/")) == 12
    assert repo.run("fsck", "--strict", "--full") == b""


def test_refs_are_not_packed_while_a_session_moves_its_own(
    store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "REFS_SECONDS", 0)
    filled(store, 3)
    with locked(store.runtime / REFS_LOCK, wait=0, shared=True):
        maintenance.run(store)
    assert len(packs(store)) == 1
    assert not (store.git_dir / "packed-refs").exists()


def test_a_lock_of_git_that_packs_refs_is_not_taken_for_a_left_over(
    store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It deletes the loose file of a ref under that lock: a ref moved meanwhile would be lost."""
    monkeypatch.setattr(sessions, "REFS_SECONDS", 0)
    story = small("s")
    branch = record(store, story)
    lock = store.git_dir / f"{branch.ref}.lock"
    lock.touch()
    with locked(store.runtime / REFS_LOCK, wait=0), pytest.raises(StoreLockedError):
        record(store, story.prompt("More"), since=len(story.events) - 1)
    assert lock.exists()
    record(store, story, since=len(story.events) - 1)
    assert not lock.exists()


def test_old_left_overs_are_removed_and_young_ones_stay(store: StorePaths) -> None:
    long_ago = time.time() - maintenance.STALE_SECONDS - 60
    old = [store.git_dir / name for name in LEFT_OVER]
    young = [path.with_name(path.name.replace("42", "43").replace("x1", "x3")) for path in old]
    young = [path for path in young if path not in old]
    for path in (*old, *young):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for path in old:
        os.utime(path, (long_ago, long_ago))
    maintenance.run(store)
    assert [path for path in old if path.exists()] == []
    assert [path for path in young if not path.exists()] == []
    assert len(young) == 6


# --- what killed processes left ------------------------------------------------------------

LEFT_OVER = (
    "fast_import_crash_42",
    "packed-refs.lock",
    "packed-refs.new",
    "objects/pack/tmp_pack_x1y2z3",
    "objects/pack/tmp_idx_x1y2z3",
    "objects/pack/.tmp-42-pack-0a1b.pack",
    "objects/pack/multi-pack-index.lock",
    "objects/info/commit-graph.lock",
    "refs/heads/main.lock",
    "refs/tags/task/s/01-x.lock",
    "ctx/spool/.1700000000000000000.s.1.2",
    "ctx/sessions/s/.state.json.42.tmp",
    "ctx/recaps/.0a1b2c3d.txt.42.tmp",
)


def test_what_is_old_but_no_left_over_stays(store: StorePaths) -> None:
    kept = [store.spool / "1.s.1.2", store.session_dir("s") / "lock", store.log, store.config]
    for path in kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (0, 0))
    maintenance.run(store)
    assert all(path.exists() for path in kept)
