"""What a sync does with events that no client should write: none is lost, none stops others."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ctxgit.actions.sync as sync_module
import ctxgit.claude.payload as payload_module
from ctxgit.actions.sync import sync
from ctxgit.errors import StoreError
from support.git import git
from support.payloads import MISSING, SESSION, payload, spooled, tool_payload
from support.store import (
    branches,
    check_objects,
    chunk_ids,
    log_text,
    make_project,
    put,
    read_event,
    spool_names,
)

if TYPE_CHECKING:
    from ctxgit.paths import StorePaths

GOOD = read_event(1)


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    return make_project(tmp_path / "project")


def rejected(store: StorePaths) -> list[bytes]:
    return sorted(path.read_bytes() for path in store.rejected.iterdir())


UNREADABLE = {
    "empty": b"",
    "blank": b" \n",
    "truncated": spooled(GOOD)[:-40],
    "text": b"hello",
    "number": b"1",
    "list": b"[1, 2]",
    "null": b"null",
    "NULs": b"\0" * 100,
    "random": bytes(range(256)),
    "nested too deeply": b'{"a":' * 100_000,
    "no event name": spooled(payload("Stop", hook_event_name=MISSING)),
    "an event name of another kind": spooled(payload("Stop", hook_event_name=7)),
    "an unknown event": spooled(payload("Teleported")),
    "an event we do not keep": spooled(payload("Notification", message="hi")),
    "no session": spooled(payload("Stop", session_id=MISSING)),
    "no session's id": spooled(payload("Stop", session_id="")),
}


@pytest.mark.parametrize("session", ["none", "s1", SESSION])
def test_what_cannot_be_read_is_put_aside(session: str, store: StorePaths) -> None:
    put(store, GOOD)
    for data in UNREADABLE.values():
        put(store, data, session=session)
    put(store, read_event(2))
    result = sync(store)
    assert result.rejected == len(UNREADABLE)
    assert rejected(store) == sorted(UNREADABLE.values())
    assert spool_names(store) == []
    (branch,) = branches(store)
    assert chunk_ids(store, branch) == ["000001", "000002"]
    assert log_text(store).count("it was put aside as") == len(UNREADABLE)
    assert sync(store).rejected == 0


ODD = {
    "a byte order mark": b"\xef\xbb\xbf" + spooled(GOOD),
    "NULs around": b"\0\0" + spooled(GOOD) + b"\0",
    "broken UTF-8": spooled(read_event(1, text="caf\xe9")).replace("\xe9".encode(), b"\xe9"),
    "lone surrogates": json.dumps(read_event(1, text="a\ud800b\udfffc")).encode(),
    "surrogates everywhere": json.dumps(
        tool_payload(
            "Tool\ud800",
            {"k\udc00": "v\ud800", "file_path": "/p/\udcff"},
            {"\ud800": "\udc00"},
            tool_use_id="toolu_000001",
            prompt_id="\ud800",
            agent_id="\udc00",
            cwd="/\ud800",
        )
    ).encode(),
    "NULs in text": spooled(read_event(1, text="a\0b\0c")),
    "an unknown tool": spooled(tool_payload("X\nY", {"a": 1}, {"b": [2]}, tool_use_id="000001")),
    "no tool": spooled(payload("PostToolUse", tool_name=MISSING, tool_use_id="000001")),
    "no fields": spooled(
        {
            "hook_event_name": "PostToolUse",
            "session_id": GOOD["session_id"],
            "tool_use_id": "000001",
        }
    ),
    "fields of wrong kinds": spooled(
        tool_payload("Read", ["x"], 7, tool_use_id="000001", cwd={}, prompt_id=[], duration_ms="x")
    ),
    "huge numbers": spooled(
        tool_payload("Read", {"offset": 10**400, "x": -1.5e308}, {}, tool_use_id="000001")
    ),
    "numbers out of range": spooled(GOOD)[:-2] + b', "duration_ms": 1e999, "x": NaN}',
    "nested deeply": spooled(
        tool_payload("X", {"a": json.loads("[" * 190 + "]" * 190)}, {}, tool_use_id="000001")
    ),
    "nested deeply in objects": spooled(
        tool_payload(
            "X", json.loads('{"a":' * 190 + "1" + "}" * 190), {"b": 1}, tool_use_id="000001"
        )
    ),
    "nested deeply in a response": spooled(
        tool_payload("X", {}, json.loads('{"a":[' * 90 + "1" + "]}" * 90), tool_use_id="000001")
    ),
    "keys that TOML must quote": spooled(
        tool_payload("X", {"": 1, "a.b": 2, "é\n": 3, '"': 4, "a": None}, {}, tool_use_id="000001")
    ),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_what_is_odd_is_kept_all_the_same(data: bytes, store: StorePaths) -> None:
    put(store, data)
    put(store, read_event(2))
    result = sync(store)
    assert result.rejected == 0, log_text(store)
    assert spool_names(store) == []
    (branch,) = branches(store)
    assert chunk_ids(store, branch) == ["000001", "000002"]
    check_objects(store)
    put(store, read_event(3))
    for cached in store.sessions.glob("*/state.json"):
        cached.unlink()  # so that the tree is read again
    sync(store)
    assert chunk_ids(store, branch) == ["000001", "000002", "000003"]
    assert log_text(store) == ""


def test_an_event_goes_to_the_session_that_its_payload_names(store: StorePaths) -> None:
    put(store, read_event(1, session="aaaa"), session="bbbb")
    put(store, read_event(2, session="bbbb"), session="bbbb")
    put(store, read_event(3, session="cccc"), session="none")
    put(store, read_event(4, session="../d"), session="none")
    sync(store)
    assert spool_names(store) == []
    names = [branch.split("-", 3)[-1] for branch in branches(store)]
    assert sorted(names)[:3] == ["aaaa", "bbbb", "cccc"]
    by_name = dict(zip(names, branches(store), strict=True))
    assert chunk_ids(store, by_name["aaaa"]) == ["000001"]
    assert chunk_ids(store, by_name["bbbb"]) == ["000002"]
    assert chunk_ids(store, by_name["cccc"]) == ["000003"]
    (odd,) = by_name.keys() - {"aaaa", "bbbb", "cccc"}
    assert odd.startswith("x-")
    assert chunk_ids(store, by_name[odd]) == ["000004"]


def test_a_session_that_is_called_none_is_a_session(store: StorePaths) -> None:
    put(store, read_event(1, session="none"), session="none")
    sync(store)
    assert spool_names(store) == []
    assert len(branches(store)) == 1


NAMES: dict[str, str | bytes] = {
    "one word": "event",
    "digits": "123",
    "empty parts": "1...2",
    "another session form": "1767355200.a b.1.2",
    "a dash": "1767355200.-s.1.2",
    "many parts": "1767355200.s.1.2.3.4.5",
    "no number": "x.s.1.2",
    "a huge number": "9" * 30 + ".s.1.2",
    "a line end": "1767355200.s.1\n2.3",
    "a space": "a b",
    "quotes": "\"'$(x)`",
    "long": "1767355200." + "s" * 200 + ".1.2",
    "other letters": "é.ü.ß.日本",
    "no UTF-8": b"1767355200.\xff\xfe.1.2",
    "no UTF-8 at the end": b"1767355200.s.1.\xff",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_may_be_anything(name: str | bytes, store: StorePaths) -> None:
    put(store, GOOD, name=os.fsdecode(name))
    put(store, read_event(2))
    result = sync(store)
    assert result.rejected == 0
    assert spool_names(store) == []
    (branch,) = branches(store)
    assert sorted(chunk_ids(store, branch)) == ["000001", "000002"]
    assert log_text(store) == ""
    events = git(store.root, "show", f"{branch}:.events").splitlines()
    assert len(events) == 2


def test_what_is_no_file_stays_where_it_is(store: StorePaths) -> None:
    (store.spool / "folder").mkdir()
    (store.spool / "link").symlink_to("/etc/hostname")
    os.mkfifo(store.spool / "fifo")
    put(store, GOOD)
    sync(store)
    assert spool_names(store) == ["fifo", "folder", "link"]
    assert len(branches(store)) == 1


def test_an_event_for_whose_name_there_is_another_keeps_both(store: StorePaths) -> None:
    put(store, read_event(1, session="s"), name="17673552000.none.1.2")
    put(store, read_event(2, session="s"), name="17673552000.s.1.2")
    put(store, read_event(3, session="s"), name="17673552000.t.1.2")
    sync(store)
    assert spool_names(store) == []
    (branch,) = branches(store)
    assert sorted(chunk_ids(store, branch)) == ["000001", "000002", "000003"]


def test_a_rejected_event_replaces_no_other(store: StorePaths) -> None:
    for content in (b"first", b"second"):
        put(store, content, name="1.s.1.2")
        sync(store)
    assert rejected(store) == [b"first", b"second"]


def test_an_event_that_goes_while_it_is_looked_at_is_no_trouble(
    store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another sync took it, or gave it the name of its session."""
    paths = [put(store, read_event(number)) for number in range(6)]

    def decode(data: bytes) -> dict[str, object]:
        paths[2].unlink(missing_ok=True)
        if paths[4].exists():
            paths[4].rename(paths[4].with_name("17673552009.other.1.2"))
        return payload_module.decode(data)

    monkeypatch.setattr("ctxgit.actions.sync.decode", decode)
    sync(store)
    monkeypatch.undo()
    sync(store)
    (branch,) = branches(store)
    assert sorted(chunk_ids(store, branch)) == ["000000", "000001", "000003", "000004", "000005"]
    assert [name for name in spool_names(store) if not name.startswith(".")] == []


def test_an_event_that_may_not_be_read_holds_up_no_other(
    store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a session of root's: the file is somebody else's."""
    theirs = put(store, read_event(1))
    put(store, read_event(2))
    put(store, read_event(3, session="other"), session="other")
    unread = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path == theirs:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return unread(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    for _ in range(2):
        with pytest.raises(StoreError, match=rf"{re.escape(str(theirs))}: Permission denied"):
            sync(store)
        assert [name for name in spool_names(store) if not name.startswith(".")] == [theirs.name]
    monkeypatch.undo()
    sync(store)
    assert spool_names(store) == []
    assert sorted(chunk for name in branches(store) for chunk in chunk_ids(store, name)) == [
        "000001",
        "000002",
        "000003",
    ]


@pytest.mark.parametrize("part", ["redact_json", "to_event", "steps"])
def test_an_event_that_meets_a_bug_waits_and_holds_up_no_other(
    part: str, store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        put(store, read_event(number, text="boom" if number == 2 else "fine"))
    real = getattr(sync_module, part)

    def failing(*given: Any, **named: Any) -> Any:
        for value in (*given, *(event for event in given if isinstance(event, list))):
            if "boom" in repr(value):
                raise RuntimeError("boom")
        return real(*given, **named)

    monkeypatch.setattr(sync_module, part, failing)
    with pytest.raises(StoreError, match="RuntimeError"):
        sync(store)
    (branch,) = branches(store)
    assert chunk_ids(store, branch) == ["000000", "000001", "000003", "000004"]
    assert len(spool_names(store)) == 2
    assert rejected(store) == []
    monkeypatch.undo()
    sync(store)
    assert spool_names(store) == []
    assert sorted(chunk_ids(store, branch)) == ["000000", "000001", "000002", "000003", "000004"]


def test_a_large_event_takes_a_bounded_memory(store: StorePaths) -> None:
    """50 MB of the text that Python keeps least well."""
    line = "a\N{GRINNING FACE}b\n"
    output = {"stdout": line * (50_000_000 // len(line.encode())), "stderr": ""}
    data = spooled(tool_payload("Bash", {"command": "cat"}, output, tool_use_id="toolu_000001"))
    put(store, data)
    # A child's peak begins at its parent's size, and this process may be large by now.
    measured = (
        "import resource, subprocess, sys;"
        "subprocess.run([sys.executable, '-m', 'ctxgit', 'sync', '--json'],"
        " stdout=subprocess.DEVNULL, check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", measured],
        cwd=store.root.parent,
        capture_output=True,
        check=True,
        timeout=300,
    )
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 12 * len(data)
    (branch,) = branches(store)
    assert chunk_ids(store, branch) == ["000001"]


def test_a_file_too_large_for_an_event_is_put_aside_unread(store: StorePaths) -> None:
    path = put(store, b"")
    with path.open("r+b") as file:
        file.truncate(sync_module.EVENT_BYTES + 1)  # a hole: it takes no room
    assert sync(store).rejected == 1
    assert spool_names(store) == []
