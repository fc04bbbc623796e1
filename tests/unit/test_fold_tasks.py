from __future__ import annotations

from datetime import timedelta

import pytest

from ctxgit.fold.tasks import SUBJECT_LENGTH, find
from ctxgit.model import TaskChange, TasksChanged, TaskStatus
from support.events import ABANDONED, ACTIVE, DONE, PENDING, START, Story


def changed(*changes: TaskChange, origin: str = "ctx") -> Story:
    return Story().prompt().tell(TasksChanged, origin=origin, changes=changes)


# --- declared ------------------------------------------------------------------------------


def test_a_created_task_has_the_id_that_the_client_answered_with() -> None:
    task = Story().create("7", "Fix the login").task(1)
    assert (task.key, task.subject, task.name) == ("7", "Fix the login", "fix-the-login")
    assert (task.status, task.origin, task.agent) == (PENDING, "TaskCreate", "")
    assert (task.created_at, task.ended_at, task.activation) == (
        START + timedelta(seconds=1),
        None,
        0,
    )


def test_numbers_count_from_one_whatever_the_client_counts() -> None:
    story = Story().create("41").create("42", "Other").verb(subject="Third")
    assert [(task.number, task.key) for task in story.state.tasks.values()] == [
        (1, "41"),
        (2, "42"),
        (3, ""),
    ]


def test_an_update_of_an_unknown_id_declares_a_task_named_for_the_id() -> None:
    task = Story().update("5", ACTIVE).task(1)
    assert (task.subject, task.name, task.key, task.status) == ("task 5", "task-5", "5", ACTIVE)


def test_an_update_of_an_unknown_number_changes_nothing() -> None:
    story = Story().create("1").verb(number=9, status=DONE, subject="No")
    assert story.subjects() == ["Fix it"]
    assert story.task(1).status is PENDING


def test_a_task_without_any_subject_is_untitled() -> None:
    task = changed(TaskChange(subject="\u2028 \n ")).task(1)
    assert (task.subject, task.name) == ("untitled", "untitled")


def test_a_subject_is_its_first_line_without_what_steers_a_terminal() -> None:
    subject = (
        changed(TaskChange(subject="Fix\x1b[31m \u202eit\nCtx-Session: forged")).task(1).subject
    )
    assert subject == "Fix [31m  it …"


def test_a_huge_subject_is_cut() -> None:
    task = changed(TaskChange(subject="word " * 50_000)).task(1)
    assert len(task.subject) <= SUBJECT_LENGTH
    assert len(task.label) <= len("01-") + 40


def test_a_client_that_begins_its_ids_again_declares_a_new_task() -> None:
    story = Story().create("1", "First list").update("1", DONE).create("1", "Second list")
    assert [(task.subject, task.status) for task in story.state.tasks.values()] == [
        ("First list", DONE),
        ("Second list", PENDING),
    ]
    story.update("1", ACTIVE)
    assert (story.task(1).status, story.task(2).status) == (DONE, ACTIVE)


def test_the_same_words_under_an_id_begun_again_are_new_work() -> None:
    story = Story().create("1", "Run the tests").update("1", DONE).create("1", "Run the tests")
    assert [task.status for task in story.state.tasks.values()] == [DONE, PENDING]


def test_a_creation_that_arrives_after_an_update_names_the_task_that_is_there() -> None:
    story = Story().update("1", ACTIVE).create("1", "Fix the login").update("1", DONE)
    assert [(task.subject, task.status) for task in story.state.tasks.values()] == [
        ("Fix the login", DONE)
    ]


def test_a_creation_under_the_id_of_an_ended_task_is_new_work_though_nobody_created_that() -> None:
    story = Story().update("1", DONE).create("1", "Fix the login")
    assert [(task.subject, task.status) for task in story.state.tasks.values()] == [
        ("task 1", DONE),
        ("Fix the login", PENDING),
    ]


def test_a_task_named_late_is_not_named_again() -> None:
    story = Story().update("1", ACTIVE).create("1", "First").create("1", "Second")
    assert story.subjects() == ["First", "Second"]
    assert story.task(1).label == "01-task-1"


def test_a_late_creation_of_a_subagent_does_not_name_the_main_loops_task() -> None:
    story = Story().update("1", ACTIVE).create("1", "Sub", agent="a1")
    assert story.subjects() == ["task 1", "Sub"]


def test_creating_an_active_task_again_leaves_it_active() -> None:
    story = Story().create("1").update("1", ACTIVE).create("1")
    assert [task.status for task in story.state.tasks.values()] == [ACTIVE]


# --- found again ---------------------------------------------------------------------------


def test_an_id_means_the_agents_own_task_first() -> None:
    story = Story().create("1", "Of a1", agent="a1").create("1", "Of the main loop")
    story.update("1", ACTIVE, agent="a1")
    assert [task.status for task in story.state.tasks.values()] == [ACTIVE, PENDING]


def test_an_id_the_agent_does_not_have_means_the_main_loops_task() -> None:
    story = Story().create("1", "Main").create("1", "Of a2", agent="a2")
    assert find(story.state, "a1", TaskChange(key="1")) is story.task(1)


def test_an_id_only_another_agent_has_means_that_one() -> None:
    story = Story().create("1", "Of a2", agent="a2")
    assert find(story.state, "", TaskChange(key="1")) is story.task(1)


def test_among_tasks_of_one_id_the_newest_is_meant() -> None:
    story = Story().create("1", "Old").create("1", "New")
    assert find(story.state, "", TaskChange(key="1")) is story.task(2)


def test_a_change_without_id_and_number_means_no_task_that_is_there() -> None:
    assert find(Story().create("1").state, "", TaskChange(subject="Fix it")) is None


# --- status --------------------------------------------------------------------------------


@pytest.mark.parametrize("before", list(TaskStatus))
@pytest.mark.parametrize("after", list(TaskStatus))
def test_every_status_may_follow_every_other(before: TaskStatus, after: TaskStatus) -> None:
    task = Story().create("1").update("1", before).update("1", after).task(1)
    assert task.status is after
    assert (task.ended_at is None) == after.is_open


def test_a_task_that_is_done_twice_ended_the_first_time() -> None:
    task = Story().create("1").update("1", DONE, at=10).update("1", DONE, at=20).task(1)
    assert task.ended_at == START + timedelta(seconds=10)


def test_a_task_done_after_it_was_abandoned_ended_when_it_was_done() -> None:
    task = Story().create("1").update("1", ABANDONED, at=10).update("1", DONE, at=20).task(1)
    assert task.ended_at == START + timedelta(seconds=20)


def test_an_update_without_status_leaves_it() -> None:
    story = Story().create("1").update("1", ACTIVE).update("1", subject="Renamed")
    assert (story.task(1).status, story.task(1).subject) == (ACTIVE, "Renamed")


def test_a_renamed_task_keeps_its_folder_and_tag() -> None:
    story = Story().create("1", "Old").update("1", subject="New")
    assert (story.task(1).subject, story.task(1).label) == ("New", "01-old")


def test_a_description_is_kept_until_another_is_given() -> None:
    story = Story().create("1").update("1", description="Long").update("1", ACTIVE)
    assert story.task(1).description == "Long"
    assert story.update("1", description="").task(1).description == ""


# --- the active one ------------------------------------------------------------------------


def two_active() -> Story:
    story = Story().prompt().create("1", "One").create("2", "Two")
    return story.update("1", ACTIVE).update("2", ACTIVE)


def test_the_last_activated_task_is_the_active_one() -> None:
    assert two_active().state.active_task() == two_active().task(2)


def test_activating_an_active_task_again_makes_it_the_last() -> None:
    story = two_active().update("1", ACTIVE)
    assert story.state.active_task() == story.task(1)


def test_after_completion_the_task_activated_before_is_the_active_one() -> None:
    story = two_active().update("2", DONE).result("after")
    assert story.chunk("after").task == 1


def test_without_an_active_task_there_is_none() -> None:
    story = two_active().update("2", DONE).update("1", PENDING)
    assert story.state.active_task() is None


def test_each_agent_has_its_own_active_task() -> None:
    story = Story().create("1", "Main").update("1", ACTIVE)
    story.create("1", "Sub", agent="a1").update("1", ACTIVE, agent="a1")
    assert [story.state.active_task(agent) for agent in ("", "a1", "a2")] == [
        story.task(1),
        story.task(2),
        None,
    ]


# --- dependencies --------------------------------------------------------------------------


def test_a_dependency_is_kept_as_the_number_of_the_task() -> None:
    story = Story().create("8", "First").create("9", "Second").update("9", blocked_by=("8",))
    assert story.task(2).blocked_by == (1,)


def test_blocking_another_is_kept_at_the_other() -> None:
    story = Story().create("8", "First").create("9", "Second").update("8", blocks=("9", "9"))
    assert (story.task(1).blocked_by, story.task(2).blocked_by) == ((), (1,))


def test_unknown_dependencies_are_left_out() -> None:
    story = Story().create("1").update("1", blocked_by=("77",), blocks=("78",))
    assert story.task(1).blocked_by == ()


def test_a_task_never_waits_for_itself() -> None:
    assert (
        Story().create("1").update("1", blocked_by=("1",), blocks=("1",)).task(1).blocked_by == ()
    )


def test_a_task_started_by_hand_waits_for_the_numbers_it_names() -> None:
    story = Story().create("7", "Of the client").verb(subject="By hand", status=DONE)
    story.verb(subject="Next", status=ACTIVE, blocked_by=("2", "1", "9", "x"))
    assert story.task(3).blocked_by == (2, 1)


def test_a_number_named_by_hand_is_not_taken_for_the_clients_id() -> None:
    story = Story().create("2", "One").create("1", "Two").verb(subject="Next", blocked_by=("1",))
    assert story.task(3).blocked_by == (1,)


def test_a_task_created_without_an_answer_waits_for_others_too() -> None:
    story = Story().create("1", "First")
    story.tell(
        TasksChanged,
        origin="TaskCreate",
        changes=(TaskChange(subject="Second", blocked_by=("1",)),),
    )
    assert story.task(2).blocked_by == (1,)


def test_tasks_declared_together_may_wait_for_each_other() -> None:
    first = TaskChange(key="a", subject="A", blocked_by=("b",))
    story = changed(first, TaskChange(key="b", subject="B"), origin="TaskCreate")
    assert story.task(1).blocked_by == (2,)


def test_a_circle_of_dependencies_stops_nothing() -> None:
    story = Story().create("1", "A").create("2", "B")
    story.update("1", blocked_by=("2",)).update("2", blocked_by=("1",))
    story.update("1", ACTIVE).update("1", DONE).update("2", ACTIVE)
    assert [task.blocked_by for task in story.state.tasks.values()] == [(2,), (1,)]
    assert story.state.active_task() == story.task(2)


# --- whole lists ---------------------------------------------------------------------------


def test_todos_are_matched_by_their_text() -> None:
    story = Story().todos(("A", ACTIVE), ("B", PENDING)).todos(("B", ACTIVE), ("A", DONE))
    assert [(task.subject, task.status) for task in story.state.tasks.values()] == [
        ("A", DONE),
        ("B", ACTIVE),
    ]


def test_a_todo_that_stays_as_it_is_counts_no_activation() -> None:
    story = Story().todos(("A", ACTIVE), ("B", PENDING)).todos(("A", ACTIVE), ("B", PENDING))
    assert (story.state.session.activations, story.task(1).activation) == (1, 1)


def test_a_todo_renamed_in_place_stays_the_same_task() -> None:
    story = Story().todos(("A", ACTIVE), ("B", PENDING)).todos(("A+", ACTIVE), ("B", PENDING))
    assert story.subjects() == ["A+", "B"]
    assert story.task(1).status is ACTIVE


def test_two_new_todos_for_two_old_ones_are_new_tasks() -> None:
    story = Story().todos(("A", ACTIVE), ("B", PENDING)).todos(("C", ACTIVE), ("D", PENDING))
    assert [(task.subject, task.status) for task in story.state.tasks.values()] == [
        ("A", ABANDONED),
        ("B", ABANDONED),
        ("C", ACTIVE),
        ("D", PENDING),
    ]


def test_an_open_todo_that_is_dropped_is_abandoned_and_a_done_one_stays_done() -> None:
    story = Story().todos(("A", DONE), ("B", ACTIVE), ("C", ACTIVE)).todos(("C", ACTIVE))
    assert [task.status for task in story.state.tasks.values()] == [DONE, ABANDONED, ACTIVE]


def test_the_empty_list_drops_all() -> None:
    story = Story().todos(("A", ACTIVE), ("B", PENDING)).todos()
    assert [task.status for task in story.state.tasks.values()] == [ABANDONED, ABANDONED]


def test_a_todo_that_comes_back_is_the_same_task() -> None:
    story = Story().todos(("A", ACTIVE)).todos().todos(("A", ACTIVE))
    assert [(task.subject, task.status, task.ended_at) for task in story.state.tasks.values()] == [
        ("A", ACTIVE, None)
    ]


def test_two_todos_of_the_same_text_are_two_tasks() -> None:
    story = Story().todos(("A", DONE), ("A", ACTIVE)).todos(("A", DONE), ("A", DONE))
    assert [task.status for task in story.state.tasks.values()] == [DONE, DONE]


def test_an_open_todo_is_matched_before_a_done_one_of_the_same_text() -> None:
    story = Story().todos(("A", DONE), ("A", ACTIVE)).todos(("A", ACTIVE))
    assert [task.status for task in story.state.tasks.values()] == [DONE, ACTIVE]


def test_a_list_leaves_the_tasks_of_others_alone() -> None:
    story = Story().create("1", "Created").verb(subject="By hand", status=ACTIVE)
    story.todos(("Of a1", ACTIVE), agent="a1").todos(("Mine", ACTIVE)).todos()
    assert [(task.subject, task.status) for task in story.state.tasks.values()] == [
        ("Created", PENDING),
        ("By hand", ACTIVE),
        ("Of a1", ACTIVE),
        ("Mine", ABANDONED),
    ]


def test_a_todo_of_unknown_status_is_pending_and_stays_what_it_was() -> None:
    story = Story().todos(("A", None)).todos(("A", ACTIVE)).todos(("A", None))
    assert story.task(1).status is ACTIVE
    assert Story().todos(("A", None)).task(1).status is PENDING


def test_a_long_todo_is_found_again_though_it_is_shortened() -> None:
    long = "word " * 100
    story = Story().todos((long, ACTIVE), ("B", PENDING)).todos(("B", ACTIVE), (long, DONE))
    assert [task.status for task in story.state.tasks.values()] == [DONE, ACTIVE]


def test_five_hundred_todos_are_told_apart() -> None:
    items = [(f"Step {number}", PENDING) for number in range(500)]
    story = Story().todos(*items).todos(*reversed(items))
    assert len(story.state.tasks) == 500
    assert all(task.status is PENDING for task in story.state.tasks.values())
