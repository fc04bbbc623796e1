"""From a hook to the spool: events are kept before anything looks at them."""

from __future__ import annotations
