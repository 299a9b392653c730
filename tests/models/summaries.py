"""Summaries that a provider of a test gives, with every section that is asked for."""

from __future__ import annotations

GOOD = (
    "## Goal\nMake the retry test reliable.\n\n## Constraints & Preferences\n- (none)\n\n"
    "## Progress\n### Done\n- [x] It is reliable.\n\n## Key Decisions\n- (none)\n\n"
    "## Next Steps\n1. Ship it.\n\n## Critical Context\n- (none)"
    # The first part of a split turn is told under headings of its own.
    "\n\n## Original Request\nRun it.\n\n## Early Progress\n- Ran."
    "\n\n## Context for Suffix\n- None."
)
