"""Results drawn for a person."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from ctxgit.actions.configure import ConfigResult
from ctxgit.actions.init import InitResult
from ctxgit.actions.log import LogResult
from ctxgit.actions.status import ChunkRow, SessionStatus, StatusResult, TaskRow
from ctxgit.actions.task import TaskDetail
from ctxgit.cli.drawing import Console, Text, ago, counted, print_table, screen, table_of
from ctxgit.look.log import LogEntry
from ctxgit.text import printable
from ctxgit.tokens import format_tokens

STATUS_STYLES = {"active": "bold yellow", "done": "green", "abandoned": "dim", "pending": ""}


def init(result: InitResult) -> None:
    """Say what is there now and what to do next."""
    console = screen()
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
    console = screen()
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
        f"{compactions}, last active {ago(session.updated_at)}"
    )
    if session.tasks:
        console.print()
        tasks(session.tasks)


def tasks(rows: Iterable[TaskRow]) -> None:
    """Draw tasks as a table."""
    table = table_of(("#", "right"), "task", "state", ("results", "right"), ("tokens", "right"))
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
        print_table(table)
    else:
        screen().print("No tasks.")


def task(result: TaskDetail) -> None:
    """Draw a task and its chunks."""
    tasks([result.task])
    if result.chunks:
        screen().print()
        _chunks(result.chunks)


def _chunks(rows: Iterable[ChunkRow]) -> None:
    table = table_of("chunk", "tool", ("tokens", "right"), "what")
    for row in rows:
        failed = " failed" if row.failed else ""
        what = printable(row.paths[0]) if row.paths else ""
        table.add_row(
            row.id, printable(row.tool), format_tokens(row.tokens), Text(f"{what}{failed}")
        )
    print_table(table)


def log(result: LogResult, *, oneline: bool = False, chosen: bool = False) -> None:
    """Draw commits by session, the one that moved last first, or just a line for each.

    ``chosen`` says that there may be others.
    """
    console = screen()
    if not result.commits:
        console.print("No such commits." if chosen else "No commits yet.")
    if oneline:
        for row in result.commits:
            line = Text.assemble((row.short, "yellow"), " ", *_subject(row))
            console.print(line, overflow="ellipsis", no_wrap=sys.stdout.isatty())
        return
    by_branch: dict[str, list[LogEntry]] = {}
    for entry in result.commits:
        by_branch.setdefault(entry.branch or entry.session, []).append(entry)
    for branch, rows in by_branch.items():
        console.print(Text.assemble(("● ", "cyan"), (printable(branch), "bold cyan")))
        for row in rows:
            console.print(_log_line(row), overflow="ellipsis", no_wrap=sys.stdout.isatty())


def _log_line(row: LogEntry) -> Text:
    when = (f"{ago(row.at):>14}", "dim")
    return Text.assemble(("│ ", "cyan"), (row.short, "yellow"), " ", when, "  ", *_subject(row))


def _subject(row: LogEntry) -> Iterator[tuple[str, str]]:
    yield printable(row.subject), "bold" if row.tags else ""
    for tag in row.tags:
        yield f"  ({printable(tag)})", "green"


def config(result: ConfigResult) -> None:
    """Draw settings as a table."""
    table = table_of("setting", "value", "from", "what it does")
    for row in result.settings:
        value = str(row.value).lower() if isinstance(row.value, bool) else str(row.value)
        table.add_row(row.key, value, row.layer, row.help)
    print_table(table)
