"""The places that are measured: an installed ctxgit, projects, and stores of many sizes.

What takes long to make is kept in the work folder for the next run, as long as the code
that writes stores is the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ctxgit.paths import StorePaths

ROOT = Path(__file__).resolve().parent.parent
WRITES_STORES = ("model.py", "documents.py", "claude", "fold", "store")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A work folder with an installation of ctxgit in it."""

    work: Path
    quick: bool
    tell: Callable[[str], None]

    @property
    def python(self) -> Path:
        """The interpreter of the installation."""
        return self.work / "venv" / "bin" / "python"

    @property
    def ctx(self) -> Path:
        """The console script of the installation."""
        return self.work / "venv" / "bin" / "ctx"

    @property
    def plugin(self) -> Path:
        """The folder of the plugin in the installation."""
        (found,) = (self.work / "venv" / "lib").glob("python*/site-packages/ctxgit/plugin")
        return found

    @property
    def record(self) -> Path:
        """The file in which ``ctx init`` has recorded the interpreter."""
        return self.work / "home" / ".local" / "share" / "ctxgit" / "interpreter"

    @property
    def environment(self) -> dict[str, str]:
        """What every process gets: nothing of the person's own but the PATH."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.work / "home"),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "CTX_PAGER": "cat",  # a pager would wait for a key
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def install(self) -> None:
        """Install ctxgit as users do, unless this very source is installed already."""
        (self.work / "home").mkdir(parents=True, exist_ok=True)
        stamp = self.work / "installed"
        sources = _digest([ROOT / name for name in ("ctxgit", "hooks", "bin", "pyproject.toml")])
        if stamp.is_file() and stamp.read_text() == sources:
            return
        self.tell("installing ctxgit")
        stamp.unlink(missing_ok=True)
        if not self.python.exists():
            subprocess.run([sys.executable, "-m", "venv", self.work / "venv"], check=True)
        pip = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--force-reinstall", "--no-deps", ROOT], check=True)
        subprocess.run([*pip, ROOT], check=True)
        stamp.write_text(sources)

    def project(self, name: str) -> tuple[Path, StorePaths]:
        """Return a new project with a store, made by the installed ctxgit."""
        project = self.work / name
        shutil.rmtree(project, ignore_errors=True)
        (project / "src").mkdir(parents=True)
        environment = self.environment
        for command in (("git", "init", "--quiet"), (str(self.ctx), "init")):
            subprocess.run(
                command, cwd=project, env=environment, check=True, stdout=subprocess.DEVNULL
            )
        return project, StorePaths(project / ".context-store")

    def kept(self, name: str, make: Callable[[Path, StorePaths], None]) -> tuple[Path, StorePaths]:
        """Return a project and store from an earlier run, or new ones that ``make`` filled."""
        name = f"{name}-quick" if self.quick else name
        project = self.work / name
        stamp = self.work / f"{name}.made"
        code = _digest([ROOT / "ctxgit" / each for each in WRITES_STORES])
        if not stamp.is_file() or stamp.read_text() != code:
            self.tell(f"making the store {name}")
            stamp.unlink(missing_ok=True)
            project, store = self.project(name)
            config = ["git", f"--git-dir={store.git_dir}", "config", "core.fsync"]
            subprocess.run([*config, "none"], check=True)  # thousands of commits at a time
            make(project, store)
            subprocess.run([*config, "all"], check=True)
            stamp.write_text(code)
        return project, StorePaths(project / ".context-store")


def _digest(places: list[Path]) -> str:
    digest = hashlib.sha256()
    for place in places:
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        for path in files:
            if path.is_file() and path.suffix != ".pyc":
                digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()
