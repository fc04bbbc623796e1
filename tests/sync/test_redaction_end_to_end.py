"""A secret in any place of any event is in nothing that is written but the spool."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from ctxgit.actions.sync import sync
from support.payloads import SESSION, payload, tool_payload
from support.store import (
    hook_environment,
    log_text,
    make_project,
    put,
    run_ctx,
    run_hook,
    spool_names,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.paths import StorePaths

SECRETS = [
    "ghp_" + "a1B2c3D4e5" * 3,
    "AKIA" + "IOSFODNN7EXAMPLE",
    "sk-ant-api03-" + "x9Y8z7W6v5" * 4,
    "glpat-" + "q1W2e3R4t5" * 2 + "aa",
]
FIRST = SECRETS[0]


def task(tool: str, tool_input: dict[str, Any], number: int) -> Any:
    response = {"task": {"id": str(number), "subject": tool_input.get("subject", "")}}
    return tool_payload(tool, tool_input, response, tool_use_id=f"toolu_t{number}")


def places(secret: str) -> list[Any]:
    """Return an event for each place in which a secret may come."""
    text = f"before {secret} after"
    return [
        payload(
            "SessionStart", session_title=text, model=text, transcript_path=f"/x/{secret}.jsonl"
        ),
        payload("UserPromptSubmit", prompt=text),
        payload("UserPromptSubmit", prompt=f"/deploy {secret}", prompt_id=secret),
        tool_payload("Bash", {"command": f"curl -H {secret} x"}, {"stdout": text, "stderr": text}),
        tool_payload("Read", {"file_path": f"/x/{secret}/a"}, {"file": {"content": text}}),
        tool_payload("Write", {"file_path": "/x/b", "content": text}, {"type": "create"}),
        tool_payload("Bash", {secret: secret}, {secret: {secret: [secret]}}, tool_use_id=secret),
        tool_payload("Frobnicate", {"deep": [{"er": text}]}, {"deep": [{"er": [text, secret]}]}),
        tool_payload(secret, {}, text, agent_id=secret, agent_type=secret),
        payload("PostToolUseFailure", tool_name="Bash", error=f"Exit code 1\n{text}"),
        task("TaskCreate", {"subject": text, "description": text}, 1),
        task("TaskUpdate", {"taskId": "1", "status": "completed", "subject": text}, 1),
        tool_payload("TodoWrite", {"todos": [{"content": text, "status": "completed"}]}, {}),
        payload("SubagentStop", last_assistant_message=text, agent_id=secret),
        payload("Stop", last_assistant_message=text),
        payload("PreCompact", custom_instructions=text),
        payload("PostCompact", compact_summary=text, trigger=text),
        payload("SessionEnd", reason=text),
        payload("Teleported", text=text),
        payload(secret, text=text),
    ]


def written(store: StorePaths) -> dict[str, bytes]:
    """Return all that was written, by where it is, but for what holds raw events."""
    contents = {
        str(path.relative_to(store.root)): path.read_bytes()
        for path in store.root.rglob("*")
        if path.is_file() and not path.is_relative_to(store.rejected)
    }
    objects = ["git", "-C", str(store.root), "cat-file", "--batch-all-objects", "--batch"]
    contents["objects"] = subprocess.run(objects, check=True, capture_output=True).stdout
    contents["paths"] = "\n".join(map(str, store.root.rglob("*"))).encode()
    return contents


def leaks(contents: dict[str, bytes], secrets: list[str] = SECRETS) -> list[tuple[str, str]]:
    return [
        (name, secret)
        for name, content in contents.items()
        for secret in secrets
        if secret.encode() in content
    ]


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    return make_project(tmp_path / "project")


@pytest.mark.parametrize("secret", SECRETS)
def test_no_place_lets_a_secret_through(secret: str, store: StorePaths) -> None:
    events = places(secret)
    for number, event in enumerate(events):
        if event.get("tool_use_id") == "toolu_01":
            event["tool_use_id"] = f"toolu_{number}"
        put(store, event, session="none" if number % 2 else SESSION)
    sync(store)
    assert spool_names(store) == []
    contents = written(store)
    assert leaks(contents) == []
    assert contents["objects"].count(b"[redacted:") > 20
    assert b"Frobnicate" in contents["objects"]
    session = json.dumps(run_ctx("status", "--json", cwd=store.root.parent).json)
    assert "[redacted:" in session


def test_what_is_told_of_malformed_events_holds_nothing_of_them(store: StorePaths) -> None:
    whole = json.dumps(payload("UserPromptSubmit", prompt=FIRST)).encode()
    for data in (FIRST.encode(), whole[:-3], b'["' + FIRST.encode() + b'"]', b"\xff" + whole):
        put(store, data)
        put(store, data, session="none")
    assert sync(store).rejected == 8
    assert leaks(written(store)) == []
    assert log_text(store).count("put aside") == 8


def test_a_name_in_the_spool_is_no_way_in(store: StorePaths) -> None:
    put(store, payload("UserPromptSubmit", prompt="c"), name=FIRST)
    sync(store)
    assert leaks(written(store)) == []


def test_what_the_hooks_answer_holds_no_secret(store: StorePaths) -> None:
    environment = hook_environment(store.root.parent)
    for event in places(FIRST):
        put(store, event)
    sync(store)
    answers = [
        run_hook("PreCompact", payload("PreCompact"), environment).out,
        *(
            run_hook("SessionStart", payload("SessionStart", source=source), environment).out
            for source in ("resume", "startup")
        ),
    ]
    assert FIRST not in "".join(answers)
    assert "[redacted:" in answers[0] + answers[1]


def test_a_task_declared_by_hand_is_redacted(store: StorePaths) -> None:
    put(store, payload("UserPromptSubmit", prompt="a"))
    done = run_ctx("task", "start", f"Rotate {FIRST}", cwd=store.root.parent)
    assert (done.code, done.out) == (0, "Started task 1: Rotate [redacted:github-token]\n")
    assert leaks(written(store)) == []


def test_an_unforeseen_error_is_logged_without_a_secret(
    store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ValueError(f"cannot do it with {FIRST}")

    put(store, payload("UserPromptSubmit", prompt="a"))
    monkeypatch.setattr("ctxgit.actions.sync.recaps.write", fail)
    sync(store)
    assert "cannot do it with [redacted" in log_text(store)
    assert leaks(written(store)) == []


def test_the_environment_is_written_nowhere(
    store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = "plain-words-of-an-environment"
    environment = hook_environment(store.root.parent) | {"ANTHROPIC_API_KEY": value}
    monkeypatch.setenv("ANTHROPIC_API_KEY", value)
    run_hook("SessionStart", payload("SessionStart"), environment)
    run_hook("Stop", b"{", environment)
    (store.git_dir / "HEAD").unlink()
    run_hook("Stop", payload("Stop"), environment)
    assert "sync" in log_text(store)
    files = [path for path in store.root.rglob("*") if path.is_file()]
    assert [path for path in files if value.encode() in path.read_bytes()] == []
