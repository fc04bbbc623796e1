from __future__ import annotations

from datetime import timedelta

from ctxgit.fold.turns import HEADLINE_LENGTH
from support.events import START, Story


def test_each_prompt_opens_a_turn_counted_from_one() -> None:
    story = Story().start().prompt("One", "p1").prompt("Two", "p2")
    assert [
        (turn.number, turn.headline, turn.prompt_ids) for turn in story.state.turns.values()
    ] == [
        (1, "One", ("p1",)),
        (2, "Two", ("p2",)),
    ]
    assert story.state.current_turn == 2
    assert story.turn(2).started_at == START + timedelta(seconds=3)


def test_before_any_prompt_there_is_no_turn() -> None:
    story = Story().start()
    assert (story.state.turns, story.state.current_turn) == ({}, 0)


def test_a_headline_is_the_first_line_shortened() -> None:
    assert Story().prompt("\n\n  Fix\tit \nand more").turn(1).headline == "Fix it …"
    assert len(Story().prompt("x" * 9_999).turn(1).headline) == HEADLINE_LENGTH


def test_an_empty_prompt_opens_a_turn_too() -> None:
    assert Story().prompt("").prompt(" \n ").state.current_turn == 2


def test_the_same_prompt_told_twice_opens_one_turn() -> None:
    story = Story().prompt("Go", "p1").prompt("Go", "p1")
    assert list(story.state.turns) == [1]


def test_a_prompt_told_again_after_the_next_opens_no_turn() -> None:
    story = Story().prompt("One", "p1").prompt("Two", "p2").prompt("One", "p1")
    assert [turn.headline for turn in story.state.turns.values()] == ["One", "Two"]


def test_the_same_words_asked_again_open_a_turn() -> None:
    story = Story().prompt("go on", "p1").prompt("go on", "p2").prompt("go on").prompt("go on")
    assert story.state.current_turn == 4


def test_two_prompts_under_one_id_are_two_turns_and_the_id_means_the_later() -> None:
    story = Story().prompt("One", "p1").prompt("Two", "p1").result("x", prompt_id="p1")
    assert (story.state.current_turn, story.chunk("x").turn) == (2, 2)


# --- notices -------------------------------------------------------------------------------


def test_a_notice_goes_on_with_the_turn() -> None:
    story = Story().prompt("Go", "p1").stop().notice(prompt_id="n1").result("x", prompt_id="n1")
    assert list(story.state.turns) == [1]
    assert (story.turn(1).prompt_ids, story.turn(1).headline) == (("p1", "n1"), "Go")
    assert story.chunk("x").turn == 1


def test_a_notice_opens_the_answered_turn_again() -> None:
    story = Story().prompt().stop()
    assert story.turn(1).ended_at is not None
    assert story.notice().turn(1).ended_at is None


def test_a_notice_before_any_prompt_belongs_to_turn_zero() -> None:
    story = Story().notice(prompt_id="n1").prompt("Go", "p1")
    assert [(turn.number, turn.prompt_ids) for turn in story.state.turns.values()] == [
        (0, ("n1",)),
        (1, ("p1",)),
    ]


def test_a_notice_told_twice_counts_once() -> None:
    story = Story().prompt("Go", "p1").notice(prompt_id="n1").notice(prompt_id="n1")
    assert story.turn(1).prompt_ids == ("p1", "n1")


def test_a_notice_told_again_in_a_later_turn_stays_where_it_was() -> None:
    story = Story().prompt("One", "p1").notice(prompt_id="n1").prompt("Two", "p2").stop()
    before = story.state
    story.notice(prompt_id="n1")
    assert story.state.turns == before.turns
    assert story.state.turn_of("n1") == 1


# --- stops ---------------------------------------------------------------------------------


def test_a_stop_ends_the_turn() -> None:
    assert Story().prompt().stop(at=9).turn(1).ended_at == START + timedelta(seconds=9)


def test_a_later_stop_moves_the_end() -> None:
    assert Story().prompt().stop(at=9).stop(at=12).turn(1).ended_at == START + timedelta(seconds=12)


def test_a_stop_that_arrives_late_does_not_move_the_end_back() -> None:
    assert Story().prompt().stop(at=12).stop(at=9).turn(1).ended_at == START + timedelta(seconds=12)


def test_a_stop_ends_the_turn_of_its_prompt_also_when_a_later_one_has_begun() -> None:
    story = Story().prompt("One", "p1").prompt("Two", "p2").stop(prompt_id="p1", at=9)
    assert story.turn(1).ended_at == START + timedelta(seconds=9)
    assert story.turn(2).ended_at is None


def test_a_stop_before_any_prompt_ends_turn_zero() -> None:
    story = Story().stop(at=3)
    assert story.turn(0).ended_at == START + timedelta(seconds=3)


def test_the_next_prompt_leaves_an_unanswered_turn_as_it_is() -> None:
    assert Story().prompt("One").prompt("Two").turn(1).ended_at is None
