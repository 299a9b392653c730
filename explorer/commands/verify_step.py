"""compact --verify: the summary checked and mended before it is stored."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from explorer.compaction.partition import Partition
from explorer.session.changed_lines import changed_lines
from explorer.session.visible_text import visible_line
from explorer.work.document import Document
from explorer.work.draft_records import Draft
from explorer.work.summary_audit import Auditor
from explorer.work.summary_request import DraftFailed, Order
from explorer.work.verification import Mended, check, mend

MOST_LISTED = 12
"""Texts that are listed of what was regained or lost."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What checking and mending came to."""

    draft: Draft
    """The one to be stored."""
    mended: Mended | None
    why: str
    """What was done, as a sentence."""

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"taken": False, "outcome": self.why}
        if self.mended is not None:
            found["taken"] = self.draft.id == self.mended.draft.id
            found |= dict(self.mended.draft.facts.get("verify", {}))
        return found


async def verify(document: Document, shown: Partition, draft: Draft, order: Order) -> Verified:
    """Check a draft, and have it mended where it lost something. The mended one is to be stored
    unless it loses as much as it regains; where the call fails, the draft as it was is. Raises
    Cancelled."""
    auditor = Auditor(document)
    checked = await asyncio.to_thread(check, document, auditor, shown, draft.summary)
    if not checked.lacks:
        return Verified(draft, None, "Nothing was found lost or changed; nothing was asked for.")
    try:
        mended = await mend(document, auditor, draft, checked, order)
    except (DraftFailed, ValueError) as error:
        told = f"The summary could not be mended and is taken as it was: {error}"
        return Verified(draft, None, told)
    if len(mended.lost) >= len(mended.regained):
        await document.drafts.mark(mended.draft, "discarded", mended.draft.summary)
        told = (
            f"The mended summary regains {len(mended.regained)} and loses {len(mended.lost)}; the "
            "first one is taken."
        )
        return Verified(draft, mended, told)
    await document.drafts.mark(draft, "discarded", draft.summary)
    before, after = mended.before.fidelity.survival, mended.after.fidelity.survival
    told = (
        f"Mended: {len(mended.regained)} regained, {len(mended.lost)} lost by it; "
        f"{before:.0%} survived before, {after:.0%} now."
    )
    return Verified(mended.draft, mended, told)


def tell(found: Verified, say: Callable[[str], None]) -> None:
    """Print the differences and what was regained and lost; what was done on standard error."""
    print(visible_line(found.why), file=sys.stderr)
    mended = found.mended
    if mended is None:
        return
    for line in changed_lines(mended.before.text, mended.draft.summary, 1):
        say(visible_line(f"{line.sign} {line.text}"))
    for title, atoms in (("Regained", mended.regained), ("Lost by it", mended.lost)):
        for atom in atoms[:MOST_LISTED]:
            say(visible_line(f"{title}: {atom.kind}: {atom.text}"))
        if len(atoms) > MOST_LISTED:
            say(f"{title}: and {len(atoms) - MOST_LISTED} more")
    say("")
