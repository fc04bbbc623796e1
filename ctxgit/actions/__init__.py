"""One function a verb: takes a place and inputs, returns a result object."""

from __future__ import annotations
