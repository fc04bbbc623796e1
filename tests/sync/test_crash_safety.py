"""Killed at any moment, beside any other, on a full disk: each event is in the store once."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ctxgit.actions.sync as sync_module
from ctxgit.actions.sync import sync
from ctxgit.errors import StoreError
from support import disk
from support.git import git
from support.payloads import payload, spooled, tool_payload
from support.store import (
    branches,
    check_objects,
    chunk_ids,
    hook_environment,
    log_text,
    make_project,
    only,
    put,
    read_event,
    run_ctx,
    run_hook,
    spool_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxgit.paths import StorePaths

SYNC = [sys.executable, "-m", "ctxgit", "sync"]


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    return make_project(tmp_path / "project")


def fill(store: StorePaths, numbers: Sequence[int], sessions: Sequence[str]) -> None:
    """Put a prompt, a result, a task done and a stop for each number into each session."""
    for session in sessions:
        for number in numbers:
            prompt = f"{session}-{number}"
            fields = {"session_id": session, "prompt_id": prompt, "cwd": str(store.root.parent)}
            put(store, payload("UserPromptSubmit", prompt=prompt, **fields), session=session)
            put(store, read_event(number, session=session, prompt_id=prompt), session=session)
            todo = {"todos": [{"content": f"task {number}", "status": "completed"}]}
            done = tool_payload("TodoWrite", todo, {}, tool_use_id=f"toolu_t{number:05d}", **fields)
            put(store, done, session=session)
            put(store, payload("Stop", **fields), session=session)


def check_once(store: StorePaths, numbers: Sequence[int], sessions: Sequence[str]) -> None:
    """Fail unless each event that ``fill`` put is in the store once, in its session."""
    assert spool_names(store) == []
    assert list(store.rejected.iterdir()) == []
    check_objects(store)
    by_session = {name.split("-", 3)[-1]: name for name in branches(store)}
    assert sorted(by_session) == sorted(session[:8] for session in sessions)
    for session in sessions:
        branch = by_session[session[:8]]
        expected = [f"{number:06d}" for number in numbers] + [f"t{n:05d}" for n in numbers]
        assert sorted(chunk_ids(store, branch)) == sorted(expected)
        facts = run_ctx("status", "--session", session, "--json", cwd=store.root.parent)
        assert facts.code == 0, facts.err
        found = facts.json["data"]["session"]
        assert (found["turns"], found["chunks"]) == (len(numbers), 2 * len(numbers))
        assert [task["subject"] for task in found["tasks"]] == [f"task {n}" for n in numbers]
        tags = git(store.root, "tag", "--list", f"task/{branch.removeprefix('session/')}/*")
        assert len(tags.splitlines()) == len(numbers)
        # No turn and no commit is told twice.
        stops = git(store.root, "log", "--format=%(trailers:key=Ctx-Event,valueonly)", branch)
        assert stops.split().count("Stop") == len(numbers)


def killed_after(store: StorePaths, seconds: float, *, with_git: bool) -> bool:
    """Start a sync, kill it after ``seconds``; return whether it was still at it."""
    process = subprocess.Popen(
        SYNC,
        cwd=store.root.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        if with_git:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
        return True
    return False


@pytest.mark.parametrize("with_git", [False, True], ids=["python", "python and git"])
def test_a_sync_may_be_killed_at_any_moment(with_git: bool, store: StorePaths) -> None:  # noqa: FBT001 - a parameter
    sessions = ["a" * 12, "b" * 12]
    fill(store, [0, 1], sessions)
    began = time.monotonic()
    subprocess.run(SYNC, cwd=store.root.parent, stdout=subprocess.DEVNULL, check=True)
    length = time.monotonic() - began
    moments = random.Random(9)  # noqa: S311 - the same moments each time
    number, kills = 2, 0
    while kills < 12:
        fill(store, range(number, number + 3), sessions)
        number += 3
        kills += killed_after(store, moments.uniform(0.1, 1.0) * length, with_git=with_git)
        assert number < 150, "the syncs end before they can be killed"
    last = run_ctx("sync", cwd=store.root.parent)
    assert last.code == 0, last.err
    check_once(store, range(number), sessions)


def test_events_that_were_committed_and_not_removed_change_nothing(store: StorePaths) -> None:
    """As if the sync was killed between its commit and the removal."""
    fill(store, [0, 1, 2], ["s"])
    saved = store.root / "saved"
    shutil.copytree(store.spool, saved)
    sync(store)
    (branch,) = branches(store)
    before = git(store.root, "rev-parse", branch)
    shutil.copytree(saved, store.spool, dirs_exist_ok=True)
    result = sync(store)
    assert result.sessions == ()
    assert git(store.root, "rev-parse", branch) == before
    shutil.copytree(saved, store.spool, dirs_exist_ok=True)
    fill(store, [3], ["s"])
    sync(store)
    check_once(store, range(4), ["s"])


def test_left_overs_of_a_large_batch_count_once_among_new_events(
    store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Late events that are older push left-overs out of the first batch."""
    monkeypatch.setattr(sync_module, "BATCH_EVENTS", 8)
    fill(store, [1, 2], ["s"])
    saved = store.root / "saved"
    shutil.copytree(store.spool, saved)
    sync(store)
    shutil.copytree(saved, store.spool, dirs_exist_ok=True)
    for name in range(6):
        put(store, read_event(100 + name, session="s", prompt_id="s-2"), name=f"10{name}.s.1.1")
    fill(store, [3], ["s"])
    sync(store)
    assert spool_names(store) == []
    (branch,) = branches(store)
    found = chunk_ids(store, branch)
    assert len(found) == len(set(found)) == 6 + 6
    stops = git(store.root, "log", "--format=%(trailers:key=Ctx-Event,valueonly)", branch)
    assert stops.split().count("Stop") == 3


def leave_locks(store: StorePaths) -> Iterator[Path]:
    """Leave the lock of each ref of a session, as a killed git does."""
    for kind in ("heads/session", "tags/task"):
        for ref in list((store.git_dir / "refs" / kind).rglob("*")):
            if ref.is_file():
                lock = ref.with_name(f"{ref.name}.lock")
                lock.touch()
                yield lock


def test_locks_that_a_killed_git_left_hold_up_nothing(store: StorePaths) -> None:
    fill(store, [0, 1], ["s"])
    sync(store)
    assert len(list(leave_locks(store))) == 3
    fill(store, [2], ["s"])
    sync(store)
    check_once(store, range(3), ["s"])


def test_tags_that_a_killed_git_did_not_make_are_made(store: StorePaths) -> None:
    fill(store, [0, 1], ["s"])
    saved = store.root / "saved"
    shutil.copytree(store.spool, saved)
    sync(store)
    shutil.copytree(saved, store.spool, dirs_exist_ok=True)
    for lock in leave_locks(store):
        if "tags" in lock.parts:
            lock.with_suffix("").unlink()
    assert git(store.root, "tag", "--list") == ""
    sync(store)
    check_once(store, range(2), ["s"])


def test_a_git_that_outlives_its_sync_keeps_the_lock(store: StorePaths, tmp_path: Path) -> None:
    """Its refs must not be taken for those of a git that was killed."""
    fill(store, [0], ["s"])
    real = shutil.which("git")
    slow = f"""
case "$*" in
*fast-import*) cat >"{tmp_path}/stream"; echo >"{tmp_path}/ready"; read -r _ <"{tmp_path}/go"
    exec {real} "$@" <"{tmp_path}/stream" ;;
esac
exec {real} "$@" """
    for fifo in ("ready", "go"):
        os.mkfifo(tmp_path / fifo)
    path = only(tmp_path / "bin", "cat", git=slow)
    process = subprocess.Popen(
        SYNC, cwd=store.root.parent, env={**os.environ, "PATH": path}, stdout=subprocess.DEVNULL
    )
    (tmp_path / "ready").read_text()
    process.kill()
    process.wait()
    fill(store, [1], ["s"])
    with pytest.raises(StoreError, match="another process holds"):
        sync(store, wait=0)
    (tmp_path / "go").write_text("\n")
    sync(store)
    check_once(store, [0, 1], ["s"])


def test_sixteen_sessions_at_once_lose_nothing(store: StorePaths) -> None:
    """Each captures through its own hooks, which sync in the middle of all others' doing."""
    project = store.root.parent
    sessions = [f"{number:02d}-session-{number}" for number in range(16)]
    numbers = range(3)

    def live(session: str) -> None:
        environment = hook_environment(project, session=session, pid=session[:2])

        def hook(event: str, data: Any) -> None:
            done = run_hook(event, spooled(data), environment)
            assert (done.code, done.out, done.err) == (0, "", "")

        for number in numbers:
            prompt = f"{session}-{number}"
            fields = {"session_id": session, "prompt_id": prompt, "cwd": str(project)}
            hook("UserPromptSubmit", payload("UserPromptSubmit", prompt=prompt, **fields))
            hook("PostToolUse", read_event(number, session=session, prompt_id=prompt))
            todo = {"todos": [{"content": f"task {number}", "status": "completed"}]}
            done = tool_payload("TodoWrite", todo, {}, tool_use_id=f"toolu_t{number:05d}", **fields)
            hook("PostToolUse", done)
            hook("Stop", payload("Stop", **fields))

    with ThreadPoolExecutor(max_workers=16) as threads:
        list(threads.map(live, sessions))
    last = run_ctx("sync", cwd=project)
    assert last.code == 0, last.err
    assert log_text(store) == ""
    check_once(store, numbers, sessions)


@disk.needs_mounts
@pytest.mark.parametrize(
    ("place", "trouble"),
    [("objects", "read-only"), ("objects/pack", "full"), ("refs", "read-only"), (".", "read-only")],
)
def test_a_disk_that_takes_nothing_costs_nothing(
    place: str, trouble: str, store: StorePaths
) -> None:
    sync(store)
    fill(store, [0, 1], ["s"])
    before = spool_names(store)
    folder = store.git_dir / place
    wrapped = disk.small(folder, "8k") if trouble == "full" else disk.read_only(folder)
    failed = subprocess.run(
        [*wrapped, *SYNC], cwd=store.root.parent, capture_output=True, text=True, check=False
    )
    assert failed.returncode == 1, failed.stderr
    assert failed.stderr.startswith("error: ")
    assert "Traceback" not in failed.stderr
    assert spool_names(store) == before
    sync(store)
    check_once(store, [0, 1], ["s"])


def test_a_spool_that_cannot_be_emptied_is_told_and_counts_once(
    store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, [0, 1], ["s"])
    unlink = Path.unlink

    def refuse(path: Path, *, missing_ok: bool = False) -> None:
        if path.parent == store.spool:
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    for _ in range(2):
        with pytest.raises(StoreError, match="Permission denied"):
            sync(store)
    monkeypatch.undo()
    sync(store)
    check_once(store, [0, 1], ["s"])


def test_batches_make_no_difference(
    store: StorePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_project(tmp_path / "other")
    fill(store, range(5), ["s"])
    for event in store.spool.iterdir():
        shutil.copy2(event, other.spool)
    sync(store)
    monkeypatch.setattr(sync_module, "BATCH_EVENTS", 3)
    sync(other)
    check_once(store, range(5), ["s"])
    check_once(other, range(5), ["s"])
