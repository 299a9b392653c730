"""From a loss to its repair: the compaction previewed anew where it was made, other words, other
rules, the way back."""

from __future__ import annotations

from PySide6.QtCore import QObject

from explorer.audit.losses import Loss, Repair
from explorer.compaction.prepare import Refusal
from explorer.session.kinds import Kind
from ui.control.auditing import AuditControl
from ui.control.desk import Desk
from ui.control.navigating import NavigationControl
from ui.control.shaping import ShapingControl
from ui.main_window import TABS

MOST_NAMED = 6
"""Lost entries that an instruction names at most."""
NAMED_UNITS = 160
"""Characters of each."""


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
        auditing.repairs |= {
            Repair.CUT: self.cut,
            Repair.PIN: self.pin,
            Repair.INSTRUCTION: self.instruct,
            Repair.RULES: self.use_rules,
            Repair.GO_THERE: self.go_there,
        }

    def cut(self, loss: Loss) -> None:
        """Preview the compaction where it was made, cut so that what was lost is kept."""
        if not self._preview(loss):
            return
        shown = self._desk.window.compaction.partition
        first = loss.entries[0] if loss.entries else -1
        position = shown.path.position(first) if shown is not None and first >= 0 else -1
        if shown is None or position < 0:
            self._desk.say("Drag the cut on the map to another place.")
            return
        above = [at for at in shown.valid_cuts if at <= position]
        if above and self._set_cut(above[-1]):
            self._desk.say(f"The cut is before #{shown.path[above[-1]]}: what was lost is kept.")
        elif self._set_cut(self._recorded_cut(loss)):
            self._desk.say(f"The cut is where it was: this summary would tell of #{first}.")
        else:
            self._desk.say(f"No cut here keeps #{first}. Pin it, or drag the cut on the map.")

    def _set_cut(self, position: int) -> bool:
        """Cut at a position; whether that can be compacted."""
        panel = self._desk.window.compaction
        if position >= 0:
            panel.set_cut(position)
        return position >= 0 and panel.cut == position

    def _recorded_cut(self, loss: Loss) -> int:
        """The position from which the compaction kept, on the path that is previewed; or -1."""
        document, shown = self._desk.document, self._desk.window.compaction.partition
        facts = document.tree.columns.compactions.get(loss.at) if document is not None else None
        if document is None or shown is None or facts is None:
            return -1
        return shown.path.position(document.tree.index_of(facts.first_kept_id))

    def pin(self, loss: Loss) -> None:
        """Keep what was lost word for word from here on."""
        self._shaping.pin(list(loss.entries), f"lost at #{loss.at}")

    def instruct(self, loss: Loss) -> None:
        """Preview the compaction where it was made, with words on what must be in it."""
        document = self._desk.document
        if document is None or not self._preview(loss):
            return
        shown = self._desk.window.compaction.partition
        if shown is not None and isinstance(shown.preparation, Refusal):
            # With the sizes of now there would be nothing to ask for.
            self._set_cut(self._recorded_cut(loss))
        kinds = document.tree.columns.kind
        said = [e for e in loss.entries if kinds[e] in (Kind.USER, Kind.ASSISTANT)]
        # What the person said is what a summary must not miss.
        said.sort(key=lambda entry: (kinds[entry] != Kind.USER, entry))
        named = sorted(said[:MOST_NAMED])
        lines = [line[:NAMED_UNITS] for line in document.previews(named) if line]
        box = self._desk.window.compaction.setup.instructions
        asked = "\n".join(["Make sure that the summary tells of:", *(f"- {x}" for x in lines)])
        if not lines:
            asked = "Write every section of the form, also one for which there is little to say."
        before = box.toPlainText().strip()
        box.setPlainText(f"{before}\n\n{asked}" if before else asked)
        self._desk.window.compaction.set_up()

    def use_rules(self, loss: Loss) -> None:
        """Follow the corrected rules, and preview what they do where the loss happened."""
        self._desk.set_profile("explorer")
        self._preview(loss)

    def go_there(self, loss: Loss) -> None:
        """Make the entry the leaf; leaving the branch asks as always."""
        self._navigation.go_to(loss.target)

    def _preview(self, loss: Loss) -> bool:
        """Show the compaction tab at the place where a compaction was made."""
        document, window = self._desk.document, self._desk.window
        if document is None:
            return False
        tree = document.tree
        at = loss.at
        if tree.kind(loss.at) is Kind.COMPACTION:
            at = tree.columns.parent[loss.at]
        if at < 0:
            return False
        window.map.select(at)
        window.inspector.setCurrentIndex(TABS.index("compaction"))
        window.compaction.set_at(None if at == document.leaf else at)
        return True
