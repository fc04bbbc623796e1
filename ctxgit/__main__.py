"""``python -m ctxgit``."""

from __future__ import annotations

from ctxgit.cli import main

main()
