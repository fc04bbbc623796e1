"""Finds the programs an end-to-end test needs, or tells pytest why it cannot run."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

VERSION = (Path(__file__).parents[1] / "CLIENT_VERSION").read_text(encoding="utf-8").strip()


def _client_folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parent = Path(os.environ.get("CTXGIT_CLIENT_DIR") or cache / "ctxgit")
    return parent / f"claude-code-{VERSION}"


CLIENT_FOLDER = _client_folder()
"""Where ``.ci/install-client`` puts the pinned client; found before a test moves HOME."""


def client_binary() -> Path:
    """Return the pinned client's program, whether it is there or not."""
    return CLIENT_FOLDER / "node_modules" / ".bin" / "claude"


def missing() -> str:
    """Return why the client cannot be driven here, in one sentence; empty when it can."""
    if sys.platform != "linux":
        return "the client is confined with Linux's means"
    if not client_binary().exists():
        return f"no Claude Code {VERSION} here: .ci/install-client installs it"
    if shutil.which("tmux") is None:
        return "no tmux here: .ci/install-client says how to get it"
    return ""
