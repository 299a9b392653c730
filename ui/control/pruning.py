"""Pruning on a person's word: the plan shown, asked about, appended."""

from __future__ import annotations

from PySide6.QtCore import QObject

from explorer.compaction.pruning import PruningPlan
from explorer.store.rows import StoreError
from explorer.work.edits import pruning_of
from ui.compaction.prune_dialog import PruneDialog
from ui.control.desk import Desk
from ui.widgets.figures import count, full


class PruningControl(QObject):
    """One dialog at a time."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk
        self.dialog: PruneDialog | None = None
        desk.document_changed.connect(self.close)

    def ask(self) -> None:
        """Show what pruning at the leaf would do."""
        desk, document = self._desk, self._desk.document
        if document is None or self.dialog is not None:
            return
        if desk.agent_running:
            desk.say("The agent is still answering; stop it first.")
            return
        profile = desk.profile
        size = document.context_size(profile)
        lent = ""
        if profile.pruning is None:
            lent = f"{profile.title} prunes nothing by itself; the corrected rules are used."
        self.dialog = PruneDialog(
            document.tree,
            document.previews,
            lambda policy: document.edits.plan_pruning(profile, policy),
            pruning_of(profile),
            lent,
            (size.tokens, size.source),
            desk.window,
        )
        self.dialog.prune_chosen.connect(self._prune)
        self.dialog.entry_requested.connect(desk.window.map.select)
        self.dialog.finished.connect(self._closed)
        self.dialog.open()

    def close(self) -> None:
        """What is shown is not of this session any more."""
        if self.dialog is not None:
            self.dialog.reject()

    def _closed(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    def _prune(self, plan: PruningPlan) -> None:
        self._desk.tasks.start("Pruning", self._append(plan))

    async def _append(self, plan: PruningPlan) -> None:
        desk, document = self._desk, self._desk.document
        if document is None:
            return
        try:
            entry = await document.edits.prune(plan)
        except (ValueError, StoreError) as error:
            desk.notice("error", str(error), "Nothing was pruned.")
            return
        desk.window.map.select(entry)
        desk.say(
            f"{count(len(plan.results), 'tool result')} pruned, {full(plan.saved)} tokens saved; "
            "undo takes it back."
        )
