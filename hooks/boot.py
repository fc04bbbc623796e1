"""Start ctxgit from a hook: ``python -I -S boot.py RECORD VERB STORE [ARGUMENT …]``.

Isolated and without ``site``, since an interpreter's start is all the time a hook has. So
the folders to import from are those recorded with the interpreter (lines 2 and following
of the file RECORD, see ``python.sh``). Without a record the hook leaves out ``-I -S``, and
the interpreter knows them itself. Always exits 0.
"""

from __future__ import annotations

import sys


def _recorded(record: str) -> list[str]:
    try:
        with open(record, encoding="utf-8") as file:  # noqa: PTH123 - pathlib is too slow to import here
            return file.read().splitlines()[1:]
    except (OSError, ValueError):
        return []


def _around() -> str:
    """Return where the package may be that brought this plugin along: around it, or in it."""
    return __file__.rsplit("/", 2)[0].removesuffix("/ctxgit/plugin")


def _main(record: str, verb: str, store: str, *arguments: str) -> None:
    sys.path[:0] = _recorded(record)
    sys.path.append(_around())
    try:
        from ctxgit.cli.hook import run  # noqa: PLC0415 - the path had to be set first

        run(verb, store, list(arguments), is_recorded=bool(record))
    except ImportError as error:
        _forget(record, store, error)


def _forget(record: str, store: str, error: ImportError) -> None:
    """Let the next hook look for another interpreter, and say why in the store's log."""
    import os  # noqa: PLC0415 - hardly ever needed
    import time  # noqa: PLC0415 - the same

    if record:
        os.unlink(record)  # noqa: PTH108 - as above
    if store:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with open(f"{store}/.git/ctx/log", "a", encoding="utf-8") as file:  # noqa: PTH123 - as above
            file.write(f"{now} boot: {sys.executable} cannot run ctxgit: {error}\n")


if __name__ == "__main__":
    try:
        _main(*sys.argv[1:])
    except Exception:  # noqa: BLE001, S110 - a hook never fails the agent
        pass
    finally:
        import os

        os._exit(0)  # the interpreter's own clearing up takes a quarter of its start
