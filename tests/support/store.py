"""Projects with a store, hooks started as the client starts them, ``ctx`` as people type it."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ctxgit.actions.init import init
from ctxgit.cli.entry import main
from ctxgit.paths import StorePaths
from support.git import git, repository
from support.payloads import SESSION, payload, spooled, tool_payload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _unless_there(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


ROOT = Path(__file__).parents[2]
HOOKS: Mapping[str, list[dict[str, Any]]] = json.loads(
    (ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8")
)["hooks"]
SHELLS = [
    pytest.param(words, id=" ".join(words), marks=_unless_there(words[0]))
    for words in (("/bin/sh",), ("bash",), ("bash", "--posix"), ("busybox", "sh"))
]
"""The shells that may be ``/bin/sh`` where the client runs."""
NEEDED = ("cat", "date", "find", "ln", "mkdir", "mv", "rm")
"""All that a hook that keeps an event may ask of PATH."""
NOON = 1_767_355_200_000_000_000
"""2026-01-02 12:00:00 UTC in nanoseconds since 1970: when builders let the first event arrive."""
_ticks = count()


@dataclass(frozen=True)
class Done:
    """What a process that has ended did; ``out`` and ``err`` are text."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def make_project(root: Path, *, in_git: bool = True) -> StorePaths:
    """Make a project with one commit, in git or not, and a store in it; return the store."""
    if in_git:
        repository(root)
    else:
        root.mkdir(parents=True)
    return StorePaths(Path(init(root).store))


def hook_command(event: str) -> str:
    """Return the one command that the client runs for ``event``."""
    (entry,) = HOOKS[event]
    (hook,) = entry["hooks"]
    return str(hook["command"])


def hook_environment(project: Path, *, session: str = SESSION, pid: str = "4242") -> dict[str, str]:
    """Return the environment that the client gives a hook."""
    home = Path(os.environ["HOME"])
    inherited = ("HOME", "LC_ALL", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR")
    return {name: os.environ[name] for name in inherited} | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "CLAUDE_PLUGIN_ROOT": str(ROOT),
        "CLAUDE_PLUGIN_DATA": str(home / "plugin-data"),
        "CLAUDE_PROJECT_DIR": str(project),
        "CLAUDE_CODE_SESSION_ID": session,
        "CLAUDE_PID": pid,
    }


def only(folder: Path, *names: str, **scripts: str) -> str:
    """Return a PATH on which there is ``names`` and shell scripts of the given bodies."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(shutil.which(name) or pytest.fail(f"there is no {name}"))
    for name, body in scripts.items():
        script = folder / name
        script.unlink(missing_ok=True)
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
    return str(folder)


def run_hook(
    event: str,
    data: object,
    environment: Mapping[str, str],
    *,
    sh: Sequence[str] = ("/bin/sh",),
    cwd: Path | None = None,
) -> Done:
    """Run the hook of ``event`` as the client does; return when all that it started has ended.

    ``data`` is what the client writes: bytes as they are, anything else as JSON. A pipe that
    every descendant inherits tells when the last one, detached or not, is gone.
    """
    content = data if isinstance(data, bytes) else spooled(data)
    reader, writer = os.pipe()
    try:
        done = subprocess.run(
            [shutil.which(sh[0]) or sh[0], *sh[1:], "-c", hook_command(event)],
            input=content,
            capture_output=True,
            cwd=cwd or environment.get("CLAUDE_PROJECT_DIR"),
            env=dict(environment),
            pass_fds=[writer],
            timeout=60,
            check=False,
        )
    finally:
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
    return Done(done.returncode, os.fsdecode(done.stdout), os.fsdecode(done.stderr))


def ctx(*words: str, cwd: Path) -> Done:
    """Run ``ctx`` in this process, which is faster: same words, same exit code."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    argv = sys.argv
    sys.argv = ["ctx", *words]
    try:
        with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.argv = argv
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.detach().getvalue().decode())  # type: ignore[attr-defined] # BytesIO
    return Done(code if isinstance(code, int) else 0, *texts)


def run_ctx(*words: str, cwd: Path, env: Mapping[str, str] | None = None, stdin: str = "") -> Done:
    """Run ``ctx`` in a process of its own, with ``env`` on top of this one's environment."""
    done = subprocess.run(
        [sys.executable, "-m", "ctxgit", *words],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        input=stdin.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def put(
    store: StorePaths,
    data: object,
    *,
    session: str = SESSION,
    at: int | None = None,
    name: str | None = None,
) -> Path:
    """Put an event into the spool under the name that a hook would give it.

    Each arrives a millisecond after the one before. As a hook's, it has two names.
    """
    stamp = NOON + next(_ticks) * 1_000_000 if at is None else at
    path = store.spool / (name or f"{stamp}.{session}.4242.{next(_ticks)}")
    hidden = path.with_name(f".{path.name}")
    hidden.write_bytes(data if isinstance(data, bytes) else spooled(data))
    hidden.chmod(0o600)
    path.hardlink_to(hidden)
    return path


def read_event(number: int, *, session: str = SESSION, text: str = "", **fields: Any) -> Any:
    """Return the payload of a Read; ``number`` makes its tool use id and its path."""
    file = {"filePath": f"/p/{number}.txt", "content": text or f"text {number}\n"}
    return tool_payload(
        "Read",
        {"file_path": f"/p/{number}.txt"},
        {"type": "text", "file": file},
        tool_use_id=f"toolu_{number:06d}",
        session_id=session,
        **fields,
    )


def put_session(store: StorePaths, reads: int, *, session: str = SESSION, cwd: str = "") -> None:
    """Put a start, a prompt, ``reads`` tool results and a stop into the spool."""
    where = {"session_id": session, "cwd": cwd or str(store.root.parent)}
    put(store, payload("SessionStart", **where), session=session)
    put(store, payload("UserPromptSubmit", **where), session=session)
    for number in range(reads):
        put(store, read_event(number, session=session), session=session)
    put(store, payload("Stop", **where), session=session)


def spool_names(store: StorePaths) -> list[str]:
    """Return the names of all files in the spool, hidden ones too."""
    return sorted(path.name for path in store.spool.iterdir())


def branches(store: StorePaths) -> list[str]:
    """Return the names of the session branches."""
    return git(store.root, "branch", "--list", "session/*", "--format=%(refname:short)").split()


def chunk_ids(store: StorePaths, branch: str) -> list[str]:
    """Return the ids of the chunks in the tree of ``branch``, one for each header."""
    names = git(store.root, "ls-tree", "-r", "--name-only", branch).splitlines()
    leaves = (name.rsplit("/", 1)[-1] for name in names if name.count("/") > 1)
    headers = (leaf.removesuffix(".toml") for leaf in leaves if leaf.endswith(".toml"))
    return [name for name in headers if name not in {"turn", "task"}]


def check_objects(store: StorePaths) -> None:
    """Fail unless every object that git can reach is whole."""
    git(store.root, "fsck", "--strict", "--full", "--no-dangling")


def log_text(store: StorePaths) -> str:
    """Return the store's log, empty if there is none."""
    return store.log.read_text(encoding="utf-8") if store.log.exists() else ""
