"""Timing whole processes in rounds, so that a busy machine slows all of them alike.

A round runs every command once, and the order is rotated from round to round. A figure is
computed within each round; its median over the rounds is what counts.
"""

from __future__ import annotations

import fcntl
import os
import struct
import tempfile
import termios
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

LIFELINE = 9
"""A descriptor that a process and all it leaves behind hold open, so that their end shows."""
ROWS, COLUMNS = 40, 120

Round = Mapping[str, float]
"""Seconds that each command took in one round."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A process to run.

    ``stdin`` reaches it through a pipe, as a payload does from the client. With
    ``on_terminal`` it has a terminal instead, whose output is read as it is drawn.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    directory: Path
    stdin: bytes = b""
    on_terminal: bool = False


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is timed: the command that ``prepare`` makes anew for each round.

    ``check`` gets its output and raises where the work was not done. Neither is timed.
    """

    prepare: Callable[[], Command]
    check: Callable[[bytes], None]


def interleave(
    subjects: Mapping[str, Subject], *, rounds: int, tell: Callable[[int], None], warm_up: int = 2
) -> list[Round]:
    """Return the times of ``rounds`` rounds; ``tell`` hears how many are done.

    Raises RuntimeError when a command fails, and what ``check`` raises.
    """
    names = list(subjects)
    done: list[Round] = []
    for number in range(-warm_up, rounds):
        tell(max(number, 0))
        first = number % len(names)
        times = {}
        for name in names[first:] + names[:first]:
            times[name], output = run(subjects[name].prepare())
            subjects[name].check(output)
        if number >= 0:
            done.append(times)
    return done


def tenths(figures: list[float]) -> tuple[float, float]:
    """Return the bounds of the lowest and the highest tenth."""
    cuts = quantiles(figures, n=10, method="inclusive")
    return cuts[0], cuts[-1]


def run(command: Command) -> tuple[float, bytes]:
    """Return the seconds a command took until its exit, and what it printed.

    Comes back when all it started in the background has ended too. Raises RuntimeError
    with its last words when it fails.
    """
    os.chdir(command.directory)  # posix_spawn has no folder to start in
    alive, lifeline = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        actions = [
            (os.POSIX_SPAWN_DUP2, lifeline, LIFELINE),
            (os.POSIX_SPAWN_DUP2, out.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, errors.fileno(), 2),
        ]
        timed = _on_terminal if command.on_terminal else _with_pipe
        try:
            seconds, exit_code, drawn = timed(command, actions)
        finally:
            os.close(lifeline)
        with os.fdopen(alive, "rb") as descendants:
            descendants.read()
        out.seek(0)
        errors.seek(0)
        if exit_code:
            said = errors.read().decode(errors="replace") or drawn.decode(errors="replace")
            raise RuntimeError(f"{' '.join(command.argv)} ended with {exit_code}: {said}")
        return seconds, drawn or out.read()


_Actions = list[tuple[int, int, int]]
_Timed = tuple[float, int, bytes]


def _with_pipe(command: Command, actions: _Actions) -> _Timed:
    reader, writer = os.pipe()
    begin = time.perf_counter()
    process = _spawn(command, [*actions, (os.POSIX_SPAWN_DUP2, reader, 0)])
    os.close(reader)
    with suppress(BrokenPipeError), os.fdopen(writer, "wb", buffering=0) as pipe:
        left = memoryview(command.stdin)
        while left:
            left = left[pipe.write(left) :]
    _, status, _ = os.wait4(process, 0)
    return time.perf_counter() - begin, os.waitstatus_to_exitcode(status), b""


def _on_terminal(command: Command, actions: _Actions) -> _Timed:
    primary, secondary = os.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    terminal = [(os.POSIX_SPAWN_DUP2, secondary, descriptor) for descriptor in (0, 1, 2)]
    begin = time.perf_counter()
    process = _spawn(command, [*actions, *terminal])
    os.close(secondary)
    drawn = b""
    with suppress(OSError):  # the last writer has closed it
        while piece := os.read(primary, 65536):
            drawn += piece
    _, status, _ = os.wait4(process, 0)
    seconds = time.perf_counter() - begin
    os.close(primary)
    return seconds, os.waitstatus_to_exitcode(status), drawn


def _spawn(command: Command, actions: _Actions) -> int:
    program, *_ = command.argv
    return os.posix_spawnp(
        program, list(command.argv), dict(command.environment), file_actions=actions
    )
