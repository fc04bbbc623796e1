"""The entry: which part of the command line runs, and what its failures become."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from ctxgit.cli.output import print_error, tell
from ctxgit.errors import CtxError

BUG_EXIT, INTERRUPT_EXIT = 3, 130


def main() -> NoReturn:
    """Run the command line; the one place where failures become words and exit codes."""
    arguments = sys.argv[1:]
    command = next((word for word in arguments if not word.startswith("-")), "")
    try:
        _chosen(arguments)()
    except CtxError as error:
        print_error(error, command=command, as_json="--json" in arguments)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(INTERRUPT_EXIT)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception:  # noqa: BLE001 - this is the boundary
        from ctxgit.cli import crash  # noqa: PLC0415 - hopefully never

        tell(crash.report(command))
        sys.exit(BUG_EXIT)
    sys.exit(0)


def _chosen(arguments: Sequence[str]) -> Callable[[], None]:
    """Return what runs ``arguments``.

    Scripts and hooks call ``ctx sync`` plainly, and then the command line's own start would
    cost more than the work; any other form goes through the whole of it.
    """
    if arguments and arguments[0] == "sync" and set(arguments[1:]) <= {"--json"}:
        from ctxgit.cli.verbs import sync_plainly  # noqa: PLC0415 - see above

        return lambda: sync_plainly(as_json="--json" in arguments)
    from ctxgit.cli.app import app  # noqa: PLC0415 - see above

    return app
