"""The rules: events folded into a state, with no file, clock or git.

``fold`` is the only entrance. The same events in the same order give the same state,
however they are cut into batches. What two copies of a hook tell counts once; telling which
events were folded already is the business of the commit that holds them.
"""

from __future__ import annotations

from ctxgit.fold.engine import fold, steps

__all__ = ["fold", "steps"]
