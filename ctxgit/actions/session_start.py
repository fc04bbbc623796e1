"""The answer to SessionStart, from what a sync prepared.

The first request of a session waits for it, and an interpreter's start is nearly all it may
cost: so plain strings, ``os`` and modules written in C, and no parsing but the payload's.
"""

from __future__ import annotations

import os

from ctxgit import gitdir
from ctxgit.deliver import frame

try:
    import _json
except ImportError:  # private to CPython: where it is not, there is json
    _json = None  # type: ignore[assignment] # each use of it stands in a try

OWN_RECAP = ("resume", "compact", "fork")
"""Sources after which a session is told of itself rather than of the one before it."""
LIMIT = 10_000


class _Scanner:
    """What ``_json.make_scanner`` reads its options from."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012 - the C scanner wants an attribute


def answer_from(store: str, spooled: str) -> str:
    """Return the JSON to print for the event in the file ``spooled``; empty for nothing.

    An event that is gone counts as the start of a new session in the client's project.
    Raises OSError, ValueError and TypeError where the event cannot be read.
    """
    try:
        payload = _parse(spooled)
    except FileNotFoundError:  # a sync of another session was quicker
        payload = {}
    cwd = payload.get("cwd") or os.environ.get("CLAUDE_PROJECT_DIR")
    directory = cwd if isinstance(cwd, str) and cwd else os.path.dirname(store)
    found = gitdir.find_git_dir(directory)
    work_tree, head = (found[0], gitdir.read_head(found[1])) if found else (directory, ("", ""))
    told_of, body = _prepared(store, payload, work_tree)
    if not body:
        return ""
    # Escaped when it was prepared; whoever changed the file since cannot end the frame.
    body = body.replace("<", "&lt;").replace(">", "&gt;")
    where = frame.escape(_where(work_tree, head, told_of)).encode(errors="replace").decode()
    return _encode(frame.framed(where, body, LIMIT))


def _parse(path: str) -> dict[str, object]:
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read().strip("\ufeff\0 \r\n\t")
    try:
        scan = _json.make_scanner(_Scanner())  # type: ignore[arg-type] # duck-typed in C
        payload = scan(text, 0)[0]
    except Exception:  # noqa: BLE001 - private to CPython: whatever it has become, there is json
        import json  # noqa: PLC0415 - doubles the time

        payload = json.loads(text)
    if not isinstance(payload, dict):
        raise TypeError("the event is no object")
    return payload


def _prepared(store: str, payload: dict[str, object], work_tree: str) -> tuple[str, str]:
    """Return the work tree that a prepared recap tells of, and its lines."""
    runtime = os.path.join(store, ".git", "ctx")
    path = os.path.join(runtime, "recaps", f"{gitdir.work_tree_key(work_tree)}.txt")
    session = os.environ.get("CLAUDE_CODE_SESSION_ID") or payload.get("session_id")
    if not isinstance(session, str) or "/" in session or not session.strip("."):
        session = ""
    if payload.get("source") in OWN_RECAP and session:
        own = os.path.join(runtime, "sessions", session, "recap.txt")
        path = own if os.path.exists(own) else path
    try:
        with open(path, encoding="utf-8") as file:
            told_of, _, body = file.read().partition("\n")
    except FileNotFoundError:
        return "", ""
    is_own = path.endswith("recap.txt")
    return (told_of, body) if is_own or told_of == work_tree else ("", "")


def _where(work_tree: str, head: tuple[str, str], told_of: str) -> str:
    branch, commit = head
    lines = [f"Work tree: {work_tree}"[:400]]
    if commit or branch:
        lines.append(
            f"Branch: {branch or '(detached)'}, HEAD {commit[:10] or '(no commit yet)'}"[:200]
        )
    if told_of and told_of != work_tree:
        lines.append(f"This tells of the work tree {told_of}"[:250])
    return "\n".join(lines)


def _encode(text: str) -> str:
    try:
        quoted = _json.encode_basestring_ascii(text)
    except Exception:  # noqa: BLE001 - as in _parse
        import json  # noqa: PLC0415 - as there

        quoted = json.dumps(text)
    return (
        '{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": '
        f"{quoted}}}}}\n"
    )
