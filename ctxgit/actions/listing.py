"""``ctx list``: what was saved, and on demand what was cleared and all sessions."""

from __future__ import annotations

from ctxgit.actions.place import Place
from ctxgit.records import dataclass
from ctxgit.store import layout, saves
from ctxgit.store.git import Git
from ctxgit.store.saves import SaveEntry


@dataclass(frozen=True, kw_only=True)
class ListResult:
    """Saved states, newest first, and whether there are more than were asked for."""

    entries: tuple[SaveEntry, ...]
    has_more: bool


def list_saves(place: Place, *, everything: bool = False, limit: int = 50) -> ListResult:
    """Return the newest saves; with ``everything`` cleared states and sessions too."""
    kinds = (saves.SAVES, *((saves.CLEARED, layout.SESSIONS) if everything else ()))
    found = saves.entries(Git(place.store.git_dir), *kinds, limit=limit + 1)
    return ListResult(entries=tuple(found[:limit]), has_more=len(found) > limit)
