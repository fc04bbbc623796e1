"""Which Python a hook runs: the recorded one, else another that has ctxgit, else none."""

from __future__ import annotations

import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.payloads import payload
from support.store import (
    NEEDED,
    ROOT,
    SHELLS,
    branches,
    hook_environment,
    log_text,
    make_project,
    only,
    put,
    read_event,
    run_ctx,
    run_hook,
    spool_names,
)

if TYPE_CHECKING:
    from ctxgit.paths import StorePaths

WITH_CTXGIT = f'exec "{sys.executable}" "$@"'
"""The body of a script that is a Python with ctxgit."""


@pytest.fixture
def store(tmp_path: Path) -> StorePaths:
    return make_project(tmp_path / "project")


@pytest.fixture
def environment(store: StorePaths, tmp_path: Path) -> dict[str, str]:
    """An environment in which there is no Python to be found."""
    path = only(tmp_path / "bin", *NEEDED, "git")
    return hook_environment(store.root.parent) | {"PATH": path}


@pytest.fixture
def bare_python(tmp_path: Path) -> str:
    """A Python without ctxgit and what it needs."""
    venv.create(tmp_path / "bare", symlinks=True)
    return str(tmp_path / "bare" / "bin" / "python")


def records(environment: dict[str, str]) -> list[Path]:
    """Return where the interpreter is recorded: by init, by a hook."""
    folders = (Path(environment["XDG_DATA_HOME"], "ctxgit"), environment["CLAUDE_PLUGIN_DATA"])
    return [Path(folder, "interpreter") for folder in folders]


def recorded(environment: dict[str, str]) -> list[str]:
    """Return the interpreters that are recorded."""
    there = [path for path in records(environment) if path.exists()]
    return [path.read_text(encoding="utf-8").splitlines()[0] for path in there]


def forget(environment: dict[str, str], python: str | None = None) -> None:
    """Remove what is recorded, or put ``python`` in its place."""
    for path in records(environment):
        path.unlink(missing_ok=True)
    if python:
        records(environment)[0].write_text(f"{python}\n/nowhere\n", encoding="utf-8")


def stop(environment: dict[str, str], sh: tuple[str, ...] = ("/bin/sh",)) -> None:
    done = run_hook("Stop", payload("Stop"), environment, sh=sh)
    assert (done.code, done.out, done.err) == (0, "", "")


def script(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)


def test_init_records_its_own(store: StorePaths, environment: dict[str, str]) -> None:
    assert recorded(environment) == [sys.executable]
    stop(environment)
    assert spool_names(store) == []
    assert len(branches(store)) == 1
    assert log_text(store) == ""


@pytest.mark.parametrize("sh", SHELLS)
@pytest.mark.parametrize("was", [None, "/gone/python", ""])
def test_none_at_all_costs_no_event(
    was: str | None, sh: tuple[str, ...], store: StorePaths, environment: dict[str, str]
) -> None:
    forget(environment, was)
    for event in ("Stop", "SessionStart", "PreCompact"):
        done = run_hook(event, payload(event), environment, sh=sh)
        assert (done.code, done.out, done.err) == (0, "", "")
    assert len(spool_names(store)) == 6
    expected = "no Python 3.11 or newer with ctxgit was found"
    assert [line.rsplit(": ", 1)[1] for line in log_text(store).splitlines()] == [expected] * 3
    assert run_ctx("sync", cwd=store.root.parent).code == 0
    assert spool_names(store) == []


@pytest.mark.parametrize("name", ["ctxgit", "ctx"])
def test_it_is_found_by_the_first_line_of_the_command(
    name: str, store: StorePaths, environment: dict[str, str]
) -> None:
    forget(environment, "/gone/python")
    script(Path(environment["PATH"]), name, f"#!{sys.executable}\n")
    stop(environment)
    assert spool_names(store) == []
    assert recorded(environment) == [sys.executable] * 2
    assert log_text(store) == ""


@pytest.mark.parametrize("name", ["python3", "python3.11", "python3.14"])
def test_it_is_found_by_its_name(name: str, store: StorePaths, environment: dict[str, str]) -> None:
    forget(environment, "/gone/python")
    script(Path(environment["PATH"]), name, f"#!/bin/sh\n{WITH_CTXGIT}\n")
    stop(environment)
    assert spool_names(store) == []
    assert recorded(environment) == [sys.executable] * 2


def test_what_was_found_is_used_from_then_on(
    store: StorePaths, environment: dict[str, str]
) -> None:
    forget(environment)
    found = Path(environment["PATH"], "python3")
    script(found.parent, found.name, f"#!/bin/sh\n{WITH_CTXGIT}\n")
    stop(environment)
    found.unlink()
    put(store, read_event(1))
    stop(environment)
    assert spool_names(store) == []
    assert log_text(store) == ""


def test_the_command_of_another_tool_is_passed_by(
    store: StorePaths, environment: dict[str, str], bare_python: str
) -> None:
    """More than one tool calls itself ctx, and some are written in Python."""
    forget(environment)
    script(Path(environment["PATH"]), "ctx", f"#!{bare_python}\n")
    script(Path(environment["PATH"]), "python3", f"#!/bin/sh\n{WITH_CTXGIT}\n")
    stop(environment)
    assert spool_names(store) == []
    assert recorded(environment) == [sys.executable] * 2


@pytest.mark.parametrize(
    "first", ["\x7fELF\0\0\0", "", "#!", "#!/usr/bin/env python3\n", "#!/bin/sh\n"]
)
def test_a_command_of_any_other_kind_is_passed_by(
    first: str, store: StorePaths, environment: dict[str, str]
) -> None:
    forget(environment)
    script(Path(environment["PATH"]), "ctxgit", first)
    script(Path(environment["PATH"]), "python3", f"#!/bin/sh\n{WITH_CTXGIT}\n")
    stop(environment)
    assert spool_names(store) == []


def test_a_python_without_ctxgit_is_none(
    store: StorePaths, environment: dict[str, str], bare_python: str
) -> None:
    forget(environment)
    script(Path(environment["PATH"]), "python3", f'#!/bin/sh\nexec "{bare_python}" "$@"\n')
    stop(environment)
    assert len(spool_names(store)) == 2
    assert recorded(environment) == []
    assert "no Python 3.11 or newer with ctxgit was found" in log_text(store)


def test_a_recorded_python_that_has_lost_ctxgit_is_forgotten(
    store: StorePaths, environment: dict[str, str], bare_python: str
) -> None:
    """Its environment was made anew: the event waits, and the next one looks for another."""
    forget(environment, bare_python)
    stop(environment)
    assert len(spool_names(store)) == 2
    assert log_text(store).count("\n") == 1
    assert recorded(environment) == []
    script(Path(environment["PATH"]), "python3", f"#!/bin/sh\n{WITH_CTXGIT}\n")
    stop(environment)
    assert spool_names(store) == []
    assert recorded(environment) == [sys.executable] * 2


def test_a_stale_record_of_the_plugin_does_not_hide_the_users(
    store: StorePaths, environment: dict[str, str]
) -> None:
    records(environment)[1].parent.mkdir(parents=True)
    records(environment)[1].write_text("/gone/python\n/gone\n")
    stop(environment)
    assert spool_names(store) == []


@pytest.mark.parametrize("sh", SHELLS)
def test_a_plugin_that_goes_in_the_middle_blocks_nothing(
    sh: tuple[str, ...], store: StorePaths, environment: dict[str, str], tmp_path: Path
) -> None:
    """An update takes the files away one by one; exit code 2 would block a compaction."""
    plugin = tmp_path / "plugin"
    (plugin / "hooks").mkdir(parents=True)
    source = Path(environment["CLAUDE_PLUGIN_ROOT"], "hooks", "hook.sh")
    (plugin / "hooks" / "hook.sh").write_bytes(source.read_bytes())
    environment["CLAUDE_PLUGIN_ROOT"] = str(plugin)
    for event in ("Stop", "PreCompact", "SessionStart"):
        done = run_hook(event, payload(event), environment, sh=sh)
        assert (done.code, done.out, done.err) == (0, "", "")
    (plugin / "hooks" / "python.sh").write_bytes(source.with_name("python.sh").read_bytes())
    stop(environment, sh)
    assert len(spool_names(store)) == 8


def test_the_projects_own_modules_are_not_run(
    store: StorePaths, environment: dict[str, str]
) -> None:
    forget(environment)
    script(Path(environment["PATH"]), "python3", f"#!/bin/sh\n{WITH_CTXGIT}\n")
    project = store.root.parent
    for name in ("ctxgit", "tomli_w", "site", "sitecustomize", "json", "os"):
        (project / f"{name}.py").write_text("open('sprung', 'w').close()\n")
    for number in range(2):  # as found, as recorded
        put(store, read_event(number))
        stop(environment)
        assert spool_names(store) == []
    for event in ("SessionStart", "PreCompact"):
        run_hook(event, payload(event), environment)
    assert not (project / "sprung").exists()
    assert log_text(store) == ""


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        ("/opt/plugin", "/opt/plugin"),
        ("/plugin", "/plugin"),
        ("/usr/lib/python3/site-packages/ctxgit/plugin", "/usr/lib/python3/site-packages"),
    ],
)
def test_nothing_is_imported_from_the_current_folder(plugin: str, expected: str) -> None:
    boot = (ROOT / "hooks" / "boot.py").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "boot", "__file__": f"{plugin}/hooks/boot.py"}
    exec(compile(boot, "boot.py", "exec"), names)  # noqa: S102 - it lies in no package
    assert names["_around"]() == expected
