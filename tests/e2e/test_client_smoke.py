"""The harness drives the real client, and the client takes the repository as a plugin."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.script import Step, model_text, use

if TYPE_CHECKING:
    from conftest import StartClient
    from harness.client import Client

pytestmark = pytest.mark.client

ROOT = Path(__file__).parents[2]


def test_a_headless_prompt_reads_edits_and_runs(start_client: StartClient) -> None:
    client = start_client(files={"greek.txt": "alpha\nbeta\n", "CLAUDE.md": "Count in Greek.\n"})
    file = client.project / "greek.txt"
    client.play(
        {
            "Go on counting": [
                use("Read", file_path=str(file)),
                use("Edit", file_path=str(file), old_string="beta", new_string="beta\ngamma"),
                use("Bash", command="grep -c a greek.txt", description="Count"),
                "Three letters.",
            ]
        }
    )
    answer = client.prompt("Go on counting, please")
    assert answer.text == "Three letters."
    assert answer.exit_code == 0
    assert file.read_text(encoding="utf-8") == "alpha\nbeta\ngamma\n"
    requests = client.requests()
    assert len(requests) == 4
    assert "Count in Greek." in model_text(requests[0])
    assert "beta" not in model_text(requests[0])
    assert "[user] result: 1\talpha\n2\tbeta" in model_text(requests[1])
    assert "[user] result: 3" in model_text(requests[3])


def test_an_interactive_session_answers_compacts_and_ends(start_client: StartClient) -> None:
    client = start_client(files={"greek.txt": "alpha\n"})
    client.play({"Which letter": ["It is alpha."]})
    client.answer(compact="<summary>\nOne letter was named.\n</summary>")
    client.open()
    client.type("Which letter is it?")
    client.wait("It is alpha.")
    client.type("/compact keep the letter")
    client.wait("Compacted")
    assert "keep the letter" in model_text(client.requests("compact")[-1])
    client.type("Thanks")
    client.wait("Done.")
    assert "One letter was named." in model_text(client.requests()[-1])
    client.leave()
    client.settle()


def test_usage_figures_come_from_the_script(start_client: StartClient) -> None:
    client = start_client()
    client.play({"How full": [Step("Quite.", usage={"cache_read_input_tokens": 123_456})]})
    last = client.prompt("How full are you?").events[-1]
    assert last["usage"]["cache_read_input_tokens"] == 123_456


def test_tasks_and_subagents_can_be_scripted(start_client: StartClient) -> None:
    client = start_client(task_tools=True)
    look = {"description": "Look", "prompt": "Look around", "subagent_type": "Explore"}
    client.play(
        {
            "Work in steps": [
                use("TaskCreate", subject="First step", description="The only one"),
                use("TaskUpdate", taskId="1", status="completed"),
                use("Agent", **look, run_in_background=False),
                "All done.",
            ],
            "Look around": ["Nothing there."],
        }
    )
    assert client.prompt("Work in steps").text == "All done."
    seen = model_text(client.requests()[-1])
    assert "Task #1 created successfully: First step" in seen
    assert "Updated task #1" in seen
    assert "Nothing there." in seen


def test_the_client_reaches_the_model_and_nothing_else(start_client: StartClient) -> None:
    client = start_client()
    if not client.confined:
        pytest.skip("namespaces are not allowed here")
    lines = client.run("cat", "/proc/net/dev").stdout.splitlines()[2:]
    assert [line.partition(":")[0].strip() for line in lines] == ["lo"]


def test_the_caller_s_environment_stays_outside(
    start_client: StartClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXGIT_E2E_LEAK", "yes")
    client = start_client(env={"CTXGIT_E2E_GIVEN": "yes"})
    environment = client.run("env").stdout
    assert "CTXGIT_E2E_GIVEN=yes" in environment
    assert "CTXGIT_E2E_LEAK" not in environment
    assert f"HOME={client.home}\n" in environment


@pytest.mark.parametrize("target", [".", ".claude-plugin/plugin.json"])
def test_the_repository_is_a_valid_plugin(start_client: StartClient, target: str) -> None:
    done = start_client().claude("plugin", "validate", str(ROOT / target))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation passed" in done.stdout


def test_the_root_of_a_marketplace_can_be_its_plugin(
    start_client: StartClient, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / ".claude-plugin", tmp_path / ".claude-plugin")
    hook = {"type": "command", "command": "echo loaded from ${CLAUDE_PLUGIN_ROOT}"}
    hooks = tmp_path / "hooks" / "hooks.json"
    hooks.parent.mkdir()
    hooks.write_text(json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}))
    client = start_client()
    enable(client, tmp_path)
    client.prompt("Hello")
    assert f"loaded from {tmp_path}\n" in model_text(client.requests()[0])


def enable(client: Client, marketplace: Path) -> None:
    source = {"source": "directory", "path": str(marketplace)}
    settings = {
        "extraKnownMarketplaces": {"ctxgit": {"source": source}},
        "enabledPlugins": {"context@ctxgit": True},
    }
    client.write(".claude/settings.local.json", json.dumps(settings))
