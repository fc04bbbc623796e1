"""hooks.json: what the client reads, and what each of its commands does at the least."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support.payloads import payload
from support.store import (
    HOOKS,
    ROOT,
    SHELLS,
    hook_command,
    hook_environment,
    make_project,
    run_hook,
    spool_names,
)

if TYPE_CHECKING:
    from pathlib import Path

KNOWN_TO_2_1_197 = {
    *("SessionStart", "Setup", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse"),
    *("PermissionRequest", "PermissionDenied", "PostToolUse", "PostToolUseFailure"),
    *("PostToolBatch", "Notification", "MessageDisplay", "SubagentStart", "SubagentStop"),
    *("TaskCreated", "TaskCompleted", "Stop", "StopFailure", "TeammateIdle"),
    *("InstructionsLoaded", "ConfigChange", "CwdChanged", "FileChanged", "WorktreeCreate"),
    *("WorktreeRemove", "PreCompact", "PostCompact", "Elicitation", "ElicitationResult"),
    "SessionEnd",
}
"""The oldest client that is supported rejects a whole file for one event it does not know."""
KEEPS_ONLY = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStop")
KEEPS_AND_SYNCS = ("Stop", "SessionEnd", "PostCompact")


def test_the_file_holds_only_what_every_supported_client_knows() -> None:
    whole = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))
    assert set(whole) == {"description", "hooks"}
    assert set(whole["hooks"]) <= KNOWN_TO_2_1_197
    for entries in whole["hooks"].values():
        (entry,) = entries
        (hook,) = entry["hooks"]
        assert set(entry) == {"hooks"}
        assert set(hook) == {"type", "command", "timeout"}
        assert hook["type"] == "command"


def test_these_tests_know_every_event_of_the_file() -> None:
    assert set(HOOKS) == {*KEEPS_ONLY, *KEEPS_AND_SYNCS, "SessionStart", "PreCompact"}


def test_no_two_commands_are_the_same() -> None:
    """Of equal command strings the client runs one only."""
    commands = [hook_command(event) for event in HOOKS]
    assert len(set(commands)) == len(commands)


def test_the_hook_of_the_end_has_a_time_limit_of_its_own() -> None:
    """Without one the client kills it after 1.5 seconds."""
    assert HOOKS["SessionEnd"][0]["hooks"][0]["timeout"] > 2


@pytest.mark.parametrize("event", KEEPS_ONLY)
def test_a_hook_that_only_keeps_says_nothing(event: str, tmp_path: Path) -> None:
    store = make_project(tmp_path / "project")
    done = run_hook(event, payload(event), hook_environment(tmp_path / "project"))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert len(spool_names(store)) == 2  # the event, and the name it was written under


@pytest.mark.parametrize("event", KEEPS_AND_SYNCS)
def test_a_hook_that_starts_a_sync_says_nothing_either(event: str, tmp_path: Path) -> None:
    store = make_project(tmp_path / "project")
    done = run_hook(event, payload(event), hook_environment(tmp_path / "project"))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert spool_names(store) == []


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("event", HOOKS)
def test_a_plugin_that_is_gone_is_nobodys_trouble(
    event: str, shell: tuple[str, ...], tmp_path: Path
) -> None:
    environment = hook_environment(tmp_path) | {"CLAUDE_PLUGIN_ROOT": str(tmp_path / "gone")}
    done = run_hook(event, payload(event), environment, sh=shell)
    assert (done.code, done.out, done.err) == (0, "", "")
