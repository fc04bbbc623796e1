"""Markdown by section. The only module that imports markdown-it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ctxgit.records import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]|$)")
_CLOSING = re.compile(r"[ \t]+#+\Z")
_NEEDS_PARSER = re.compile(
    r"^(?: {0,3}(?:```|~~~|<|=+[ \t]*$|-+[ \t]*$)"  # a fence, HTML, an underlined heading
    r"|[ \t]+\#)"  # perhaps within a list
    r"|[\0\r]",
    re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading and what follows until the next, of whatever level.

    ``title`` is the heading's text; it is empty, and ``level`` 0, for what comes before the first
    heading. ``heading`` is the heading as it is written, ``body`` the rest, both with their
    line ends.
    """

    title: str
    level: int
    heading: str
    body: str

    @property
    def text(self) -> str:
        """The section as it is written."""
        return self.heading + self.body


def sections(text: str) -> list[Section]:
    """Return the sections of ``text``, in order; put together they are the text again.

    Headings in code, quotes and lists are none of the document's. Without any text there is
    no section.
    """
    lines = _LINE.findall(text)
    is_plain = _NEEDS_PARSER.search(text) is None
    headings = list(_plain_headings(lines) if is_plain else _parsed_headings(text))
    found: list[Section] = []
    if lines and (not headings or headings[0].start > 0):
        end = headings[0].start if headings else len(lines)
        found.append(Section(title="", level=0, heading="", body="".join(lines[:end])))
    ends = [heading.start for heading in headings[1:]] + [len(lines)]
    for heading, end in zip(headings, ends, strict=True) if headings else ():
        found.append(
            Section(
                title=heading.title,
                level=heading.level,
                heading="".join(lines[heading.start : heading.body]),
                body="".join(lines[heading.body : end]),
            )
        )
    return found


@dataclass(frozen=True, kw_only=True)
class _Heading:
    """A heading: the number of its first line, and of the first line after it."""

    title: str
    level: int
    start: int
    body: int


def _plain_headings(lines: list[str]) -> Iterator[_Heading]:
    """Yield the headings of a text in which nothing else looks like one.

    The parser takes as long to import as nine starts of an interpreter, and most texts that
    are compared have no need of it.
    """
    for number, line in enumerate(lines):
        found = _HEADING.match(line.rstrip("\n"))
        if found:
            title = _CLOSING.sub("", line[found.end(1) :].rstrip(" \t\n")).strip()
            yield _Heading(title=title, level=len(found[1]), start=number, body=number + 1)


def _parsed_headings(text: str) -> Iterator[_Heading]:
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(text)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            yield _Heading(
                title=_words(inline.content),
                level=int(opening.tag.removeprefix("h")),
                start=opening.map[0],
                body=opening.map[1],
            )


def _words(title: str) -> str:
    return " ".join(title.split("\n"))
