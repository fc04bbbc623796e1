from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ctxgit import config
from ctxgit.config import KEYS, Layer, find_key, load_config, set_value
from ctxgit.errors import ConfigError

Files = dict[Layer, Path]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return {layer: tmp_path / layer / "config.toml" for layer in Layer}


def write(files: Files, layer: Layer, text: str) -> Path:
    files[layer].parent.mkdir(exist_ok=True)
    files[layer].write_text(text, encoding="utf-8")
    return files[layer]


# --- layers --------------------------------------------------------------------------------


def test_without_files_all_is_at_its_default(files: Files) -> None:
    settings = load_config(files).settings
    assert {name: setting.value for name, setting in settings.items()} == {
        "auto_init": "off",
        "recap.enabled": True,
        "recap.max_characters": 10_000,
        "hint.max_characters": 2_000,
        "maintenance.packs": 50,
    }
    assert {setting.layer for setting in settings.values()} == {None}
    assert load_config({}).settings == settings


def test_the_nearer_file_wins(files: Files) -> None:
    for number, layer in enumerate(Layer, start=1):
        write(files, layer, f"[hint]\nmax_characters = {number}00\n")
        setting = load_config(files).settings["hint.max_characters"]
        assert (setting.value, setting.layer) == (number * 100, layer)
    files[Layer.MACHINE].unlink()
    files[Layer.USER].unlink()
    assert load_config(files).number("hint.max_characters") == 100


def test_each_key_goes_by_its_own_nearest_file(files: Files) -> None:
    write(files, Layer.SHARED, "[recap]\nenabled = false\nmax_characters = 3000\n")
    write(files, Layer.MACHINE, "[recap]\nenabled = true\n")
    found = load_config(files)
    assert (found.flag("recap.enabled"), found.number("recap.max_characters")) == (True, 3_000)


def test_settings_are_read_by_their_kind(files: Files) -> None:
    write(files, Layer.USER, 'auto_init = "on"\n')
    assert load_config(files).text("auto_init") == "on"


def test_the_stores_format_is_no_setting(files: Files) -> None:
    write(files, Layer.SHARED, "format = 1\n")
    assert "format" not in load_config(files).settings


# --- what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recap.enabled = 1", "recap.enabled in .* is wrong: true or false"),
        ('recap.enabled = "true"', "true or false"),
        ('hint.max_characters = "5"', "hint.max_characters in .* a number from 0 to 10000"),
        ("hint.max_characters = -1", "a number from 0 to 10000"),
        ("hint.max_characters = 10001", "a number from 0 to 10000"),
        ("hint.max_characters = true", "a number"),
        # The frame, the lines on where the project stands, the usage: below this all else goes.
        ("recap.max_characters = 1999", "a number from 2000 to 10000"),
        ("hint.max_characters = 5.0", "a number"),
        ('auto_init = "yes"', 'auto_init in .* is wrong: "off", "on"'),
        ("auto_init = true", '"off", "on"'),
        ("recap = 5", "unknown configuration key recap in "),
        ("hint = [1]", "unknown configuration key hint in "),
        ("recap.enabled.x = 1", "recap.enabled in .* is wrong"),
        ("not toml", "cannot read .*config.toml"),
    ],
)
def test_a_wrong_entry_names_file_key_and_what_is_allowed(
    files: Files, text: str, message: str
) -> None:
    write(files, Layer.USER, text)
    with pytest.raises(ConfigError, match=message) as raised:
        load_config(files)
    assert str(files[Layer.USER]) in raised.value.message


def test_a_misspelt_key_is_told_the_near_one(files: Files) -> None:
    write(files, Layer.USER, "[recap]\nenable = true\n")
    with pytest.raises(ConfigError, match=r"unknown configuration key recap\.enable in ") as raised:
        load_config(files)
    assert raised.value.hint == "did you mean recap.enabled?"


def test_a_key_like_no_other_is_told_all() -> None:
    with pytest.raises(ConfigError) as raised:
        find_key("zzz")
    assert raised.value.hint is not None
    assert all(name in raised.value.hint for name in KEYS)


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (Layer.SHARED, 'auto_init = "on"'),
        (Layer.MACHINE, 'auto_init = "on"'),
        (Layer.SHARED, "[maintenance]\npacks = 2"),
    ],
)
def test_what_may_not_be_shared_is_not_taken_from_there(
    files: Files, layer: Layer, text: str
) -> None:
    write(files, layer, text)
    with pytest.raises(ConfigError, match="is not taken from") as raised:
        load_config(files)
    assert raised.value.hint is not None
    assert "--in user" in raised.value.hint


def test_a_folder_in_place_of_the_file_is_named(files: Files) -> None:
    files[Layer.USER].mkdir(parents=True)
    with pytest.raises(ConfigError, match="cannot read"):
        load_config(files)


# --- typed values --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("recap.enabled", "true", True),
        ("recap.enabled", "false", False),
        ("hint.max_characters", "0", 0),
        ("auto_init", "on", "on"),
    ],
)
def test_a_typed_value_gets_the_keys_kind(name: str, text: str, value: object) -> None:
    parsed = KEYS[name].parse(text)
    assert (parsed, type(parsed)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("recap.enabled", "yes"),
        ("recap.enabled", "1"),
        ("hint.max_characters", ""),
        ("hint.max_characters", "-1"),
        ("hint.max_characters", "1e3"),
        ("hint.max_characters", "true"),
        ("hint.max_characters", "--5"),
        ("hint.max_characters", "\u00b2"),
        ("hint.max_characters", "9" * 9_999),
        ("auto_init", ""),
    ],
)
def test_a_typed_value_of_another_kind_is_told_what_is_allowed(name: str, text: str) -> None:
    with pytest.raises(ValueError, match="is allowed"):
        KEYS[name].parse(text)


# --- set_value -----------------------------------------------------------------------------


def test_setting_makes_the_file_and_says_whether_it_changed(files: Files) -> None:
    path = files[Layer.USER]
    assert set_value(path, Layer.USER, "hint.max_characters", 5)
    assert not set_value(path, Layer.USER, "hint.max_characters", 5)
    assert set_value(path, Layer.USER, "recap.enabled", value=False)
    assert path.read_text() == "[hint]\nmax_characters = 5\n\n[recap]\nenabled = false\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["config.toml"]


def test_setting_keeps_what_else_is_there(files: Files) -> None:
    path = write(files, Layer.SHARED, "format = 1\n[recap]\nenabled = false\n")
    set_value(path, Layer.SHARED, "recap.max_characters", 3_000)
    assert path.read_text() == "format = 1\n\n[recap]\nenabled = false\nmax_characters = 3000\n"


def test_taking_out_leaves_no_empty_table(files: Files) -> None:
    path = write(files, Layer.USER, 'auto_init = "on"\n[hint]\nmax_characters = 5\n')
    assert set_value(path, Layer.USER, "hint.max_characters", None)
    assert path.read_text() == 'auto_init = "on"\n'
    assert not set_value(path, Layer.USER, "hint.max_characters", None)


def test_taking_out_of_no_file_makes_none(files: Files) -> None:
    assert not set_value(files[Layer.USER], Layer.USER, "recap.enabled", None)
    assert not files[Layer.USER].exists()


def test_a_link_to_the_file_stays_a_link(files: Files, tmp_path: Path) -> None:
    dotfile = tmp_path / "dotfiles.toml"
    dotfile.write_text('auto_init = "on"\n')
    files[Layer.USER].parent.mkdir()
    files[Layer.USER].symlink_to(dotfile)
    set_value(files[Layer.USER], Layer.USER, "hint.max_characters", 5)
    assert files[Layer.USER].is_symlink()
    assert dotfile.read_text() == 'auto_init = "on"\n\n[hint]\nmax_characters = 5\n'


def test_a_key_that_is_not_known_is_not_set_but_may_be_taken_out(files: Files) -> None:
    path = write(files, Layer.USER, "[recap]\nenable = true\n")
    with pytest.raises(ConfigError, match="unknown configuration key recap"):
        set_value(path, Layer.USER, "recap.enable", value=False)
    assert path.read_text() == "[recap]\nenable = true\n"
    assert set_value(path, Layer.USER, "recap.enable", None)
    assert path.read_text() == ""


@pytest.mark.parametrize(
    ("layer", "name", "value", "message"),
    [
        (Layer.SHARED, "auto_init", "on", "is not taken from"),
        (Layer.USER, "hint.max_characters", -1, "is wrong"),
        (Layer.USER, "recap.enabled", "no", "is wrong"),
    ],
)
def test_what_may_not_be_set_leaves_the_file_alone(
    files: Files, layer: Layer, name: str, value: config.Value, message: str
) -> None:
    path = write(files, layer, "# mine\n")
    with pytest.raises(ConfigError, match=message):
        set_value(path, layer, name, value)
    assert path.read_text() == "# mine\n"


def test_an_invalid_file_is_left_alone(files: Files) -> None:
    path = write(files, Layer.USER, "a = \n")
    with pytest.raises(ConfigError, match="cannot read"):
        set_value(path, Layer.USER, "recap.enabled", value=True)
    path.write_text("recap = 5\n")
    with pytest.raises(ConfigError, match=r"recap in .* is no table"):
        set_value(path, Layer.USER, "recap.enabled", value=True)
    assert path.read_text() == "recap = 5\n"


def test_setting_is_atomic(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(files, Layer.USER, 'auto_init = "on"\n')

    def fail(_self: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        set_value(path, Layer.USER, "recap.enabled", value=False)
    assert path.read_text() == 'auto_init = "on"\n'
    assert [entry.name for entry in path.parent.iterdir()] == ["config.toml"]
