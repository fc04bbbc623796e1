"""What tools return, made up but true to life: pages of the standard library's source.

The same number gives the same page on the same Python.
"""

from __future__ import annotations

import random
import sysconfig
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

PAGE_BYTES = 4096
SOURCE_BYTES = 24 * 1024 * 1024


@dataclass(frozen=True)
class Page:
    """A part of a file: its path below the library's folder, and ASCII text."""

    path: str
    text: str


@dataclass(frozen=True)
class _Library:
    """All files one after the other: their paths, where each ends, and the text."""

    paths: list[str]
    ends: list[int]
    text: str


def page(number: int, size: int = PAGE_BYTES) -> Page:
    """Return ``size`` characters from the beginning of a line on; they may cross files."""
    library = _library()
    text = library.text * (1 + size * 2 // len(library.text))
    start = random.Random(number).randrange(len(text) - size)  # noqa: S311 - no secret
    start = text.rfind("\n", 0, start) + 1
    path = library.paths[bisect_right(library.ends, start) % len(library.paths)]
    return Page(path, text[start : start + size])


def reread(number: int, share: float) -> int:
    """Return the number of the page that call ``number`` returns.

    A ``share`` of the calls return what an earlier one returned, any of them alike.
    """
    while number:
        dice = random.Random(-number)  # noqa: S311 - no secret
        if dice.random() >= share:
            break
        number = dice.randrange(number)
    return number


@cache
def _library() -> _Library:
    folder = Path(sysconfig.get_path("stdlib"))
    paths, texts, size = [], [], 0
    for path in sorted(folder.rglob("*.py")):
        if size > SOURCE_BYTES or "site-packages" in path.parts:
            continue
        text = path.read_bytes().decode("ascii", "replace").replace("\ufffd", "?")
        paths.append(str(path.relative_to(folder)))
        texts.append(text)
        size += len(text)
    return _Library(paths, list(accumulate(map(len, texts))), "".join(texts))
