"""Going to another entry, with the question about the branch that is left behind."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject

from explorer.compaction.branch_summaries import BranchPreparation
from explorer.models.door import Cancelled, CancelToken
from explorer.session.context import latest_on_path
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError
from explorer.work.document import Document
from explorer.work.drafting import Draft, DraftFailed, Order
from explorer.work.extending import Leaving
from explorer.work.navigation import NavigationPlan
from explorer.work.shaping import CannotShape
from ui.branching.box import decoded
from ui.branching.new_version import NewVersionControl
from ui.branching.standing_still import StandingStill
from ui.control.desk import Desk
from ui.shell.leaving import SUMMARIZE, LeavingDialog
from ui.widgets.figures import count


class NavigationControl(QObject):
    """The leaf moves only when everything that was asked for has worked."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._desk = desk
        self.dialog: LeavingDialog | None = None
        self.still = StandingStill(desk)
        self.new_version = NewVersionControl(desk)

    def ready(self) -> None:
        """The workbench is there."""
        self.new_version.ready()

    def go_to(self, target: int) -> None:
        """Point at an entry (-1: before the first) and go there; an agent that works is stopped
        first, if the person says so."""
        self.still.then(
            "go there", lambda: self._desk.tasks.start("Going there", self._go_to(target))
        )

    async def _go_to(self, target: int) -> None:
        document = self._desk.document
        if document is None:
            return
        plan = document.plan(target)
        if plan.is_noop:
            self._desk.say("This entry is the leaf already.")
        elif not plan.leaves_branch or self._desk.profile.branch_summaries == "off":
            await self._finish(plan, None, None)
        else:
            self._ask(plan)

    def message_of(self, entry: int) -> int:
        """The message of the person that an entry belongs to: itself, or the one that began its
        turn; -1 for none."""
        document = self._desk.document
        if document is None or not 0 <= entry < len(document.tree):
            return -1
        path = document.tree.path(entry)
        at = latest_on_path(document.tree, path, Kind.USER)
        return path[at] if at >= 0 else -1

    def edit_again(self, entry: int) -> None:
        """Write the message of a turn anew: its parent becomes the leaf, and what is sent then
        goes beside it as a branch of its own. Nobody is asked: cancelling goes all the way back."""
        message = self.message_of(entry)
        if message < 0:
            self._desk.say("There is no message of yours here to edit.")
            return
        self.still.then(
            "edit the message",
            lambda: self._desk.tasks.start("Editing the message", self._edit_again(message)),
        )

    async def _edit_again(self, message: int) -> None:
        document = self._desk.document
        if document is None:
            return
        if self.new_version.entry == message:
            self._desk.window.agent.composer.setFocus()
            return
        plan = document.plan(message, anew=True)
        prepared = document.branch_preparation(plan, self._desk.profile, self._desk.settings)
        await self._leave_plainly(plan, prepared)

    def summarize_from(self, entry: int) -> None:
        """Tell all from an entry on by a summary in its place, once the person has seen it."""
        self.still.then("summarize from there", lambda: self._summarize_from(entry))

    def _summarize_from(self, entry: int) -> None:
        document = self._desk.document
        if document is None:
            return
        try:
            plan = document.plan_from(entry, self._desk.profile)
        except CannotShape as error:
            self._desk.say(str(error))
            return
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
        if plan.keeps_shape:
            start = plan.left_behind[0]
            question = f"Summarize from #{start} on: {left}, about {tokens:,} tokens."
            facts = (
                f"Everything before #{start} stays word for word. What follows is told by a summary"
                f" in its place, made of {count(len(prepared.messages), 'message')}: of what was"
                " said and called, not of what tools answered. It is stored as a branch summary,"
                " so pi and oh-my-pi follow it too; the model is told that it came back from a"
                " branch. All of it stays in the session: go to its last entry to have it back."
            )
        dialog = LeavingDialog(
            question,
            facts,
            self._desk.models("summary"),
            self._desk.summary_models()[0],
            self._desk.window,
        )
        self.dialog = dialog
        if plan.keeps_shape:
            dialog.of_a_range()
        if proposed is not None:
            dialog.choices.button(SUMMARIZE).setChecked(True)
        session = _Leaving(self._desk, self, plan, prepared, dialog, proposed)
        dialog.finished.connect(session.closed)
        dialog.open()
        if self._desk.profile.branch_summaries == "on" and not plan.keeps_shape:
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
        if plan.writes_anew:
            await self._write_anew(document, plan)
        self._desk.window.map.select(leaf if leaf >= 0 else plan.target)

    async def _write_anew(self, document: Document, plan: NavigationPlan) -> None:
        pictures, refused = await asyncio.to_thread(decoded, plan.pictures)
        if self._desk.document is not document:
            return
        self.new_version.begin(document, plan, pictures, plan.seen_leaf)
        if refused:
            self._desk.notice(
                "warning", f"Not all pictures of the message are in the box: {'; '.join(refused)}.",
                "The message itself still has them.",
            )  # fmt: skip
        self._desk.say("The message is in the box below, to be written anew.")


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
