"""The words of ctxgit as values: events that come in, and the state they are folded into.

Everything here is frozen and knows no file, clock or git. Times are aware UTC. Sizes are
bytes, ``tokens`` are estimates (see :mod:`ctxgit.tokens`). ``docs/glossary.md`` explains
each word in a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from ctxgit.records import dataclass, field

Json = Mapping[str, object]


class TaskStatus(StrEnum):
    """Where a task stands."""

    PENDING = "pending"
    ACTIVE = "active"
    DONE = "done"
    ABANDONED = "abandoned"

    @property
    def is_open(self) -> bool:
        """Whether work on the task is still to come."""
        return self in {TaskStatus.PENDING, TaskStatus.ACTIVE}


class PromptKind(StrEnum):
    """Who wrote a prompt: a person, or the client reporting finished background work."""

    USER = "user"
    NOTICE = "notice"


# --- events: what happened, in our words -------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Event:
    """What every event carries.

    ``id`` is the name under which it was captured, unique in the store. ``session`` is the
    client's session id made safe for names, ``agent`` the id of the subagent it happened
    in, empty in the main loop. ``prompt_id`` is the client's id of the prompt it belongs
    to, empty where the client gave none.
    """

    id: str
    at: datetime
    session: str
    agent: str = ""
    prompt_id: str = ""


@dataclass(frozen=True, kw_only=True)
class SessionStarted(Event):
    """A session began or goes on; ``source`` is the client's word (startup, resume, …)."""

    source: str = ""
    transcript_path: str = ""
    cwd: str = ""
    client_pid: str = ""


@dataclass(frozen=True, kw_only=True)
class PromptSubmitted(Event):
    """A prompt was given to the model."""

    text: str = ""
    kind: PromptKind = PromptKind.USER


@dataclass(frozen=True, kw_only=True)
class TaskChange:
    """What a tool call or a verb says about one task; ``None`` leaves a field as it is.

    ``key`` is the id the client uses for the task, empty where tasks have no id and are
    matched by subject. ``number`` addresses a task by our own number instead (verbs).
    """

    key: str = ""
    number: int | None = None
    subject: str | None = None
    description: str | None = None
    status: TaskStatus | None = None
    blocked_by: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TasksChanged(Event):
    """Tasks were declared, started or ended, by a tool or by a verb.

    ``origin`` names the way (``TaskCreate``, ``TaskUpdate``, ``TodoWrite``, ``ctx``). With
    ``whole_list`` the changes are the complete list of the agent's tasks of that origin:
    what is missing from it was dropped.
    """

    origin: str = ""
    changes: tuple[TaskChange, ...] = ()
    whole_list: bool = False


@dataclass(frozen=True, kw_only=True)
class Media:
    """Something that is not text in a tool result: kept as its digest, type and size."""

    sha256: str
    media_type: str
    size: int


@dataclass(frozen=True, kw_only=True)
class ToolFinished(TasksChanged):
    """A tool call ended, well or not (``failed``).

    ``input`` is the tool's input, ``content`` what the tool returned as text; a part of
    the input that is the content itself (the text of a Write) is left out of ``input``.
    ``paths`` are the absolute paths the call read or wrote. The task fields of the parent
    class are filled where the tool manages tasks.
    """

    tool_use_id: str = ""
    tool: str = ""
    input: Json = field(default_factory=dict)
    content: str = ""
    media: tuple[Media, ...] = ()
    paths: tuple[str, ...] = ()
    failed: bool = False
    duration_ms: int | None = None


@dataclass(frozen=True, kw_only=True)
class SubagentStopped(Event):
    """A subagent ended, or paused; ``message`` is its last word."""

    agent_type: str = ""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class TurnStopped(Event):
    """The model ended its answer; ``message`` is its last word."""

    message: str = ""


@dataclass(frozen=True, kw_only=True)
class CompactionAnnounced(Event):
    """The client is about to compact, and may yet not do it."""

    trigger: str = ""
    instructions: str = ""


@dataclass(frozen=True, kw_only=True)
class Compacted(Event):
    """The model's context was rewritten; ``summary`` is what it was replaced by."""

    trigger: str = ""
    summary: str = ""


@dataclass(frozen=True, kw_only=True)
class SessionEnded(Event):
    """The session ended or was left; ``reason`` is the client's word (clear, other, …)."""

    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Observed(Event):
    """What a sync saw of the project outside the events.

    ``head`` is the object id of HEAD's commit, ``branch`` empty when HEAD is detached,
    ``previous`` the session that the same client process showed before this one.
    """

    work_tree: str = ""
    branch: str = ""
    head: str = ""
    previous: str = ""


@dataclass(frozen=True, kw_only=True)
class Cleared(Event):
    """The working set was ended by hand: its tasks and chunks leave the tree."""


# --- state: what the events add up to ----------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Session:
    """The facts about a session that are not about one of its turns, tasks or chunks.

    ``ended`` is the reason of its end, empty while it goes on. ``activations`` counts
    task activations, so that the last activated task can be told; ``tasks`` and ``chunks``
    count all there ever were. ``boundary_open`` is true from a compaction until the session
    goes on: all that tells of a compaction in between tells of the same one. ``cleared`` is
    true from a clear by hand until the user asks for something else.
    """

    id: str
    started_at: datetime
    updated_at: datetime
    source: str = ""
    ended: str = ""
    cwd: str = ""
    work_tree: str = ""
    branch: str = ""
    head: str = ""
    transcript_path: str = ""
    client_pid: str = ""
    previous: str = ""
    tasks: int = 0
    chunks: int = 0
    compactions: int = 0
    boundary_open: bool = False
    cleared: bool = False
    activations: int = 0


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One user prompt and all that follows until the next.

    ``number`` counts from 1; turn 0 holds what came before any prompt. ``headline`` is the
    prompt's first line, shortened; the whole prompt is in the tree. ``chunks`` and
    ``tokens`` count the results ever scoped to the turn, not those scoped to a task.
    """

    number: int
    started_at: datetime
    ended_at: datetime | None = None
    headline: str = ""
    prompt_ids: tuple[str, ...] = ()
    chunks: int = 0
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class Task:
    """A piece of work in one session.

    ``number`` counts from 1 in the session, ``name`` is the readable part of its folder
    and tag. ``key`` is the client's id for it. ``activation`` is the session's count at
    the moment it last became active, 0 before. ``blocked_by`` holds task numbers,
    ``chunks`` and ``tokens`` count the results ever scoped to it.
    """

    number: int
    name: str
    subject: str
    status: TaskStatus
    created_at: datetime
    agent: str = ""
    origin: str = ""
    key: str = ""
    description: str = ""
    activation: int = 0
    ended_at: datetime | None = None
    blocked_by: tuple[int, ...] = ()
    chunks: int = 0
    tokens: int = 0

    @property
    def label(self) -> str:
        """The name of its folder and the last part of its tag, as ``03-fix-login``."""
        return f"{self.number:02d}-{self.name}"


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """One tool result, without its content.

    ``number`` counts the session's chunks from 1. It is scoped to task ``task``, or to turn
    ``turn`` when ``task`` is 0; ``place`` counts the chunks of that scope from 0 and fixes
    the folder. ``sha256`` and ``size`` (bytes of
    UTF-8) are the content's.
    """

    id: str
    number: int
    tool: str
    task: int
    turn: int
    place: int
    at: datetime
    agent: str = ""
    tool_use_id: str = ""
    failed: bool = False
    duration_ms: int | None = None
    tokens: int = 0
    size: int = 0
    sha256: str = ""
    paths: tuple[str, ...] = ()
    media: tuple[Media, ...] = ()


# --- events that carry a part of a state ---------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Adopted(Event):
    """The working set was replaced by ``tasks``; ``source`` names where they are from."""

    source: str = ""
    tasks: tuple[Task, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Returned:
    """A chunk that comes back from history, with its task, if it had one.

    ``session`` is the id of the session whose history that is, ``files`` maps the endings
    of its files (``.toml``, ``.md``, …) to their contents.
    """

    session: str
    chunk: Chunk
    task: Task | None
    files: Json


@dataclass(frozen=True, kw_only=True)
class Restored(Event):
    """Chunks came back into the working set by hand."""

    chunks: tuple[Returned, ...] = ()


@dataclass(frozen=True, kw_only=True)
class State:
    """All that a session's recorded events add up to.

    Each mapping is in the order in which its entries came. None is ever changed in place.
    """

    session: Session
    turns: dict[int, Turn] = field(default_factory=dict)
    tasks: dict[int, Task] = field(default_factory=dict)
    chunks: dict[str, Chunk] = field(default_factory=dict)

    @property
    def current_turn(self) -> int:
        """The number of the latest turn, 0 before the first prompt."""
        return max(self.turns, default=0)

    @property
    def is_blank(self) -> bool:
        """Whether nothing was asked and nothing is at work: a clear would lose nothing."""
        asked = any(turn.headline for turn in self.turns.values())
        return not (self.tasks or self.chunks or asked)

    @property
    def newest_chunk(self) -> Chunk | None:
        """The chunk folded in last."""
        return next(reversed(self.chunks.values()), None)

    def turn_of(self, prompt_id: str) -> int:
        """Return the number of the turn a prompt id belongs to, else of the current turn."""
        if prompt_id:
            for turn in reversed(self.turns.values()):
                if prompt_id in turn.prompt_ids:
                    return turn.number
        return self.current_turn

    def active_task(self, agent: str = "") -> Task | None:
        """Return the task last activated by ``agent`` among its active ones."""
        active = [
            task
            for task in self.tasks.values()
            if task.status is TaskStatus.ACTIVE and task.agent == agent
        ]
        return max(active, key=lambda task: task.activation, default=None)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One event folded: what was, what happened, what is."""

    before: State | None
    event: Event
    after: State
