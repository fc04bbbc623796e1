"""Clearing on purpose, and what a plain clear of the client's leaves."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.clear import NEXT, clear
from ctxgit.actions.naming import resolve
from ctxgit.actions.recaps import of_session, of_work_tree
from ctxgit.actions.sync import sync
from ctxgit.errors import NotFoundError
from ctxgit.store import layout, sessions
from support.git import git
from support.payloads import SESSION, payload
from support.recording import paths, record
from support.store import NOON, check_objects, put, put_session, read_event
from support.work import OTHER, work

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.actions.place import Place
    from ctxgit.paths import StorePaths
    from ctxgit.store.git import Git


def cleared(repo: Git) -> dict[str, str]:
    return repo.refs(layout.CLEARED)


def test_a_clear_ends_the_working_set_and_keeps_what_was(
    place: Place, store: StorePaths, repo: Git
) -> None:
    story = work(place.directory)
    before = record(store, story)
    done = clear(place)
    state = story.state
    assert (done.session, done.tasks, done.open_tasks) == (before.name, 2, 1)
    assert (done.results, done.tokens) == (8, sum(c.tokens for c in state.chunks.values()))
    assert done.next == NEXT
    assert cleared(repo) == {f"refs/heads/{done.kept}": before.tip}
    assert resolve(place, "@cleared").commit == before.tip
    tree = paths(repo, f"session/{before.name}")
    turns = [path for path in tree if path.startswith("turns/")]
    assert {path.rsplit("/", 1)[-1] for path in turns} == {"turn.toml", "prompt.md", "reply.md"}
    assert not [path for path in tree if path.startswith("tasks/")]
    now = sessions.read_state(repo, f"session/{before.name}")
    assert (now.tasks, now.chunks, now.turns) == ({}, {}, state.turns)
    assert git(store.root, "log", "-1", "--format=%s", f"session/{before.name}") == (
        "Clear the working set"
    )
    check_objects(store)


def test_knowledge_stays(place: Place, store: StorePaths, repo: Git) -> None:
    entry = store.root / "knowledge" / "rules" / "one.md"
    entry.parent.mkdir(parents=True)
    entry.write_text("Always test.\n")
    git(store.root, "add", "knowledge")
    git(store.root, "commit", "-qm", "Add a rule")
    name = record(store, work(place.directory)).name
    tree = repo.run("rev-parse", f"session/{name}:knowledge")
    done = clear(place)
    assert done.knowledge >= 1
    assert repo.run("rev-parse", f"session/{name}:knowledge") == tree


def test_a_clear_of_what_is_cleared_does_nothing(place: Place, store: StorePaths) -> None:
    record(store, work(place.directory))
    clear(place)
    refs = git(store.root, "for-each-ref")
    done = clear(place)
    assert (done.tasks, done.results, done.kept) == (0, 0, "")
    assert git(store.root, "for-each-ref") == refs


def test_clears_within_a_second_are_both_kept(place: Place, store: StorePaths, repo: Git) -> None:
    story = work(place.directory)
    record(store, story)
    kept = []
    for number in range(3):
        kept.append(clear(place).kept)
        put(store, read_event(number))
    assert len(set(kept)) == 3
    assert set(cleared(repo)) == {f"refs/heads/{name}" for name in kept}
    assert resolve(place, "@cleared").label == max(kept)


def test_nothing_to_clear_is_told(place: Place) -> None:
    with pytest.raises(NotFoundError, match="no session is recorded yet"):
        clear(place)


def test_the_recap_says_only_that_it_was_cleared_until_the_user_asks_again(
    place: Place, store: StorePaths
) -> None:
    where = {"cwd": str(place.directory)}
    put_session(store, 3)
    sync(store)
    clear(place)
    recap = of_work_tree(store, str(place.directory))
    for path in (recap, of_session(store, SESSION)):
        text = path.read_text(encoding="utf-8")
        assert "was cleared on purpose" in text
        assert "ctx load @cleared" in text
        assert "Fix the login" not in text
    for event in (read_event(9), payload("Stop", **where), payload("SessionEnd", reason="clear")):
        put(store, event)
        sync(store)
        assert "Fix the login" not in recap.read_text(encoding="utf-8")
    put(store, payload("UserPromptSubmit", prompt="Go on", prompt_id="p2", **where))
    sync(store)
    text = recap.read_text(encoding="utf-8")
    assert "cleared on purpose" not in text
    assert "Go on" in text


# --- what a plain /clear leaves ------------------------------------------------------------------


def end(store: StorePaths, reason: str = "clear", at: int = NOON + 10**12) -> None:
    put(store, payload("SessionEnd", reason=reason), at=at)


def test_a_plain_clear_leaves_the_state_it_ended(
    place: Place, store: StorePaths, repo: Git
) -> None:
    put_session(store, 2)
    end(store)
    put(store, read_event(7), at=NOON + 2 * 10**12)  # arrives after the end, in the same batch
    sync(store)
    ((ref, commit),) = cleared(repo).items()
    assert ref == "refs/heads/cleared/2026-01-02-121640-0a1b2c3d"  # noon and a thousand seconds
    assert git(store.root, "log", "-1", "--format=%s", commit) == "End the session (clear)"
    assert len(sessions.read_state(repo, commit).chunks) == 2
    assert resolve(place, "@cleared").commit == commit
    sync(store)
    assert cleared(repo) == {ref: commit}


@pytest.mark.parametrize("reason", ["other", "logout", "prompt_input_exit"])
def test_another_end_leaves_nothing(store: StorePaths, repo: Git, reason: str) -> None:
    put_session(store, 1)
    end(store, reason)
    sync(store)
    assert cleared(repo) == {}


def test_a_clear_of_a_session_in_which_nothing_happened_leaves_nothing(
    store: StorePaths, repo: Git
) -> None:
    put(store, payload("SessionStart"))
    end(store)
    sync(store)
    assert cleared(repo) == {}


def test_a_plain_clear_after_a_smart_one_leaves_nothing_more(
    place: Place, store: StorePaths, repo: Git
) -> None:
    put_session(store, 2)
    sync(store)
    kept = clear(place).kept
    put(store, read_event(8))  # the result of `ctx clear` itself
    put(store, payload("Stop"))
    end(store, at=2 * NOON)
    sync(store)
    assert set(cleared(repo)) == {f"refs/heads/{kept}"}


def test_sessions_whose_ids_begin_alike_keep_theirs_apart(store: StorePaths, repo: Git) -> None:
    for session in (SESSION, f"{SESSION[:8]}-another"):
        put_session(store, 1, session=session)
        put(
            store,
            payload("SessionEnd", reason="clear", session_id=session),
            session=session,
            at=NOON + 10**12,
        )
    sync(store)
    assert len(cleared(repo)) == 2


def test_a_sync_killed_before_the_ref_is_made_makes_it_at_the_next(
    store: StorePaths, repo: Git, tmp_path: Path
) -> None:
    put_session(store, 2)
    end(store)
    put(store, read_event(7), at=NOON + 2 * 10**12)
    shutil.copytree(store.spool, tmp_path / "spool")
    sync(store)
    refs = cleared(repo)
    ((ref, _),) = refs.items()
    repo.run("update-ref", "-d", ref)
    shutil.copytree(tmp_path / "spool", store.spool, dirs_exist_ok=True)
    tips = repo.refs(layout.SESSIONS)
    sync(store)
    assert cleared(repo) == refs
    assert repo.refs(layout.SESSIONS) == tips
    assert not list(store.spool.iterdir())


def test_the_session_after_a_plain_clear_finds_what_the_one_before_it_had(
    place: Place, store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = {"cwd": str(place.directory)}
    put_session(store, 2)
    end(store)
    put(store, payload("SessionStart", source="clear", session_id=OTHER, **where), session=OTHER)
    foreign = "eeeeeeee-0000-4000-8000-000000000003"
    put_session(store, 1, session=foreign)  # another window, cleared later
    last = payload("SessionEnd", reason="clear", session_id=foreign)
    put(store, last, session=foreign, at=NOON + 2 * 10**12)
    sync(store)
    assert resolve(place, "@cleared").label.endswith("-eeeeeeee")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", OTHER)
    assert resolve(place, "@cleared").label.endswith("-0a1b2c3d")
