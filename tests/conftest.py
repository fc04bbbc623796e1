"""Every test runs with an empty home, no user configuration and a fixed git identity."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pathlib import Path

settings.register_profile("ctxgit", derandomize=True, database=None, deadline=None, max_examples=60)
settings.load_profile("ctxgit")

FOREIGN = ("GIT_", "XDG_", "CLAUDE_", "CTX_")
IDENTITY = {
    "GIT_AUTHOR_NAME": "A. Author",
    "GIT_AUTHOR_EMAIL": "author@example.com",
    "GIT_COMMITTER_NAME": "C. Committer",
    "GIT_COMMITTER_EMAIL": "committer@example.com",
}


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, in which all that reads the user's settings ends up."""
    home = tmp_path_factory.mktemp("home")
    nothing = home / ".empty-gitconfig"
    nothing.touch()
    for name in os.environ:
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
    places = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "CLAUDE_CONFIG_DIR": home / ".claude",
        "GIT_CONFIG_GLOBAL": nothing,
        "GIT_CONFIG_SYSTEM": nothing,
    }
    fixed = {"TZ": "UTC", "LC_ALL": "C.UTF-8"}
    for name, value in {**places, **IDENTITY, **fixed}.items():
        monkeypatch.setenv(name, str(value))
    return home
