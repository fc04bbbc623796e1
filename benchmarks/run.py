"""Measure ctxgit against its bars and print the table; exit 1 when one is missed.

All times are taken in one interleaved run of whole processes, in units of P (the start and
end of the interpreter) and F (the least git fast-import), so that the table says the same
on a fast machine and a slow one. See ``docs/benchmark.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bars import BARS, Bar, SizeBar, TimeBar
from stores import ROOT, Place
from subjects import SUBJECTS
from timer import Round, interleave, tenths

ROUNDS, QUICK_ROUNDS = 60, 5
MILLISECONDS = 1000


@dataclass(frozen=True)
class Measured:
    """A bar and what was measured, with the bounds of the outer tenths for times."""

    bar: Bar
    figure: float
    low: float | None = None
    high: float | None = None

    @property
    def met(self) -> bool:
        """Whether the figure, as it is printed, is within the bar."""
        return round(self.figure, 2) <= self.bar.limit


def main() -> int:
    """Run what the command line asks for; return the exit code."""
    options = _options()
    place = Place(work=options.work.resolve(), quick=options.quick, tell=_tell)
    bars = [bar for bar in BARS if not options.only or _is_chosen(bar, options.only)]
    if not bars:
        _tell(f"no bar is called {options.only}")
        return 2
    place.install()
    rounds = _rounds(place, bars, options.rounds)
    measured = [_measured(bar, place, rounds) for bar in bars]
    _print_table(measured, rounds)
    return 0 if all(each.met for each in measured) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small stores, few rounds")
    parser.add_argument("--only", action="append", metavar="NAME", help="bars with NAME in them")
    parser.add_argument("--rounds", type=int, help=f"{ROUNDS} without, {QUICK_ROUNDS} if quick")
    parser.add_argument("--work", type=Path, default=ROOT / ".bench", help="keeps the stores")
    options = parser.parse_args()
    options.rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    return options


def _is_chosen(bar: Bar, words: Iterable[str]) -> bool:
    return any(word.casefold() in bar.name.casefold() for word in words)


def _rounds(place: Place, bars: Sequence[Bar], count: int) -> list[Round]:
    wanted = {name for bar in bars if isinstance(bar, TimeBar) for name in bar.subjects}
    if not wanted:
        return []
    made = {name: make(place) for name, make in SUBJECTS.items() if name in wanted | {"P", "F"}}
    return interleave(made, rounds=count, tell=lambda done: _tell(f"round {done} of {count}"))


def _measured(bar: Bar, place: Place, rounds: Sequence[Round]) -> Measured:
    if isinstance(bar, SizeBar):
        _tell(f"measuring {bar.name}")
        return Measured(bar, bar.measure(place))
    figures = [bar.figure(times) for times in rounds]
    return Measured(bar, median(figures), *tenths(figures))


def _print_table(measured: Sequence[Measured], rounds: Sequence[Round]) -> None:
    _tell("")
    print(f"{_machine()}\n")
    if rounds:
        print(f"{_noise('P', rounds)}\n{_noise('F', rounds)}\n")
    print("| what | bar | measured | tenths | met |")
    print("|---|---|---|---|---|")
    for each in measured:
        bar = each.bar
        range_ = "" if each.low is None else f"{each.low:.2f} to {each.high:.2f}"
        print(
            f"| {bar.name} | <= {bar.shown}{bar.limit:g} {bar.unit}"
            f" | {bar.shown}{each.figure:.2f} {bar.unit} | {range_}"
            f" | {'yes' if each.met else 'NO'} |"
        )


def _noise(name: str, rounds: Sequence[Round]) -> str:
    times = [each[name] * MILLISECONDS for each in rounds]
    low, high = tenths(times)
    return (
        f"{name} took {median(times):.1f} ms; in eight of ten rounds between {low:.1f}"
        f" and {high:.1f} ({len(times)} rounds)."
    )


def _machine() -> str:
    git = subprocess.run(["git", "version"], capture_output=True, text=True, check=True).stdout
    return (
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} processors,"
        f" Python {platform.python_version()}, {git.strip()}."
    )


def _tell(line: str) -> None:
    end = "" if sys.stderr.isatty() else "\n"
    start = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{start}{line}", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
