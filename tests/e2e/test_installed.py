"""An installed ctxgit, a plain client: what a person gets who follows the README."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
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


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the bin folder of an environment into which our wheel was installed.

    Its dependencies are those of the environment the tests run in: no network.
    """
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    subprocess.run(wheel, check=True)
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    (archive,) = folder.glob("*.whl")
    subprocess.run(
        [*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(archive)],
        check=True,
    )
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return python.parent


def is_synced(client: Client) -> bool:
    spool = client.project / ".context-store" / ".git" / "ctx" / "spool"
    return not [path for path in spool.iterdir() if not path.name.startswith(".")]


def test_a_plain_client_captures_after_init_enable(
    start_client: StartClient, installed: Path
) -> None:
    path = os.pathsep.join([str(installed), os.environ["PATH"]])
    client = start_client(files={"a.txt": "alpha\n"}, env={"PATH": path})
    done = client.run("ctx", "init", "--enable")
    assert done.returncode == 0, done.stderr
    client.play({"Read it": [use("Read", file_path=f"{client.project}/a.txt"), "READ-IT"]})
    answer = client.prompt("Read it, please")
    assert answer.text == "READ-IT"
    assert eventually(lambda: is_synced(client))
    client.settle()
    status = json.loads(client.run("ctx", "status", "--json").stdout)["data"]["session"]
    assert (status["id"], status["chunks"]) == (answer.session, 1)
    assert client.run("git", "status", "--porcelain").stdout == ""
    log = client.project / ".context-store" / ".git" / "ctx" / "log"
    assert not log.exists(), log.read_text(encoding="utf-8")


def test_the_agent_itself_can_run_ctx(start_client: StartClient, installed: Path) -> None:
    client = start_client(env={"PATH": os.environ["PATH"]})
    client.run(str(installed / "ctx"), "init", "--enable").check_returncode()
    start = use("Bash", command='ctx task start "Look around"', description="Start")
    done = use("Bash", command="ctx task done", description="End")
    client.play(
        {"Go": [start, use("Bash", command="echo looking", description="Look"), done, "OK"]}
    )
    answer = client.prompt("Go")
    assert answer.text == "OK"
    results = model_text(client.requests()[-1])
    assert "Started task 1: Look around" in results
    assert "Finished task 1: Look around" in results
    client.settle()
    shown = client.run(str(installed / "ctx"), "task", "show", "1", "--json")
    assert [c["tool"] for c in json.loads(shown.stdout)["data"]["chunks"]] == ["Bash", "Bash"]


def test_a_project_without_a_store_is_left_alone(start_client: StartClient) -> None:
    client = start_client(files={"big.txt": "x" * 99 + "\n" * 2000}, plugins=[ROOT])
    client.play({"Read it": [use("Read", file_path=f"{client.project}/big.txt"), "READ-IT"]})
    client.open()
    client.wait("ctx init")
    client.leave()
    client.open()
    client.type("Read it")
    client.wait("READ-IT")
    assert "ctx init" not in client.screen()
    client.leave()
    answer = client.prompt("Read it")
    assert answer.text == "READ-IT"
    assert not list(client.project.glob(".context-store*"))
    assert not any("ctx init" in model_text(request) for request in client.requests())
