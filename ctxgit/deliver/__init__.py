"""What the model gets, planned within a budget; pure."""

from __future__ import annotations
