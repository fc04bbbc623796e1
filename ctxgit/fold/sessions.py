"""Rules about a session as a whole: its start, its boundaries, its end."""

from __future__ import annotations

from ctxgit.model import Compacted, Observed, SessionEnded, SessionStarted, State
from ctxgit.records import replace
from ctxgit.text import one_line, replace_surrogates

WORD_LENGTH = 40
"""The client's words for why a session began or ended are short."""


def started(state: State, event: SessionStarted) -> State:
    """Note where the session runs; a start after a compaction is a boundary.

    A start revives a session that had ended (resume). The first ``source`` is kept: it
    says how the session came to be.
    """
    session = state.session
    is_boundary = event.source == "compact"
    return replace(
        state,
        session=replace(
            session,
            source=session.source or one_line(event.source, WORD_LENGTH),
            ended="",
            cwd=replace_surrogates(event.cwd) or session.cwd,
            transcript_path=event.transcript_path or session.transcript_path,
            client_pid=event.client_pid or session.client_pid,
            compactions=session.compactions + (is_boundary and not session.boundary_open),
            boundary_open=is_boundary,
        ),
    )


def compacted(state: State, _: Compacted) -> State:
    """Count the compaction, unless the start that belongs to it, or another report, did."""
    session = state.session
    return replace(
        state,
        session=replace(
            session,
            compactions=session.compactions + (not session.boundary_open),
            boundary_open=True,
        ),
    )


def ended(state: State, event: SessionEnded) -> State:
    """Note why the session ended."""
    reason = one_line(event.reason, WORD_LENGTH) or "other"
    return replace(state, session=replace(state.session, ended=reason))


def observed(state: State, event: Observed) -> State:
    """Take over what a sync saw of the project; what it could not see stays.

    Names of files and branches need not be text; redaction has not seen these.
    """
    session = state.session
    seen = bool(event.work_tree)
    return replace(
        state,
        session=replace(
            session,
            work_tree=replace_surrogates(event.work_tree) or session.work_tree,
            branch=replace_surrogates(event.branch) if seen else session.branch,
            head=event.head if seen else session.head,
            previous=event.previous or session.previous,
        ),
    )
