"""A chunk by its id or the beginning of it: where it is, also when it has left all trees."""

from __future__ import annotations

from collections.abc import Sequence

from ctxgit.actions.place import Place
from ctxgit.errors import NotFoundError
from ctxgit.store import history, index
from ctxgit.store.git import Git
from ctxgit.text import is_safe_id

ID_LENGTH = 4
"""Fewer characters name no chunk: they would name too many."""


def find(place: Place, name: str, *, session: str = "") -> index.ChunkEntry | None:
    """Return the chunk that the index knows by a chunk's or tool use's id, whole or begun.

    One of ``session`` before those of others. Raises NotFoundError when several begin so.
    """
    bare = _bare(name)
    if not bare:
        return None
    with index.opened(place.store) as opened:
        opened.refresh(Git(place.store.git_dir))
        return _only_one(name, opened.chunks(bare), session)


def find_lost(place: Place, name: str, *, session: str = "") -> index.ChunkEntry | None:
    """Return the same from all of history: slow, for what the index does not know.

    An index that was made again knows only what is in the newest trees.
    """
    bare = _bare(name)
    if not bare:
        return None
    return _only_one(name, history.find_chunks(Git(place.store.git_dir), bare), session)


def _bare(name: str) -> str:
    bare = name.strip().removeprefix("toolu_")
    return bare if len(bare) >= ID_LENGTH and is_safe_id(bare) else ""


def _only_one(
    name: str, entries: Sequence[index.ChunkEntry], session: str
) -> index.ChunkEntry | None:
    exact = [entry for entry in entries if entry.id == _bare(name)] or entries
    if len({entry.id for entry in exact}) > 1:
        shown = ", ".join(sorted({entry.id for entry in exact})[:5])
        raise NotFoundError(f"{name} is ambiguous: {shown}", hint="give more of the id")
    return max(exact, key=lambda entry: entry.session == session, default=None)
