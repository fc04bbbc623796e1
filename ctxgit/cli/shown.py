"""What ``ctx show`` prints: one thing, whole, or its content alone."""

from __future__ import annotations

import sys

from ctxgit.actions.show import Shown, ShownCleared, ShownSave
from ctxgit.actions.task import TaskDetail
from ctxgit.cli.drawing import Text, ago, counted, plain, screen
from ctxgit.cli.output import print_raw
from ctxgit.cli.render import task, tasks
from ctxgit.look.show import ShownChunk, ShownCommit, ShownEntry
from ctxgit.text import printable
from ctxgit.tokens import format_tokens

HEADER = ("session", "tool", "at", "task", "turn", "agent", "tokens", "size", "failed", "paths")
"""What of a chunk's header a person is shown."""


def show(result: Shown, *, raw: bool) -> None:
    """Print what was asked for; ``raw`` is its content and nothing else."""
    match result:
        case TaskDetail():
            task(result)
        case _ if raw:
            print_raw(_content(result))
        case ShownChunk():
            _chunk(result)
        case ShownSave():
            _save(result)
        case ShownCleared():
            _cleared(result)
        case ShownEntry():
            _entry(result)
        case ShownCommit():
            _commit(result)


def _content(result: Shown) -> str:
    match result:
        case ShownChunk():
            return result.content
        case ShownSave() | ShownCleared():
            return result.handoff
        case ShownEntry():
            return result.text
        case ShownCommit():
            return f"{result.message}\n"
        case TaskDetail():
            return ""


def _save(save: ShownSave) -> None:
    console = screen()
    console.print(Text(printable(save.name), "yellow"))
    if save.message:
        _fact("message", save.message)
    _fact("saved", f"{plain(save.at)} ({ago(save.at)}), {format_tokens(save.tokens)} tokens")
    _fact("session", save.session)
    where = f" at {save.head[:10]}" if save.head else ""
    if save.branch or where:
        _fact("branch", f"{save.branch}{where}")
    if save.tasks:
        console.print()
        tasks(save.tasks)
    _text(save.handoff)


def _cleared(state: ShownCleared) -> None:
    console = screen()
    console.print(Text(printable(state.name), "yellow"))
    _fact("of", f"{plain(state.at)} ({ago(state.at)})")
    _fact("session", state.session)
    _fact("holds", f"{counted(state.chunks, 'tool result')}, {format_tokens(state.tokens)} tokens")
    if state.tasks:
        console.print()
        tasks(state.tasks)
    _text(state.handoff)


def _entry(entry: ShownEntry) -> None:
    screen().print(Text(printable(entry.path), "yellow"))
    _text(entry.text)


def _fact(name: str, value: str) -> None:
    screen().print(Text(printable(f"{name + ':':<9}{value}")))


def _text(content: str) -> None:
    """Print stored text below a blank line; a terminal gets none that steers it."""
    sys.stdout.write("\n")
    sys.stdout.write(printable(content, lines=True) if sys.stdout.isatty() else content)
    if not content.endswith("\n"):
        sys.stdout.write("\n")


def _chunk(chunk: ShownChunk) -> None:
    console = screen()
    console.print(Text.assemble(("chunk ", "yellow"), (chunk.id, "yellow")))
    shown = {"session": chunk.session, **chunk.header}
    for key in HEADER:
        if shown.get(key) not in (None, "", [], 0, False):
            _fact(key, plain(shown[key]))
    for key, value in chunk.input.items():
        console.print(Text(printable(f"  {key}: {plain(value)}", lines=True)))
    _text(chunk.content)


def _commit(commit: ShownCommit) -> None:
    console = screen()
    entry = commit.entry
    console.print(Text(f"commit {entry.commit}", "yellow"))
    if entry.tags or entry.branches:
        console.print(Text(printable(f"refs:   {', '.join([*entry.branches, *entry.tags])}")))
    console.print(f"date:   {entry.at:%Y-%m-%d %H:%M:%S} UTC ({ago(entry.at)})")
    console.print()
    for line in commit.message.splitlines():
        console.print(Text(printable(f"    {line}".rstrip())))
    console.print()
    for letter, path in commit.files:
        console.print(Text(printable(f"{letter}  {path}")))
