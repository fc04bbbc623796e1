"""Kept, restored and reverted states, drawn for a person."""

from __future__ import annotations

from ctxgit.actions.clear import ClearResult
from ctxgit.actions.listing import ListResult
from ctxgit.actions.restore import ForkResult, RestoreResult
from ctxgit.actions.save import SaveResult
from ctxgit.actions.undo import UndoResult
from ctxgit.cli.drawing import Text, ago, counted, print_table, screen, table_of
from ctxgit.text import printable
from ctxgit.tokens import format_tokens


def saved(result: SaveResult) -> None:
    """Say what was saved, under which name, and what was left out."""
    console = screen()
    again = ", on top of the one before" if result.again else ""
    console.print(Text.assemble("Saved ", (result.name, "bold"), again))
    if result.name != result.asked:
        console.print(Text(printable(f"The name was made of: {result.asked}")))
    parts = [counted(result.prompts, "prompt"), counted(result.tasks, "task")]
    parts.append(counted(result.files, "file"))
    console.print(f"{', '.join(parts)}, {format_tokens(result.tokens)} tokens")
    if result.omitted:
        left_out = ", ".join(f"{count} {what}" for what, count in result.omitted.items())
        console.print(f"Left out for length: {left_out}", style="yellow")
    console.print(f"To carry on from it: ctx load {result.name}")


def listed(result: ListResult) -> None:
    """Draw saves as a table."""
    console = screen()
    if not result.entries:
        console.print("Nothing is saved yet; `ctx save NAME` does.")
        return
    table = table_of("name", "when", ("tokens", "right"), "session", "project", "message")
    for entry in result.entries:
        project = f"{entry.branch} {entry.head[:10]}".strip()
        table.add_row(
            Text(printable(entry.name.removeprefix("save/")), "bold"),
            ago(entry.at),
            format_tokens(entry.tokens) if entry.tokens else "",
            printable(entry.session[:8]),
            printable(project),
            Text(printable(entry.subject)),
        )
    print_table(table)
    if result.has_more:
        console.print("There are more: --limit shows them.", style="dim")


def cleared(result: ClearResult) -> None:
    """Say what was cleared, where it is kept, and the one thing left to do."""
    console = screen()
    results = counted(result.results, "tool result")
    tasks = counted(result.tasks, "task")
    console.print(f"Cleared {tasks} and {results}, {format_tokens(result.tokens)} tokens.")
    console.print(f"Kept on {result.kept}: `ctx load @cleared` brings it back.")
    console.print(result.next, style="bold")


def restored(result: RestoreResult) -> None:
    """Say what came back, and what was there."""
    console = screen()
    tokens = format_tokens(sum(chunk.tokens for chunk in result.restored))
    console.print(f"Brought back {counted(len(result.restored), 'tool result')}, {tokens} tokens.")
    if result.already:
        console.print(f"{counted(len(result.already), 'tool result')} had never gone.")


def forked(result: ForkResult) -> None:
    """Say from what the session goes on."""
    console = screen()
    tasks = counted(result.tasks, "task")
    results = counted(result.results, "tool result")
    console.print(Text(printable(f"Going on from {result.source}: {tasks}, {results}.")))
    console.print(f"What was is kept on {result.kept}.")


def reverted(result: UndoResult, said: str) -> None:
    """Say which verbs were taken back or done again."""
    console = screen()
    for operation in result.operations:
        about = f" {operation.summary}" if operation.summary else ""
        console.print(Text(printable(f"{said}: {operation.verb}{about} ({ago(operation.at)})")))
