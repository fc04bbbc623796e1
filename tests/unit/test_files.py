from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ctxgit
from ctxgit.files import rewrite, write_atomically


def test_a_write_that_fails_leaves_the_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    rewrite(file, b"new")
    assert file.read_bytes() == b"new"
    with pytest.raises(TypeError):
        rewrite(file, "no bytes")  # type: ignore[arg-type] # so that it fails
    assert file.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_new_file_has_the_mode_of_the_user_s_umask(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, sys; from ctxgit.files import rewrite;"
        "os.umask(0o027); rewrite(pathlib.Path(sys.argv[1]), b'')"
    )
    package = str(Path(ctxgit.__file__).parent.parent)
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "f")], cwd=package, check=True)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640


def test_a_file_of_ours_is_for_the_user_alone(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "file"
    write_atomically(file, b"ours", durable=True)
    assert file.read_bytes() == b"ours"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_file_of_ours_is_whole_or_as_before(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_atomically(file, b"old")
    with pytest.raises(TypeError):
        write_atomically(file, "no bytes")  # type: ignore[arg-type] # so that it fails
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]
