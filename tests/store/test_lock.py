from __future__ import annotations

import stat
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread

import pytest

import ctxgit
from ctxgit.errors import StoreLockedError
from ctxgit.store.lock import locked

ROOT = Path(ctxgit.__file__).parents[1]
HOLDER = """
import sys
from pathlib import Path
from ctxgit.store.lock import locked
with locked(Path(sys.argv[1]), wait=0):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runtime" / "lock"


def holder(path: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock until its input ends."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_one_process_holds_it_at_a_time(path: Path) -> None:
    with holder(path) as process:
        refused = pytest.raises(StoreLockedError, match=f"another process holds {path}")
        with refused, locked(path, wait=0):
            pytest.fail("two hold it")
        process.communicate("")
    with locked(path, wait=0):
        pass


def test_a_killed_holder_holds_it_no_more(path: Path) -> None:
    with holder(path) as process:
        process.kill()
        process.wait()
        with locked(path, wait=0):
            pass


def test_two_in_one_process_exclude_each_other(path: Path) -> None:
    with locked(path, wait=0), pytest.raises(StoreLockedError), locked(path, wait=0.01):
        pytest.fail("two hold it")


def test_one_waits_for_the_other(path: Path) -> None:
    order: list[str] = []
    begun = Event()

    def second() -> None:
        begun.set()
        with locked(path, wait=60):
            order.append("second")

    thread = Thread(target=second)
    with locked(path, wait=0):
        thread.start()
        begun.wait()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_a_failing_block_lets_it_go(path: Path) -> None:
    with pytest.raises(ValueError, match="oops"), locked(path, wait=0):
        raise ValueError("oops")
    with locked(path, wait=0):
        pass


def test_a_child_does_not_inherit_it(path: Path) -> None:
    with ExitStack() as stack:
        with locked(path, wait=0):
            child = stack.enter_context(
                subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False)
            )
        with locked(path, wait=0):
            pass
        child.communicate(b"")


def test_the_file_is_private_and_stays(path: Path) -> None:
    with locked(path, wait=0):
        inode = path.stat().st_ino
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with locked(path, wait=0):
        assert path.stat().st_ino == inode


def test_those_who_share_it_hold_it_together(path: Path) -> None:
    with (
        locked(path, wait=0, shared=True),
        locked(path, wait=0, shared=True),
        pytest.raises(StoreLockedError),
        locked(path, wait=0),
    ):
        pytest.fail("one holds it alone while others share it")
    with locked(path, wait=0), pytest.raises(StoreLockedError), locked(path, wait=0, shared=True):
        pytest.fail("one shares it while another holds it alone")
