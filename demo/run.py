"""The main job on a recorded session: its payloads through the hooks, then what came of it.

A scratch project gets a store; every payload in ``demo/session/`` is given to the hook that
``hooks/hooks.json`` names for its event, as Claude Code does; then ``ctx status``, ``log``
and ``show`` are run and printed. Nothing outside the scratch folder is written.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SCRATCH = ROOT / ".demo"
KEY = "AKIA" + "IOSFODNN7EXAMPLE"  # AWS's documented example, to be seen redacted


def main() -> None:
    """Run the demo."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    project = SCRATCH / "project"
    shutil.copytree(HERE / "project", project)
    environment = _environment(project)

    def run(*command: str) -> str:
        """Print a command as a person would type it, run it, print and return its output."""
        shown = " ".join(word if " " not in word else f'"{word}"' for word in command)
        print(f"\n\033[1m$ {shown}\033[0m" if sys.stdout.isatty() else f"\n$ {shown}", flush=True)
        done = subprocess.run(
            command, cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        print(done.stdout + done.stderr, end="", flush=True)
        if done.returncode:
            sys.exit(f"{shown} failed with exit code {done.returncode}")
        return done.stdout

    run("git", "init", "--quiet", "--initial-branch=main")
    run("git", "add", "--all")
    run("git", "commit", "--quiet", "--message=Open the shop")
    run("ctx", "init")
    _replay(project, environment)
    run("ctx", "sync")
    run("ctx", "status")
    run("ctx", "log")
    run("ctx", "show", "task 1")
    task = json.loads(_quiet("ctx", "task", "show", "1", "--json", cwd=project, env=environment))
    failed = next(chunk["id"] for chunk in task["data"]["chunks"] if chunk["failed"])
    run("ctx", "show", failed)
    print(f"\nOne result held an access key ({KEY[:4]}…). What was kept of it:")
    status = json.loads(_quiet("ctx", "status", "--json", cwd=project, env=environment))
    branch = status["data"]["session"]["branch"]
    run("git", "-C", ".context-store", "grep", "redacted:", branch)
    run("git", "-C", ".context-store", "log", "--oneline", "--decorate", "--all", "--graph")
    run("git", "status", "--short")
    print(f"\nThe scratch project stays in {project} for a closer look.")


def _replay(project: Path, environment: dict[str, str]) -> None:
    hooks = json.loads((ROOT / "hooks" / "hooks.json").read_text())["hooks"]
    recorded = sorted((HERE / "session").glob("*.json"))
    print(f"\n{len(recorded)} recorded events go through the hooks …", flush=True)
    for path in recorded:
        text = path.read_text()
        for mark, value in (("{project}", project), ("{home}", SCRATCH), ("{key}", KEY)):
            text = text.replace(mark, str(value))
        record = json.loads(text)
        hook_environment = {
            **environment,
            "CLAUDE_PLUGIN_ROOT": str(ROOT),
            "CLAUDE_PLUGIN_DATA": str(SCRATCH / "plugin-data"),
            "CLAUDE_PROJECT_DIR": str(project),
            "CLAUDE_CODE_SESSION_ID": record["stdin"]["session_id"],
            "CLAUDE_PID": record["pid"],
        }
        for entry in hooks.get(record["event"], []):
            for hook in entry["hooks"]:
                payload = json.dumps(record["stdin"])
                said = _quiet(
                    "sh", "-c", hook["command"], cwd=project, env=hook_environment, stdin=payload
                )
                if said:
                    print(f"\n[{record['event']} told the client]\n{_readable(said)}", flush=True)


def _readable(answer: str) -> str:
    try:
        return str(json.loads(answer)["hookSpecificOutput"]["additionalContext"])
    except ValueError:
        return answer


def _quiet(*command: str, cwd: Path, env: dict[str, str], stdin: str = "") -> str:
    return subprocess.run(
        command, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, check=True
    ).stdout


def _environment(project: Path) -> dict[str, str]:
    """Return an environment in which git and ctx see nothing of the person's own."""
    kept = {key: os.environ[key] for key in ("PATH", "TERM", "LANG") if key in os.environ}
    identity = {"NAME": "Demo", "EMAIL": "demo@example.invalid"}
    people = {
        f"GIT_{who}_{what}": text
        for who in ("AUTHOR", "COMMITTER")
        for what, text in identity.items()
    }
    return {
        **kept,
        **people,
        "PATH": f"{Path(sys.executable).parent}:{kept.get('PATH', '')}",
        "HOME": str(project.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


if __name__ == "__main__":
    main()
