"""Recording stories in a real store, as a sync does, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxgit.store import sessions
from support.events import START, Story

if TYPE_CHECKING:
    from datetime import datetime

    from ctxgit.paths import StorePaths
    from ctxgit.store.git import Git


def loaded(store: StorePaths, key: str, started_at: datetime = START) -> sessions.Branch:
    """Return the branch of a session."""
    return sessions.load(store, key, started_at=started_at)


def record(store: StorePaths, story: Story, *, since: int = 0) -> sessions.Branch:
    """Commit the events of ``story`` from number ``since`` on (from 0); return the branch."""
    branch = loaded(store, story.session)
    added, _ = sessions.add(
        store, branch, story.steps(since), [event.id for event in story.events[since:]]
    )
    return added


def paths(repo: Git, commit: str) -> list[str]:
    """Return the paths of all files in a commit's tree."""
    return repo.run("ls-tree", "-r", "-z", "--name-only", commit).decode().split("\0")[:-1]


def content(repo: Git, name: str) -> str:
    """Return the content of an object."""
    return repo.run("cat-file", "blob", name).decode()
