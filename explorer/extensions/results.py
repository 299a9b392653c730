"""What a handler may return (A38 to A42).

Plain dicts with the same names are taken as well, in Python's spelling or in that of the systems
that the events come from (``firstKeptEntryId``, ``shortSummary``, ``preserveData``, ...).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class CompactionResult:
    """A whole compaction, used as it is, without a call to a model."""

    summary: str
    first_kept_entry_id: str = ""
    """Where the kept tail begins; empty: where the preparation has it. It must be a valid cut."""
    tokens_before: int = -1
    """Context tokens before the compaction; negative: as the preparation has them."""
    details: Mapping[str, Any] | None = None
    """Anything of yours that JSON can hold; stored with the entry."""
    short_summary: str = ""
    """Two or three sentences for display."""
    preserve_data: Mapping[str, Any] | None = None
    """What your extension wants to find again on the entry."""
    retained_from_id: str = ""
    """Another name of ``first_kept_entry_id``."""


@dataclass(slots=True)
class SessionBeforeCompactResult:
    """Answer to ``session_before_compact``: cancel, or supply the compaction."""

    cancel: bool = False
    compaction: CompactionResult | Mapping[str, Any] | None = None
    reason: str = ""
    """Why it is cancelled, as a sentence for the person."""


@dataclass(slots=True)
class SessionCompactingResult:
    """Answer to ``session.compacting``: other words, further lines, data to keep."""

    prompt: str | None = None
    """Takes the place of the prompt for the history. A person's instructions still follow it."""
    context: str | Sequence[str] = ()
    """Lines for ``<additional-context>``."""
    preserve_data: Mapping[str, Any] | None = None
    """Stored on the compaction entry."""


@dataclass(slots=True)
class BranchSummaryResult:
    """The summary of a branch, used as it is when the person wants a summary."""

    summary: str
    details: Mapping[str, Any] | None = None


@dataclass(slots=True)
class SessionBeforeTreeResult:
    """Answer to ``session_before_tree``."""

    cancel: bool = False
    reason: str = ""
    summary: BranchSummaryResult | Mapping[str, Any] | str | None = None
    """Used only if the person wants a summary."""
    summarize: bool | None = None
    """False: go without a summary. True: propose one to the person."""
    custom_instructions: str | None = None
    """Takes the place of what the person asked for."""
    replace_instructions: bool | None = None
    """True: the instructions are the whole prompt. False: they follow it."""


@dataclass(slots=True)
class SessionRequestResult:
    """Answer to ``session_request``: another text, as a whole or part by part."""

    prompt: str | None = None
    system: str | None = None
    parts: Sequence[str] | None = None
    """As many as ``event.parts``; the source of every part stays known."""


@dataclass(slots=True)
class SessionSummaryResult:
    """Answer to ``session_summary``: another text for the draft."""

    summary: str | None = None
