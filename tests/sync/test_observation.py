"""What a sync sees of the project beside the events."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.sync import sync
from support.git import commit, git, linked_work_tree
from support.payloads import SESSION, payload, tool_payload
from support.store import branches, check_objects, log_text, make_project, put, run_ctx, spool_names

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from ctxgit.paths import StorePaths

SECRET = "ghp_" + "a1B2c3D4e5" * 3


def session_facts(store: StorePaths, session: str = SESSION) -> dict[str, Any]:
    done = run_ctx("status", "--session", session, "--json", cwd=store.root.parent)
    assert done.code == 0, done.err
    return dict(done.json["data"]["session"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.fixture
def store(project: Path) -> StorePaths:
    return make_project(project)


def start(store: StorePaths, cwd: Path, **fields: Any) -> None:
    session = fields.get("session_id", SESSION)
    put(store, payload("SessionStart", cwd=str(cwd), **fields), session=session)


def test_work_tree_branch_and_head_are_those_of_the_sessions_folder(
    store: StorePaths, project: Path
) -> None:
    tree = linked_work_tree(project, project.parent / "tree", "side/é")
    head = commit(tree, "b.txt")
    (tree / "sub").mkdir()
    start(store, tree / "sub")
    sync(store)
    facts = session_facts(store)
    assert facts["work_tree"] == str(tree)
    assert (facts["project_branch"], facts["project_head"]) == ("side/é", head)


def test_a_move_of_head_is_seen_by_the_next_sync(store: StorePaths, project: Path) -> None:
    start(store, project)
    sync(store)
    head = commit(project, "b.txt")
    git(project, "checkout", "-q", "--detach")
    put(store, payload("Stop"))
    sync(store)
    facts = session_facts(store)
    assert (facts["project_branch"], facts["project_head"]) == ("", head)


@pytest.mark.parametrize("cwd", ["link", ""])
def test_a_branch_or_folder_that_is_no_utf_8_stops_nothing(cwd: str, tmp_path: Path) -> None:
    project = tmp_path / os.fsdecode(b"caf\xe9")
    store = make_project(project)
    (project / ".git" / "HEAD").write_bytes(b"ref: refs/heads/\xe9t\xe9\n")
    (project / os.fsdecode(b"\xff.txt")).touch()
    (project / "link").symlink_to(os.fsdecode(b"\xff.txt"))
    (tmp_path / "link").symlink_to(project)
    put(store, payload("SessionStart", cwd=f"{tmp_path}/{cwd}" if cwd else ""))
    put(store, tool_payload("Read", {"file_path": f"{tmp_path}/link/link"}, {}))
    sync(store)
    assert spool_names(store) == []
    assert log_text(store) == ""
    facts = session_facts(store)
    unknown = "\N{REPLACEMENT CHARACTER}"
    assert facts["work_tree"].rstrip(unknown) == f"{tmp_path}/caf"
    assert facts["project_branch"].strip(unknown) == "t"
    check_objects(store)


def test_names_on_disk_are_redacted_as_well(store: StorePaths, project: Path) -> None:
    git(project, "checkout", "-q", "-b", f"fix-{SECRET}")
    (project / SECRET).touch()
    (project / "link").symlink_to(SECRET)
    start(store, project)
    put(store, tool_payload("Read", {"file_path": f"{project}/link"}, {}))
    sync(store)
    objects = git(store.root, "cat-file", "--batch-all-objects", "--batch")
    assert SECRET not in objects
    assert "fix-[redacted:github-token]" in objects
    derived = [path for path in store.runtime.rglob("*") if path.is_file()]
    assert [path for path in derived if SECRET.encode() in path.read_bytes()] == []


def previous_of(store: StorePaths, session: str) -> str:
    (branch,) = [name for name in branches(store) if name.endswith(session)]
    shown = git(store.root, "show", f"{branch}:session.toml")
    lines = dict(line.split(" = ", 1) for line in shown.splitlines())
    return lines.get("previous", "").strip('"')


def test_a_session_knows_the_one_that_was_cleared_for_it(store: StorePaths, project: Path) -> None:
    start(store, project, session_id="first")
    sync(store)
    start(store, project, session_id="second", source="clear")
    sync(store)
    start(store, project, session_id="second", source="compact")
    sync(store)
    start(store, project, session_id="third", source="clear")
    sync(store)
    start(store, project, session_id="fourth", source="startup")
    sync(store)
    links = {name: previous_of(store, name) for name in ("first", "second", "third", "fourth")}
    assert links == {"first": "", "second": "first", "third": "second", "fourth": ""}


def test_the_link_outlives_a_sync_that_dies_before_its_commit(
    store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(store, project, session_id="first")
    sync(store)
    start(store, project, session_id="second", source="clear")

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ctxgit.actions.sync.sessions.add", die)
    with pytest.raises(KeyboardInterrupt):
        sync(store)
    monkeypatch.undo()
    sync(store)
    assert previous_of(store, "second") == "first"
