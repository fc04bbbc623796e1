from __future__ import annotations

from datetime import timedelta

import pytest

from ctxgit.fold import fold, steps
from ctxgit.model import State
from support.events import CWD, SESSION, START, Story


def compactions(story: Story) -> int:
    return story.state.session.compactions


def test_a_session_begins_with_its_first_event_whatever_that_is() -> None:
    session = Story().stop(at=5).state.session
    assert (session.id, session.started_at, session.updated_at) == (
        SESSION,
        START + timedelta(seconds=5),
        START + timedelta(seconds=5),
    )


def test_a_start_tells_where_the_session_runs() -> None:
    session = Story().start(transcript_path="/t.jsonl", client_pid="42").state.session
    assert (session.source, session.cwd, session.transcript_path, session.client_pid) == (
        "startup",
        CWD,
        "/t.jsonl",
        "42",
    )


def test_the_first_source_is_kept_and_the_last_place() -> None:
    session = Story().start().start("resume", cwd="/other", transcript_path="").state.session
    assert (session.source, session.cwd) == ("startup", "/other")


def test_a_start_that_does_not_say_where_leaves_what_is_known() -> None:
    session = Story().start(client_pid="42").start("resume", cwd="").state.session
    assert (session.cwd, session.client_pid) == (CWD, "42")


def test_a_session_ends_with_a_reason_and_goes_on_with_a_start() -> None:
    story = Story().start().end("clear")
    assert story.state.session.ended == "clear"
    assert story.start("resume").state.session.ended == ""


def test_an_end_without_a_reason_is_an_end() -> None:
    assert Story().end("").state.session.ended == "other"


def test_the_clients_words_are_words() -> None:
    """They stand in subjects of commits and in the recap."""
    hostile = "clear\nCtx-Session: forged\x1b[31m" + "x" * 999
    session = Story().start(hostile).end(hostile).state.session
    for word in (session.source, session.ended):
        assert word == "clear …"


def test_a_path_that_is_no_text_can_be_written() -> None:
    session = Story().start(cwd="/p\udcff").observe(work_tree="/p\udcff", branch="b\udcff")
    assert "\ufffd" in session.state.session.work_tree
    for text in ("work_tree", "cwd", "branch"):
        getattr(session.state.session, text).encode()


def test_time_never_runs_backwards() -> None:
    assert Story().prompt(at=9).stop(at=3).state.session.updated_at == START + timedelta(seconds=9)


def test_an_event_without_a_rule_only_moves_the_time() -> None:
    story = Story().prompt()
    before = story.state
    story.subagent_stop()
    assert story.state.session.updated_at > before.session.updated_at
    assert (story.state.turns, story.state.tasks, story.state.chunks) == (before.turns, {}, {})


# --- compactions ---------------------------------------------------------------------------


def test_an_announcement_is_no_compaction() -> None:
    assert compactions(Story().prompt().announce()) == 0


def test_a_start_after_a_compaction_and_its_report_are_one_compaction() -> None:
    story = Story().prompt().announce().start("compact").compacted()
    assert (compactions(story), story.state.session.source) == (1, "compact")


def test_either_alone_is_one_compaction() -> None:
    assert compactions(Story().prompt().start("compact").prompt("Go on")) == 1
    assert compactions(Story().prompt().compacted().prompt("Go on")) == 1


def test_a_report_after_a_prompt_is_of_another_compaction() -> None:
    assert compactions(Story().start("compact").prompt().compacted()) == 2


def test_compactions_are_counted_one_by_one() -> None:
    story = Story().start()
    for _ in range(3):
        story.prompt().announce().start("compact").compacted()
    assert compactions(story) == 3


def test_a_compaction_told_by_two_copies_of_the_plugin_is_one() -> None:
    story = Story().prompt().announce().announce()
    story.start("compact").start("compact").compacted().compacted()
    assert compactions(story) == 1
    assert compactions(Story().compacted().compacted()) == 1


def test_a_report_that_comes_before_its_start_is_of_the_same_compaction() -> None:
    assert compactions(Story().prompt().compacted().start("compact").prompt()) == 1


@pytest.mark.parametrize("sign", ["prompt", "notice", "result", "stop", "announce", "end"])
def test_what_shows_that_the_session_went_on_parts_two_compactions(sign: str) -> None:
    story = Story().start("compact")
    getattr(story, sign)()
    assert compactions(story.start("compact")) == 2
    getattr(story, sign)()
    assert compactions(story.compacted()) == 3


def test_what_goes_on_beside_a_compaction_does_not_part_it() -> None:
    story = Story().prompt().announce().start("compact")
    story.result(agent="a1").subagent_stop().observe(work_tree="/p").compacted()
    assert compactions(story) == 1


def test_an_ordinary_start_is_no_compaction() -> None:
    story = Story()
    for source in ("startup", "resume", "clear", "fork", ""):
        story.start(source)
    assert compactions(story) == 0


# --- observations --------------------------------------------------------------------------


def test_an_observation_tells_of_the_project() -> None:
    session = Story().observe(work_tree="/p", branch="main", head="1a").state.session
    assert (session.work_tree, session.branch, session.head) == ("/p", "main", "1a")


def test_a_detached_head_has_no_branch() -> None:
    story = Story().observe(work_tree="/p", branch="main", head="1a")
    session = story.observe(work_tree="/p", branch="", head="2b").state.session
    assert (session.branch, session.head) == ("", "2b")


def test_what_could_not_be_seen_stays() -> None:
    story = Story().observe(work_tree="/p", branch="main", head="1a", previous="before")
    assert story.observe().state.session == story.state.session
    assert story.state.session.branch == "main"
    assert story.state.session.previous == "before"


# --- folding -------------------------------------------------------------------------------


def test_steps_carry_what_was_and_what_is() -> None:
    story = Story().start().prompt().result("x")
    first, second, third = steps(None, story.events)
    assert first.before is None
    assert first.after is second.before
    assert second.after is third.before
    assert third.after == story.state
    assert [step.event for step in (first, second, third)] == story.events


def test_a_state_is_never_changed_in_place() -> None:
    story = Story().start().prompt()
    before = story.state
    story.result("x").create("1").stop()
    assert (before.chunks, before.tasks, before.turns[1].ended_at) == ({}, {}, None)


@pytest.mark.parametrize("name", ["turns", "tasks", "chunks"])
def test_two_sessions_share_no_mapping(name: str) -> None:
    event = Story().start().events[0]
    first, second = fold(None, event), fold(None, event)
    assert first == second
    assert isinstance(first, State)
    assert getattr(first, name) is not getattr(second, name)
