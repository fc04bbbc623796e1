from __future__ import annotations

import json
from pathlib import Path

from support.store import make_project, put_session, run_ctx


def test_the_newest_are_listed_and_more_are_told(tmp_path: Path) -> None:
    store = make_project(tmp_path / "project")
    put_session(store, 1)
    for name in ("one", "two", "three"):
        assert run_ctx("save", name, cwd=store.root.parent).code == 0
    found = run_ctx("list", "-n", "2", "--json", cwd=store.root.parent).json["data"]
    assert len(found["entries"]) == 2
    assert found["has_more"]
    everything = json.loads(run_ctx("list", "--json", cwd=store.root.parent).out)["data"]
    assert {each["name"] for each in everything["entries"]} == {
        "save/one",
        "save/two",
        "save/three",
    }
    assert not everything["has_more"]
