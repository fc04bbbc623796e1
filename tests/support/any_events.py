"""Any events of a session whatever, in any order, for properties."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from ctxgit.model import (
    Compacted,
    CompactionAnnounced,
    Event,
    Media,
    Observed,
    PromptKind,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    SubagentStopped,
    TaskChange,
    TasksChanged,
    TaskStatus,
    ToolFinished,
    TurnStopped,
)
from support.events import SESSION, START

# Few values, so that events meet: the same ids, prompts, agents and subjects come again.
AGENTS = st.sampled_from(["", "", "a1", "a2"])
PROMPTS = st.sampled_from(["", "p1", "p2", "p3"])
KEYS = st.sampled_from(["", "1", "2", "3"])
CALLS = st.sampled_from(["", "toolu_1", "toolu_2", "x y", *(f"toolu_n{n}" for n in range(20))])
TEXTS = st.sampled_from(["", "Fix it", "Test it", "a\nb", "\u2028", "word " * 60]) | st.text(
    max_size=5  # without lone surrogates, which redaction replaces
)
STATUS = st.sampled_from([None, *TaskStatus])
CHANGES = st.builds(
    TaskChange,
    key=KEYS,
    number=st.none() | st.integers(0, 3),
    subject=st.none() | TEXTS,
    description=st.none() | TEXTS,
    status=STATUS,
    blocked_by=st.lists(KEYS, max_size=2).map(tuple),
    blocks=st.lists(KEYS, max_size=2).map(tuple),
)
ORIGINS = st.sampled_from(["", "TaskCreate", "TaskUpdate", "TodoWrite", "ctx"])
OF_TASKS: dict[str, st.SearchStrategy[Any]] = {
    "origin": ORIGINS,
    "changes": st.lists(CHANGES, max_size=3).map(tuple),
    "whole_list": st.booleans(),
}
MEDIA = st.builds(Media, sha256=TEXTS, media_type=TEXTS, size=st.integers(0, 9))
SOURCES = st.sampled_from(["startup", "compact", "resume", ""])
KINDS: dict[type[Event], dict[str, st.SearchStrategy[Any]]] = {
    SessionStarted: {"source": SOURCES, "cwd": TEXTS},
    PromptSubmitted: {"text": TEXTS, "kind": st.sampled_from(PromptKind)},
    TasksChanged: OF_TASKS,
    ToolFinished: {
        **OF_TASKS,
        "tool_use_id": CALLS,
        "content": TEXTS,
        "input": st.dictionaries(TEXTS, TEXTS | st.none() | st.lists(st.integers()), max_size=2),
        "paths": st.lists(TEXTS, max_size=2).map(tuple),
        "media": st.lists(MEDIA, max_size=1).map(tuple),
    },
    SubagentStopped: {"message": TEXTS, "agent_type": TEXTS},
    TurnStopped: {"message": TEXTS},
    CompactionAnnounced: {},
    Compacted: {"summary": TEXTS},
    SessionEnded: {"reason": TEXTS},
    Observed: {"work_tree": TEXTS, "branch": TEXTS, "head": TEXTS, "previous": TEXTS},
}


@st.composite
def events(draw: st.DrawFn) -> list[Event]:
    """Some events of one session; now and then one is told again later on."""
    made: list[Event] = []
    for number in range(draw(st.integers(1, 25))):
        if made and draw(st.integers(0, 5)) == 0:
            made.append(draw(st.sampled_from(made)))
            continue
        kind = draw(st.sampled_from([*KINDS, ToolFinished, ToolFinished, TasksChanged]))
        fields = {name: draw(strategy) for name, strategy in KINDS[kind].items()}
        made.append(
            kind(
                id=f"e{number}",
                at=START + timedelta(seconds=draw(st.integers(0, 50))),
                session=SESSION,
                agent=draw(AGENTS),
                prompt_id=draw(PROMPTS),
                **fields,
            )
        )
    return made


EVENTS = events()
"""Lists of events for ``@given``."""
