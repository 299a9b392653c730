"""The fidelity of the summary that is looked at: audited in a thread, linked to the map."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QWidget

from explorer.audit.findings import Finding, excerpt
from explorer.audit.words import ONE_KIND
from explorer.compaction.partition import Partition
from explorer.services.document import Document
from explorer.services.draft_records import Draft
from explorer.services.summary_audit import Audited, Auditor
from ui.app_state import AppState
from ui.audit.compare.subjects import SummaryKey
from ui.audit.moments import Moments
from ui.audit.tab import FINDINGS
from ui.audit.work import AuditWork, Job
from ui.main_window import TABS
from ui.widgets.loader import Loader

LONGEST = 120
"""Characters of a finding that are shown above the entry."""


class SourcePlaces(QObject):
    """Goes through the places of one finding at a time; the last one comes first."""

    def __init__(self, state: AppState, back: Callable[[], None]) -> None:
        """``back`` brings the list of findings into sight, with the keyboard."""
        super().__init__(state)
        self._state = state
        self._back = back
        self._finding: Finding | None = None
        self._at = -1
        self._pane = state.window.entry
        self._strip = self._pane.place
        self._strip.step_asked.connect(self._step)
        self._strip.back_asked.connect(self._return)

    def show(self, finding: Finding, entry: int = -1) -> None:
        """Select an entry that says it, by default the last one, and mark the place there."""
        spans = finding.fact.spans
        wanted = finding.fact.last if entry < 0 else entry
        if wanted < 0:
            return
        self._finding = finding
        self._at = next((at for at in reversed(range(len(spans))) if spans[at].entry == wanted), -1)
        self._state.window.map.select(wanted)
        self._state.window.inspector.setCurrentIndex(TABS.index("entry"))
        if self._at >= 0:
            self._mark(finding)

    def _mark(self, finding: Finding) -> None:
        spans = finding.fact.spans
        excerpt = " ".join(finding.fact.text[:LONGEST].split())
        words = f"{ONE_KIND[finding.fact.kind].capitalize()} “{excerpt}”"
        self._pane.show_place(spans[self._at], words, self._at + 1, len(spans))
        self._strip.back.setFocus(Qt.FocusReason.OtherFocusReason)

    def _step(self, by: int) -> None:
        finding, at = self._finding, self._at + by
        if finding is None or not 0 <= at < len(finding.fact.spans):
            return
        self._at = at
        self._state.window.map.select(finding.fact.spans[at].entry)
        button = self._strip.previous if by < 0 else self._strip.following
        self._mark(finding)
        if button.isEnabled():
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _return(self) -> None:
        self._pane.forget_place()
        self._back()


ACTS = ("pin", "instruct", "mend")
"""What can be done about a finding."""


class FidelityController(QObject):
    """The page Findings of the tab Audit: audits what is chosen on it as soon as it is seen."""

    compare_asked = Signal(object)
    """The ``SummaryKey`` of the summary that is looked at."""
    recall_asked = Signal(object)
    """The ``SummaryKey`` of the summary that is looked at."""
    act_asked = Signal(str, object, object)
    """(one of ``ACTS``, ``Finding``, the ``Audited`` summary)"""

    def __init__(self, state: AppState, moments: Moments) -> None:
        super().__init__(state)
        self._state = state
        self._moments = moments
        self._tab = state.window.audit
        self.page = self._tab.findings
        self.page.offer_acts(*ACTS)
        self._auditor: Auditor | None = None
        self._audited: Document | None = None
        self._asked: tuple[SummaryKey, str] | None = None
        self._work = AuditWork(self)
        self._work.done.connect(self._audited_now)
        self._asked_from: QWidget | None = None
        """Who had the keyboard when the findings were asked for, until they have it."""
        self._work.failed.connect(self._failed)
        self._work.stopped.connect(self._stopped)
        self._work.progressed.connect(self.page.show_progress)
        self._places = Loader(self)
        self._places.loaded.connect(lambda found: self.page.detail.show_excerpt(*found))
        page = self.page
        page.seen.connect(self.follow)
        page.stop_asked.connect(self._work.stop)
        self._sources = SourcePlaces(state, self._back_to_findings)
        page.source_requested.connect(self._sources.show)
        page.excerpt_asked.connect(self._excerpt)
        page.action_asked.connect(self._act)
        page.compare_asked.connect(lambda: self.compare_asked.emit(moments.summary))
        page.recall_asked.connect(lambda: self.recall_asked.emit(moments.summary))
        page.entry_requested.connect(state.window.map.select)
        state.document_changed.connect(self._other_document)
        state.window.inspector.currentChanged.connect(lambda _tab: self.follow())
        moments.followed.connect(self.follow)

    def show_page(self) -> None:
        """Bring the page into sight, with the keyboard on the findings once they are there."""
        self._asked_from = QApplication.focusWidget()
        self._state.window.show_tab("audit")
        self._tab.show_page(FINDINGS)
        self._focus_findings()

    def _focus_findings(self) -> None:
        """Not where the person has gone on somewhere else meanwhile."""
        if self._asked_from is None or not self.page.has_findings:
            return
        now = QApplication.focusWidget()
        if now in (None, self._asked_from) or self._tab.isAncestorOf(now):
            self.page.show_findings()
        self._asked_from = None

    def _audited_now(self, audited: Audited) -> None:
        document = self._state.document
        why = ""
        if document is not None and audited.entry >= 0:
            why = document.compaction.why_not_mended(audited.entry)
        self.page.show_audit(audited, why)
        self._tab.set_count(FINDINGS, len(audited.fidelity.findings))
        self._focus_findings()

    def auditor(self) -> Auditor | None:
        """Audits the session shown; None while there is none."""
        document = self._state.document
        if document is not self._audited:
            self._audited = document
            self._auditor = None if document is None else Auditor(document)
        return self._auditor

    # what can be looked at -----------------------------------------------------------------------

    def drafts(self) -> list[tuple[Draft, Partition, str]]:
        """The drafts that can be committed, what they were made from, their texts."""
        shown_drafts = self._state.window.compaction.drafts()
        return [
            (draft, shown, text) for draft, shown, text in shown_drafts if isinstance(draft, Draft)
        ]

    def look_at_entry(self, entry: int) -> None:
        """Show the fidelity of a compaction, and the page."""
        self._state.select(entry)
        self._moments.choose(SummaryKey("entry", entry))
        self.show_page()

    def look_at_draft(self) -> None:
        """Show the fidelity of the draft that is shown, and the page."""
        if (draft := self._state.window.compaction.current_draft) is not None:
            self._moments.choose(SummaryKey("draft", draft.id))
        self.show_page()

    def follow(self) -> None:
        """What can be looked at may have changed; audited is only what is visible."""
        wanted = self._moments.summary
        self.page.offer(self._moments.number_of_summaries, self._moments.summary_name)
        if wanted is None:
            self._work.stop()
            self._asked = None
        elif self._state.window.tab == "audit":
            # Also where another page is seen: the number of findings stands above all of them.
            self._audit(wanted)

    # the audit -----------------------------------------------------------------------------------

    def _audit(self, key: SummaryKey) -> None:
        document, auditor = self._state.document, self.auditor()
        if document is None or auditor is None:
            return
        text = next((text for draft, _, text in self.drafts() if draft.id == key.number), "")
        asked = (key, text if key.kind == "draft" else "")
        if asked == self._asked:
            return
        self._asked = asked
        self._tab.set_count(FINDINGS, 0)
        self.page.wait("Reading what was summarized, and comparing the summary with it…")
        self._work.start(self._job(auditor, key))

    def _job(self, auditor: Auditor, key: SummaryKey) -> Job:
        if key.kind == "draft":
            number, (_, shown, text) = next(
                (number, found)
                for number, found in enumerate(self.drafts(), 1)
                if found[0].id == key.number
            )
            return partial(auditor.draft, shown, text, f"draft {number}")
        return partial(auditor.compaction, key.number)

    def _failed(self, message: str) -> None:
        self._asked = None
        self.page.tell(f"This summary could not be audited: {message}. The session is as it was.")

    def _stopped(self) -> None:
        self._asked = None
        self.page.tell("Stopped. Choose a summary above to audit it.")

    def _other_document(self) -> None:
        self._asked = None
        self._work.stop()
        self._places.forget()
        self.auditor()
        self._tab.set_count(FINDINGS, 0)
        self.page.offer(0)

    # from a finding ------------------------------------------------------------------------------

    def _back_to_findings(self) -> None:
        self.show_page()
        self.page.show_findings()

    def _excerpt(self, finding: Finding) -> None:
        """Read what stands around the place that says it, the last one."""
        document = self._state.document
        if document is None or not finding.fact.spans:
            return
        span = finding.fact.spans[-1]
        self._places.load(
            lambda: (finding, excerpt(document.payloads.shown.entry(span.entry), span))
        )

    def _act(self, name: str, finding: Finding) -> None:
        if (shown := self.page.shown) is not None:
            self.act_asked.emit(name, finding, shown)
