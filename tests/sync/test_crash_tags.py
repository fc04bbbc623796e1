"""A sync that is killed between its commits and its tags."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from ctxgit.actions.sync import sync
from support.git import git
from support.payloads import tool_payload
from support.store import make_project, put

if TYPE_CHECKING:
    from pathlib import Path

CREATED = {"task": {"id": "1", "subject": "Fix it"}}


def test_the_next_sync_sets_the_tag_where_the_task_was_done(tmp_path: Path) -> None:
    store = make_project(tmp_path / "project")
    put(store, tool_payload("TaskCreate", {"subject": "Fix it"}, CREATED, tool_use_id="a001"))
    done = {"taskId": "1", "status": "completed"}
    put(store, tool_payload("TaskUpdate", done, {"success": True}, tool_use_id="a002"))
    put(store, tool_payload("Read", {}, {}, tool_use_id="a003"))
    shutil.copytree(store.spool, tmp_path / "spool")
    sync(store)
    (ref,) = git(store.root, "for-each-ref", "--format=%(refname)", "refs/tags/").split()
    commit = git(store.root, "rev-parse", ref)
    assert git(store.root, "log", "-1", "--format=%s", ref) == "Finish task 1: Fix it"

    git(store.root, "update-ref", "-d", ref)
    for path in (tmp_path / "spool").iterdir():
        shutil.copy2(path, store.spool)
    tip = git(store.root, "for-each-ref", "--format=%(objectname)", "refs/heads/session/")
    sync(store)
    assert git(store.root, "rev-parse", ref) == commit
    assert git(store.root, "for-each-ref", "--format=%(objectname)", "refs/heads/session/") == tip
    assert not list(store.spool.iterdir())
