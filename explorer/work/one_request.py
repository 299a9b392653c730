"""One request of a draft to its end: by one model or the next, whole or in windows (C6, A43)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.compaction.requests import (
    SMALLEST_WINDOW,
    Material,
    SummaryRequest,
    newest_within,
    request_of,
    take_window,
    window_request,
)
from explorer.models.door import ModelDoor, ModelError
from explorer.models.overflow import said_window
from explorer.tokens.estimate import estimate_text
from explorer.work.calling import Answer, Caller, Question, Unusable
from explorer.work.drafting import DraftPart, Order, Why

MOST_HALVINGS = 6
"""How often the windows of one request are made smaller before it is given up."""
_TAGS = 96
"""Tokens that the tags around the parts of a prompt take at most."""


@dataclass(slots=True)
class _Fold:
    """How far the windows of a conversation have come."""

    material: Material
    budget: int
    """Tokens that a request and its answer may take together."""
    notes: str
    entry: int
    at: int = 0
    """The character at which the next window begins."""
    done: int = 0
    most: int | None = None
    """Tokens of a window, once one was refused as too large."""
    halvings: int = 0
    refusal: ModelError | None = None
    """What the provider said when a request was too large."""

    @property
    def left(self) -> bool:
        return self.at < len(self.material.conversation.text)


class OneRequest:
    """Answers one request. Of the models the first one that gives a usable answer counts."""

    def __init__(
        self,
        caller: Caller,
        door: ModelDoor,
        order: Order,
        request: SummaryRequest,
        most_tokens: int | None,
    ) -> None:
        """``most_tokens``: an answer must take fewer (E16); None for no limit."""
        self.caller = caller
        self.request = request
        self._door = door
        self._order = order
        self._most = most_tokens

    async def run(self) -> DraftPart:
        """The answer. Raises what the last model failed with: ModelError, Unusable; or Cancelled.

        Another model is asked after any failure but an overflow, which windows deal with.
        """
        clock = self._order.patience.clock
        started = clock()
        models = self._order.models
        for number, model in enumerate(models):
            try:
                answer = await self._by_model(model, "next-model" if number else "first")
            except (ModelError, Unusable) as error:
                overflow = isinstance(error, ModelError) and error.kind == "overflow"
                if overflow or number + 1 == len(models):
                    raise
                told = error.told if isinstance(error, ModelError) else str(error)
                told = f"{model}: {told.rstrip('.')}. Asking {models[number + 1]}."
                self._order.on_progress(told)
                self._order.on_restart(self.request.purpose)
                continue
            return part_of(answer, (clock() - started) * 1000)
        raise AssertionError("an order names at least one model")

    def _cap(self, model: str, budget: int | None = None) -> int:
        """Tokens for an answer: never above the model's limit (E19), nor a quarter of a window."""
        caps = [self.request.max_output_tokens]
        if (limit := self._door.info(model).output_limit) is not None:
            caps.append(limit)
        if budget is not None:
            caps.append(budget // 4)
        return max(1, min(caps))

    async def _by_model(self, model: str, why: Why) -> Answer:
        """Ask a model: as a whole where that fits, in windows where it does not."""
        window = self._door.info(model).window
        request = replace(self.request, max_output_tokens=self._cap(model))
        if request.purpose == "short" and window is not None:
            request = self._newest(request, model, window)
        size = _size(request)
        if window is not None and size > window and request.material is not None:
            return await self._in_windows(model, window, why)
        try:
            return await self.caller.answer(Question(request, model, why, 0, self._most))
        except ModelError as error:
            if error.kind != "overflow" or request.material is None or request.purpose == "short":
                raise
            said = said_window(error.message)
            self._order.on_progress("The request is larger than the model's window.")
            budget = said if said is not None and said < size else size // 2
            return await self._in_windows(model, budget, "halved", error)

    def _newest(self, request: SummaryRequest, model: str, window: int) -> SummaryRequest:
        """A request for display, about as many of the newest messages as fit."""
        material, cap = request.material, self._cap(model, window)
        room = window - cap - _TAGS - estimate_text(request.system)
        if material is None or _size(request) <= window or room <= 0:
            return request
        newest = newest_within(
            material.conversation, max(SMALLEST_WINDOW, room - estimate_text(material.words))
        )
        material = replace(material, conversation=newest)
        return request_of(material, request.purpose, request.system, cap, request.form)

    # windows -----------------------------------------------------------------------------------

    async def _in_windows(
        self, model: str, budget: int, why: Why, refusal: ModelError | None = None
    ) -> Answer:
        """Ask about one window after the other, each answer bringing the one before up to date."""
        material = self.request.material
        assert material is not None
        fold = _Fold(material, budget, material.previous, material.previous_entry)
        fold.refusal = refusal
        answer: Answer | None = None
        while fold.left:
            answer = await self._window(fold, model, why)
            why = "window"
        if answer is None:
            raise ModelError("overflow", "The request is too large, though it tells of nothing.")
        return answer

    async def _window(self, fold: _Fold, model: str, why: Why) -> Answer:
        """Ask about the next window, a smaller one where it is refused as too large."""
        conversation = fold.material.conversation
        while True:
            room = self._room(fold, model)
            part, following = take_window(conversation, fold.at, room)
            is_last = following >= len(conversation.text)
            cap = self._cap(model, fold.budget)
            asked = window_request(self.request, part, fold.notes, fold.entry, cap)
            left = -(-(len(conversation.text) - fold.at) // max(1, following - fold.at))
            self._order.on_progress(
                f"The conversation is too long for one request: reading part {fold.done + 1} "
                f"of about {fold.done + left}."
            )
            if self.caller.log:
                self._order.on_restart(self.request.purpose)
            limit = self._most if is_last else None
            try:
                answer = await self.caller.answer(Question(asked, model, why, fold.done + 1, limit))
            except ModelError as error:
                if error.kind != "overflow" or fold.halvings >= MOST_HALVINGS:
                    raise
                fold.halvings, fold.refusal = fold.halvings + 1, error
                fold.most = min(room, estimate_text(part.text)) // 2
                why = "halved"
                continue
            fold.notes, fold.entry = answer.text, -1
            fold.at, fold.done = following, fold.done + 1
            return answer

    def _room(self, fold: _Fold, model: str) -> int:
        """Tokens of conversation in the next window. Raises ModelError when there is no room: what
        the provider said, where it said something."""
        material = fold.material
        words = max(estimate_text(material.words), estimate_text(material.update_words))
        taken = estimate_text(self.request.system) + words + _TAGS
        taken += sum(estimate_text(line) + 1 for line in material.context)
        taken += estimate_text(fold.notes) + self._cap(model, fold.budget)
        room = fold.budget - taken
        if fold.most is not None:
            room = min(room, fold.most)
        if room < SMALLEST_WINDOW:
            raise fold.refusal or ModelError(
                "overflow",
                f"A window of {fold.budget:,} tokens is too small: {taken:,} are needed beside "
                "the conversation.",
            )
        return room


def _size(request: SummaryRequest) -> int:
    """Tokens that a request and its answer may take together, by the estimate."""
    given = estimate_text(request.system) + estimate_text(request.prompt)
    return given + request.max_output_tokens


def part_of(answer: Answer, elapsed_ms: float) -> DraftPart:
    """The part of a draft that an answer becomes; it took so long with all its calls."""
    attempt = answer.attempt
    return DraftPart(
        attempt.purpose, attempt.request, answer.text, attempt.stop_reason, attempt.usage,
        elapsed_ms, answer.short_summary,
    )  # fmt: skip
