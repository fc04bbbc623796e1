"""``ctx load``: what a model needs of a save, a session or a cleared state."""

from __future__ import annotations

import os
from datetime import datetime

from ctxgit import gitdir
from ctxgit.actions.material import freshness
from ctxgit.actions.naming import Named, resolve
from ctxgit.actions.place import Place, find_session
from ctxgit.actions.rewrite import Rewritten, apply
from ctxgit.actions.save import make_document
from ctxgit.deliver.loaded import Loaded, Where, parts, whole
from ctxgit.errors import NotFoundError, UsageError
from ctxgit.model import Adopted, Event, State, Task
from ctxgit.records import dataclass, replace
from ctxgit.store import history, index, layout, saves, sessions
from ctxgit.store.git import Git
from ctxgit.tokens import estimate_tokens

CHANGED, GONE = "changed since", "gone"


@dataclass(frozen=True, kw_only=True)
class LoadResult:
    """What was loaded: the text for the model, in a frame, and what it tells.

    ``text`` is the whole, or part ``part`` of ``parts``; ``tokens`` is its estimated size.
    ``part`` is 0 where no part was asked for.
    """

    text: str
    tokens: int
    part: int
    parts: int
    kind: str
    commit: str
    loaded: Loaded


def load(
    place: Place, name: str, *, into: str | None = None, part: int | None = None
) -> LoadResult:
    """Return what the model needs of what ``name`` names, at most 30,000 tokens.

    With ``into``, a session's id, branch or the beginning of either, that session gets the
    tasks in the place of its working set, which is kept first. ``part`` asks for one of the
    parts, from 1, that fit into what a command may print. Raises NotFoundError for an unknown
    or empty state, UsageError for a part there is not; nothing is changed then.
    """
    git = Git(place.store.git_dir)
    named = resolve(place, name)
    held = history.holds(git, named.commit)
    if not held:
        raise NotFoundError(
            f"{named.label} holds nothing to load", hint="`ctx list --all` shows what does"
        )
    read = _of_save if held == "save" else _of_state
    loaded, body, tasks = read(place, git, named)
    count = len(parts(loaded, body))
    if part is not None and not 1 <= part <= count:
        raise UsageError(f"{named.label} has no part {part}", hint=f"its parts are 1 to {count}")
    if into is not None:
        done = _adopt(place, into, named, tasks)
        loaded = replace(loaded, into=done.branch.name, kept=done.kept)
    text = whole(loaded, body) if part is None else parts(loaded, body)[part - 1]
    return LoadResult(
        text=text,
        tokens=estimate_tokens(text),
        part=part or 0,
        parts=count,
        kind=named.kind,
        commit=named.commit,
        loaded=loaded,
    )


def _adopt(place: Place, into: str, named: Named, tasks: tuple[Task, ...]) -> Rewritten:
    with index.opened(place.store) as opened:
        opened.refresh(Git(place.store.git_dir))
        key = find_session(replace(place, session=into), opened).key

    def adopted(_: State, at: datetime) -> list[Event]:
        return [Adopted(id="ctx-load", at=at, session=key, source=named.label, tasks=tasks)]

    return apply(place.store, key, adopted, verb="load", summary=named.label, keeps=True)


def _of_save(place: Place, git: Git, named: Named) -> tuple[Loaded, str, tuple[Task, ...]]:
    save = saves.read(git, named.commit)
    facts = save.facts
    root = place.work_tree
    how = {path: freshness(os.path.join(root, path), facts.at) for path in save.files}  # noqa: PTH118 - as git names them
    loaded = Loaded(
        label=named.label,
        at=facts.at,
        session=facts.session_name,
        message=facts.message,
        then=Where(work_tree=facts.work_tree, branch=facts.branch, head=facts.head),
        now=_now(place),
        gone=tuple(path for path, said in how.items() if said == GONE),
        changed=tuple(path for path, said in how.items() if said == CHANGED),
        tasks=len(save.tasks),
        open_tasks=sum(task.status.is_open for task in save.tasks),
        prompts=facts.prompts,
        knowledge=saves.count_entries(git, save.knowledge),
        results=facts.chunk,
    )
    return loaded, save.handoff, save.tasks


def _of_state(place: Place, git: Git, named: Named) -> tuple[Loaded, str, tuple[Task, ...]]:
    state = sessions.read_state(git, named.commit)
    session = state.session
    name = _branch_name(place, session.id)
    branch = sessions.Branch(key=session.id, name=name, tip=named.commit, state=state)
    material, document = make_document(place, branch)
    tasks = tuple(state.tasks.values())
    (knowledge,) = git.objects([f"{named.commit}:{layout.KNOWLEDGE}"])
    asked = sum(1 for exchange in material.exchanges if exchange.prompt)
    loaded = Loaded(
        label=named.label,
        at=session.updated_at,
        session=name,
        message="",
        then=Where(
            work_tree=session.work_tree or session.cwd, branch=session.branch, head=session.head
        ),
        now=_now(place),
        gone=tuple(fact.path for fact in material.files if fact.freshness == GONE),
        changed=tuple(fact.path for fact in material.files if fact.freshness == CHANGED),
        tasks=len(tasks),
        open_tasks=sum(task.status.is_open for task in tasks),
        prompts=asked - document.omitted.get("prompts", 0),
        knowledge=saves.count_entries(git, knowledge.oid if knowledge else ""),
        results=session.chunks,
    )
    return loaded, document.text, tasks


def _branch_name(place: Place, key: str) -> str:
    """Return the name of a session's branch, its id where that is gone."""
    with index.opened(place.store) as opened:
        opened.refresh(Git(place.store.git_dir))
        entries = opened.sessions(prefix=key)
    return next((entry.name for entry in entries if entry.key == key), key)


def _now(place: Place) -> Where:
    found = gitdir.find_git_dir(str(place.directory))
    branch, head = gitdir.read_head(found[1]) if found else ("", "")
    return Where(work_tree=place.work_tree, branch=branch, head=head)
