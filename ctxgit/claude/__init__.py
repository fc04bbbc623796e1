"""Everything that knows Claude Code: payloads, settings, transcripts."""

from __future__ import annotations
