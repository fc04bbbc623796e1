"""``ctx clear --smart``: end the working set on purpose, and keep what it was."""

from __future__ import annotations

from datetime import datetime

from ctxgit.actions.place import Place, current_branch
from ctxgit.actions.rewrite import apply
from ctxgit.model import Cleared, Event, State
from ctxgit.records import dataclass
from ctxgit.store import saves
from ctxgit.store.git import Git

NEXT = "Type `/clear` next: the model's context then begins anew, without the work that has ended."
"""The one sentence for the user: no program can clear the client's context."""


@dataclass(frozen=True, kw_only=True)
class ClearResult:
    """What was cleared: tasks, of which ``open_tasks`` were not done, results and their tokens.

    ``kept`` is the short name of the branch that keeps it, empty where there was nothing.
    ``knowledge`` counts the entries that stay.
    """

    session: str
    tasks: int
    open_tasks: int
    results: int
    tokens: int
    knowledge: int
    kept: str
    next: str = NEXT


def clear(place: Place) -> ClearResult:
    """End the tasks and the working set of the session; knowledge and turns stay.

    What was is kept in a branch ``cleared/…``, and the session's recap says no more than
    that until the user asks for something. Raises NotFoundError without a session, StoreError.
    """
    branch, _ = current_branch(place)

    def cleared(state: State, at: datetime) -> list[Event]:
        is_done = state.session.cleared and not (state.tasks or state.chunks)
        return [] if is_done else [Cleared(id="ctx-clear", at=at, session=branch.key)]

    done = apply(
        place.store, branch.key, cleared, verb="clear", summary="the working set", keeps=True
    )
    tasks, chunks = done.was.tasks.values(), done.was.chunks.values()
    return ClearResult(
        session=done.branch.name,
        tasks=len(tasks),
        open_tasks=sum(task.status.is_open for task in tasks),
        results=len(chunks),
        tokens=sum(chunk.tokens for chunk in chunks),
        knowledge=saves.count_entries(Git(place.store.git_dir), done.branch.knowledge),
        kept=done.kept,
    )
