"""``ctx diff A [B]``: what differs between any two states."""

from __future__ import annotations

from collections.abc import Sequence

from ctxgit.actions.material import read_materials
from ctxgit.actions.naming import Named, of_ref, present_session, resolve
from ctxgit.actions.place import Place, session_at
from ctxgit.deliver.handoff import SAVE_TOKENS, Material, handoff, without_moment
from ctxgit.look.diff import DiffResult, Side, Snapshot, compare, knowledge_changes, read_patch
from ctxgit.records import dataclass
from ctxgit.store import layout, saves
from ctxgit.store.git import Git, GitObject, committed_at


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
    before, after = _trees(git, _named(place, a, b))
    if before.side.commit == after.side.commit:  # whatever it holds, it is the same
        return compare(Snapshot(side=before.side, chunks={}), Snapshot(side=after.side, chunks={}))
    knowledge = knowledge_changes(git, before.knowledge, after.knowledge)
    return compare(*_snapshots(place, git, [before, after]), knowledge=knowledge)


def patch(place: Place, a: str, b: str | None = None) -> PatchResult:
    """Return the patch from ``a`` to ``b``, named as for ``diff``. Raises as that does."""
    git = Git(place.store.git_dir)
    before, after = (tree.side for tree in _trees(git, _named(place, a, b)))
    text = read_patch(git, before.commit, after.commit)
    return PatchResult(before=before, after=after, patch=text)


def _named(place: Place, a: str, b: str | None) -> list[Named]:
    if b is not None:
        return [resolve(place, a), resolve(place, b)]
    entry = present_session(place)
    return [resolve(place, a, entry), of_ref(layout.SESSIONS + entry.name, entry.tip)]


@dataclass(frozen=True, kw_only=True)
class _Tree:
    """What tells how the tree of a side is read: the facts in it, and its knowledge's id."""

    side: Side
    session: GitObject | None
    save: GitObject | None
    knowledge: str


def _trees(git: Git, named: Sequence[Named]) -> list[_Tree]:
    files = (layout.SESSION_FILE, "save.toml", layout.KNOWLEDGE)
    wanted = [(each.commit, *(f"{each.commit}:{file}" for file in files)) for each in named]
    found = iter(git.objects([name for names in wanted for name in names]))
    trees = []
    for each in named:
        commit, session, save, knowledge = (next(found) for _ in range(4))
        at = committed_at(commit)
        side = Side(name=each.label, kind=each.kind, commit=each.commit, at=at)
        oid = knowledge.oid if knowledge else ""
        trees.append(_Tree(side=side, session=session, save=save, knowledge=oid))
    return trees


def _snapshots(place: Place, git: Git, trees: Sequence[_Tree]) -> list[Snapshot]:
    """Return what is compared of each tree: of a session, a save, or neither."""
    read = [session_at(place, each.side.commit, each.session) for each in trees if each.session]
    materials = iter(read_materials(git, [branch for branch, _ in read]) if read else [])
    found: list[Snapshot] = []
    for each in trees:
        if each.session:
            found.append(_of_session(each.side, next(materials)))
        elif each.save:
            found.append(_of_save(each.side, saves.read(git, each.side.commit)))
        else:
            found.append(Snapshot(side=each.side))
    return found


def _of_session(side: Side, material: Material) -> Snapshot:
    state = material.state
    return Snapshot(
        side=side,
        tasks={task.label: task for task in state.tasks.values()},
        chunks=state.chunks,
        document=without_moment(handoff(material, limit=SAVE_TOKENS).text),
    )


def _of_save(side: Side, save: saves.Save) -> Snapshot:
    return Snapshot(
        side=side,
        tasks={task.label: task for task in save.tasks},
        document=without_moment(save.handoff),
    )
