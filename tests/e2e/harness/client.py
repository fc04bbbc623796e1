"""The client in a world of its own: home, settings, project, terminal and model.

with Client(files={"a.txt": "alpha\\n"}, plugins=[plugin]) as client:
    client.play({"Read it": [use("Read", file_path=f"{client.project}/a.txt"), Step("ok")]})
    assert client.prompt("Read it, please").text == "ok"      # claude -p
    client.open()                                             # interactive
    client.type("Read it again")
    client.wait("ok")
    assert "alpha" in model_text(client.requests()[-1])       # what the model saw
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from harness.mock_api import PLAYBOOK, REQUESTS
from harness.require import VERSION, client_binary
from harness.sandbox import Sandbox
from harness.script import DEFAULT, SUMMARY, TITLE, Json, Playbook, Step, model_text
from harness.terminal import Terminal
from harness.waiting import DEADLINE_S, eventually

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.script import Kind

__all__ = ["Answer", "Client", "model_text"]

PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
"""The input box begins with it."""
KEY = "a-key-that-opens-nothing"
TASK_TOOLS = {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1", "ENABLE_TOOL_SEARCH": "0"}
"""Newer models get TaskCreate and its like only on demand, and behind ToolSearch."""
_APPROVED_TAIL = 20
"""The client remembers an approved key by its last characters."""


@dataclass(frozen=True)
class Answer:
    """How a headless run ended: its last text, its session, and its whole event stream."""

    text: str
    session: str
    exit_code: int
    events: tuple[Json, ...]
    errors: str


class Client:
    """One isolated client with its model; a context manager.

    ``root`` holds ``home``, ``config`` (CLAUDE_CONFIG_DIR), ``project`` (a git repository
    with one commit of ``files``, unless ``git`` is false) and ``tmp``; it goes away at the
    end, and so does every process that was started here. ``plugins`` are folders loaded
    with ``--plugin-dir``; ``task_tools`` offers TaskCreate, TaskUpdate and their like;
    ``env`` adds to the environment, which takes only PATH from the caller's.
    """

    def __init__(
        self,
        *,
        files: Mapping[str, str] | None = None,
        plugins: Sequence[Path] = (),
        task_tools: bool = False,
        env: Mapping[str, str] | None = None,
        git: bool = True,
    ) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="ctxgit-e2e-")).resolve()
        self.home = self.root / "home"
        self.config = self.home / ".claude"
        self.project = self.root / "project"
        self.tmp = self.root / "tmp"
        self.plugins = tuple(plugins)
        self._api = self.root / "api"
        for folder in (self.config, self.project, self.tmp, self._api):
            folder.mkdir(parents=True)
        self._playbook = Playbook()
        self._playbook.save(self._api / PLAYBOOK)
        self._sandbox = Sandbox(self._api)
        self._env = self._environment(TASK_TOOLS if task_tools else {}, env or {})
        self._terminal = Terminal(self.root / "tmux", self._inside)
        self._settle_in()
        for path, text in (files or {}).items():
            self.write(path, text)
        if git:
            self._commit_project()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all that was started and remove all that was written."""
        self._sandbox.close()
        shutil.rmtree(self.root, ignore_errors=True)

    # --- the model

    def play(self, scripts: Mapping[str, Sequence[Step | str]]) -> None:
        """Give the model its scripts, by key (see ``script``); a string is a last word."""
        steps = {
            key: tuple(Step(step) if isinstance(step, str) else step for step in script)
            for key, script in scripts.items()
        }
        self._set(replace(self._playbook, scripts=steps))

    def answer(self, *, compact: str = SUMMARY, title: str = TITLE, default: str = DEFAULT) -> None:
        """Set what the model says to a compaction, to a title request, outside any script."""
        self._set(replace(self._playbook, compact=compact, title=title, default=default))

    def requests(self, kind: Kind | None = "main") -> list[Json]:
        """Return the bodies of the model's requests so far; of every kind with None."""
        try:
            lines = (self._api / REQUESTS).read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        records = [json.loads(line) for line in lines]
        return [record["body"] for record in records if kind in (None, record["kind"])]

    # --- the world

    def write(self, path: str, text: str) -> Path:
        """Write a file of the project, folders included."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def run(
        self, *command: str, stdin: str = "", seconds: float = 120, within: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run any program where the client runs, in the project or ``within`` another folder."""
        return subprocess.run(
            self._inside(command, within),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )

    def processes(self) -> dict[int, str]:
        """Return what runs in this world: command line by process id."""
        return self._sandbox.processes()

    def settle(self, seconds: float = DEADLINE_S) -> None:
        """Return once nothing runs any more: detached children of hooks have ended.

        Raises TimeoutError, naming what still runs.
        """
        if not eventually(lambda: not self.processes(), seconds):
            message = f"still running after {seconds} s: {self.processes()}"
            raise TimeoutError(message)

    @property
    def confined(self) -> bool:
        """Whether the client has a network of its own, with nothing in it but the model."""
        return self._sandbox.confined

    # --- the client, headless

    def claude(
        self, *arguments: str, seconds: float = 120, within: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the client with these arguments and no others, e.g. ``plugin validate``."""
        return self.run(str(client_binary()), *arguments, seconds=seconds, within=within)

    def prompt(
        self, text: str, *arguments: str, seconds: float = 120, within: Path | None = None
    ) -> Answer:
        """Ask one thing (``claude -p``), with the plugins, any tool allowed."""
        stream = ("--output-format", "stream-json", "--verbose")
        words = (*self._options(), *stream, *arguments, "-p", text)
        done = self.claude(*words, seconds=seconds, within=within)
        events = tuple(json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{")
        results: list[Json] = [event for event in events if event.get("type") == "result"]
        last: Json = results[-1] if results else {}
        return Answer(
            text=last.get("result", ""),
            session=last.get("session_id", ""),
            exit_code=done.returncode,
            events=events,
            errors=done.stderr,
        )

    # --- the client, interactive

    def open(self, *arguments: str) -> None:
        """Start the client in a terminal; return when it waits for input."""
        self._terminal.close()
        self._terminal.open([str(client_binary()), *self._options(), *arguments])
        self.wait(PROMPT)

    def type(self, text: str) -> None:
        """Type ``text`` and press Enter."""
        self._terminal.type(text)

    def keys(self, *names: str) -> None:
        """Press keys by tmux's names: ``Enter``, ``Escape``, ``C-c``, ``Up``."""
        self._terminal.keys(*names)

    def screen(self) -> str:
        """Return what is on the screen, as text."""
        return self._terminal.screen()

    def wait(self, pattern: str, seconds: float = DEADLINE_S) -> str:
        """Return the screen once it matches ``pattern``; raise TimeoutError, screen shown."""
        return self._terminal.wait(pattern, seconds)

    def leave(self) -> None:
        """Leave the client with ``/exit`` and close the terminal."""
        self.type("/exit")
        self._terminal.wait_for_end()
        self._terminal.close()

    # --- inside

    def _options(self) -> list[str]:
        folders = [word for path in self.plugins for word in ("--plugin-dir", str(path))]
        return [*folders, "--permission-mode", "bypassPermissions"]

    def _inside(self, command: Sequence[str], within: Path | None = None) -> list[str]:
        return self._sandbox.command(command, self._env, within or self.project)

    def _set(self, playbook: Playbook) -> None:
        self._playbook = playbook
        playbook.save(self._api / PLAYBOOK)

    def _environment(self, *more: Mapping[str, str]) -> dict[str, str]:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {
            "PATH": path,
            "HOME": str(self.home),
            "SHELL": "/bin/sh",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TMPDIR": str(self.tmp),
            "GIT_CONFIG_NOSYSTEM": "1",
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CLAUDE_CODE_TMPDIR": str(self.tmp),
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self._sandbox.port}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # or it refuses bypassPermissions to root
        }
        for extra in more:
            environment |= extra
        return environment

    def _settle_in(self) -> None:
        """Answer in advance what the client asks at its first start and in a new folder."""
        project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        state: dict[str, Any] = {
            "hasCompletedOnboarding": True,
            "lastOnboardingVersion": VERSION,
            "customApiKeyResponses": {"approved": [KEY[-_APPROVED_TAIL:]], "rejected": []},
            "projects": {str(self.project): project},
        }
        settings = {"theme": "dark", "skipDangerousModePermissionPrompt": True}
        (self.config / ".claude.json").write_text(json.dumps(state), encoding="utf-8")
        (self.config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        identity = "[user]\n\tname = A Person\n\temail = person@example.invalid\n"
        (self.home / ".gitconfig").write_text(identity, encoding="utf-8")

    def _commit_project(self) -> None:
        for arguments in (
            ["init", "--quiet", "--initial-branch=main"],
            ["add", "--all"],
            ["commit", "--quiet", "--allow-empty", "--message=Start"],
        ):
            self.run("git", *arguments).check_returncode()
