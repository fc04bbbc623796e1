"""``ctx save`` and ``ctx handoff``: a named state, and the document that carries it on."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ctxgit.actions.material import read_material
from ctxgit.actions.place import Place, current_branch
from ctxgit.deliver.handoff import SAVE_TOKENS, Handoff, Material, handoff
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.model import State
from ctxgit.records import dataclass
from ctxgit.redact import redact
from ctxgit.store import saves
from ctxgit.store.git import Git
from ctxgit.store.operations import OperationLog
from ctxgit.store.saves import SaveFacts
from ctxgit.store.sessions import Branch
from ctxgit.text import one_line, slugify

NAME_LENGTH = 200


@dataclass(frozen=True, kw_only=True)
class SaveResult:
    """A save that was made.

    ``asked`` is the name as it was given, ``omitted`` what was left out for length, by kind,
    ``again`` whether there was a save of that name.
    """

    name: str
    asked: str
    commit: str
    session: str
    tokens: int
    tasks: int
    prompts: int
    files: int
    omitted: dict[str, int]
    again: bool


@dataclass(frozen=True, kw_only=True)
class HandoffResult:
    """A handoff: the document, its size, what it left out, and where it was kept."""

    session: str
    text: str
    tokens: int
    omitted: dict[str, int]
    name: str = ""
    commit: str = ""


def save(place: Place, name: str | None = None, *, message: str = "") -> SaveResult:
    """Save the state of the session under ``name``.

    Without a name, the first prompt's words, else the date. Saving again adds a commit.
    Raises UsageError for a name without a letter or digit, NotFoundError for an empty
    session, GitError when another process saved under the name at the same moment.
    """
    branch, state = current_branch(place)
    asked = redact(name) if name is not None else _name_of(state)
    slug = save_name(asked)
    material, document = make_document(place, branch)
    now = datetime.now(UTC)
    ref = saves.SAVES + slug
    git = Git(place.store.git_dir)
    asked_for = sum(1 for exchange in material.exchanges if exchange.prompt)
    facts = SaveFacts(
        name=slug,
        at=now,
        session=branch.key,
        session_name=branch.name,
        turn=state.current_turn,
        chunk=state.session.chunks,
        tokens=document.tokens,
        prompts=asked_for - document.omitted.get("prompts", 0),
        message=one_line(redact(message), 200),
        work_tree=state.session.work_tree or state.session.cwd,
        branch=state.session.branch,
        head=state.session.head,
    )
    files = [fact.path for fact in material.files]
    log = OperationLog(place.store)
    with log.recorded("save", slug, session=branch.key, at=now, patterns=[ref]):
        again = ref in git.refs(ref)
        commit = saves.write(
            place.store,
            facts,
            handoff=document.text,
            tasks=list(state.tasks.values()),
            files=files,
            knowledge=branch.knowledge,
        )
    return SaveResult(
        name=slug,
        asked=asked,
        commit=commit,
        session=branch.key,
        tokens=document.tokens,
        tasks=len(state.tasks),
        prompts=facts.prompts,
        files=len(files),
        omitted=document.omitted,
        again=again,
    )


def make_handoff(
    place: Place, name: str | None = None, *, copy: Path | None = None
) -> HandoffResult:
    """Return the session's handoff; with ``name`` it is saved too, with ``copy`` written there.

    Raises as ``save`` does, and UsageError when ``copy`` cannot be written.
    """
    branch, _ = current_branch(place)
    _, document = make_document(place, branch)
    saved = save(place, name) if name is not None else None
    if copy is not None:
        target = copy / f"handoff-{saved.name if saved else branch.name}.md"
        try:
            target.write_text(document.text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {target}: {error.strerror}") from error
    return HandoffResult(
        session=branch.key,
        text=document.text,
        tokens=document.tokens,
        omitted=document.omitted,
        name=saved.name if saved else "",
        commit=saved.commit if saved else "",
    )


def save_name(text: str) -> str:
    """Return the name under which ``text`` is saved. Raises UsageError when none can be made."""
    if text.startswith("-"):
        raise UsageError(
            f"{text} is no name for a save", hint="a name begins with a letter or digit"
        )
    slug = slugify(text, default="")
    if not slug or len(text) > NAME_LENGTH:
        short = one_line(text, 40)
        raise UsageError(f"{short!r} is no name for a save", hint="use a few words, like payments")
    return slug


def _name_of(state: State) -> str:
    prompts = (turn.headline for turn in state.turns.values() if turn.headline)
    words = slugify(next(prompts, ""), default="")
    return words or f"{state.session.updated_at:%Y-%m-%d}"


def make_document(place: Place, branch: Branch) -> tuple[Material, Handoff]:
    """Return the handoff of the session that ``branch`` holds, and what it is made of.

    Raises NotFoundError for a session in which nothing was asked or done.
    """
    material = read_material(Git(place.store.git_dir), branch)
    if material.is_empty:
        raise NotFoundError(
            f"session {branch.name} is empty: there is nothing to hand over",
            hint="work in it first, or name another with --session",
        )
    return material, handoff(material, limit=SAVE_TOKENS)
