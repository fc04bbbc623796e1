from __future__ import annotations

import copy
import dataclasses
import subprocess
import sys

import pytest

from ctxgit.records import dataclass, field, replace


@dataclass(frozen=True, kw_only=True)
class Place:
    name: str
    floor: int = 0


@dataclass(frozen=True, kw_only=True)
class Room(Place):
    seats: dict[str, int] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


@dataclass
class Counter:
    name: str
    count: int = 0


def test_fields_come_from_arguments_then_from_defaults() -> None:
    room = Room(name="Library", note="quiet")
    assert (room.name, room.floor, room.seats, room.note) == ("Library", 0, {}, "quiet")
    assert (Point(1).x, Point(1).y, Point(1, y=2).y) == (1, 0, 2)


def test_a_made_default_is_each_instances_own() -> None:
    assert Room(name="a").seats is not Room(name="b").seats


@pytest.mark.parametrize(
    ("args", "given"),
    [((), {}), ((), {"name": "a", "size": 1}), ((), {"floor": 1})],
)
def test_wrong_arguments_are_refused(args: tuple[object, ...], given: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="Place"):
        Place(*args, **given)  # type: ignore[arg-type,misc] # that is the point


def test_an_argument_too_many_or_twice_is_refused() -> None:
    with pytest.raises(TypeError, match="Point"):
        Point(1, 2, 3)  # type: ignore[call-arg] # that is the point
    with pytest.raises(TypeError, match="Point"):
        Point(1, x=2)  # type: ignore[misc] # the same
    with pytest.raises(TypeError, match="Place"):
        Place("a")  # type: ignore[misc] # keywords only


def test_equal_are_those_of_one_class_with_equal_fields() -> None:
    assert Point(1, 2) == Point(1, 2)
    assert hash(Point(1, 2)) == hash(Point(1, 2))
    assert Point(1, 2) != Point(1, 3)
    assert Place(name="a") != Room(name="a")


def test_frozen_ones_cannot_be_changed_and_others_can() -> None:
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2  # type: ignore[misc] # that is the point
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    counter = Counter("a")
    counter.count += 1
    assert counter == Counter("a", 1)
    with pytest.raises(TypeError):
        hash(counter)


def test_replace_changes_a_copy() -> None:
    room = Room(name="a", note="b")
    assert replace(room, note="c") == Room(name="a", note="c")
    assert room.note == "b"
    with pytest.raises(TypeError, match="size"):
        replace(room, size=3)  # type: ignore[call-arg] # that is the point


def test_what_is_shown_could_make_it_again() -> None:
    assert repr(Room(name="a")) == "Room(name='a', floor=0, seats={}, note='')"


def test_the_standard_library_takes_them_for_dataclasses() -> None:
    room = Room(name="a", seats={"window": 2})
    assert dataclasses.is_dataclass(Room)
    assert dataclasses.asdict(room) == {
        "name": "a",
        "floor": 0,
        "seats": {"window": 2},
        "note": "",
    }
    assert [(each.name, each.type) for each in dataclasses.fields(Room)] == [
        ("name", "str"),
        ("floor", "int"),
        ("seats", "dict[str, int]"),
        ("note", "str"),
    ]
    assert dataclasses.replace(room, floor=1) == Room(name="a", floor=1, seats={"window": 2})


def test_they_can_be_copied_and_matched() -> None:
    room = Room(name="a")
    assert copy.deepcopy(room) == room
    match Point(1, 2):
        case Point(x, 2):
            assert x == 1
        case _:
            pytest.fail("a point is matched by its places")


def test_making_them_imports_nothing() -> None:
    script = (
        "import sys; before = set(sys.modules)\n"
        "from ctxgit.records import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Point:\n    x: int\n"
        "Point(1) == Point(2), repr(Point(3))\n"
        "print(sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['__future__', 'ctxgit', 'ctxgit.records']"
