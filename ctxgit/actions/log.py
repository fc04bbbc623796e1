"""``ctx log``: what happened, newest first."""

from __future__ import annotations

import os

from ctxgit.actions.place import Place, current_branch, find_session
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.look.log import LogEntry, LogQuery, read_log
from ctxgit.records import dataclass, replace
from ctxgit.store import index, layout
from ctxgit.store.git import Git


@dataclass(frozen=True, kw_only=True)
class LogResult:
    """Commits, newest first."""

    commits: tuple[LogEntry, ...]


def log(
    place: Place,
    *,
    limit: int = 50,
    task: str | None = None,
    since: str | None = None,
    path: str | None = None,
    grep: str | None = None,
) -> LogResult:
    """Return the newest commits of the session that is asked for, else of all sessions.

    Only those that meet every condition: about ``task`` (a number or label of the present
    session, else a label in any); ``since`` a time in git's words; with results that read or
    wrote the file or folder ``path``; with the text ``grep`` in their message, in any case.

    Raises NotFoundError for an unknown session or task, UsageError for an empty condition.
    """
    git = Git(place.store.git_dir)
    for name, given in (("task", task), ("since", since), ("path", path), ("grep", grep)):
        if given is not None and not given.strip():
            raise UsageError(f"--{name} is empty", hint="say what to look for, or leave it out")
    query = LogQuery(
        limit=limit,
        refs=_session_refs(place, git) if place.session else (),
        since=since or "",
        grep=grep or "",
        among=_touching(place, git, path) if path is not None else None,
    )
    found = _about_task(place, git, query, task) if task is not None else read_log(git, query)
    return LogResult(commits=tuple(_on_branches(place, found)))


def _on_branches(place: Place, found: list[LogEntry]) -> list[LogEntry]:
    """Return commits with their branches, also those that were found by their ids."""
    if all(entry.branch for entry in found):
        return found
    with index.opened(place.store) as opened:
        names = {entry.key: f"session/{entry.name}" for entry in opened.sessions()}
    return [
        entry if entry.branch else replace(entry, branch=names.get(entry.session, ""))
        for entry in found
    ]


def _session_refs(place: Place, git: Git) -> tuple[str, ...]:
    with index.opened(place.store) as opened:
        opened.refresh(git)
        return (layout.SESSIONS + find_session(place, opened).name,)


def _about_task(place: Place, git: Git, query: LogQuery, task: str) -> list[LogEntry]:
    """Return the commits about a task: of the present session, else, by its label, of any."""
    name = task.removeprefix("task ").strip()
    number = int(name) if name.isascii() and name.isdigit() else 0
    here = replace(query, task=f"{number:02d}-" if number else name, refs=_session_refs(place, git))
    found = read_log(git, here)
    if found or _is_known(git, here) or _is_without_commits(place, number, name):
        return found
    anywhere = replace(here, refs=())
    if number or place.session or not _is_known(git, anywhere):
        raise NotFoundError(f"there is no task {task}", hint="`ctx task list` shows them")
    return read_log(git, anywhere)


def _is_known(git: Git, query: LogQuery) -> bool:
    """Whether any commit at all is about the query's task."""
    return bool(read_log(git, LogQuery(limit=1, refs=query.refs, task=query.task)))


def _is_without_commits(place: Place, number: int, name: str) -> bool:
    """Whether the present session has such a task, which nothing was done for yet."""
    _, state = current_branch(place)
    return any(number == task.number or name == task.label for task in state.tasks.values())


def _touching(place: Place, git: Git, path: str) -> frozenset[str]:
    """Return the commits whose results touched ``path``, in this work tree or another."""
    here = os.path.realpath(place.directory / path)
    inside = os.path.relpath(here, place.work_tree)
    with index.opened(place.store) as opened:
        opened.refresh(git)
        roots = [] if inside.split("/")[0] == ".." else opened.work_trees()
        places = {here, *(os.path.normpath(f"{root}/{inside}") for root in roots)}
        return frozenset(opened.touching(git, places))
