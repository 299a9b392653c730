"""The recall test of a compaction or a draft: planned in a thread, put to a model, found again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QObject

from explorer.audit.generations import compactions_on_path
from explorer.audit.recall import Recall
from explorer.audit.recall_result import RecallResult, RecallSubject, result_of
from explorer.models.client import CancelToken, ModelInfo
from explorer.services.document import Document
from explorer.services.draft_records import Draft
from explorer.services.recall import (
    RecallContext,
    RecallOrder,
    RecallRefused,
    RecallTest,
    cannot_answer,
    compaction_context,
    draft_context,
    plan_tests,
    text_key,
)
from explorer.services.recall_run import RecordedTest, of_subject, recorded_tests, run_test
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError
from ui.app_state import AppState
from ui.audit.compare.subjects import DraftText, SummaryKey
from ui.audit.fidelity.control import FidelityController
from ui.audit.recall.window import NO_MODEL, RecallWindow
from ui.models.controller import ModelsController
from ui.shell.dialogs import present
from ui.widgets.figures import count, moment
from ui.widgets.loader import Loader
from ui.widgets.notice import Notice
from ui.widgets.steps import StepRunner

STAYS = "What was answered until then is kept; the session is as it was."


class Planned(NamedTuple):
    """What a worker found out of a summary."""

    document: Document
    test: RecallTest | None
    problem: str
    """Why there is no test."""
    runs: Sequence[RecordedTest]
    """The tests that were run, the newest first."""


def askable(document: Document, models: Sequence[ModelInfo]) -> list[tuple[str, str]]:
    """(id, label) of the models that can answer questions as things are."""
    return [
        (one.id, one.label)
        for one in models
        if not cannot_answer(one) and document.shared.client.can_call(one.id)
    ]


def price_of(dollars: float | None) -> str:
    """What a test costs at most, in a word."""
    if dollars is None:
        return "price unknown"
    if dollars == 0:
        return "free"
    return f"${dollars:,.2f} at most" if dollars >= 0.01 else "under $0.01"


def sent_words(document: Document, models: Sequence[str]) -> str:
    """Where the text goes, before it does."""
    places = {model: document.shared.client.destination(model) for model in models if model}
    hosts = list(dict.fromkeys(one.host for one in places.values() if not one.is_here))
    if not hosts:
        return "Nothing leaves this computer."
    return f"The context goes to {' and '.join(hosts)}."


def context_of(document: Document, key: SummaryKey, draft: DraftText | None) -> RecallContext:
    """What a model sees after a compaction, or with a draft. Raises RecallRefused."""
    if key.kind == "entry":
        return compaction_context(document, key.number)
    if draft is None:
        raise RecallRefused("This draft was committed or discarded.")
    return draft_context(document, draft[1], draft[2], draft[0].id)


class RecallController(QObject):
    """Owns the window; one summary at a time."""

    def __init__(
        self, state: AppState, fidelity: FidelityController, models: ModelsController
    ) -> None:
        super().__init__(state)
        self._state, self._fidelity = state, fidelity
        self._open_models: Callable[[], None] = lambda: models.open(purpose="summary")
        self.window: RecallWindow | None = None
        self._coming: RecallWindow | None = None
        """The window while it is made."""
        self._turns = StepRunner(self)
        self._key = SummaryKey("entry", -1)
        self._draft: DraftText | None = None
        self._planned: Planned | None = None
        self._shown = 0
        """The record whose results are shown; 0 for none."""
        self._wants_newest = True
        """Whether the newest results are to be shown, once they are read."""
        self._loader = Loader(self)
        self._loader.loaded.connect(self._loaded)
        self._loader.failed.connect(self._failed)
        state.window.compaction.audit_asked.connect(self._asked_of_draft)
        fidelity.recall_asked.connect(self.open)
        state.document_changed.connect(self._other_document)
        state.models_changed.connect(self._offer_models)

    @property
    def running(self) -> bool:
        return self.window is not None and self.window.busy.running

    def stop(self) -> None:
        """Cancel what is under way; what was answered stays."""
        if self.window is not None:
            self.window.busy.stop()

    def _other_document(self) -> None:
        """What was tested is of a session that is not shown any more."""
        self.stop()
        self._loader.forget()
        self._turns.stop()
        self._draft = self._planned = None
        if self._coming is not None:
            self._coming.deleteLater()
            self._coming = None
        if self.window is not None:
            self.window.close()
            self.window.show_result("", "", None)

    # what is tested ------------------------------------------------------------------------------

    def _asked_of_draft(self, what: str) -> None:
        draft = self._state.window.compaction.current_draft
        if what == "recall" and isinstance(draft, Draft):
            self.open(SummaryKey("draft", draft.id))

    def open_selected(self) -> None:
        """Test the compaction that is selected, else the latest one of the active path."""
        document = self._state.document
        if document is None:
            return
        selected = self._state.selected
        if not (0 <= selected < len(document.tree)) or (
            document.tree.kind(selected) is not Kind.COMPACTION
        ):
            found = compactions_on_path(document.tree, document.leaf)
            if not found:
                self._state.say("No compaction is on the active path: select one on the map.")
                return
            selected = found[-1]
        self.open(SummaryKey("entry", selected))

    def open(self, key: SummaryKey) -> None:
        """Open the window on a summary."""
        if self._state.document is None:
            return
        if self.running:
            self._state.say("Another recall test is being run; wait for it, or stop it.")
            return
        self._key, self._draft = key, self._text_of(key)
        self._shown, self._wants_newest = 0, True
        if self.window is not None:
            self._begin(self.window)
        elif self._coming is None:
            window = self._coming = RecallWindow(self._state.window)
            self._turns.start(window.building(), lambda: self._built(window))

    def _text_of(self, key: SummaryKey) -> DraftText | None:
        """A draft with its text as it is edited by now."""
        drafts = self._fidelity.drafts() if key.kind == "draft" else ()
        return next((one for one in drafts if one[0].id == key.number), None)

    def _built(self, window: RecallWindow) -> None:
        self.window, self._coming = window, None
        window.wish_changed.connect(self._plan)
        window.asked.connect(self._ask)
        window.run_chosen.connect(self._show_run)
        window.models_asked.connect(self._open_models)
        window.entry_requested.connect(self._state.select)
        window.closing.connect(self.stop)
        self._begin(window)

    def _begin(self, window: RecallWindow) -> None:
        window.notice.dismiss()
        self._planned = None
        window.show_result(f"Recall of {self._name()}", "", None)
        present(window)
        self._offer_models()
        window.results.table.setFocus()

    def _name(self) -> str:
        number = self._key.number
        return f"compaction #{number}" if self._key.kind == "entry" else "the draft"

    def _offer_models(self) -> None:
        document = self._state.document
        if self.window is not None and self.window.isVisible() and document is not None:
            chosen = self._state.summary_models()[0]
            self.window.offer_models(askable(document, self._state.model_infos()), chosen)
            self._plan()

    # what it takes -------------------------------------------------------------------------------

    def _order(self) -> RecallOrder:
        assert self.window is not None
        return RecallOrder(*self.window.wish())

    def _plan(self) -> None:
        """Work out the questions and what they cost; nothing is sent for that."""
        document, window = self._state.document, self.window
        if document is None or window is None or window.busy.running:
            return
        key, draft, order = self._key, self._draft, self._order()
        window.wait(self._name())

        def work() -> Planned:
            subject = _subject(key, draft)
            runs = of_subject(recorded_tests(document), subject)
            if not order.model:
                return Planned(document, None, ". ".join(NO_MODEL), runs)
            try:
                (test,) = plan_tests(document, [context_of(document, key, draft)], order)
            except RecallRefused as error:
                return Planned(document, None, str(error), runs)
            return Planned(document, test, "", runs)

        self._loader.load(work)

    def _loaded(self, found: Planned) -> None:
        window = self.window
        if window is None or found.document is not self._state.document:
            return
        self._planned = found
        if found.test is None:
            window.show_problem(found.problem)
        else:
            questions = found.test.questions
            sent = sent_words(found.document, (questions.model, questions.judge))
            views = [view.sentence for view in found.test.views.values() if view.is_cut]
            asked = _number_words(len(questions.cloze), window.wish().questions)
            words = " ".join((asked, found.test.cost_sentence, sent, *views))
            window.show_plan(words, price_of(found.test.dollars), possible=True)
        if self._wants_newest and found.runs:
            self._shown = found.runs[0].id
        self._wants_newest = False
        runs = [(one.id, _run_name(one)) for one in found.runs]
        window.offer_runs([(0, "The questions"), *runs] if found.test else runs, self._shown)
        self._show_run(self._shown)

    def _failed(self, message: str) -> None:
        if self.window is not None:
            self.window.show_problem(f"The questions could not be made: {message}.")

    def _show_run(self, number: int) -> None:
        """Show the results of a record, or the questions that would be asked."""
        window, planned = self.window, self._planned
        if window is None or planned is None:
            return
        self._shown = number
        run = next((one for one in planned.runs if one.id == number), None)
        if run is not None:
            window.show_result(run.result.headline, self._facts(run), run.result)
        elif planned.test is not None:
            empty = result_of(planned.test.questions, {})
            window.show_result(f"Recall of {self._name()}", "", empty)
        else:
            window.show_result(f"Recall of {self._name()}", "", None)

    def _facts(self, run: RecordedTest) -> str:
        questions = run.result.questions
        graded = f", graded by {questions.judge}" if questions.judge else ""
        words = [f"{self._name()}, {questions.model}{graded}", moment(run.time_ms)]
        if run.result.dollars is not None:
            words.append(f"it cost ${run.result.dollars:,.4f}")
        if run.result.problem:
            words.append(f"ended early: {run.result.problem}")
        line = " · ".join(words)
        return line[:1].upper() + line[1:]

    # the run -------------------------------------------------------------------------------------

    def _ask(self) -> None:
        window, planned = self.window, self._planned
        if window is None or planned is None or planned.test is None or window.busy.running:
            return
        now = self._text_of(self._key)
        if now is not None and self._draft is not None and now[2] != self._draft[2]:
            # Another text than that of which the cost was shown.
            self._draft = now
            self._plan()
            window.notice.show_notice(
                Notice("info", "The draft was edited meanwhile.", "Nothing was sent.",
                       "Ask again to test it as it is now.")
            )  # fmt: skip
            return
        work = self._run(window, planned.document, planned.test, self._order())
        self._state.tasks.start("The recall test", work)

    async def _run(
        self, window: RecallWindow, document: Document, test: RecallTest, order: RecallOrder
    ) -> None:
        calls, title = test.questions.calls, f"Asking {order.model}"
        window.show_running(True)
        window.show_result(title, "", result_of(test.questions, {}))
        window.show_progress(0, calls)

        self._shown, self._wants_newest = 0, False

        def answered(result: RecallResult) -> None:
            self._wants_newest = True
            window.show_progress(result.calls_done, calls)
            window.show_result(title, "", result)

        async def work(cancel: CancelToken) -> RecallResult:
            wanted = replace(
                order, cancel=cancel, on_progress=window.busy.label.setText, on_result=answered
            )
            return await run_test(document, test, wanted)

        notice = None
        try:
            result = await window.busy.run(title, work)
            if result is None:
                notice = Notice("info", "Stopped.", STAYS)
            elif result.problem:
                notice = Notice("error", result.problem, STAYS, "Try again, or ask another model.")
        except (StoreError, ValueError) as error:
            notice = Notice("error", str(error), "The session is as it was.")
        window.show_running(False)
        if document is not self._state.document:
            return
        if notice is not None:
            window.notice.show_notice(notice)
        # The records are read again: what was answered is shown as it is found later.
        self._plan()


def _subject(key: SummaryKey, draft: DraftText | None) -> RecallSubject:
    if key.kind == "entry":
        return RecallSubject(key.number)
    return RecallSubject(draft=key.number, text=text_key(draft[2]) if draft else "")


def _number_words(number: int, wanted: int) -> str:
    words = count(number, "question")
    return f"{words}." if number == wanted else f"{words}, all that can be made of {wanted} wanted."


def _run_name(run: RecordedTest) -> str:
    result = run.result
    model = result.questions.model.rpartition("/")[2]
    right = f"{result.count('after', Recall.RIGHT)} of {result.asked('after')} · "
    return f"{right if result.asked('after') else ''}{model} · {moment(run.time_ms)}"
