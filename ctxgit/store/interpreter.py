"""Which Python runs ctxgit: recorded for hooks, which have no time to look for it.

The record's first line is the interpreter, each further line a folder to import from.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

from ctxgit.files import write_atomically
from ctxgit.paths import StorePaths

IMPORTED = ("ctxgit", "tomli_w")
"""What a hook imports that is not of the standard library: each folder is recorded."""


def record(store: StorePaths) -> bool:
    """Record the running interpreter for ``store`` and, in a hook, for the plugin.

    Returns whether the store's record changed. Raises OSError.
    """
    data = _record()
    plugin_data = os.environ.get("CLAUDE_PLUGIN_DATA")
    if plugin_data:
        _write(Path(plugin_data) / "interpreter", data)
    return _write(store.interpreter, data)


def _record() -> bytes:
    folders = dict.fromkeys(
        str(Path(spec.origin).parent.parent)
        for name in IMPORTED
        if (spec := importlib.util.find_spec(name)) is not None and spec.origin
    )
    return "".join(f"{line}\n" for line in (sys.executable, *folders)).encode()


def _write(path: Path, data: bytes) -> bool:
    if path.is_file() and path.read_bytes() == data:
        return False
    write_atomically(path, data)
    return True
