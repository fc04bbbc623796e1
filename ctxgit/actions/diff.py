"""``ctx diff A [B]``: what differs between any two states."""

from __future__ import annotations

from collections.abc import Sequence

from ctxgit.actions.material import read_material
from ctxgit.actions.naming import Named, of_ref, present_session, resolve
from ctxgit.actions.place import Place, session_at
from ctxgit.actions.save import SAVE_TOKENS
from ctxgit.deliver.handoff import handoff, without_moment
from ctxgit.look.diff import DiffResult, Side, Snapshot, compare, knowledge_changes, read_patch
from ctxgit.look.show import commit_time
from ctxgit.records import dataclass, replace
from ctxgit.store import layout, saves
from ctxgit.store.git import Git, GitObject


@dataclass(frozen=True, kw_only=True)
class PatchResult:
    """git's own patch from the tree of one state to that of another."""

    before: Side
    after: Side
    patch: str


def diff(place: Place, a: str, b: str | None = None) -> DiffResult:
    """Return what differs from ``a`` to ``b``, without it to the present session as it is now.

    Both are names that ``naming.resolve`` knows. Raises what that does, and StoreError for a
    state that is damaged.
    """
    git = Git(place.store.git_dir)
    before, after = _sides(git, _named(place, a, b))
    if before.commit == after.commit:  # whatever it holds, it is the same
        return compare(Snapshot(side=before, chunks={}), Snapshot(side=after, chunks={}))
    old, new = _snapshot(place, git, before), _snapshot(place, git, after)
    return compare(old, new, knowledge=knowledge_changes(git, old.knowledge, new.knowledge))


def patch(place: Place, a: str, b: str | None = None) -> PatchResult:
    """Return the patch from ``a`` to ``b``, named as for ``diff``. Raises as that does."""
    git = Git(place.store.git_dir)
    before, after = _sides(git, _named(place, a, b))
    text = read_patch(git, before.commit, after.commit)
    return PatchResult(before=before, after=after, patch=text)


def _named(place: Place, a: str, b: str | None) -> list[Named]:
    named = [resolve(place, a)]
    if b is not None:
        return [*named, resolve(place, b)]
    entry = present_session(place)
    return [*named, of_ref(layout.SESSIONS + entry.name, entry.tip)]


def _sides(git: Git, named: Sequence[Named]) -> list[Side]:
    commits = git.objects([each.commit for each in named])
    return [
        Side(name=each.label, kind=each.kind, commit=each.commit, at=commit_time(commit))
        for each, commit in zip(named, commits, strict=True)
    ]


def _snapshot(place: Place, git: Git, side: Side) -> Snapshot:
    """Return what is compared of the tree at ``side``: of a session, a save, or neither."""
    names = (layout.SESSION_FILE, layout.KNOWLEDGE, "save.toml")
    session, knowledge, save = git.objects([f"{side.commit}:{name}" for name in names])
    bare = Snapshot(side=side, knowledge=knowledge.oid if knowledge else "")
    if session is not None:
        return _of_session(place, git, bare, session)
    return bare if save is None else _of_save(git, bare)


def _of_session(place: Place, git: Git, bare: Snapshot, facts: GitObject) -> Snapshot:
    branch, state = session_at(place, bare.side.commit, facts)
    return replace(
        bare,
        tasks={task.label: task for task in state.tasks.values()},
        chunks=state.chunks,
        document=without_moment(handoff(read_material(git, branch), limit=SAVE_TOKENS).text),
    )


def _of_save(git: Git, bare: Snapshot) -> Snapshot:
    save = saves.read(git, bare.side.commit)
    return replace(
        bare,
        tasks={task.label: task for task in save.tasks},
        document=without_moment(save.handoff),
    )
