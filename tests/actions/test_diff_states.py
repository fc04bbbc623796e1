"""Any two states of a real store compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from ctxgit.actions.diff import diff, patch
from ctxgit.actions.naming import resolve
from ctxgit.actions.save import save
from ctxgit.errors import NotFoundError
from support.any_events import EVENTS
from support.events import DONE, START, Story, told
from support.git import commit, git
from support.recording import record
from support.work import OTHER, work

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.actions.place import Place
    from ctxgit.look.diff import DiffResult
    from ctxgit.model import Event
    from ctxgit.paths import StorePaths
    from ctxgit.store.git import Git


@pytest.fixture
def story(project: Path, store: StorePaths) -> Story:
    """A recorded session."""
    story = work(project)
    record(store, story)
    return story


def went_on(store: StorePaths, story: Story) -> Story:
    """The session did its open task, and committed that."""
    since = len(story.events)
    story.prompt("Now test it").result("read2", "more", paths=("/p/new.py",))
    story.update("2", DONE, call="done2").stop("All is done.")
    record(store, story, since=since)
    return story


def knowledge(store: StorePaths, name: str, text: str) -> None:
    """Commit a knowledge entry by hand."""
    path = store.root / "knowledge" / "build" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    commit(store.root, str(path.relative_to(store.root)), text)


def titles(result: DiffResult) -> list[str]:
    return [section.title for section in result.sections]


def test_a_moment_against_the_session_as_it_is(
    place: Place, store: StorePaths, story: Story
) -> None:
    went_on(store, story)
    for before in ("@{1}", "task 1"):
        result = diff(place, before)
        assert result.after.name.startswith("session/2026-01-02-")
        assert [chunk.id for chunk in result.chunks_in][-2:] == ["read2", "done2"]
        assert result.chunks_out == ()
        assert result.tokens_in == sum(chunk.tokens for chunk in result.chunks_in) > 0
    assert [
        (task.label, task.before and task.before.status) for task in diff(place, "@{1}").tasks
    ] == [("02-test-it", "active")]


def test_the_handoff_is_told_by_section(place: Place, store: StorePaths, story: Story) -> None:
    went_on(store, story)
    result = diff(place, "@{1}")
    by_title = {section.title: section for section in result.sections}
    assert by_title["What the user asked"].added == ("Turn 3:", "> Now test it")
    assert by_title["The last answer"].removed == ("One is left.",)
    assert by_title["The last answer"].added == ("All is done.",)
    assert by_title["Open tasks"].change == "removed"
    assert by_title["Files"].added == ("- /p/new.py (read2)",)
    assert "What failed" not in by_title


def test_there_and_back_with_names_of_every_kind(
    place: Place, store: StorePaths, repo: Git, story: Story
) -> None:
    made = save(place, "one")
    went_on(store, story)
    other = record(store, work(place.directory, OTHER))
    repo.run("update-ref", "refs/heads/cleared/2026-01-02-100000-0a1b2c3d", other.tip)
    names = ("one", "@{1}", "task 1", OTHER, "@cleared", "main", made.commit[:10])
    for a in names:
        for b in names:
            there, back = diff(place, a, b), diff(place, b, a)
            assert (there.before, there.after) == (back.after, back.before)
            assert (there.chunks_in, there.chunks_out) == (back.chunks_out, back.chunks_in)
            assert sorted(titles(there)) == sorted(titles(back))
            if resolve(place, a).commit == resolve(place, b).commit:
                assert there.is_empty


@pytest.mark.usefixtures("story")
def test_a_save_just_made_differs_in_nothing(place: Place) -> None:
    save(place, "one")
    result = diff(place, "one")
    assert result.is_empty
    assert not result.chunks_compared
    assert (result.before.kind, result.after.kind) == ("save", "session")


@pytest.mark.usefixtures("story")
def test_files_that_change_later_make_no_difference(place: Place, project: Path) -> None:
    save(place, "before")
    (project / "a.txt").write_text("changed\n")
    save(place, "after")
    assert diff(place, "before", "after").is_empty


def test_saves_differ_by_what_was_done_between(
    place: Place, store: StorePaths, story: Story
) -> None:
    save(place, "x")
    went_on(store, story)
    save(place, "x")
    result = diff(place, "x@1", "x")
    assert (result.before.name, result.after.name) == ("save/x@1", "save/x")
    assert [task.label for task in result.tasks] == ["02-test-it"]
    assert "The last answer" in titles(result)


@pytest.mark.usefixtures("story")
def test_two_sessions_differ_by_their_work(place: Place, store: StorePaths) -> None:
    record(store, Story(session=OTHER).start(cwd="/q").prompt("Else").result("r", "x"))
    result = diff(place, Story().session, OTHER)
    assert [task.after for task in result.tasks] == [None, None]
    assert [chunk.id for chunk in result.chunks_in] == ["r"]
    assert "made1" in [chunk.id for chunk in result.chunks_out]


def test_knowledge_differs_by_entry(place: Place, store: StorePaths) -> None:
    knowledge(store, "gone", "x\n")
    knowledge(store, "changed", "x\n")
    story = work(place.directory)
    record(store, story)
    git(store.root, "rm", "-q", "knowledge/build/gone.md")
    knowledge(store, "changed", "y\n")
    knowledge(store, "new", "z\n")
    went_on(store, story)
    expected = [
        ("knowledge/build/changed.md", "changed"),
        ("knowledge/build/gone.md", "removed"),
        ("knowledge/build/new.md", "added"),
    ]
    for a, b in (("@{1}", None), ("main~2", "main"), ("@{1}", "main")):
        result = diff(place, a, b)
        assert [(entry.path, entry.change) for entry in result.knowledge] == expected
    whole = diff(place, "main~4", "main").knowledge
    assert [(entry.path, entry.change) for entry in whole] == [
        ("knowledge/build/changed.md", "added"),
        ("knowledge/build/new.md", "added"),
    ]


def test_the_patch_is_gits_own_and_runs_nothing(
    place: Place, store: StorePaths, story: Story, tmp_path: Path
) -> None:
    went_on(store, story)
    mark = tmp_path / "mark"
    for name in ("diff.external", "diff.x.textconv", "diff.x.command", "core.pager"):
        git(store.root, "config", name, f"touch {mark}; cat")
    for folder in (place.directory, store.root):
        (folder / ".gitattributes").write_text("*.toml diff=x\n*.md -diff\n")
    result = patch(place, "@{1}")
    assert '\n-status = "active"\n' in result.patch
    assert '\n+status = "done"\n' in result.patch
    assert "\n+All is done." in result.patch
    assert "Binary files" not in result.patch
    assert not mark.exists()
    assert patch(place, "@{0}").patch == ""


@pytest.mark.usefixtures("story")
def test_unknown_names_are_told(place: Place) -> None:
    for words in (("nothing-so-called", None), ("@{1}", "nope-nope"), ("@{7}", None)):
        with pytest.raises(NotFoundError):
            diff(place, *words)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EVENTS)
def test_a_state_does_not_differ_from_itself_read_back(
    place: Place, store: StorePaths, given_events: list[Event]
) -> None:
    story = told(given_events)
    branch = record(store, story)
    try:
        (store.session_dir(branch.key) / "state.json").unlink()
        twin = git(store.root, "commit-tree", "-m", "twin", f"{branch.tip}^{{tree}}")
        result = diff(place, branch.tip, twin)
        assert result.is_empty
        assert (result.before.commit, result.after.commit) == (branch.tip, twin)
        assert result.before.at >= START
        assert patch(place, branch.tip, twin).patch == ""
    finally:
        git(store.root, "update-ref", "-d", branch.ref)
        (store.session_dir(branch.key) / "state.json").unlink(missing_ok=True)
