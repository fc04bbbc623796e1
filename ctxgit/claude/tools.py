"""What the input and the response of each tool of the client mean: one row a tool.

Clients of many versions are read: a row takes what it knows from the response and leaves
the rest to :func:`ctxgit.claude.plain.plain_text`, as for tools it does not know.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ctxgit.claude.fields import mapping, text
from ctxgit.claude.media import media_line, take_out
from ctxgit.claude.plain import plain_text
from ctxgit.claude.render import (
    answers,
    background_task,
    created,
    edit_diff,
    found_files,
    launched_agent,
    message,
    notebook_diff,
    plan,
    read_file,
    shell_output,
    skill,
    task_details,
    task_lines,
    todo_lines,
    updated,
    web_page,
    web_results,
    written,
)
from ctxgit.claude.task_changes import created_task, todo_list, updated_task
from ctxgit.model import Json, Media, TaskChange
from ctxgit.records import dataclass

Renderer = Callable[[Json, Json], str | None]
"""From input and response (empty if it is no object) to content; ``None``: not understood."""
TaskReader = Callable[[Json, object], tuple[TaskChange, ...] | None]
"""From input and whole response to the changes of tasks; ``None``: not understood."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of one tool call, with the meaning of :class:`ctxgit.model.ToolFinished`."""

    content: str
    input: Json
    media: tuple[Media, ...]
    paths: tuple[str, ...]
    failed: bool
    origin: str = ""
    changes: tuple[TaskChange, ...] = ()
    whole_list: bool = False


@dataclass(frozen=True, kw_only=True)
class Tool:
    """What is known of one tool.

    ``own_content`` names the field of the input that is the content itself. With
    ``searches`` the field ``path`` is the file or folder that was looked through. With
    ``whole_list`` the task changes are the complete list.
    """

    render: Renderer
    own_content: str = ""
    searches: bool = False
    tasks: TaskReader | None = None
    whole_list: bool = False


_SHELL = Tool(render=shell_output)
_EDIT = Tool(render=edit_diff)
_SEARCH = Tool(render=found_files, searches=True)
_AGENT = Tool(render=launched_agent)
_MESSAGE = Tool(render=message)
_BACKGROUND = Tool(render=background_task)

TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        "Agent": _AGENT,
        "AskUserQuestion": Tool(render=answers),
        "Bash": _SHELL,
        "BashOutput": _SHELL,
        "Edit": _EDIT,
        "ExitPlanMode": Tool(render=plan, own_content="plan"),
        "Glob": _SEARCH,
        "Grep": _SEARCH,
        "KillBash": _MESSAGE,
        "KillShell": _MESSAGE,
        "LS": _SEARCH,
        "MultiEdit": _EDIT,
        "NotebookEdit": Tool(render=notebook_diff),
        "PowerShell": _SHELL,
        "Read": Tool(render=read_file),
        "Skill": Tool(render=skill),
        "Task": _AGENT,
        "TaskCreate": Tool(render=created, tasks=created_task),
        "TaskGet": Tool(render=task_details),
        "TaskList": Tool(render=task_lines),
        "TaskOutput": _BACKGROUND,
        "TaskStop": _MESSAGE,
        "TaskUpdate": Tool(render=updated, tasks=updated_task),
        "TodoWrite": Tool(render=todo_lines, tasks=todo_list, whole_list=True),
        "WebFetch": Tool(render=web_page),
        "WebSearch": Tool(render=web_results),
        "Write": Tool(render=written, own_content="content"),
    }
)
_UNKNOWN = Tool(render=lambda _input, _response: None)
_PATH_FIELDS = ("file_path", "filePath", "notebook_path", "notebookPath")


def outcome(tool: str, tool_input: object, response: object, *, cwd: str = "") -> Outcome:
    """Return what came of a call that the client reports as done.

    A response that says itself that it failed gives ``failed`` and changes no task.
    Relative paths are taken to be below ``cwd``. Raises RecursionError where input or
    response are nested too deeply; anything else in them is read as far as it can be.
    """
    row = TOOLS.get(tool, _UNKNOWN)
    given = _input(tool_input)
    failed = _reports_failure(tool, mapping(response))
    shown, shown_media = take_out(response)
    asked, asked_media = take_out(given)
    rendered = row.render(mapping(asked), mapping(shown))
    content = plain_text(shown) if rendered is None else rendered
    own = row.own_content if rendered is not None and not failed else ""
    changes = row.tasks(given, response) if row.tasks and not failed else None
    whole_list = row.whole_list and changes is not None
    return Outcome(
        content=content,
        input={name: value for name, value in given.items() if name != own},
        media=_present(content, (*shown_media, *asked_media)),
        paths=_paths(row, given, mapping(response), cwd),
        failed=failed,
        origin=tool if changes or whole_list else "",
        changes=changes or (),
        whole_list=whole_list,
    )


def failure(tool: str, tool_input: object, error: object, *, cwd: str = "") -> Outcome:
    """Return what came of a call that the client reports as failed: the text of ``error``.

    No task changes. Raises RecursionError as :func:`outcome` does.
    """
    given = _input(tool_input)
    shown, media = take_out(error)
    content = plain_text(shown)
    return Outcome(
        content=content,
        input=dict(given),
        media=_present(content, media),
        paths=_paths(TOOLS.get(tool, _UNKNOWN), given, {}, cwd),
        failed=True,
    )


def _input(value: object) -> Json:
    """Return a tool's input; one that is no object is kept under the name ``input``."""
    if isinstance(value, Mapping) or value is None:
        return mapping(value)
    return {"input": value}


def _reports_failure(tool: str, response: Json) -> bool:
    if response.get("success") is False:
        return True
    if response.get("isError") is True or response.get("is_error") is True:
        return True
    return tool == "NotebookEdit" and bool(text(response, "error"))


def _present(content: str, media: tuple[Media, ...]) -> tuple[Media, ...]:
    """Return the media, each once, whose line stands in ``content``."""
    return tuple(each for each in dict.fromkeys(media) if media_line(each) in content)


def _paths(row: Tool, tool_input: Json, response: Json, cwd: str) -> tuple[str, ...]:
    named = [
        text(source, field)
        for source in (tool_input, response, mapping(response.get("file")))
        for field in _PATH_FIELDS
    ]
    path = text(tool_input, "path")
    # Elsewhere a relative "path" may as well lie in a remote repository or a URL.
    if row.searches or path.startswith("/"):
        named.append(path)
    absolute = (_absolute(each, cwd) for each in named)
    return tuple(dict.fromkeys(each for each in absolute if each))


def _absolute(path: str, cwd: str) -> str:
    """Return ``path`` absolute and normalised, empty if it cannot be told without the disk."""
    if not path or "\x00" in path or path == "~" or path.startswith("~/"):
        return ""
    joined = path if path.startswith("/") else f"{cwd}/{path}"
    if not joined.startswith("/") or (joined is not path and not cwd.startswith("/")):
        return ""
    # POSIX leaves the meaning of exactly two leading slashes open, normpath keeps them.
    return os.path.normpath("/" + joined.lstrip("/"))
