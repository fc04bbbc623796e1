"""A session as the client tells it: payloads, and the same put into a store at once."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from corpus import Page

from ctxgit.claude.payload import to_event
from ctxgit.fold import steps
from ctxgit.model import Event, Step
from ctxgit.paths import StorePaths
from ctxgit.records import replace
from ctxgit.store import commits, index, layout, maintenance, sessions
from ctxgit.store.stream import FAST_IMPORT, stream

FIRST_START = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
BETWEEN_EVENTS = timedelta(seconds=3)
PACKS = 50
"""The product's own default for its maintenance."""
CLIENT_PID = "4242"
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PROMPTS = (
    "Fix the redirect after login and add a test for it",
    "Why does the build fail on the second machine?",
    "Rename the settings module and everything that imports it",
    "Go on with what is left of the list",
)

Payload = dict[str, object]


@dataclass(frozen=True)
class Client:
    """Makes the payloads of one session in ``project``, the ``number``-th of its store."""

    project: Path
    number: int

    @property
    def session(self) -> str:
        """The session's id."""
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"session {self.number}"))

    def start(self) -> Payload:
        """Return the payload with which the session begins."""
        return self._payload("SessionStart", source="startup", model="claude-opus")

    def prompt(self, turn: int) -> Payload:
        """Return the payload of a person's prompt."""
        return self._payload("UserPromptSubmit", turn, prompt=PROMPTS[turn % len(PROMPTS)])

    def result(self, turn: int, name: str, page: Page) -> Payload:
        """Return the payload of a page that was read; ``name`` makes the call's id."""
        path = f"{self.project}/{page.path}"
        lines = page.text.count("\n") + 1
        return self._payload(
            "PostToolUse",
            turn,
            tool_name="Read",
            tool_input={"file_path": path},
            tool_response={
                "type": "text",
                "file": {
                    "filePath": path,
                    "content": page.text,
                    "numLines": lines,
                    "startLine": 1,
                    "totalLines": lines,
                },
            },
            tool_use_id=f"toolu_{_base62(f'{self.session} {name}')}",
            duration_ms=12,
        )

    def stop(self, turn: int) -> Payload:
        """Return the payload of an answer's end."""
        said = "The redirect keeps its target now, and a test shows it."
        return self._payload("Stop", turn, last_assistant_message=said)

    def turn(self, number: int, results: Iterable[tuple[str, Page]]) -> list[Payload]:
        """Return the payloads of a whole turn: a prompt, its results, the answer's end."""
        read = [self.result(number, name, page) for name, page in results]
        return [self.prompt(number), *read, self.stop(number)]

    def _payload(self, event: str, turn: int | None = None, **fields: object) -> Payload:
        payload: Payload = {
            "session_id": self.session,
            "transcript_path": f"{self.project.parent}/transcripts/{self.session}.jsonl",
            "cwd": str(self.project),
            "hook_event_name": event,
        }
        if turn is not None:
            payload["prompt_id"] = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.session} {turn}"))
            payload |= {"permission_mode": "default", "effort": {"level": "medium"}}
        return payload | fields


def spool(store: StorePaths, payloads: Iterable[Payload]) -> None:
    """Put payloads into the spool as the hooks do."""
    for payload in payloads:
        name = f"{time.time_ns()}.{payload['session_id']}.{CLIENT_PID}.1"
        (store.spool / name).write_bytes(json.dumps(payload).encode())


@dataclass
class Writer:
    """Puts payloads into a store by the code that a sync uses, without spool and redaction."""

    store: StorePaths
    client: Client
    branch: sessions.Branch
    clock: datetime

    @classmethod
    def at(cls, store: StorePaths, client: Client) -> Writer:
        """Return the writer that goes on with the client's session."""
        begun = FIRST_START + timedelta(hours=client.number)
        branch = sessions.load(store, client.session, started_at=begun)
        clock = branch.state.session.updated_at if branch.state else begun
        return cls(store, client, branch, clock)

    def add(self, payloads: Sequence[Payload]) -> None:
        """Commit ``payloads`` and put what they add into the index."""
        events = self._events(payloads)
        known = len(self.branch.state.chunks) if self.branch.state else 0
        folded = list(steps(self.branch.state, events))
        names = [event.id for event in events]
        self.branch, _ = sessions.add(self.store, self.branch, folded, names)
        chunks = list(folded[-1].after.chunks.values())[known:]
        with index.opened(self.store) as opened:
            opened.put(self.branch, chunks)

    def planned(self, payloads: Sequence[Payload]) -> tuple[Step, bytes]:
        """Return the last step and the stream that commits ``payloads``."""
        events = self._events(payloads)
        folded = list(steps(self.branch.state, events))
        planned = commits.plan(
            folded,
            session_name=self.branch.name,
            events=[event.id for event in events],
            trees={layout.KNOWLEDGE: self.branch.knowledge} if self.branch.knowledge else {},
        )
        return folded[-1], b"".join(stream(self.branch.ref, self.branch.tip or None, planned))

    def moved(self, step: Step, tip: str) -> None:
        """Take over what a stream from ``planned`` has made of the branch."""
        self.branch = replace(self.branch, tip=tip, state=step.after)

    def _events(self, payloads: Iterable[Payload]) -> list[Event]:
        events = []
        for payload in payloads:
            self.clock += BETWEEN_EVENTS
            stamp = uuid.uuid5(uuid.NAMESPACE_OID, self.clock.isoformat())
            name = f"{stamp}.{self.client.session}.{CLIENT_PID}.{stamp.int % 30_000}"
            event = to_event(payload, id=name, at=self.clock, client_pid=CLIENT_PID)
            if event is not None:
                events.append(event)
        return events


def import_command(store: StorePaths) -> tuple[str, ...]:
    """Return the git command that a sync runs."""
    return ("git", f"--git-dir={store.git_dir}", *FAST_IMPORT)


def tidy(store: StorePaths) -> None:
    """Do maintenance where a detached sync would."""
    maintenance.run_if_due(store, packs=PACKS)


def fill(
    store: StorePaths,
    project: Path,
    page_of: Callable[[int], Page],
    *,
    sessions: int,
    turns: int,
    results: int,
) -> None:
    """Record sessions of ``turns`` turns of ``results`` results, a turn at a time.

    ``page_of`` maps the number of a result, counted through the store, to what it returns.
    """
    numbers = iter(range(sessions * turns * results))
    for session in range(sessions):
        writer = Writer.at(store, Client(project, session))
        for turn in range(turns):
            named = [(str(number), page_of(number)) for number in islice(numbers, results)]
            begin = [] if turn else [writer.client.start()]
            writer.add([*begin, *writer.client.turn(turn, named)])
            tidy(store)


def _base62(text: str, digits: int = 24) -> str:
    number = int.from_bytes(hashlib.sha256(text.encode()).digest())
    found = ""
    while len(found) < digits:
        number, rest = divmod(number, len(LETTERS))
        found += LETTERS[rest]
    return found
