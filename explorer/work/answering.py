"""The requests of a draft, answered together (A20).

The sentences for display are asked for beside them, and may fail without anything else failing
(A25).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from explorer.compaction.profile import Profile
from explorer.compaction.requests import SummaryRequest, tidy_short
from explorer.compaction.wording import Templates
from explorer.models.door import REMOTE, Cancelled, CancelToken, ModelDoor, ModelError
from explorer.work.calling import Answer, Caller, Unusable
from explorer.work.drafting import Attempt, DraftFailed, DraftPart, Order
from explorer.work.one_request import OneRequest, part_of

SHORT_GRACE_S = 20.0
"""How long the sentences for display may take after the summary is there."""


class Answering:
    """Answers the requests of one draft. What it has is whole at any moment, after a failure or a
    cancel too."""

    def __init__(
        self,
        door: ModelDoor,
        order: Order,
        templates: Templates,
        profile: Profile,
        requests: Sequence[SummaryRequest],
        limits: Mapping[str, int],
    ) -> None:
        """``limits``: tokens by purpose that an answer must stay below (E16)."""
        self._order = order
        self._stop, self._stop_short = CancelToken(), CancelToken()
        self._all: list[OneRequest] = []
        for request in requests:
            cancel = self._stop_short if request.purpose == "short" else self._stop
            caller = Caller(door, order, templates, profile, cancel)
            limit = limits.get(request.purpose)
            self._all.append(OneRequest(caller, door, order, request, limit))
        self.parts: tuple[DraftPart, ...] = ()
        self.short_summary = ""

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every call, request by request in the order of the requests."""
        return tuple(attempt for one in self._all for attempt in one.caller.log)

    async def run(self) -> None:
        """Wait for all answers; the first failure of a request that counts stops the others.

        Raises DraftFailed, or Cancelled.
        """
        cancel = self._order.cancel
        forget = [cancel.add_callback(token.cancel) for token in (self._stop, self._stop_short)]
        short = [one for one in self._all if one.request.purpose == "short"]
        # An endpoint gives the sentences along with the summary (A29): it is asked after that.
        beside = [] if self._order.model == REMOTE else [_start(one) for one in short]
        try:
            counted = [one for one in self._all if one not in short]
            results = await asyncio.gather(
                *(self._counted(one) for one in counted), return_exceptions=True
            )
            self._collect(results)
            given = next((part.short_summary for part in self.parts if part.short_summary), "")
            self.short_summary = tidy_short(given)
            if not beside and not self.short_summary:
                beside = [_start(one) for one in short]
            await self._show(beside)
        finally:
            for each in forget:
                each()
            self._stop_short.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
        if cancel.cancelled:
            raise Cancelled

    async def _counted(self, one: OneRequest) -> DraftPart:
        try:
            return await one.run()
        except (ModelError, Unusable, Cancelled):
            self._stop.cancel()
            raise

    def _collect(self, results: Sequence[DraftPart | BaseException]) -> None:
        if self._order.cancel.cancelled:
            raise Cancelled
        self.parts = tuple(result for result in results if isinstance(result, DraftPart))
        errors = [result for result in results if isinstance(result, BaseException)]
        for error in errors:
            if isinstance(error, Unusable):
                refused = part_of(Answer(error.attempt.text, error.attempt), 0.0)
                raise DraftFailed(str(error), (*self.parts, refused)) from error
            if isinstance(error, ModelError):
                raise DraftFailed(error.told, self.parts) from error
        for error in errors:
            raise error

    async def _show(self, running: Sequence[asyncio.Task[DraftPart]]) -> None:
        """Wait a little for the sentences; why they are not there is in the attempts."""
        if not running:
            return
        await asyncio.wait(running, timeout=SHORT_GRACE_S)
        self._stop_short.cancel()
        for result in await asyncio.gather(*running, return_exceptions=True):
            if isinstance(result, DraftPart):
                self.short_summary = tidy_short(result.text)
            elif not isinstance(result, ModelError | Unusable | Cancelled):
                raise result


def _start(one: OneRequest) -> asyncio.Task[DraftPart]:
    return asyncio.ensure_future(one.run())
