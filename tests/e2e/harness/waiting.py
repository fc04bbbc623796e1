"""Waiting for something to become true, with a deadline."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAUSE_S = 0.05
DEADLINE_S = 30.0


def eventually(condition: Callable[[], object], seconds: float = DEADLINE_S) -> bool:
    """Return whether ``condition`` became true within ``seconds``; look every 50 ms."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(PAUSE_S)
    return True
