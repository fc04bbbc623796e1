"""Estimating how many tokens a text takes in a model's context."""

from __future__ import annotations

ASCII_PER_TOKEN = 4
"""Characters of English or code to a token, Anthropic's published rule of thumb."""


def estimate_tokens(text: str) -> int:
    """Return about how many tokens ``text`` is; at least 1 unless it is empty.

    ASCII counts a quarter token a character, everything else one token a character, which
    is near the truth for scripts that a tokenizer splits finely and high for the rest. The
    figure ranks and sums; it is not a bill.
    """
    if text.isascii():
        return -(-len(text) // ASCII_PER_TOKEN)
    ascii_count = len(text.encode("ascii", "ignore"))
    return -(-ascii_count // ASCII_PER_TOKEN) + len(text) - ascii_count


def format_tokens(count: int) -> str:
    """Return a token count as people say it: ``640``, ``12.3k``, ``1.2M``."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size - size // 20_000:  # what would round to 1000 of the smaller unit
            return f"{count / size:.1f}".removesuffix(".0") + unit
    return str(count)
