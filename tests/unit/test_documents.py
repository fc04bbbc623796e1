from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgit.documents import dump_toml, from_table, jsonable, load_toml, to_table
from ctxgit.model import Chunk, Media, Session, Task, TaskStatus, Turn
from support.events import START, Story

SESSION = Session(id="s", started_at=START, updated_at=START)
TASK = Task(number=1, name="x", subject="X", status=TaskStatus.PENDING, created_at=START)
TURN = Turn(number=0, started_at=START)
CHUNK = Chunk(id="c", number=1, tool="Read", task=0, turn=0, place=0, at=START)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
COUNTS = st.integers(0, 2**62)
TIMES = st.datetimes(timezones=st.just(UTC))
MEDIA = st.builds(Media, sha256=TEXTS, media_type=TEXTS, size=COUNTS)
BY_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXTS,
    "int": COUNTS,
    "int | None": COUNTS | st.none(),
    "bool": st.booleans(),
    "datetime": TIMES,
    "datetime | None": TIMES | st.none(),
    "TaskStatus": st.sampled_from(TaskStatus),
    "tuple[str, ...]": st.lists(TEXTS, max_size=3).map(tuple),
    "tuple[int, ...]": st.lists(COUNTS, max_size=3).map(tuple),
    "tuple[Media, ...]": st.lists(MEDIA, max_size=2).map(tuple),
}
KINDS = (Session, Turn, Task, Chunk, Media)
VALUES = st.sampled_from(KINDS).flatmap(
    lambda kind: st.builds(kind, **{f.name: BY_TYPE[str(f.type)] for f in fields(kind)})
)


@given(VALUES)
def test_a_value_is_read_back_as_it_was(value: Any) -> None:
    assert from_table(type(value), load_toml(dump_toml(to_table(value)))) == value


@given(VALUES)
def test_a_value_goes_through_json_too(value: Any) -> None:
    text = json.dumps(to_table(value), default=jsonable)
    assert from_table(type(value), json.loads(text)) == value


# --- what a table holds --------------------------------------------------------------------


def test_a_table_leaves_out_what_is_at_its_default() -> None:
    assert to_table(TASK) == {
        "number": 1,
        "name": "x",
        "subject": "X",
        "status": "pending",
        "created_at": START,
    }


def test_a_required_field_is_written_even_when_it_is_empty() -> None:
    assert to_table(TURN) == {"number": 0, "started_at": START}


def test_a_field_that_is_not_known_is_ignored() -> None:
    assert from_table(Turn, {**to_table(TURN), "mood": "good", "input": {"a": 1}}) == TURN


def test_a_missing_required_field_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"not a turn: .*started_at"):
        from_table(Turn, {"number": 1})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("number", "1"),
        ("number", True),
        ("number", 1.0),
        ("subject", 5),
        ("status", "finished"),
        ("created_at", "yesterday"),
        ("created_at", 5),
        ("blocked_by", 5),
        ("blocked_by", ["1"]),
        ("activation", None),
    ],
)
def test_a_value_of_the_wrong_shape_is_an_error(name: str, value: object) -> None:
    with pytest.raises(ValueError, match="not a task"):
        from_table(Task, {**to_table(TASK), name: value})


def test_media_of_the_wrong_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match="not a chunk"):
        from_table(Chunk, {**to_table(CHUNK), "media": ["x"]})


def test_times_come_back_in_utc() -> None:
    east = START.astimezone(timezone(timedelta(hours=5, minutes=30)))
    naive = START.replace(tzinfo=None)
    for moment in (east, east.isoformat(), naive, START.isoformat()):
        read = from_table(Turn, {"number": 0, "started_at": moment}).started_at
        assert (read, read.tzinfo) == (START, UTC)


def test_what_has_no_place_in_a_document_is_an_error() -> None:
    assert jsonable(datetime(2026, 1, 2, tzinfo=UTC)) == "2026-01-02T00:00:00+00:00"
    with pytest.raises(TypeError, match="set has no place"):
        jsonable({1})


@pytest.mark.parametrize("data", [b"a = ", b"\xff", b"a = 1\na = 2"])
def test_what_is_no_toml_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        load_toml(data)


# --- hostile text --------------------------------------------------------------------------

JSON = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(TEXTS, JSON, max_size=5))
def test_any_table_of_json_values_but_null_survives(table: dict[str, object]) -> None:
    assert load_toml(dump_toml(table)) == table


def test_a_subject_cannot_add_lines_to_a_file() -> None:
    hostile = 'x"\nstatus = "done"\n[[x]]\r\0\x1b'
    task = replace(TASK, subject=hostile, description=hostile)
    assert from_table(Task, load_toml(dump_toml(to_table(task)))) == task


def test_a_whole_story_survives() -> None:
    story = Story().start().prompt("Go", "p1").create("1").update("1", TaskStatus.ACTIVE)
    story.result("x", paths=("/a b", "/ü")).stop().end("clear")
    state = story.state
    records: list[Any] = [
        state.session,
        *state.turns.values(),
        *state.tasks.values(),
        *state.chunks.values(),
    ]
    assert len(records) == 6
    for record in records:
        assert from_table(type(record), load_toml(dump_toml(to_table(record)))) == record
