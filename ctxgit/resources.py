"""What the package brings along beside its code: the plugin folder and the store's template.

Both lie at the top of the repository. A wheel carries them inside the package, where they
are found first; in a checkout, and so in an editable install, they are above it.
"""

from __future__ import annotations

from pathlib import Path

from ctxgit.errors import CtxError

_PACKAGE = Path(__file__).resolve().parent


def plugin_dir() -> Path:
    """Return the folder that holds ``.claude-plugin/plugin.json`` and ``hooks/``.

    Raises CtxError if this installation has none.
    """
    return _first_with(".claude-plugin/plugin.json", _PACKAGE / "plugin", _PACKAGE.parent)


def template_dir() -> Path:
    """Return the folder from which a store is made.

    Raises CtxError if this installation has none.
    """
    checkout = _PACKAGE.parent / ".context-store-template"
    return _first_with("", _PACKAGE / "template", checkout)


def _first_with(name: str, *folders: Path) -> Path:
    for folder in folders:
        if (folder / name).exists():
            return folder
    raise CtxError(
        f"this installation of ctxgit lacks {folders[0] / name}", hint="install ctxgit again"
    )
