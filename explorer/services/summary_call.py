"""The calls that answer the requests of one draft, to an answer that can be stored (A20, A43, C7).

The way of a request: ``SummaryCall`` runs all requests of a draft together; ``_RequestCall`` asks
one model after the other, for the whole conversation, or window by window where that does not fit
(C6); ``_ModelCalls`` sends, retries and validates, and asks once more for an answer that cannot be
used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.profile import Profile
from explorer.compaction.requests import (
    SMALLEST_WINDOW,
    RequestMaterial,
    SummaryRequest,
    newest_within,
    request_of,
    take_window,
    tidy_short,
    window_request,
)
from explorer.compaction.summary import AnswerProblem, check_answer, clean_answer
from explorer.compaction.templates import Templates
from explorer.models.client import (
    REMOTE,
    Cancelled,
    CancelToken,
    ChatMessage,
    Completion,
    ModelError,
    ModelRequest,
    Models,
    Streams,
    complete,
)
from explorer.models.provider_error import window_in
from explorer.models.retry import Patience, Retry, with_retry
from explorer.services.draft_records import (
    Attempt,
    DraftFailed,
    DraftPart,
    SummaryOrder,
    Why,
    model_request,
)
from explorer.tokens.estimate import estimate_text


async def send_patiently(
    models: Streams,
    attempt: Attempt,
    log: list[Attempt],
    cancel: CancelToken,
    patience: Patience,
    on_retry: Callable[[Retry], None],
    on_text: Callable[[str], None] | None = None,
    *,
    on_silence: Callable[[str], None] | None = None,
) -> Completion:
    """Make a call, again after a transient failure, and add to ``log`` what came of every try.

    ``on_retry`` is called before the wait for the next try. Raises ModelError and Cancelled.
    """
    waited = 0.0

    def retried(retry: Retry) -> None:
        nonlocal waited
        waited = retry.wait_s
        on_retry(retry)

    async def send(number: int) -> Completion:
        tried = attempt if number == 1 else replace(attempt, why="retry", waited_s=waited)
        return await _send(models, tried, log, cancel, on_text, patience.clock, on_silence)

    return await with_retry(send, patience.policy, patience.sleep, patience.random, retried, cancel)


async def _send(
    models: Streams,
    attempt: Attempt,
    log: list[Attempt],
    cancel: CancelToken,
    on_text: Callable[[str], None] | None,
    clock: Callable[[], float],
    on_silence: Callable[[str], None] | None,
) -> Completion:
    """Make one call, and add to ``log`` what came of it, what had arrived before a failure too.

    ``clock`` gives seconds. Raises ModelError and Cancelled.
    """
    pieces: list[str] = []
    started = clock()

    def take(piece: str) -> None:
        pieces.append(piece)
        if on_text is not None:
            on_text(piece)

    def log_failure(problem: str, kind: str) -> None:
        took = (clock() - started) * 1000
        text = "".join(pieces)
        log.append(replace(attempt, text=text, elapsed_ms=took, problem=problem, kind=kind))

    try:
        answer = await complete(
            models, attempt.request, cancel, take, clock=clock, on_silence=on_silence
        )
    except ModelError as error:
        log_failure(error.sentence, error.kind)
        raise
    except (Cancelled, asyncio.CancelledError):
        log_failure("Cancelled.", "cancelled")
        raise
    done = replace(
        attempt, text=answer.text, stop_reason=answer.stop_reason, usage=answer.usage,
        elapsed_ms=answer.elapsed_ms,
    )  # fmt: skip
    log.append(done)
    return answer


SHORT_GRACE_S = 20.0
"""How long the short summary for display may take after the summary is there."""
MAX_HALVINGS = 6
"""How often the windows of one request are made smaller before it fails."""
_TAG_TOKENS = 96
"""Tokens that the tags around the parts of a prompt take at most."""


class SummaryCall:
    """Answers the requests of one draft. ``parts`` and ``attempts`` are whole at any moment, after
    a failure or a cancel too.

    The short summary for display is asked for beside the others, and may fail without anything
    else failing (A25).
    """

    def __init__(
        self,
        client: Models,
        order: SummaryOrder,
        templates: Templates,
        profile: Profile,
        requests: Sequence[SummaryRequest],
        limits: Mapping[str, int],
    ) -> None:
        """``limits``: tokens by purpose that an answer must stay below (E16)."""
        self._order = order
        self._stop, self._stop_short = CancelToken(), CancelToken()
        self._calls: list[_RequestCall] = []
        for request in requests:
            cancel = self._stop_short if request.purpose == "short" else self._stop
            calls = _ModelCalls(client, order, templates, profile, cancel)
            limit = limits.get(request.purpose)
            self._calls.append(_RequestCall(calls, client, order, request, limit))
        self.parts: tuple[DraftPart, ...] = ()
        self.short_summary = ""

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every call, request by request in the order of the requests."""
        return tuple(attempt for call in self._calls for attempt in call.calls.log)

    async def run(self) -> None:
        """Wait for all answers; the first failure of a request that counts stops the others.

        Raises DraftFailed, or Cancelled.
        """
        cancel = self._order.cancel
        forget = [cancel.add_callback(token.cancel) for token in (self._stop, self._stop_short)]
        short = [call for call in self._calls if call.request.purpose == "short"]
        # An endpoint gives the short summary along with the summary (A29): asked for after that.
        beside = [] if self._order.model == REMOTE else [_start(one) for one in short]
        try:
            counted = [call for call in self._calls if call not in short]
            results = await asyncio.gather(
                *(self._counted(one) for one in counted), return_exceptions=True
            )
            self._collect(results)
            given = next((part.short_summary for part in self.parts if part.short_summary), "")
            self.short_summary = tidy_short(given)
            if not beside and not self.short_summary:
                beside = [_start(one) for one in short]
            await self._wait_for_short(beside)
        finally:
            for each in forget:
                each()
            self._stop_short.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
        if cancel.cancelled:
            raise Cancelled

    async def _counted(self, call: _RequestCall) -> DraftPart:
        try:
            return await call.run()
        except (ModelError, _Unusable, Cancelled):
            self._stop.cancel()
            raise

    def _collect(self, results: Sequence[DraftPart | BaseException]) -> None:
        if self._order.cancel.cancelled:
            raise Cancelled
        self.parts = tuple(result for result in results if isinstance(result, DraftPart))
        errors = [result for result in results if isinstance(result, BaseException)]
        for error in errors:
            if isinstance(error, _Unusable):
                refused = _part(_Answer(error.attempt.text, error.attempt), 0.0)
                raise DraftFailed(str(error), (*self.parts, refused)) from error
            if isinstance(error, ModelError):
                raise DraftFailed(error.sentence, self.parts) from error
        for error in errors:
            raise error

    async def _wait_for_short(self, running: Sequence[asyncio.Task[DraftPart]]) -> None:
        """Wait a little for the short summary; why it is missing is in the attempts."""
        if not running:
            return
        await asyncio.wait(running, timeout=SHORT_GRACE_S)
        self._stop_short.cancel()
        for result in await asyncio.gather(*running, return_exceptions=True):
            if isinstance(result, DraftPart):
                self.short_summary = tidy_short(result.text)
            elif not isinstance(result, ModelError | _Unusable | Cancelled):
                raise result


def _start(call: _RequestCall) -> asyncio.Task[DraftPart]:
    return asyncio.ensure_future(call.run())


class _Unusable(Exception):
    """Answers came, and none could be stored. The message is for the user."""

    def __init__(self, problems: Sequence[AnswerProblem], attempt: Attempt) -> None:
        super().__init__(" ".join(problem.message for problem in problems))
        self.attempt = attempt


class _Question(Struct, frozen=True):
    """A request on its way to one model."""

    request: SummaryRequest
    model: str
    why: Why
    window: int = 0
    """Which window of a long conversation, from 1; 0 for all of it."""
    max_tokens: int | None = None
    """An answer must take fewer (E16); None for no limit."""


class _Answer(Struct, frozen=True):
    """An answer that can be stored, and the call that gave it."""

    text: str
    attempt: Attempt
    short_summary: str = ""


def _part(answer: _Answer, elapsed_ms: float) -> DraftPart:
    """The part of a draft that an answer becomes; ``elapsed_ms`` with all its calls."""
    attempt = answer.attempt
    return DraftPart(
        attempt.purpose, attempt.request, answer.text, attempt.stop_reason, attempt.usage,
        elapsed_ms, answer.short_summary,
    )  # fmt: skip


# one request -------------------------------------------------------------------------------------


class _Progress(Struct):
    """How far the windows of a conversation have come. Sizes in tokens."""

    material: RequestMaterial
    budget: int
    """What a request and its answer may take together."""
    notes: str
    """The answer to the window before."""
    notes_entry: int
    at: int = 0
    """The character at which the next window begins."""
    done: int = 0
    max_window: int | None = None
    """The largest window, once one was refused as too large."""
    halvings: int = 0
    refusal: ModelError | None = None
    """The provider's error when a request was too large."""

    @property
    def is_left(self) -> bool:
        return self.at < len(self.material.conversation.text)


class _RequestCall:
    """Answers one request. Of the models the first one that gives a usable answer counts."""

    def __init__(
        self,
        calls: _ModelCalls,
        client: Models,
        order: SummaryOrder,
        request: SummaryRequest,
        max_tokens: int | None,
    ) -> None:
        """``max_tokens``: an answer must take fewer (E16); None for no limit."""
        self.calls = calls
        self.request = request
        self._client = client
        self._order = order
        self._max_tokens = max_tokens

    async def run(self) -> DraftPart:
        """The answer. Raises what the last model failed with: ModelError, _Unusable; or Cancelled.

        The next model is asked after any failure but an overflow, for which windows are smaller.
        """
        clock = self._order.patience.clock
        started = clock()
        models = self._order.models
        for number, model in enumerate(models):
            try:
                answer = await self._ask_model(model, "next-model" if number else "first")
            except (ModelError, _Unusable) as error:
                overflow = isinstance(error, ModelError) and error.kind == "overflow"
                if overflow or number + 1 == len(models):
                    raise
                reason = error.sentence if isinstance(error, ModelError) else str(error)
                reason = reason.rstrip(".")
                self._order.on_progress(f"{model}: {reason}. Asking {models[number + 1]}.")
                self._order.on_restart(self.request.purpose)
                continue
            return _part(answer, (clock() - started) * 1000)
        raise AssertionError("an order names at least one model")

    def _answer_cap(self, model: str, budget: int | None = None) -> int:
        """Tokens for an answer: never above the model's limit (E19), nor a quarter of a window."""
        caps = [self.request.max_output_tokens]
        if (limit := self._client.info(model).output_limit) is not None:
            caps.append(limit)
        if budget is not None:
            caps.append(budget // 4)
        return max(1, min(caps))

    async def _ask_model(self, model: str, why: Why) -> _Answer:
        """Ask a model: as a whole where that fits, in windows where it does not."""
        window = self._client.info(model).window
        request = replace(self.request, max_output_tokens=self._answer_cap(model))
        if request.purpose == "short" and window is not None:
            request = self._with_newest(request, model, window)
        size = _size(request)
        if window is not None and size > window and request.material is not None:
            return await self._ask_in_windows(model, window, why)
        try:
            return await self.calls.answer(_Question(request, model, why, 0, self._max_tokens))
        except ModelError as error:
            if error.kind != "overflow" or request.material is None or request.purpose == "short":
                raise
            stated = window_in(error.message)
            self._order.on_progress("The request is larger than the model's window.")
            budget = stated if stated is not None and stated < size else size // 2
            return await self._ask_in_windows(model, budget, "halved", error)

    def _with_newest(self, request: SummaryRequest, model: str, window: int) -> SummaryRequest:
        """A request for display, with as many of the newest messages as about fit."""
        material, cap = request.material, self._answer_cap(model, window)
        room = window - cap - _TAG_TOKENS - estimate_text(request.system)
        if material is None or _size(request) <= window or room <= 0:
            return request
        newest = newest_within(
            material.conversation, max(SMALLEST_WINDOW, room - estimate_text(material.words))
        )
        material = replace(material, conversation=newest)
        return request_of(material, request.purpose, request.system, cap, request.form)

    async def _ask_in_windows(
        self, model: str, budget: int, why: Why, refusal: ModelError | None = None
    ) -> _Answer:
        """Ask about one window after the other, each answer updating the one before."""
        material = self.request.material
        assert material is not None
        progress = _Progress(material, budget, material.previous, material.previous_entry)
        progress.refusal = refusal
        answer: _Answer | None = None
        while progress.is_left:
            answer = await self._ask_window(progress, model, why)
            why = "window"
        if answer is None:
            raise ModelError("overflow", "The request is too large, though it tells of nothing.")
        return answer

    async def _ask_window(self, progress: _Progress, model: str, why: Why) -> _Answer:
        """Ask about the next window, a smaller one where it is refused as too large."""
        conversation = progress.material.conversation
        while True:
            room = self._window_room(progress, model)
            part, following = take_window(conversation, progress.at, room)
            is_last = following >= len(conversation.text)
            cap = self._answer_cap(model, progress.budget)
            request = window_request(self.request, part, progress.notes, progress.notes_entry, cap)
            left = -(-(len(conversation.text) - progress.at) // max(1, following - progress.at))
            self._order.on_progress(
                "The conversation is too long for one request: reading part "
                f"{progress.done + 1} of about {progress.done + left}."
            )
            if self.calls.log:
                self._order.on_restart(self.request.purpose)
            limit = self._max_tokens if is_last else None
            try:
                answer = await self.calls.answer(
                    _Question(request, model, why, progress.done + 1, limit)
                )
            except ModelError as error:
                if error.kind != "overflow" or progress.halvings >= MAX_HALVINGS:
                    raise
                progress.halvings, progress.refusal = progress.halvings + 1, error
                progress.max_window = min(room, estimate_text(part.text)) // 2
                why = "halved"
                continue
            progress.notes, progress.notes_entry = answer.text, -1
            progress.at, progress.done = following, progress.done + 1
            return answer

    def _window_room(self, progress: _Progress, model: str) -> int:
        """Tokens of conversation in the next window. Raises ModelError when there is no room: the
        provider's error, where it refused before."""
        material = progress.material
        words = max(estimate_text(material.words), estimate_text(material.update_words))
        taken = estimate_text(self.request.system) + words + _TAG_TOKENS
        taken += sum(estimate_text(line) + 1 for line in material.context)
        taken += estimate_text(progress.notes) + self._answer_cap(model, progress.budget)
        room = progress.budget - taken
        if progress.max_window is not None:
            room = min(room, progress.max_window)
        if room < SMALLEST_WINDOW:
            raise progress.refusal or ModelError(
                "overflow",
                f"A window of {progress.budget:,} tokens is too small: {taken:,} are needed "
                "beside the conversation.",
            )
        return room


def _size(request: SummaryRequest) -> int:
    """Tokens that a request and its answer may take together, by the estimate."""
    given = estimate_text(request.system) + estimate_text(request.prompt)
    return given + request.max_output_tokens


# one model ---------------------------------------------------------------------------------------


class _ModelCalls:
    """Makes the calls for one request. ``log`` holds every one of them, in order."""

    def __init__(
        self,
        client: Models,
        order: SummaryOrder,
        templates: Templates,
        profile: Profile,
        cancel: CancelToken,
    ) -> None:
        self._client = client
        self._order = order
        self._templates = templates
        self._profile = profile
        self._cancel = cancel
        self.log: list[Attempt] = []

    async def answer(self, question: _Question) -> _Answer:
        """An answer that can be stored; one that cannot is asked for once more, with what is wrong
        with it. Raises _Unusable when that does not help, ModelError, and Cancelled."""
        if self._order.review is not None:
            reviewed = await self._order.review.request(question.request, question.model)
            question = replace(question, request=reviewed)
        request = question.request
        call = model_request(request, question.model, self._order.endpoint)
        first = await self._send(question, call, question.why)
        problems = self._problems(question, first)
        if not problems:
            return self._accepted(first, request)
        self._log_problems(problems)
        self._order.on_progress(f"{problems[0].message} Asking once more.")
        self._order.on_restart(request.purpose)
        reminder = self._with_reminder(question, call, first.text, problems)
        try:
            second = await self._send(question, reminder, "reminder")
        except ModelError as error:
            if error.kind == "overflow":  # the reminder was too much: the answer stays unusable
                raise _Unusable(problems, self.log[-2]) from error
            raise
        if problems := self._problems(question, second):
            self._log_problems(problems)
            raise _Unusable(problems, self.log[-1])
        return self._accepted(second, request)

    def _accepted(self, answer: Completion, request: SummaryRequest) -> _Answer:
        text = clean_answer(answer.text, self._profile, request.purpose)
        return _Answer(text, self.log[-1], answer.short_summary)

    def _problems(self, question: _Question, answer: Completion) -> tuple[AnswerProblem, ...]:
        request = question.request
        return check_answer(
            clean_answer(answer.text, self._profile, request.purpose),
            answer.stop_reason,
            profile=self._profile,
            form=request.form,
            input_tokens=question.max_tokens,
        )

    def _log_problems(self, problems: Sequence[AnswerProblem]) -> None:
        """Record why the last answer is not used."""
        words = " ".join(problem.message for problem in problems)
        self.log[-1] = replace(self.log[-1], problem=words, kind=problems[0].code)

    def _with_reminder(
        self,
        question: _Question,
        call: ModelRequest,
        answer_text: str,
        problems: Sequence[AnswerProblem],
    ) -> ModelRequest:
        """The call again, with the answer to it (where that fits) and what is wrong with it."""
        words = self._templates.reminded([problem.message for problem in problems])
        reminder = ChatMessage("user", words)
        answer = (ChatMessage("assistant", answer_text),) if answer_text.strip() else ()
        window = self._client.info(call.model).window
        size = sum(estimate_text(m.text) for m in (*call.messages, *answer, reminder))
        if window is not None and size + question.request.max_output_tokens > window:
            answer = ()
        return replace(call, messages=(*call.messages, *answer, reminder))

    async def _send(self, question: _Question, call: ModelRequest, why: Why) -> Completion:
        """Make a call, again after a transient failure; every try is in the log."""
        order, purpose = self._order, question.request.purpose

        def on_retry(retry: Retry) -> None:
            order.on_progress(retry.sentence)
            order.on_restart(purpose)

        sources = tuple(question.request.sources)
        return await send_patiently(
            self._client, Attempt(purpose, why, call, sources, question.window), self.log,
            self._cancel, order.patience, on_retry, lambda piece: order.on_text(purpose, piece),
            on_silence=order.on_progress,
        )  # fmt: skip
