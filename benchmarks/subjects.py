"""The processes that are timed, each with the store it works on.

Each function returns how one command is made anew for every round, and how its output is
checked: a figure counts only when the work was done.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import corpus
from recording import Client, Payload, Writer, fill, import_command, spool, tidy
from stores import Place
from timer import Command, Subject

from ctxgit.actions.sync import sync
from ctxgit.paths import StorePaths

KILOBYTE = 1024
LOG_LINES = 50
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
"""The interpreter itself: no shim, no virtual environment."""
LEAST_STREAM = b"""\
commit refs/heads/least
committer ctxgit <ctx@ctxgit.invalid> 1767600000 +0000
data 6
least
M 100644 inline file
data 6
least

done
"""


def python_start(place: Place) -> Subject:
    """P: the interpreter starts and ends."""
    command = Command(
        argv=(PYTHON, "-I", "-S", "-c", "pass"),
        environment=place.environment,
        directory=place.work,
    )
    return Subject(prepare=lambda: command, check=_is_silent)


def least_import(place: Place) -> Subject:
    """F: git takes in one blob and one commit, into a repository that holds nothing else."""
    project, store = place.project("least")
    command = Command(
        argv=import_command(store),
        environment=place.environment,
        directory=project,
        stdin=LEAST_STREAM,
    )

    def prepare() -> Command:
        (store.git_dir / "refs" / "heads" / "least").unlink(missing_ok=True)
        for pack in (store.git_dir / "objects" / "pack").iterdir():
            pack.unlink()
        return command

    return Subject(prepare=prepare, check=_is_silent)


# --- hooks --------------------------------------------------------------------------------


def post_tool_use(size: int, place: Place) -> Subject:
    """Keep a tool result of ``size`` bytes in the spool."""
    project, store = place.project(f"hook-{size}")
    command = _hook(place, project, Client(project, 0).result(0, "0", corpus.page(0, size)))

    def prepare() -> Command:
        for path in store.spool.iterdir():
            path.unlink()
        return command

    def check(output: bytes) -> None:
        _is_silent(output)
        (kept,) = (path for path in store.spool.iterdir() if path.name[0] != ".")
        if kept.read_bytes() != command.stdin:
            raise AssertionError("the event was not kept")

    return Subject(prepare=prepare, check=check)


def stop(place: Place) -> Subject:
    """End an answer: the event is kept, and a sync started that nobody waits for."""
    project, store, client = _short_session(place, "stop")
    command = _hook(place, project, client.stop(0))

    def check(output: bytes) -> None:
        _is_silent(output)
        _is_drained(store)

    return Subject(prepare=lambda: command, check=check)


def session_start(place: Place) -> Subject:
    """Start a session: the recap that lies ready is told, then a sync started."""
    project, store, client = _short_session(place, "session-start")
    command = _hook(place, project, client.start())

    def check(output: bytes) -> None:
        if "ctxgit-recap" not in json.loads(output)["hookSpecificOutput"]["additionalContext"]:
            raise AssertionError("no recap was told")
        _is_drained(store)

    return Subject(prepare=lambda: command, check=check)


def _hook(place: Place, project: Path, payload: Payload) -> Command:
    listed = json.loads((place.plugin / "hooks" / "hooks.json").read_text())["hooks"]
    ((entry,),) = (each["hooks"] for each in listed[payload["hook_event_name"]])
    return Command(
        argv=("/bin/sh", "-c", entry["command"]),
        environment={
            **place.environment,
            "CLAUDE_PLUGIN_ROOT": str(place.plugin),
            "CLAUDE_PLUGIN_DATA": str(place.work / "plugin-data"),
            "CLAUDE_PROJECT_DIR": str(project),
            "CLAUDE_CODE_SESSION_ID": str(payload["session_id"]),
            "CLAUDE_PID": "4242",
        },
        directory=project,
        stdin=json.dumps(payload).encode(),
    )


# --- sync ---------------------------------------------------------------------------------


def sync_by_hand(place: Place) -> Subject:
    """Run ``ctx sync`` on one result."""
    _, store, client = _short_session(place, "sync")
    return _sync(place, store, client, (str(place.ctx), "sync"))


def sync_detached(place: Place) -> Subject:
    """Run what a hook starts on one result, to its end."""
    _, store, client = _short_session(place, "sync-detached")
    start = (str(place.python), "-I", "-S", str(place.plugin / "hooks" / "boot.py"))
    verb = (str(place.record), "sync", str(store.root), client.session)
    return _sync(place, store, client, (*start, *verb))


def _sync(place: Place, store: StorePaths, client: Client, argv: tuple[str, ...]) -> Subject:
    numbers = itertools.count(1_000)

    def prepare() -> Command:
        tidy(store)
        number = next(numbers)
        spool(store, [client.result(0, str(number), corpus.page(number))])
        return Command(argv=argv, environment=place.environment, directory=client.project)

    def check(output: bytes) -> None:
        if output and b"1 result," not in output:
            raise AssertionError(output)
        _is_drained(store)

    return Subject(prepare=prepare, check=check)


def commit(results: int, chunks: int, place: Place) -> Subject:
    """Run the git part of a sync of ``results`` new chunks into a store of ``chunks``.

    One result goes into the turn that is open; more are a turn of their own.
    """
    project, store = store_of(place, chunks)
    writer = Writer.at(store, Client(project, 0 if results == 1 else 1))
    state = writer.branch.state
    if state is None:
        raise AssertionError(f"there are no sessions in {store.root}")
    numbers = itertools.count(chunks + state.session.chunks * 1_000)
    turns = itertools.count(state.current_turn)
    planned = []

    def prepare() -> Command:
        tidy(store)
        named = [(str(each), corpus.page(each)) for each in itertools.islice(numbers, results)]
        if results == 1:
            payloads = [writer.client.result(state.current_turn - 1, *named[0])]
        else:
            payloads = writer.client.turn(next(turns), named)
        step, data = writer.planned(payloads)
        planned.append(step)
        return Command(
            argv=import_command(store),
            environment=place.environment,
            directory=project,
            stdin=data,
        )

    def check(output: bytes) -> None:
        writer.moved(planned.pop(), output.decode().strip())

    return Subject(prepare=prepare, check=check)


def store_of(place: Place, chunks: int) -> tuple[Path, StorePaths]:
    """Return a store of ``chunks`` chunks: sessions of fifty turns of twenty.

    When quick, a tenth of the turns.
    """
    sessions, turns = chunks // 1_000, 5 if place.quick else 50

    def make(project: Path, store: StorePaths) -> None:
        fill(store, project, corpus.page, sessions=sessions, turns=turns, results=20)

    return place.kept(f"store-{chunks}", make)


# --- looking ------------------------------------------------------------------------------


def status(place: Place) -> Subject:
    """Run ``ctx status --json`` in a store of one short session."""
    project, _, client = _short_session(place, "status")

    def check(output: bytes) -> None:
        if json.loads(output)["data"]["session"]["id"] != client.session:
            raise AssertionError("another session was shown")

    return _look(place, project, ("status", "--json"), check)


def log_json(place: Place) -> Subject:
    """Run ``ctx log --json`` in a store of many sessions."""

    def check(output: bytes) -> None:
        if len(json.loads(output)["data"]["commits"]) != LOG_LINES:
            raise AssertionError("not all commits were listed")

    return _look(place, long_history(place), ("log", "--json"), check)


def log_drawn(place: Place) -> Subject:
    """Run ``ctx log`` there, drawn on a terminal."""

    def check(output: bytes) -> None:
        if output.count("│ ".encode()) < LOG_LINES:
            raise AssertionError("not all commits were drawn")

    return _look(place, long_history(place), ("log",), check, on_terminal=True)


def long_history(place: Place) -> Path:
    """Return a project of 10,000 commits in 2,000 sessions; a tenth of both when quick."""

    def make(project: Path, store: StorePaths) -> None:
        sessions = 200 if place.quick else 2_000
        fill(store, project, corpus.page, sessions=sessions, turns=5, results=2)

    return place.kept("history", make)[0]


def _look(
    place: Place,
    project: Path,
    words: tuple[str, ...],
    check: Callable[[bytes], None],
    *,
    on_terminal: bool = False,
) -> Subject:
    command = Command(
        argv=(str(place.ctx), *words),
        environment=place.environment,
        directory=project,
        on_terminal=on_terminal,
    )
    return Subject(prepare=lambda: command, check=check)


# --- what several need ----------------------------------------------------------------------


def _short_session(place: Place, name: str) -> tuple[Path, StorePaths, Client]:
    """Return a new store with a session of one turn, as a sync leaves it."""
    project, store = place.project(name)
    client = Client(project, 0)
    named = [(str(number), corpus.page(number)) for number in range(8)]
    spool(store, [client.start(), *client.turn(0, named)])
    sync(store)
    return project, store, client


def _is_drained(store: StorePaths) -> None:
    if left := list(store.spool.iterdir()):
        raise AssertionError(f"not all events were taken in: {left}")


def _is_silent(output: bytes) -> None:
    if output:
        raise AssertionError(f"nothing was to be printed: {output!r}")


SUBJECTS: Mapping[str, Callable[[Place], Subject]] = {
    "P": python_start,
    "F": least_import,
    "hook 4 KB": partial(post_tool_use, 4 * KILOBYTE),
    "hook 100 KB": partial(post_tool_use, 100 * KILOBYTE),
    "hook 2 MB": partial(post_tool_use, 2048 * KILOBYTE),
    "stop": stop,
    "session start": session_start,
    "commit 1 into 10,000": partial(commit, 1, 10_000),
    "commit 100 into 10,000": partial(commit, 100, 10_000),
    "commit 1 into 100,000": partial(commit, 1, 100_000),
    "commit 100 into 100,000": partial(commit, 100, 100_000),
    "sync": sync_by_hand,
    "sync detached": sync_detached,
    "status": status,
    "log json": log_json,
    "log drawn": log_drawn,
}
