from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest

from ctxgit.model import Media, TaskStatus
from ctxgit.text import is_safe_id
from support.events import ACTIVE, DONE, PENDING, START, Story


def test_a_chunk_tells_what_the_call_was() -> None:
    media = (Media(sha256="ab" * 32, media_type="image/png", size=9),)
    fields = {"tool": "Bash", "paths": ("/p/a", "/p/b"), "media": media, "failed": True}
    chunk = Story().prompt().result("x1", "häh", duration_ms=7, **fields).chunk("x1")
    assert (chunk.id, chunk.number, chunk.tool_use_id) == ("x1", 1, "toolu_x1")
    assert (chunk.tool, chunk.paths, chunk.media, chunk.failed) == tuple(fields.values())
    assert (chunk.at, chunk.duration_ms) == (START + timedelta(seconds=2), 7)
    assert (chunk.size, chunk.sha256) == (4, hashlib.sha256("häh".encode()).hexdigest())
    assert chunk.tokens == 2  # two ASCII letters are a quarter each, the other one counts whole


# --- ids -----------------------------------------------------------------------------------


def test_the_id_is_the_tool_uses_without_its_prefix() -> None:
    assert list(Story().result("01AbC_-9").state.chunks) == ["01AbC_-9"]
    assert list(Story().result(tool_use_id="call-1").state.chunks) == ["call-1"]


@pytest.mark.parametrize("unsafe", ["../../x", "a b", "a\nb", "é", "-x", "x" * 129, "toolu_", "\0"])
def test_an_id_that_can_be_no_name_is_replaced_by_a_digest(unsafe: str) -> None:
    story = Story().result(tool_use_id=unsafe)
    (chunk,) = story.state.chunks.values()
    assert is_safe_id(chunk.id)
    assert len(chunk.id) == 24
    assert chunk.tool_use_id == unsafe
    again = Story().prompt().result(tool_use_id=unsafe)
    assert (list(again.state.chunks) == [chunk.id]) == (unsafe != "toolu_")


def test_calls_without_an_id_are_different_calls() -> None:
    assert len(Story().result(tool_use_id="").result(tool_use_id="").state.chunks) == 2


def test_the_same_id_in_two_sessions_is_a_chunk_of_each() -> None:
    first, second = Story("s1").result("same", "one"), Story("s2").result("same", "two")
    assert first.chunk("same").sha256 != second.chunk("same").sha256


def test_a_call_told_twice_changes_nothing_but_the_time() -> None:
    story = Story().prompt("Go", "p1").create("1").update("1", ACTIVE).result("x", agent="")
    before = story.state
    for event in story.events[1:]:
        story.again(event)
    assert story.state == before


def test_a_call_told_twice_does_not_do_to_tasks_what_it_did_before() -> None:
    story = Story().create("1").update("1", ACTIVE, "go").update("1", DONE)
    story.update("1", ACTIVE, "go")
    assert story.task(1).status is DONE
    assert len(story.state.chunks) == 3


# --- what it was for -----------------------------------------------------------------------


def test_a_result_belongs_to_the_active_task() -> None:
    story = Story().prompt().create("1").update("1", ACTIVE).result("x")
    assert (story.chunk("x").task, story.chunk("x").turn) == (1, 1)


def test_a_result_without_an_active_task_belongs_to_its_turn() -> None:
    story = Story().prompt().create("1").result("x").prompt("Next").result("y")
    assert [(story.chunk(call).task, story.chunk(call).turn) for call in "xy"] == [(0, 1), (0, 2)]


def test_a_result_before_any_prompt_belongs_to_turn_zero() -> None:
    story = Story().start("resume").result("x").prompt()
    assert (story.chunk("x").turn, story.turn(0).chunks, story.turn(1).chunks) == (0, 1, 0)


@pytest.mark.parametrize("status", [PENDING, DONE, None, TaskStatus.ABANDONED])
def test_a_lifecycle_call_belongs_to_its_own_task(status: TaskStatus | None) -> None:
    story = Story().prompt().create("1", "One", "c").create("2", "Two").update("2", ACTIVE)
    story.update("1", status, "u")
    assert [story.chunk(call).task for call in ("c", "u")] == [1, 1]


def test_the_call_that_ends_a_task_belongs_to_it() -> None:
    story = Story().prompt().create("1").update("1", ACTIVE).update("1", DONE, "end").result("x")
    assert [story.chunk(call).task for call in ("end", "x")] == [1, 0]


def test_a_call_that_declares_a_task_without_an_id_belongs_to_it() -> None:
    story = Story().prompt().create("1").update("1", ACTIVE).create("", "Other", "c")
    assert story.chunk("c").task == 2


def test_a_list_of_todos_belongs_to_the_task_that_it_makes_active() -> None:
    story = Story().prompt().todos(("A", DONE), ("B", ACTIVE))
    assert [chunk.task for chunk in story.state.chunks.values()] == [2]


def test_a_late_result_belongs_to_the_turn_of_its_prompt() -> None:
    story = Story().prompt("One", "p1").prompt("Two", "p2").result("late", prompt_id="p1")
    assert (story.chunk("late").turn, story.turn(1).chunks, story.turn(2).chunks) == (1, 1, 0)


def test_a_result_of_an_unknown_prompt_belongs_to_the_current_turn() -> None:
    story = Story().prompt("One", "p1").prompt("Two", "p2").result("x", prompt_id="p9")
    assert story.chunk("x").turn == 2


def test_a_subagents_result_is_not_its_parents() -> None:
    story = Story().prompt().create("1").update("1", ACTIVE).result("x", agent="a1")
    assert (story.chunk("x").task, story.chunk("x").turn, story.chunk("x").agent) == (0, 1, "a1")


def test_a_subagents_result_belongs_to_its_own_active_task() -> None:
    story = Story().prompt().create("1").update("1", ACTIVE)
    story.create("1", "Sub", agent="a1").update("1", ACTIVE, agent="a1")
    assert story.result("x", agent="a1").chunk("x").task == 2
    assert story.result("y", agent="a2").chunk("y").task == 0
    assert story.result("z").chunk("z").task == 1


# --- counted -------------------------------------------------------------------------------


def test_places_count_from_zero_in_each_scope_and_numbers_over_all() -> None:
    story = Story().prompt().result("a").result("b").create("1").update("1", ACTIVE).result("c")
    numbers = [(chunk.number, chunk.task, chunk.place) for chunk in story.state.chunks.values()]
    assert numbers == [(1, 0, 0), (2, 0, 1), (3, 1, 0), (4, 1, 1), (5, 1, 2)]
    assert (story.turn(1).chunks, story.task(1).chunks, story.state.session.chunks) == (2, 3, 5)


def test_tokens_are_summed_where_the_chunk_belongs() -> None:
    story = Story().prompt().result(content="x" * 40).create("1", call="c")
    story.update("1", ACTIVE, "u").result(content="x" * 80)
    own = story.chunk("c").tokens + story.chunk("u").tokens
    assert (story.turn(1).tokens, story.task(1).tokens) == (10, own + 20)


def test_an_empty_result_is_a_chunk_without_tokens() -> None:
    chunk = Story().result("x", "").chunk("x")
    assert (chunk.tokens, chunk.size, chunk.sha256) == (0, 0, hashlib.sha256(b"").hexdigest())
