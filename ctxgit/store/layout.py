"""What lies where in the tree of a session branch, and under which refs.

    session.toml                          the session's facts
    .events                               names of the events the last commit took in
    tasks/<nn>-<name>/task.toml           a task, its chunks below it
    turns/<shelf>/<nnnn>/turn.toml        a turn, its prompt.md and reply.md, its chunks
    …/<shelf>/<id>.toml  <id>.md          a chunk: header and content, apart, so that git
                                          keeps a file that was read ten times once
    …/<shelf>/<id>.input.json             its input, when too large for the header
    agents/<id>.md                        the last word of a subagent
    compactions/<nn>.md                   the client's summary of each compaction

A shelf is a folder of at most 16 entries, a rack one of at most 32 shelves. So a commit
costs about as many bytes after 5,000 chunks as after one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import TypeVar

from ctxgit.documents import Table, dump_toml, jsonable, load_toml, to_table
from ctxgit.model import (
    Chunk,
    Compacted,
    PromptKind,
    PromptSubmitted,
    Restored,
    Returned,
    Session,
    State,
    Step,
    SubagentStopped,
    Task,
    ToolFinished,
    Turn,
    TurnStopped,
)

Record = TypeVar("Record", Task, Turn)

SESSION_FILE = "session.toml"
EVENTS_FILE = ".events"
KNOWLEDGE = "knowledge"
HEADER = ".toml"
CHUNK_ENDINGS = (HEADER, ".md", ".input.json")
INPUT_KEYS = ("input", "input_json")
SHELF, RACK = 16, 32
TASKS_WITHOUT_SHELF = 64
HEADER_INPUT_BYTES = 4096
"""An input larger than this as JSON gets a file of its own, so that headers stay small."""

SESSIONS = "refs/heads/session/"
TASK_TAGS = "refs/tags/task/"
CLEARED = "refs/heads/cleared/"
DAY_LENGTH = len("2026-01-02-")


def task_tag(session_name: str, task: Task) -> str:
    """Return the full ref that marks the state in which ``task`` was done."""
    return f"{TASK_TAGS}{session_name}/{task.label}"


def short_id(session_name: str) -> str:
    """Return the part of the session's id that its branch, named so, is told by."""
    return session_name[DAY_LENGTH:]


def cleared_ref(session_name: str, at: datetime) -> str:
    """Return the full ref that keeps the state that was cleared at that time."""
    return f"{CLEARED}{at:%Y-%m-%d-%H%M%S}-{short_id(session_name)}"


def lost_in_clear(state: State) -> bool:
    """Whether the client's ``/clear`` ended ``state``, and there was something to lose."""
    session = state.session
    return session.ended == "clear" and not session.cleared and not state.is_blank


def shelf(number: int) -> str:
    """Return the folder, below its scope, in which entry ``number`` (from 0) lies."""
    rack, place = divmod(number // SHELF, RACK)
    return f"{rack}/{place:02d}" if rack else f"{place:02d}"


def task_dir(task: Task) -> str:
    """Return the folder of ``task``."""
    if task.number <= TASKS_WITHOUT_SHELF:
        return f"tasks/{task.label}"
    return f"tasks/{shelf(task.number)}/{task.label}"


def turn_dir(number: int) -> str:
    """Return the folder of turn ``number``."""
    return f"turns/{shelf(number)}/{number:04d}"


def chunk_path(state: State, chunk: Chunk) -> str:
    """Return the path of a chunk without the ending of its files."""
    scope = task_dir(state.tasks[chunk.task]) if chunk.task else turn_dir(chunk.turn)
    return f"{scope}/{shelf(chunk.place)}/{chunk.id}"


def task_dir_of(path: str) -> str:
    """Return the folder of the task that the chunk at ``path`` is of, empty for a turn's."""
    folders = path.split("/")[:-1]
    if folders[:1] != ["tasks"]:
        return ""
    while folders[-1].isdigit():  # shelf and rack; a task's folder has its name too
        folders.pop()
    return "/".join(folders)


def record_kind(path: str) -> type[Session | Turn | Task | Chunk] | None:
    """Return what the file at ``path`` is the record of, ``None`` for other files.

    A chunk's header lies on a shelf, whatever its id is.
    """
    *folders, leaf = path.split("/")
    if path == SESSION_FILE:
        return Session
    if not leaf.endswith(".toml") or folders[:1] not in (["tasks"], ["turns"]):
        return None
    if _is_shelf(folders[-1]):
        return Chunk
    return {"task.toml": Task, "turn.toml": Turn}.get(leaf)


def _is_shelf(folder: str) -> bool:
    return len(folder) == len(shelf(0)) and folder.isdigit()


def files(step: Step) -> Iterator[tuple[str, bytes | None]]:
    """Yield the files a step adds or changes, but for ``session.toml``; ``None`` for gone ones."""
    yield from _removed(step)
    yield from _changed_records(step)
    match step.event:
        case ToolFinished() as event:
            yield from _chunk_files(step, event)
        case PromptSubmitted(kind=PromptKind.USER, text=text) if _opens_a_turn(step):
            yield f"{turn_dir(step.after.current_turn)}/prompt.md", text.encode()
        case TurnStopped(message=message, prompt_id=prompt_id) if message:
            yield f"{turn_dir(step.after.turn_of(prompt_id))}/reply.md", message.encode()
        case SubagentStopped(message=message, agent=agent, agent_type=kind) if (
            message and agent and kind
        ):
            yield f"agents/{agent}.md", message.encode()
        case Restored(chunks=returned):
            yield from _returned_files(step, returned)
        case Compacted(summary=summary) if summary:
            number = step.after.session.compactions
            yield f"compactions/{number:02d}.md", summary.encode()


def _removed(step: Step) -> Iterator[tuple[str, None]]:
    before, after = step.before, step.after
    if before is None:
        return
    if before.chunks is not after.chunks:
        for chunk in before.chunks.values():
            if chunk.id not in after.chunks:
                path = chunk_path(before, chunk)
                yield from ((path + ending, None) for ending in CHUNK_ENDINGS)
    if before.tasks is not after.tasks:
        there = {task_dir(task) for task in after.tasks.values()}
        for folder in (task_dir(task) for task in before.tasks.values()):
            if folder not in there:
                yield f"{folder}/task.toml", None


def _returned_files(step: Step, chunks: tuple[Returned, ...]) -> Iterator[tuple[str, bytes]]:
    known = step.before.chunks if step.before else {}
    for returned in chunks:
        chunk = step.after.chunks[returned.chunk.id]
        if chunk.id in known:
            continue
        path = chunk_path(step.after, chunk)
        for ending, content in returned.files.items():
            if isinstance(content, bytes):
                is_moved = ending == HEADER and chunk != returned.chunk
                yield path + ending, _moved_header(chunk, content) if is_moved else content


def _moved_header(chunk: Chunk, header: bytes) -> bytes:
    """Return the header of a chunk that has another place now, its input as it was."""
    kept = {name: item for name, item in load_toml(header).items() if name in INPUT_KEYS}
    return dump_toml(to_table(chunk) | kept)


def _opens_a_turn(step: Step) -> bool:
    return step.before is None or step.after.current_turn not in step.before.turns


def session_file(state: State) -> bytes:
    """Return the content of ``session.toml``."""
    return dump_toml({"format": 1, **to_table(state.session)})


def _changed_records(step: Step) -> Iterator[tuple[str, bytes]]:
    before, after = step.before, step.after
    old_tasks = before.tasks if before else {}
    old_turns = before.turns if before else {}
    for task in _changed(old_tasks, after.tasks):
        yield f"{task_dir(task)}/task.toml", dump_toml(to_table(task))
    for turn in _changed(old_turns, after.turns):
        yield f"{turn_dir(turn.number)}/turn.toml", dump_toml(to_table(turn))


def _changed(before: dict[int, Record], after: dict[int, Record]) -> list[Record]:
    """Return what a fold replaced: unchanged records are the same objects."""
    if before is after:
        return []
    return [record for number, record in after.items() if before.get(number) is not record]


def _chunk_files(step: Step, event: ToolFinished) -> Iterator[tuple[str, bytes]]:
    chunk = step.after.newest_chunk
    if chunk is None or (step.before is not None and chunk.id in step.before.chunks):
        return
    path = chunk_path(step.after, chunk)
    table = to_table(chunk)
    as_json = json.dumps(dict(event.input), ensure_ascii=False, default=jsonable).encode()
    if len(as_json) <= HEADER_INPUT_BYTES:
        table |= _input_table(dict(event.input), as_json)
    else:
        yield f"{path}.input.json", as_json
    yield f"{path}.toml", dump_toml(table)
    yield f"{path}.md", event.content.encode()


def _input_table(given: Table, as_json: bytes) -> Table:
    """Return the input as a TOML table; as JSON text where TOML has no word for it (null)."""
    if not given:
        return {}
    return {"input": given} if _fits_toml(given) else {"input_json": as_json.decode()}


def _fits_toml(value: object) -> bool:
    if isinstance(value, dict):
        return all(_fits_toml(item) for item in value.values())
    if isinstance(value, list):
        return all(_fits_toml(item) for item in value)
    return value is not None
