from __future__ import annotations

from pathlib import Path

import pytest

from ctxgit import paths, resources
from ctxgit.errors import CtxError


def test_the_plugin_folder_is_that_of_the_checkout() -> None:
    folder = resources.plugin_dir()
    assert (folder / ".claude-plugin" / "plugin.json").is_file()
    assert folder == Path(paths.__file__).resolve().parent.parent


class TestResources:
    def test_in_a_wheel_they_lie_in_the_package(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "ctxgit")
        plugin = tmp_path / "ctxgit" / "plugin"
        (plugin / ".claude-plugin").mkdir(parents=True)
        (plugin / ".claude-plugin" / "plugin.json").touch()
        (tmp_path / "ctxgit" / "template").mkdir()
        assert resources.plugin_dir() == plugin
        assert resources.template_dir() == tmp_path / "ctxgit" / "template"

    def test_in_a_checkout_they_lie_above_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "ctxgit")
        with pytest.raises(CtxError, match="lacks"):
            resources.template_dir()
        (tmp_path / ".context-store-template").mkdir()
        assert resources.template_dir() == tmp_path / ".context-store-template"
