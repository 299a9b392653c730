"""The recall of the summaries that are compared: the same questions, asked for those missing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from explorer.models.client import Cancelled, CancelToken
from explorer.services.document import Document
from explorer.services.recall import RecallOrder, RecallRefused, RecallTest, plan_tests
from explorer.services.recall_run import of_subject, recorded_tests, run_test
from explorer.session.kinds import Kind
from explorer.store.rows import StoreError
from ui.app_state import AppState
from ui.audit.compare.recall_page import ComparedRecall, RecallPage, RecallSide
from ui.audit.compare.subjects import DraftText, SummaryKey
from ui.audit.fidelity.control import FidelityController
from ui.audit.recall.controller import askable, context_of, price_of, sent_words
from ui.widgets.loader import Loader

NO_BRANCHES = "Branch summaries replace nothing in a context: compare compactions and drafts."


class RecallComparison(QObject):
    """Fills one page as long as its window is there."""

    def __init__(self, state: AppState, fidelity: FidelityController, page: RecallPage) -> None:
        super().__init__(page)
        self._state, self._fidelity = state, fidelity
        self._page: RecallPage | None = page
        self._wanted: list[tuple[SummaryKey, str]] = []
        self._ended = ""
        """How the last run ended, in words."""
        self._cancel: CancelToken | None = None
        self._loader = Loader(self)
        self._loader.loaded.connect(self._loaded)
        self._loader.failed.connect(self._failed)
        page.seen.connect(self._plan)
        page.model_chosen.connect(self._plan)
        page.pressed.connect(self._press)
        page.entry_requested.connect(state.select)

    def follow(self, wanted: Sequence[tuple[SummaryKey, str]]) -> None:
        """Other summaries are compared, each with its name."""
        if self._wanted != list(wanted) and self._page is not None and self._cancel is None:
            self._page.show_found(ComparedRecall(()), "", "")
        self._wanted = list(wanted)
        self._plan()

    @property
    def can_ask(self) -> bool:
        """Whether there is a model that can be asked."""
        document = self._state.document
        return document is not None and bool(askable(document, self._state.model_infos()))

    def end(self) -> None:
        """The page goes: what runs is stopped, what was answered is kept."""
        self._page = None
        self._loader.forget()
        if self._cancel is not None:
            self._cancel.cancel()

    # what is asked -------------------------------------------------------------------------------

    def _plan(self) -> None:
        """Make the questions, and find what was asked before; only where it is visible."""
        document, page = self._state.document, self._page
        if document is None or page is None or page.is_running or not page.isVisible():
            return
        models = askable(document, self._state.model_infos())
        page.offer(models, self._state.summary_models()[0])
        model = str(page.model.currentData() or "")
        if not model:
            page.show_no_model()
            return
        tree = document.tree
        branches = [
            key for key, _ in self._wanted
            if key.kind == "entry" and tree.kind(key.number) is not Kind.COMPACTION
        ]  # fmt: skip
        if branches or not self._wanted:
            page.show_found(ComparedRecall((), NO_BRANCHES), "", "")
            return
        drafts = {one[0].id: one for one in self._fidelity.drafts()}
        wanted = [
            (key, name, drafts.get(key.number) if key.kind == "draft" else None)
            for key, name in self._wanted
        ]
        page.wait()
        self._loader.load(lambda: compared_recall(document, wanted, RecallOrder(model)))

    def _loaded(self, found: ComparedRecall) -> None:
        document, page = self._state.document, self._page
        if document is None or page is None:
            return
        missing = found.missing
        prices = [one.dollars for one in missing]
        known = [one for one in prices if one is not None]
        price = price_of(sum(known) if len(known) == len(prices) else None)
        words = " ".join(one.cost_sentence for one in missing)
        sent = sent_words(document, [one.questions.model for one in missing])
        page.show_found(found, price, self._ended or f"{words} {sent}")
        self._ended = ""

    def _failed(self, message: str) -> None:
        if self._page is not None:
            problem = f"The questions could not be made: {message}."
            self._page.show_found(ComparedRecall((), problem), "", "")

    # the run -------------------------------------------------------------------------------------

    def _press(self) -> None:
        document, page = self._state.document, self._page
        if self._cancel is not None:
            self._cancel.cancel()
        elif document is None or page is None or self._state.refuses():
            return
        elif page.found.missing:
            self._cancel = CancelToken()
            work = self._run(document, page.found.missing, self._cancel)
            self._state.tasks.start("The recall test", work)

    async def _run(
        self, document: Document, tests: Sequence[RecallTest], cancel: CancelToken
    ) -> None:
        ended = ""
        try:
            for at, test in enumerate(tests, 1):
                self._tell(True, f"{at} of {len(tests)}: {test.questions.subject.name}.")
                order = RecallOrder(
                    test.questions.model, cancel=cancel,
                    on_progress=lambda words: self._tell(True, words),
                )  # fmt: skip
                result = await run_test(document, test, order)
                if result.problem:
                    ended = f"{result.problem} What was answered until then is kept."
                    break
        except Cancelled:
            ended = "Stopped; what was answered until then is kept."
        except (StoreError, ValueError) as error:
            ended = f"{error} The session is as it was."
        finally:
            self._cancel = None
            self._tell(False, ended)
        self._ended = ended
        self._plan()

    def _tell(self, is_running: bool, words: str) -> None:
        if self._page is not None:
            self._page.show_running(is_running, words)


def compared_recall(
    document: Document,
    wanted: Sequence[tuple[SummaryKey, str, DraftText | None]],
    order: RecallOrder,
) -> ComparedRecall:
    """The same questions for each summary, and what was answered before by this model. Reads
    payloads and the database: for a worker thread."""
    try:
        contexts = [context_of(document, key, draft) for key, _, draft in wanted]
        tests = plan_tests(document, contexts, order)
    except RecallRefused as error:
        return ComparedRecall((), str(error))
    runs = recorded_tests(document)
    sides = []
    for (_, name, _), test in zip(wanted, tests, strict=True):
        asked = test.questions
        found = (one.result for one in of_subject(runs, asked.subject))
        result = next((one for one in found if one.answers(asked)), None)
        sides.append(RecallSide(name, test, result))
    return ComparedRecall(tuple(sides))
