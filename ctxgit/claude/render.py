"""The content of each tool's result as text: what the model saw, or what says it best.

Each function takes the call's input and its response (an empty object where the client
gave none), binary parts already replaced by lines, and returns the whole text, or ``None``
where it does not find what it knows. Notes of ours stand in square brackets, on lines of
their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxgit.claude.fields import count, identifier, identifiers, items, mapping, text
from ctxgit.claude.plain import blocks_text, plain_text

if TYPE_CHECKING:
    from ctxgit.model import Json

FIRST_HTTP_ERROR = 400
"""The lowest HTTP status code that reports an error (RFC 9110, section 15)."""


def read_file(tool_input: Json, response: Json) -> str | None:
    """Return the text of a file, the cells of a notebook, or the line of an image."""
    file = mapping(response.get("file"))
    if isinstance(file.get("cells"), list):
        return _joined(*(_cell(mapping(each)) for each in items(file["cells"])))
    if isinstance(file.get("content"), str):
        return text(file, "content")
    if text(response, "type") == "file_unchanged":
        path = text(file, "filePath") or text(tool_input, "file_path")
        return f"[unchanged since it was last read: {path}]"
    return text(file, "base64") or None


def shell_output(_input: Json, response: Json) -> str | None:
    """Return what a command printed, then how it ended where that says something."""
    if not isinstance(response.get("stdout", response.get("stderr")), str):
        return None
    notes = [
        response.get("interrupted") is True and "interrupted",
        text(response, "returnCodeInterpretation"),
        _note("running in the background as", response.get("backgroundTaskId")),
        _note("status", response.get("status")),
        _note("exit code", response.get("exitCode")),
        _persisted(response),
    ]
    lines = [f"[{note}]" for note in notes if note]
    return _joined(text(response, "stdout"), text(response, "stderr"), *lines)


def background_task(tool_input: Json, response: Json) -> str | None:
    """Return what a background command or subagent has printed so far, and its status."""
    task = mapping(response.get("task"))
    output = text(task, "output", "result")
    if not task:
        return shell_output(tool_input, response)
    notes = (
        _note("status", task.get("status") or response.get("retrieval_status")),
        _note("exit code", task.get("exitCode")),
        text(task, "error"),
    )
    return _joined(output, *(f"[{note}]" for note in notes if note))


def edit_diff(tool_input: Json, response: Json) -> str | None:
    """Return the change as a unified diff; without line numbers where none are known."""
    path = text(response, "filePath") or text(tool_input, "file_path")
    hunks = [_hunk(mapping(each)) for each in items(response.get("structuredPatch"))]
    if not any(hunks):
        edits = [mapping(each) for each in items(tool_input.get("edits"))]
        hunks = [_replacement(response) or _replacement(tool_input), *map(_replacement, edits)]
    return _diff(path, hunks)


def notebook_diff(tool_input: Json, response: Json) -> str | None:
    """Return the change of one notebook cell as a diff, or the error that prevented it."""
    if error := text(response, "error"):
        return error
    path = text(response, "notebook_path") or text(tool_input, "notebook_path")
    cell = text(response, "cell_id") or text(tool_input, "cell_id")
    before = text(response, "old_source")
    after = text(response, "new_source") or text(tool_input, "new_source")
    if text(tool_input, "edit_mode") == "delete" or text(response, "edit_mode") == "delete":
        before, after = before or after, ""
    return _diff(path, [_change(before, after, f"cell {cell}" if cell else "")])


def written(tool_input: Json, response: Json) -> str | None:
    """Return the text that was written, as the client stored it."""
    for source in (response, tool_input):
        if isinstance(source.get("content"), str):
            return text(source, "content")
    return None


def found_files(_input: Json, response: Json) -> str | None:
    """Return the matching lines or files of a search, and whether there were more."""
    names = [each for each in items(response.get("filenames")) if isinstance(each, str)]
    lines = text(response, "content")
    if not lines and not isinstance(response.get("filenames"), list):
        return None
    if not lines and not names:
        return "No matches found" if response.get("mode") == "content" else "No files found"
    limit = count(response.get("appliedLimit"))
    notes = (
        response.get("truncated") is True and "[there are more]",
        limit is not None and f"[limited to {limit}]",
    )
    return _joined(lines or "\n".join(names), *(note for note in notes if note))


def web_page(_input: Json, response: Json) -> str | None:
    """Return what was made of a web page, and the status where it is an error."""
    if not isinstance(response.get("result"), str):
        return None
    code = count(response.get("code")) or 0
    status = f"[{code} {text(response, 'codeText')}]" if code >= FIRST_HTTP_ERROR else ""
    return _joined(text(response, "result"), status)


def web_results(_input: Json, response: Json) -> str | None:
    """Return the remarks and links a search gave, a link a line."""
    results = response.get("results")
    if not isinstance(results, list):
        return None
    return _joined(*(_search_result(each) for each in results))


def launched_agent(_input: Json, response: Json) -> str | None:
    """Return a subagent's answer, or that it was started; then its answer comes later."""
    if isinstance(response.get("content"), (list, str)):
        interrupted = "[interrupted]" if response.get("wasInterrupted") is True else ""
        return _joined(plain_text(response["content"]), interrupted)
    agent = identifier(response.get("agentId"))
    if not agent:
        return None
    description = text(response, "description")
    output = text(response, "outputFile")
    return _joined(
        f"Agent {agent} started" + (f": {description}" if description else ""),
        f"[output: {output}]" if output else "",
    )


def answers(tool_input: Json, response: Json) -> str | None:
    """Return each question asked of the user with its answer and the user's notes."""
    source = response if response.get("questions") or response.get("answers") else tool_input
    given = mapping(source.get("answers"))
    asked = [text(mapping(each), "question") for each in items(source.get("questions"))]
    questions = list(dict.fromkeys(each for each in (*asked, *given) if each))
    if not questions:
        return None
    remarks = mapping(source.get("annotations"))
    parts = (_answer(each, given.get(each), mapping(remarks.get(each))) for each in questions)
    return "\n\n".join(parts)


def plan(tool_input: Json, response: Json) -> str | None:
    """Return the plan that was put before the user."""
    return text(response, "plan") or text(tool_input, "plan") or None


def skill(tool_input: Json, response: Json) -> str | None:
    """Return the name of the skill that was loaded; its text goes to the model as a prompt."""
    name = text(response, "commandName") or text(tool_input, "skill", "command")
    if not name or "success" not in response:
        return None
    return f"Skill {name}" if response["success"] is True else f"Skill {name}: not loaded"


def message(_input: Json, response: Json) -> str | None:
    """Return the one sentence a tool answers with."""
    return text(response, "message") or None


def created(_input: Json, response: Json) -> str | None:
    """Return the task that was declared."""
    task = mapping(response.get("task"))
    key = identifier(task.get("id"))
    return f"Task #{key} created: {text(task, 'subject')}" if key else None


def updated(tool_input: Json, response: Json) -> str | None:
    """Return what was changed in a task, or why nothing was."""
    key = identifier(response.get("taskId")) or identifier(tool_input.get("taskId"))
    if not key or "success" not in response:
        return None
    if response["success"] is not True:
        return f"Task #{key} not updated" + _after(": ", text(response, "error"))
    fields = ", ".join(identifiers(response.get("updatedFields")))
    status = text(mapping(response.get("statusChange")), "to")
    return f"Task #{key} updated" + _after(": ", fields) + _after(", now ", status)


def task_lines(_input: Json, response: Json) -> str | None:
    """Return the client's task list, a task a line."""
    tasks = response.get("tasks")
    if not isinstance(tasks, list):
        return None
    return "\n".join(_task_line(mapping(task)) for task in tasks) or "No tasks"


def task_details(_input: Json, response: Json) -> str | None:
    """Return one of the client's tasks with its description."""
    task = mapping(response.get("task"))
    return _joined(_task_line(task), text(task, "description")) if task else None


def todo_lines(tool_input: Json, response: Json) -> str | None:
    """Return the todo list as it is now, a todo a line."""
    todos = response.get("newTodos", tool_input.get("todos"))
    if not isinstance(todos, list):
        return None
    rows = (mapping(todo) for todo in todos)
    return "\n".join(f"[{text(row, 'status')}] {text(row, 'content')}" for row in rows)


def _joined(*parts: str) -> str:
    """Return the parts that are not empty, each beginning on a line of its own."""
    *leading, last = [part for part in parts if part] or [""]
    return "".join(part if part.endswith("\n") else f"{part}\n" for part in leading) + last


def _after(lead: str, value: str) -> str:
    return lead + value if value else ""


def _note(lead: str, value: object) -> str:
    return _after(f"{lead} ", identifier(value))


def _persisted(response: Json) -> str:
    path = text(response, "persistedOutputPath")
    size = count(response.get("persistedOutputSize"))
    figure = "" if size is None else f", {size:,} bytes"
    return f"whole output{figure}: {path}" if path else ""


def _cell(cell: Json) -> str:
    name = identifier(cell.get("cell_id"))
    source = text(cell, "source") or "".join(identifiers(cell.get("source")))
    opening = " ".join(filter(None, (name, text(cell, "cellType"), text(cell, "language"))))
    outputs = (_cell_output(mapping(each)) for each in items(cell.get("outputs")))
    return _joined(f"[cell {opening}]", source, *outputs)


def _cell_output(output: Json) -> str:
    shown = text(output, "text") or "".join(identifiers(output.get("text")))
    return _joined(shown, text(mapping(output.get("image")), "image_data"))


def _diff(path: str, hunks: list[str]) -> str | None:
    changes = [hunk for hunk in hunks if hunk]
    return "\n".join((f"--- {path}", f"+++ {path}", *changes, "")) if changes else None


def _hunk(hunk: Json) -> str:
    lines = [line for line in items(hunk.get("lines")) if isinstance(line, str)]
    if not lines:
        return ""
    names = ("oldStart", "oldLines", "newStart", "newLines")
    figures = [figure for name in names if (figure := count(hunk.get(name))) is not None]
    whole = len(figures) == len(names)
    head = "@@ -{},{} +{},{} @@".format(*figures) if whole else "@@ @@"
    return "\n".join((head, *lines))


def _replacement(edit: Json) -> str:
    return _change(text(edit, "oldString", "old_string"), text(edit, "newString", "new_string"))


def _change(before: str, after: str, name: str = "") -> str:
    if not before and not after:
        return ""
    removed = [f"-{line}" for line in before.removesuffix("\n").split("\n") if before]
    added = [f"+{line}" for line in after.removesuffix("\n").split("\n") if after]
    return "\n".join(("@@ @@" + _after(" ", name), *removed, *added))


def _search_result(result: object) -> str:
    links = mapping(result).get("content")
    if not isinstance(links, list):
        return plain_text(result)
    return "\n".join(_link(each) for each in links)


def _link(link: object) -> str:
    title, url = text(mapping(link), "title"), text(mapping(link), "url")
    return f"- {title}: {url}" if title and url else f"- {title or url or blocks_text([link])}"


def _answer(question: str, answer: object, remark: Json) -> str:
    chosen = ", ".join(identifiers(answer)) or identifier(answer) or "(no answer)"
    notes = (_after("Preview: ", text(remark, "preview")), _after("Notes: ", text(remark, "notes")))
    return _joined(f"Q: {question}", f"A: {chosen}", *notes)


def _task_line(task: Json) -> str:
    blockers = ", ".join(f"#{key}" for key in identifiers(task.get("blockedBy")))
    line = f"#{identifier(task.get('id'))} [{text(task, 'status')}] {text(task, 'subject')}"
    return line + (f" (blocked by {blockers})" if blockers else "")
