"""The history of sessions as git keeps it, read for a list."""

from __future__ import annotations

import re
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

    ``branch`` is the short name of the branch that it was found on, empty if it was found by
    its id; ``branches`` and ``tags`` are those of the refs that point at it.
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


@dataclass(frozen=True, kw_only=True)
class LogQuery:
    """Which commits are wanted: all that meet every condition, newest first.

    ``refs`` are those to begin at, all session branches without any. ``since`` is in git's
    words for a date; ``task`` a label, or the beginning of one up to a ``-``; ``grep`` a text
    in the message, in any case. ``among`` holds commits to choose from.
    """

    limit: int
    refs: tuple[str, ...] = ()
    since: str = ""
    task: str = ""
    grep: str = ""
    among: frozenset[str] | None = None


def read_log(git: Git, query: LogQuery) -> list[LogEntry]:
    """Return the commits that ``query`` asks for. Raises GitError for an unknown ref."""
    template = "%x00".join(FIELDS)  # a NUL is the one character that no message can hold
    options = [f"--max-count={query.limit}", f"--format={template}", "-z", "--source"]
    options.append("--no-show-signature")
    options += [f"--since={query.since}"] if query.since else []
    patterns = [_literally(query.grep)] if query.grep else []
    if query.task:
        end = "" if query.task.endswith("-") else "$"
        patterns.append(f"^Ctx-Task: {_literally(query.task)}{end}")
    if patterns:
        options += ["--basic-regexp", "--all-match", "--regexp-ignore-case"]
        options += [f"--grep={pattern}" for pattern in patterns]
    begin = query.refs or (f"--branches={layout.SESSIONS.removeprefix('refs/heads/')}*",)
    stdin = b""
    if query.among is not None:
        chosen = _reached(git, query) if query.refs else query.among
        if not chosen:
            return []
        stdin = "".join(f"{commit}\n" for commit in sorted(chosen)).encode()
        begin = ("--no-walk=sorted", "--stdin")
    out = git.run("log", *options, *begin, *([] if stdin else ["--"]), stdin=stdin)
    fields = out.decode("utf-8", "replace").split("\0")
    width = len(FIELDS)
    return [_entry(fields[at : at + width]) for at in range(0, len(fields) - width + 1, width)]


def _reached(git: Git, query: LogQuery) -> frozenset[str]:
    reached = git.run("rev-list", *query.refs, "--").decode().split()
    return (query.among or frozenset()).intersection(reached)


def _literally(text: str) -> str:
    """Return the basic regular expression that matches ``text`` and nothing else."""
    return re.sub(r"([\\.*^$\[])", r"\\\1", text)


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
        branch="" if source == commit else source.removeprefix("refs/heads/"),
        session=trailers.one("Ctx-Session"),
        event=trailers.one("Ctx-Event"),
        tasks=tuple(trailers.values.get("Ctx-Task", ())),
        chunks=trailers.number("Ctx-Chunks"),
        tokens=trailers.number("Ctx-Tokens"),
        branches=tuple(name for name in decorations if not name.startswith(TAG)),
        tags=tuple(name.removeprefix(TAG) for name in decorations if name.startswith(TAG)),
    )
