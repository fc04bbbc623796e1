"""Options that many verbs have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer  # noqa: TID253 - as in app.py, which imports this

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", help="Use this store, not the project's.", show_default=False),
]
SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        help="The session: its id, its branch, or the beginning of one.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
