"""The history of sessions as git keeps it, read for a list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from ctxgit.records import dataclass, field
from ctxgit.store import layout
from ctxgit.store.git import Git

FIELDS = ("%H", "%h", "%ct", "%S", "%s", "%D", "%(trailers:only,unfold)")
TAG = "tag: "


@dataclass(frozen=True, kw_only=True)
class LogEntry:
    """A commit of a session.

    ``branch`` is the short name of the branch (or what was asked for) that it was found on,
    ``branches`` and ``tags`` those of the refs that point at it.
    """

    commit: str
    short: str
    at: datetime
    subject: str
    branch: str
    session: str
    event: str
    tasks: tuple[str, ...]
    chunks: int
    tokens: int
    branches: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass
class _Trailers:
    values: dict[str, list[str]] = field(default_factory=dict)

    def one(self, key: str) -> str:
        return self.values.get(key, [""])[-1]

    def number(self, key: str) -> int:
        text = self.one(key)
        return int(text) if text.isascii() and text.isdigit() else 0


def read_log(git: Git, *, limit: int, refs: tuple[str, ...] = ()) -> list[LogEntry]:
    """Return the newest ``limit`` commits of ``refs``, of all session branches without any.

    Newest first. Raises GitError for a ref that does not exist.
    """
    chosen = refs or (f"--branches={layout.SESSIONS.removeprefix('refs/heads/')}*",)
    template = "%x00".join(FIELDS)  # a NUL is the one character that no message can hold
    options = (f"--max-count={limit}", f"--format={template}", "-z", "--source")
    out = git.run("log", *options, "--no-show-signature", *chosen, "--")
    fields = out.decode("utf-8", "replace").split("\0")
    width = len(FIELDS)
    return [_entry(fields[at : at + width]) for at in range(0, len(fields) - width + 1, width)]


def _entry(fields: Sequence[str]) -> LogEntry:
    commit, short, at, source, subject, names, trailer_text = fields
    trailers = _Trailers()
    for line in trailer_text.splitlines():
        key, _, value = line.partition(": ")
        trailers.values.setdefault(key, []).append(value)
    decorations = [name.removeprefix("HEAD -> ") for name in names.split(", ") if name]
    return LogEntry(
        commit=commit,
        short=short,
        at=datetime.fromtimestamp(int(at), UTC),
        subject=subject,
        branch=source.removeprefix("refs/heads/"),
        session=trailers.one("Ctx-Session"),
        event=trailers.one("Ctx-Event"),
        tasks=tuple(trailers.values.get("Ctx-Task", ())),
        chunks=trailers.number("Ctx-Chunks"),
        tokens=trailers.number("Ctx-Tokens"),
        branches=tuple(name for name in decorations if not name.startswith(TAG)),
        tags=tuple(name.removeprefix(TAG) for name in decorations if name.startswith(TAG)),
    )
