"""Saved, left, loaded in another process; and a plain /clear taken back: on the real client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.script import model_text, use
from harness.waiting import eventually

if TYPE_CHECKING:
    from conftest import StartClient
    from harness.client import Client

pytestmark = pytest.mark.client

ROOT = Path(__file__).parents[2]


def bash(command: str) -> object:
    return use("Bash", command=command, description="Run")


def start(start_client: StartClient) -> Client:
    client = start_client(files={"shop.py": "total = 1\n"}, plugins=[ROOT])
    client.run(sys.executable, "-m", "ctxgit", "init").check_returncode()
    client.play(
        {
            "Count the teapots": [
                bash('ctx task start "Count teapots"'),
                use("Read", file_path=f"{client.project}/shop.py"),
                "THERE-ARE-SEVEN",
            ],
            "Save it now": [bash("ctx save teapots -m 'Before tea'"), "SAVED-IT"],
            "Carry on": [bash("ctx load teapots"), "CARRIED-ON"],
            "Take it back": [bash("ctx load @cleared"), "TOOK-IT-BACK"],
        }
    )
    return client


def is_synced(client: Client) -> bool:
    spool = client.project / ".context-store" / ".git" / "ctx" / "spool"
    return not [path for path in spool.iterdir() if not path.name.startswith(".")]


def test_a_save_is_loaded_in_a_new_process(start_client: StartClient) -> None:
    client = start(start_client)
    first = client.prompt("Count the teapots in the shop, please")
    assert first.text == "THERE-ARE-SEVEN"
    assert client.prompt("Save it now", "--resume", first.session).text == "SAVED-IT"
    assert eventually(lambda: is_synced(client))
    client.settle()
    second = client.prompt("Carry on")
    assert second.text == "CARRIED-ON"
    assert second.session != first.session
    told = model_text(client.requests()[-1])
    assert "> Count the teapots in the shop, please" in told
    assert "task 1 (active" in told
    assert "Count teapots" in told
    assert "shop.py" in told
    listed = client.run(sys.executable, "-m", "ctxgit", "list").stdout
    assert "teapots" in listed
    assert "Before tea" in listed


def test_a_plain_clear_is_taken_back(start_client: StartClient) -> None:
    client = start(start_client)
    client.open()
    client.type("Count the teapots in the shop, please")
    client.wait("THERE-ARE-SEVEN")
    client.type("/clear")
    store = client.project / ".context-store"
    refs = ("git", "-C", str(store), "for-each-ref", "refs/heads/cleared/")
    assert eventually(lambda: client.run(*refs).stdout != "")
    client.type("Take it back")
    client.wait("TOOK-IT-BACK")
    client.leave()
    told = model_text(client.requests()[-1])
    assert "> Count the teapots in the shop, please" in told
    assert "Count teapots" in told
