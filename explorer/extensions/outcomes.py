"""What a chain of handlers comes to, for each event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.compaction.serialization import Span
from explorer.extensions.records import HookRecord

Records = tuple[HookRecord, ...]


@dataclass(frozen=True, slots=True)
class SuppliedCompaction:
    """A compaction that an extension made."""

    by: str
    summary: str
    first_kept_entry_id: str = ""
    """Empty: as the preparation has it."""
    tokens_before: int = -1
    """Negative: as the preparation has it."""
    details: Any = None
    short_summary: str = ""
    preserve_data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SuppliedSummary:
    """A branch summary that an extension made."""

    by: str
    summary: str
    details: Any = None


@dataclass(frozen=True, slots=True)
class BeforeCompact:
    """What came of ``session_before_compact`` (A38)."""

    records: Records = ()
    cancelled_by: str = ""
    reason: str = ""
    compaction: SuppliedCompaction | None = None


@dataclass(frozen=True, slots=True)
class Compacting:
    """What came of ``session.compacting`` (A39)."""

    records: Records = ()
    prompt: str | None = None
    context: tuple[str, ...] = ()
    preserve_data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class BeforeTree:
    """What came of ``session_before_tree`` (A41)."""

    records: Records = ()
    cancelled_by: str = ""
    reason: str = ""
    summary: SuppliedSummary | None = None
    """Only when the person wants one."""
    summarize: bool | None = None
    summarize_by: str = ""
    custom_instructions: str | None = None
    replace_instructions: bool | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What came of ``session_request``."""

    records: Records
    system: str
    prompt: str
    sources: list[Span]
    held_by: str = ""
    """The extension that must see every request and failed: this one must not be sent."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of ``session_summary``."""

    records: Records
    summary: str
    held_by: str = ""
    """The extension that must see every summary and failed: this one must not be kept."""
