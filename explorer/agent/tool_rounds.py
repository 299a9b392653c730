"""Runs the calls of one reply: side by side where they only look, one by one where they change.

Every call gets a result, whatever happens to it. Results are stored in the order of the calls, each
as soon as it and all before it are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from explorer.agent.tools.port import ToolOutcome, ToolSet
from explorer.agent.turn_interface import (
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEvent,
    image_blocks,
)
from explorer.models.client import Cancelled, CancelToken, ToolCall
from explorer.models.events import done_or_cancelled
from explorer.session.entries import ToolResultMessage, text_content

STOP_WAIT_S = 10.0
"""How long a stopped tool may take to end what it started."""

STOPPED_BEFORE = ToolOutcome("stopped by the person before it ran", True, details={"notRun": True})
NOT_RUN = ToolOutcome(
    "no result: the work was broken off before this call gave one; whether it ran is not known",
    True,
    details={"noResult": True},
)
"""Of a call that is found without a result, after a crash or in what another program wrote."""


def result_message(call: ToolCall, outcome: ToolOutcome, note: str = "") -> ToolResultMessage:
    """A call's result as it is stored; ``note`` goes beside it."""
    text = text_content(outcome.text) if outcome.text or not outcome.images else ()
    noted = text_content(note) if note else ()
    return ToolResultMessage(
        call.id,
        call.name,
        (*text, *image_blocks(outcome.images), *noted),
        outcome.is_error,
        details=dict(outcome.details) if outcome.details else None,
    )


def groups(
    calls: Sequence[ToolCall], is_exclusive: Callable[[ToolCall], bool]
) -> list[tuple[ToolCall, ...]]:
    """The calls in their order, those that may run beside each other together."""
    found: list[tuple[ToolCall, ...]] = []
    together: list[ToolCall] = []
    for call in calls:
        if not is_exclusive(call):
            together.append(call)
            continue
        if together:
            found.append(tuple(together))
            together = []
        found.append((call,))
    return [*found, tuple(together)] if together else found


def unusable(call: ToolCall, tools: ToolSet | None) -> ToolOutcome | None:
    """Why a call cannot be run at all; None when it can."""
    if tools is None:
        return ToolOutcome("no workspace was chosen, so no tool can run", True)
    names = [spec.name for spec in tools.specs()]
    if call.name not in names:
        known = ", ".join(names)
        return ToolOutcome(f"there is no tool named {call.name!r}; there are: {known}", True)
    if call.problem:
        again = "Nothing was run; call again with one whole JSON object."
        return ToolOutcome(f"{call.problem}\n{again}", True)
    return None


class ToolRound:
    """The calls of one reply."""

    def __init__(
        self,
        tools: ToolSet | None,
        cancel: CancelToken,
        on_event: Callable[[TurnEvent], None],
        store: Callable[[ToolCall, ToolOutcome], Awaitable[None]],
    ) -> None:
        """``store`` appends one result."""
        self._tools = tools
        self._cancel = cancel
        self._on_event = on_event
        self._store = store

    async def run(self, calls: Sequence[ToolCall]) -> list[ToolOutcome]:
        """What each call gave, all of them stored. After a stop, the remaining calls get a result
        that says so."""
        outcomes: list[ToolOutcome] = []
        for group in groups(calls, self._is_exclusive):
            outcomes += await self._run_group(group)
        return outcomes

    def _is_exclusive(self, call: ToolCall) -> bool:
        tools = self._tools
        return tools is not None and unusable(call, tools) is None and tools.is_exclusive(call)

    async def _run_group(self, group: Sequence[ToolCall]) -> list[ToolOutcome]:
        # A separate token, so that tools end too when the task that waits for the turn is
        # cancelled.
        inner = CancelToken()
        forget = self._cancel.add_callback(inner.cancel)
        tasks = [asyncio.create_task(self._run_one(call, inner)) for call in group]
        outcomes: list[ToolOutcome] = []
        try:
            for call, task in zip(group, tasks, strict=True):
                outcome = await task
                outcomes.append(outcome)
                await self._store(call, outcome)
        finally:
            forget()
            if len(outcomes) < len(group):
                inner.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return outcomes

    async def _run_one(self, call: ToolCall, cancel: CancelToken) -> ToolOutcome:
        outcome = unusable(call, self._tools)
        if outcome is None and cancel.cancelled:
            outcome = STOPPED_BEFORE
        if outcome is None:
            self._on_event(ToolStarted(call))
            outcome = await self._called(call, cancel)
        self._on_event(ToolEnded(call, outcome))
        return outcome

    async def _called(self, call: ToolCall, cancel: CancelToken) -> ToolOutcome:
        """Run the call; an unexpected failure of a tool becomes an error result."""
        assert self._tools is not None

        def on_output(text: str) -> None:
            self._on_event(ToolOutput(call.id, text))

        running = asyncio.ensure_future(self._tools.run(call, cancel, on_output))
        try:
            await done_or_cancelled(running, cancel)
            if not running.done():
                await asyncio.wait([running], timeout=STOP_WAIT_S)
            if not running.done():
                return ToolOutcome(f"stopped; it did not end within {STOP_WAIT_S:g} s", True)
            if running.cancelled():
                return ToolOutcome("stopped while it ran", True)
            return running.result()
        except Cancelled:
            return ToolOutcome("stopped by the person while it ran", True)
        except Exception as error:  # noqa: BLE001 -- any failure becomes an error result
            return ToolOutcome(f"the tool failed: {type(error).__name__}: {error}", True)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
