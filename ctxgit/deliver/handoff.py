"""The document that lets another session carry on: everything open first, within a budget.

Pure: what it tells of was read elsewhere. Nothing in it is invented or reworded; each part
is taken in whole or counted as left out, with the command that brings it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxgit.model import State, Task, TaskStatus
from ctxgit.records import dataclass
from ctxgit.text import one_line
from ctxgit.tokens import estimate_tokens, format_tokens

PROMPTS_SHARE = 0.5
"""At most this share of the budget goes to what the user asked, so that the rest has room."""
ANSWER_TOKENS = 2_000
"""A longer last answer is left to ``ctx show``."""
TITLE = "# Handoff"
LEFT_OUT, WHERE = "Left out for length: ", " All of it: `ctx log --session "
FRESHNESS = ("unchanged", "changed since", "gone")
"""How a file may be now, compared with when it was last seen."""
SAVE_TOKENS = 28_000
"""A save is to be loaded whole into a model's context, in the 30,000 tokens that the feature
request names, with what ``ctx load`` says before it."""

NOTE_TOKENS = 150
"""Kept free for the last line, which says what was left out."""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A turn's prompt and the model's last word on it, verbatim; either may be empty."""

    turn: int
    prompt: str
    answer: str


@dataclass(frozen=True, kw_only=True)
class Command:
    """A call whose outcome matters: what was run or tried, and how it ended.

    ``chunk`` is the id of its result; ``error`` the first line of it when it failed.
    """

    chunk: str
    text: str
    failed: bool
    error: str


@dataclass(frozen=True, kw_only=True)
class FileFact:
    """A file that was worked on; ``freshness`` is one of ``FRESHNESS``."""

    path: str
    chunk: str
    freshness: str


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a handoff is made of, each list oldest first."""

    name: str
    state: State
    exchanges: tuple[Exchange, ...]
    commands: tuple[Command, ...]
    files: tuple[FileFact, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked and nothing was done."""
        return not (self.exchanges or self.state.chunks or self.state.tasks)


@dataclass(frozen=True, kw_only=True)
class Handoff:
    """The document, its estimated tokens, and how many parts of which kind it left out."""

    text: str
    tokens: int
    omitted: dict[str, int]


def handoff(material: Material, *, limit: int) -> Handoff:
    """Return the handoff of ``material`` in at most ``limit`` tokens, some thousands.

    In order: where the work stood, goal, open tasks, what the user asked, the last answer,
    failures, files, commands, tasks done. The latest parts of each are taken first.
    """
    page = _Page(limit - NOTE_TOKENS)
    page.add([_head(material)])
    page.section("Goal", _goal(material), what="goals")
    tasks = list(material.state.tasks.values())
    page.section("Open tasks", [_task(t) for t in tasks if t.status.is_open], what="open tasks")
    page.section(
        "What the user asked",
        [_prompt(exchange) for exchange in material.exchanges if exchange.prompt],
        what="prompts",
        share=PROMPTS_SHARE,
    )
    page.section("The last answer", _last_answer(material), what="answers")
    failed = [command for command in material.commands if command.failed]
    page.section("What failed", [_command(command) for command in failed], what="failures")
    page.section("Files", [_file(fact) for fact in material.files], what="files")
    passed = [command for command in material.commands if not command.failed]
    page.section("Commands that worked", [_command(c) for c in passed], what="commands")
    done = [task for task in tasks if task.status is TaskStatus.DONE]
    page.section("Tasks done", [_task(task) for task in done], what="tasks done")
    return page.finished(material)


def without_moment(text: str) -> str:
    """Return a handoff without what tells only when and for which session it was made.

    The same state gives the same text then, however its files have changed since.
    """
    return "\n".join(map(_without_moment, text.split("\n")))


def _without_moment(line: str) -> str:
    if line.startswith(TITLE):
        return TITLE
    fact, found, note = line.rpartition(" (")
    freshness, separator, chunk = note.partition("; ")
    if found and separator and freshness in FRESHNESS and line.startswith("- "):
        return f"{fact} ({chunk}"
    return line.partition(WHERE)[0] if line.startswith(LEFT_OUT) else line


class _Page:
    """A document being filled, whole parts only."""

    def __init__(self, limit: int) -> None:
        self._room = limit
        self._limit = limit
        self._parts: list[str] = []
        self._omitted: dict[str, int] = {}

    def add(self, parts: Iterable[str]) -> None:
        for part in parts:
            self._room -= estimate_tokens(part) + 1
            self._parts.append(part)

    def section(self, title: str, parts: Sequence[str], *, what: str, share: float = 1.0) -> None:
        """Add a section of as many of the latest ``parts`` as fit, oldest first."""
        room = min(self._room, int(self._limit * share)) - estimate_tokens(title) - 20
        kept: list[str] = []
        for part in reversed(parts):
            room -= estimate_tokens(part) + 1
            if room < 0:
                break
            kept.append(part)
        left_out = len(parts) - len(kept)
        if left_out:
            self._omitted[what] = left_out
        if kept or left_out:
            note = [f"({left_out} earlier {what} left out.)"] if left_out else []
            self.add(["\n".join([f"## {title}", "", *note, *reversed(kept), ""])])

    def finished(self, material: Material) -> Handoff:
        text = "\n".join(self._parts)
        if self._omitted:
            left = ", ".join(f"{count} {what}" for what, count in self._omitted.items())
            text += f"\n{LEFT_OUT}{left}.{WHERE}{material.name}`.\n"
        return Handoff(text=text, tokens=estimate_tokens(text), omitted=self._omitted)


def _head(material: Material) -> str:
    session = material.state.session
    where = f"Work tree {session.work_tree or session.cwd or '(unknown)'}"
    if session.branch or session.head:
        where += f", branch {session.branch or '(detached)'} at {session.head[:10] or 'no commit'}"
    size = f"{material.state.current_turn} turns, {session.chunks} tool results"
    when = f"Last active {session.updated_at:%Y-%m-%d %H:%M} UTC, {size}."
    return f"{TITLE} from session {material.name}\n\n{where}. {when}\n"


def _goal(material: Material) -> list[str]:
    active = material.state.active_task()
    if active:
        return [f"{active.subject}\n{active.description}".strip()]
    prompts = [exchange.prompt for exchange in material.exchanges if exchange.prompt]
    return [one_line(prompts[-1], 500)] if prompts else []


def _task(task: Task) -> str:
    waits = f", after task {', '.join(map(str, task.blocked_by))}" if task.blocked_by else ""
    size = f", {task.chunks} results, {format_tokens(task.tokens)} tokens" if task.chunks else ""
    about = f"\n  {one_line(task.description, 400)}" if task.description else ""
    return f"- task {task.number} ({task.status}{waits}{size}): {task.subject}{about}"


def _prompt(exchange: Exchange) -> str:
    quoted = "\n".join(f"> {line}".rstrip() for line in exchange.prompt.splitlines())
    return f"Turn {exchange.turn}:\n\n{quoted}\n"


def _last_answer(material: Material) -> list[str]:
    answered = [exchange for exchange in material.exchanges if exchange.answer]
    if not answered:
        return []
    last = answered[-1]
    if estimate_tokens(last.answer) > ANSWER_TOKENS:
        return [f"(Turn {last.turn}: {format_tokens(estimate_tokens(last.answer))} tokens.)"]
    return [last.answer.strip()]


def _command(command: Command) -> str:
    error = f"\n  {one_line(command.error, 300)}" if command.error else ""
    return f"- `{one_line(command.text, 300)}` ({command.chunk[:12]}){error}"


def _file(fact: FileFact) -> str:
    return f"- {fact.path} ({fact.freshness}; {fact.chunk[:12]})"
