"""Results that are lists of lines: cut, with the whole in a file and notes of what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.agent.tools.cutting import head
from explorer.agent.tools.desk import Desk, Job
from explorer.agent.tools.port import ToolOutcome


def listed(
    desk: Desk, job: Job, lines: Sequence[str], notes: Sequence[str], details: Mapping[str, Any]
) -> ToolOutcome:
    """Lines up to the limits. What was cut is kept whole. Raises OSError when that fails."""
    whole = "\n".join(lines)
    cut = head(whole)
    if cut.by is None:
        return ToolOutcome(_with_notes(whole, notes), details=details)
    notes = [f"{cut.lines:,} of {len(lines):,} lines shown", *notes]
    kept = dict(details) | {"truncation": cut.details()}
    if desk.outputs is not None:
        path = desk.outputs.keep(job.tool, job.call_id, whole)
        kept["fullOutputPath"] = str(path)
        notes.append(f"all of them: read {path} with offset={cut.lines + 1}")
    return ToolOutcome(_with_notes(cut.text, notes), details=kept)


def _with_notes(text: str, notes: Sequence[str]) -> str:
    return f"{text}\n\n[{'; '.join(notes)}]" if notes else text
