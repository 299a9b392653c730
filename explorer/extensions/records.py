"""What each handler did at each call, and what a chain of handlers comes to for each event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct, to_builtins

from explorer.compaction.messages import SourceSpan

Did = Literal[
    "nothing", "cancelled", "result", "context", "instructions", "changed", "error", "timed out"
]
"""``context``: lines, another prompt or data; ``changed``: a request's or summary's text."""
DID_VALUES: tuple[str, ...] = get_args(Did)
TITLES: dict[str, str] = {
    "session_before_compact": "before the compaction",
    "session.compacting": "while asking for the summary",
    "session_compact": "after the compaction",
    "session_before_tree": "before the navigation",
    "session_tree": "after the navigation",
    "session_request": "on the request",
    "session_summary": "on the summary",
}
"""When each event happens, in words for a person."""


class HookRecord(Struct, frozen=True):
    """One call of one handler."""

    extension: str
    event: str
    did: Did
    elapsed_ms: float
    detail: str = ""
    """What exactly, or what went wrong; a sentence or a few words."""
    file: str = ""
    line: int = 0
    """Where it went wrong; 0 when nothing did."""
    used: bool = True
    """False for a result that a later one took the place of, or that was not used."""

    @property
    def failed(self) -> bool:
        return self.did in ("error", "timed out")

    @property
    def sentence(self) -> str:
        """The record for a person, without the name and the time."""
        phrase = {
            "nothing": "had nothing to say",
            "cancelled": "cancelled it",
            "result": "supplied the summary",
            "context": "added to the request",
            "instructions": "gave instructions",
            "changed": "changed the text",
            "error": "failed",
            "timed out": "took too long and was left behind",
        }[self.did]
        parts = [phrase + ("" if self.used else " (not used)")]
        if self.detail:
            parts.append(self.detail)
        if self.line:
            parts.append(f"{self.file}, line {self.line}")
        return ": ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The record as it is kept with a draft."""
        return {**to_builtins(self), "elapsed_ms": round(self.elapsed_ms, 1)}

    @classmethod
    def from_json(cls, data: object) -> HookRecord | None:
        """A record as it was kept; None for what is none."""
        if not isinstance(data, Mapping) or data.get("did") not in DID_VALUES:
            return None
        number, line = data.get("elapsed_ms"), data.get("line")
        return cls(
            str(data.get("extension", "")),
            str(data.get("event", "")),
            data["did"],
            float(number) if isinstance(number, int | float) else 0.0,
            str(data.get("detail", "")),
            str(data.get("file", "")),
            line if isinstance(line, int) else 0,
            data.get("used") is not False,
        )


def records_of(facts: object) -> list[HookRecord]:
    """The records kept with a draft, from its ``facts``."""
    rows = facts.get("extensions") if isinstance(facts, Mapping) else None
    records = (HookRecord.from_json(row) for row in rows) if isinstance(rows, list | tuple) else ()
    return [record for record in records if record is not None]


Records = tuple[HookRecord, ...]


class SuppliedCompaction(Struct, frozen=True):
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


class SuppliedSummary(Struct, frozen=True):
    """A branch summary that an extension made."""

    by: str
    summary: str
    details: Any = None


class BeforeCompact(Struct, frozen=True):
    """What came of ``session_before_compact`` (A38)."""

    records: Records = ()
    cancelled_by: str = ""
    reason: str = ""
    compaction: SuppliedCompaction | None = None


class Compacting(Struct, frozen=True):
    """What came of ``session.compacting`` (A39)."""

    records: Records = ()
    prompt: str | None = None
    context: tuple[str, ...] = ()
    preserve_data: Mapping[str, Any] | None = None


class BeforeTree(Struct, frozen=True):
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


class Request(Struct, frozen=True):
    """What came of ``session_request``."""

    records: Records
    system: str
    prompt: str
    sources: list[SourceSpan]
    blocked_by: str = ""
    """The extension that must see every request and failed: this one must not be sent."""


class SummaryAnswer(Struct, frozen=True):
    """What came of ``session_summary``."""

    records: Records
    summary: str
    blocked_by: str = ""
    """The extension that must see every summary and failed: this one must not be kept."""
