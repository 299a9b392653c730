"""The audit of the session shown, computed in a thread, and the repairs of a loss."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.audit.findings import Finding, Loss, Repair
from explorer.audit.losses import lost_line
from explorer.audit.overview import Overview, overview
from explorer.audit.source_agent import SourceAgent
from explorer.compaction.profile import BASES, PROFILES, Profile
from explorer.services.changes import CompactionEnded, CountsChanged, EntriesAppended, LeafMoved
from explorer.services.document import Document
from explorer.services.draft_records import recorded_inputs
from explorer.services.effective_rules import recorded_rules
from explorer.services.summary_audit import Audited
from explorer.session.kinds import Kind
from ui.app_state import AppState
from ui.audit.fidelity.control import FidelityController
from ui.audit.moments import Moments
from ui.audit.tab import BRANCHES, AuditTab
from ui.compaction.entry_edits import EntryEditsController
from ui.map.navigation import NavigationController
from ui.widgets.loader import Loader, Read
from ui.widgets.notice import Notice

REST_MS = 150
"""How long nothing must change before the audit is done anew."""
RESTS = 5
"""So many times as long as an audit took nothing is done after a change."""
OLDER = ("pi-0.58",)
"""Further rules than those of the systems, by which sessions can be judged."""


class AuditController(QObject):
    """Audits the path that the map's selection is on: the active one, or another branch's."""

    audited = Signal(object)
    """An ``Overview``: of the session shown, and shown already."""

    def __init__(self, state: AppState, moments: Moments) -> None:
        super().__init__(state)
        self._state = state
        self._moments = moments
        self._rules = ""
        self._leaf = -1
        self._found: Overview | None = None
        self._working = False
        self._to_tell = -1
        """A compaction that ended just now, or -1."""
        self._audited: Document | None = None
        self._recorded: SourceAgent | None = None
        """Whose rules the session shown was compacted by."""
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._audit)
        self._loader = Loader(self)
        self._loader.loaded.connect(self._loaded)
        self._loader.failed.connect(self._failed)
        window, tab = state.window, state.window.audit
        self._verdict = window.entry.verdict
        tab.entry_requested.connect(window.map.select)
        moments.changed.connect(self._audit_soon)
        tab.rules_chosen.connect(self._rules_chosen)
        self._verdict.ledger_requested.connect(self.show_ledger)
        self._verdict.entry_requested.connect(window.map.select)
        window.map.selection_changed.connect(self._selected)
        window.inspector.currentChanged.connect(lambda _tab: self._look())
        state.document_changed.connect(self._document_changed)
        state.fillers.append(self._document_changed)
        for kind in (EntriesAppended, LeafMoved, CountsChanged, CompactionEnded):
            state.bus.on_shown(kind, self._changed)

    @property
    def _tab(self) -> AuditTab:
        return self._state.window.audit

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
        document = self._state.document
        if document is self._audited:
            return
        self._audited = document
        self._found, self._rules = None, ""
        self._loader.forget()
        self._working = False
        self._rest.setInterval(REST_MS)
        self._verdict.show_verdict(None, -1)
        self._tab.clear()
        if document is not None:
            self._recorded = recorded = recorded_rules(document)
            profiles = {name: BASES[name] for name in (*PROFILES, *OLDER)}
            self._tab.set_rules(profiles, recorded, "")
            self._rest.start()

    def _changed(self, change: object) -> None:
        if isinstance(change, CompactionEnded):
            self._to_tell = change.entry
        self._rest.start()

    def _selected(self, entry: int) -> None:
        document = self._state.document
        if document is None or entry < 0:
            return
        if self._leaf != self._moments.leaf:
            self._rest.start()
        self._show_selected()
        if document.tree.kind(entry) is Kind.BRANCH_SUMMARY and self._is_shown():
            self._tab.show_page(BRANCHES)

    def _show_selected(self) -> None:
        entry = self._state.selected
        if self._found is not None:
            self._tab.show_entry(entry)
        self._show_verdict()

    def _show_verdict(self) -> None:
        """The sentence in the entry's tab tells of now, whatever moment the audit is at."""
        entry, found = self._state.selected, self._found
        ledger = None
        if found is not None:
            ledger = found.now
        line, document = self._verdict, self._state.document
        if document is None or not 0 <= entry < len(document.tree):
            line.show_verdict(ledger, entry)
            return
        tree, is_measured = document.tree, document.tokens.counted_by == "tokenizer"
        line.show_verdict(ledger, entry, tree.is_undone(entry, document.leaf))
        line.show_figures(tree, entry, is_measured, document.writer.made_here(entry))

    def _rules_chosen(self, name: str) -> None:
        self._rules = name
        self._audit_soon()

    def _audit_soon(self) -> None:
        QTimer.singleShot(0, self, self._audit)

    def show_ledger(self) -> None:
        """Turn to the ledger."""
        self._state.window.show_tab("audit")
        self._tab.show_ledger()

    def _is_shown(self) -> bool:
        return self._state.window.tab == "audit"

    def _look(self) -> None:
        if self._state.document is not None and (self._found is None or self._is_shown()):
            self._rest.start()

    # the audit -----------------------------------------------------------------------------------

    def profile(self, document: Document) -> Profile:
        """The rules that a session is judged by."""
        if self._rules:
            return BASES[self._rules]
        if self._recorded is None or document is not self._audited:
            return recorded_rules(document).profile
        return self._recorded.profile

    def _audit(self) -> None:
        document = self._state.document
        if document is None:
            return
        tree, profile = document.tree, self.profile(document)
        leaf, moment = self._moments.leaf, self._moments.compaction
        self._leaf = leaf
        weights = document.tokens.weights_for(document.tokens.profile)

        def work(read: Read) -> tuple[Document, Overview, float]:
            started = perf_counter()
            found = overview(
                tree,
                leaf,
                profile,
                moment=moment,
                read=read,
                recorded=recorded_inputs(tree, document.shared.store.drafts(document.key)),
                weights=weights,
            )
            return document, found, (perf_counter() - started) * 1000

        self._working = True
        self._loader.load_from(document.payloads.shown.entries, work)

    def _loaded(self, result: tuple[Document, Overview, float]) -> None:
        self._working = False
        document, found, took_ms = result
        # While an agent works on a large session, not every entry is worth a separate audit.
        self._rest.setInterval(max(REST_MS, int(took_ms * RESTS)))
        if document is not self._state.document:
            return
        self._found = found
        ledger = found.ledger
        is_undone = ledger.in_force >= 0 and ledger.tree.is_undone(ledger.in_force, document.leaf)
        self._tab.show_overview(
            found, document.payloads.shown, document.writer.made_here, is_undone=is_undone,
            draft_words=self._moments.draft_words,
        )  # fmt: skip
        self._tell_lost(found)
        self._show_selected()
        self.audited.emit(found)

    def _tell_lost(self, found: Overview) -> None:
        """What tells of a compaction that came by itself says in a line what it lost."""
        entry = self._to_tell
        if entry > found.leaf:
            return  # The audit was begun before the compaction: the next one has it.
        self._to_tell = -1
        line = lost_line(found.losses, entry) if entry >= 0 else ""
        if line:
            self._state.window.compaction.add_to_notice(f"{line} The tab Audit tells more.")

    def _failed(self, message: str) -> None:
        self._working = False
        self._state.notice(
            "error", "The audit of this session could not be done.",
            "The session itself is as it was.", "Select another entry to try again.",
            details=message,
        )  # fmt: skip


MOST_NAMED = 6
"""Lost entries that an instruction names at most."""
NAMED_UNITS = 160
"""Characters of each."""
LONGEST = 300
"""Characters of a finding that an instruction or a pin names."""
MOST_SHOWN = 80
"""Characters of it that the strip over the panel names."""
NOTHING_YET = "Nothing is stored, and no model is asked, before you press Summarize."


class RepairController(QObject):
    """Leads from a loss to where it can be mended. Nothing is stored, and no model is asked,
    before the person says so there."""

    def __init__(
        self,
        state: AppState,
        navigation: NavigationController,
        entry_edits: EntryEditsController,
        fidelity: FidelityController,
    ) -> None:
        super().__init__(state)
        self._state = state
        self._navigation = navigation
        self._entry_edits = entry_edits
        self._fidelity = fidelity
        self._repairs: dict[Repair, Callable[[Loss], None]] = {
            Repair.CUT: self.cut,
            Repair.PIN: self.pin,
            Repair.INSTRUCTION: self.instruct,
            Repair.RULES: self.use_rules,
            Repair.GO_THERE: self.go_there,
        }
        state.window.audit.offer_repairs(set(self._repairs))
        state.window.audit.repair_requested.connect(self._repair)
        fidelity.act_asked.connect(self._act)

    def _repair(self, loss: Loss, repair: Repair) -> None:
        if (do := self._repairs.get(repair)) is not None:
            do(loss)

    def _act(self, act: str, finding: Finding, audited: Audited) -> None:
        if act == "pin":
            self.pin_finding(finding, audited)
        elif act == "instruct":
            self.instruct_finding(finding, audited)

    # of a loss -----------------------------------------------------------------------------------

    def cut(self, loss: Loss) -> None:
        """Preview the compaction where it was made, cut so that what was lost stays in the tail."""
        if not self._preview(loss.at):
            return
        shown = self._state.window.compaction.partition
        first = loss.entries[0] if loss.entries else -1
        position = shown.path.position(first) if shown is not None and first >= 0 else -1
        if shown is None or position < 0:
            self._lead_to_cut(loss, "Drag the cut on the map to another place.")
            return
        above = [at for at in shown.valid_cuts if at <= position]
        if above and self._set_cut(above[-1]):
            words = f"The cut is before #{shown.path[above[-1]]}: what was lost is kept."
        elif self._set_cut(self._recorded_cut(loss.at)):
            words = f"The cut is where it was: this summary would tell of #{first}."
        else:
            words = f"No cut here keeps #{first}. Pin it, or drag the cut on the map."
        self._lead_to_cut(loss, words)

    def _lead_to_cut(self, loss: Loss, words: str) -> None:
        """The cut on the map, with the keyboard on it; the sizes where there is none."""
        window = self._state.window
        shown = window.compaction.partition
        window.compaction.set_up().show_sizes()
        if shown is not None and shown.cut >= 0:
            window.map.show_cut()
            window.map.setFocus()
            words += " Alt+↑ and Alt+↓ move it."
        self._state.say(words)
        self._tell(f"{_purpose(loss)} {words}", NOTHING_YET, self._show_losses)

    def _set_cut(self, position: int) -> bool:
        """Cut at a position; whether that can be compacted."""
        panel = self._state.window.compaction
        if position >= 0:
            panel.set_cut(position)
        return position >= 0 and panel.cut == position

    def _recorded_cut(self, compaction: int) -> int:
        """The position of a compaction's first kept entry, on the path that is previewed; or -1."""
        document, shown = self._state.document, self._state.window.compaction.partition
        facts = document.tree.columns.compactions.get(compaction) if document is not None else None
        if document is None or shown is None or facts is None:
            return -1
        return shown.path.position(document.tree.index_of(facts.first_kept_id))

    def pin(self, loss: Loss) -> None:
        """Keep what was lost word for word from here on."""
        entries = list(loss.entries)
        self._entry_edits.pin(
            entries,
            f"lost at #{loss.at}",
            lambda: self._lead_to_pins(entries, _purpose(loss), self._show_losses),
        )

    def _lead_to_pins(self, entries: list[int], purpose: str, back: Callable[[], None]) -> None:
        window = self._state.window
        window.show_tab("compaction")
        window.compaction.refresh()
        window.compaction.set_up().show_shaped(entries[0])
        which = f"#{entries[0]} is" if len(entries) == 1 else f"#{entries[0]} and the others are"
        self._tell(
            f"{purpose} {which} pinned: repeated word for word through every compaction.",
            "The pin is an entry of its own; unpin it below, or undo it.",
            back,
        )

    def instruct(self, loss: Loss) -> None:
        """Preview the compaction where it was made, with words on what must be in it."""
        document = self._state.document
        if document is None or not self._preview_as_it_was(loss.at):
            return
        kinds = document.tree.columns.kind
        messages = [e for e in loss.entries if kinds[e] in (Kind.USER, Kind.ASSISTANT)]
        # What the user wrote is what a summary must not miss.
        messages.sort(key=lambda entry: (kinds[entry] != Kind.USER, entry))
        named = sorted(messages[:MOST_NAMED])
        lines = [line[:NAMED_UNITS] for line in document.payloads.shown.previews(named) if line]
        asked = "\n".join(["Make sure that the summary tells of:", *(f"- {x}" for x in lines)])
        if not lines:
            asked = "Write every section of the form, also one for which there is little to say."
        self._state.window.compaction.set_up().add_instruction(asked)
        self._tell(
            f"{_purpose(loss)} What is selected below was added to the instructions.",
            NOTHING_YET, self._show_losses,
        )  # fmt: skip

    def use_rules(self, loss: Loss) -> None:
        """Follow the corrected rules, and preview what they do where the loss happened."""
        self._state.set_profile("explorer")
        if self._preview(loss.at):
            self._state.window.compaction.set_up().show_sizes()
            self._tell(
                f"{_purpose(loss)} Previewed by the corrected rules, where it was made.",
                NOTHING_YET, self._show_losses,
            )  # fmt: skip

    def go_there(self, loss: Loss) -> None:
        """Make the entry the leaf; leaving the branch asks as always."""
        self._navigation.go_to(loss.target)

    # of a finding --------------------------------------------------------------------------------

    def instruct_finding(self, finding: Finding, audited: Audited) -> None:
        """One more line in the instructions, where the summary that lost it was made: a later one
        is not notified any more."""
        panel = self._state.window.compaction
        if audited.entry >= 0:
            if not self._preview_as_it_was(audited.entry):
                return
        else:
            self._show_place(audited.leaf)
        record = finding.fact.replaced_by if finding.fact.stale else finding.fact.text
        panel.set_up().add_instruction(f"Keep word for word: {' '.join(record[:LONGEST].split())}")
        self._state.say("Added to the instructions.")
        self._tell(
            f"{_finding_purpose(finding, audited)} What is selected below was added to the "
            "instructions.", NOTHING_YET, self._fidelity.show_page,
        )  # fmt: skip

    def pin_finding(self, finding: Finding, audited: Audited) -> None:
        """Keep the last entry that states it word for word."""
        entry, purpose = finding.fact.last, _finding_purpose(finding, audited)
        self._entry_edits.pin(
            [entry],
            finding.fact.text[:LONGEST],
            lambda: self._lead_to_pins([entry], purpose, self._fidelity.show_page),
        )

    # where it is shown ---------------------------------------------------------------------------

    def _tell(self, what: str, safe: str, back: Callable[[], None]) -> None:
        notice = Notice("info", what, safe, action="&Back to it", on_action=back)
        self._state.window.compaction.show_notice(notice)

    def _show_losses(self) -> None:
        window = self._state.window
        window.show_tab("audit")
        window.audit.show_losses()

    def _preview_as_it_was(self, compaction: int) -> bool:
        """Show a compaction where it was made, with the cut that it had where that can be: then
        the words alone are other ones."""
        if not self._preview(compaction):
            return False
        self._set_cut(self._recorded_cut(compaction))
        return True

    def _preview(self, entry: int) -> bool:
        """Show the compaction tab at the place where a compaction was made."""
        document = self._state.document
        if document is None:
            return False
        at = entry
        if document.tree.kind(entry) is Kind.COMPACTION:
            at = document.tree.columns.parent[entry]
        return at >= 0 and self._show_place(at)

    def _show_place(self, at: int) -> bool:
        document, window = self._state.document, self._state.window
        if document is None:
            return False
        window.map.select(at)
        window.show_tab("compaction")
        window.compaction.set_at(at)
        return True


def _purpose(loss: Loss) -> str:
    return f"To mend #{loss.at}, “{loss.title[:1].lower()}{loss.title[1:]}”."


def _finding_purpose(finding: Finding, audited: Audited) -> str:
    text = " ".join(finding.fact.text.split())
    short = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return f"To mend {audited.name}, which lost or changed “{short}”."
