"""``ctx list``: what was saved, and on demand what was cleared and all sessions."""

from __future__ import annotations

from ctxgit.actions.place import Place
from ctxgit.records import dataclass
from ctxgit.store import layout, saves
from ctxgit.store.git import Git
from ctxgit.store.saves import SaveEntry


@dataclass(frozen=True, kw_only=True)
class ListResult:
    """Saved states, newest first."""

    entries: tuple[SaveEntry, ...]


def list_saves(place: Place, *, everything: bool = False) -> ListResult:
    """Return the saves, newest first; with ``everything`` cleared states and sessions too."""
    more = (saves.CLEARED, layout.SESSIONS) if everything else ()
    return ListResult(entries=tuple(saves.entries(Git(place.store.git_dir), saves.SAVES, *more)))
