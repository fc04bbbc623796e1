from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest

from ctxgit.claude.tools import TOOLS, Outcome, failure, outcome
from ctxgit.model import Media, TaskChange, TaskStatus
from support.payloads import CWD, PNG, PNG_BASE64

PNG_DIGEST = hashlib.sha256(PNG).hexdigest()
PNG_LINE = f"[image/png, 72 bytes, sha256 {PNG_DIGEST[:8]}…]"
PNG_MEDIA = Media(sha256=PNG_DIGEST, media_type="image/png", size=72)


def call(tool: str, tool_input: Any = None, response: Any = None, cwd: str = CWD) -> Outcome:
    return outcome(tool, tool_input, response, cwd=cwd)


# --- content -----------------------------------------------------------------------------


def shell(**fields: Any) -> dict[str, Any]:
    return {"stdout": "", "stderr": "", "interrupted": False, "isImage": False} | fields


@pytest.mark.parametrize(
    ("tool", "tool_input", "response", "content"),
    [
        ("Read", {}, {"type": "text", "file": {"content": "a\nb\n"}}, "a\nb\n"),
        ("Read", {}, {"type": "text", "file": {"content": ""}}, ""),
        (
            "Read",
            {},
            {"type": "file_unchanged", "file": {"filePath": "/p/a"}},
            "[unchanged since it was last read: /p/a]",
        ),
        (
            "Read",
            {},
            {
                "type": "notebook",
                "file": {
                    "cells": [
                        {"cellType": "markdown", "source": "# T", "cell_id": "c0"},
                        {
                            "cellType": "code",
                            "source": "1/0\n",
                            "cell_id": "c1",
                            "language": "python",
                            "outputs": [{"output_type": "stream", "text": "boom\n"}],
                        },
                    ]
                },
            },
            "[cell c0 markdown]\n# T\n[cell c1 code python]\n1/0\nboom\n",
        ),
        ("Bash", {}, shell(stdout="out\n"), "out\n"),
        ("Bash", {}, shell(), ""),
        ("Bash", {}, shell(stdout="out", stderr="err"), "out\nerr"),
        ("Bash", {}, shell(stdout="part", interrupted=True), "part\n[interrupted]"),
        (
            "Bash",
            {},
            shell(returnCodeInterpretation="No matches found"),
            "[No matches found]",
        ),
        ("Bash", {}, shell(backgroundTaskId="b2k"), "[running in the background as b2k]"),
        (
            "Bash",
            {},
            shell(stdout="1\n2\n", persistedOutputPath="/r/b.txt", persistedOutputSize=108894),
            "1\n2\n[whole output, 108,894 bytes: /r/b.txt]",
        ),
        ("PowerShell", {}, shell(stdout="x"), "x"),
        (
            "BashOutput",
            {},
            {"shellId": "b1", "status": "completed", "exitCode": 0, "stdout": "x\n", "stderr": ""},
            "x\n[status completed]\n[exit code 0]",
        ),
        (
            "TaskOutput",
            {},
            {"retrieval_status": "success", "task": {"status": "running", "output": "so far"}},
            "so far\n[status running]",
        ),
        ("KillShell", {}, {"message": "Killed b1", "shell_id": "b1"}, "Killed b1"),
        ("Grep", {}, {"mode": "content", "filenames": [], "content": "a:1:x"}, "a:1:x"),
        (
            "Grep",
            {},
            {"mode": "files_with_matches", "filenames": ["a", "b"], "appliedLimit": 2},
            "a\nb\n[limited to 2]",
        ),
        ("Grep", {}, {"mode": "content", "filenames": [], "content": ""}, "No matches found"),
        ("Glob", {}, {"filenames": ["a", "b"], "truncated": True}, "a\nb\n[there are more]"),
        ("Glob", {}, {"filenames": [], "truncated": False}, "No files found"),
        ("LS", {}, "- /p/\n  - a\n", "- /p/\n  - a\n"),
        ("WebFetch", {}, {"code": 200, "codeText": "OK", "result": "# T"}, "# T"),
        (
            "WebFetch",
            {},
            {"code": 404, "codeText": "Not Found", "result": "gone"},
            "gone\n[404 Not Found]",
        ),
        (
            "WebSearch",
            {},
            {"query": "q", "results": ["Here:", {"content": [{"title": "T", "url": "http://u"}]}]},
            "Here:\n- T: http://u",
        ),
        (
            "Agent",
            {},
            {"isAsync": True, "agentId": "a6", "description": "look", "outputFile": "/o/a6"},
            "Agent a6 started: look\n[output: /o/a6]",
        ),
        (
            "Task",
            {},
            {"status": "completed", "content": [{"type": "text", "text": "Report"}], "usage": {}},
            "Report",
        ),
        (
            "AskUserQuestion",
            {"questions": [{"question": "ignored"}]},
            {
                "questions": [{"question": "Which?"}, {"question": "Both?"}, {"question": "When?"}],
                "answers": {"Which?": "A", "Both?": ["x", "y"]},
                "annotations": {"Which?": {"notes": "soon"}},
            },
            "Q: Which?\nA: A\nNotes: soon\n\nQ: Both?\nA: x, y\n\nQ: When?\nA: (no answer)",
        ),
        ("ExitPlanMode", {}, {"plan": "# Plan\n", "isAgent": False}, "# Plan\n"),
        ("Skill", {"skill": "tidy"}, {"success": True, "commandName": "tidy"}, "Skill tidy"),
        ("TaskCreate", {}, {"task": {"id": "3", "subject": "S"}}, "Task #3 created: S"),
        (
            "TaskUpdate",
            {},
            {
                "success": True,
                "taskId": "3",
                "updatedFields": ["status", "owner"],
                "statusChange": {"from": "pending", "to": "in_progress"},
            },
            "Task #3 updated: status, owner, now in_progress",
        ),
        (
            "TaskUpdate",
            {"taskId": "9"},
            {"success": False, "error": "Task not found"},
            "Task #9 not updated: Task not found",
        ),
        (
            "TaskList",
            {},
            {"tasks": [{"id": "1", "status": "pending", "subject": "S", "blockedBy": ["2", "3"]}]},
            "#1 [pending] S (blocked by #2, #3)",
        ),
        (
            "TaskGet",
            {},
            {"task": {"id": "1", "status": "pending", "subject": "S", "description": "D"}},
            "#1 [pending] S\nD",
        ),
        (
            "TodoWrite",
            {},
            {"oldTodos": [], "newTodos": [{"content": "S", "status": "pending"}]},
            "[pending] S",
        ),
    ],
)
def test_content_of_each_tool(tool: str, tool_input: Any, response: Any, content: str) -> None:
    assert call(tool, tool_input, response).content == content


def test_edit_is_shown_as_a_unified_diff() -> None:
    hunk = {"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 2}
    patch = [hunk | {"lines": [" alpha", "-beta", "+BETA"]}]
    response = {"filePath": "/p/a", "structuredPatch": patch, "originalFile": "x"}
    asked = {"file_path": "/p/a", "old_string": "beta", "new_string": "BETA"}
    result = call("Edit", asked, response)
    assert result.content == "--- /p/a\n+++ /p/a\n@@ -3,2 +3,2 @@\n alpha\n-beta\n+BETA\n"
    assert result.input == asked


@pytest.mark.parametrize(
    "response", [None, "The file /p/a has been updated.", {}, {"oldString": 5}]
)
def test_edit_without_a_patch_is_made_of_its_strings(response: Any) -> None:
    asked = {"file_path": "/p/a", "old_string": "one\ntwo\n", "new_string": "2"}
    content = call("Edit", asked, response).content
    assert content == "--- /p/a\n+++ /p/a\n@@ @@\n-one\n-two\n+2\n"


def test_multi_edit_without_a_patch_shows_every_edit() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "", "new_string": "c"}]
    content = call("MultiEdit", {"file_path": "/p/a", "edits": edits}, None).content
    assert content == "--- /p/a\n+++ /p/a\n@@ @@\n-a\n+b\n@@ @@\n+c\n"


def test_notebook_edit_is_shown_as_a_diff_of_the_cell() -> None:
    response = {"notebook_path": "/p/n", "cell_id": "c1", "old_source": "x=1", "new_source": "x=2"}
    result = call("NotebookEdit", {}, response)
    assert result.content == "--- /p/n\n+++ /p/n\n@@ @@ cell c1\n-x=1\n+x=2\n"
    assert result.paths == ("/p/n",)


def test_notebook_edit_reports_its_error_as_a_failure() -> None:
    result = call("NotebookEdit", {"notebook_path": "/p/n"}, {"error": "Cell not found"})
    assert (result.failed, result.content) == (True, "Cell not found")


@pytest.mark.parametrize(
    "response",
    [{"type": "create", "content": "one\n", "structuredPatch": []}, "File created", None],
)
def test_write_keeps_the_text_as_content_only(response: Any) -> None:
    result = call("Write", {"file_path": "/p/a", "content": "one\n"}, response)
    assert result.content == "one\n"
    assert result.input == {"file_path": "/p/a"}


def test_a_failed_write_keeps_the_text_in_its_input() -> None:
    asked = {"file_path": "/p/a", "content": "one\n"}
    result = failure("Write", asked, "disk full", cwd=CWD)
    assert (result.content, result.input, result.failed) == ("disk full", asked, True)


def test_a_plan_that_only_the_input_holds_is_moved() -> None:
    result = call("ExitPlanMode", {"plan": "# P", "x": 1}, {"plan": None})
    assert (result.content, result.input) == ("# P", {"x": 1})


@pytest.mark.parametrize(
    ("response", "content"),
    [
        (None, ""),
        ("as it is", "as it is"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "resource_link", "name": "n", "uri": "u://1"}], "n u://1"),
        ([{"type": "resource", "resource": {"uri": "u", "text": "inside"}}], "inside"),
        ({"content": [{"type": "text", "text": "t"}], "structuredContent": {"a": 1}}, "t"),
        ({"result": "the text", "code": 0, "ok": True}, "the text"),
        (
            [{"type": "text", "text": "t"}, {"type": "new", "x": 1}],
            't\n{\n  "type": "new",\n  "x": 1\n}',
        ),
    ],
)
def test_an_unknown_tool_shows_its_obvious_text(response: Any, content: str) -> None:
    assert call("mcp__lab__x", {}, response).content == content


@pytest.mark.parametrize(
    "response",
    [
        {"count": 2, "rows": [{"a": "é"}]},
        {"result": "ok", "data": {"a": [1]}},
        {"content": "x", "log": "first\nsecond"},
        [{"a": 1}],
        5,
    ],
)
def test_an_unknown_tool_without_obvious_text_shows_all_of_it(response: Any) -> None:
    content = call("Gadget", {}, response).content
    assert json.loads(content) == response
    assert "\\u" not in content


@pytest.mark.parametrize("tool", sorted(TOOLS))
@pytest.mark.parametrize("response", [{"surprise": {"a": 1}}, [{"a": 1}], 7, "words"])
def test_no_tool_loses_a_response_of_a_new_shape(tool: str, response: Any) -> None:
    content = call(tool, {}, response).content
    assert content == response if isinstance(response, str) else json.loads(content) == response


def test_whole_content_is_kept() -> None:
    long = "line\n" * 200_000
    assert call("Bash", {}, shell(stdout=long)).content == long


def test_an_input_that_is_no_object_is_kept() -> None:
    assert call("X", "just text").input == {"input": "just text"}
    assert call("X", None).input == {}


@pytest.mark.parametrize("flag", [{"success": False}, {"isError": True}, {"is_error": True}])
def test_a_response_may_say_itself_that_it_failed(flag: dict[str, bool]) -> None:
    assert call("X", {}, {"message": "no", **flag}).failed
    assert not call("X", {}, {"message": "yes"}).failed


# --- media -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "response", "content"),
    [
        (
            "Read",
            {
                "type": "image",
                "file": {"base64": PNG_BASE64, "type": "image/png", "originalSize": 9},
            },
            PNG_LINE,
        ),
        ("mcp__x", [{"type": "image", "data": PNG_BASE64, "mimeType": "image/png"}], PNG_LINE),
        ("mcp__x", [{"type": "image", "data": PNG_BASE64}], PNG_LINE),
        (
            "mcp__x",
            [
                {"type": "text", "text": "see"},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": PNG_BASE64},
                },
            ],
            f"see\n{PNG_LINE}",
        ),
        (
            "mcp__x",
            [
                {
                    "type": "resource",
                    "resource": {"uri": "u", "mimeType": "image/png", "blob": PNG_BASE64},
                }
            ],
            PNG_LINE,
        ),
        ("Bash", shell(stdout=f"data:image/png;base64,{PNG_BASE64}", isImage=True), PNG_LINE),
        (
            "Read",
            {
                "type": "notebook",
                "file": {
                    "cells": [
                        {
                            "cell_id": "c",
                            "source": "plot()",
                            "outputs": [
                                {"image": {"image_data": PNG_BASE64, "media_type": "image/png"}}
                            ],
                        }
                    ]
                },
            },
            f"[cell c]\nplot()\n{PNG_LINE}",
        ),
    ],
)
def test_images_become_one_line(tool: str, response: Any, content: str) -> None:
    result = call(tool, {}, response)
    assert result.content == content
    assert result.media == (PNG_MEDIA,)


@pytest.mark.parametrize(
    ("block", "media_type"),
    [
        ({"type": "audio", "mimeType": "audio/wav"}, "audio/wav"),
        ({"type": "document", "mimeType": "application/pdf"}, "application/pdf"),
        ({"mimeType": "application/zip"}, "application/zip"),
    ],
)
def test_other_media_become_one_line(block: dict[str, str], media_type: str) -> None:
    data = bytes(range(256)) * 50
    encoded = base64.b64encode(data).decode()
    result = call("mcp__x", {}, [{"type": "text", "text": "t"}, block | {"data": encoded}])
    digest = hashlib.sha256(data).hexdigest()
    assert f"[{media_type}, 12,800 bytes, sha256 {digest[:8]}…]" in result.content
    assert encoded not in result.content
    assert result.media == (Media(sha256=digest, media_type=media_type, size=12_800),)


def test_a_pdf_without_a_declared_type_is_known_by_its_first_bytes() -> None:
    data = b"%PDF-1.7 " + bytes(20)
    encoded = base64.b64encode(data).decode()
    result = call("Read", {}, {"type": "pdf", "file": {"filePath": "/p/a.pdf", "base64": encoded}})
    assert [each.media_type for each in result.media] == ["application/pdf"]


def test_base64_that_is_broken_is_still_taken_out() -> None:
    block = {"type": "image", "data": "[REDACTED] not base64", "mimeType": "image/png"}
    result = call("mcp__x", {}, [block])
    digest = hashlib.sha256(b"[REDACTED] not base64").hexdigest()
    assert result.media == (Media(sha256=digest, media_type="image/png", size=21),)


@pytest.mark.parametrize(
    "text", ["\x7fELF\0\0\1", "\x01\x02\x03ab", "\ufffd\ufffd\ufffdabc", "\x00"]
)
def test_text_that_is_none_becomes_one_line(text: str) -> None:
    result = call("Bash", {}, shell(stdout=text, stderr="warned"))
    data = text.encode()
    digest = hashlib.sha256(data).hexdigest()
    line = f"[application/octet-stream, {len(data)} bytes, sha256 {digest[:8]}…]"
    assert result.content == f"{line}\nwarned"


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mred\x1b[0m\b\b\r\n\f\ttab",
        "naïve — 日本語 \ufffd",
        'const prefix = "data:image/png;base64," + data',
        "data:text/plain,hello",
        "data:image/png;base64,",
        "a.txt\0b.txt\0",
        f"<img src='data:image/png;base64,{PNG_BASE64}'>",
    ],
)
def test_text_with_odd_characters_stays_text(text: str) -> None:
    result = call("Bash", {}, shell(stdout=text))
    assert (result.content, result.media) == (text, ())


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text/plain", "data": "helloyou"},
        {"mimeType": "application/json", "data": "abcd"},
        {"blob": "0123abcd", "path": "a"},
        {"type": "image", "source": {"type": "url", "url": "https://u/x.png"}},
    ],
)
def test_what_only_looks_like_media_stays(block: dict[str, Any]) -> None:
    result = call("mcp__x", {}, {"deep": [block]})
    assert result.media == ()
    assert json.loads(result.content) == {"deep": [block]}


def test_equal_images_are_listed_once() -> None:
    block = {"type": "image", "data": PNG_BASE64, "mimeType": "image/png"}
    result = call("mcp__x", {}, [block, block])
    assert result.content == f"{PNG_LINE}\n{PNG_LINE}"
    assert result.media == (PNG_MEDIA,)


def test_images_in_the_input_are_no_part_of_the_content() -> None:
    asked = {"image": {"type": "image", "data": PNG_BASE64, "mimeType": "image/png"}}
    result = call("mcp__x", asked, "seen")
    assert (result.input, result.media) == (asked, ())


# --- paths -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "tool_input", "response", "paths"),
    [
        ("Read", {"file_path": "/p/a"}, {}, ("/p/a",)),
        ("Read", {"file_path": "src/./x/../a"}, {}, (f"{CWD}/src/a",)),
        ("Read", {"file_path": "../b"}, {}, ("/home/user/b",)),
        ("Read", {"file_path": "//p//a/"}, {}, ("/p/a",)),
        ("Read", {"file_path": "~/a"}, {"file": {"filePath": "/home/user/a"}}, ("/home/user/a",)),
        ("Read", {"file_path": "a"}, {"file": {"filePath": f"{CWD}/a"}}, (f"{CWD}/a",)),
        ("Edit", {"file_path": "/link"}, {"filePath": "/real"}, ("/link", "/real")),
        ("NotebookEdit", {"notebook_path": "/p/n"}, {}, ("/p/n",)),
        ("Grep", {"pattern": "x", "path": "src"}, {"filenames": ["src/a"]}, (f"{CWD}/src",)),
        ("Glob", {"pattern": "*"}, {"filenames": ["a"]}, ()),
        ("LS", {"path": "/p"}, "", ("/p",)),
        ("Bash", {"command": "cat /etc/hosts"}, shell(stdout="/etc/hosts"), ()),
        ("mcp__fs__read", {"path": "/p/a"}, "", ("/p/a",)),
        ("mcp__forge__get", {"path": "src/a"}, "", ()),
        ("Read", {"file_path": 5}, {"filePath": ["x"]}, ()),
        ("Read", {"file_path": "/p/\0a"}, {}, ()),
    ],
)
def test_paths(tool: str, tool_input: Any, response: Any, paths: tuple[str, ...]) -> None:
    assert call(tool, tool_input, response).paths == paths


@pytest.mark.parametrize("cwd", ["", "relative"])
def test_a_relative_path_needs_an_absolute_folder(cwd: str) -> None:
    assert call("Read", {"file_path": "a"}, {}, cwd=cwd).paths == ()


def test_a_failed_call_names_its_paths_too() -> None:
    assert failure("Read", {"file_path": "a"}, "gone", cwd="/").paths == ("/a",)


# --- tasks -------------------------------------------------------------------------------


def test_task_create_takes_the_id_of_the_response() -> None:
    asked = {"subject": "Fix", "description": "All of it"}
    result = call("TaskCreate", asked, {"task": {"id": 4, "subject": "Fix"}})
    assert result.changes == (TaskChange(key="4", subject="Fix", description="All of it"),)
    assert (result.origin, result.whole_list) == ("TaskCreate", False)


def test_task_create_takes_the_id_of_a_sentence() -> None:
    result = call("TaskCreate", {"subject": "Fix"}, "Task #12 created successfully: Fix")
    assert result.changes == (TaskChange(key="12", subject="Fix"),)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("pending", TaskStatus.PENDING),
        ("in_progress", TaskStatus.ACTIVE),
        ("completed", TaskStatus.DONE),
        ("deleted", TaskStatus.ABANDONED),
        ("blocked", None),
        (3, None),
        (None, None),
    ],
)
def test_task_update_maps_the_status(word: object, status: TaskStatus | None) -> None:
    result = call("TaskUpdate", {"taskId": "1", "status": word}, {"success": True, "taskId": "1"})
    assert result.changes == (TaskChange(key="1", status=status),)


def test_task_update_takes_subject_and_dependencies() -> None:
    asked = {"taskId": "1", "subject": "S", "description": "D"}
    links = {"addBlockedBy": ["2", 3, None], "addBlocks": ["4"]}
    result = call("TaskUpdate", asked | links, {"success": True})
    assert result.changes == (
        TaskChange(key="1", subject="S", description="D", blocked_by=("2", "3"), blocks=("4",)),
    )


@pytest.mark.parametrize("tool", ["TaskCreate", "TaskUpdate", "TodoWrite"])
def test_a_failing_task_call_changes_nothing(tool: str) -> None:
    asked = {"subject": "S", "taskId": "1", "status": "completed", "todos": []}
    for result in (
        call(tool, asked, {"success": False, "error": "no"}),
        failure(tool, asked, "no", cwd=CWD),
    ):
        assert result.failed
        assert (result.origin, result.changes, result.whole_list) == ("", (), False)


def test_todo_write_is_the_whole_list() -> None:
    asked = {"todos": [{"content": "asked", "status": "pending"}]}
    todos = [
        {"content": "One", "status": "completed", "activeForm": "Doing one"},
        {"content": "Two", "status": "in_progress", "id": "2", "priority": "high"},
    ]
    result = call("TodoWrite", asked, {"oldTodos": [], "newTodos": todos})
    assert (result.origin, result.whole_list) == ("TodoWrite", True)
    assert result.changes == (
        TaskChange(subject="One", status=TaskStatus.DONE),
        TaskChange(subject="Two", status=TaskStatus.ACTIVE),
    )


def test_todo_write_without_a_response_list_takes_the_input() -> None:
    result = call("TodoWrite", {"todos": [{"content": "A", "status": "pending"}]}, "Todos modified")
    assert result.changes == (TaskChange(subject="A", status=TaskStatus.PENDING),)


def test_an_emptied_todo_list_is_a_whole_list() -> None:
    result = call("TodoWrite", {"todos": []}, {"newTodos": []})
    assert (result.origin, result.whole_list, result.changes) == ("TodoWrite", True, ())


@pytest.mark.parametrize("todos", [None, "text", [{"status": "pending"}], [5]])
def test_a_todo_list_that_cannot_be_read_whole_drops_nothing(todos: object) -> None:
    result = call("TodoWrite", {"todos": todos}, {})
    assert (result.whole_list, result.changes) == (False, ())


@pytest.mark.parametrize("tool", ["Bash", "TaskList", "TaskGet", "TaskStop", "mcp__x"])
def test_other_tools_change_no_task(tool: str) -> None:
    result = call(tool, {"taskId": "1", "status": "completed"}, {"task": {"id": "1"}, "tasks": []})
    assert (result.origin, result.changes) == ("", ())
