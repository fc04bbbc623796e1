from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgit import markdown
from ctxgit.markdown import sections

LINES = st.sampled_from(
    [
        "", "words", "# One", "## Two", "###### Six", "####### seven", "#none", "#", "# ", "a  ",
        "# One #", "# `code`", "#\tTab", " # indented", "    # code", "\t# code", "```", "~~~",
        "```` sh", "===", "---", " - ", "- item", "  # in it", "1. item", "> quote", "> # quoted",
        "<!--", "-->", "<div>", "<pre>", "[a]: /b", "# a\\", "# é # ", "\\# no", "* * *", "  ",
        "# a#", "##  b  ##",
    ]
)  # fmt: skip
DOCUMENTS = st.builds(
    lambda lines, ends: "".join(map("".join, zip(lines, ends, strict=False))),
    st.lists(LINES, max_size=12),
    st.lists(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"]), min_size=12, max_size=12),
)


def told(text: str) -> list[tuple[int, str, str]]:
    return [(section.level, section.title, section.body) for section in sections(text)]


def test_a_section_goes_from_a_heading_to_the_next() -> None:
    assert told("# Goal\n\nShip it.\n## Files\n- a.py\n") == [
        (1, "Goal", "\nShip it.\n"),
        (2, "Files", "- a.py\n"),
    ]


def test_what_comes_before_the_first_heading_has_no_title() -> None:
    assert told("Hello\n\n# Goal\n") == [(0, "", "Hello\n\n"), (1, "Goal", "")]
    assert told("Only words") == [(0, "", "Only words")]


def test_without_text_there_is_no_section() -> None:
    assert sections("") == []


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n",
        "~~~~ md\n# no\n~~~\n# no\n~~~~\n",
        "```\n# a fence that nobody closed\n",
        "    # indented code\n",
        "<!--\n# in a comment\n-->\n",
        "<pre>\n\n# in HTML\n</pre>\n",
        "> # quoted\n",
        "- item\n\n  # in the item\n",
        "#hashtag\n",
        "####### seven\n",
        "\\# escaped\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert [section.level for section in sections(text)] == [0]


def test_headings_after_code_are_seen_again() -> None:
    assert [section.title for section in sections("# A\n```\n# no\n```\n# B\n")] == ["A", "B"]


def test_underlined_headings_count() -> None:
    (section,) = sections("Two\nlines\n===\nbody\n")
    assert (section.level, section.title) == (1, "Two lines")
    assert (section.heading, section.body) == ("Two\nlines\n===\n", "body\n")


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# Goal", "Goal"),
        ("#  Goal  ", "Goal"),
        ("## Goal ##", "Goal"),
        ("# C#", "C#"),
        ("#", ""),
        ("# Use `x` and *y*", "Use `x` and *y*"),
    ],
)
def test_the_title_is_the_headings_text(line: str, title: str) -> None:
    (section,) = sections(f"{line}\n")
    assert section.title == title


@given(DOCUMENTS | st.text(alphabet="#`~-=> \n\r\ta<\0\u2028\x85\x0b\x0c") | st.text())
def test_put_together_they_are_the_text_again(text: str) -> None:
    assert "".join(section.text for section in sections(text)) == text


@given(DOCUMENTS | st.text(alphabet="# \nab\t\xa0\x0c\u2028-"))
def test_the_short_way_finds_what_the_parser_finds(text: str) -> None:
    lines = markdown._LINE.findall(text)
    if markdown._NEEDS_PARSER.search(text) is None:
        assert list(markdown._plain_headings(lines)) == list(markdown._parsed_headings(text))
