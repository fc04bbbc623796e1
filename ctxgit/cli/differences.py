"""What ``ctx diff`` prints: what came and what went, counted, or as a patch."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ctxgit.actions.diff import PatchResult
from ctxgit.cli.drawing import Console, Text, ago, screen
from ctxgit.cli.output import print_raw
from ctxgit.look.diff import ADDED, REMOVED, ChunkMove, DiffResult, Side, TaskDiff
from ctxgit.text import printable
from ctxgit.tokens import format_tokens

STYLES = {"+": "green", "-": "red", "~": "yellow"}
SIGNS = {ADDED: "+", REMOVED: "-"}
PATCH_STYLES = {
    **dict.fromkeys(("diff ", "index ", "--- ", "+++ ", "similarity ", "rename "), "bold"),
    "+": "green",
    "-": "red",
    "@": "cyan",
}
"""The beginning of a patch's line and its style; the first that fits."""
TITLE = "before the first heading"


def diff(result: DiffResult) -> None:
    """Draw what came and what went."""
    console = screen()
    _head(console, result.before, result.after)
    if result.is_empty:
        console.print("Nothing differs.")
    _part(console, "knowledge", _entries(result))
    _part(console, "tasks", map(_task, result.tasks))
    moves = [*_moves("+", result.chunks_in), *_moves("-", result.chunks_out)]
    _part(console, f"results: {_moved(result)}", moves)
    for section in result.sections:
        lines = [
            *(("-", line) for line in section.removed),
            *(("+", line) for line in section.added),
        ]
        sign = SIGNS.get(section.change, "~")
        console.print(Text.assemble((f"{sign} ", STYLES[sign]), (_title(section.title), "bold")))
        for line in lines:
            _line(console, line)
    _note(console, result)


def stat(result: DiffResult) -> None:
    """Draw how much came and went."""
    console = screen()
    _head(console, result.before, result.after)
    if result.is_empty:
        console.print("Nothing differs.")
    if result.knowledge:
        console.print(f"knowledge: {_signs(sign for sign, _ in _entries(result))}")
    if result.tasks:
        console.print(f"tasks: {_signs(sign for sign, _ in map(_task, result.tasks))}")
    if result.chunks_in or result.chunks_out:
        console.print(f"results: {_moved(result)}")
    for section in result.sections:
        lines = f"+{len(section.added)} -{len(section.removed)}"
        console.print(Text(f"{_title(section.title)}: {lines}"))
    _note(console, result)


def patch(result: PatchResult) -> None:
    """Print a patch as git made it; where a person looks, in colours."""
    if not sys.stdout.isatty():
        print_raw(result.patch)
        return
    console = screen()
    for line in result.patch.removesuffix("\n").split("\n"):
        styles = (style for start, style in PATCH_STYLES.items() if line.startswith(start))
        console.print(Text(printable(line), next(styles, "")), soft_wrap=True)


def _head(console: Console, before: Side, after: Side) -> None:
    for sign, side in (("-", before), ("+", after)):
        line = f"{sign * 3} {printable(side.name)} ({ago(side.at)})"
        console.print(Text(line, "bold"))


def _part(console: Console, title: str, lines: Iterable[tuple[str, str]]) -> None:
    for number, line in enumerate(lines):
        if number == 0:
            console.print(Text(title, "bold"))
        _line(console, line)


def _line(console: Console, line: tuple[str, str]) -> None:
    sign, text = line
    console.print(Text(printable(f"  {sign} {text}"), STYLES[sign]))


def _note(console: Console, result: DiffResult) -> None:
    if not result.chunks_compared:
        console.print("Tool results are not compared: one side holds none.", style="dim")


def _entries(result: DiffResult) -> Iterator[tuple[str, str]]:
    for entry in result.knowledge:
        yield SIGNS.get(entry.change, "~"), entry.path


def _task(task: TaskDiff) -> tuple[str, str]:
    before, after = task.before, task.after
    if before is None or after is None:
        sign, facts = ("+", after) if before is None else ("-", before)
        return sign, f"{task.label} ({facts.status}): {facts.subject}" if facts else task.label
    changed = [
        f"{old} \u2192 {new}"
        for old, new in ((before.status, after.status), (before.subject, after.subject))
        if old != new
    ]
    return "~", f"{task.label}: {', '.join(changed)}"


def _moves(sign: str, chunks: Sequence[ChunkMove]) -> Iterator[tuple[str, str]]:
    for chunk in chunks:
        path = f" {chunk.path}" if chunk.path else ""
        yield sign, f"{chunk.id} {chunk.tool}{path} ({format_tokens(chunk.tokens)} tokens)"


def _moved(result: DiffResult) -> str:
    return (
        f"{len(result.chunks_in)} in ({format_tokens(result.tokens_in)} tokens), "
        f"{len(result.chunks_out)} out ({format_tokens(result.tokens_out)} tokens)"
    )


def _signs(signs: Iterable[str]) -> str:
    count = Counter(signs)
    words = (("+", "added"), ("-", "gone"), ("~", "changed"))
    return ", ".join(f"{count[sign]} {word}" for sign, word in words if count[sign])


def _title(title: str) -> str:
    return printable(title) or f"({TITLE})"
