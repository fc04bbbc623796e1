"""Write ``docs/cli.md``, the reference of the command line, from what makes ``--help``.

    python docs/make_cli.py

Made of the commands themselves and not of the printed text, whose form depends on typer's
version and on the width of the terminal. A test compares the page with both.
"""  # noqa: INP001 - a script, not a package

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption  # noqa: TID253 - above
from typer.main import get_command  # noqa: TID253 - the commands are typer's

from ctxgit.cli.app import app

PAGE = Path(__file__).with_name("cli.md")
HEAD = """\
# Command line

Made by `docs/make_cli.py` from the commands' own help: change it there.

`ctx`, `ctxgit` and `python -m ctxgit` are the same. Each command explains itself with `-h` or
`--help`. Results go to stdout, `error:` and `hint:` to stderr. Exit codes: 0 done, 1 an expected
failure, 2 wrong use, 3 a bug, 130 interrupted. `--json` has the form of [json.md](json.md).
`ctx --install-completion` and `ctx --show-completion` complete commands in your shell.
"""
TYPERS_OWN = {"install_completion", "show_completion"}
"""Options of the root whose words are typer's and change with it; the head names them."""

Command = TyperCommand | TyperGroup


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page's text."""
    sections = [_section(name, command) for name, command in commands()]
    return "\n".join([HEAD, *sections])


def commands() -> Iterator[tuple[str, Command]]:
    """Yield each command with its name, as ``ctx task start``, groups before their own."""
    root = get_command(app)
    if not isinstance(root, TyperGroup):
        raise TypeError(root)
    yield from _walk("ctx", root)


def _walk(name: str, command: Command) -> Iterator[tuple[str, Command]]:
    yield name, command
    if isinstance(command, TyperGroup):
        for word, inner in command.commands.items():
            if isinstance(inner, TyperCommand | TyperGroup):
                yield from _walk(f"{name} {word}", inner)


def _section(name: str, command: Command) -> str:
    usage = f"    {_usage(name, command)}\n"
    parts = [f"## `{name}`\n", usage, f"{inspect.cleandoc(command.help or '')}\n"]
    if rows := [*map(_argument, _arguments(command)), *map(_option, _options(command))]:
        parts.append("\n".join(["| argument or option | meaning |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _usage(name: str, command: Command) -> str:
    if isinstance(command, TyperGroup):
        return f"{name} COMMAND …"
    arguments = [
        _metavar(each) if each.required else f"[{_metavar(each)}]" for each in _arguments(command)
    ]
    return " ".join([name, "[OPTIONS]", *arguments])


def _arguments(command: Command) -> list[TyperArgument]:
    return [each for each in command.params if isinstance(each, TyperArgument)]


def _options(command: Command) -> list[TyperOption]:
    options = [each for each in command.params if isinstance(each, TyperOption)]
    return [each for each in options if each.name not in TYPERS_OWN]


def _argument(argument: TyperArgument) -> str:
    return _row(_metavar(argument), argument.help)


def _option(option: TyperOption) -> str:
    value = "" if option.is_flag else f" {_metavar(option)}"
    is_told = isinstance(option.default, int) and not option.is_flag
    default = f" Default: {option.default}." if is_told else ""
    more = " May be given more than once." if option.multiple else ""
    return _row(", ".join(option.opts) + value, f"{option.help}{default}{more}")


def _metavar(parameter: TyperArgument | TyperOption) -> str:
    return (parameter.metavar or (parameter.name or "").upper()).strip("[]")


def _row(name: str, meaning: str | None) -> str:
    return f"| `{name}` | {meaning} |"


if __name__ == "__main__":
    main()
