"""Summaries beside each other: which ones, another try, and the one that is committed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from explorer.compaction.partition import Partition, is_possible
from explorer.compaction.profile import Settings
from explorer.models.catalogue import cannot_summarize
from explorer.models.client import Cancelled, CancelToken
from explorer.services.changes import DraftChanged, EntriesAppended, LeafMoved
from explorer.services.document import Document
from explorer.services.draft_records import Draft, DraftFailed, SummaryOrder
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError
from ui.app_state import AppState
from ui.audit.compare.recall import RecallComparison
from ui.audit.compare.subjects import (
    CommitPlace,
    ComparisonOutcome,
    Subject,
    SummaryKey,
    comparison_job,
    likely,
    stored_subject,
    stored_summaries,
    summaries_of_branches,
)
from ui.audit.compare.window import MOST, CompareDraftsWindow, TrialWish
from ui.audit.fidelity.control import FidelityController
from ui.audit.work import AuditWork
from ui.branching.difference import (
    DifferenceController,
)
from ui.compaction.controller import CompactionController
from ui.compaction.words import (
    commit_words,
    leaving_words,
)
from ui.shell.dialogs import present
from ui.widgets.steps import StepRunner

FREE = "offline/extractive"
REQUEST_WORDS = 1_500
"""Tokens that the prompt adds to what is summarized, about."""


class CompareDraftsController(QObject):
    """Owns the window in which summaries are compared."""

    def __init__(
        self,
        state: AppState,
        fidelity: FidelityController,
        compaction: CompactionController,
        branches: DifferenceController,
    ) -> None:
        super().__init__(state)
        self._state, self._fidelity = state, fidelity
        self._compaction, self._branches = compaction, branches
        self.window: CompareDraftsWindow | None = None
        self._coming: CompareDraftsWindow | None = None
        """The window while it is made."""
        self._wanted: Sequence[SummaryKey] = ()
        """What is to be checked in it."""
        self._recall: RecallComparison | None = None
        self._turns = StepRunner(self)
        self._cancel: CancelToken | None = None
        self._work = AuditWork(self)
        self._work.done.connect(self._compared)
        self._work.failed.connect(self._failed)
        self._work.stopped.connect(self._stopped)
        branches.summaries_requested.connect(self.compare_branch_summaries)
        fidelity.compare_asked.connect(self.compare)
        state.window.compaction.audit_asked.connect(self._asked_of_draft)
        state.document_changed.connect(self._other_document)
        state.models_changed.connect(self._offer_models)
        state.settings_changed.connect(self._follow_price)
        for kind in (EntriesAppended, LeafMoved, DraftChanged):
            state.bus.on_shown(kind, lambda _change: self._follow_session())

    # what can be compared ------------------------------------------------------------------------

    def subjects(self) -> list[Subject]:
        """Drafts, compactions, branch summaries: the active path's first, the newest first."""
        document = self._state.document
        if document is None:
            return []
        found = [
            Subject(
                SummaryKey("draft", draft.id),
                f"draft {number}",
                ", ".join(part for part in (draft.model, draft.instructions[:60]) if part),
                _place(document, draft.leaf),
            )
            for number, (draft, _, _) in enumerate(self._fidelity.drafts(), 1)
        ]
        return found + [stored_subject(document, entry) for entry in stored_summaries(document)]

    def compare(self, first: SummaryKey | None = None, checked: Sequence[SummaryKey] = ()) -> None:
        """Open the window; ``first`` is checked, with what it is most likely compared with, or
        with ``checked``."""
        document = self._state.document
        if document is None:
            return
        subjects = self.subjects()
        if not subjects:
            self._state.say("There is no summary yet: compact the session, or make a draft.")
            return
        checked = checked or likely(document, [one.key for one in subjects], first)
        if self.window is not None:
            self._present(self.window, checked)
            return
        self._wanted = checked
        if self._coming is None:
            window = self._coming = CompareDraftsWindow(self._sizes, self._state.window)
            self._turns.start(window.building(), lambda: self._built(window))

    def _present(self, window: CompareDraftsWindow, checked: Sequence[SummaryKey]) -> None:
        window.offer(self.subjects(), checked)
        self._offer_models()
        present(window)

    def compare_entry(self, entry: int) -> None:
        """Compare the compaction or branch summary that is selected, if it is one."""
        document = self._state.document
        is_summary = document is not None and 0 <= entry < len(document.tree)
        key = None
        if is_summary and document is not None:
            kind = document.tree.kind(entry)
            key = (
                SummaryKey("entry", entry)
                if kind in (Kind.COMPACTION, Kind.BRANCH_SUMMARY)
                else None
            )
        window = self.window
        if key is not None and window is not None and window.isVisible():
            # It joins what is compared already.
            checked = window.checked()
            if key not in checked:
                window.check([*checked, key])
            window.raise_()
            window.activateWindow()
            return
        self.compare(key)

    def compare_branch_summaries(self, left: int, right: int) -> None:
        """Compare the summaries of two branches, by the branches' last entries."""
        document = self._state.document
        keys = [] if document is None else summaries_of_branches(document, left, right)
        if not keys:
            self._state.say("No branch summary tells of these branches.")
            return
        self.compare(keys[0], keys[:MOST])

    def _built(self, window: CompareDraftsWindow) -> None:
        self.window, self._coming = window, None
        self._recall = RecallComparison(self._state, self._fidelity, window.recall)
        window.compare_asked.connect(self._compare)
        window.entry_requested.connect(self._state.select)
        window.commit_asked.connect(self._commit)
        window.branches_asked.connect(self._compare_branches)
        window.stop_asked.connect(self._work.stop)
        window.trying.try_asked.connect(self.try_another)
        window.trying.stop_asked.connect(self.stop)
        self._work.progressed.connect(window.show_progress)
        self._present(window, self._wanted)

    def _asked_of_draft(self, what: str) -> None:
        if what == "fidelity":
            self._fidelity.look_at_draft()
            return
        if what != "compare":
            return
        draft = self._state.window.compaction.current_draft
        self.compare(SummaryKey("draft", draft.id) if isinstance(draft, Draft) else None)

    def _other_document(self) -> None:
        self.stop()
        self._turns.stop()
        if self._coming is not None:
            self._coming.deleteLater()
            self._coming = None
        self._work.stop()
        if self._recall is not None:
            self._recall.end()
            self._recall = None
        if self.window is not None:
            self.window.close()
            self.window.deleteLater()
            self.window = None

    def _follow_session(self) -> None:
        if self.window is not None and self.window.isVisible():
            self._offer_again()

    def _offer_again(self, further: SummaryKey | None = None) -> None:
        if self.window is None:
            return
        subjects = self.subjects()
        keys = [one.key for one in subjects]
        checked = [key for key in self.window.checked() if key in keys]
        reference = self.window.reference.currentData()
        if reference is not None:
            checked.sort(key=lambda key: key.code != reference)
        if further is not None and further in keys:
            checked = [*checked[:3], further]
        self.window.offer(subjects, checked)
        self._follow_price()

    # the comparison ------------------------------------------------------------------------------

    def _compare(self, keys: Sequence[SummaryKey], reference: SummaryKey | None) -> None:
        document, auditor, window = self._state.document, self._fidelity.auditor(), self.window
        if document is None or auditor is None or window is None:
            return
        window.wait()
        drafts = {draft.id: (draft, shown, text) for draft, shown, text in self._fidelity.drafts()}
        names = {one.key: one.name for one in self.subjects()}
        at = keys.index(reference) if reference in keys else 0
        self._work.start(comparison_job(document, auditor, tuple(keys), at, drafts, names))

    def _compared(self, found: ComparisonOutcome) -> None:
        if self.window is not None and self._recall is not None:
            self.window.show_compared(found, self._recall.can_ask)
            names = {one.key: one.name for one in self.subjects()}
            self._recall.follow([(key, names.get(key, key.code)) for key in found.keys])

    def _failed(self, message: str) -> None:
        if self.window is not None:
            self.window.tell(
                "These summaries could not be compared",
                f"{message}. The session is as it was; check others, or try again.",
            )

    def _stopped(self) -> None:
        if self.window is not None:
            self.window.tell("Stopped", "Nothing was changed. Check a summary to compare again.")

    def _compare_branches(self, keys: Sequence[SummaryKey]) -> None:
        """The branches of two branch summaries, from where each was left."""
        document = self._state.document
        if document is None:
            return
        ends = []
        for key in keys:
            branch = document.tree.columns.branches.get(key.number)
            end = document.tree.index_of(branch.from_id) if branch is not None else -1
            ends.append(end if end >= 0 else key.number)
        if len(ends) == 2:
            self._branches.compare(ends[0], ends[1])

    # another try ---------------------------------------------------------------------------------

    def _offer_models(self) -> None:
        if self.window is None or self._state.bench is None:
            return
        models = [model for model in self._state.model_infos() if not cannot_summarize(model.id)]
        self.window.trying.offer(models, FREE, self._state.profiles)

    def _follow_price(self) -> None:
        if self.window is not None and not self.window.trying.is_running:
            self.window.trying.follow()

    def _preview(self, wish: TrialWish) -> Partition | None:
        """What a try would summarize: where the compaction that is looked at stands, else at the
        leaf."""
        document = self._state.document
        if document is None:
            return None
        at = self._place(document)
        if wish.profile:
            profile = self._state.profiles[wish.profile]
            return document.compaction.preview(at, profile, Settings.of(profile))
        panel = self._state.window.compaction
        if at is None and panel.partition is not None:
            return panel.partition
        return document.compaction.preview(at, self._state.profile, self._state.settings)

    def _place(self, document: Document) -> int | None:
        """The entry below which the checked compactions stand; None is the leaf."""
        if self.window is None:
            return None
        keys = self.window.checked()
        if any(key.kind == "draft" for key in keys):
            return None
        stored = [key.number for key in keys if document.tree.kind(key.number) is Kind.COMPACTION]
        return document.tree.columns.parent[max(stored)] if stored else None

    def _sizes(self, wish: TrialWish) -> tuple[int, int]:
        shown = self._preview(wish)
        if shown is None or not is_possible(shown):
            return -1, 0
        return (
            shown.tokens_summarized + REQUEST_WORDS,
            shown.tokens_after_estimate - shown.tokens_kept,
        )

    def try_another(self, wish: TrialWish) -> None:
        """Make a draft beside those that there are; only ever after a click."""
        shown, window = self._preview(wish), self.window
        if shown is None or window is None or self._cancel is not None or not is_possible(shown):
            return
        self._cancel = CancelToken()
        window.trying.show_running(True, f"{wish.model} is writing…")
        work = self._try(wish, shown, self._cancel)
        self._state.tasks.start("Another summary", work)

    def stop(self) -> None:
        """Cancel the draft that is on its way."""
        if self._cancel is not None:
            self._cancel.cancel()

    async def _try(self, wish: TrialWish, shown: Partition, cancel: CancelToken) -> None:
        document = self._state.document
        assert document is not None
        words, made = "", None
        try:
            order = SummaryOrder(
                wish.instructions, wish.model, lambda _purpose, _piece: None, cancel
            )
            made = await document.compaction.summarize(shown, order)
        except Cancelled:
            words = "Stopped; nothing was stored."
        except (DraftFailed, StoreError, ValueError) as error:
            words = f"No draft: {error}"
        finally:
            self._cancel = None
            if self.window is not None:
                self.window.trying.show_running(False, words)
        if made is not None and self._state.document is document:
            self._state.window.compaction.draft_finished(made, shown)
            self._offer_again(SummaryKey("draft", made.id))

    def _commit(self, subject: Subject) -> None:
        for draft, _, text in self._fidelity.drafts():
            if subject.key == SummaryKey("draft", draft.id):
                self._compaction.commit(draft, text, subject.place.leaving)


def _place(document: Document, at: int) -> CommitPlace:
    """Where a draft of an entry is committed."""
    words = leaving_words(document.tree, at, document.leaf)
    return CommitPlace(commit_words(at, document.leaf), words, document.leaf if words else None)
