"""The hidden repository: what of a state goes where, and git around it."""

from __future__ import annotations
