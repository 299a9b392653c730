"""Calls the handlers of an event, one after the other (A38 to A42, B15).

Handlers are called in the order in which they were loaded and registered. The first cancel ends
the chain. Of several results the last that is not empty counts. A handler that raises, answers
nonsense or takes too long is recorded and passed over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from explorer.extensions.answers import (
    AnswerError,
    BeforeCompact,
    BeforeTree,
    Compacting,
    HandlerAnswer,
    HookRecord,
    Records,
    Request,
    SummaryAnswer,
    SuppliedCompaction,
    SuppliedSummary,
    read_answer,
)
from explorer.extensions.events import (
    BeforeCompactEvent,
    BeforeTreeEvent,
    CompactEvent,
    CompactingEvent,
    CompactionView,
    Event,
    RequestEvent,
    Signal,
    SummaryEvent,
    TreeEvent,
    TreeView,
    TurnEndEvent,
)
from explorer.extensions.extension_folder import Extension, error_text, problem_of
from explorer.extensions.hooks import TIME_LIMIT_S, CallOutcome, Context, HandlerCall, Registered
from explorer.extensions.prompt_parts import RequestPrompt, joined, parts_of, relocated
from explorer.models.events import Cancelled, CancelToken

Check = Callable[[SuppliedCompaction], str]
"""Why a compaction cannot be used, or an empty text."""


class _HandlerAnswer(Struct, frozen=True):
    """One handler's answer and its record."""

    answer: HandlerAnswer
    record: HookRecord
    required: bool


class HookRunner:
    """Asks the given extensions. Lives on the thread of its event loop.

    ``limit_s``: seconds that one handler may take, looked up at every call.
    """

    def __init__(
        self,
        extensions: Sequence[Extension],
        cwd: str = "",
        limit_s: Callable[[], float] = lambda: TIME_LIMIT_S,
    ) -> None:
        self._extensions = list(extensions)
        self._cwd, self._limit_s = cwd, limit_s
        self.on_compaction_requested: Callable[[str], None] = lambda _instructions: None
        """Notified of ``ctx.compact()``, with the instructions; on the loop's thread."""

    def handles(self, event: str) -> list[str]:
        """The names of the extensions that would be asked, in order."""
        return [e.name for e in self._extensions if event in e.events]

    # the events ----------------------------------------------------------------------------------

    async def before_compact(
        self,
        preparation: Callable[[], CompactionView],
        instructions: str,
        signal: CancelToken,
        check: Check = lambda _compaction: "",
    ) -> BeforeCompact:
        """Ask before a compaction. ``preparation`` makes a view for each handler; ``check`` says
        why a supplied compaction cannot be used. Raises Cancelled with the signal."""
        records: list[HookRecord] = []
        result: SuppliedCompaction | None = None
        at = -1
        for extension, registered in self._handlers("session_before_compact"):
            answered = await self._ask(
                extension, registered, signal,
                lambda alone: BeforeCompactEvent(preparation(), instructions, alone),
            )  # fmt: skip
            record = answered.record
            if answered.answer.get("cancel"):
                reason = answered.answer.get("reason", "")
                records.append(replace(record, did="cancelled", detail=reason))
                return BeforeCompact(tuple(records), extension.name, reason)
            if given := answered.answer.get("compaction"):
                supplied = SuppliedCompaction(extension.name, **given)
                if problem := check(supplied):
                    record = replace(record, did="error", detail=problem)
                else:
                    _unused(records, at)
                    result, at = supplied, len(records)
                    record = replace(record, did="result", detail=_size(supplied.summary))
            records.append(record)
        return BeforeCompact(tuple(records), compaction=result)

    async def compacting(
        self, preparation: Callable[[], CompactionView], instructions: str, signal: CancelToken
    ) -> Compacting:
        """Ask for words, lines and data before the request is written. Raises Cancelled.

        The last prompt counts; lines are gathered, and data by its names, so that two extensions
        that add to a request do not undo each other.
        """
        records: list[HookRecord] = []
        prompt: str | None = None
        lines: tuple[str, ...] = ()
        data: dict[str, Any] = {}
        for extension, registered in self._handlers("session.compacting"):
            answered = await self._ask(
                extension, registered, signal,
                lambda alone: CompactingEvent(preparation(), instructions, alone),
            )  # fmt: skip
            answer, record = answered.answer, answered.record
            prompt = answer.get("prompt", prompt)
            lines += answer.get("context", ())
            data |= answer.get("preserve_data", {})
            if answer:
                record = replace(record, did="context", detail=_additions(answer))
            records.append(record)
        return Compacting(tuple(records), prompt, lines, data or None)

    async def compacted(
        self, entry: Callable[[], dict[str, Any]], from_extension: bool, signal: CancelToken
    ) -> Records:
        """Tell that a compaction was stored (A40). ``entry`` gives each handler a copy."""
        return await self._notify(
            "session_compact", signal, lambda alone: CompactEvent(entry(), from_extension, alone)
        )

    async def before_tree(
        self, preparation: Callable[[], TreeView], wants_summary: bool, signal: CancelToken
    ) -> BeforeTree:
        """Ask before a navigation, whether or not a summary is wanted (A41). Raises Cancelled."""
        records: list[HookRecord] = []
        result = BeforeTree()
        at = -1
        for extension, registered in self._handlers("session_before_tree"):
            answered = await self._ask(
                extension, registered, signal, lambda alone: BeforeTreeEvent(preparation(), alone)
            )
            answer, record = answered.answer, answered.record
            if answer.get("cancel"):
                reason = answer.get("reason", "")
                records.append(replace(record, did="cancelled", detail=reason))
                return BeforeTree(tuple(records), extension.name, reason)
            if steering := _steering(answer):
                result = replace(result, **steering)
                if "summarize" in steering:
                    result = replace(result, summarize_by=extension.name)
                record = replace(record, did="instructions", detail=_steering_text(steering))
            if given := answer.get("summary"):
                if wants_summary:
                    _unused(records, at)
                    result = replace(result, summary=SuppliedSummary(extension.name, **given))
                    at = len(records)
                size = _size(given["summary"])
                record = replace(record, did="result", detail=size, used=wants_summary)
            records.append(record)
        return replace(result, records=tuple(records))

    async def tree(
        self,
        new_leaf: str,
        old_leaf: str,
        summary_entry: Callable[[], dict[str, Any] | None],
        signal: CancelToken,
    ) -> Records:
        """Tell that the leaf has moved (A41)."""
        return await self._notify(
            "session_tree",
            signal,
            lambda alone: TreeEvent(new_leaf, old_leaf, summary_entry(), alone),
        )

    async def turn_ended(self, end: str, tokens: int, signal: CancelToken) -> Records:
        """Tell that a turn of the agent is over. Raises Cancelled."""
        return await self._notify(
            "turn_end", signal, lambda alone: TurnEndEvent(end, tokens, alone)
        )

    async def request(
        self,
        purpose: str,
        system: str,
        prompt: RequestPrompt,
        ids: Sequence[str],
        model: str,
        signal: CancelToken,
    ) -> Request:
        """Let handlers change a request before it is sent; each sees what the one before made of
        it. ``ids``: entry ids by index. Raises Cancelled."""
        records: list[HookRecord] = []
        for extension, registered in self._handlers("session_request"):
            parts, entries = parts_of(prompt, ids)
            now = (system, prompt)
            event = partial(RequestEvent, purpose, system, parts, model)
            answered = await self._ask(extension, registered, signal, event)
            answer, record = answered.answer, answered.record
            system = answer.get("system", system)
            texts = answer.get("parts")
            if texts is not None and len(texts) != len(parts):
                wrong = f"parts must be {len(parts)} texts, not {len(texts)}"
                record = replace(record, did="error", detail=wrong)
                system = now[0]
            elif texts is not None:
                prompt = joined(texts, entries)
            elif "prompt" in answer.values:
                prompt = relocated(prompt, answer.get("prompt"))
            if (system, prompt.text) != (now[0], now[1].text):
                record = replace(record, did="changed", detail=f"the {purpose} request")
            records.append(record)
            if answered.required and record.failed:
                return Request(tuple(records), system, prompt.text, prompt.spans, extension.name)
        return Request(tuple(records), system, prompt.text, prompt.spans)

    async def summary(
        self, kind: str, text: str, from_extension: bool, signal: CancelToken
    ) -> SummaryAnswer:
        """Let handlers change a summary before it becomes a draft. Raises Cancelled."""
        records: list[HookRecord] = []
        for extension, registered in self._handlers("session_summary"):
            event = partial(SummaryEvent, kind, text, from_extension)
            answered = await self._ask(extension, registered, signal, event)
            record = answered.record
            changed = answered.answer.get("summary", text)
            if changed != text:
                text = changed
                record = replace(record, did="changed", detail="the summary")
            records.append(record)
            if answered.required and record.failed:
                return SummaryAnswer(tuple(records), text, extension.name)
        return SummaryAnswer(tuple(records), text)

    # one handler ---------------------------------------------------------------------------------

    def _handlers(self, event: str) -> list[tuple[Extension, Registered]]:
        return [
            (extension, handler)
            for extension in self._extensions
            for handler in extension.handlers
            if handler.event == event
        ]

    async def _notify(
        self, event: str, signal: CancelToken, make: Callable[[Signal], Event]
    ) -> Records:
        records = []
        for extension, registered in self._handlers(event):
            records.append((await self._ask(extension, registered, signal, make)).record)
        return tuple(records)

    async def _ask(
        self,
        extension: Extension,
        registered: Registered,
        cancel: CancelToken,
        make: Callable[[Signal], Event],
    ) -> _HandlerAnswer:
        """Call one handler and read its answer, both on its thread. Raises Cancelled."""
        nothing = HookRecord(extension.name, registered.event, "nothing", 0.0)

        def answered(answer: HandlerAnswer, record: HookRecord) -> _HandlerAnswer:
            return _HandlerAnswer(answer, record, registered.required)

        empty = HandlerAnswer(registered.event)
        if cancel.cancelled:
            raise Cancelled
        if not extension.active or extension.hooks is None:
            return answered(empty, replace(nothing, detail="it was unloaded meanwhile"))
        place = extension.handlers.index(registered)
        left = extension.left_behind.get(place)
        if left is not None and left.running:
            busy = "an earlier call has not come back yet, so it was not asked"
            return answered(empty, replace(nothing, did="error", detail=busy))
        signal = Signal()
        loop = asyncio.get_running_loop()

        def request_compaction(instructions: str) -> None:
            # What comes after the time limit belongs to nothing any more.
            if not signal.cancelled:
                loop.call_soon_threadsafe(self.on_compaction_requested, str(instructions))

        context = Context(
            extension.name, extension.hooks.settings, self._cwd, extension.hooks.lines,
            request_compaction,
        )  # fmt: skip
        event = make(signal)
        call = HandlerCall(
            lambda: registered.handler(*_arguments(event, registered, context)),
            signal,
            extension.name,
            lambda value: read_answer(registered.event, event.given, value),
        )
        outcome = CallOutcome(cancelled=True)
        try:
            outcome = await call.wait(self._limit_s(), cancel)
        finally:
            if outcome.timed_out or outcome.cancelled:
                extension.left_behind[place] = call
        if outcome.cancelled:
            raise Cancelled
        record = replace(nothing, elapsed_ms=outcome.elapsed_ms)
        return answered(*_read(outcome, record, empty, extension, self._limit_s()))


def _arguments(event: Event, registered: Registered, context: Context) -> tuple[Any, ...]:
    return (event, context) if registered.takes_context else (event,)


def _read(
    outcome: CallOutcome,
    record: HookRecord,
    empty: HandlerAnswer,
    extension: Extension,
    limit_s: float,
) -> tuple[HandlerAnswer, HookRecord]:
    """What an outcome says, and its record as far as it is known by now."""
    if outcome.timed_out:
        return empty, replace(record, did="timed out", detail=f"after {limit_s:g} s")
    if isinstance(outcome.error, AnswerError):
        return empty, replace(
            record, did="error", detail=error_text(outcome.error), file=str(extension.file)
        )
    if outcome.error is not None:
        problem = problem_of(outcome.error, extension.root)
        return empty, replace(
            record, did="error", detail=problem.reason, file=problem.file, line=problem.line
        )
    answer: HandlerAnswer = outcome.value
    if answer.unknown:
        names = ", ".join(answer.unknown)
        record = replace(record, detail=f"its answer has names that mean nothing here: {names}")
    return answer, record


def _unused(records: list[HookRecord], at: int) -> None:
    """A later result takes the place of an earlier one."""
    if at >= 0:
        records[at] = replace(records[at], used=False)


def _size(text: str) -> str:
    return f"{len(text):,} characters"


def _additions(answer: HandlerAnswer) -> str:
    lines = len(answer.get("context", ()))
    parts = [f"{lines} line{'' if lines == 1 else 's'} of context"] if lines else []
    parts += ["a prompt of its own"] if answer.get("prompt") else []
    parts += ["data to keep"] if answer.get("preserve_data") else []
    return ", ".join(parts)


def _steering(answer: HandlerAnswer) -> dict[str, Any]:
    names = ("summarize", "custom_instructions", "replace_instructions")
    return {name: answer.values[name] for name in names if name in answer.values}


def _steering_text(given: Mapping[str, Any]) -> str:
    parts = []
    if "summarize" in given:
        parts.append("asks for a summary" if given["summarize"] else "wants no summary")
    if words := given.get("custom_instructions"):
        parts.append(words)
    if "replace_instructions" in given:
        parts.append("instead of the prompt" if given["replace_instructions"] else "after it")
    return "; ".join(parts)
