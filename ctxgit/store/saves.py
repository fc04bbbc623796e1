"""Saves: named states, each a commit on a branch of its own, without what tools returned.

save.toml           what it is: of which session, when, where the project stood
handoff.md          the document for the next session
tasks/…/task.toml   the tasks
knowledge/          the tree that the session had
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from ctxgit.documents import dump_toml, from_table, load_toml, to_table
from ctxgit.errors import NotFoundError, StoreError
from ctxgit.model import Task
from ctxgit.paths import StorePaths
from ctxgit.records import dataclass
from ctxgit.store import layout
from ctxgit.store.git import Git
from ctxgit.store.stream import FAST_IMPORT, Commit, stream

SAVES = "refs/heads/save/"
CLEARED = layout.CLEARED
FIELDS = (
    "%(refname)%1f%(objectname)%1f%(committerdate:unix)%1f%(contents:subject)"
    "%1f%(contents:trailers:only,unfold)%1e"
)


@dataclass(frozen=True, kw_only=True)
class SaveFacts:
    """What ``save.toml`` says.

    ``turn`` and ``chunk`` are the session's position, ``prompts`` the number of those that
    its handoff has.
    """

    name: str
    at: datetime
    session: str
    session_name: str
    turn: int
    chunk: int
    tokens: int
    prompts: int = 0
    message: str = ""
    work_tree: str = ""
    branch: str = ""
    head: str = ""


@dataclass(frozen=True, kw_only=True)
class SaveEntry:
    """A save, a cleared state or a session as a list shows it; ``name`` is a short ref."""

    name: str
    kind: str
    commit: str
    at: datetime
    subject: str
    session: str
    tokens: int
    branch: str
    head: str


@dataclass(frozen=True, kw_only=True)
class Save:
    """A save read back."""

    facts: SaveFacts
    commit: str
    handoff: str
    tasks: tuple[Task, ...]
    files: tuple[str, ...]
    knowledge: str


def write(
    store: StorePaths,
    facts: SaveFacts,
    *,
    handoff: str,
    tasks: Sequence[Task],
    files: Sequence[str],
    knowledge: str,
) -> str:
    """Commit a save on its branch; return the commit's id.

    Its only parent is the save of that name before. Raises GitError when another process
    saved under the name at the same time; nothing has changed then.
    """
    git = Git(store.git_dir)
    ref = SAVES + facts.name
    parent = git.refs(ref).get(ref)
    content: dict[str, bytes | None] = {
        "save.toml": dump_toml({"format": 1, **to_table(facts), "files": list(files)}),
        "handoff.md": handoff.encode(),
    }
    for task in tasks:
        content[f"{layout.task_dir(task)}/task.toml"] = dump_toml(to_table(task))
    commit = Commit(
        at=facts.at,
        message=_message(facts),
        files=content,
        trees={layout.KNOWLEDGE: knowledge} if knowledge else {},
        is_whole=True,
    )
    return git.run(*FAST_IMPORT, stdin=stream(ref, parent, [commit])).decode().strip()


def _message(facts: SaveFacts) -> str:
    trailers = {
        "Ctx-Event": "Save",
        "Ctx-Session": facts.session,
        "Ctx-Position": f"turn {facts.turn}, chunk {facts.chunk}",
        "Ctx-Tokens": str(facts.tokens),
        "Ctx-Branch": facts.branch,
        "Ctx-Head": facts.head,
    }
    subject = facts.message or f"Save {facts.name}"
    lines = [f"{key}: {value}" for key, value in trailers.items() if value]
    return f"{subject}\n\n" + "\n".join(lines) + "\n"


def entries(git: Git, *prefixes: str, limit: int) -> list[SaveEntry]:
    """Return what at most ``limit`` refs under ``prefixes`` point at, newest first."""
    options = ("--sort=-committerdate", f"--count={limit}", f"--format={FIELDS}")
    out = git.run("for-each-ref", *options, *prefixes).decode("utf-8", "replace")
    return [_entry(record.strip("\n")) for record in out.split("\x1e") if record.strip("\n")]


def _entry(record: str) -> SaveEntry:
    ref, commit, at, subject, trailer_text = record.split("\x1f")
    pairs = (line.partition(": ") for line in trailer_text.splitlines())
    trailers = {key: value for key, _, value in pairs}
    short = ref.removeprefix("refs/heads/")
    tokens = trailers.get("Ctx-Tokens", "")
    return SaveEntry(
        name=short,
        kind=short.split("/", 1)[0],
        commit=commit,
        at=datetime.fromtimestamp(int(at), UTC),
        subject=subject,
        session=trailers.get("Ctx-Session", ""),
        tokens=int(tokens) if tokens.isdigit() else 0,
        branch=trailers.get("Ctx-Branch", ""),
        head=trailers.get("Ctx-Head", ""),
    )


def count_entries(git: Git, tree: str) -> int:
    """Return how many entries a tree of knowledge has; 0 without a tree. Raises GitError."""
    if not tree:
        return 0
    names = git.run("ls-tree", "-r", "-z", "--name-only", tree).split(b"\0")
    return sum(name.endswith(b".md") for name in names)


def read(git: Git, name: str) -> Save:
    """Return the save at ``name`` (a commit, or ``save/<name>~<n>``).

    Raises NotFoundError when there is none, StoreError when it is damaged.
    """
    commit, facts, text, knowledge = git.objects(
        [name, f"{name}:save.toml", f"{name}:handoff.md", f"{name}:{layout.KNOWLEDGE}"]
    )
    if commit is None or facts is None:
        raise NotFoundError(f"there is no save {name}", hint="`ctx list` shows the saves there are")
    listing = git.run("ls-tree", "-r", "-z", "--name-only", commit.oid, "tasks/").decode()
    paths = [path for path in listing.split("\0") if path]
    blobs = git.objects([f"{commit.oid}:{path}" for path in paths])
    try:
        table = load_toml(facts.content)
        listed = table.pop("files", [])
        tasks = [from_table(Task, load_toml(blob.content)) for blob in blobs if blob]
        return Save(
            facts=from_table(SaveFacts, table),
            commit=commit.oid,
            handoff=text.content.decode("utf-8", "replace") if text else "",
            tasks=tuple(sorted(tasks, key=lambda task: task.number)),
            files=tuple(str(path) for path in listed) if isinstance(listed, list) else (),
            knowledge=knowledge.oid if knowledge else "",
        )
    except ValueError as error:
        raise StoreError(f"the save {name} is damaged: {error}") from error
