"""The audit of what is shown: computed in a thread, and told wherever it belongs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from PySide6.QtCore import QObject, QTimer

from explorer.audit.losses import Loss, Repair, lost_line
from explorer.audit.overview import Overview, overview
from explorer.audit.own_agent import OwnAgent
from explorer.compaction.profile import BASES, PROFILES, Profile
from explorer.session.kinds import Kind
from explorer.work.changes import Change, CompactionEnded, CountsChanged, EntriesAppended, LeafMoved
from explorer.work.document import Document
from explorer.work.draft_records import recorded_inputs
from explorer.work.effective_rules import recorded_rules
from ui.audit.tab import BRANCHES, LEDGER, NOW, AuditTab
from ui.control.desk import Desk
from ui.inspector.gather import Loader
from ui.main_window import TABS

REST_MS = 150
"""How long nothing must change before the audit is done anew."""
RESTS = 5
"""So many times as long as an audit took nothing is done after a change."""
OLDER = ("pi-0.58",)
"""Further rules than those of the systems, by which sessions can be judged."""


class AuditControl(QObject):
    """Audits the path that the map's selection is on: the active one, or another branch's."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk
        self.repairs: dict[Repair, Callable[[Loss], None]] = {}
        """What can be done about a loss; what is not here is not offered."""
        self._rules = ""
        self._moment = NOW
        self._leaf = -1
        self._found: Overview | None = None
        self._working = False
        self._to_tell = -1
        """A compaction that ended just now, or -1."""
        self._audited: Document | None = None
        self._own: OwnAgent | None = None
        """Whose rules the session shown was compacted by."""
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._audit)
        self._loader = Loader(self)
        self._loader.loaded.connect(self._loaded)
        self._loader.failed.connect(self._failed)
        window, tab = desk.window, desk.window.audit
        tab.entry_requested.connect(window.map.select)
        tab.moment_chosen.connect(self.set_moment)
        tab.rules_chosen.connect(self._rules_chosen)
        tab.repair_requested.connect(self._repair)
        window.entry.verdict.ledger_requested.connect(self.show_ledger)
        window.entry.verdict.entry_requested.connect(window.map.select)
        window.map.selection_changed.connect(self._selected)
        window.inspector.currentChanged.connect(lambda _tab: self._look())
        desk.document_changed.connect(self._document_changed)
        desk.fillers.append(self._document_changed)

    def ready(self) -> None:
        """The workbench is there."""
        assert self._desk.bench is not None
        self._desk.bench.subscribe(self._changed)
        self._tab.offer_repairs(set(self.repairs))

    @property
    def _tab(self) -> AuditTab:
        return self._desk.window.audit

    @property
    def overview(self) -> Overview | None:
        """The audit as it was last done; None while there is none of the session shown."""
        return self._found

    @property
    def leaf(self) -> int:
        """The end of the path that is audited, or -1."""
        return self._leaf

    @property
    def busy(self) -> bool:
        """Whether an audit is under way, or will be in a moment."""
        return self._rest.isActive() or self._working

    # what is looked at ---------------------------------------------------------------------------

    def _document_changed(self) -> None:
        document = self._desk.document
        if document is self._audited:
            return
        self._audited = document
        self._found, self._moment, self._rules = None, NOW, ""
        self._loader.forget()
        self._working = False
        self._rest.setInterval(REST_MS)
        self._desk.window.entry.verdict.show_verdict(None, -1)
        self._tab.clear()
        if document is not None:
            self._own = own = recorded_rules(document)
            profiles = {name: BASES[name] for name in (*PROFILES, *OLDER)}
            self._tab.set_rules(profiles, own, "")
            self._rest.start()

    def _changed(self, change: Change) -> None:
        document = self._desk.document
        watched = EntriesAppended | LeafMoved | CountsChanged | CompactionEnded
        if document is None or not isinstance(change, watched) or change.key != document.key:
            return
        if isinstance(change, CompactionEnded):
            self._to_tell = change.entry
        self._rest.start()

    def _selected(self, entry: int) -> None:
        document = self._desk.document
        if document is None or entry < 0:
            return
        is_compaction = document.tree.kind(entry) is Kind.COMPACTION
        if is_compaction and self._moment != entry:
            self._moment = entry
            self._rest.start()
        elif self._leaf != self._path_leaf(document, entry):
            self._rest.start()
        self._show_selected()
        if document.tree.kind(entry) is Kind.BRANCH_SUMMARY and self._is_shown():
            self._tab.show_page(BRANCHES)

    def _show_selected(self) -> None:
        entry = self._desk.window.map.selected
        if self._found is not None:
            self._tab.show_entry(entry)
        self._show_verdict()

    def _show_verdict(self) -> None:
        """The sentence in the entry's tab tells of now, whatever moment the audit is at."""
        entry, found = self._desk.window.map.selected, self._found
        ledger = None
        if found is not None:
            ledger = found.now
        line, document = self._desk.window.entry.verdict, self._desk.document
        line.show_verdict(ledger, entry)
        if document is not None and 0 <= entry < len(document.tree):
            weights = document.weights
            is_measured = weights is not None and entry < len(weights) and weights[entry] >= 0
            line.show_figures(document.tree, entry, is_measured, document.made_here(entry))

    @staticmethod
    def _path_leaf(document: Document, entry: int) -> int:
        """The end of the path that an entry is on: the active leaf, else its branch's newest."""
        tree, leaf = document.tree, document.leaf
        if entry < 0 or tree.is_ancestor(entry, leaf):
            return leaf
        return tree.deepest_leaf(entry)

    def set_moment(self, compaction: int) -> None:
        """Look at the moment after a compaction, or at ``NOW``."""
        if compaction != self._moment:
            self._moment = compaction
            QTimer.singleShot(0, self, self._audit)

    def _rules_chosen(self, name: str) -> None:
        self._rules = name
        QTimer.singleShot(0, self, self._audit)

    def show_ledger(self) -> None:
        """Turn to the ledger."""
        self._desk.window.inspector.setCurrentIndex(TABS.index("audit"))
        self._tab.show_page(LEDGER)
        self._tab.ledger.table.setFocus()

    def _is_shown(self) -> bool:
        return TABS[self._desk.window.inspector.currentIndex()] == "audit"

    def _look(self) -> None:
        if self._desk.document is not None and (self._found is None or self._is_shown()):
            self._rest.start()

    # the audit -----------------------------------------------------------------------------------

    def profile(self, document: Document) -> Profile:
        """The rules that a session is judged by."""
        if self._rules:
            return BASES[self._rules]
        if self._own is None or document is not self._audited:
            return recorded_rules(document).profile
        return self._own.profile

    def _audit(self) -> None:
        document = self._desk.document
        if document is None:
            return
        leaf = self._path_leaf(document, self._desk.window.map.selected)
        profile, moment = self.profile(document), self._moment
        tree = document.tree
        if moment != NOW and not tree.is_ancestor(moment, leaf):
            moment = NOW
        self._leaf, self._moment = leaf, moment
        weights = document.weights_for(profile)

        def work() -> tuple[Document, Overview, float]:
            started = perf_counter()
            found = overview(
                tree,
                leaf,
                profile,
                moment=None if moment == NOW else moment,
                read=document.payloads.entries,
                recorded=recorded_inputs(tree, document.store.drafts(document.key)),
                weights=weights,
            )
            return document, found, (perf_counter() - started) * 1000

        self._working = True
        self._loader.load(work)

    def _loaded(self, result: tuple[Document, Overview, float]) -> None:
        self._working = False
        document, found, took_ms = result
        # While an agent works on a large session, not every entry is worth an audit of its own.
        self._rest.setInterval(max(REST_MS, int(took_ms * RESTS)))
        if document is not self._desk.document:
            return
        self._found = found
        self._tab.show_overview(found, document.previews)
        self._tell_lost(found)
        self._show_selected()

    def _tell_lost(self, found: Overview) -> None:
        """What tells of a compaction that came by itself says in a line what it lost."""
        entry, self._to_tell = self._to_tell, -1
        strip = self._desk.window.compaction.notice
        line = lost_line(found.losses, entry) if entry >= 0 else ""
        if line and strip.notice is not None:
            told = f"{strip.notice.todo} {line} The tab Audit tells more.".strip()
            strip.show_notice(replace(strip.notice, todo=told))

    def _failed(self, message: str) -> None:
        self._working = False
        self._desk.notice(
            "error", "The audit of this session could not be done.",
            "The session itself is as it was.", "Select another entry to try again.",
            details=message,
        )  # fmt: skip

    # what is done about it -----------------------------------------------------------------------

    def _repair(self, loss: Loss, repair: Repair) -> None:
        if (do := self.repairs.get(repair)) is not None:
            do(loss)
