"""A finished draft as the page of drafts holds it."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from ui.compaction.ports import CompactionDocument, ShownDraft


@dataclass(slots=True)
class Held:
    """A finished draft, what it was made from, and its text as it was edited."""

    draft: ShownDraft
    shown: Partition
    text: str
    tokens: int = -1
    """Of the text; -1 before they are counted."""

    def renew(self, document: CompactionDocument) -> None:
        """Count what it was made from again, when another counter counts by now."""
        prepared = self.shown.preparation
        if not isinstance(prepared, Preparation):
            return
        sent = prepared.profile.weights == "sent"
        if prepared.cuts.view.is_measured == (sent and document.weights is not None):
            return
        again = document.preview(
            prepared.leaf, prepared.profile, prepared.settings, prepared.cut_point
        )
        if isinstance(again.preparation, Preparation):
            self.shown = again

    def problem(self) -> str:
        """Why it cannot be committed; empty when it can."""
        if not self.text.strip():
            return "An empty summary would replace the history with nothing."
        return self.draft.problem if self.text == self.draft.summary else ""
