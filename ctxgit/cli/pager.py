"""Long output through a pager, chosen as git chooses it.

The store's and the project's configuration have no say: they may come from elsewhere, and a
pager is a program.
"""

from __future__ import annotations

import io
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TextIO

DEFAULT = "less"
ENVIRONMENT = {"LESS": "FRX", "LV": "-c"}
"""git's defaults: colours shown, the screen left as it is, no stop for what fits on it."""
SHELL_CHARACTERS = frozenset("|&;<>()$`\\*?[#~=%\n")
NONE = ("", "cat")
allowed = True
"""False after ``--no-pager``."""


def forbid() -> None:
    """Let no output of this process go through a pager."""
    global allowed  # noqa: PLW0603 - an option of the whole process
    allowed = False


@contextmanager
def paged() -> Iterator[None]:
    """Send what the block prints through the pager, if a person looks.

    Colours and width are the terminal's, as without it. When the pager ends early, so does
    the block, and that is no error.
    """
    process = _start() if allowed and sys.stdout.isatty() else None
    if process is None or process.stdin is None:
        yield
        return
    terminal = sys.stdout
    sys.stdout = _Terminal(process.stdin, terminal)
    try:
        with suppress(BrokenPipeError):
            yield
    finally:
        with suppress(BrokenPipeError):
            sys.stdout.close()
        sys.stdout = terminal
        _wait_for(process)


def command() -> str:
    """Return the pager that is wished for, empty for none.

    ``CTX_PAGER``, else ``GIT_PAGER``, ``core.pager`` of the user's git, ``PAGER``, ``less``.
    """
    for name in ("CTX_PAGER", "GIT_PAGER"):
        if name in os.environ:
            return _wished(os.environ[name])
    configured = _configured()
    if configured is not None:
        return _wished(configured)
    return _wished(os.environ.get("PAGER", DEFAULT))


def _wished(words: str) -> str:
    return "" if words.strip() in NONE else words


def _configured() -> str | None:
    """Return ``core.pager`` of the user's own git configuration."""
    with suppress(OSError):
        asked = ("git", "config", "--global", "--includes", "core.pager")
        done = subprocess.run(asked, capture_output=True, cwd=os.sep, check=False)
        if done.returncode == 0:
            return done.stdout.decode("utf-8", "replace").rstrip("\n")
    return None


def _start() -> subprocess.Popen[bytes] | None:
    wished = command()
    if not wished:
        return None
    environment = {**ENVIRONMENT, **os.environ}
    with suppress(OSError):  # it is not there: better no pager than no output
        return subprocess.Popen(_words(wished), stdin=subprocess.PIPE, env=environment)
    return None


def _words(wished: str) -> Sequence[str]:
    """Return the words to run; the shell takes them apart where it must."""
    with suppress(ValueError):  # a quote that nobody closed: the shell says so
        if not SHELL_CHARACTERS.intersection(wished):
            return shlex.split(wished)
    return ["sh", "-c", wished]


def _wait_for(process: subprocess.Popen[bytes]) -> None:
    """Wait until the person has read enough; Ctrl-C is for the pager until then."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.wait()
    finally:
        signal.signal(signal.SIGINT, before)


class _Terminal(io.TextIOWrapper):
    """What goes to the pager, and so to the terminal that it shows."""

    def __init__(self, pipe: IO[bytes], terminal: TextIO) -> None:
        super().__init__(
            pipe,
            encoding=terminal.encoding,
            errors=terminal.errors,
        )

    def isatty(self) -> bool:
        return True
