"""The working set ended, replaced and brought back by hand."""

from __future__ import annotations

from dataclasses import replace

from ctxgit.model import Adopted, Chunk, Cleared, Restored, Returned, State
from support.events import ACTIVE, DONE, Story

OTHER = "another-session"


def busy(session: str = "") -> Story:
    story = Story(session=session) if session else Story()
    story.prompt().result("t1").create("1", "Fix it", call="k1").update("1", ACTIVE, call="k2")
    return story.create("2", "Test it", call="k3").update("2", blocked_by=("1",), call="k4").stop()


def back(story: Story, *calls: str, session: str = "") -> Restored:
    """The event that brings chunks of ``story`` back."""
    chunks = tuple(
        Returned(
            session=session or story.session,
            chunk=story.chunk(call),
            task=story.state.tasks.get(story.chunk(call).task),
            files={},
        )
        for call in calls
    )
    return Restored(id="r", at=story.state.session.updated_at, session=story.session, chunks=chunks)


def test_a_clear_ends_tasks_and_chunks_and_no_number_comes_twice() -> None:
    story = busy().tell(Cleared)
    state = story.state
    assert (state.tasks, state.chunks, state.session.cleared) == ({}, {}, True)
    assert state.turns == busy().state.turns
    story.create("9", "Anew", call="k9")
    assert story.task(3).subject == "Anew"
    assert story.chunk("k9").number == 6


def test_the_mark_of_a_clear_goes_with_the_next_prompt_of_a_user() -> None:
    story = busy().tell(Cleared).result("late").stop().end("clear").notice()
    assert story.state.session.cleared
    assert not story.prompt("Something else").state.session.cleared


def test_adopted_tasks_replace_the_working_set() -> None:
    theirs = busy(OTHER).state.tasks
    story = Story().prompt().create("1", "Mine", call="m1").create("2", "And mine", call="m2")
    story.create("3", "Third", call="m3").tell(Cleared)
    story.tell(Adopted, source="save/x", tasks=tuple(theirs.values()))
    assert story.state.tasks == theirs
    assert story.state.chunks == {}
    assert not story.state.session.cleared
    assert story.state.session.tasks == 3  # no number of its own comes again
    assert story.state.active_task() == theirs[1]
    assert story.create("4", "New", call="m4").task(4).subject == "New"


def test_adopting_counts_on_from_the_highest_of_both() -> None:
    story = Story().prompt().tell(Adopted, tasks=tuple(busy().state.tasks.values()))
    assert (story.state.session.tasks, story.state.session.activations) == (2, 1)
    assert story.create("9", "Mine", call="m1").task(3).subject == "Mine"


def test_own_chunks_come_back_as_they_were_with_their_tasks() -> None:
    was = busy().state
    story = busy().tell(Cleared)
    story.again(back(busy(), "k2", "t1"))
    assert story.state.tasks == {1: was.tasks[1]}
    assert list(story.state.chunks.values()) == [was.chunks["t1"], was.chunks["k2"]]
    assert story.state.turns == was.turns
    assert story.state.session.chunks == was.session.chunks
    story.again(back(busy(), *busy().state.chunks))
    assert story.state.chunks == was.chunks
    assert list(story.state.chunks) == list(was.chunks)
    assert story.state.tasks == was.tasks


def test_a_task_that_comes_back_waits_for_none_that_is_not_there() -> None:
    story = busy().tell(Cleared)
    assert busy().task(2).blocked_by == (1,)
    assert story.again(back(busy(), "k3")).task(2).blocked_by == ()


def test_a_chunk_that_is_there_stays_as_it_is() -> None:
    story = busy()
    before = story.state
    story.again(back(story, "k1", "t1"))
    assert story.state.chunks == before.chunks
    assert story.state.session == before.session


def test_chunks_of_another_session_are_new_results_of_the_current_turn() -> None:
    theirs = busy(OTHER)
    story = Story().prompt().result("mine", "text").prompt("And now?")
    story.again(back(theirs, "t1", "k2", session=OTHER))
    assert [chunk.number for chunk in story.state.chunks.values()] == [1, 2, 3]
    for place, call in enumerate(("t1", "k2")):
        chunk = story.chunk(call)
        assert (chunk.task, chunk.turn, chunk.place) == (0, 2, place)
    assert story.state.tasks == {}
    size = theirs.chunk("t1").tokens + theirs.chunk("k2").tokens
    assert (story.turn(2).chunks, story.turn(2).tokens) == (2, size)
    assert story.result("next").chunk("next").number == 4


def test_chunks_of_another_session_stay_with_tasks_that_came_before_them() -> None:
    theirs = busy(OTHER)
    story = Story().prompt().result("mine")
    story.tell(Adopted, tasks=tuple(theirs.state.tasks.values()))
    story.again(back(theirs, "t1", "k2", session=OTHER))
    assert story.chunk("k2").task == 1
    assert story.chunk("k2").place == theirs.chunk("k2").place
    assert story.chunk("t1").task == 0
    assert story.state.tasks == theirs.state.tasks


def test_a_number_that_another_task_has_now_is_no_scope() -> None:
    story = busy().tell(Cleared)
    foreign = replace(busy(OTHER).task(1), name="other", subject="Other")
    story.tell(Adopted, tasks=(foreign,)).again(back(busy(), "k2"))
    assert story.task(1) == foreign
    assert (story.chunk("k2").task, story.chunk("k2").turn) == (0, 1)


def test_numbers_given_again_after_an_undo_do_not_come_twice() -> None:
    undone = busy().result("old")  # number 6, of a state that was undone
    story = busy().result("new")
    story.again(back(undone, "old"))
    assert [(name, chunk.number) for name, chunk in story.state.chunks.items()][-2:] == [
        ("new", 6),
        ("old", 7),
    ]
    ahead = busy().result("a").result("b").result("c")
    story = busy().again(back(ahead, "c"))
    assert story.chunk("c").number == 6
    assert story.result("d").chunk("d").number == 7


def test_a_chunk_can_come_into_a_session_without_a_turn() -> None:
    story = Story().start().again(back(busy(OTHER), "t1", session=OTHER))
    assert list(story.state.turns) == [0]
    assert story.chunk("t1").turn == 0


def test_a_blank_state_is_one_in_which_nothing_was_asked_or_done() -> None:
    assert Story().start().state.is_blank
    assert Story().stop("Hello").state.is_blank
    assert not Story().prompt().state.is_blank
    assert not Story().result().state.is_blank
    assert not busy().tell(Cleared).state.is_blank  # what was asked is still there


def test_a_task_done_comes_back_done() -> None:
    told = busy().update("1", DONE, call="k5")
    story = busy().update("1", DONE, call="k5").tell(Cleared).again(back(told, "k1"))
    assert story.task(1).status is DONE


def consistent(state: State) -> None:
    chunks: list[Chunk] = list(state.chunks.values())
    assert len({chunk.number for chunk in chunks}) == len(chunks)
    assert all(chunk.task in state.tasks for chunk in chunks if chunk.task)
    assert all(chunk.turn in state.turns for chunk in chunks)
    assert max((chunk.number for chunk in chunks), default=0) <= state.session.chunks


def test_whatever_comes_back_where_the_state_is_sound() -> None:
    sources = [busy(), busy(OTHER), Story(session=OTHER).prompt().result("z").stop()]
    targets = [busy(), busy().tell(Cleared), Story().start(), Story().prompt().create("1", "A")]
    for source in sources:
        for target in targets:
            story = Story().start()
            story.folded = target.state
            event = back(source, *source.state.chunks)
            consistent(story.again(event).state)
            consistent(story.result("after").state)
