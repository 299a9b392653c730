"""Trying two versions of a text on saved sessions: what it may cost first, then what survived."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from PySide6.QtCore import QObject

from explorer.models.door import Cancelled, CancelToken
from explorer.store.rows import StoreError
from explorer.templates import Version
from explorer.work.document import Document
from explorer.work.summary_request import Order
from explorer.work.template_trials import (
    NOT_USED,
    Trial,
    TrialCost,
    TrialPoint,
    TrialResult,
    changes,
    points_of,
    wrong_and_tokens,
)
from ui.control.desk import Desk
from ui.widgets.figures import count
from ui.workshop.dialog import WorkshopDialog

FREE = "offline/extractive"


class TrialControl(QObject):
    """One trial at a time; nothing is stored in any session."""

    def __init__(self, desk: Desk, dialog: WorkshopDialog) -> None:
        super().__init__(dialog)
        self._desk = desk
        self._dialog = dialog
        self._page = dialog.trial
        self._cancel: CancelToken | None = None
        self._documents: dict[int, Document] = {}
        self._waiting: tuple[Trial, list[TrialPoint], str] | None = None
        page = self._page
        page.points_asked.connect(self._points_asked)
        page.try_asked.connect(lambda: desk.tasks.start("The trial", self._prepare()))
        page.confirmed.connect(self._confirmed)
        page.cancel_asked.connect(self.stop)

    @property
    def running(self) -> bool:
        return self._cancel is not None

    def stop(self) -> None:
        """End the trial that is under way; what it found until then stays."""
        if self._cancel is not None:
            self._cancel.cancel()

    def show(self, versions: Sequence[Version], can: bool) -> None:
        """Show what can be chosen."""
        desk, page = self._desk, self._page
        if desk.bench is None:
            return
        page.show_versions(versions, self._dialog.text, can and not self.running)
        models = desk.models("summary")
        if not page.model.count():
            page.show_models(models, FREE)
        open_key = desk.document.key if desk.document is not None else -1
        rows = [(row.key, row.title or row.session_id) for row in desk.bench.sessions()]
        rows.sort(key=lambda row: row[0] != open_key)
        page.show_sessions(rows, open_key)

    def _points_asked(self, key: int) -> None:
        self._desk.tasks.start("Looking for compactions", self._find_points(key))

    async def _find_points(self, key: int) -> None:
        desk = self._desk
        try:
            document = await self._open(key)
        except StoreError as error:
            self._page.tell(f"The session cannot be opened: {error}", "lost")
            return
        profile, settings = desk.profile, desk.settings
        found = await asyncio.to_thread(points_of, document, profile, settings)
        self._page.show_points(key, found)

    async def _open(self, key: int) -> Document:
        if key not in self._documents:
            assert self._desk.bench is not None
            self._documents[key] = await self._desk.bench.open(key)
        return self._documents[key]

    async def _prepare(self) -> None:
        """Begin at once where it costs nothing; show what it may cost elsewhere."""
        page, desk, dialog = self._page, self._desk, self._dialog
        points, model = page.points(), str(page.model.currentData() or FREE)
        if self.running or desk.bench is None:
            return
        if not points:
            page.tell("Tick a session, or places in one.", "lost")
            return
        first, second = page.texts()
        if first == second:
            page.tell("Both versions are the same text; choose two that differ.", "lost")
            return
        for text in (first, second):
            broken = [p.message for p in desk.bench.prompts.check(dialog.name, text) if p.breaks]
            if broken:
                page.tell(f"A version cannot be used: {broken[0]}", "lost")
                return
        documents = self._documents
        trial = Trial(
            lambda key: documents[key], desk.bench.door, dialog.name, (first, second),
            desk.profile, desk.settings,
        )  # fmt: skip
        page.start.setEnabled(False)
        page.tell("Reading what would be sent…")
        cost = await asyncio.to_thread(trial.cost, points, model)
        page.start.setEnabled(True)
        if not cost.calls:
            page.tell(
                "None of these places uses this text: a first summary needs a place without an "
                "earlier one, an update one with it.", "lost",
            )  # fmt: skip
            return
        self._waiting = trial, points, model
        if cost.dollars == 0.0 and model.startswith("offline/"):
            self._confirmed()
            return
        page.ask(_cost_words(cost, model), f"&Send {count(cost.calls, 'call')}")

    def _confirmed(self) -> None:
        if self._waiting is None or self.running:
            return
        trial, points, model = self._waiting
        self._waiting = None
        self._cancel = CancelToken()
        self._desk.tasks.start("The trial", self._run(trial, points, model, self._cancel))

    async def _run(
        self, trial: Trial, points: list[TrialPoint], model: str, cancel: CancelToken
    ) -> None:
        page = self._page
        results: list[TrialResult] = []
        page.begin(2 * len(points))

        def told(result: TrialResult) -> None:
            results.append(result)
            self._show(results)

        order = Order("", model, lambda _purpose, _text: None, cancel)
        stopped = False
        try:
            await trial.run(points, order, told, lambda done, _all: page.advance(done))
        except (Cancelled, asyncio.CancelledError):
            stopped = True
        finally:
            self._cancel = None
            page.end()
        page.tell(_end_words(results, stopped), "lost" if _failed(results) else "")

    def _show(self, results: Sequence[TrialResult]) -> None:
        places = {one.point for one in results if one.which == 1 and one.fidelity is not None}
        self._page.show_changes(changes(results), wrong_and_tokens(results), len(places))


def _cost_words(cost: TrialCost, model: str) -> str:
    price = (
        f"at most ${cost.dollars:.4f}"
        if cost.dollars is not None
        else "a price that is not known here"
    )
    return (
        f"{model} would be sent {count(cost.calls, 'call')}: about {cost.input_tokens:,} tokens, "
        f"and {cost.output_tokens:,} at most in answers, for {price}. Nothing was sent yet."
    )


def _failed(results: Sequence[TrialResult]) -> list[TrialResult]:
    return [one for one in results if one.problem and one.problem != NOT_USED]


def _end_words(results: Sequence[TrialResult], stopped: bool) -> str:
    made = sum(one.fidelity is not None for one in results)
    skipped = len({one.point for one in results if one.problem == NOT_USED})
    words = [f"{'Stopped. ' if stopped else ''}{count(made, 'summary', 'summaries')} compared."]
    if skipped:
        words.append(f"{count(skipped, 'place')} without a part for this text.")
    for one in _failed(results)[:3]:
        which = "second" if one.which else "first"
        words.append(f"{one.point.title}, {which} version: {one.problem}")
    return " ".join(words)
