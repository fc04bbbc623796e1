"""The command line: ``ctx``, ``ctxgit``, ``python -m ctxgit``, and what hooks start."""

from __future__ import annotations

import gc

gc.disable()  # a process of a moment leaves no cycles worth the time to look for them


def main() -> None:
    """Run the command line and exit with its code."""
    from ctxgit.cli.entry import main as run  # noqa: PLC0415 - hooks import this package too

    run()
