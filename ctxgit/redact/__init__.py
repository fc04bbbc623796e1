"""The one gate that takes secrets out of text before anything is written to the store.

``redact`` and ``redact_json`` are the whole interface: a secret becomes ``[redacted:<kind>]``.
What a secret looks like is a table, :mod:`ctxgit.redact.rules`. A literal of a rule that does
not occur costs one substring search, and its pattern is never compiled.
"""

from __future__ import annotations

from ctxgit.redact.gate import redact
from ctxgit.redact.json_values import redact_json

__all__ = ["redact", "redact_json"]
