"""What is recorded of a call: every try, what came of it, and how long it took."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from explorer.models.client import Cancelled, CancelToken, ModelError, ModelRequest
from explorer.models.events import Event, Finished, TextDelta
from explorer.models.request import ChatMessage
from explorer.models.retry import Patience, Retry
from explorer.services.draft_records import Attempt
from explorer.services.summary_call import send_patiently

REQUEST = ModelRequest("some/model", (ChatMessage("user", "Sum it up."),))
Told = TextDelta | Finished | Exception


class Scripted:
    """Answers in turn; every event comes 2 s after the one before."""

    def __init__(self, *answers: list[Told]) -> None:
        self.now, self._answers = 100.0, [*answers]

    async def stream(self, _request: ModelRequest, _cancel: CancelToken) -> AsyncIterator[Event]:
        for event in self._answers.pop(0):
            self.now += 2
            if isinstance(event, Exception):
                raise event
            yield event


def sent(models: Scripted) -> tuple[list[Attempt], list[Retry], str]:
    """What is logged, what was told of tries, and the answer; empty where there is none."""
    log: list[Attempt] = []
    tries: list[Retry] = []
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    patience = Patience(sleep=sleep, random=lambda: 0.0, clock=lambda: models.now)
    attempt = Attempt("history", "first", REQUEST)
    try:
        work = send_patiently(models, attempt, log, CancelToken(), patience, tries.append)
        text = asyncio.run(work).text
    except (ModelError, Cancelled):
        text = ""
    assert [one.wait_s for one in tries] == waits
    return log, tries, text


def test_each_try_is_logged_with_what_had_come_and_how_long_it_took() -> None:
    busy, cut = ModelError("server", "It is busy."), ModelError("network", "It was cut.")
    done: list[Told] = [TextDelta("all "), TextDelta("of it"), Finished("stop")]
    log, tries, text = sent(Scripted([busy], [TextDelta("all "), cut], done))
    assert text == "all of it" and [one.failed for one in tries] == [1, 2]
    assert [(one.why, one.waited_s, one.text, one.problem, one.kind) for one in log] == [
        ("first", 0.0, "", "It is busy.", "server"),
        ("retry", 1.0, "all ", "It was cut.", "network"),
        ("retry", 2.0, "all of it", "", ""),
    ]
    assert [one.elapsed_ms for one in log] == [2_000, 4_000, 6_000]
    assert log[-1].stop_reason == "stop" and {one.request for one in log} == {REQUEST}


@pytest.mark.parametrize(
    ("error", "problem", "kind"),
    [
        (ModelError("auth", "Who are you?"), "Who are you?", "auth"),
        (Cancelled(), "Cancelled.", "cancelled"),
    ],
)
def test_what_does_not_pass_is_tried_once(error: Exception, problem: str, kind: str) -> None:
    log, tries, text = sent(Scripted([TextDelta("so far"), error]))
    assert (text, tries) == ("", [])
    (one,) = log
    assert (one.text, one.problem, one.kind, one.elapsed_ms) == ("so far", problem, kind, 4_000)
