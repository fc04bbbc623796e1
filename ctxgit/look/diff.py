"""Two states compared: knowledge, tasks, chunks, and their documents section by section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from ctxgit.markdown import Section, sections
from ctxgit.model import Chunk, Task
from ctxgit.records import dataclass, field
from ctxgit.store import layout
from ctxgit.store.git import Git

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The tree without entries, which git knows in every repository of SHA-1."""
ADDED, REMOVED, CHANGED = "added", "removed", "changed"
LETTERS = {"A": ADDED, "D": REMOVED}


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the states: how it was named, what it is, its commit and that one's time."""

    name: str
    kind: str
    commit: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What is compared of a state.

    ``tasks`` are by label. ``chunks`` is ``None`` where a state holds none by its nature, as
    a save does. ``document`` is its handoff, empty where it has none.
    """

    side: Side
    tasks: Mapping[str, Task] = field(default_factory=dict)
    chunks: Mapping[str, Chunk] | None = None
    document: str = ""


@dataclass(frozen=True, kw_only=True)
class EntryDiff:
    """A knowledge entry that was ``added``, ``removed`` or ``changed``; its path in the tree."""

    path: str
    change: str


@dataclass(frozen=True, kw_only=True)
class TaskFacts:
    """What of a task is compared."""

    subject: str
    status: str


@dataclass(frozen=True, kw_only=True)
class TaskDiff:
    """A task that differs: ``None`` on the side where it is not."""

    label: str
    before: TaskFacts | None
    after: TaskFacts | None


@dataclass(frozen=True, kw_only=True)
class ChunkMove:
    """A chunk that came in or went out; ``path`` is the first it touched, or empty."""

    id: str
    tool: str
    tokens: int
    path: str


@dataclass(frozen=True, kw_only=True)
class SectionDiff:
    """A section that differs, with its lines that are not blank; ``title`` may be empty."""

    title: str
    change: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DiffResult:
    """What differs between two states.

    ``chunks_compared`` is false where one of them holds no chunks by its nature; ``tokens_in``
    and ``tokens_out`` are the sums of ``chunks_in`` and ``chunks_out``.
    """

    before: Side
    after: Side
    knowledge: tuple[EntryDiff, ...]
    tasks: tuple[TaskDiff, ...]
    chunks_compared: bool
    chunks_in: tuple[ChunkMove, ...]
    chunks_out: tuple[ChunkMove, ...]
    tokens_in: int
    tokens_out: int
    sections: tuple[SectionDiff, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        moved = self.chunks_in or self.chunks_out
        return not (self.knowledge or self.tasks or moved or self.sections)


def compare(
    before: Snapshot, after: Snapshot, *, knowledge: tuple[EntryDiff, ...] = ()
) -> DiffResult:
    """Return what differs between two states; of their knowledge that is known already."""
    has_chunks = before.chunks is not None and after.chunks is not None
    old, new = before.chunks or {}, after.chunks or {}
    chunks_in = _only_in(new, old) if has_chunks else ()
    chunks_out = _only_in(old, new) if has_chunks else ()
    return DiffResult(
        before=before.side,
        after=after.side,
        knowledge=knowledge,
        tasks=tuple(_task_changes(before.tasks, after.tasks)),
        chunks_compared=has_chunks,
        chunks_in=chunks_in,
        chunks_out=chunks_out,
        tokens_in=sum(chunk.tokens for chunk in chunks_in),
        tokens_out=sum(chunk.tokens for chunk in chunks_out),
        sections=tuple(compare_documents(before.document, after.document)),
    )


def _task_changes(before: Mapping[str, Task], after: Mapping[str, Task]) -> Iterator[TaskDiff]:
    for label in dict.fromkeys((*before, *after)):
        old, new = _facts(before.get(label)), _facts(after.get(label))
        if old != new:
            yield TaskDiff(label=label, before=old, after=new)


def _facts(task: Task | None) -> TaskFacts | None:
    return TaskFacts(subject=task.subject, status=task.status) if task else None


def _only_in(chunks: Mapping[str, Chunk], others: Mapping[str, Chunk]) -> tuple[ChunkMove, ...]:
    return tuple(
        ChunkMove(
            id=chunk.id,
            tool=chunk.tool,
            tokens=chunk.tokens,
            path=chunk.paths[0] if chunk.paths else "",
        )
        for chunk in chunks.values()
        if chunk.id not in others
    )


# --- documents -------------------------------------------------------------------------------


def compare_documents(before: str, after: str) -> Iterator[SectionDiff]:
    """Yield the sections that differ, in the order of ``after``, then those that are gone.

    Sections of one title are told apart by how many of it came before.
    """
    if before == after:
        return
    old, new = _by_title(before), _by_title(after)
    for key in dict.fromkeys((*new, *old)):
        was, now = old.get(key), new.get(key)
        added, removed = _line_changes(was.body if was else "", now.body if now else "")
        if was is None or now is None or added or removed:
            yield SectionDiff(
                title=key[0],
                change=ADDED if was is None else REMOVED if now is None else CHANGED,
                added=added,
                removed=removed,
            )


def _by_title(text: str) -> dict[tuple[str, int], Section]:
    seen: Counter[str] = Counter()
    found: dict[tuple[str, int], Section] = {}
    for section in sections(text):
        found[section.title, seen[section.title]] = section
        seen[section.title] += 1
    return found


def _line_changes(before: str, after: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines that came and those that went, without blank ones."""
    if before == after:
        return (), ()
    old, new = _lines(before), _lines(after)
    if not old or not new:
        return tuple(new), tuple(old)
    from difflib import SequenceMatcher  # noqa: PLC0415 - most sections are the same

    added: list[str] = []
    removed: list[str] = []
    for tag, old_start, old_end, new_start, new_end in SequenceMatcher(
        None, old, new
    ).get_opcodes():
        if tag != "equal":
            removed += old[old_start:old_end]
            added += new[new_start:new_end]
    return tuple(added), tuple(removed)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


# --- trees -----------------------------------------------------------------------------------


def knowledge_changes(git: Git, before: str, after: str) -> tuple[EntryDiff, ...]:
    """Return the entries that differ between two trees of knowledge, either of them empty."""
    if before == after:
        return ()
    trees = (before or EMPTY_TREE, after or EMPTY_TREE)
    out = git.run("diff-tree", "-r", "-z", "--no-renames", "--name-status", *trees)
    parts = out.decode("utf-8", "replace").split("\0")
    return tuple(
        EntryDiff(path=f"{layout.KNOWLEDGE}/{path}", change=LETTERS.get(letter, CHANGED))
        for letter, path in zip(parts[::2], parts[1::2], strict=False)
    )


def read_patch(git: Git, before: str, after: str) -> str:
    """Return git's own patch between the trees of two commits.

    No program is run for it, and all is taken as text, whatever attributes say.
    """
    options = ("-p", "-M", "--text", "--full-index", "--no-ext-diff", "--no-textconv")
    out = git.run("diff-tree", *options, "--no-color", f"{before}^{{tree}}", f"{after}^{{tree}}")
    return out.decode("utf-8", "replace")
