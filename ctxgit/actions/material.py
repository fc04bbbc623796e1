"""What a handoff is made of, read from a session's tree and compared with the files now."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from ctxgit.deliver.handoff import Command, Exchange, FileFact, Material
from ctxgit.documents import load_toml
from ctxgit.model import Chunk, State
from ctxgit.store import layout
from ctxgit.store.git import Git, GitObject
from ctxgit.store.sessions import Branch

CLOCK_STEP = timedelta(seconds=2)
"""A file's time and an event's differ by this much without the file having changed since."""
WHAT = ("command", "url", "query", "pattern", "file_path", "path", "description")
"""The fields of a tool's input that say what was tried, best first."""


def read_material(git: Git, branch: Branch) -> Material:
    """Return the material of the session that ``branch`` holds. Raises GitError."""
    (material,) = read_materials(git, [branch])
    return material


def read_materials(git: Git, branches: Sequence[Branch]) -> list[Material]:
    """Return the material of each session, read by one process. Raises GitError."""
    wanted = [(branch.tip, path) for branch in branches for path in _wanted(branch)]
    blobs = git.objects([f"{tip}:{path}" for tip, path in wanted])
    texts = dict(zip(wanted, map(_text, blobs), strict=True))
    return [
        _material(branch, {path: text for (tip, path), text in texts.items() if tip == branch.tip})
        for branch in branches
    ]


def _wanted(branch: Branch) -> list[str]:
    """Return the paths of the files that a session's material is made of."""
    state = _state(branch)
    told = _told_chunks(state)
    turns = map(layout.turn_dir, state.turns)
    return [
        *(f"{folder}/{name}" for folder in turns for name in ("prompt.md", "reply.md")),
        *(path + layout.HEADER for path in told),
        *(f"{path}.md" for path, chunk in told.items() if chunk.failed),
    ]


def _material(branch: Branch, texts: Mapping[str, str]) -> Material:
    state = _state(branch)
    return Material(
        name=branch.name,
        state=state,
        exchanges=tuple(_exchanges(state, texts)),
        commands=tuple(_commands(_told_chunks(state), texts)),
        files=tuple(_files(state)),
    )


def _state(branch: Branch) -> State:
    if branch.state is None:
        raise ValueError(branch.name)
    return branch.state


def _told_chunks(state: State) -> dict[str, Chunk]:
    """Return the shell's commands and all calls that failed, by their paths."""
    return {
        layout.chunk_path(state, chunk): chunk
        for chunk in state.chunks.values()
        if chunk.failed or chunk.tool == "Bash"
    }


def _exchanges(state: State, texts: Mapping[str, str]) -> Iterator[Exchange]:
    for number in state.turns:
        folder = layout.turn_dir(number)
        prompt, answer = texts[f"{folder}/prompt.md"], texts[f"{folder}/reply.md"]
        if prompt or answer:
            yield Exchange(turn=number, prompt=prompt, answer=answer)


def _commands(chunks: Mapping[str, Chunk], texts: Mapping[str, str]) -> Iterator[Command]:
    for path, chunk in chunks.items():
        yield Command(
            chunk=chunk.id,
            text=_tried(chunk, texts[f"{path}.toml"]),
            failed=chunk.failed,
            error=texts.get(f"{path}.md", ""),
        )


def _tried(chunk: Chunk, header: str) -> str:
    table = load_toml(header.encode())
    given = table.get("input") or json.loads(str(table.get("input_json", "{}")))
    fields = given if isinstance(given, dict) else {}
    said = next((str(fields[name]) for name in WHAT if fields.get(name)), "")
    return said if chunk.tool == "Bash" else f"{chunk.tool} {said}".strip()


def _files(state: State) -> list[FileFact]:
    root = state.session.work_tree or state.session.cwd
    last: dict[str, Chunk] = {}
    for chunk in state.chunks.values():
        for path in chunk.paths:
            last.pop(path, None)
            last[path] = chunk
    return [
        FileFact(
            path=path.removeprefix(f"{root}/") if root else path,
            chunk=chunk.id,
            freshness=freshness(path, chunk.at),
        )
        for path, chunk in last.items()
    ]


def freshness(path: str, seen_at: datetime) -> str:
    """Return how the file at ``path`` is now, compared with ``seen_at``, by its time alone."""
    try:
        changed_at = datetime.fromtimestamp(os.stat(path).st_mtime, UTC)  # noqa: PTH116 - a bare call
    except (OSError, ValueError):
        return "gone"
    return "changed since" if changed_at > seen_at + CLOCK_STEP else "unchanged"


def _text(blob: GitObject | None) -> str:
    return blob.content.decode("utf-8", "replace") if blob else ""
