"""What a name stands for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.naming import resolve
from ctxgit.actions.save import save
from ctxgit.errors import CtxError, NotFoundError, UsageError
from support.events import Story
from support.recording import record
from support.work import OTHER, work

if TYPE_CHECKING:
    from ctxgit.actions.place import Place
    from ctxgit.paths import StorePaths
    from ctxgit.store.git import Git


@pytest.fixture
def session(place: Place, store: StorePaths) -> str:
    """The short name of a recorded session's branch."""
    return record(store, work(place.directory)).name


@pytest.mark.usefixtures("session")
def test_a_save_is_found_by_its_name_long_or_short_or_as_it_was_typed(place: Place) -> None:
    made = save(place, "Payments Rework!")
    for name in ("payments-rework", "save/payments-rework", "Payments Rework!", " PAYMENTS rework"):
        found = resolve(place, name)
        assert (found.kind, found.commit) == ("save", made.commit)
        assert found.label == "save/payments-rework"


@pytest.mark.usefixtures("session")
def test_earlier_saves_are_counted_back(place: Place) -> None:
    first, second = save(place, "x"), save(place, "x")
    assert resolve(place, "x@0").commit == second.commit
    found = resolve(place, "save/x@1")
    assert (found.commit, found.label) == (first.commit, "save/x@1")
    with pytest.raises(NotFoundError, match="has 2 saves, none 2 back") as caught:
        resolve(place, "x@2")
    assert caught.value.hint == "the first one is save/x@1"


def test_a_session_is_found_by_id_branch_and_beginning(place: Place, session: str) -> None:
    key = Story().session
    for name in (key, key[:8], session, f"session/{session}", session[:12]):
        found = resolve(place, name)
        assert (found.kind, found.label) == ("session", f"session/{session}")


def test_beginnings_of_several_sessions_are_named(
    place: Place, store: StorePaths, session: str
) -> None:
    other = record(store, work(place.directory, OTHER)).name
    with pytest.raises(NotFoundError, match="ambiguous") as caught:
        resolve(place, session[:10])
    assert session in caught.value.message
    assert other in caught.value.message
    assert resolve(place, "ffffffff").label == f"session/{other}"


def test_a_task_done_is_its_tag_an_open_one_the_session_as_it_is(
    place: Place, repo: Git, session: str
) -> None:
    tag = f"task/{session}/01-fix-the-login"
    for name in ("task 1", "1", "01-fix-the-login", tag):
        found = resolve(place, name)
        assert (found.kind, found.label, found.task) == ("task", tag, 1)
        assert found.commit == repo.refs(f"refs/tags/{tag}")[f"refs/tags/{tag}"]
    found = resolve(place, "task 2")
    assert (found.kind, found.task) == ("task", 2)
    assert found.commit == repo.refs("refs/heads/session/").popitem()[1]


def test_cleared_is_the_newest_of_this_session_else_of_all(
    place: Place, repo: Git, session: str
) -> None:
    with pytest.raises(NotFoundError, match="nothing was cleared"):
        resolve(place, "@cleared")
    commit = resolve(place, session).commit
    for name in ("2026-01-02-100000-bbbbbbbb", "2026-01-02-120000-aaaaaaaa"):
        repo.run("update-ref", f"refs/heads/cleared/{name}", commit)
    assert resolve(place, "@cleared").label == "cleared/2026-01-02-120000-aaaaaaaa"
    repo.run("update-ref", f"refs/heads/cleared/2026-01-01-000000-{session[11:]}", commit)
    assert resolve(place, "@cleared").label == f"cleared/2026-01-01-000000-{session[11:]}"
    found = resolve(place, "2026-01-02-12")
    assert (found.kind, found.label) == ("cleared", "cleared/2026-01-02-120000-aaaaaaaa")


def test_last_is_the_session_before_the_present_one(
    place: Place, store: StorePaths, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotFoundError, match="no earlier session"):
        resolve(place, "@last")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "not-recorded-yet")
    assert resolve(place, "@last").label == f"session/{session}"
    record(store, Story(session=OTHER).start(cwd=str(place.directory)))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", OTHER)
    assert resolve(place, "@last").label == f"session/{session}"


@pytest.mark.usefixtures("session")
def test_last_is_the_newest_when_that_has_ended(place: Place, store: StorePaths) -> None:
    ended = record(store, work(place.directory, OTHER).end())
    assert resolve(place, "@last").label == f"session/{ended.name}"


def test_a_moment_is_looked_up_in_the_reflog(place: Place, store: StorePaths) -> None:
    story = work(place.directory)
    first = record(store, story)
    record(store, story.prompt("More"), since=len(story.events) - 1)
    found = resolve(place, "@{1}")
    assert (found.kind, found.commit) == ("commit", first.tip)
    assert resolve(place, "@{0.seconds.ago}").commit == resolve(place, first.name).commit
    with pytest.raises(NotFoundError, match=r"no moment @\{99\}"):
        resolve(place, "@{99}")


def test_any_commit_will_do(place: Place, session: str) -> None:
    commit = resolve(place, session).commit
    assert resolve(place, commit[:9]).commit == commit
    assert resolve(place, f"session/{session}~0").commit == commit
    assert resolve(place, "main").kind == "commit"


@pytest.mark.usefixtures("session")
def test_an_unknown_name_is_told_with_those_near_to_it(place: Place) -> None:
    save(place, "payments")
    with pytest.raises(NotFoundError, match="nothing is called paymnets") as caught:
        resolve(place, "paymnets")
    assert caught.value.hint == "did you mean save/payments?"
    with pytest.raises(NotFoundError) as caught:
        resolve(place, "zzzzzz")
    assert caught.value.hint == "`ctx list --all` shows what there is"


@pytest.mark.parametrize("name", ["-x", "", "  ", "a\0b", "a\nb", "x" * 5000, "\x1b[31m"])
@pytest.mark.usefixtures("session")
def test_what_can_be_no_name_is_refused(place: Place, name: str) -> None:
    with pytest.raises(UsageError, match="names nothing"):
        resolve(place, name)


@pytest.mark.parametrize(
    "name",
    ["../a", "a..b", ".lock", "x" * 300, "🎉", "日本語", "^main", "*", "@{", "@{x", ":/a", "a b"],
)
@pytest.mark.usefixtures("session")
def test_odd_names_that_are_nothing_are_not_found(place: Place, name: str) -> None:
    with pytest.raises(NotFoundError):
        resolve(place, name)


def test_a_store_without_sessions_has_no_moments(place: Place) -> None:
    for name in ("@{1}", "@last", "@cleared", "task 1", "abcd"):
        with pytest.raises(CtxError):
            resolve(place, name)


@pytest.mark.usefixtures("session")
def test_another_session_can_be_named_as_the_present_one(place: Place, store: StorePaths) -> None:
    other = record(store, work(place.directory, OTHER))
    found = resolve(replace(place, session=OTHER), "task 1")
    assert found.label == f"task/{other.name}/01-fix-the-login"
