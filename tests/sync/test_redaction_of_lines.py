"""A secret of several lines that a payload holds line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ctxgit.actions.sync import sync
from support.git import git
from support.payloads import tool_payload
from support.store import branches, make_project, put

if TYPE_CHECKING:
    from pathlib import Path

BODY = ["MIIEpAIBAAKCAQEAx1", "b3pVvYyq7mJm2o0cTq", "Qy8f0Zk3nUe5sWd9hA=="]
KEY = ["-----BEGIN RSA PRIVATE " + "KEY-----", *BODY, "-----END RSA PRIVATE " + "KEY-----"]


def edit(marks: str) -> Any:
    patch = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 6}
    lines = [f"{marks}{line}" for line in KEY]
    return tool_payload(
        "Edit",
        {"file_path": "/p/k", "old_string": "x", "new_string": "\n".join(KEY)},
        {"filePath": "/p/k", "structuredPatch": [{**patch, "lines": lines}]},
        tool_use_id="toolu_000001",
    )


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(edit("+"), id="added"),
        pytest.param(edit("-"), id="removed"),
        pytest.param(edit(" "), id="around"),
        pytest.param(
            tool_payload(
                "mcp__x__y",
                {},
                [{"type": "text", "text": line} for line in KEY],
                tool_use_id="toolu_000001",
            ),
            id="blocks of a server",
        ),
        pytest.param(
            tool_payload(
                "Read",
                {"file_path": "/p/n.ipynb"},
                {
                    "type": "notebook",
                    "file": {
                        "filePath": "/p/n.ipynb",
                        "cells": [
                            {"cellType": "code", "source": [f"{line}\n" for line in KEY]},
                        ],
                    },
                },
                tool_use_id="toolu_000001",
            ),
            id="notebook",
        ),
    ],
)
def test_no_line_of_a_key_is_kept(event: Any, tmp_path: Path) -> None:
    store = make_project(tmp_path / "project")
    put(store, event)
    sync(store)
    (branch,) = branches(store)
    tree = git(store.root, "ls-tree", "-r", "--name-only", branch).splitlines()
    kept = "\n".join(git(store.root, "show", f"{branch}:{path}") for path in tree)
    assert "redacted:private-key" in kept
    assert [line for line in BODY if line in kept] == []
