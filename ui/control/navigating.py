"""Going to another entry, with the question about the branch that is left behind."""

from __future__ import annotations

from PySide6.QtCore import QObject

from explorer.compaction.branches import BranchPreparation
from explorer.models.door import Cancelled, CancelToken
from explorer.store.rows import StoreError
from explorer.work.drafting import Draft, DraftFailed, Order
from explorer.work.extending import Leaving
from explorer.work.navigation import NavigationPlan
from ui.control.desk import Desk
from ui.shell.leaving import SUMMARIZE, LeavingDialog
from ui.widgets.figures import count


class NavigationControl(QObject):
    """The leaf moves only when everything that was asked for has worked."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk
        self.dialog: LeavingDialog | None = None

    def go_to(self, target: int) -> None:
        """Point at an entry (-1: before the first) and go there."""
        self._desk.tasks.start("Going there", self._go_to(target))

    async def _go_to(self, target: int) -> None:
        document = self._desk.document
        if document is None:
            return
        if self._desk.agent_running:
            self._desk.notice(
                "info", "The agent is still answering.", "The leaf has not moved.",
                "Stop it first (Esc in the message box), then go there.",
            )  # fmt: skip
            return
        plan = document.plan(target)
        if plan.is_noop:
            self._desk.say("This entry is the leaf already.")
        elif not plan.leaves_branch or self._desk.profile.branch_summaries == "off":
            await self._finish(plan, None, None)
        else:
            self._ask(plan)

    def _ask(self, plan: NavigationPlan, proposed: Leaving | None = None) -> None:
        """Ask what is to become of the branch. ``proposed``: an extension asks for a summary, of
        a person who wanted none."""
        document = self._desk.document
        assert document is not None
        prepared = document.branch_preparation(plan, self._desk.profile, self._desk.settings)
        left = count(len(plan.left_behind), "entry", "entries")
        question = f"You leave {left} of this branch behind."
        if proposed is not None:
            who = proposed.outcome.summarize_by
            question = f"The extension {who} asks for a summary of this branch. {question}"
        weigh = self._desk.window.map.model.weights
        tokens = sum(weigh[entry] for entry in plan.left_behind)
        facts = (
            f"About {tokens:,} tokens since #{plan.left_behind[0]}. They stay in the session and "
            "can be gone to again; the model no longer sees them unless a summary is stored where "
            f"you go. It would be made of {count(len(prepared.messages), 'message')}: of what was "
            "said and called, not of what tools answered."
        )
        dialog = LeavingDialog(
            question,
            facts,
            self._desk.models("summary"),
            self._desk.summary_models()[0],
            self._desk.window,
        )
        self.dialog = dialog
        if proposed is not None:
            dialog.choices.button(SUMMARIZE).setChecked(True)
        session = _Leaving(self._desk, self, plan, prepared, dialog, proposed)
        dialog.finished.connect(session.closed)
        dialog.open()
        if self._desk.profile.branch_summaries == "on":
            dialog.summarize_at_once()

    async def _leave_plainly(self, plan: NavigationPlan, prepared: BranchPreparation) -> None:
        """Go without a summary, unless an extension asks for one: then the person is asked."""
        document = self._desk.document
        if document is None:
            return
        try:
            asked = await document.before_leaving(plan, False, prepared=prepared)
        except ValueError as error:
            self._desk.notice("error", str(error), "The leaf has not moved.")
            return
        if asked.outcome.summarize:
            self._ask(plan, asked)
        else:
            await self._finish(plan, None, None, asked)

    async def _finish(
        self,
        plan: NavigationPlan,
        draft: Draft | None,
        text: str | None,
        asked: Leaving | None = None,
    ) -> None:
        document = self._desk.document
        if document is None:
            return
        try:
            leaf = await document.navigate(plan, draft, text, asked)
        except (ValueError, StoreError) as error:
            self._desk.notice("error", str(error), "The leaf has not moved.")
            return
        window = self._desk.window
        if plan.composer_text:
            window.agent.composer.setPlainText(plan.composer_text)
            window.agent.composer.setFocus()
            self._desk.say("The message is in the box below, to be written anew.")
        window.map.select(leaf if leaf >= 0 else plan.target)


class _Leaving(QObject):
    """One run of the question: what was chosen, and the summary that is being made."""

    def __init__(
        self,
        desk: Desk,
        control: NavigationControl,
        plan: NavigationPlan,
        prepared: BranchPreparation,
        dialog: LeavingDialog,
        proposed: Leaving | None,
    ) -> None:
        super().__init__(dialog)
        self._desk, self._control, self._plan = desk, control, plan
        self._prepared, self._dialog = prepared, dialog
        self._cancel = CancelToken()
        self._draft: Draft | None = None
        self._proposed = proposed
        dialog.plain_chosen.connect(lambda: self._finish(None))
        dialog.summary_chosen.connect(self._summarize)
        dialog.store_chosen.connect(self._finish)

    def _finish(self, text: str | None) -> None:
        control, plan = self._control, self._plan
        if text is None and self._proposed is None:
            work = control._leave_plainly(plan, self._prepared)
        else:
            draft = self._draft if text is not None else None
            work = control._finish(plan, draft, text, self._proposed)
        self._desk.tasks.start("Going there", work)

    def _summarize(self, instructions: str, model: str) -> None:
        self._cancel = CancelToken()
        self._desk.tasks.start("The branch summary", self._run(instructions, model))

    async def _run(self, instructions: str, model: str) -> None:
        document = self._desk.document
        if document is None:
            return
        order = Order(
            instructions,
            model,
            lambda _purpose, piece: self._dialog.feed(piece),
            self._cancel,
            fallbacks=self._desk.after(model),
            on_restart=lambda _purpose: self._dialog.stream.clear(),
        )
        try:
            draft = await document.summarize_branch(self._plan, self._prepared, order)
        except Cancelled:
            self._desk.say("Cancelled; the leaf has not moved.")
            return
        except (DraftFailed, StoreError, ValueError) as error:
            self._dialog.show_failure(str(error))
            return
        self._draft = draft
        size = document.count_text(draft.summary, self._desk.profile)
        self._dialog.show_summary(
            draft.summary,
            f"This is what the new branch will see, about {size:,} tokens by {draft.model}. "
            "Change what you like; it is stored when you go.",
        )

    def closed(self) -> None:
        """The dialog is gone, by Escape too: stop what still runs."""
        self._cancel.cancel()
        self._control.dialog = None
        self._dialog.deleteLater()
