"""What a model is given of an earlier state: what of it still holds, then its handoff."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ctxgit.deliver.frame import enclosed, escape_tags, units
from ctxgit.records import dataclass
from ctxgit.text import one_line
from ctxgit.tokens import estimate_tokens

MAX_TOKENS = 30_000
"""The most that is loaded: the size the feature request names."""
PART_UNITS = 25_000
"""The most in one part: the client cuts what a command prints at 30,000 characters."""
HEAD_UNITS, HEAD_TOKENS = 4_000, 1_700
"""Kept free for the head, in the first part and in the whole."""
FRAME_TOKENS = 300
NOTE_UNITS = 800
"""Kept free in each part for the frame and for which part it is."""
LISTED_FILES = 20
PATH_LENGTH = 120


@dataclass(frozen=True, kw_only=True)
class Where:
    """Where a project stands: its work tree, branch (empty when detached) and HEAD."""

    work_tree: str
    branch: str
    head: str


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What is known of a state that is loaded.

    ``session`` is the name of its branch. ``gone`` and ``changed`` are the files of it that
    are not as they were. ``tasks``, ``prompts`` and ``knowledge`` count what comes back,
    ``results`` what stays in the store. ``into`` is the session that has its tasks now,
    ``kept`` the branch that keeps what that session had before.
    """

    label: str
    at: datetime
    session: str
    message: str
    then: Where
    now: Where
    gone: tuple[str, ...]
    changed: tuple[str, ...]
    tasks: int
    open_tasks: int
    prompts: int
    knowledge: int
    results: int
    into: str = ""
    kept: str = ""


def whole(loaded: Loaded, body: str) -> str:
    """Return the head and ``body`` in the frame, at most MAX_TOKENS."""
    return enclosed(f"{_head(loaded)}\n{_bounded(body)}")


def parts(loaded: Loaded, body: str) -> list[str]:
    """Return the same in parts of at most PART_UNITS, each in a frame, cut between lines.

    The head is in the first; the others are the same each time as long as ``body`` is.
    """
    label = escape_tags(one_line(loaded.label, 150))
    pieces = list(_pieces(_bounded(body), PART_UNITS - HEAD_UNITS - NOTE_UNITS))
    return [
        enclosed(
            "\n".join(
                [
                    f"Part {number} of {len(pieces)} of {label}.",
                    *([_head(loaded)] if number == 1 else []),
                    piece,
                    *([f"(Goes on in part {number + 1}.)"] if number < len(pieces) else []),
                ]
            )
        )
        for number, piece in enumerate(pieces, start=1)
    ]


def _bounded(body: str) -> str:
    """Return ``body`` escaped, whole lines from the beginning as far as there is room."""
    text = escape_tags(body)
    room = MAX_TOKENS - HEAD_TOKENS - FRAME_TOKENS
    if estimate_tokens(text) <= room:
        return text
    lines = text.splitlines()
    kept = []
    for line in lines:
        room -= estimate_tokens(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join([*kept, f"({len(lines) - len(kept)} more lines left out for length.)"])


def _pieces(text: str, limit: int) -> Iterator[str]:
    """Yield ``text`` in pieces of whole lines; a line that is too long itself is cut."""
    piece: list[str] = []
    room = limit
    for line in _short_lines(text, limit):
        if units(line) + 1 > room:
            yield "\n".join(piece)
            piece, room = [], limit
        piece.append(line)
        room -= units(line) + 1
    yield "\n".join(piece)


def _short_lines(text: str, limit: int) -> Iterator[str]:
    size = limit // 2 - 1  # each character is at most two units
    for line in text.splitlines():
        if units(line) < limit:
            yield line
        else:
            yield from (line[start : start + size] for start in range(0, len(line), size))


# --- the head --------------------------------------------------------------------------------


def _head(loaded: Loaded) -> str:
    """Return the head, with as many of the files that have changed as there is room for."""
    heads = (_head_with(loaded, count) for count in range(LISTED_FILES, -1, -1))
    return next(
        (head for head in heads if units(head) <= HEAD_UNITS and _is_short(head)),
        _head_with(loaded, 0),
    )


def _is_short(head: str) -> bool:
    return estimate_tokens(head) <= HEAD_TOKENS


def _head_with(loaded: Loaded, count: int) -> str:
    lines = [
        f"# Loaded: {one_line(loaded.label, 200)}",
        "",
        f"Of {loaded.at:%Y-%m-%d %H:%M} UTC, session {one_line(loaded.session, 140)}."
        + (f" {one_line(loaded.message, 200)}" if loaded.message else ""),
        *_places(loaded.then, loaded.now),
        *_stale(loaded, count),
        _brought(loaded),
        _left(loaded),
    ]
    return escape_tags("\n".join(lines) + "\n")


def _places(then: Where, now: Where) -> Iterator[str]:
    if then.work_tree != now.work_tree:
        yield f"It was made in {one_line(then.work_tree, 300) or '(unknown)'}."
    if (then.branch, then.head) == (now.branch, now.head):
        yield f"The project stands where it stood then: {_stand(now)}."
    else:
        yield f"The project stood at {_stand(then)}; now it stands at {_stand(now)}."


def _stand(where: Where) -> str:
    if not (where.branch or where.head):
        return "no commit"
    branch = one_line(where.branch, 150) or "detached"
    return f"{branch}, {where.head[:10] or 'no commit yet'}"


def _stale(loaded: Loaded, count: int) -> Iterator[str]:
    stale = [(path, "gone") for path in loaded.gone]
    stale += [(path, "changed since") for path in loaded.changed]
    if not stale:
        return
    counts = f"{len(loaded.gone)} of its files gone, {len(loaded.changed)} changed since"
    yield f"Facts that may no longer hold: {counts}; read them again before relying on them."
    yield from (f"- {one_line(path, PATH_LENGTH)} ({how})" for path, how in stale[:count])
    if len(stale) > count:
        yield f"- and {len(stale) - count} more"


def _brought(loaded: Loaded) -> str:
    tasks = f"{_count(loaded.tasks, 'task')} ({loaded.open_tasks} open)"
    knowledge = _count(loaded.knowledge, "knowledge entry", "knowledge entries")
    prompts = _count(loaded.prompts, "prompt")
    said = f"Brought back: {tasks}, {prompts}; {knowledge} in the store."
    if loaded.into:
        said += f" Session {one_line(loaded.into, 140)} has the tasks now"
        said += f"; what it had is kept in {one_line(loaded.kept, 160)}." if loaded.kept else "."
    return said


def _left(loaded: Loaded) -> str:
    if not loaded.results:
        return "Nothing else was there to bring back."
    results = _count(loaded.results, "tool result")
    return (
        f"Not brought back: {results}, which the store keeps: `ctx show ID` prints one,"
        " `ctx restore ID` puts it into the working set."
    )


def _count(count: int, word: str, plural: str = "") -> str:
    return f"{count} {word if count == 1 else plural or word + 's'}"
