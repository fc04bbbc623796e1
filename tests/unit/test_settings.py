from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgit.claude.settings import disable_plugin, enable_plugin
from ctxgit.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

OURS = {"extraKnownMarketplaces": "ctxgit", "enabledPlugins": "context@ctxgit"}


@pytest.fixture
def market(tmp_path: Path) -> Path:
    return tmp_path / "the market"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "project" / ".claude" / "settings.local.json"


def written(file: Path, content: str | bytes) -> bytes:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file.read_bytes()


def parsed(file: Path) -> Any:
    return json.loads(file.read_bytes().decode("utf-8-sig"))


def wanted(market: Path) -> dict[str, Any]:
    return {
        "extraKnownMarketplaces": {
            "ctxgit": {"source": {"source": "directory", "path": str(market)}}
        },
        "enabledPlugins": {"context@ctxgit": True},
    }


class TestAFileOfOurMaking:
    def test_is_what_the_client_wants(self, file: Path, market: Path) -> None:
        assert enable_plugin(file, market)
        assert parsed(file) == wanted(market)
        assert file.read_text() == json.dumps(wanted(market), indent=2) + "\n"

    def test_second_time_nothing_is_written(self, file: Path, market: Path) -> None:
        enable_plugin(file, market)
        before = file.stat()
        assert not enable_plugin(file, market)
        assert (file.stat().st_ino, file.stat().st_mtime_ns) == (
            before.st_ino,
            before.st_mtime_ns,
        )

    def test_goes_with_its_folder(self, file: Path, market: Path) -> None:
        enable_plugin(file, market)
        assert disable_plugin(file)
        assert not file.parent.exists()
        assert file.parent.parent.exists()
        assert not disable_plugin(file)

    def test_goes_even_if_an_editor_put_a_mark_before_it(self, file: Path, market: Path) -> None:
        enable_plugin(file, market)
        written(file, b"\xef\xbb\xbf" + file.read_bytes())
        assert disable_plugin(file)
        assert not file.exists()

    def test_goes_alone_where_the_folder_has_more(self, file: Path, market: Path) -> None:
        enable_plugin(file, market)
        (file.parent / "settings.json").touch()
        assert disable_plugin(file)
        assert [path.name for path in file.parent.iterdir()] == ["settings.json"]

    def test_keeps_what_the_client_added(self, file: Path, market: Path) -> None:
        enable_plugin(file, market)
        grown = {**parsed(file), "permissions": {"allow": ["Bash(ls:*)"]}}
        written(file, json.dumps(grown, indent=2))
        assert disable_plugin(file)
        assert file.read_text() == json.dumps({"permissions": grown["permissions"]}, indent=2)

    def test_keeps_another_plugin_added_since(self, file: Path, market: Path) -> None:
        enable_plugin(file, market)
        grown = parsed(file)
        grown["enabledPlugins"] = {"context@ctxgit": True, "other@market": True}
        written(file, json.dumps(grown, indent=4))
        assert disable_plugin(file)
        assert parsed(file) == {"enabledPlugins": {"other@market": True}}


DOCUMENTS = {
    "nothing": "",
    "a line": "\n",
    "a mark and blanks": "\ufeff \r\n\t",
    "empty": "{}",
    "empty and a line": "{}\n",
    "empty with blanks": "{\r\n}\r\n",
    "one line": '{"model": "opus"}',
    "compact": '{"a":1,"b":[1,{"c":null}]}\n',
    "two blanks": '{\n  "model": "opus",\n  "env": {\n    "A": "1"\n  }\n}\n',
    "tabs, no last line feed": '{\n\t"model": "opus"\n}',
    "CRLF": '{\r\n    "model": "opus",\r\n    "x": []\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "a": 1\n}\n',
    "left by the client": '{\n  "enabledPlugins": {},\n  "extraKnownMarketplaces": {}\n}\n',
    "left by the client, alone": '{\n  "enabledPlugins": {}\n}\n',
    "empty with a blank": '{ "enabledPlugins": { }, "extraKnownMarketplaces": {\n} }',
    "others": (
        '{\n  "enabledPlugins": {\n    "a@b": true\n  },\n  "z": 1.50e+3,\n'
        '  "extraKnownMarketplaces": {\n    "b": {"source": {"source": "github", "repo": "o/r"}}\n'
        "  }\n}\n"
    ),
    "not indented": '{\n"a": 1\n}\n',
    "comma first": '{ "a": 1\n, "b": 2\n}\n',
    "blank lines": '{\n\n  "a": 1,\n\n  "b": 2\n\n}\n\n',
    "escapes": '{"\\u0065nabledPlugins": {"x\\"y": false}, "\\ud800": "}{,:", "ž": "漢"}',
    "a key twice": '{"enabledPlugins": {"a": 1}, "enabledPlugins": {"b": 2}}',
    "our words elsewhere": '{"ctxgit": {"context@ctxgit": true}, "a": "ctxgit"}',
}


class TestAFileOfTheUser:
    @pytest.mark.parametrize("name", DOCUMENTS)
    def test_comes_back_byte_for_byte(self, file: Path, market: Path, name: str) -> None:
        before = written(file, DOCUMENTS[name])
        others = json.loads(before.decode("utf-8-sig").strip() or "{}")
        assert enable_plugin(file, market)
        now = parsed(file)
        for outer, inner in OURS.items():
            assert now[outer].pop(inner) == wanted(market)[outer][inner]
            if outer not in others:
                assert now.pop(outer) == {}
        assert now == others
        assert not enable_plugin(file, market)
        assert disable_plugin(file)
        assert file.read_bytes() == before

    def test_ours_stand_in_the_manner_of_the_others(self, file: Path, market: Path) -> None:
        written(file, '{\r\n\t"enabledPlugins": {\r\n\t\t"a@b": true\r\n\t}\r\n}\r\n')
        enable_plugin(file, market)
        path = json.dumps(str(market))
        assert file.read_bytes().decode() == (
            '{\r\n\t"enabledPlugins": {\r\n\t\t"a@b": true,\r\n\t\t"context@ctxgit": true\r\n\t},'
            '\r\n\t"extraKnownMarketplaces": {\r\n\t\t"ctxgit": {\r\n\t\t\t"source": {'
            '\r\n\t\t\t\t"source": "directory",\r\n\t\t\t\t"path": ' + path + "\r\n\t\t\t}"
            "\r\n\t\t}\r\n\t}\r\n}\r\n"
        )

    def test_one_line_stays_one_line(self, file: Path, market: Path) -> None:
        written(file, '{"a": 1}\n')
        enable_plugin(file, market)
        assert file.read_text() == (
            '{"a": 1, "extraKnownMarketplaces": { "ctxgit": {"source": {"source": "directory", '
            f'"path": {json.dumps(str(market))}}}}} }}, '
            '"enabledPlugins": { "context@ctxgit": true }}\n'
        )

    def test_what_the_user_wrote_since_stays(self, file: Path, market: Path) -> None:
        written(file, '{\n  "a": 1\n}\n')
        enable_plugin(file, market)
        text = file.read_text()
        text = text.replace('{\n  "a": 1', '{\n  "b":  [ ],\n  "a": 2')
        text = text.replace('"context@ctxgit"', '"x@y":false , "context@ctxgit"')
        written(file, text)
        assert disable_plugin(file)
        assert file.read_text() == (
            '{\n  "b":  [ ],\n  "a": 2,\n  "enabledPlugins": {\n    "x@y":false\n  }\n}\n'
        )

    def test_ours_first_among_others(self, file: Path, market: Path) -> None:
        ours = json.dumps(wanted(market)["extraKnownMarketplaces"])
        written(file, '{"extraKnownMarketplaces": ' + ours + ', "a": 1}')
        assert disable_plugin(file)
        assert file.read_text() == '{"extraKnownMarketplaces": {}, "a": 1}'

    def test_a_stale_path_is_changed_where_it_stands(self, file: Path, market: Path) -> None:
        written(
            file,
            '{"enabledPlugins":{"context@ctxgit":true,"a":1},"extraKnownMarketplaces":\n'
            ' {"ctxgit":{"autoUpdate":false,"source":{"path":"/old","source":"directory"}}},"z":0}',
        )
        before = file.read_text()
        assert enable_plugin(file, market)
        assert file.read_text() == before.replace('"/old"', json.dumps(str(market)))
        assert not enable_plugin(file, market)

    def test_another_kind_of_source_is_replaced(self, file: Path, market: Path) -> None:
        written(
            file,
            '{"extraKnownMarketplaces": {"ctxgit": {"source": {"source": "github", "repo": "x"}}},'
            ' "enabledPlugins": {"context@ctxgit": false}}',
        )
        assert enable_plugin(file, market)
        assert parsed(file) == wanted(market)

    def test_a_relative_folder_is_written_as_absolute(
        self, file: Path, market: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(market.parent)
        enable_plugin(file, market.relative_to(market.parent))
        assert parsed(file) == wanted(market)

    def test_the_path_is_escaped(self, file: Path, tmp_path: Path) -> None:
        odd = tmp_path / 'q"uo\\te\n漢'
        written(file, '{"a": 1}')
        enable_plugin(file, odd)
        assert parsed(file) == {"a": 1, **wanted(odd)}

    def test_a_symlink_is_written_through(self, file: Path, market: Path, tmp_path: Path) -> None:
        target = tmp_path / "dotfiles.json"
        before = written(target, '{"a": 1}')
        target.chmod(0o640)
        file.parent.mkdir(parents=True)
        file.symlink_to(target)
        enable_plugin(file, market)
        assert file.is_symlink()
        assert parsed(target) == {"a": 1, **wanted(market)}
        assert target.stat().st_mode & 0o777 == 0o640
        disable_plugin(file)
        assert file.is_symlink()
        assert target.read_bytes() == before

    def test_a_symlink_to_nothing_is_that_again(
        self, file: Path, market: Path, tmp_path: Path
    ) -> None:
        target = tmp_path / "dotfiles.json"
        file.parent.mkdir(parents=True)
        file.symlink_to(target)
        assert enable_plugin(file, market)
        assert parsed(target) == wanted(market)
        assert disable_plugin(file)
        assert file.is_symlink()
        assert not target.exists()

    def test_nothing_of_ours(self, file: Path) -> None:
        assert not disable_plugin(file)
        for content in (DOCUMENTS["our words elsewhere"], "// no JSON", "[]", b"\xff"):
            before = written(file, content)
            assert not disable_plugin(file)
            assert file.read_bytes() == before


class TestRefused:
    @pytest.mark.parametrize(
        ("content", "line", "reason"),
        [
            ('{\n  // why\n  "a": 1\n}', 2, "not JSON, expecting property name"),
            ('{\n  "a": 1,\n  b}', 3, "not JSON"),
            ("[]", 1, "not a JSON object"),
            ('{"a": 1}\n{}', 2, "not JSON, extra data"),
            ('{\n"enabledPlugins": [\n]}', 2, '"enabledPlugins" is no object'),
            ('{\n\n"extraKnownMarketplaces": null}', 3, '"extraKnownMarketplaces" is no object'),
            ('{"extraKnownMarketplaces": {"ctxgit": 1}}', 1, '"ctxgit" is no object'),
            (b'{\n"a": "\xff"}', 2, "not UTF-8"),
        ],
    )
    def test_with_the_line_and_no_harm(
        self, file: Path, market: Path, content: str | bytes, line: int, reason: str
    ) -> None:
        before = written(file, content)
        with pytest.raises(SettingsError) as caught:
            enable_plugin(file, market)
        assert f"{file}, line {line}: " in caught.value.message
        assert reason in caught.value.message
        assert file.read_bytes() == before

    def test_too_deep(self, file: Path, market: Path) -> None:
        before = written(file, '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}")
        with pytest.raises(SettingsError, match="too much"):
            enable_plugin(file, market)
        assert file.read_bytes() == before

    def test_taking_out_of_what_is_no_json(self, file: Path) -> None:
        before = written(file, '{"enabledPlugins": {"context@ctxgit": true},}')
        with pytest.raises(SettingsError, match="line 1: not JSON"):
            disable_plugin(file)
        assert file.read_bytes() == before

    def test_a_folder_in_the_way(self, file: Path, market: Path) -> None:
        file.mkdir(parents=True)
        with pytest.raises(SettingsError, match="cannot read"):
            enable_plugin(file, market)

    def test_a_file_in_the_way(self, file: Path, market: Path) -> None:
        file.parent.parent.mkdir()
        file.parent.touch()
        with pytest.raises(SettingsError, match="cannot read"):
            enable_plugin(file, market)

    def test_a_folder_whose_name_is_no_text(self, file: Path, tmp_path: Path) -> None:
        before = written(file, "{}")
        with pytest.raises(SettingsError, match="not UTF-8"):
            enable_plugin(file, tmp_path / "\udcff")
        assert file.read_bytes() == before


BLANKS = st.sampled_from(["", "", " ", "\n", "\n  ", "\r\n\t", "\t \n\n", "\r"])
KEYS = st.sampled_from([*OURS, *OURS.values(), "a", "}", '"', "\\", "ž", ""]) | st.text(max_size=3)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(KEYS, inside, max_size=3),
    max_leaves=8,
)


@st.composite
def settings_documents(draw: st.DrawFn) -> str:
    """A settings file with any content but ours, in any formatting."""
    document = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    for outer, inner in OURS.items():
        if outer in document or draw(st.booleans()):
            others = draw(st.dictionaries(KEYS, VALUES, max_size=3))
            document[outer] = {key: others[key] for key in others if key != inner}
    keys = draw(st.permutations(list(document)))
    mark = draw(st.sampled_from(["", "\ufeff"]))
    blank = draw(BLANKS)
    blanks = draw(st.sampled_from([st.just(blank), BLANKS]))
    text = formatted(draw, {key: document[key] for key in keys}, blanks)
    return mark + draw(BLANKS) + text + draw(BLANKS)


def formatted(draw: st.DrawFn, value: Any, blanks: st.SearchStrategy[str]) -> str:
    def between(parts: list[str], ends: str) -> str:
        inside = ",".join(draw(blanks) + part + draw(blanks) for part in parts)
        return ends[0] + (inside or draw(blanks)) + ends[1]

    if isinstance(value, list):
        return between([formatted(draw, item, blanks) for item in value], "[]")
    if isinstance(value, dict):
        pairs = value.items()
        return between(
            [
                f"{formatted(draw, key, blanks)}{draw(blanks)}:{draw(blanks)}"
                f"{formatted(draw, item, blanks)}"
                for key, item in pairs
            ],
            "{}",
        )
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@given(text=settings_documents())
def test_any_document_gets_our_entries_and_nothing_else_and_comes_back(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    market = tmp_path_factory.getbasetemp() / "market"
    file = tmp_path_factory.mktemp("project") / "settings.local.json"
    before = written(file, text.encode())
    document = json.loads(text.removeprefix("\ufeff"))
    assert enable_plugin(file, market)
    expected = {**document}
    for outer, entry in wanted(market).items():
        expected[outer] = {**document.get(outer, {}), **entry}
    assert parsed(file) == expected
    assert not enable_plugin(file, market)
    assert disable_plugin(file)
    assert file.read_bytes() == before
    assert not disable_plugin(file)
