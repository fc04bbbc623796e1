"""The screen and keyboard of an interactive session: a tmux server of its own."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import TYPE_CHECKING

from harness.waiting import DEADLINE_S, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

WIDTH = 150
HEIGHT = 50
_ENDED = "the program has ended"
_ECHO = 24
"""How much of a typed text's end must be in the input box before Enter is pressed."""
_RULE = re.compile(r"^─{20,}.*$", re.MULTILINE)


class Terminal:
    """One program in one window. ``enter`` turns a command line into one that runs there."""

    def __init__(self, socket: Path, enter: Callable[[Sequence[str]], list[str]]) -> None:
        self._socket = socket
        self._enter = enter

    def open(self, command: Sequence[str]) -> None:
        """Start ``command``; the window stays after its end, so that the screen can be read."""
        line = f"{shlex.join(command)}; printf '\\n{_ENDED}'; exec cat"
        size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
        start = ["tmux", "-S", str(self._socket), "-f", "/dev/null", "new-session", "-d", *size]
        subprocess.run(self._enter([*start, line]), check=True)

    def close(self) -> None:
        """End the window and what runs in it."""
        self._tmux("kill-server", check=False)

    def screen(self) -> str:
        """Return what is on the screen, as text."""
        return self._tmux("capture-pane", "-p")

    def wait(self, pattern: str, seconds: float = DEADLINE_S) -> str:
        """Return the screen once it matches ``pattern``; raise TimeoutError after ``seconds``."""
        if not eventually(lambda: re.search(pattern, self.screen()), seconds):
            message = f"no {pattern!r} after {seconds} s on the screen:\n{self.screen()}"
            raise TimeoutError(message)
        return self.screen()

    def type(self, text: str) -> None:
        """Type ``text``, see it in the input box, press Enter."""
        self._tmux("send-keys", "-l", text)
        end = _squeezed(text)[-_ECHO:]
        if not eventually(lambda: end in _squeezed(input_box(self.screen()))):
            message = f"{text!r} was typed, but is not in the input box:\n{self.screen()}"
            raise TimeoutError(message)
        self.keys("Enter")

    def keys(self, *names: str) -> None:
        """Press keys by tmux's names: ``Enter``, ``Escape``, ``C-c``, ``Up``."""
        self._tmux("send-keys", *names)

    def wait_for_end(self, seconds: float = DEADLINE_S) -> None:
        """Return once the program has ended by itself."""
        self.wait(_ENDED, seconds)

    def _tmux(self, *arguments: str, check: bool = True) -> str:
        command = ["tmux", "-S", str(self._socket), *arguments]
        return subprocess.run(command, check=check, capture_output=True, text=True).stdout


def input_box(screen: str) -> str:
    """Return what stands between the last two rules of the screen, where one types.

    A dialog has no such box: then the whole screen counts.
    """
    parts = _RULE.split(screen)
    return parts[-2] if len(parts) > 2 else screen


def _squeezed(text: str) -> str:
    """Return ``text`` without blanks, so that a wrapped line compares equal."""
    return re.sub(r"\s+", "", text)
