"""Start ctxgit from a hook: ``python -I -S boot.py RECORD VERB STORE [ARGUMENT …]``.

Isolated and without ``site``, since an interpreter's start is all the time a hook has. So
the folders to import from are those recorded with the interpreter (lines 2 and following
of the file RECORD, see ``python.sh``); without a record, the package around this plugin.
Always exits 0.
"""

from __future__ import annotations

import sys


def _recorded(record: str) -> list[str]:
    try:
        with open(record, encoding="utf-8") as file:  # noqa: PTH123 - pathlib is too slow to import here
            return file.read().splitlines()[1:]
    except (OSError, ValueError):
        return []


def _around() -> list[str]:
    plugin = __file__.rsplit("/", 2)[0]
    return [plugin, plugin.rsplit("/", 2)[0]]


def _main() -> None:
    record, verb, store, *arguments = sys.argv[1:]
    sys.path[:0] = _recorded(record) or _around()
    try:
        from ctxgit.cli.hook import run  # noqa: PLC0415 - the path had to be set first
    except ImportError:
        import site  # noqa: PLC0415

        site.main()
        from ctxgit.cli.hook import run  # noqa: PLC0415
    run(verb, store, arguments, is_recorded=bool(record))


try:  # noqa: SIM105 - contextlib is slow to import here
    _main()
except Exception:  # noqa: BLE001, S110 - a hook never fails the agent
    pass
