"""The whole command line run, its refusals told as every other failure is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ctxgit.cli.app import WrongUse, app
from ctxgit.cli.output import tell
from ctxgit.errors import UsageError

if TYPE_CHECKING:
    from typing import Any


def run() -> int:
    """Run the command line and return the exit code.

    Raises what the verbs raise, and UsageError for what cannot be parsed.
    """
    called = Path(sys.argv[0]).name
    name = "ctx" if called == "__main__.py" else called
    try:
        code = app(prog_name=name, standalone_mode=False)
    except WrongUse as error:
        return _refuse(error)
    return code if isinstance(code, int) else 0


def _refuse(error: Any) -> int:  # noqa: ANN401 - see WrongUse
    text = str(error.format_message())
    if type(error).__name__ == "NoArgsIsHelpError":  # the help stands for the refusal
        tell(text)
        return int(error.exit_code)
    where = error.ctx.command_path if error.ctx else "ctx"
    raise UsageError(text[:1].lower() + text[1:].rstrip("."), hint=f"try: {where} --help")
