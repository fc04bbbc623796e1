"""The command line: ``ctx``, ``ctxgit``, ``python -m ctxgit``, and what hooks start."""

from __future__ import annotations

import gc

gc.disable()  # a process of a moment leaves no cycles worth the time to look for them


def main() -> None:
    """Run the command line and exit with its code.

    Once all is written, the process ends there and then: the interpreter's own clearing up
    would take as long as half its start.
    """
    import os  # noqa: PLC0415 - hooks import this package too, and have no time
    import sys  # noqa: PLC0415

    from ctxgit.cli.entry import main as run  # noqa: PLC0415

    try:
        run()
    except SystemExit as leaving:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):  # full, gone or closed: the interpreter says so
            raise leaving from None
        if isinstance(leaving.code, int):
            os._exit(leaving.code)
        raise
