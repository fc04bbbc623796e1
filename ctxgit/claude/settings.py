"""Adding our plugin to a settings file of Claude Code, and taking it out again.

The file is the user's: its text is edited, never written anew. Claude Code loads a plugin
from a folder when ``extraKnownMarketplaces`` names the folder as a marketplace by its
absolute path and ``enabledPlugins`` has the plugin.

Taking out restores the file byte for byte with no memory but the file itself, because each
way of putting in leaves its own trace:

- behind the last member of an object: cut from the end of the member before;
- into an empty object: directly at its ``{``, so that its blanks stay behind;
- an object or file of our making has a blank after its ``{``: it goes when it is empty;
- a file that was there without content gets a line feed before our ``{``.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from ctxgit.errors import SettingsError
from ctxgit.files import rewrite
from ctxgit.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path

_MARKETPLACE = ("extraKnownMarketplaces", "ctxgit")
_PLUGIN = ("enabledPlugins", "context@ctxgit")
_BLANKS = " \t\r\n"
_BOM = "\ufeff"
_INDENT = "  "
_DECODER = json.JSONDecoder()


def enable_plugin(settings_path: Path, marketplace_dir: Path) -> bool:
    """Make Claude Code load the plugin from ``marketplace_dir``; return whether that was news.

    Makes the file and its folder if they are not there. Only our two entries are changed:
    added, or brought up to date where they stand. A symlink is written through.

    Raises SettingsError if the file is not a JSON object in UTF-8, has something else where
    our entries belong, or cannot be read or written; it is then as it was.
    """
    source: dict[str, object] = {"source": "directory", "path": str(marketplace_dir.absolute())}
    content = _read(settings_path)
    before = None if content is None else _decode(content, settings_path)
    if before is None or _is_blank(before):
        after = _new_document(before, source)
    else:
        after = _with_plugin(before, source, settings_path)
    if after == before:
        return False
    _write(settings_path, after)
    return True


def is_enabled(settings_path: Path, marketplace_dir: Path) -> bool:
    """Whether the file makes Claude Code load the plugin from ``marketplace_dir``.

    A file that cannot be read as settings enables nothing.
    """
    try:
        content = _read(settings_path)
        document = _parse(_decode(content or b"{}", settings_path), settings_path)
    except SettingsError:
        return False
    named = _lookup(document, (*_MARKETPLACE, "source", "path"))
    return named == str(marketplace_dir.absolute()) and _lookup(document, _PLUGIN) is True


def disable_plugin(settings_path: Path) -> bool:
    """Take our entries out of the file; return whether there were any.

    What :func:`enable_plugin` made goes with them if nothing else is in it: the objects
    around them, the file, its folder. All else stays, byte for byte.

    Raises SettingsError as :func:`enable_plugin` does, but only if our name is in the file.
    """
    content = _read(settings_path)
    if content is None or b"ctxgit" not in content:
        return False
    before = _decode(content, settings_path)
    _parse(before, settings_path)
    after = _without(before, _PLUGIN)
    after = None if after is None else _without(after, _MARKETPLACE)
    if after == before:
        return False
    if after is None:
        _remove(settings_path)
    else:
        _write(settings_path, after)
    return True


def _new_document(before: str | None, source: dict[str, object]) -> str:
    (markets, market), (plugins, plugin) = _MARKETPLACE, _PLUGIN
    entries = {markets: {market: {"source": source}}, plugins: {plugin: True}}
    document = json.dumps(entries, indent=_INDENT, ensure_ascii=False)
    if before is None:
        return document + "\n"
    mark = _BOM if before.startswith(_BOM) else ""
    return f"{mark}\n{document}{before.removeprefix(_BOM)}"


def _with_plugin(text: str, source: dict[str, object], settings_path: Path) -> str:
    known = _lookup(_parse(text, settings_path), (*_MARKETPLACE, "source"))
    try:
        if isinstance(known, dict) and known.get("source") == source["source"]:
            text = _put(text, (*_MARKETPLACE, "source", "path"), source["path"])
        else:
            text = _put(text, (*_MARKETPLACE, "source"), source)
        return _put(text, _PLUGIN, True)  # noqa: FBT003 - a value of JSON, not an option
    except _NotAnObjectError as error:
        line = text.count("\n", 0, error.at) + 1
        raise SettingsError(
            f"{settings_path}, line {line}: the value of {json.dumps(error.key)} is no object",
            hint="correct the file by hand, then run the command again",
        ) from error


# --- JSON as text ------------------------------------------------------------------------------


class _NotAnObjectError(Exception):
    """What stands at ``at``, the value of ``key``, would have to be an object."""

    def __init__(self, key: str, at: int) -> None:
        super().__init__(key, at)
        self.key = key
        self.at = at


@dataclass(frozen=True)
class _Member:
    """A member of an object: where its key and its value begin, where its value ends."""

    key: str
    start: int
    value: int
    end: int


@dataclass(frozen=True)
class _Object:
    """An object: where its ``{`` is, its members, where it ends."""

    start: int
    members: tuple[_Member, ...]
    end: int

    def get(self, key: str) -> _Member | None:
        """Return the member that counts for ``key``: the last, should there be more."""
        return next((member for member in reversed(self.members) if member.key == key), None)


def _is_blank(text: str) -> bool:
    return not text.strip(_BOM + _BLANKS)


def _root(text: str) -> _Object:
    root = _object_at(text, _skip_blanks(text, len(_BOM) if text.startswith(_BOM) else 0))
    assert root is not None  # noqa: S101 - _parse has seen to it
    return root


def _object_at(text: str, start: int) -> _Object | None:
    """Return the object at ``start`` of a valid document, ``None`` if another value is there."""
    if text[start] != "{":
        return None
    members: list[_Member] = []
    at = _skip_blanks(text, start + 1)
    while text[at] != "}":
        key, colon = _DECODER.raw_decode(text, at)
        value = _skip_blanks(text, _skip_blanks(text, colon) + 1)
        _, end = _DECODER.raw_decode(text, value)
        members.append(_Member(key, at, value, end))
        at = _skip_blanks(text, end)
        at = _skip_blanks(text, at + 1) if text[at] == "," else at
    return _Object(start, tuple(members), at + 1)


def _skip_blanks(text: str, at: int) -> int:
    while text[at] in _BLANKS:
        at += 1
    return at


def _put(text: str, path: tuple[str, ...], value: object) -> str:
    """Return ``text`` with ``value`` at ``path``, making the objects on the way."""
    holder = _root(text)
    for depth, key in enumerate(path):
        member = holder.get(key)
        if member is None:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _insert(text, holder, key, value)
        if depth == len(path) - 1:
            break
        inside = _object_at(text, member.value)
        if inside is None:
            raise _NotAnObjectError(key, member.value)
        holder = inside
    assert member is not None  # noqa: S101 - a path has at least one key
    if json.loads(text[member.value : member.end]) == value:
        return text
    return text[: member.value] + _inline(value) + text[member.end :]


def _insert(text: str, holder: _Object, key: str, value: object) -> str:
    """Return ``text`` with a new last member in ``holder``, in the manner of the others."""
    name = json.dumps(key)
    if not holder.members:
        at = holder.start + 1
        return f"{text[:at]}{name}: {_inline(value)}{text[at:]}"
    gap = _gap(text, holder, len(holder.members) - 1)
    at = holder.members[-1].end
    if "\n" not in gap:
        gap = gap if len(holder.members) > 1 else " "
        return f"{text[:at]},{gap}{name}: {_inline(value)}{text[at:]}"
    newline = ("\r\n" if "\r\n" in gap else "\n") + gap.rpartition("\n")[2]
    lines = json.dumps(value, indent=_indent(text), ensure_ascii=False).replace("\n", newline)
    return f"{text[:at]},{newline}{name}: {lines}{text[at:]}"


def _inline(value: object) -> str:
    line = json.dumps(value, ensure_ascii=False)
    return f"{{ {line[1:-1]} }}" if isinstance(value, dict) else line


def _gap(text: str, holder: _Object, index: int) -> str:
    """Return the blanks before the key of the member at ``index``."""
    before = text[holder.start + 1 : holder.members[index].start]
    return before[len(before.rstrip(_BLANKS)) :]


def _indent(text: str) -> str:
    """Return by how much the document indents, as its first member shows."""
    _, is_broken, indent = _gap(text, _root(text), 0).rpartition("\n")
    return indent if is_broken else _INDENT


def _without(text: str, path: tuple[str, str]) -> str | None:
    """Return ``text`` without the member at ``path``, ``None`` if nothing of it is to stay."""
    if _is_blank(text):
        return text
    root = _root(text)
    outer = root.get(path[0])
    holder = _object_at(text, outer.value) if outer else None
    member = holder.get(path[1]) if holder else None
    if outer is None or holder is None or member is None:
        return text
    if not _goes_with_last_member(text, holder):
        return _cut(text, holder, member)
    if not _goes_with_last_member(text, root):
        return _cut(text, root, outer)
    head = text[: root.start]
    return head[:-1] + text[root.end :] if head.endswith("\n") else None


def _goes_with_last_member(text: str, holder: _Object) -> bool:
    """Whether ``holder`` has one member, and a blank that shows it to be of our making."""
    return len(holder.members) == 1 and text[holder.start + 1] in _BLANKS


def _cut(text: str, holder: _Object, member: _Member) -> str:
    index = holder.members.index(member)
    if index > 0:
        return text[: holder.members[index - 1].end] + text[member.end :]
    if len(holder.members) > 1:
        return text[: member.start] + text[holder.members[1].start :]
    return text[: holder.start + 1] + text[member.end :]


# --- the file ----------------------------------------------------------------------------------


def _lookup(document: object, path: tuple[str, ...]) -> object:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _parse(text: str, settings_path: Path) -> object:
    hint = "the file must be plain JSON, without comments and trailing commas"
    try:
        document: object = json.loads(text.removeprefix(_BOM))
    except json.JSONDecodeError as error:
        reason = f"{error.msg[:1].lower()}{error.msg[1:]}"
        message = f"{settings_path}, line {error.lineno}: not JSON, {reason}"
        raise SettingsError(message, hint=hint) from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{settings_path} is too much to read as JSON") from error
    if not isinstance(document, dict):
        raise SettingsError(f"{settings_path}, line 1: not a JSON object", hint=hint)
    return document


def _read(settings_path: Path) -> bytes | None:
    try:
        return settings_path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"cannot read {settings_path}: {error.strerror}") from error


def _decode(content: bytes, settings_path: Path) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{settings_path}, line {line}: not UTF-8") from error


def _write(settings_path: Path, text: str) -> None:
    try:
        settings_path.resolve().parent.mkdir(parents=True, exist_ok=True)
        rewrite(settings_path, text.encode())
    except UnicodeEncodeError as error:
        raise SettingsError(f"cannot name a path that is not UTF-8 in {settings_path}") from error
    except OSError as error:
        raise SettingsError(f"cannot write {settings_path}: {error.strerror}") from error


def _remove(settings_path: Path) -> None:
    try:
        settings_path.resolve().unlink()
    except OSError as error:
        raise SettingsError(f"cannot remove {settings_path}: {error.strerror}") from error
    if settings_path.parent.name == ".claude":
        with suppress(OSError):  # the folder has other files
            settings_path.parent.rmdir()
