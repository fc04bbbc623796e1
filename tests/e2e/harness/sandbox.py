"""A room for the client: loopback is its whole network, and nothing outlives it.

Where the kernel allows, the room is made of namespaces of its own for network, processes and
mounts. The mock server is its first process: when that ends, the kernel ends all others.
Elsewhere proxies that lead nowhere stand in for the network namespace, and a mark in the
environment, which children inherit, tells the room's processes from others.
"""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self

from harness.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAMESPACES = ("--net", "--pid", "--mount")
MARK = "CTXGIT_E2E_ROOM"
NOWHERE = "http://127.0.0.1:9"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
GRACE_S = 5.0


class Sandbox:
    """The mock server and the room around it; a context manager."""

    def __init__(self, folder: Path) -> None:
        """Start the server on ``folder`` (see ``mock_api``); return when it listens."""
        self._mark = str(folder)
        self._user = namespace_options()
        inside = [sys.executable, "-m", "harness.mock_api", str(folder)]
        if self._user is not None:
            unshare = ["unshare", *NAMESPACES, *self._user, "--fork", "--kill-child"]
            inside = [*unshare, "--mount-proc", *inside, "--own-network"]
        self._server = subprocess.Popen(
            inside,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        assert self._server.stdout is not None
        first_line = self._server.stdout.readline()
        if not first_line:
            raise ChildProcessError("the mock server ended before it listened; see above")
        self.port = int(first_line)
        self._first = self._first_process()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def confined(self) -> bool:
        """Whether the room has namespaces of its own."""
        return self._user is not None

    def command(
        self, arguments: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> list[str]:
        """Return the command line that runs ``arguments`` in the room.

        The program gets ``environment`` and nothing else, and starts in ``folder``.
        """
        whole = {**environment, MARK: self._mark}
        if not self.confined:
            whole |= dict.fromkeys(PROXIES, NOWHERE) | {"NO_PROXY": "127.0.0.1"}
        assignments = [f"{name}={value}" for name, value in whole.items()]
        return [*self._enter(), "env", "-i", f"--chdir={folder}", *assignments, *arguments]

    def processes(self) -> dict[int, str]:
        """Return the room's processes but the server: command line by process id."""
        mine = self._in_namespace if self.confined else self._is_marked
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and mine(entry):
                command = _read(entry / "cmdline").replace("\0", " ").strip()
                if command:  # a zombie has none
                    found[int(entry.name)] = command
        return found

    def close(self) -> None:
        """End everything in the room. May be called twice."""
        if not self.confined:
            for signum in (signal.SIGTERM, signal.SIGKILL):
                self._end_marked(signum)
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(GRACE_S)
        self._server.stdout.close()

    def _enter(self) -> list[str]:
        if not self.confined:
            return []
        user = ["--user", "--preserve-credentials"] if self._user else []
        return ["nsenter", f"--target={self._first}", *NAMESPACES, *user, "--"]

    def _first_process(self) -> int:
        """Return the server's process id: ``unshare`` is its parent and has no other child."""
        if not self.confined:
            return self._server.pid
        parent = self._server.pid
        return int(Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii"))

    def _in_namespace(self, entry: Path) -> bool:
        first = Path(f"/proc/{self._first}/ns/pid")
        try:
            same = (entry / "ns/pid").readlink() == first.readlink()
        except OSError:  # it ended meanwhile, or is somebody else's
            return False
        return same and int(entry.name) != self._first

    def _is_marked(self, entry: Path) -> bool:
        return f"{MARK}={self._mark}\0" in _read(entry / "environ")

    def _end_marked(self, signum: signal.Signals) -> None:
        for pid in self.processes():
            try:
                os.kill(pid, signum)
            except ProcessLookupError:
                continue
        eventually(lambda: not self.processes(), GRACE_S)


@functools.cache
def namespace_options() -> tuple[str, ...] | None:
    """Return what ``unshare`` needs for our namespaces, None where they are not allowed."""
    for user in ((), ("--user", "--map-root-user")):
        probe = ["unshare", *NAMESPACES, *user, "--fork", "--kill-child", "--mount-proc", "true"]
        try:
            done = subprocess.run(probe, capture_output=True, check=False)
        except FileNotFoundError:
            return None
        if done.returncode == 0:
            return user
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # the process ended meanwhile, or is somebody else's
        return ""
