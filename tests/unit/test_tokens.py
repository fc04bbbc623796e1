from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgit.tokens import estimate_tokens, format_tokens

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("修复登录", 4),
        ("abcd修复", 3),
        ("a修", 2),
        ("🚀", 1),
        ("\ud800", 1),
    ],
)
def test_a_quarter_for_ascii_and_one_for_all_else(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(ANY_TEXT, ANY_TEXT)
def test_more_text_is_never_fewer_tokens(text: str, more: str) -> None:
    together = estimate_tokens(text + more)
    assert together >= estimate_tokens(text)
    assert together <= estimate_tokens(text) + estimate_tokens(more)
    assert (estimate_tokens(text) == 0) == (text == "")


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0"),
        (640, "640"),
        (999, "999"),
        (1_000, "1k"),
        (12_345, "12.3k"),
        (999_900, "999.9k"),
        (999_949, "999.9k"),
        (999_950, "1M"),
        (999_999, "1M"),
        (1_000_000, "1M"),
        (1_250_000, "1.2M"),
    ],
)
def test_counts_are_said_shortly(count: int, shown: str) -> None:
    assert format_tokens(count) == shown
