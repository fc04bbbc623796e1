"""What all drawing is made of. The only module that imports rich."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from rich.console import Console  # noqa: TID253 - imported lazily, only when a person looks
from rich.table import Table  # noqa: TID253 - the same
from rich.text import Text  # noqa: TID253 - the same

__all__ = ["Console", "Text", "ago", "counted", "plain", "print_table", "screen", "table_of"]

MINUTE, HOUR, DAY = 60, 3600, 86400


class _Console(Console):
    """A console that leaves it to the entry what a reader's going means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def screen() -> Console:
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


def table_of(*columns: str | tuple[str, str]) -> Table:
    """Return a table with a head and no lines; a column is a title, or that and its side."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        name, justify = (column, "left") if isinstance(column, str) else column
        table.add_column(name, justify="right" if justify == "right" else "left")
    return table


def print_table(table: Table) -> None:
    """Print a table; where nobody looks, without the blanks that fill its last column."""
    console = screen()
    if sys.stdout.isatty():
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        console.print(line.rstrip())


def counted(number: int, word: str) -> str:
    """Return a number with its word, as ``2 tasks``."""
    return f"{number} {word}{'s' * (number != 1)}"


def plain(value: object) -> str:
    """Return a value of a record as a person reads it."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S} UTC"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def ago(moment: datetime) -> str:
    """Return how long ago a moment was, in its largest unit."""
    seconds = max(0, int((datetime.now(UTC) - moment).total_seconds()))
    for size, unit in ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")):
        if seconds >= size:
            return f"{counted(seconds // size, unit)} ago"
    return "just now"
