"""The entry: which part of the command line runs, and what its failures become."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from ctxgit.cli.output import print_error, tell
from ctxgit.errors import CtxError

BUG_EXIT, INTERRUPT_EXIT = 3, 130
NO_BUG = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    *(errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENAMETOOLONG),
    *(errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENOTEMPTY),
}
"""What the system refuses for reasons that the person can do something about."""


def main() -> NoReturn:
    """Run the command line; the one place where failures become words and exit codes."""
    arguments = sys.argv[1:]
    _open_streams()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except CtxError as error:
        code = _fail(error, arguments)
    except KeyboardInterrupt:
        code = INTERRUPT_EXIT
    except BrokenPipeError:  # the reader has seen enough
        code = 0
        _drop_output()
    except Exception as error:  # noqa: BLE001 - this is the boundary
        code = _fail_unforeseen(error, arguments)
    sys.exit(code)


def _run(arguments: Sequence[str]) -> int:
    """Run ``arguments`` and return the exit code.

    Scripts and hooks call ``ctx sync`` plainly, and then the command line's own start would
    cost more than the work; any other form goes through the whole of it.
    """
    if arguments and arguments[0] == "sync" and set(arguments[1:]) <= {"--json"}:
        from ctxgit.cli.verbs import sync_plainly  # noqa: PLC0415 - see above

        sync_plainly(as_json="--json" in arguments)
        return 0
    from ctxgit.cli.parse import run  # noqa: PLC0415 - see above

    return run()


def _fail(error: CtxError, arguments: Sequence[str]) -> int:
    try:
        print_error(error, command=_command(arguments), as_json="--json" in arguments)
        sys.stdout.flush()
    except OSError:  # nobody can be told
        _drop_output()
    return error.exit_code


def _fail_unforeseen(error: Exception, arguments: Sequence[str]) -> int:
    if isinstance(error, OSError) and error.errno in NO_BUG:
        what = f"cannot use {error.filename}" if error.filename else "cannot write the output"
        return _fail(CtxError(f"{what}: {error.strerror}"), arguments)
    from ctxgit.cli import crash  # noqa: PLC0415 - hopefully never

    tell(crash.report(_command(arguments)))
    return BUG_EXIT


def _command(arguments: Sequence[str]) -> str:
    """Return the verb that was asked for, by the name that its result would have."""
    words = [word for word in arguments if not word.startswith("-")]
    if words and "ctxgit.cli.app" in sys.modules:
        from ctxgit.cli.app import app  # noqa: PLC0415 - it is there already

        is_group = words[0] in {group.name for group in app.registered_groups}
        return " ".join(words[: 1 + is_group])
    return words[0] if words else ""


def _open_streams() -> None:
    """Let there be somewhere to write to that takes every character, whatever the caller gave."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - for good
        elif stream.errors == "strict":
            stream.reconfigure(errors="replace")


def _drop_output() -> None:
    """Let what is not written yet go nowhere: the interpreter would complain at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # not a file of the system's, or closed
        return
