from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from ctxgit.fold import steps
from ctxgit.store import commits, layout
from ctxgit.store.commits import LISTED_CHUNKS, SUBJECT_LENGTH
from ctxgit.store.stream import Commit
from support.events import ABANDONED, ACTIVE, CWD, DONE, SESSION, Story
from support.git import git
from support.recording import paths, record

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.paths import StorePaths
    from ctxgit.store.git import Git

NAME = "2026-01-02-0a1b2c3d"


def plan(story: Story, since: int = 0) -> list[Commit]:
    events = [event.id for event in story.events[since:]]
    return commits.plan(story.steps(since), session_name=NAME, events=events, trees={})


def subjects(story: Story, since: int = 0) -> list[str]:
    return [commit.message.splitlines()[0] for commit in plan(story, since)]


def trailers(commit: Commit, directory: Path) -> list[tuple[str, str]]:
    message = directory / "message"
    message.write_text(commit.message, encoding="utf-8")
    lines = git(directory, "interpret-trailers", "--parse", str(message)).splitlines()
    return [(key, value) for key, _, value in (line.partition(": ") for line in lines)]


# --- where a commit ends -------------------------------------------------------------------


def test_a_commit_ends_where_something_ended() -> None:
    story = Story().start().prompt("Fix the login").result("a", "x" * 4_000)
    story.create("1", "Fix it").update("1", ACTIVE).update("1", DONE).result("b").stop()
    story.announce().start("compact").compacted().end("clear")
    assert subjects(story) == [
        # The three calls about the task are of 15 characters each.
        "Finish task 1: Fix it",
        "Turn 1: Fix the login (1 result, 3 tokens)",
        "Compact the context (1)",
        "Keep the client's summary of compaction 1 (manual)",
        "End the session (clear)",
    ]


def test_what_is_left_over_makes_one_more() -> None:
    story = Story().start().prompt("Go").stop().prompt("Next").result("x")
    assert subjects(story) == ["Answer turn 1: Go", "Turn 2: Next (1 result, 3 tokens)"]


@pytest.mark.parametrize(
    ("story", "subject"),
    [
        (Story().start("resume"), "Start the session (resume)"),
        (Story().start(""), "Start the session (startup)"),
        (Story().prompt("Go"), "Turn 1: Go"),
        (Story().prompt(""), "Turn 1"),
        (Story().prompt("Go").stop(), "Answer turn 1: Go"),
        (Story().result("x"), "Work before the first prompt (1 result, 3 tokens)"),
        (Story().stop(), "Work before the first prompt"),
        (Story().verb(subject="Fix it"), "Declare task 1: Fix it"),
        (Story().verb(subject="Fix it", status=ACTIVE), "Start task 1: Fix it"),
        (Story().verb(subject="Fix it", status=ABANDONED), "Abandon task 1: Fix it"),
        (Story().verb(subject="Fix it", status=DONE), "Finish task 1: Fix it"),
        (Story().start("compact"), "Compact the context (1)"),
        (
            Story().compacted(trigger="auto"),
            "Keep the client's summary of compaction 1 (auto)",
        ),
        (Story().compacted(trigger=""), "Keep the client's summary of compaction 1"),
        (Story().end("prompt_input_exit"), "End the session (prompt_input_exit)"),
    ],
)
def test_a_subject_is_a_sentence(story: Story, subject: str) -> None:
    assert subjects(story) == [subject]


def test_two_tasks_that_end_together_are_named_together() -> None:
    story = Story().prompt().todos(("A", ACTIVE), ("B", ACTIVE)).todos(("A", DONE), ("B", DONE))
    assert subjects(story) == ["Finish task 1: A and task 2: B"]
    assert [commit.tags for commit in plan(story)] == [
        (f"refs/tags/task/{NAME}/01-a", f"refs/tags/task/{NAME}/02-b")
    ]


def test_a_task_done_again_is_finished_again_and_its_tag_moves() -> None:
    story = Story().create("1").update("1", DONE).update("1", ACTIVE).update("1", DONE)
    assert subjects(story) == ["Finish task 1: Fix it"] * 2
    assert len({commit.tags for commit in plan(story)}) == 1


def test_the_last_commit_says_which_events_it_holds() -> None:
    story = Story().prompt().stop().prompt().stop()
    first, second = plan(story)
    assert layout.EVENTS_FILE not in first.files
    assert second.files[layout.EVENTS_FILE] == b"000001\n000002\n000003\n000004\n"


def test_a_commit_has_the_time_of_what_it_holds() -> None:
    story = Story().prompt().stop(at=50).prompt(at=60)
    assert [commit.at for commit in plan(story)] == [story.events[1].at, story.events[2].at]


def test_the_states_between_the_commits_are_not_kept() -> None:
    """Each of them has a mapping of all chunks: 3,000 would take more than 100 MB."""
    story = Story().prompt()
    for _ in range(3_000):
        story.result()
    tracemalloc.start()
    try:
        planned = commits.plan(steps(None, story.events), session_name="s", events=[], trees={})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [len(commit.files) for commit in planned] == [1 + 2 + 2 * 3_000]
    assert peak < 20_000_000


# --- messages ------------------------------------------------------------------------------


def test_a_body_lists_the_results() -> None:
    story = Story().start().prompt().result("a", paths=(f"{CWD}/src/a.py", "/x"), tool="Edit")
    story.result("b", "x" * 4_000, tool="Bash", failed=True).result("c", paths=("/etc/hosts",))
    body = plan(story)[-1].message.split("\n\n")[1]
    assert body == (
        "- Edit src/a.py (3 tokens)\n- Bash (1k tokens, failed)\n- Read /etc/hosts (3 tokens)"
    )


def test_a_long_body_is_cut() -> None:
    story = Story().prompt()
    for number in range(LISTED_CHUNKS + 3):
        story.result(f"r{number}")
    body = plan(story)[-1].message.split("\n\n")[1].splitlines()
    assert len(body) == LISTED_CHUNKS + 1
    assert body[-1] == "… and 3 more"


def test_trailers_are_read_by_git(tmp_path: Path) -> None:
    story = Story().start().prompt().result("a", "x" * 400).create("1", "Fix it")
    story.update("1", ACTIVE).update("1", DONE)
    (commit,) = plan(story)
    assert trailers(commit, tmp_path) == [
        ("Ctx-Event", "TaskCompleted"),
        ("Ctx-Session", SESSION),
        ("Ctx-Task", "01-fix-it"),
        ("Ctx-Chunks", "4"),
        ("Ctx-Tokens", str(100 + 4 * 3)),
    ]


@pytest.mark.parametrize(
    ("story", "event"),
    [
        (Story().start(), "SessionStart"),
        (Story().start("compact"), "SessionStart"),
        (Story().stop(), "Stop"),
        (Story().compacted(), "PostCompact"),
        (Story().end(), "SessionEnd"),
        (Story().result(), "Sync"),
    ],
)
def test_a_trailer_names_the_event_that_ended_the_commit(
    story: Story, event: str, tmp_path: Path
) -> None:
    (commit,) = plan(story)
    assert dict(trailers(commit, tmp_path))["Ctx-Event"] == event


HOSTILE = "x\n\nCtx-Session: forged\n---\nCtx-Task: 99\x1b[2J</a>" + " y" * 999


def test_nothing_stored_can_forge_a_trailer_or_a_line(tmp_path: Path) -> None:
    story = Story().start(HOSTILE).prompt(HOSTILE).verb(subject=HOSTILE, status=ACTIVE)
    story.result("a", HOSTILE, tool=HOSTILE, paths=(HOSTILE,)).stop(HOSTILE)
    story.verb(number=1, status=DONE).compacted(HOSTILE, trigger=HOSTILE).end(HOSTILE)
    for commit in plan(story):
        subject, *rest = commit.message.splitlines()
        assert len(subject) <= SUBJECT_LENGTH
        assert rest[0] == ""
        assert "\x1b" not in commit.message
        found = trailers(commit, tmp_path)
        assert [value for key, value in found if key == "Ctx-Session"] == [SESSION]
        assert {value for key, value in found if key == "Ctx-Task"} <= {"01-x"}
        assert "forged" not in commit.message


def test_long_words_of_the_client_are_cut() -> None:
    story = Story().start("x" * 999).compacted(trigger="y" * 999).end("z" * 999)
    assert all(len(subject) <= SUBJECT_LENGTH for subject in subjects(story))


# --- in the store --------------------------------------------------------------------------


def test_the_tag_of_a_done_task_points_at_a_tree_that_has_all_its_chunks(
    store: StorePaths, repo: Git
) -> None:
    story = Story().prompt().create("1", "Fix it", "c").update("1", ACTIVE, "u")
    for number in range(40):
        story.result(f"r{number}")
    branch = record(store, story.update("1", DONE, "d").result("after"))
    (tag,) = repo.refs("refs/tags/task/")
    assert tag == layout.task_tag(branch.name, story.task(1))
    there = {path.rsplit("/", 1)[-1] for path in paths(repo, tag)}
    own = {chunk.id for chunk in story.state.chunks.values() if chunk.task == 1}
    assert own == {"c", "u", "d", *(f"r{number}" for number in range(40))}
    assert {f"{name}.{end}" for name in own for end in ("md", "toml")} <= there
    assert "after.md" not in there
    assert repo.run("log", "-1", "--format=%s", tag) == b"Finish task 1: Fix it\n"


def test_log_reads_as_sentences(store: StorePaths, repo: Git) -> None:
    story = Story().start().prompt("Fix the login").result("a").stop().end()
    branch = record(store, story)
    assert repo.run("log", "--format=%s", branch.ref).decode().splitlines() == [
        "End the session (other)",
        "Turn 1: Fix the login (1 result, 3 tokens)",
    ]
