"""A session told event by event, with sane defaults, for tests of what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ctxgit.fold import fold, steps
from ctxgit.model import (
    Chunk,
    Compacted,
    CompactionAnnounced,
    Event,
    Observed,
    PromptKind,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    State,
    Step,
    SubagentStopped,
    Task,
    TaskChange,
    TasksChanged,
    TaskStatus,
    ToolFinished,
    Turn,
    TurnStopped,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SESSION = "0a1b2c3d-0000-4000-8000-000000000001"
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CWD = "/home/user/project"
ACTIVE, DONE, PENDING = TaskStatus.ACTIVE, TaskStatus.DONE, TaskStatus.PENDING
ABANDONED = TaskStatus.ABANDONED


@dataclass
class Story:
    """The events of one session, a second apart, and the state they have been folded into.

    Each method tells one event and returns the story. Keywords are fields of the event;
    ``at`` is a number of seconds since START, else one more than that of the event before.
    """

    session: str = SESSION
    events: list[Event] = field(default_factory=list)
    folded: State | None = None

    @property
    def state(self) -> State:
        """The state so far."""
        assert self.folded is not None, "nothing has been told yet"
        return self.folded

    def steps(self, since: int = 0) -> Iterator[Step]:
        """Yield the steps from event number ``since`` (from 0) on."""
        before = None
        for event in self.events[:since]:
            before = fold(before, event)
        yield from steps(before, self.events[since:])

    # --- what to tell ------------------------------------------------------------------------

    def tell(self, kind: type[Event], /, *, at: float | None = None, **fields: Any) -> Story:
        """Tell an event of any kind."""
        number = len(self.events) + 1
        seconds = number if at is None else at
        given = {
            "id": f"{number:06d}",
            "at": START + timedelta(seconds=seconds),
            "session": self.session,
            **fields,
        }
        return self.again(kind(**given))

    def again(self, event: Event) -> Story:
        """Tell an event that is there already."""
        self.events.append(event)
        self.folded = fold(self.folded, event)
        return self

    def start(self, source: str = "startup", **fields: Any) -> Story:
        """The session starts or goes on."""
        return self.tell(SessionStarted, **{"source": source, "cwd": CWD, **fields})

    def prompt(self, text: str = "Fix the login", prompt_id: str = "", **fields: Any) -> Story:
        """A person asks for something."""
        return self.tell(PromptSubmitted, text=text, prompt_id=prompt_id, **fields)

    def notice(self, text: str = "<task-notification>", prompt_id: str = "") -> Story:
        """The client reports work that ran in the background."""
        return self.prompt(text, prompt_id, kind=PromptKind.NOTICE)

    def result(self, call: str = "", content: str = "some text", **fields: Any) -> Story:
        """A tool returned ``content``; ``call`` is the tool use's id without its prefix."""
        call = call or f"c{len(self.events) + 1}"
        given = {"tool": "Read", "tool_use_id": f"toolu_{call}", "content": content, **fields}
        return self.tell(ToolFinished, **given)

    def create(self, key: str, subject: str = "Fix it", call: str = "", **fields: Any) -> Story:
        """TaskCreate declared a task; the client answered with the id ``key``."""
        change = TaskChange(key=key, subject=subject)
        given = {"tool": "TaskCreate", "origin": "TaskCreate", "changes": (change,), **fields}
        return self.result(call, f"Task #{key} created", **given)

    def update(
        self, key: str, status: TaskStatus | None = None, call: str = "", **fields: Any
    ) -> Story:
        """TaskUpdate changed a task; keywords of a change go there, others to the event."""
        of_change = ("subject", "description", "blocked_by", "blocks")
        given = {name: fields.pop(name) for name in of_change if name in fields}
        change = TaskChange(key=key, status=status, **given)
        event = {"tool": "TaskUpdate", "origin": "TaskUpdate", "changes": (change,), **fields}
        return self.result(call, f"Updated task #{key}", **event)

    def todos(self, *items: tuple[str, TaskStatus | None], **fields: Any) -> Story:
        """TodoWrite gave the whole list, each item its text and status."""
        changes = tuple(TaskChange(subject=subject, status=status) for subject, status in items)
        given = {"tool": "TodoWrite", "origin": "TodoWrite", "changes": changes, **fields}
        return self.result(content="Todos written", whole_list=True, **given)

    def verb(self, **change: Any) -> Story:
        """``ctx task`` changed a task."""
        return self.tell(TasksChanged, origin="ctx", changes=(TaskChange(**change),))

    def stop(self, message: str = "Done.", prompt_id: str = "", **fields: Any) -> Story:
        """The model ended its answer."""
        return self.tell(TurnStopped, message=message, prompt_id=prompt_id, **fields)

    def subagent_stop(self, agent: str = "a1", message: str = "Found it.", **fields: Any) -> Story:
        """A subagent ended."""
        given = {"agent": agent, "agent_type": "Explore", "message": message, **fields}
        return self.tell(SubagentStopped, **given)

    def announce(self) -> Story:
        """The client is about to compact."""
        return self.tell(CompactionAnnounced, trigger="manual")

    def compacted(self, summary: str = "What was done.", **fields: Any) -> Story:
        """The client compacted."""
        return self.tell(Compacted, **{"trigger": "manual", "summary": summary, **fields})

    def observe(self, **fields: Any) -> Story:
        """A sync looked at the project."""
        return self.tell(Observed, **fields)

    def end(self, reason: str = "other") -> Story:
        """The session ends."""
        return self.tell(SessionEnded, reason=reason)

    # --- what came of it ---------------------------------------------------------------------

    def task(self, number: int) -> Task:
        """Return a task by its number."""
        return self.state.tasks[number]

    def turn(self, number: int) -> Turn:
        """Return a turn by its number."""
        return self.state.turns[number]

    def chunk(self, call: str) -> Chunk:
        """Return the chunk of a call."""
        return self.state.chunks[call]

    def subjects(self) -> list[str]:
        """Return the subjects of the tasks, in the order in which they came."""
        return [task.subject for task in self.state.tasks.values()]


def told(events: Iterable[Event]) -> Story:
    """Return the story of events made elsewhere."""
    story = Story()
    for event in events:
        story.again(event)
    return story
