"""Records the demo's session: the real client, a scripted model, a recorder for its hooks.

    PYTHONPATH=tests/e2e python3 demo/record.py

Each payload becomes a file of ``demo/session``, in the order they came:
``{"event": …, "pid": …, "stdin": …}``, ``pid`` being the client's (CLAUDE_PID). What depends
on the machine is replaced: ids are made up and the same each time, ``{project}`` and
``{home}`` stand for folders, and ``{key}`` stands for the access key in one tool's output
(``KEY``), so that no scanner for secrets stumbles over the files. To replay them, replace
the three in the files' text; nothing else in it looks like them.
"""

from __future__ import annotations

import itertools
import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.client import Client
from harness.script import Step, ToolUse, use
from harness.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DEMO = Path(__file__).parent
SESSION = "7ea5109e-0000-4000-8000-000000000001"
PID = "4242"
KEY = "AKIA" + "IOSFODNN7EXAMPLE"
"""The example key of Amazon's documentation: the demo shows that it is redacted."""
READER_DELAY_S = 1.5
"""The subagent starts to read after the turn that started it has stopped."""

FIRST = "Fix the login redirect and add a test"
SECOND = "Now document it"
READING = "Read src/server.js and src/session.js and say who sets `next`, and to what."

OLD_ANSWER = '  return { status: 302, location: "/", cookie: openSession(name) };'
NEW_ANSWER = (
    '  return { status: 302, location: isOurs(next) ? next : "/", cookie: openSession(name) };'
)
NEW_RULE = """\

// Only a path of this shop is a way back: "//else.where" is a path to a browser, but not ours.
function isOurs(next) {
  return /^\\/(?![/\\\\])/.test(next ?? "");
}
"""
NEW_TEST = """\
import assert from "node:assert/strict";
import { test } from "node:test";
import { login } from "../src/login.js";

const ada = { name: "ada", password: "earl grey" };

for (const next of [undefined, "https://else.where/", "//else.where/", "/\\\\else.where/"]) {
  test(`the way back is the front page for ${next}`, () => {
    assert.equal(login({ ...ada, next }).location, "/");
  });
}
"""
OLD_README = "People sign in at `/login` and come out on the front page."
NEW_README = """\
People sign in at `/login?next=/cart` and come out on that page. `next` must be a path of the
shop: anything else leads to the front page, so that a link cannot send people elsewhere."""
SUMMARY = """\
<analysis>
Two tasks, both completed.
</analysis>
<summary>
1. Primary Request: fix the login redirect and add a test.
2. Work: `login` in src/login.js follows `next` if it is a path of the shop (`isOurs`);
   test/redirect.test.js covers foreign addresses. All tests pass.
3. Pending: nothing.
</summary>"""


def bash(command: str, description: str, text: str = "") -> Step:
    """Return a reply that runs a command."""
    arguments = {"command": command, "description": description}
    return Step(text, (ToolUse("Bash", arguments),))


def run_tests(text: str = "") -> Step:
    """Return a reply that runs the project's tests."""
    return bash("node --test test/", "Run the tests", text)


def story(project: Path) -> Mapping[str, Sequence[Step | str]]:
    """Return what the model says and does, for a project at ``project``."""
    return {
        FIRST: [*fixing(project / "src" / "login.js"), *covering(project / "test")],
        READING: [
            Step(tools=(read(project / "src" / "server.js"),), delay=READER_DELAY_S),
            Step(tools=(read(project / "src" / "session.js"),)),
            (
                "src/server.js sets it to the private page a stranger asked for, always a path. "
                "But it travels in the address: a link from elsewhere can hold any text."
            ),
        ],
        SECOND: [
            Step(tools=(read(project / "README.md"),)),
            edit(project / "README.md", OLD_README, NEW_README),
            "The README says where people come out, and why not everywhere.",
        ],
    }


def fixing(login: Path) -> list[Step | str]:
    """Return the first task: two tasks made, the redirect understood and fixed."""
    fix = {"subject": "Fix the redirect after login", "description": "Follow `next` if it is ours"}
    cover = {"subject": "Test foreign addresses", "description": "`next` must not lead away"}
    created = tuple(ToolUse("TaskCreate", task) for task in (fix, cover))
    return [
        Step("I see two tasks.", created),
        use("TaskUpdate", taskId="1", status="in_progress"),
        Step("The login first.", (read(login),)),
        bash("grep -rn next src test | sort", "Find where next is used"),
        run_tests("`next` is never followed. The tests should say so."),
        edit(login, OLD_ANSWER + "\n}\n", NEW_ANSWER + "\n}\n" + NEW_RULE),
        run_tests(),
        use("TaskUpdate", taskId="1", status="completed"),
    ]


def covering(tests: Path) -> list[Step | str]:
    """Return the second task: a subagent reads, settings are printed, a test is written."""
    settings = "import('./src/settings.js').then(({ settings }) => console.log(settings))"
    reader = {"description": "Find who sets next", "prompt": READING, "subagent_type": "Explore"}
    return [
        use("TaskUpdate", taskId="2", status="in_progress"),
        Step("A reader looks at the callers.", (ToolUse("Agent", reader),)),
        bash(f'node -e "{settings}"', "Print the settings"),
        "No setting matters here. I go on when the reader reports.",
        use("Write", file_path=str(tests / "redirect.test.js"), content=NEW_TEST),
        run_tests(),
        use("TaskUpdate", taskId="2", status="completed"),
        "People come back to the page they wanted, and never leave the shop by it.",
    ]


def read(file: Path) -> ToolUse:
    """Return a call that reads a file."""
    return ToolUse("Read", {"file_path": str(file)})


def edit(file: Path, old: str, new: str) -> Step:
    """Return a reply that edits a file."""
    return use("Edit", file_path=str(file), old_string=old, new_string=new)


def perform(client: Client, recording: Path) -> None:
    """Play the session: two prompts, a compaction between them, and the end."""
    client.play(story(client.project))
    client.answer(compact=SUMMARY)
    client.open()
    client.type(FIRST)
    client.wait("never leave the shop by it")
    wait_for(recording, "Stop", 2)
    client.type("/compact keep why foreign addresses are refused")
    wait_for(recording, "PostCompact", 1)
    client.type(SECOND)
    client.wait("and why not everywhere")
    wait_for(recording, "Stop", 3)
    client.leave()
    client.settle()


def wait_for(recording: Path, event: str, count: int) -> None:
    """Return once ``count`` payloads of ``event`` are recorded; raise TimeoutError if not."""

    def recorded() -> int:
        return sum(payload["hook_event_name"] == event for payload in payloads(recording))

    if not eventually(lambda: recorded() >= count):
        message = f"{recorded()} of {count} {event} payloads recorded"
        raise TimeoutError(message)


def payloads(recording: Path) -> list[dict[str, Any]]:
    """Return what was recorded so far, in order."""
    files = sorted(recording.glob("*.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def neutral(text: str, client: Client) -> str:
    """Return the recorded JSON ``text`` with folders, ids and the key replaced."""
    dashed = re.sub(r"[^A-Za-z0-9]", "-", str(client.project))  # how transcripts' folder is named
    for found, placeholder in (
        (f"/{dashed}/", "/-project/"),
        (str(client.project), "{project}"),
        (str(client.home), "{home}"),
        (str(client.root), "{home}"),
        (KEY, "{key}"),
    ):
        text = text.replace(found, placeholder)
    session = json.loads(text)[0]["session_id"]
    text = text.replace(session, SESSION)
    text = renumber(text, r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", id_like_uuid)
    text = renumber(text, r"\btoolu_[0-9a-f]{24}\b", "toolu_{:024d}".format)
    return renumber(text, r"\ba[0-9a-f]{16}\b", "a{:016x}".format)


def id_like_uuid(number: int) -> str:
    """Return a made-up UUID; number 1 is the session's."""
    return f"{SESSION[:-12]}{number:012d}"


def renumber(text: str, pattern: str, name: Callable[[int], str]) -> str:
    """Return ``text`` with what matches ``pattern`` named by the order of appearance."""
    numbers = itertools.count(1)
    names: dict[str, str] = {}

    def made_up(match: re.Match[str]) -> str:
        if match[0] not in names:
            names[match[0]] = name(next(numbers))
        return names[match[0]]

    return re.sub(pattern, made_up, text)


def write(session: Path, recorded: Sequence[Mapping[str, Any]]) -> None:
    """Write the payloads in place of those that are there."""
    session.mkdir(exist_ok=True)
    for old in session.glob("*.json"):
        old.unlink()
    for number, payload in enumerate(recorded, start=1):
        event = payload["hook_event_name"]
        text = json.dumps(
            {"event": event, "pid": PID, "stdin": payload}, indent=2, ensure_ascii=False
        )
        (session / f"{number:04d}-{event}.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Record the session anew."""
    shop = DEMO / "project"
    files = {
        str(file.relative_to(shop)): file.read_text(encoding="utf-8")
        for file in sorted(shop.rglob("*"))
        if file.is_file()
    }
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder)
        env = {"CTXGIT_RECORDING": folder}
        plugins = [DEMO / "recorder"]
        with Client(files=files, plugins=plugins, task_tools=True, env=env) as client:
            perform(client, recording)
            text = neutral(json.dumps(payloads(recording)), client)
    write(DEMO / "session", json.loads(text))


if __name__ == "__main__":
    main()
