"""From a tool call to a commit, on the real client: what was asked, done, kept and told."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.script import Step, ToolUse, model_text, use
from harness.waiting import eventually

if TYPE_CHECKING:
    from conftest import StartClient
    from harness.client import Client

pytestmark = pytest.mark.client

ROOT = Path(__file__).parents[2]
FILES = {"src/shop.py": "def total():\n    return 1\n", "README.md": "# Shop\n"}
CTX = (sys.executable, "-m", "ctxgit")
SUMMARY = "<summary>\nTHE-MODELS-OWN-SUMMARY\n</summary>"


def ctx(client: Client, *arguments: str) -> str:
    """Run ctx in the client's project."""
    done = client.run(*CTX, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def data(client: Client, *arguments: str) -> Any:
    """Run a verb of ctx with --json and return its data."""
    return json.loads(ctx(client, *arguments, "--json"))["data"]


def store_git(client: Client, *arguments: str) -> str:
    """Run git in the client's store."""
    done = client.run("git", "-C", f"{client.project}/.context-store", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_synced(client: Client) -> bool:
    spool = client.project / ".context-store" / ".git" / "ctx" / "spool"
    return not [path for path in spool.iterdir() if not path.name.startswith(".")]


def story(client: Client) -> None:
    """Script a session: two tasks, a failure, a subagent, then a document."""
    shop = f"{client.project}/src/shop.py"
    create = [
        ToolUse("TaskCreate", {"subject": "Fix the total", "description": "It is two"}),
        ToolUse("TaskCreate", {"subject": "Test the total", "description": "Assert it"}),
    ]
    agent = {
        "description": "Read the readme",
        "prompt": "Subagent: look at the readme",
        "subagent_type": "general-purpose",
    }
    client.play(
        {
            "Fix it all": [
                Step(tools=tuple(create)),
                use("TaskUpdate", taskId="1", status="in_progress"),
                use("Read", file_path=shop),
                use("Edit", file_path=shop, old_string="return 1", new_string="return 2"),
                use("Bash", command="echo ran-the-tests; exit 3", description="Test"),
                use("TaskUpdate", taskId="1", status="completed"),
                use("TaskUpdate", taskId="2", status="in_progress"),
                use("Write", file_path=f"{client.project}/test_shop.py", content="assert True\n"),
                use("Agent", **agent),
                "FIXED-IT-ALL",
            ],
            "Subagent: look": [
                use("Read", file_path=f"{client.project}/README.md"),
                "THE-SUBAGENTS-WORD",
            ],
            "Write it down": [
                use("TaskUpdate", taskId="2", status="completed"),
                use("Bash", command="cat README.md", description="Look"),
                "WROTE-IT-DOWN",
            ],
            "After clearing": ["CLEARED-AND-BACK"],
        }
    )
    client.answer(compact=SUMMARY)


def test_a_session_becomes_commits(start_client: StartClient) -> None:
    client = start_client(files=FILES, task_tools=True)
    ctx(client, "init", "--enable")
    story(client)
    before = client.run("git", "status", "--porcelain").stdout
    assert before == ""

    client.open()
    client.type("Fix it all, please")
    client.wait("FIXED-IT-ALL")
    assert eventually(lambda: any("THE-SUBAGENTS-WORD" in model_text(r) for r in client.requests()))
    client.type("Write it down")
    client.wait("WROTE-IT-DOWN")
    client.type("/compact")
    client.wait("Compacted")
    client.type("/clear")
    assert eventually(lambda: len(data(client, "log")["commits"]) > 0)
    client.type("After clearing")
    client.wait("CLEARED-AND-BACK")
    client.leave()
    assert eventually(lambda: is_synced(client))
    client.settle()

    first, second = _sessions(client)
    _assert_tree(client, first)
    _assert_history(client, first)
    _assert_told(client, first)
    status = data(client, "status", "--session", second)
    assert status["session"]["prompt"] == "After clearing"
    header = store_git(client, "show", f"session/{second}:session.toml")
    assert f'previous = "{data(client, "status", "--session", first)["session"]["id"]}"' in header
    assert store_git(client, "fsck", "--strict") == ""
    touched = client.run("git", "status", "--porcelain").stdout.splitlines()
    assert sorted(line[3:] for line in touched) == ["src/shop.py", "test_shop.py"]


def _sessions(client: Client) -> list[str]:
    """Return the names of the two sessions, the earlier first."""
    refs = store_git(
        client, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/session/"
    ).split()
    assert len(refs) == 2
    return sorted(
        refs, key=lambda name: data(client, "status", "--session", name)["session"]["started_at"]
    )


def _assert_tree(client: Client, name: str) -> None:
    status = data(client, "status", "--session", name)["session"]
    assert [(task["subject"], task["status"]) for task in status["tasks"]] == [
        ("Fix the total", "done"),
        ("Test the total", "done"),
    ]
    assert (status["project_branch"], status["compactions"]) == ("main", 1)
    fixed = data(client, "task", "show", "1", "--session", name)["chunks"]
    tools = [(chunk["tool"], chunk["failed"]) for chunk in fixed]
    assert tools == [
        ("TaskCreate", False),
        ("TaskUpdate", False),
        ("Read", False),
        ("Edit", False),
        ("Bash", True),
        ("TaskUpdate", False),
    ]
    read = data(client, "show", fixed[2]["id"])
    assert read["content"] == FILES["src/shop.py"]
    assert read["header"]["paths"] == [f"{client.project}/src/shop.py"]
    tree = store_git(client, "ls-tree", "-r", "--name-only", f"session/{name}")
    prompt = store_git(client, "show", f"session/{name}:turns/00/0001/prompt.md")
    assert prompt == "Fix it all, please"
    summary = store_git(client, "show", f"session/{name}:compactions/01.md")
    assert "THE-MODELS-OWN-SUMMARY" in summary
    (word,) = [path for path in tree.splitlines() if path.startswith("agents/")]
    assert store_git(client, "show", f"session/{name}:{word}") == "THE-SUBAGENTS-WORD"


def _assert_history(client: Client, name: str) -> None:
    commits = data(client, "log", "--session", name)["commits"]
    subjects = [commit["subject"] for commit in reversed(commits)]
    for expected in (
        "Finish task 1: Fix the total",
        "Finish task 2: Test the total",
        "Compact the context (1)",
        "End the session (clear)",
    ):
        assert expected in subjects, subjects
    tagged = {tag for commit in commits for tag in commit["tags"]}
    assert tagged == {f"task/{name}/01-fix-the-total", f"task/{name}/02-test-the-total"}


def _assert_told(client: Client, name: str) -> None:
    """Assert what the model's own requests held."""
    requests = client.requests()
    assert "ctxgit-recap" not in model_text(requests[0])
    advice = model_text(client.requests("compact")[-1])
    assert "task 1, done: Fix the total" in advice
    last = model_text(requests[-1])
    assert last.count("<ctxgit-recap>") == 1
    assert f"Session {name}, ended (clear)" in last
    assert "turn 1: Fix it all, please" in last
    assert "Branch: main, HEAD " in last
    assert "task 1: Fix the total (commit " in last


def test_two_sessions_and_a_linked_work_tree_stay_apart(start_client: StartClient) -> None:
    client = start_client(files=FILES, plugins=[ROOT])
    ctx(client, "init")
    linked = client.root / "linked"
    client.run("git", "worktree", "add", "-q", "-b", "side", str(linked))
    client.play(
        {
            name: [use("Bash", command=f"echo for-{name}", description="Say"), f"DONE-{name}"]
            for name in ("one", "two", "side")
        }
    )
    one = client.prompt("one")
    two = client.prompt("two")
    side = client.prompt("side", within=linked)
    assert eventually(lambda: is_synced(client))
    client.settle()
    trees = {}
    for answer in (one, two, side):
        session = data(client, "status", "--session", answer.session)["session"]
        trees[session["prompt"]] = session["work_tree"]
        assert session["chunks"] == 1
    assert trees == {"one": str(client.project), "two": str(client.project), "side": str(linked)}
