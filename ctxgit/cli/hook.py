"""The verbs that ``hooks/boot.py`` runs. What goes wrong in one is logged."""

from __future__ import annotations

import sys


def run(verb: str, store: str, arguments: list[str], *, is_recorded: bool) -> None:
    """Run the hook verb ``verb`` on the store at path ``store``, and print its answer.

    ``session-start NAME`` answers from what was prepared; ``pre-compact SESSION`` and
    ``sync SESSION`` take the spool in; ``no-store DIRECTORY`` is for a project without one.
    An interpreter that had to be looked for is recorded; ImportError is raised where it has
    not what it takes.
    """
    answer = ""
    try:
        if verb == "session-start":
            from ctxgit.actions.session_start import answer_from  # noqa: PLC0415 - each verb
            # imports what it needs: this one has an interpreter's start as its whole budget

            answer = answer_from(store, arguments[0])
        else:
            from ctxgit.actions import hooks  # noqa: PLC0415

            if not is_recorded:
                from ctxgit.actions import interpreter  # noqa: PLC0415

                interpreter.record()
            answer = hooks.VERBS[verb](store, *arguments)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - a hook never fails the agent
        _log(store, verb, error)
    if answer:
        sys.stdout.buffer.write(answer.encode())
        sys.stdout.buffer.flush()


def _log(store: str, verb: str, error: Exception) -> None:
    from pathlib import Path  # noqa: PLC0415 - see above

    from ctxgit.diagnostics import log  # noqa: PLC0415

    if store:
        log(Path(store, ".git", "ctx", "log"), verb, f"{type(error).__name__}: {error}")
