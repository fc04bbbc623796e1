"""``ctx log`` with conditions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.log import log
from ctxgit.actions.place import Place
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.model import Cleared
from ctxgit.store import index
from ctxgit.store.git import Git
from support.events import ACTIVE, DONE, START, Story
from support.git import git
from support.recording import record
from support.store import ctx, make_project
from support.work import OTHER

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.paths import StorePaths


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    return make_project(tmp_path / "project")


@pytest.fixture
def place(store: StorePaths) -> Place:
    return Place(store=store, directory=store.root.parent)


def story(place: Place, session: str = "one") -> Story:
    """Two turns: one for a task done in src/, one that only looks at the notes."""
    root = str(place.directory)
    told = Story(session).start(cwd=root).observe(work_tree=root).prompt("Fix the Login [x]")
    told.create("1", "Fix it", call="c1").update("1", ACTIVE, call="c2")
    told.result("r1", paths=(f"{root}/src/a.py",)).result("r2", paths=(f"{root}/src/in/b.py",))
    told.update("1", DONE, call="c3").stop()
    return told.prompt("Look").result("r3", paths=(f"{root}/notes.md", f"{root}/src.txt")).stop()


def subjects(place: Place, **conditions: str) -> list[str]:
    return [commit.subject for commit in log(place, **conditions).commits]


FIXED = "Finish task 1: Fix it"
ANSWERED = "Answer turn 1: Fix the Login [x]"
LOOKED = "Turn 2: Look (1 result, 3 tokens)"


def test_without_conditions_all_is_there(place: Place, store: StorePaths) -> None:
    record(store, story(place))
    assert subjects(place) == [LOOKED, ANSWERED, FIXED]


# --- tasks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["1", "task 1", "01", "01-fix-it"])
def test_a_task_by_number_or_label(name: str, place: Place, store: StorePaths) -> None:
    record(store, story(place))
    assert subjects(place, task=name) == [FIXED]


def test_a_number_is_of_the_present_session_a_label_of_any(place: Place, store: StorePaths) -> None:
    record(store, story(place))
    later = Story(OTHER).start(cwd=str(place.directory), at=90).verb(subject="Other")
    record(store, later)
    with pytest.raises(NotFoundError, match="there is no task 01-nope"):
        subjects(place, task="01-nope")
    assert subjects(place, task="1") == []  # nothing was done for it yet
    assert subjects(place, task="01-other") == []
    assert subjects(place, task="01-fix-it") == [FIXED]
    here = Place(store=store, directory=place.directory, session=OTHER)
    with pytest.raises(NotFoundError, match="there is no task 01-fix-it"):
        subjects(here, task="01-fix-it")
    with pytest.raises(NotFoundError, match="there is no task 7"):
        subjects(place, task="7")


def test_a_label_is_no_pattern_and_no_beginning(place: Place, store: StorePaths) -> None:
    record(store, story(place))
    for name in ("01-fix-.*", "01-fix", ".", "0*1-fix-it"):
        with pytest.raises(NotFoundError):
            subjects(place, task=name)


# --- texts and times -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("login", [ANSWERED]),
        ("LOGIN [X]", [ANSWERED]),
        ("[x]", [ANSWERED]),
        ("look (1", [LOOKED]),
        ("^turn", []),
        ("Look$", []),
        ("l.ok", []),
        ("notes.md", [LOOKED]),
        ("Ctx-Task: 01-fix-it", [FIXED]),
    ],
)
def test_a_text_is_found_as_it_is_in_any_case(
    text: str, found: list[str], place: Place, store: StorePaths
) -> None:
    record(store, story(place))
    assert subjects(place, grep=text) == found


def test_since_has_gits_words_for_dates(place: Place, store: StorePaths) -> None:
    now = (datetime.now(UTC) - START) / timedelta(seconds=1)
    for age, session in ((3 * 86400, "one"), (3600, "two"), (60, "three")):
        record(store, Story(session).start(at=now - age).prompt(session, at=now - age))
    assert subjects(place, since="2.hours.ago") == ["Turn 1: three", "Turn 1: two"]
    assert subjects(place, since="30 minutes ago") == ["Turn 1: three"]
    assert len(subjects(place, since="2026-01-01")) == 3


# --- paths -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("src/a.py", [FIXED]),
        ("./src/../src/a.py", [FIXED]),
        ("src", [FIXED]),
        ("src/", [FIXED]),
        ("src/in/b.py", [FIXED]),
        ("src.txt", [LOOKED]),
        ("notes.md", [LOOKED]),
        ("notes", []),
        ("src/a", []),
        ("sr%", []),
        (".", [LOOKED, FIXED]),
        ("../elsewhere", []),
    ],
)
def test_a_path_is_a_file_or_a_folder(
    path: str, found: list[str], place: Place, store: StorePaths
) -> None:
    record(store, story(place))
    assert subjects(place, path=path) == found
    assert subjects(place, path=str(place.directory / path)) == found


def test_a_path_is_seen_from_where_one_stands(place: Place, store: StorePaths) -> None:
    record(store, story(place))
    (place.directory / "src").mkdir()
    inside = Place(store=store, directory=place.directory / "src")
    assert subjects(inside, path="a.py") == [FIXED]
    assert subjects(inside, path="../notes.md") == [LOOKED]


def test_a_path_is_the_same_in_another_work_tree(place: Place, store: StorePaths) -> None:
    told = Story("two").start(cwd="/w").observe(work_tree="/w").prompt("There")
    record(store, told.result("r9", paths=("/w/src/a.py",)).stop())
    (found,) = log(place, path="src/a.py").commits
    assert found.subject == "Turn 1: There (1 result, 3 tokens)"
    assert found.branch == "session/2026-01-02-two"


def test_more_files_than_a_message_lists_are_found(place: Place, store: StorePaths) -> None:
    told = Story("one").start(cwd="/p").prompt("Read all")
    for number in range(30):
        told.result(f"r{number}", paths=(f"/p/first{number}", f"/p/second{number}"))
    record(store, told.stop())
    assert len(subjects(place, path="/p/second29")) == 1
    assert "second29" not in git(store.root, "log", "--all", "--format=%B")


def test_what_left_the_tree_is_found_still_and_by_a_new_index(
    place: Place, store: StorePaths
) -> None:
    told = story(place)
    record(store, told)
    branch = record(store, told.tell(Cleared), since=len(told.events) - 1)
    assert branch.state
    assert not branch.state.chunks
    assert subjects(place, path="src/a.py") == [FIXED]
    store.index.unlink()
    assert subjects(place, path="src/a.py") == [FIXED]


def test_branches_that_move_are_followed(place: Place, store: StorePaths) -> None:
    told = story(place)
    first = record(store, told)
    since = len(told.events)
    again = "Turn 3: Again (1 result, 3 tokens)"
    told.prompt("Again").result("r4", paths=(f"{place.directory}/src/a.py",)).stop()
    second = record(store, told, since=since)
    assert subjects(place, path="src/a.py") == [again, FIXED]
    repo = Git(store.git_dir)
    repo.run("update-ref", first.ref, first.tip)
    assert subjects(place, path="src/a.py") == [FIXED]
    repo.run("update-ref", first.ref, second.tip)
    assert subjects(place, path="src/a.py") == [again, FIXED]
    repo.run("update-ref", "-d", first.ref)
    assert subjects(place, path="src/a.py") == []


def test_a_look_takes_in_only_what_is_new(
    place: Place, store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(store, story(place))
    assert subjects(place, path="src") == [FIXED]
    asked: list[int] = []
    real = index.touched.touched_paths

    def counting(git: Git, of: list[str]) -> object:
        asked.append(len(of))
        return real(git, of)

    monkeypatch.setattr(index.touched, "touched_paths", counting)
    assert subjects(place, path="src") == [FIXED]
    assert asked == []
    record(store, story(place, "two"))
    assert subjects(place, path="src") == [FIXED, FIXED]
    assert asked == [3]


# --- all together ----------------------------------------------------------------------------


def test_all_conditions_must_be_met(place: Place, store: StorePaths) -> None:
    record(store, story(place))
    record(store, story(place, "two"))
    assert subjects(place, path="src", grep="fix it") == [FIXED, FIXED]
    assert subjects(place, path="src", grep="look") == []
    assert subjects(place, path="src", task="1") == [FIXED]
    assert subjects(place, task="1", grep="login") == []
    assert subjects(place, path="src", since="2026-01-01", grep="FIX", task="01-fix-it") == [FIXED]
    here = Place(store=store, directory=place.directory, session="two")
    assert [commit.session for commit in log(here, path="src").commits] == ["two"]
    assert len(log(place, path=".", limit=3).commits) == 3


@pytest.mark.parametrize("name", ["task", "since", "path", "grep"])
def test_an_empty_condition_is_wrong_use(name: str, place: Place) -> None:
    with pytest.raises(UsageError, match=f"--{name} is empty"):
        subjects(place, **{name: " "})


def test_the_options_of_the_command(place: Place, store: StorePaths) -> None:
    record(store, story(place))
    (place.directory / "src").mkdir()
    done = ctx("log", "--path", "src", "--oneline", cwd=place.directory)
    commit = git(store.root, "rev-parse", "--short", "task/2026-01-02-one/01-fix-it")
    assert done.out == f"{commit} {FIXED}  (task/2026-01-02-one/01-fix-it)\n"
    done = ctx(
        "log",
        "--task",
        "1",
        "--grep",
        "fix",
        "--since",
        "2026-01-01",
        "--json",
        cwd=place.directory,
    )
    assert [entry["subject"] for entry in done.json["data"]["commits"]] == [FIXED]
    assert ctx("log", "--grep", "nothing", cwd=place.directory).out == "No such commits.\n"
