from __future__ import annotations

import subprocess
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgit.text import (
    SLUG_LENGTH,
    is_safe_id,
    one_line,
    printable,
    replace_surrogates,
    slugify,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()))
STEERING = "\0\t\x07\x1b\x7f\x85\x9b\u2028\u2029\u200e\u200f\u202a\u202e\u2066\u2069\u061c"


# --- slugify -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Fix the login", "fix-the-login"),
        ("  --Fix__the//login!? ", "fix-the-login"),
        ("GROẞE Änderung", "grosse-änderung"),
        ("ﬁx \uff12", "fix-2"),
        ("修复 登录", "修复-登录"),
        ("हिन्दी में", "हिन्दी-में"),
        ("\u0301\ufe0f🚀\ufe0f", "untitled"),
        ("1\ufe0f\u20e3 step", "1-step"),
        ("a - _ b", "a-b"),
        ("", "untitled"),
        ("🚀 / .. \n", "untitled"),
        ("../../etc/passwd", "etc-passwd"),
        ("a.lock", "a-lock"),
        ("HEAD@{1}~^:?*[\\", "head-1"),
    ],
)
def test_a_name_is_made_of_words(text: str, name: str) -> None:
    assert slugify(text) == name


def test_what_is_untitled_can_be_called_otherwise() -> None:
    assert slugify("?", default="task") == "task"


def test_a_long_name_is_cut_between_words() -> None:
    assert slugify("one two three four five six seven eight nine") == (
        "one-two-three-four-five-six-seven-eight"
    )
    assert slugify("x" * 400) == "x" * SLUG_LENGTH


@given(ANY_TEXT)
def test_a_name_is_short_safe_and_stays_itself(text: str) -> None:
    name = slugify(text)
    assert 0 < len(name) <= SLUG_LENGTH
    assert len(name.encode()) < 200
    assert not name.startswith("-")
    assert not name.endswith("-")
    assert not set(name) & set("/. ~^:?*[\\\x7f\"'@{}")
    assert not any(unicodedata.category(character).startswith("C") for character in name)
    assert "--" not in name
    assert unicodedata.normalize("NFC", name) == name
    assert slugify(name) == name


@settings(max_examples=4)
@given(st.lists(ANY_TEXT, min_size=30, max_size=30))
def test_git_takes_every_name_in_a_ref(texts: list[str]) -> None:
    for ref in {f"refs/tags/task/s/01-{slugify(text)}" for text in texts}:
        command = ["git", "check-ref-format", ref]
        assert subprocess.run(command, check=False).returncode == 0, ref


# --- one_line ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "limit", "line"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("ab cd", 4, "ab…"),
        ("abc\n", 9, "abc"),
        ("a\tb\x0bc", 9, "a b …"),
        ("a\u061cb", 9, "a b"),
        ("abc\nd", 5, "abc …"),
        ("abc\nd", 4, "abc…"),
        ("abc\nd", 3, "ab…"),
        ("abc\nd", 1, "…"),
        ("\n\n abc \n def", 9, "abc …"),
        ("", 9, ""),
        ("\n \r\n", 9, ""),
        ("a\x00b\x1b[1mc", 9, "a b [1mc"),
        ("\u202eabc\u2066", 9, "abc"),
    ],
)
def test_a_line_is_the_first_that_says_something(text: str, limit: int, line: str) -> None:
    assert one_line(text, limit) == line


@given(ANY_TEXT, st.integers(1, 30))
def test_a_line_is_one_and_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert not set(line) & set(STEERING)
    assert line == line.strip()


# --- the rest ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["a", "0A-_z", "x" * 128])
def test_safe_ids(text: str) -> None:
    assert is_safe_id(text)


@pytest.mark.parametrize(
    "text", ["", "-a", "_a", "a.b", "a/b", "a b", "a\n", "\na", "é", "x" * 129]
)
def test_unsafe_ids(text: str) -> None:
    assert not is_safe_id(text)


def test_text_without_lone_surrogates_is_the_same_object() -> None:
    text = "häh 🚀"
    assert replace_surrogates(text) is text


def test_each_lone_surrogate_is_replaced_and_a_pair_is_joined() -> None:
    replaced = replace_surrogates("a\ud800b\udfff")
    assert (replaced[0], replaced[-1] == "b") == ("a", False)
    assert set(replaced) == {"a", "b", "\ufffd"}


@given(ANY_TEXT)
def test_replaced_text_can_be_encoded(text: str) -> None:
    assert replace_surrogates(replace_surrogates(text)) == replace_surrogates(text)
    replace_surrogates(text).encode()


def test_printable_text_shows_where_something_steered() -> None:
    assert printable("a\x1b[2Jb\nc") == "a\ufffd[2Jb c"
    assert printable("a\x1bb\nc\r", lines=True) == "a\ufffdb\nc\ufffd"


@given(ANY_TEXT, st.booleans())
def test_printable_text_steers_nothing(text: str, lines: bool) -> None:  # noqa: FBT001 - drawn
    shown = printable(text, lines=lines)
    assert not set(shown) & (set(STEERING) - {"\t"})
    assert lines or "\n" not in shown
    assert len(shown) == len(text)
