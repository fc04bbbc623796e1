"""What a name stands for: a save, a session, a cleared state, a task, a moment, a commit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from ctxgit.actions.place import Place, find_session
from ctxgit.errors import GitError, NotFoundError, UsageError
from ctxgit.records import dataclass
from ctxgit.store import index, layout, saves, sessions
from ctxgit.store.git import Git
from ctxgit.text import one_line, printable, slugify

HEADS = "refs/heads/"
TAGS = "refs/tags/"
LAST, CLEARED = "@last", "@cleared"
PREFIX_LENGTH = 4
"""Fewer characters are no beginning of a name: they would begin too many."""
LONGEST = 1000
"""No ref or revision is longer; the system lets no argument grow without end."""
NEAR = 3
_BACK = re.compile(r"(?P<base>.+)@(?P<back>[0-9]{1,6})")
_OBJECT_ID = re.compile(r"[0-9a-f]{40,64}")


@dataclass(frozen=True, kw_only=True)
class Named:
    """What a name stands for.

    ``kind`` is save, session, cleared, task or commit, ``commit`` the id of the commit that
    holds it, ``label`` how to say it (``save/payments@1``), ``ref`` the full name of the ref
    it was found by, empty for a commit or an earlier moment. Of a task there is its number,
    ``task``, and the name of its session's branch, ``session``.
    """

    kind: str
    commit: str
    label: str
    ref: str = ""
    task: int = 0
    session: str = ""


def resolve(place: Place, name: str, present: index.SessionEntry | None = None) -> Named:
    """Return what ``name`` stands for.

    ``NAME``, ``save/NAME`` or ``NAME@n`` (n saves back); ``@cleared`` (the newest cleared
    state, of this session or the one before it where they have one); ``@last`` (the last
    session of this work tree before the present one); a session's id, branch or the
    beginning of either; a cleared branch or its beginning; ``task 3``, a task's label or
    tag; ``@{2}`` or ``@{1.hour.ago}`` of the present session; any commit. Who has asked for
    the ``present`` session just now gives it, and the sessions are not looked through again.

    Raises UsageError for what can be no name, NotFoundError for an unknown one, naming
    those near to it, and for one that may mean several things, naming these.
    """
    asked = name.strip()
    is_name = printable(asked) == asked and len(asked) <= LONGEST
    if not asked or asked.startswith("-") or not is_name:
        raise UsageError(
            f"{one_line(name, 40)!r} names nothing",
            hint="`ctx list --all` shows what there is",
        )
    git = Git(place.store.git_dir)
    pointed = {CLEARED: _newest_cleared, LAST: _last_session}.get(asked)
    if pointed is not None:
        return pointed(place, git)
    if asked.startswith("@{"):
        return _moment(git, present or present_session(place), asked)
    found = (
        _only_one(asked, _exact(git, asked))
        or _only_one(asked, _begun(place, git, asked, present))
        or _commit(git, asked)
    )
    if found is None:
        raise NotFoundError(
            f"nothing is called {one_line(asked, 80)}", hint=_hint(place, git, asked)
        )
    return found


def of_ref(ref: str, commit: str) -> Named:
    """Return what the ref of that full name stands for."""
    short = ref.removeprefix(HEADS).removeprefix(TAGS)
    kind = short.split("/", 1)[0]
    known = kind in {"save", "session", "cleared", "task"}
    _, *folders, last = short.split("/") if kind == "task" else ["", ""]
    number = last.split("-", 1)[0]
    return Named(
        kind=kind if known else "commit",
        commit=commit,
        label=short,
        ref=ref,
        task=int(number) if number.isascii() and number.isdigit() else 0,
        session="/".join(folders),
    )


def present_session(place: Place) -> index.SessionEntry:
    """Return the session that ``@{n}`` and tasks are looked up in. Raises NotFoundError."""
    with index.opened(place.store) as opened:
        opened.refresh(Git(place.store.git_dir))
        return find_session(place, opened)


# --- exact names -----------------------------------------------------------------------------


def _exact(git: Git, asked: str) -> list[Named]:
    """Return what is called just so: branches of ours by short and long name, tags of tasks."""
    found = [of_ref(ref, oid) for ref, oid in _there(git, _refs_called(asked)).items()]
    back = _BACK.fullmatch(asked)
    if found or back is None:
        return found
    there = _there(git, [ref for ref in _refs_called(back["base"]) if ref.startswith(saves.SAVES)])
    return [_earlier(git, of_ref(ref, oid), int(back["back"])) for ref, oid in there.items()]


def _refs_called(name: str) -> list[str]:
    bare = name.removeprefix("save/")
    slug = slugify(bare, default="")
    names = [f"{saves.SAVES}{bare}", *([f"{saves.SAVES}{slug}"] if slug else [])]
    for prefix in (layout.SESSIONS, saves.CLEARED):
        kind = prefix.removeprefix(HEADS)
        names.append(prefix + name.removeprefix(kind))
    names.append(layout.TASK_TAGS + name.removeprefix("task/"))
    return list(dict.fromkeys(names))


def _there(git: Git, refs: Iterable[str]) -> dict[str, str]:
    wanted = list(refs)
    if not wanted:
        return {}
    found = git.refs(*wanted)
    return {ref: found[ref] for ref in wanted if ref in found}


def _earlier(git: Git, save: Named, back: int) -> Named:
    commit = _parsed(git, f"{save.commit}~{back}")
    if not commit:
        count = int(git.run("rev-list", "--count", save.commit))
        raise NotFoundError(
            f"{save.label} has {count} save{'s' * (count != 1)}, none {back} back",
            hint=f"the first one is {save.label}@{count - 1}",
        )
    label = f"{save.label}@{back}" if back else save.label
    return Named(kind="save", commit=commit, label=label, ref=save.ref)


# --- beginnings and tasks --------------------------------------------------------------------


def _begun(place: Place, git: Git, asked: str, present: index.SessionEntry | None) -> list[Named]:
    """Return sessions and cleared states whose name begins so, and the task that is meant."""
    with index.opened(place.store) as opened:
        if present is None:
            opened.refresh(git)
        bare = asked.removeprefix("session/")
        entries = opened.sessions(prefix=bare) if len(bare) >= PREFIX_LENGTH else []
    exact = [entry for entry in entries if entry.key == bare]
    found = [of_ref(layout.SESSIONS + entry.name, entry.tip) for entry in exact or entries]
    bare = asked.removeprefix("cleared/")
    if len(bare) >= PREFIX_LENGTH and not found:
        cleared = git.refs(saves.CLEARED)
        found += [
            of_ref(ref, oid) for ref, oid in cleared.items() if ref.startswith(saves.CLEARED + bare)
        ]
    task = _task(place, git, asked.removeprefix("task ").strip(), present)
    return [*found, task] if task else found


def _task(place: Place, git: Git, name: str, present: index.SessionEntry | None) -> Named | None:
    """Return the task of the present session with that number or label.

    It stands for the state in which it was done, else for the session as it is now.
    """
    number = int(name) if name.isascii() and name.isdigit() and len(name) < 7 else 0  # noqa: PLR2004 - as short as _BACK's
    if not number and not name.split("-", 1)[0].isdigit():
        return None
    try:
        entry = present or present_session(place)
    except NotFoundError:
        return None
    prefix = f"{layout.TASK_TAGS}{entry.name}/"
    for ref, oid in git.refs(prefix).items():
        tagged = of_ref(ref, oid)
        if ref == prefix + name or (number and tagged.task == number):
            return tagged
    state = sessions.cached_state(place.store, entry.key, entry.tip)
    state = state or sessions.read_state(git, entry.tip)
    tasks = (task for task in state.tasks.values() if number == task.number or name == task.label)
    found = next(tasks, None)
    if found:
        return _untagged(entry, found.number, entry.tip)
    number = number or int(name.split("-", 1)[0])
    gone = _before_it_went(git, entry.tip, number)
    return _untagged(entry, number, gone) if gone else None


def _untagged(entry: index.SessionEntry, number: int, commit: str) -> Named:
    label = f"task {number} of session/{entry.name}"
    return Named(kind="task", commit=commit, label=label, task=number, session=entry.name)


def _before_it_went(git: Git, tip: str, number: int) -> str:
    """Return the last commit whose tree has a task that left the working set, unfinished."""
    where = f":(glob)tasks/**/{number:02d}-*/task.toml"
    parents = git.run("log", "-1", "--diff-filter=D", "--format=%P", tip, "--", where)
    return parents.decode().strip().split(" ")[0]


def _only_one(asked: str, found: list[Named]) -> Named | None:
    """Return the one found, ``None`` without any. Raises NotFoundError when there are more."""
    if len({named.commit for named in found}) > 1:
        shown = ", ".join(named.label for named in found[:5])
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""  # noqa: PLR2004 - as above
        raise NotFoundError(
            f"{one_line(asked, 80)} is ambiguous: {shown}{more}", hint="give more of the name"
        )
    return found[0] if found else None


# --- moments and commits -------------------------------------------------------------------------


def _newest_cleared(place: Place, git: Git) -> Named:
    """Return the newest of the session and the one before it, else of the whole store."""
    refs = git.refs(saves.CLEARED)
    if not refs:
        raise NotFoundError("nothing was cleared yet", hint="`ctx list` shows what was saved")
    near = _endings_near(place, git)
    own = [ref for ref in refs if any(f"{ending}-" in f"{ref}-" for ending in near)]
    newest = max(own or refs, key=_time_in)
    return of_ref(newest, refs[newest])


def _time_in(ref: str) -> str:
    return ref.removeprefix(saves.CLEARED)


def _endings_near(place: Place, git: Git) -> tuple[str, ...]:
    """Return how the cleared refs end that are of the present session or the one before it."""
    try:
        entry = present_session(place)
    except NotFoundError:
        return ()
    names = [entry.name]
    state = sessions.cached_state(place.store, entry.key, entry.tip)
    previous = (state or sessions.read_state(git, entry.tip)).session.previous
    if previous:
        with index.opened(place.store) as opened:
            names += [found.name for found in opened.sessions(prefix=previous)]
    return tuple(f"-{layout.short_id(name)}" for name in names)


def _last_session(place: Place, git: Git) -> Named:
    """Return the last session of this work tree but the present one, one with prompts first."""
    with index.opened(place.store) as opened:
        opened.refresh(git)
        entries = opened.sessions(work_tree=place.work_tree)
        present = _present_key(place, opened)
    others = [entry for entry in entries if entry.key != present]
    found = next((entry for entry in others if entry.headline), None) or next(iter(others), None)
    if found is None:
        raise NotFoundError(
            f"there is no earlier session in {place.work_tree}",
            hint="`ctx list --all` shows those of other work trees",
        )
    return of_ref(layout.SESSIONS + found.name, found.tip)


def _present_key(place: Place, opened: index.Index) -> str:
    """Return the session that is going on here, empty where all have ended."""
    current = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if current and not place.session:
        return current  # it may not be recorded yet
    try:
        entry = find_session(place, opened)
    except NotFoundError:
        return ""
    return "" if entry.ended and not place.session else entry.key


def _moment(git: Git, entry: index.SessionEntry, asked: str) -> Named:
    """Return the session as it stood at an earlier moment, by its reflog."""
    short = f"session/{entry.name}"
    commit = _parsed(git, f"{HEADS}{short}{asked}")
    if not commit:
        raise NotFoundError(
            f"{short} has no moment {asked}",
            hint="try @{1}, @{1.hour.ago} or a commit that `ctx log` shows",
        )
    return Named(kind="commit", commit=commit, label=short + asked)


def _commit(git: Git, asked: str) -> Named | None:
    commit = _parsed(git, asked)
    return Named(kind="commit", commit=commit, label=commit[:10]) if commit else None


def _parsed(git: Git, name: str) -> str:
    """Return the id of the commit that git takes ``name`` for, empty if it takes it for none."""
    try:
        out = git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()
    except GitError:
        return ""
    return out if _OBJECT_ID.fullmatch(out) else ""


def _hint(place: Place, git: Git, asked: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - for this message only

    short = [ref.removeprefix(HEADS) for ref in git.refs(saves.SAVES, saves.CLEARED)]
    with index.opened(place.store) as opened:
        short += [f"session/{entry.name}" for entry in opened.sessions()]
    by_bare = {name.split("/", 1)[1].casefold(): name for name in short}
    words = asked.split("/", 1)[-1].casefold()
    near = get_close_matches(words, list(by_bare), n=NEAR, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(by_bare[name] for name in near)}?"
    return "`ctx list --all` shows what there is"
