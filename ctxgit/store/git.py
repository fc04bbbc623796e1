"""Running git on the store: scrubbed environment, bytes in, bytes out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ctxgit.errors import GitError, StoreError
from ctxgit.paths import scrubbed_environment
from ctxgit.records import dataclass

OLDEST = "2.34"
"""The first git that rolls packs up under one index (``repack --geometric --write-midx``)."""


@dataclass(frozen=True)
class GitObject:
    """An object as git stores it: its id, type and content."""

    oid: str
    type: str
    content: bytes


@dataclass(frozen=True)
class Git:
    """The git command on one repository."""

    git_dir: Path

    def run(self, *args: str, stdin: bytes | Iterable[bytes] = b"") -> bytes:
        """Return what ``git *args`` prints.

        ``stdin`` is fed to it, piece by piece when it is not bytes. Raises GitError with
        git's own last line when it fails, and when there is no git.
        """
        command = ["git", f"--git-dir={self.git_dir}", *args]
        try:
            with subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=scrubbed_environment(),
                close_fds=False,  # our locks stay open in it, see store/lock.py
            ) as process:
                out, err = _communicate(process, stdin)
        except FileNotFoundError as error:
            raise no_git() from error
        if process.returncode != 0:
            raise self._failure(args, process.returncode, err)
        return out

    def _failure(self, args: Sequence[str], code: int, err: bytes) -> GitError:
        verb = args[2] if args[0] == "-c" else args[0]
        said = last_word(err.decode("utf-8", "replace")) or f"exit code {code}"
        return GitError(
            f"git {verb} failed: {said}",
            hint=f"see whether the store is whole: git --git-dir={self.git_dir} fsck",
        )

    def objects(self, names: Sequence[str]) -> list[GitObject | None]:
        """Return the objects that ``names`` name, ``None`` for those that do not exist.

        One process for all. A name is anything git resolves, without line breaks.
        """
        asked = b"".join(os.fsencode(f"{name}\n") for name in names)
        out = self.run("cat-file", "--batch", stdin=asked)
        found: list[GitObject | None] = []
        position = 0
        for _ in names:
            end = out.index(b"\n", position)
            header = out[position:end].decode("utf-8", "replace").split(" ")
            position = end + 1
            if header[-1] in {"missing", "ambiguous"}:
                found.append(None)
                continue
            oid, kind, size = header
            found.append(GitObject(oid, kind, out[position : position + int(size)]))
            position += int(size) + 1
        return found

    def refs(self, *patterns: str) -> dict[str, str]:
        """Return the refs that match any of ``patterns``, full name to object id."""
        out = self.run("for-each-ref", "--format=%(refname) %(objectname)", *patterns)
        pairs = (line.rsplit(" ", 1) for line in out.decode().splitlines())
        return {ref[0]: ref[1] for ref in pairs}


def no_git() -> GitError:
    """Return the error for a machine without git."""
    return GitError("git is not on PATH", hint=f"install git {OLDEST} or newer")


def _communicate(
    process: subprocess.Popen[bytes], stdin: bytes | Iterable[bytes]
) -> tuple[bytes, bytes]:
    if isinstance(stdin, bytes):
        return process.communicate(stdin)
    if process.stdin is None:  # it was opened with a pipe; this tells the type checker
        raise AssertionError
    try:
        for piece in stdin:
            process.stdin.write(piece)
    except BrokenPipeError:
        pass  # git has given up; its exit code and message say why
    except BaseException:
        process.kill()
        with suppress(BrokenPipeError):  # what waits in the pipe's buffer has no reader now
            process.stdin.close()
        raise
    return process.communicate()


def last_word(text: str) -> str:
    """Return the line of git's messages that says why it failed, empty if there is none."""
    lines = text.strip().splitlines()
    fatal = (line for line in lines if line.startswith(("fatal:", "error:")))
    return next(fatal, lines[-1] if lines else "")


def committed_at(commit: GitObject | None) -> datetime:
    """Return when a commit was made. Raises StoreError when it is none."""
    header = commit.content.partition(b"\n\n")[0] if commit else b""
    for line in header.split(b"\n"):
        if line.startswith(b"committer "):
            return datetime.fromtimestamp(int(line.split(b" ")[-2]), UTC)
    raise StoreError(f"{commit.oid if commit else 'a commit'} is not there, or no commit")
