"""From a loss to its repair: the compaction previewed anew where it was made, other words, other
rules, the way back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from explorer.audit.findings import Finding
from explorer.audit.losses import Loss, Repair
from explorer.session.kinds import Kind
from explorer.work.summary_audit import Audited
from ui.audit.tab import LOSSES
from ui.control.auditing import AuditControl
from ui.control.desk import Desk
from ui.control.navigating import NavigationControl
from ui.control.shaping import ShapingControl
from ui.main_window import TABS
from ui.widgets.notice import Notice

MOST_NAMED = 6
"""Lost entries that an instruction names at most."""
NAMED_UNITS = 160
"""Characters of each."""
LONGEST = 300
"""Characters of a finding that an instruction or a pin names."""
TOLD = 80
"""Characters of it that the strip over the panel names."""
NOTHING_YET = "Nothing is stored, and no model is asked, before you press Summarize."


class MendControl(QObject):
    """Leads from a loss to where it can be mended. Nothing is stored, and no model is asked,
    before the person says so there."""

    def __init__(
        self,
        desk: Desk,
        auditing: AuditControl,
        navigation: NavigationControl,
        shaping: ShapingControl,
    ) -> None:
        super().__init__(desk)
        self._desk = desk
        self._navigation = navigation
        self._shaping = shaping
        self.show_fidelity: Callable[[], None] = lambda: None
        """Brings the page of findings into sight."""
        auditing.repairs |= {
            Repair.CUT: self.cut,
            Repair.PIN: self.pin,
            Repair.INSTRUCTION: self.instruct,
            Repair.RULES: self.use_rules,
            Repair.GO_THERE: self.go_there,
        }

    # of a loss -----------------------------------------------------------------------------------

    def cut(self, loss: Loss) -> None:
        """Preview the compaction where it was made, cut so that what was lost is kept."""
        if not self._preview(loss.at):
            return
        shown = self._desk.window.compaction.partition
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
        window = self._desk.window
        shown = window.compaction.partition
        window.compaction.set_up().show_sizes()
        if shown is not None and shown.cut >= 0:
            window.map.show_cut()
            window.map.setFocus()
            words += " Alt+↑ and Alt+↓ move it."
        self._desk.say(words)
        self._tell(f"{_purpose(loss)} {words}", NOTHING_YET, self._show_losses)

    def _set_cut(self, position: int) -> bool:
        """Cut at a position; whether that can be compacted."""
        panel = self._desk.window.compaction
        if position >= 0:
            panel.set_cut(position)
        return position >= 0 and panel.cut == position

    def _recorded_cut(self, compaction: int) -> int:
        """The position from which a compaction kept, on the path that is previewed; or -1."""
        document, shown = self._desk.document, self._desk.window.compaction.partition
        facts = document.tree.columns.compactions.get(compaction) if document is not None else None
        if document is None or shown is None or facts is None:
            return -1
        return shown.path.position(document.tree.index_of(facts.first_kept_id))

    def pin(self, loss: Loss) -> None:
        """Keep what was lost word for word from here on."""
        entries = list(loss.entries)
        self._shaping.pin(
            entries,
            f"lost at #{loss.at}",
            lambda: self._lead_to_pins(entries, _purpose(loss), self._show_losses),
        )

    def _lead_to_pins(self, entries: list[int], purpose: str, back: Callable[[], None]) -> None:
        window = self._desk.window
        window.inspector.setCurrentIndex(TABS.index("compaction"))
        window.compaction.refresh()
        window.compaction.set_up().show_shaped(entries[0])
        which = f"#{entries[0]} is" if len(entries) == 1 else f"#{entries[0]} and the others are"
        self._tell(
            f"{purpose} {which} pinned: told word for word through every compaction.",
            "The pin is an entry of its own; unpin it below, or undo it.",
            back,
        )

    def instruct(self, loss: Loss) -> None:
        """Preview the compaction where it was made, with words on what must be in it."""
        document = self._desk.document
        if document is None or not self._preview_as_it_was(loss.at):
            return
        kinds = document.tree.columns.kind
        said = [e for e in loss.entries if kinds[e] in (Kind.USER, Kind.ASSISTANT)]
        # What the person said is what a summary must not miss.
        said.sort(key=lambda entry: (kinds[entry] != Kind.USER, entry))
        named = sorted(said[:MOST_NAMED])
        lines = [line[:NAMED_UNITS] for line in document.previews(named) if line]
        asked = "\n".join(["Make sure that the summary tells of:", *(f"- {x}" for x in lines)])
        if not lines:
            asked = "Write every section of the form, also one for which there is little to say."
        self._desk.window.compaction.set_up().add_instruction(asked)
        self._tell(
            f"{_purpose(loss)} What is selected below was added to the instructions.",
            NOTHING_YET, self._show_losses,
        )  # fmt: skip

    def use_rules(self, loss: Loss) -> None:
        """Follow the corrected rules, and preview what they do where the loss happened."""
        self._desk.set_profile("explorer")
        if self._preview(loss.at):
            self._desk.window.compaction.set_up().show_sizes()
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
        is not told of it any more."""
        panel = self._desk.window.compaction
        if audited.entry >= 0:
            if not self._preview_as_it_was(audited.entry):
                return
        else:
            self._show_place(audited.leaf)
        said = finding.source.text if finding.source is not None else finding.atom.text
        panel.set_up().add_instruction(f"Keep word for word: {' '.join(said[:LONGEST].split())}")
        self._desk.say("Added to the instructions.")
        self._tell(
            f"{_finding_purpose(finding, audited)} What is selected below was added to the "
            "instructions.", NOTHING_YET, self.show_fidelity,
        )  # fmt: skip

    def pin_finding(self, finding: Finding, audited: Audited) -> None:
        """Keep the entry that said it last word for word."""
        entry, purpose = finding.atom.last, _finding_purpose(finding, audited)
        self._shaping.pin(
            [entry],
            finding.atom.text[:LONGEST],
            lambda: self._lead_to_pins([entry], purpose, self.show_fidelity),
        )

    # where it is shown ---------------------------------------------------------------------------

    def _tell(self, what: str, kept: str, back: Callable[[], None]) -> None:
        notice = Notice("info", what, kept, action="&Back to it", on_action=back)
        self._desk.window.compaction.notice.show_notice(notice)

    def _show_losses(self) -> None:
        window = self._desk.window
        window.inspector.setCurrentIndex(TABS.index("audit"))
        window.audit.show_page(LOSSES)
        window.audit.losses.table.setFocus()

    def _preview_as_it_was(self, compaction: int) -> bool:
        """Show a compaction where it was made, with the cut that it had where that can be: then
        the words alone are other ones."""
        if not self._preview(compaction):
            return False
        self._set_cut(self._recorded_cut(compaction))
        return True

    def _preview(self, entry: int) -> bool:
        """Show the compaction tab at the place where a compaction was made."""
        document = self._desk.document
        if document is None:
            return False
        at = entry
        if document.tree.kind(entry) is Kind.COMPACTION:
            at = document.tree.columns.parent[entry]
        return at >= 0 and self._show_place(at)

    def _show_place(self, at: int) -> bool:
        document, window = self._desk.document, self._desk.window
        if document is None:
            return False
        window.map.select(at)
        window.inspector.setCurrentIndex(TABS.index("compaction"))
        window.compaction.set_at(None if at == document.leaf else at)
        return True


def _purpose(loss: Loss) -> str:
    return f"To mend #{loss.at}, “{loss.title[:1].lower()}{loss.title[1:]}”."


def _finding_purpose(finding: Finding, audited: Audited) -> str:
    text = " ".join(finding.atom.text.split())
    told = text if len(text) <= TOLD else f"{text[:TOLD]}…"
    return f"To mend {audited.name}, which lost or changed “{told}”."
