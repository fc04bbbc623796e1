from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import pytest

from ctxgit.documents import load_toml
from ctxgit.model import Task, TaskStatus
from ctxgit.store import layout
from support.events import ACTIVE, DONE, SESSION, START, Story

MOST = 100
"""What a folder may hold, so that a commit stays small."""


def made(story: Story, since: int = 0) -> dict[str, bytes]:
    """Return the files that the story's steps from ``since`` on make."""
    return {path: data for step in story.steps(since) for path, data in layout.files(step)}


def last(story: Story) -> dict[str, bytes]:
    """Return the files that the last event makes."""
    return made(story, len(story.events) - 1)


def header(data: bytes) -> dict[str, object]:
    return load_toml(data)


# --- shelves -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "folder"),
    [
        (0, "00"),
        (15, "00"),
        (16, "01"),
        (511, "31"),
        (512, "1/00"),
        (1_024, "2/00"),
        (5_000, "9/24"),
    ],
)
def test_sixteen_lie_on_a_shelf_and_thirty_two_shelves_in_a_rack(number: int, folder: str) -> None:
    assert layout.shelf(number) == folder


def test_folders_stay_small_however_much_they_hold() -> None:
    folders: Counter[str] = Counter()
    seen: set[str] = set()
    tasks = [
        Task(number=n, name="x", subject="x", status=TaskStatus.DONE, created_at=START)
        for n in range(1, 501)
    ]
    named = [f"{layout.task_dir(task)}/task.toml" for task in tasks]
    named += [f"{layout.turn_dir(n)}/{name}" for n in range(2_001) for name in ("a", "b", "c")]
    named += [f"turns/00/0001/{layout.shelf(n)}/{n}.{end}" for n in range(5_000) for end in "abc"]
    for path in named:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            entry = "/".join(parts[:depth])
            if entry not in seen:
                seen.add(entry)
                folders["/".join(parts[: depth - 1])] += 1
    assert max(folders.values()) <= MOST


def test_folders_of_tasks_never_meet() -> None:
    tasks = [
        Task(number=n, name="x", subject="x", status=TaskStatus.DONE, created_at=START)
        for n in range(1, 700)
    ]
    folders = sorted(layout.task_dir(task) + "/" for task in tasks)
    assert len(set(folders)) == len(tasks)
    assert not any(after.startswith(before) for before, after in pairwise(folders))


# --- what an event makes -------------------------------------------------------------------


def test_a_prompt_makes_a_turn() -> None:
    files = last(Story().start().prompt("Fix the login\nplease\N{ROCKET}"))
    assert list(files) == ["turns/00/0001/turn.toml", "turns/00/0001/prompt.md"]
    assert files["turns/00/0001/prompt.md"].decode() == "Fix the login\nplease\N{ROCKET}"
    assert header(files["turns/00/0001/turn.toml"])["headline"] == "Fix the login …"


def test_an_answer_is_kept_with_its_turn_also_when_a_later_one_has_begun() -> None:
    story = Story().prompt("One", "p1").prompt("Two", "p2").stop("The answer", "p1")
    files = last(story)
    assert list(files) == ["turns/00/0001/turn.toml", "turns/00/0001/reply.md"]


def test_a_prompt_told_again_does_not_replace_the_one_of_the_current_turn() -> None:
    story = Story().prompt("One", "p1").prompt("Two", "p2").prompt("One", "p1")
    assert last(story) == {}


def test_a_notice_makes_no_prompt() -> None:
    files = last(Story().prompt("One", "p1").notice(prompt_id="n1"))
    assert list(files) == ["turns/00/0001/turn.toml"]


def test_a_result_is_a_header_and_its_content() -> None:
    story = Story().prompt().result("x1", "what it said\n", input={"file_path": "/p/a"})
    files = last(story)
    base = "turns/00/0001/00/x1"
    assert list(files) == ["turns/00/0001/turn.toml", f"{base}.toml", f"{base}.md"]
    assert files[f"{base}.md"] == b"what it said\n"
    assert header(files[f"{base}.toml"])["input"] == {"file_path": "/p/a"}
    assert layout.chunk_path(story.state, story.chunk("x1")) == base


def test_a_result_told_again_makes_nothing() -> None:
    story = Story().prompt().result("x1").result("x1", "other")
    assert last(story) == {}


def test_a_result_of_a_task_lies_with_it() -> None:
    story = Story().prompt().create("1", "Fix it").update("1", ACTIVE).result("x1")
    assert layout.chunk_path(story.state, story.chunk("x1")) == "tasks/01-fix-it/00/x1"
    assert "tasks/01-fix-it/task.toml" in last(story)


def test_an_input_toml_has_no_word_for_is_json() -> None:
    given = {"a": None, "b": [{"c": None}], "ä": 1.5}
    files = last(Story().prompt().result("x1", input=given))
    table = header(files["turns/00/0001/00/x1.toml"])
    assert "input" not in table
    assert json.loads(str(table["input_json"])) == given


def test_a_large_input_has_a_file_of_its_own() -> None:
    given = {"text": "x" * layout.HEADER_INPUT_BYTES}
    files = last(Story().prompt().result("x1", input=given))
    assert json.loads(files["turns/00/0001/00/x1.input.json"]) == given
    assert len(files["turns/00/0001/00/x1.toml"]) < 1_000


def test_the_last_word_of_a_subagent_is_kept() -> None:
    assert last(Story().subagent_stop("a1", "Found it.")) == {"agents/a1.md": b"Found it."}


def test_the_summariser_is_no_subagent() -> None:
    """The client tells of it as of one, without a type; its word comes with PostCompact."""
    assert last(Story().prompt().subagent_stop("a1", "<summary>", agent_type="")) == {}


def test_each_compactions_summary_is_kept() -> None:
    story = Story().prompt().announce().start("compact").compacted("First").prompt()
    story.announce().start("compact").compacted("Second")
    files = made(story)
    kept = {path: data for path, data in files.items() if path.startswith("compactions/")}
    assert kept == {"compactions/01.md": b"First", "compactions/02.md": b"Second"}


def test_only_what_changed_is_written_again() -> None:
    story = Story().prompt().create("1", "A").create("2", "B").update("1", ACTIVE)
    assert [path for path in last(story) if path.endswith("task.toml")] == ["tasks/01-a/task.toml"]


def test_the_session_file_tells_its_format() -> None:
    table = header(layout.session_file(Story().start().state))
    assert (table["format"], table["id"]) == (1, SESSION)


def test_the_tag_of_a_task_names_session_and_task() -> None:
    story = Story().create("1", "Fix the login").update("1", DONE)
    tag = layout.task_tag("2026-01-02-0a1b2c3d", story.task(1))
    assert tag == "refs/tags/task/2026-01-02-0a1b2c3d/01-fix-the-login"
