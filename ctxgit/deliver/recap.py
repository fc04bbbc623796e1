"""What a session is told of the work before it: most important first, within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxgit.deliver.frame import escape, units
from ctxgit.model import State, Task, TaskStatus, Turn
from ctxgit.records import dataclass
from ctxgit.text import counted, one_line
from ctxgit.tokens import format_tokens

LISTED_PROMPTS = 12
LISTED_FILES = 30
LISTED_DONE = 20
USAGE = (
    "`ctx status` shows tasks and results, `ctx log` the history, `ctx show ID` any result or"
    ' commit again; `ctx task start "SUBJECT"` and `ctx task done` say what work is for.'
)

CLEARED = (
    "was cleared on purpose: what it held is not needed now."
    " `ctx load @cleared` shows it again, `ctx fork @cleared` takes it back."
)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A session to tell of. ``commits`` maps the numbers of done tasks to short commit ids."""

    name: str
    state: State
    commits: Mapping[int, str]


def recap(source: Source, *, limit: int) -> str:
    """Return the recap of a session as escaped lines, at most ``limit`` UTF-16 units.

    In order: the session, its active and pending tasks, what the user asked (latest
    first), tasks done with their commits, files, how to use ctx, for which room is kept.
    Whole lines only, no title without an entry; empty when not even the usage fits.
    """
    kept: list[str] = []
    room = limit - units(USAGE) - 1
    if room < 0:
        return ""
    for lines in _lines(source):
        room -= units(lines) + 1
        if room < 0:
            break
        kept.append(lines)
    return "\n".join([*kept, USAGE])


def _lines(source: Source) -> Iterator[str]:
    """Yield the lines, those that belong together as one."""
    state = source.state
    if state.session.cleared:
        yield escape(f"Session {source.name} {CLEARED}")
        return
    yield escape(_session_line(source))
    tasks = sorted(state.tasks.values(), key=lambda task: -task.activation)
    yield from _section("Open tasks", [_task_line(task) for task in tasks if task.status.is_open])
    yield from _section("The user asked, latest first", _prompts(state))
    done = [task for task in reversed(state.tasks.values()) if task.status is TaskStatus.DONE]
    yield from _section(
        "Tasks done, latest first",
        [_done_line(task, source.commits) for task in done[:LISTED_DONE]],
    )
    yield from _section("Files worked on, latest first", _files(state))


def _section(title: str, lines: list[str]) -> Iterator[str]:
    for line in lines[:1]:
        yield f"{title}:\n- {escape(line)}"
    for line in lines[1:]:
        yield f"- {escape(line)}"


def _session_line(source: Source) -> str:
    session = source.state.session
    ended = f", ended ({session.ended})" if session.ended else ""
    turns = source.state.current_turn
    return (
        f"Session {source.name}{ended}: {counted(turns, 'turn')},"
        f" {counted(session.chunks, 'tool result')},"
        f" last active {session.updated_at:%Y-%m-%d %H:%M} UTC."
    )


def _task_line(task: Task) -> str:
    blocked = f", blocked by {', '.join(map(str, task.blocked_by))}" if task.blocked_by else ""
    size = f", {counted(task.chunks, 'result')}, {format_tokens(task.tokens)} tokens"
    count = size if task.chunks else ""
    return f"task {task.number} ({task.status}{blocked}{count}): {one_line(task.subject, 160)}"


def _done_line(task: Task, commits: Mapping[int, str]) -> str:
    commit = f" (commit {commits[task.number]})" if task.number in commits else ""
    return f"task {task.number}: {one_line(task.subject, 160)}{commit}"


def _prompts(state: State) -> list[str]:
    turns = [turn for turn in state.turns.values() if turn.headline]
    latest: list[Turn] = turns[: -LISTED_PROMPTS - 1 : -1]
    lines = [f"turn {turn.number}: {turn.headline}" for turn in latest]
    if len(turns) > len(latest):
        lines.append(f"and {len(turns) - len(latest)} earlier ones")
    return lines


def _files(state: State) -> list[str]:
    root = state.session.work_tree or state.session.cwd
    paths: dict[str, None] = {}
    for chunk in reversed(state.chunks.values()):
        for path in chunk.paths:
            paths.setdefault(path.removeprefix(f"{root}/") if root else path)
    files = [one_line(path, 200) for path in list(paths)[:LISTED_FILES]]
    if len(paths) > LISTED_FILES:
        files.append(f"and {len(paths) - LISTED_FILES} more")
    return files
