"""The rules: events folded into a state, with no file, clock or git.

``fold`` is the only entrance. The same events in the same order give the same state,
however they are cut into batches; an event that was folded before changes nothing.
"""

from __future__ import annotations

from ctxgit.fold.engine import fold, steps

__all__ = ["fold", "steps"]
