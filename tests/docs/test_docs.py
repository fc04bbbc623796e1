"""The documents say what is so: commands, settings, error codes, fields, links."""

from __future__ import annotations

import os
import re
import runpy
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner  # noqa: TID253 - a test, where start-up is none of a verb's

from ctxgit import errors
from ctxgit.actions import configure, diff, init, log, show, status, sync, task
from ctxgit.cli.app import app
from ctxgit.config import KEYS, Layer
from ctxgit.look import diff as look_diff
from ctxgit.look.log import LogEntry
from ctxgit.look.show import ShownChunk, ShownCommit, ShownEntry

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MAKE_CLI = runpy.run_path(str(DOCS / "make_cli.py"))
COMMANDS: dict[str, Any] = dict(MAKE_CLI["commands"]())
IN_HEAD = {"--help", "--install-completion", "--show-completion"}
"""Options that the head of cli.md explains for all commands, or for the root."""
RESULTS = {
    "`ctx init`": init.InitResult,
    "`ctx status`": status.StatusResult,
    "session": status.SessionStatus,
    "task": status.TaskRow,
    "`ctx sync`": sync.SyncResult,
    "synced session": sync.SyncedSession,
    "`ctx log`": log.LogResult,
    "commit": LogEntry,
    "chunk shown": ShownChunk,
    "save shown": show.ShownSave,
    "cleared state shown": show.ShownCleared,
    "entry shown": ShownEntry,
    "commit shown": ShownCommit,
    "`ctx diff`": look_diff.DiffResult,
    "side": look_diff.Side,
    "entry that differs": look_diff.EntryDiff,
    "task that differs": look_diff.TaskDiff,
    "task's facts": look_diff.TaskFacts,
    "chunk that moved": look_diff.ChunkMove,
    "section that differs": look_diff.SectionDiff,
    "patch": diff.PatchResult,
    "`ctx config`": configure.ConfigResult,
    "setting": configure.SettingRow,
    "`ctx task start`": task.TaskResult,
    "`ctx task list`": task.TaskList,
    "`ctx task show`": task.TaskDetail,
    "chunk listed": status.ChunkRow,
}
"""Headings of docs/json.md and the values whose fields stand below them."""


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """Return what stands below a heading, up to the next."""
    found = re.search(
        rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.DOTALL | re.MULTILINE
    )
    assert found, f"no heading {heading}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """Return the cells of the tables in ``text``, without their heads."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line] for line in lines[2:]]


def code_words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def squeezed(text: str) -> str:
    """Return ``text`` without blanks and line ends, which a terminal's width decides."""
    return "".join(text.split())


def markdown_pages() -> list[Path]:
    """Return the pages of this repository, without what environments and builds put there."""
    found: list[Path] = []
    for folder, folders, files in os.walk(ROOT):
        here = Path(folder)
        folders[:] = [name for name in folders if is_ours(here / name)]
        found += [here / name for name in files if name.endswith(".md")]
    return sorted(found)


def is_ours(folder: Path) -> bool:
    if folder.name.startswith("."):
        return folder.name == ".context-store-template"
    is_made = folder.name in {"build", "dist", "node_modules"}
    return not is_made and not (folder / "pyvenv.cfg").exists()


# --- the command line ----------------------------------------------------------------------


def test_the_reference_is_up_to_date() -> None:
    assert read(DOCS / "cli.md") == MAKE_CLI["page"](), "run: python docs/make_cli.py"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_says_what_help_says(name: str) -> None:
    written = section(read(DOCS / "cli.md"), f"`{name}`")
    done = CliRunner().invoke(app, [*name.split()[1:], "--help"], prog_name="ctx")
    assert done.exit_code == 0

    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", done.stdout.partition("Options:")[2]))
    assert options - IN_HEAD == {
        word for row in rows(written) for word in re.findall(r"--[a-z][a-z-]+", row[0])
    }
    helped = squeezed(done.stdout)
    for paragraph in (COMMANDS[name].help or "").split("\n\n"):
        assert squeezed(paragraph) in helped
        assert squeezed(paragraph) in squeezed(written)


def test_every_command_and_every_option_has_help() -> None:
    for name, command in COMMANDS.items():
        assert command.help, name
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name} {parameter.name}"


def test_the_commands_that_documents_speak_of_exist() -> None:
    known = {tuple(name.split()[1:2]) for name in COMMANDS}
    for path in (ROOT / "README.md", *DOCS.rglob("*.md")):
        for words in re.findall(r"`ctx ([a-z]+)[^`]*`", read(path)):
            assert (words,) in known, f"{path}: ctx {words}"


# --- figures and names ---------------------------------------------------------------------


def test_the_readme_lists_the_settings() -> None:
    places = {tuple(Layer): "all", (Layer.USER,): "user"}
    written = rows(section(read(ROOT / "README.md"), "Configuration"))
    assert [row[:3] for row in written] == [
        [
            f"`{key.name}`",
            f"`{str(key.default).lower()}`",
            places.get(key.layers, ", ".join(key.layers)),
        ]
        for key in KEYS.values()
    ]


def test_the_error_codes_are_those_of_the_errors() -> None:
    written = [code_words(row[0]) for row in rows(section(read(DOCS / "json.md"), "Error codes"))]
    assert sorted(code for (code,) in written) == sorted(each.code for each in all_errors())


def all_errors(kind: type[errors.CtxError] = errors.CtxError) -> Iterator[type[errors.CtxError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from all_errors(each)


@pytest.mark.parametrize(("heading", "kind"), RESULTS.items())
def test_the_fields_are_those_of_the_results(heading: str, kind: Any) -> None:
    written = rows(section(read(DOCS / "json.md"), heading))
    named = [word for row in written for word in code_words(row[0])]
    assert sorted(named) == sorted(field.name for field in fields(kind))


def test_the_glossary_has_each_word_once_in_order_and_in_use() -> None:
    entries = rows(read(DOCS / "glossary.md"))
    words = [word for word, _ in entries]
    assert words == sorted(set(words))
    program = "\n".join(map(read, sorted((ROOT / "ctxgit").rglob("*.py")))).lower()
    for word, meaning in entries:
        assert re.search(rf"\b{word[:6]}", program), f"{word} is no word of the program"
        assert re.fullmatch(r"[A-Z][^.]*(?:\.[\w/][^.]*)*\.", meaning), f"{word}: one sentence"


def test_each_dependency_has_its_reason() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))
    declared = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    page = read(DOCS / "adr" / "0002-dependencies.md").lower()
    for requirement in declared:
        name, bounds = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()  # type: ignore[union-attr]
        assert name in page
        assert f"`{bounds}`" in page, f"{name}: the page lacks {bounds}"


# --- links ---------------------------------------------------------------------------------


def links(path: Path) -> list[str]:
    found = re.findall(r"\]\(([^)\s]+)\)", read(path))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(path: Path) -> set[str]:
    """Return the anchors that a forge gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", read(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}


def test_every_link_leads_somewhere() -> None:
    pages = markdown_pages()
    assert {ROOT / "README.md", DOCS / "cli.md", DOCS / "adr" / "0001-hidden-repository.md"} <= {
        *pages
    }
    lost = []
    for page in pages:
        for link in links(page):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                lost.append(f"{page.relative_to(ROOT)}: {link}")
    assert lost == []


def test_every_document_is_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in links(page)]
    assert {*DOCS.rglob("*.md"), ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"} <= reached
