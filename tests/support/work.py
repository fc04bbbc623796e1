"""Sessions with some work in them, for tests of verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.events import ACTIVE, DONE, SESSION, Story

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "ffffffff-0000-4000-8000-000000000002"


def work(directory: Path, session: str = SESSION) -> Story:
    """A session in ``directory`` with a task done, another open, and a turn without one."""
    story = Story(session=session).start(cwd=str(directory))
    story.prompt("Read the notes").result("note1", "the notes\n").stop("They are short.")
    story.prompt("Fix the login <now>").create("1", "Fix the login", call="made1")
    story.update("1", ACTIVE, call="used1").result(
        "read1", "def login(): ...\n", paths=(f"{directory}/a.txt",)
    )
    story.update("1", DONE, call="done1").create("2", "Test it", call="made2")
    story.update("2", ACTIVE, call="used2")
    return story.result("bash1", "2 failed\n", tool="Bash", failed=True).stop("One is left.")
