"""Recaps prepared ahead, so that a session's start only has to print one.

One for each session (told again after a compaction or a resume) and one for each work tree
(told to the next session there): the work tree's path on the first line, then the lines.
"""

from __future__ import annotations

from pathlib import Path

from ctxgit import gitdir
from ctxgit.actions.place import load_config
from ctxgit.deliver.frame import WHERE_LENGTH
from ctxgit.deliver.recap import Source, recap
from ctxgit.files import write_atomically
from ctxgit.model import TaskStatus
from ctxgit.paths import StorePaths
from ctxgit.store import layout, sessions
from ctxgit.store.git import Git


def write(store: StorePaths, branch: sessions.Branch) -> None:
    """Write the recaps that tell of ``branch``, or take them away where they are not wanted.

    Raises ConfigError, GitError, OSError.
    """
    state = branch.state
    if state is None:
        return
    config = load_config(store)
    work_tree = state.session.work_tree or state.session.cwd
    own, next_one = of_session(store, branch.key), of_work_tree(store, work_tree)
    # A session that was opened and left has nothing to tell, and hides none that has.
    is_told = bool(state.current_turn or state.chunks or state.tasks)
    paths = (own, next_one) if is_told else (own,)
    if not config.flag("recap.enabled"):
        for path in paths:
            path.unlink(missing_ok=True)
        return
    source = Source(name=branch.name, state=state, commits=_commits(store, branch))
    text = recap(source, limit=config.number("recap.max_characters") - WHERE_LENGTH)
    for path in paths:
        write_atomically(path, f"{work_tree}\n{text}\n".encode())


def of_session(store: StorePaths, key: str) -> Path:
    """Return the file of a session's own recap."""
    return store.session_dir(key) / "recap.txt"


def of_work_tree(store: StorePaths, work_tree: str) -> Path:
    """Return the file of the recap for the next session in ``work_tree``."""
    return store.recaps / f"{gitdir.work_tree_key(work_tree)}.txt"


def _commits(store: StorePaths, branch: sessions.Branch) -> dict[int, str]:
    state = branch.state
    tasks = state.tasks.values() if state else ()
    done = {task.label: task.number for task in tasks if task.status is TaskStatus.DONE}
    if not done:
        return {}
    prefix = f"{layout.TASK_TAGS}{branch.name}/"
    refs = Git(store.git_dir).refs(prefix)
    labels = {ref.removeprefix(prefix): oid[:10] for ref, oid in refs.items()}
    return {done[label]: oid for label, oid in labels.items() if label in done}
