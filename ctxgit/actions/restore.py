"""``ctx restore`` and ``ctx fork``: content from history, back in a session's working set."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ctxgit.actions import chunk
from ctxgit.actions.naming import Named, resolve
from ctxgit.actions.place import Place, current_branch
from ctxgit.actions.rewrite import apply
from ctxgit.actions.status import ChunkRow, chunk_rows
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.model import Adopted, Event, Restored, Returned, State
from ctxgit.records import dataclass
from ctxgit.store import history, layout, saves, sessions
from ctxgit.store.git import Git
from ctxgit.text import one_line


@dataclass(frozen=True, kw_only=True)
class RestoreResult:
    """What came back into the working set of ``session``, and what was there already.

    ``already`` are ids of chunks, ``tasks`` the numbers of tasks that came back with theirs.
    """

    session: str
    restored: tuple[ChunkRow, ...]
    already: tuple[str, ...]
    tasks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class ForkResult:
    """What ``session`` starts from now, and the branch that keeps what it had before."""

    session: str
    source: str
    tasks: int
    results: int
    tokens: int
    kept: str


def restore(place: Place, names: Sequence[str]) -> RestoreResult:
    """Bring chunks back into the working set of the session, content and all.

    Each name is a chunk's id or its beginning, a task (all chunks that were ever made for
    it), or what :func:`resolve` knows (all chunks in its tree). Raises UsageError without a
    name, NotFoundError for one that is unknown or has no chunks; nothing is done then.
    """
    branch, _ = current_branch(place)
    git = Git(place.store.git_dir)
    found: dict[str, Returned] = {}
    for name in names:
        for returned in _returned(place, git, branch, name):
            found.setdefault(returned.chunk.id, returned)
    if not found:
        raise UsageError("nothing is named that could come back", hint="`ctx log` shows ids")

    def restored(state: State, at: datetime) -> list[Event]:
        missing = tuple(each for each in found.values() if each.chunk.id not in state.chunks)
        event = Restored(id="ctx-restore", at=at, session=branch.key, chunks=missing)
        return [event] if missing else []

    summary = one_line(" ".join(names), 80)
    done = apply(place.store, branch.key, restored, verb="restore", summary=summary)
    new = [each for each in done.state.chunks.values() if each.id not in done.was.chunks]
    return RestoreResult(
        session=done.branch.name,
        restored=chunk_rows(new),
        already=tuple(name for name in found if name in done.was.chunks),
        tasks=tuple(number for number in done.state.tasks if number not in done.was.tasks),
    )


def fork(place: Place, name: str) -> ForkResult:
    """Let the session start from a save (its tasks) or a state (its tasks and chunks).

    What the session has is kept first, in a branch ``cleared/…``. Raises NotFoundError for
    an unknown name and for a commit that holds neither.
    """
    branch, _ = current_branch(place)
    git = Git(place.store.git_dir)
    source = resolve(place, name)
    held = history.holds(git, source.commit)
    if not held:
        raise NotFoundError(
            f"{source.label} holds no state of a session", hint="`ctx list --all` shows those"
        )
    chunks: list[Returned] = []
    if held == "save":
        tasks = saves.read(git, source.commit).tasks
    else:
        tasks = tuple(sessions.read_state(git, source.commit).tasks.values())
        chunks = _all_in(git, source.commit)

    def forked(_: State, at: datetime) -> list[Event]:
        taken = Adopted(id="ctx-fork", at=at, session=branch.key, source=source.label, tasks=tasks)
        back = Restored(id="ctx-fork", at=at, session=branch.key, chunks=tuple(chunks))
        return [taken, back] if chunks else [taken]

    done = apply(place.store, branch.key, forked, verb="fork", summary=source.label, keeps=True)
    return ForkResult(
        session=done.branch.name,
        source=source.label,
        tasks=len(done.state.tasks),
        results=len(done.state.chunks),
        tokens=sum(each.tokens for each in done.state.chunks.values()),
        kept=done.kept,
    )


def _returned(place: Place, git: Git, branch: sessions.Branch, name: str) -> list[Returned]:
    """Return the chunks that ``name`` names. Raises NotFoundError."""
    entry = chunk.find(place, name, session=branch.key)
    if entry is not None:
        return history.returned(git, {entry.path: entry.tip}, tasks_at=branch.tip)
    try:
        named = resolve(place, name)
    except NotFoundError:
        entry = chunk.find_lost(place, name, session=branch.key)
        if entry is None:
            raise
        return history.returned(git, {entry.path: entry.tip}, tasks_at=branch.tip)
    found = _of_task(git, named) if named.kind == "task" else _all_in(git, named.commit)
    if not found:
        raise NotFoundError(
            f"{named.label} holds no tool results",
            hint="a save holds none: `ctx load` prints it" if named.kind == "save" else None,
        )
    return found


def _all_in(git: Git, commit: str) -> list[Returned]:
    return history.returned(git, dict.fromkeys(history.chunk_paths(git, commit), commit))


def _of_task(git: Git, named: Named) -> list[Returned]:
    """Return all chunks that were ever made for a task, as its session's history has them."""
    ref = layout.SESSIONS + named.session
    commits = [named.commit, *git.refs(ref).values()]
    places = history.added(git, commits, "tasks")
    of_it = {path: at for path, at in places.items() if _number_in(path) == named.task}
    return history.returned(git, of_it, tasks_at=named.commit)


def _number_in(path: str) -> int:
    label = layout.task_dir_of(path).rsplit("/", 1)[-1]
    return int(label.split("-", 1)[0] or 0)
