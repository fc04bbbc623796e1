"""Which Python runs ctxgit: recorded for hooks, which have no time to look for it.

``hooks/python.sh`` reads the record and says where it lies and why there.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

from ctxgit import paths
from ctxgit.files import write_atomically

IMPORTED = ("ctxgit", "tomli_w")
"""What a hook imports that is not of the standard library: the folder of each is recorded."""


def record() -> bool:
    """Record the running interpreter for the user and, in a hook, for the plugin.

    Returns whether a record changed. Raises OSError.
    """
    plugin_data = os.environ.get("CLAUDE_PLUGIN_DATA")
    folders = [paths.user_data_dir(), *([Path(plugin_data)] if plugin_data else [])]
    data = _record()
    changed = [_write(folder / "interpreter", data) for folder in folders]
    return any(changed)


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
