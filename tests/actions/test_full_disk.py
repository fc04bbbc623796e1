"""Verbs on a disk that is full."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ctxgit.actions.clear import clear
from ctxgit.actions.place import current_branch
from ctxgit.actions.save import save
from support.disk import needs_mounts, small
from support.events import SESSION
from support.git import git
from support.recording import record
from support.store import check_objects
from support.work import work

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.actions.place import Place
    from ctxgit.paths import StorePaths

pytestmark = needs_mounts
CALLS = {
    "save": "save.save(place, 'x')",
    "clear": "clear.clear(place)",
    "load": f"load.load(place, 'x', into={SESSION!r})",
    "fork": "restore.fork(place, 'x')",
    "restore": "restore.restore(place, ['@cleared'])",
    "task": "task.start(place, 'More')",
}
SCRIPT = """
import sys
from pathlib import Path
from ctxgit.actions import clear, load, restore, save, task
from ctxgit.actions.place import find_place
from ctxgit.errors import CtxError
place = find_place(Path(sys.argv[1]))
try:
    {call}
except CtxError as error:
    sys.exit(f"error: {{error.message}}")
"""


def run_full(place: Place, folder: Path, call: str, copy: Path, size: str) -> str:
    """Make a call where ``folder`` is on a full disk; return what it told on stderr."""
    shutil.copytree(folder, copy)
    fill = 'cp -a "$1"/. "$2"; dd if=/dev/zero of="$2"/full 2>/dev/null; shift 2; exec "$@"'
    done = subprocess.run(
        [
            *small(folder, size),
            *("/bin/sh", "-c", fill, "fill", str(copy), str(folder)),
            *(sys.executable, "-c", SCRIPT.format(call=call), str(place.directory)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    return done.stderr


@pytest.mark.parametrize("verb", CALLS)
def test_a_verb_that_cannot_write_objects_says_so_and_changes_nothing(
    place: Place, store: StorePaths, tmp_path: Path, verb: str
) -> None:
    record(store, work(place.directory))
    save(place, "x")
    if verb == "restore":
        clear(place)
    refs = git(store.root, "for-each-ref")
    said = run_full(place, store.git_dir / "objects/pack", CALLS[verb], tmp_path / "copy", "2m")
    assert said.startswith("error: git fast-import failed: ")
    assert "space" in said
    assert said.count("\n") == 1
    assert git(store.root, "for-each-ref") == refs
    check_objects(store)


def test_a_verb_whose_log_cannot_be_written_says_that_it_is_done(
    place: Place, store: StorePaths, tmp_path: Path
) -> None:
    record(store, work(place.directory))
    said = run_full(place, store.runtime, CALLS["save"], tmp_path / "copy", "1m")
    assert said.startswith("error: ")
    assert "Traceback" not in said
    assert current_branch(place)[1].tasks
    check_objects(store)
