"""The operation log: what each verb did to refs, so that it can be undone and done again.

One JSON object a line in ``.git/ctx/operations``, appended under the store's lock. Moving a
ref back loses nothing: the store never prunes, and its reflogs do not expire.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

from ctxgit.errors import StoreError
from ctxgit.paths import StorePaths
from ctxgit.records import dataclass
from ctxgit.store.git import Git
from ctxgit.store.lock import REFS_LOCK, locked, remove_stale_ref_locks

LOCK_SECONDS = 10.0
NO_OBJECT = "0" * 40


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A verb that was run.

    ``refs`` maps full names to object ids before and after, empty where the ref did not
    exist. ``reverts`` is the number of the operation that an ``undo`` or ``redo`` was about.
    """

    number: int
    verb: str
    summary: str
    at: str
    session: str
    refs: Mapping[str, tuple[str, str]]
    reverts: int = 0


class OperationLog:
    """The log of one store."""

    def __init__(self, store: StorePaths) -> None:
        self._path = store.runtime / "operations"
        self._git = Git(store.git_dir)

    def read(self) -> list[Operation]:
        """Return all operations, oldest first; a torn last line is left out."""
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        return [operation for line in lines if (operation := _parsed(line)) is not None]

    @contextmanager
    def recorded(
        self, verb: str, summary: str, *, session: str, at: datetime, patterns: Sequence[str]
    ) -> Iterator[None]:
        """Record what the block does to the refs that match ``patterns``.

        Nothing is recorded when it raises or changes nothing. Raises StoreLockedError, and
        StoreError when the log cannot be written.
        """
        with self._alone(patterns):
            before = self._git.refs(*patterns)
            yield
            after = self._git.refs(*patterns)
            changed = {
                ref: (before.get(ref, ""), after.get(ref, ""))
                for ref in sorted(before.keys() | after.keys())
                if before.get(ref) != after.get(ref)
            }
            if changed:
                self._append(
                    Operation(
                        number=self._next_number(),
                        verb=verb,
                        summary=summary,
                        at=at.isoformat(),
                        session=session,
                        refs=changed,
                    )
                )

    def next_to(self, verb: str, *, session: str = "") -> Operation | None:
        """Return the operation that an undo, or a redo, is about now, ``None`` without one.

        With ``session`` among those of this session only: what others do at the same time
        is not taken back by it.
        """
        done, undone = standing([op for op in self.read() if session in {"", op.session}])
        return next(reversed(done if verb == "undo" else undone), None)

    def revert(self, operation: Operation, verb: str, *, at: datetime) -> None:
        """Undo ``operation``, or do it again with the verb redo, and record that.

        The caller holds the lock of its session. Raises StoreError when a ref has moved on,
        also through an undo or redo by another process; nothing has changed then.
        """
        old, new = (1, 0) if verb == "undo" else (0, 1)
        moves = {ref: (ids[old], ids[new]) for ref, ids in operation.refs.items()}
        with self._alone(list(moves)):
            self._move(moves, operation)
            self._append(
                Operation(
                    number=self._next_number(),
                    verb=verb,
                    summary=operation.summary,
                    at=at.isoformat(),
                    session=operation.session,
                    refs=moves,
                    reverts=operation.number,
                )
            )

    @contextmanager
    def _alone(self, refs: Sequence[str]) -> Iterator[None]:
        """Hold the store's lock, with ``refs`` free of what a killed git left."""
        runtime = self._path.parent
        with (
            locked(runtime / "lock", wait=LOCK_SECONDS),
            locked(runtime / REFS_LOCK, wait=LOCK_SECONDS, shared=True),
        ):
            remove_stale_ref_locks(self._git.git_dir, refs)
            yield

    def _next_number(self) -> int:
        return max((operation.number for operation in self.read()), default=0) + 1

    def _move(self, moves: Mapping[str, tuple[str, str]], operation: Operation) -> None:
        there = self._git.refs(*moves)
        moved = [ref for ref, (old, _) in moves.items() if there.get(ref, "") != old]
        if moved:
            name = moved[0].removeprefix("refs/heads/").removeprefix("refs/tags/")
            raise StoreError(
                f"{name} has moved on since `ctx {operation.verb}`",
                hint="`ctx log` shows what came after; `ctx restore` and `ctx load` bring back"
                " what was before",
            )
        commands = [
            f"update {ref} {new} {old or NO_OBJECT}" if new else f"delete {ref} {old}"
            for ref, (old, new) in moves.items()
        ]
        stdin = "".join(f"{line}\n" for line in ("start", *commands, "prepare", "commit"))
        self._git.run("update-ref", "--stdin", stdin=stdin.encode())

    def _append(self, operation: Operation) -> None:
        line = b"\n" + json.dumps(vars(operation)).encode() + b"\n"  # a torn one before it ends
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                written = os.write(descriptor, line)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise self._unwritten(operation, error.strerror or "no access") from error
        if written < len(line):
            raise self._unwritten(operation, "no space left")

    def _unwritten(self, operation: Operation, why: str) -> StoreError:
        return StoreError(
            f"`ctx {operation.verb}` is done, but cannot be undone: {self._path}: {why}",
            hint="free some space",
        )


def standing(log: Sequence[Operation]) -> tuple[list[Operation], list[Operation]]:
    """Return the operations that stand, and those taken back and free to be done again."""
    by_number = {operation.number: operation for operation in log}
    known = [op for op in log if not op.reverts or op.reverts in by_number]
    done: list[Operation] = []
    undone: list[Operation] = []
    for operation in known:
        if operation.verb == "undo":
            done = [each for each in done if each.number != operation.reverts]
            undone.append(by_number[operation.reverts])
        elif operation.verb == "redo":
            undone = [each for each in undone if each.number != operation.reverts]
            done.append(by_number[operation.reverts])
        else:
            done.append(operation)
            undone = []
    return done, undone


def _parsed(line: str) -> Operation | None:
    try:
        fields = json.loads(line)
        refs = {ref: (old, new) for ref, (old, new) in fields.pop("refs").items()}
        return Operation(**fields, refs=refs)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
