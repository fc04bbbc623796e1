"""Reading: log, show, status as result objects."""

from __future__ import annotations
