"""From a finding to where its entries say it, marked in the inspector, and back to the list."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt

from explorer.audit.findings import Finding
from ui.app_state import Desk
from ui.audit.fidelity.words import ONE_KIND
from ui.main_window import TABS

LONGEST = 120
"""Characters of a finding that are told above the entry."""


class SourcePlaces(QObject):
    """Goes through the places of one finding at a time; the last one said comes first."""

    def __init__(self, desk: Desk, back: Callable[[], None]) -> None:
        """``back`` brings the list of findings into sight, with the keyboard."""
        super().__init__(desk)
        self._desk = desk
        self._back = back
        self._finding: Finding | None = None
        self._at = -1
        strip = desk.window.entry.place
        strip.step_asked.connect(self._step)
        strip.back_asked.connect(self._return)

    def show(self, finding: Finding, entry: int = -1) -> None:
        """Select an entry that says it, by default the last one, and mark the place there."""
        spans = finding.atom.spans
        wanted = finding.atom.last if entry < 0 else entry
        if wanted < 0:
            return
        self._finding = finding
        self._at = next((at for at in reversed(range(len(spans))) if spans[at].entry == wanted), -1)
        self._desk.window.map.select(wanted)
        self._desk.window.inspector.setCurrentIndex(TABS.index("entry"))
        if self._at >= 0:
            self._mark(finding)

    def _mark(self, finding: Finding) -> None:
        pane, spans = self._desk.window.entry, finding.atom.spans
        said = " ".join(finding.atom.text[:LONGEST].split())
        words = f"{ONE_KIND[finding.atom.kind].capitalize()} “{said}”"
        pane.show_place(spans[self._at], words, self._at + 1, len(spans))
        pane.place.back.setFocus(Qt.FocusReason.OtherFocusReason)

    def _step(self, by: int) -> None:
        finding, at = self._finding, self._at + by
        if finding is None or not 0 <= at < len(finding.atom.spans):
            return
        self._at = at
        self._desk.window.map.select(finding.atom.spans[at].entry)
        pane = self._desk.window.entry.place
        button = pane.previous if by < 0 else pane.following
        self._mark(finding)
        if button.isEnabled():
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _return(self) -> None:
        self._desk.window.entry.forget_place()
        self._back()
