"""Results drawn for a person. The only module that imports rich."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import UTC, datetime

from rich.console import Console  # noqa: TID253 - imported lazily, only when a person looks
from rich.table import Table  # noqa: TID253 - the same
from rich.text import Text  # noqa: TID253 - the same

from ctxgit.actions.configure import ConfigResult
from ctxgit.actions.init import InitResult
from ctxgit.actions.log import LogResult
from ctxgit.actions.status import ChunkRow, SessionStatus, StatusResult, TaskRow
from ctxgit.actions.task import TaskDetail
from ctxgit.cli.output import print_raw
from ctxgit.look.log import LogEntry
from ctxgit.look.show import ShownChunk, ShownCommit
from ctxgit.text import counted, printable
from ctxgit.tokens import format_tokens

STATUS_STYLES = {"active": "bold yellow", "done": "green", "abandoned": "dim", "pending": ""}
MINUTE, HOUR, DAY = 60, 3600, 86400


class _Console(Console):
    """A console that leaves it to the entry what a reader's going means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _console() -> Console:
    """Return the console; where nobody looks, lines are never broken.

    Square brackets and colons mean nothing: what is printed comes from elsewhere.
    """
    is_terminal = sys.stdout.isatty()
    return _Console(
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not is_terminal,
        width=None if is_terminal else 10_000,
    )


def init(result: InitResult) -> None:
    """Say what is there now and what to do next."""
    console = _console()
    verb = "Made" if result.created else "There already is"
    console.print(Text.assemble(f"{verb} a context store in ", (result.store, "bold")))
    if result.newly_enabled:
        console.print(f"Claude Code loads the plugin at its next start: {result.settings}")
    elif result.enabled:
        console.print("Claude Code loads the plugin in this project.")
    else:
        console.print("To let Claude Code load the plugin in this project: ctx init --enable")
        console.print(f"For one session only: claude --plugin-dir {result.plugin}")


def status(result: StatusResult) -> None:
    """Draw where a session stands."""
    console = _console()
    if result.session is None:
        console.print(f"No session is recorded yet in {result.store}")
    else:
        _session(console, result.session)
    if result.pending:
        console.print(f"{result.pending} events wait to be recorded", style="yellow")
    if result.rejected:
        console.print(
            f"{result.rejected} events could not be read: {result.store}/.git/ctx/rejected",
            style="yellow",
        )


def _session(console: Console, session: SessionStatus) -> None:
    ended = f", ended ({printable(session.ended)})" if session.ended else ""
    console.print(Text.assemble("On ", (printable(session.branch), "bold"), ended))
    head = f" at {session.project_head[:10]}" if session.project_head else ""
    where = f", branch {session.project_branch}{head}" if session.project_branch or head else ""
    console.print(Text(printable(f"Work tree {session.work_tree}{where}")))
    prompt = f": {session.prompt}" if session.prompt else ""
    console.print(Text(printable(f"Turn {session.turns}{prompt}")))
    compactions = f", {counted(session.compactions, 'compaction')}" if session.compactions else ""
    console.print(
        f"{counted(session.chunks, 'tool result')}, {format_tokens(session.tokens)} tokens"
        f"{compactions}, last active {_ago(session.updated_at)}"
    )
    if session.tasks:
        console.print()
        tasks(session.tasks)


def tasks(rows: Iterable[TaskRow]) -> None:
    """Draw tasks as a table."""
    table = _table(("#", "right"), "task", "state", ("results", "right"), ("tokens", "right"))
    for row in rows:
        waits = f" (after {', '.join(map(str, row.blocked_by))})" if row.blocked_by else ""
        table.add_row(
            str(row.number),
            Text(printable(row.subject) + waits),
            Text(row.status, STATUS_STYLES.get(row.status, "")),
            str(row.chunks),
            format_tokens(row.tokens),
        )
    if table.row_count:
        _print_table(table)
    else:
        _console().print("No tasks.")


def task(result: TaskDetail) -> None:
    """Draw a task and its chunks."""
    tasks([result.task])
    if result.chunks:
        _console().print()
        _chunks(result.chunks)


def _chunks(rows: Iterable[ChunkRow]) -> None:
    table = _table("chunk", "tool", ("tokens", "right"), "what")
    for row in rows:
        failed = " failed" if row.failed else ""
        what = printable(row.paths[0]) if row.paths else ""
        table.add_row(
            row.id, printable(row.tool), format_tokens(row.tokens), Text(f"{what}{failed}")
        )
    _print_table(table)


def log(result: LogResult) -> None:
    """Draw commits by session, the one that moved last first."""
    console = _console()
    if not result.commits:
        console.print("No commits yet.")
    by_branch: dict[str, list[LogEntry]] = {}
    for entry in result.commits:
        by_branch.setdefault(entry.branch, []).append(entry)
    for branch, rows in by_branch.items():
        console.print(Text.assemble(("● ", "cyan"), (printable(branch), "bold cyan")))
        for row in rows:
            console.print(_log_line(row), overflow="ellipsis", no_wrap=sys.stdout.isatty())


def _log_line(row: LogEntry) -> Text:
    line = Text.assemble(
        ("│ ", "cyan"), (row.short, "yellow"), " ", (f"{_ago(row.at):>14}", "dim"), "  "
    )
    line.append(printable(row.subject), "bold" if row.tags else "")
    for tag in row.tags:
        line.append(f"  ({printable(tag)})", "green")
    return line


def show(result: ShownChunk | ShownCommit | TaskDetail, *, raw: bool) -> None:
    """Print a chunk, a task or a commit; ``raw`` is its content and nothing else."""
    if isinstance(result, ShownChunk):
        _show_chunk(result, raw=raw)
    elif isinstance(result, TaskDetail):
        task(result)
    else:
        _show_commit(result, raw=raw)


def _show_chunk(chunk: ShownChunk, *, raw: bool) -> None:
    if raw:
        print_raw(chunk.content)
        return
    console = _console()
    console.print(Text.assemble(("chunk ", "yellow"), (chunk.id, "yellow")))
    shown = {"session": chunk.session, **chunk.header}
    for key in (
        "session",
        "tool",
        "at",
        "task",
        "turn",
        "agent",
        "tokens",
        "size",
        "failed",
        "paths",
    ):
        if shown.get(key) not in (None, "", [], 0, False):
            console.print(Text(printable(f"{key + ':':<9}{_plain(shown[key])}")))
    for key, value in chunk.input.items():
        console.print(Text(printable(f"  {key}: {_plain(value)}", lines=True)))
    console.print()
    sys.stdout.write(printable(chunk.content, lines=True) if sys.stdout.isatty() else chunk.content)
    if not chunk.content.endswith("\n"):
        sys.stdout.write("\n")


def _show_commit(commit: ShownCommit, *, raw: bool) -> None:
    if raw:
        print_raw(f"{commit.message}\n")
        return
    console = _console()
    entry = commit.entry
    console.print(Text(f"commit {entry.commit}", "yellow"))
    if entry.tags or entry.branches:
        console.print(Text(printable(f"refs:   {', '.join([*entry.branches, *entry.tags])}")))
    console.print(f"date:   {entry.at:%Y-%m-%d %H:%M:%S} UTC ({_ago(entry.at)})")
    console.print()
    for line in commit.message.splitlines():
        console.print(Text(printable(f"    {line}".rstrip())))
    console.print()
    for letter, path in commit.files:
        console.print(Text(printable(f"{letter}  {path}")))


def config(result: ConfigResult) -> None:
    """Draw settings as a table."""
    table = _table("setting", "value", "from", "what it does")
    for row in result.settings:
        value = str(row.value).lower() if isinstance(row.value, bool) else str(row.value)
        table.add_row(row.key, value, row.layer, row.help)
    _print_table(table)


def _table(*columns: str | tuple[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        name, justify = (column, "left") if isinstance(column, str) else column
        table.add_column(name, justify="right" if justify == "right" else "left")
    return table


def _print_table(table: Table) -> None:
    """Print a table; where nobody looks, without the blanks that fill its last column."""
    console = _console()
    if sys.stdout.isatty():
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        console.print(line.rstrip())


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S} UTC"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _ago(moment: datetime) -> str:
    seconds = max(0, int((datetime.now(UTC) - moment).total_seconds()))
    for size, unit in ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")):
        if seconds >= size:
            return f"{counted(seconds // size, unit)} ago"
    return "just now"
