"""What a verb prints: a result object as JSON, errors in git's form."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from ctxgit.documents import jsonable
from ctxgit.text import printable

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from ctxgit.errors import CtxError

SCHEMA = 1
"""Version of the envelope; a change that a reader would notice raises it."""


def print_json(command: str, result: DataclassInstance) -> None:
    """Print ``result`` in the envelope, one line."""
    from dataclasses import asdict  # noqa: PLC0415 - a sync that prints words needs none

    _print({"schema": SCHEMA, "command": command, "data": asdict(result)})


def print_error(error: CtxError, *, command: str, as_json: bool) -> None:
    """Print an expected failure: to stderr, and as JSON to stdout where that was asked for."""
    if as_json:
        failure = {"code": error.code, "message": error.message, "hint": error.hint}
        _print({"schema": SCHEMA, "command": command, "error": failure})
    else:
        tell(printable(f"error: {error.message}"))
        if error.hint:
            tell(printable(f"hint: {error.hint}"))


def tell(line: str) -> None:
    """Print a line for the person, which is no result."""
    print(line, file=sys.stderr)  # noqa: T201 - this is where the program prints


def print_raw(content: str) -> None:
    """Print stored text byte for byte, whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content.encode())


def _print(envelope: dict[str, object]) -> None:
    text = json.dumps(envelope, default=jsonable, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:  # a path that is no text, a terminal of another encoding
        text = json.dumps(envelope, default=jsonable)
    print(text)  # noqa: T201 - this is where the program prints
