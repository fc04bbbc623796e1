"""``ctx diff``, and ``ctx show`` of saves, cleared states and knowledge, as people see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ctxgit.actions.place import Place
from ctxgit.actions.save import save
from ctxgit.tokens import estimate_tokens
from support.events import DONE
from support.git import commit, git
from support.recording import record
from support.store import Done, ctx, make_project
from support.work import work

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.paths import StorePaths

NOTE = '+++\ntitle = "Build"\n+++\n\nRun make. \x1b[31m[bold]\n'

READ, UPDATED = estimate_tokens("word " * 100), estimate_tokens("Updated task #2")


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    """A store with a save, then knowledge and a task done."""
    store = make_project(tmp_path / "project")
    story = work(store.root.parent)
    record(store, story)
    place = Place(store=store, directory=store.root.parent)
    save(place, "before", message="As it was [x]")
    (store.root / "knowledge" / "build").mkdir(parents=True, exist_ok=True)
    commit(store.root, "knowledge/build/how-to.md", NOTE)
    since = len(story.events)
    story.prompt("Test it [now]").result("read2", "word " * 100, paths=("/p/new.py",))
    story.update("2", DONE, call="done2").stop("All is done.")
    record(store, story, since=since)
    return store


@pytest.fixture
def project(store: StorePaths) -> Path:
    return store.root.parent


def data(done: Done) -> Any:
    assert (done.code, done.err) == (0, "")
    return done.json["data"]


# --- diff ------------------------------------------------------------------------------------


def test_what_came_and_what_went_is_drawn(project: Path) -> None:
    done = ctx("diff", "@{1}", cwd=project)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("--- session/2026-01-02-0a1b2c3d@{1} (")
    assert lines[1].startswith("+++ session/2026-01-02-0a1b2c3d (")
    assert lines[2:9] == [
        "knowledge",
        "  + knowledge/build/how-to.md",
        "tasks",
        "  ~ 02-test-it: active \u2192 done",
        f"results: 2 in ({READ + UPDATED} tokens), 0 out (0 tokens)",
        f"  + read2 Read /p/new.py ({READ} tokens)",
        f"  + done2 TaskUpdate ({UPDATED} tokens)",
    ]
    assert "~ The last answer" in lines
    assert "  - One is left." in lines
    assert "  + All is done." in lines
    assert "  + > Test it [now]" in lines


def test_the_counts_alone(project: Path) -> None:
    done = ctx("diff", "--stat", "@{1}", cwd=project)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()[2:]
    assert lines[:3] == [
        "knowledge: 1 added",
        "tasks: 1 changed",
        f"results: 2 in ({READ + UPDATED} tokens), 0 out (0 tokens)",
    ]
    assert "The last answer: +1 -1" in lines
    assert not [line for line in lines if line.startswith(" ")]


def test_a_save_against_the_session_says_what_it_cannot_tell(project: Path) -> None:
    for words in (("diff", "before"), ("diff", "before", "--stat")):
        done = ctx(*words, cwd=project)
        assert done.out.splitlines()[-1] == "Tool results are not compared: one side holds none."
        assert "results" not in done.out.splitlines()


def test_nothing_differs(project: Path) -> None:
    for words in (("@{0}",), ("before", "before"), ("before", "before", "--stat")):
        done = ctx("diff", *words, cwd=project)
        assert done.code == 0
        assert done.out.splitlines()[2:] == ["Nothing differs."]
    assert ctx("diff", "--patch", "@{0}", cwd=project).out == ""


def test_the_patch_can_be_applied(project: Path, store: StorePaths, tmp_path: Path) -> None:
    done = ctx("diff", "--patch", "@{1}", cwd=project)
    before, after = "session/2026-01-02-0a1b2c3d@{1}", "session/2026-01-02-0a1b2c3d"
    patch = tmp_path / "patch"
    patch.write_text(done.out)
    git(store.root, "read-tree", f"--index-output={tmp_path / 'index'}", before)
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", "--no-checkout", str(store.root), str(other))
    git(other, "reset", "-q", "--hard", git(store.root, "rev-parse", before))
    git(other, "apply", "--index", str(patch))
    assert git(other, "write-tree") == git(store.root, "rev-parse", f"{after}^{{tree}}")


def test_the_json_has_all(project: Path) -> None:
    whole = data(ctx("diff", "--json", "@{1}", cwd=project))
    assert whole["before"]["kind"] == "commit"
    assert whole["after"]["name"] == "session/2026-01-02-0a1b2c3d"
    assert whole["knowledge"] == [{"path": "knowledge/build/how-to.md", "change": "added"}]
    (task,) = whole["tasks"]
    assert (task["before"]["status"], task["after"]["status"]) == ("active", "done")
    assert (
        whole["tokens_in"] == sum(chunk["tokens"] for chunk in whole["chunks_in"]) == READ + UPDATED
    )
    assert data(ctx("diff", "--json", "--stat", "@{1}", cwd=project)) == whole
    patch = data(ctx("diff", "--json", "--patch", "@{1}", cwd=project))
    assert patch["before"] == whole["before"]
    assert patch["patch"].startswith("diff --git a/")


def test_wrong_use_and_unknown_names(project: Path) -> None:
    assert ctx("diff", cwd=project).code == 2
    assert ctx("diff", "--stat", "--patch", "before", cwd=project).code == 2
    for name in ("befor", "before@4", "@{9}", "../a", "a..b"):
        done = ctx("diff", "--", name, cwd=project)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("error: ")
    assert "save/before" in ctx("diff", "befor", cwd=project).err


# --- show --------------------------------------------------------------------------------------


def test_a_save_is_shown_with_its_handoff(project: Path) -> None:
    shown = data(ctx("show", "before", "--json", cwd=project))
    assert (shown["name"], shown["message"]) == ("save/before", "As it was [x]")
    assert [task["status"] for task in shown["tasks"]] == ["done", "active"]
    raw = ctx("show", "save/before", "--raw", cwd=project).out
    assert raw == shown["handoff"]
    assert raw.startswith("# Handoff from session 2026-01-02-0a1b2c3d\n")
    drawn = ctx("show", "before", cwd=project).out
    assert drawn.splitlines()[:2] == ["save/before", "message: As it was [x]"]
    assert drawn.endswith(raw)
    assert data(ctx("show", "before@0", "--json", cwd=project))["commit"] == shown["commit"]


def test_a_cleared_state_is_shown_as_it_was(project: Path, store: StorePaths) -> None:
    name = "cleared/2026-01-02-100000-0a1b2c3d"
    git(store.root, "update-ref", f"refs/heads/{name}", "session/2026-01-02-0a1b2c3d@{1}")
    shown = data(ctx("show", "@cleared", "--json", cwd=project))
    assert shown["name"] == name
    assert shown["session"] == "0a1b2c3d-0000-4000-8000-000000000001"
    assert [task["status"] for task in shown["tasks"]] == ["done", "active"]
    assert shown["chunks"] == 8
    assert "One is left." in shown["handoff"]
    assert ctx("show", name, "--raw", cwd=project).out == shown["handoff"]
    drawn = ctx("show", name, cwd=project).out
    assert drawn.splitlines()[0] == name
    assert drawn.endswith(shown["handoff"])


@pytest.mark.parametrize(
    "name", ["knowledge/build/how-to.md", "build/how-to.md", "build/how-to", "how-to", "how-to.md"]
)
def test_a_knowledge_entry_by_path_or_name(name: str, project: Path) -> None:
    shown = data(ctx("show", name, "--json", cwd=project))
    assert shown == {"path": "knowledge/build/how-to.md", "text": NOTE}
    assert ctx("show", name, "--raw", cwd=project).out == NOTE
    assert ctx("show", name, cwd=project).out == f"knowledge/build/how-to.md\n\n{NOTE}"


def test_an_entry_of_two_folders_is_not_guessed(project: Path, store: StorePaths) -> None:
    (store.root / "knowledge" / "test").mkdir()
    commit(store.root, "knowledge/test/how-to.md", "x\n")
    done = ctx("show", "how-to", cwd=project)
    assert done.code == 1
    assert done.err.splitlines()[0] == (
        "error: how-to is ambiguous: knowledge/build/how-to.md, knowledge/test/how-to.md"
    )
    assert ctx("show", "test/how-to", "--raw", cwd=project).out == "x\n"
    assert ctx("show", "to", cwd=project).code == 1
