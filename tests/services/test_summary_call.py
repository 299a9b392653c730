"""The calls of a draft without a network: what fits a window, and to what size parts shrink.

A model with scripted answers; every size below is the estimate's, four characters to a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.messages import Serialized, SourceSpan
from explorer.compaction.profile import PROFILES
from explorer.compaction.requests import RequestMaterial, SummaryRequest, request_of
from explorer.compaction.summary import FREE, Form
from explorer.models.client import (
    REMOTE,
    Cancelled,
    CancelToken,
    Event,
    Finished,
    ModelError,
    ModelInfo,
    ModelRequest,
    TextDelta,
)
from explorer.models.retry import Patience, RetryPolicy
from explorer.services.draft_records import DraftFailed, SummaryOrder
from explorer.services.summary_call import SummaryCall
from explorer.settings.prompt_templates import load_templates

EXPLORER = PROFILES["explorer"]
TEMPLATES = replace(load_templates(), reminder="{{problems}}")
TAGS = 2 * len("<conversation>\n") + 3
"""Characters around a conversation and before the words that ask."""
NOTES = 2 * len("<previous-summary>\n") + 3
OVERFLOW = ModelError("overflow", "too much")


class Scripted:
    """Answers with texts and errors in turn, the last one again and again."""

    def __init__(self, *plan: str | Finished | ModelError, **known: int | None) -> None:
        """``known``: ``window`` and ``output`` of each model, in tokens."""
        self.plan = list(plan)
        self.known: Mapping[str, int | None] = known
        self.asked: list[ModelRequest] = []

    def info(self, model_id: str) -> ModelInfo:
        return ModelInfo(model_id, "", self.known.get("window"), self.known.get("output"))

    async def stream(self, request: ModelRequest, cancel: CancelToken) -> AsyncIterator[Event]:
        self.asked.append(request)
        step = self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]
        await asyncio.sleep(0)
        if isinstance(step, ModelError):
            raise step
        if isinstance(step, str):
            yield TextDelta(step)
        yield step if isinstance(step, Finished) else Finished("stop")


def request(
    messages: int = 1, size: int = 400, purpose: Any = "history", cap: int = 1000, **more: Any
) -> SummaryRequest:
    """A request about so many messages, each of so many characters; with a system prompt of 10
    tokens, words of 10, and of 20 where notes came before."""
    text = "".join(f"{at:02}".ljust(size, "x") for at in range(messages))
    spans = [SourceSpan(at * size, (at + 1) * size, at) for at in range(messages)]
    words, update = "w" * 40, "u" * 80
    material = RequestMaterial(Serialized(text, spans), words, update, EXPLORER, **more)
    return request_of(material, purpose, "s" * 40, cap)


class Call:
    """One draft: its calls as they were made, and what was reported."""

    def __init__(
        self,
        models: Scripted,
        *requests: SummaryRequest,
        names: tuple[str, ...] = ("a",),
        form: Form = FREE,
        limits: Mapping[str, int] | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        self.said: list[str] = []
        self.void: list[str] = []
        order = SummaryOrder(
            "", names[0], lambda purpose, piece: None, cancel or CancelToken(), names[1:],
            self.said.append, self.void.append, Patience(RetryPolicy(tries=1)),
        )  # fmt: skip
        made = [replace(one, form=form) for one in requests]
        self.call = SummaryCall(models, order, TEMPLATES, EXPLORER, made, limits or {})
        self.error: BaseException | None = None
        try:
            asyncio.run(self.call.run())
        except (DraftFailed, Cancelled) as error:
            self.error = error

    @property
    def steps(self) -> list[str]:
        """Why each call was made, its window, the characters it sent, and its cap."""
        return [
            f"{one.why} {one.window}: {len(one.request.messages[1].text)} "
            f"<{one.request.max_output_tokens}{one.kind and f' {one.kind}'}"
            for one in self.call.attempts
        ]


# what fits ----------------------------------------------------------------------------------------

WHOLE = 10 + -(-(400 + TAGS + 40) // 4)
"""Tokens of the smallest request, without its answer."""


@pytest.mark.parametrize(
    ("known", "steps"),
    [
        ({}, ["first 0: 473 <1000"]),
        ({"output": 700}, ["first 0: 473 <700"]),
        ({"output": 1001}, ["first 0: 473 <1000"]),
        ({"output": 0}, ["first 0: 473 <1"]),
        ({"window": WHOLE + 1000}, ["first 0: 473 <1000"]),
        ({"window": WHOLE + 999}, ["first 1: 473 <282"]),
        ({"window": WHOLE + 999, "output": 280}, ["first 0: 473 <280"]),
    ],
)
def test_what_fits_is_asked_as_a_whole(known: dict[str, int], steps: list[str]) -> None:
    assert WHOLE == 129
    assert Call(Scripted("ok", **known), request()).steps == steps


def test_a_long_conversation_is_read_in_windows_that_fill_the_room() -> None:
    """Of 600 tokens a quarter is for the answer, 96 for tags, 10 for the system prompt and 20 for
    the longer words: 324 are left, which three messages of 100 fit into; then the notes count."""
    long = request(10, cap=150)
    made = Call(Scripted("n" * 400, window=600), long)
    assert made.steps == [
        "first 1: 1273 <150",
        "window 2: 1354 <150", "window 3: 1354 <150", "window 4: 1354 <150", "window 5: 954 <150",
    ]  # fmt: skip
    assert [one.split("reading ")[1] for one in made.said] == [
        "part 1 of about 4.", "part 2 of about 5.", "part 3 of about 5.", "part 4 of about 5.",
        "part 5 of about 5.",
    ]  # fmt: skip
    assert made.void == ["history"] * 4
    assert [one.purpose for one in made.call.parts] == ["history"]


@pytest.mark.parametrize(
    ("smallest", "more", "needed"),
    [
        (253, {}, 189),
        (283, {"context": ("c" * 40, "d" * 41)}, 219),
        (266, {"previous": "p" * 40}, 202),
    ],
)
def test_a_window_of_a_conversation_has_a_smallest_size(
    smallest: int, more: dict[str, Any], needed: int
) -> None:
    """64 tokens, beside a quarter for the answer and what stands around the conversation."""
    made = Call(Scripted("ok", window=smallest), request(1, 256, **more))
    assert made.error is None and len(made.steps) == 1
    made = Call(Scripted("ok", window=smallest - 1), request(1, 256, **more))
    assert made.steps == [] and str(made.error) == (
        f"A window of {smallest - 1} tokens is too small: {needed} are needed beside the "
        "conversation."
    )


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        # 1273 characters and a cap of 600 are 929 tokens.
        ("the maximum context length is 900 tokens", ["halved 1: 1273 <225"]),
        ("the maximum context length is 928 tokens", ["halved 1: 1273 <232"]),
        ("the maximum context length is 929 tokens",
         ["halved 1: 873 <116", "window 2: 556 <116"]),
        ("too much", ["halved 1: 873 <116", "window 2: 556 <116"]),
    ],
)  # fmt: skip
def test_a_window_that_nobody_knew_is_what_the_error_says_or_half(
    words: str, steps: list[str]
) -> None:
    made = Call(Scripted(ModelError("overflow", words), "ok"), request(3, cap=600))
    assert made.steps == ["first 0: 1273 <600 overflow", *steps]
    assert made.said[0] == "The request is larger than the model's window."
    assert made.void == ["history"] * len(steps)


def test_windows_are_halved_six_times_and_then_it_has_failed() -> None:
    made = Call(Scripted(OVERFLOW), request(300))
    sizes = [120_073, 57_273, 28_473, 14_073, 6_873, 3_273, 1_673, 873]
    whys = ["first 0", *["halved 1"] * 7]
    assert made.steps == [
        f"{why}: {size} <1000 overflow" for why, size in zip(whys, sizes, strict=True)
    ]
    assert str(made.error) == "too much" and made.call.parts == ()
    assert [one.rsplit(" ", 1)[1] for one in made.said[1:]] == [
        "3.", "5.", "9.", "18.", "38.", "75.", "150.",
    ]  # fmt: skip


def test_what_was_refused_bounds_the_windows_after_it() -> None:
    made = Call(Scripted(OVERFLOW, "ok", OVERFLOW, "ok", window=10_000), request(100))
    assert made.steps[:6] == [
        "first 1: 35273 <1000 overflow", "halved 1: 17673 <1000",
        "window 2: 17756 <1000 overflow", "halved 2: 8956 <1000",
        "window 3: 8956 <1000", "window 4: 4956 <1000",
    ]  # fmt: skip
    # A window too small for anything is refused by the provider's own words.
    made = Call(Scripted(OVERFLOW, window=400), request(3))
    assert made.steps == ["first 1: 473 <100 overflow"] and str(made.error) == "too much"
    other = Call(Scripted("ok", ModelError("auth", "who"), window=400), request(3))
    assert other.steps == ["first 1: 473 <100", "window 2: 556 <100 auth"]


def test_the_last_window_alone_must_gain_something() -> None:
    """What the whole summary takes counts, not what is noted on the way."""
    plan = ("n" * 80, "n" * 80, "n" * 76)
    kept = Call(Scripted(*plan, window=400), request(5, 280), limits={"history": 20})
    assert [one.split(":")[0] for one in kept.steps] == ["first 1", "window 2", "window 3"]
    assert kept.call.parts[0].text == "n" * 76
    lost = Call(Scripted("n" * 80, window=400), request(5, 280), limits={"history": 20})
    assert [one.split()[0] for one in lost.steps] == ["first", "window", "window", "reminder"]
    assert [one.kind for one in lost.call.attempts] == ["", "", "too-large", "too-large"]
    assert [one.text for one in lost.error.parts] == ["n" * 80]  # type: ignore[union-attr]


# an answer that cannot be used --------------------------------------------------------------------

FORM = Form(("Goal",))
MISSING = "Sections are missing: Goal."
REMINDED = 10 + 119 + 3 + 8
"""Tokens of the call with its 12 characters of an answer and what is missing in it."""


@pytest.mark.parametrize(
    ("bad", "window", "roles"),
    [
        ("no sections ", None, ["system", "user", "assistant", "user"]),
        ("no sections ", REMINDED + 1000, ["system", "user", "assistant", "user"]),
        ("no sections ", REMINDED + 999, ["system", "user", "user"]),
        (" ", None, ["system", "user", "user"]),
    ],
)
def test_a_reminder_goes_with_the_answer_where_that_fits(
    bad: str, window: int | None, roles: list[str]
) -> None:
    models = Scripted(bad, "## Goal\nx", window=window)
    made = Call(models, request(), form=FORM)
    assert [message.role for message in models.asked[1].messages] == roles
    words = models.asked[1].messages[-1].text
    problem = MISSING if bad.strip() else "The summarizer's answer is empty."
    assert words == f"- {problem}"
    assert made.said == [f"{problem} Asking once more."] and made.void == ["history"]
    assert [one.problem for one in made.call.attempts] == [problem, ""]
    assert made.call.parts[0].text == "## Goal\nx"


def test_a_reminder_that_overflows_leaves_the_answer_unusable() -> None:
    made = Call(Scripted("bad", OVERFLOW), request(), form=FORM)
    assert str(made.error) == MISSING
    assert [one.text for one in made.error.parts] == ["bad"]  # type: ignore[union-attr]
    made = Call(Scripted("bad", ModelError("auth", "Who are you?")), request(), form=FORM)
    assert str(made.error) == "Who are you?" and made.error.parts == ()  # type: ignore[union-attr]


def test_several_problems_are_all_said() -> None:
    made = Call(Scripted("x"), request(), form=Form(("Goal", "Next")))
    assert made.call.attempts[1].problem == "Sections are missing: Goal, Next."
    both = Call(Scripted("n" * 80), request(), form=FORM, limits={"history": 20})
    assert both.call.attempts[1].problem == (
        f"The summary takes 20 tokens and replaces 20: nothing is gained. {MISSING}"
    )
    assert both.call.attempts[1].kind == "too-large"
    assert both.said == [
        "The summary takes 20 tokens and replaces 20: nothing is gained. Asking once more."
    ]


# several models, several requests -----------------------------------------------------------------


def test_the_next_model_is_asked_and_the_last_ones_failure_is_the_drafts() -> None:
    who = ModelError("auth", "Who are you?")
    made = Call(Scripted(who, "bad", "bad", "ok"), request(), names=("a", "b", "c"), form=FORM)
    assert [(one.model, one.why, one.kind) for one in made.call.attempts] == [
        ("a", "first", "auth"), ("b", "next-model", "missing"), ("b", "reminder", "missing"),
        ("c", "next-model", "missing"), ("c", "reminder", "missing"),
    ]  # fmt: skip
    assert made.said == [
        "a: Who are you?. Asking b.", f"{MISSING} Asking once more.",
        f"b: {MISSING[:-1]}. Asking c.", f"{MISSING} Asking once more.",
    ]  # fmt: skip
    assert str(made.error) == MISSING and made.void == ["history"] * 4
    over = Call(Scripted(OVERFLOW, window=400), request(3), names=("a", "b"))
    assert [one.model for one in over.call.attempts] == ["a"]


def test_one_that_fails_stops_the_others_and_what_came_is_given() -> None:
    made = Call(
        Scripted("ok", ModelError("auth", "Who?")), request(), request(purpose="turn_prefix")
    )
    assert str(made.error) == "Who?"
    assert [one.purpose for one in made.error.parts] in ([], ["history"])  # type: ignore[union-attr]
    assert [one.purpose for one in made.call.attempts] == ["history", "turn_prefix"]
    both = Call(Scripted("ok"), request(), request(purpose="turn_prefix"))
    assert [one.purpose for one in both.call.parts] == ["history", "turn_prefix"]
    cancel = CancelToken()
    cancel.cancel()
    stopped = Call(Scripted("ok"), request(), cancel=cancel)
    assert isinstance(stopped.error, Cancelled) and stopped.call.parts == ()


@pytest.mark.parametrize(
    ("window", "steps"),
    [
        (None, "first 0: 12073 <1000"),
        (10 + 3019 + 1000, "first 0: 12073 <1000"),
        # 96 tokens for tags, 10 for the system prompt, 10 for the words, 1000 for the answer.
        (10 + 3018 + 1000, f"first 0: {73 + 400 * 29} <1000"),
        (4000, f"first 0: {73 + 400 * 28} <1000"),
        (1000, f"first 0: {73 + 400 * 6} <250"),
        (200, "first 0: 201 <50"),
        (142, "first 0: 201 <35"),
    ],
)  # fmt: skip
def test_the_short_summary_is_of_the_newest_that_fit(window: int | None, steps: str) -> None:
    made = Call(Scripted("ok", window=window), request(30, purpose="short"))
    assert made.steps == [steps]
    sent = made.call.attempts[0].request.messages[1].text
    assert sent.endswith("x\n</conversation>\n\n" + "w" * 40)


def test_the_short_summary_may_fail_alone() -> None:
    good = request()
    made = Call(Scripted("**Two** words.", "ok"), good, request(purpose="short"))
    assert {made.call.parts[0].text, made.call.short_summary} == {"ok", "Two words."}
    assert [one.purpose for one in made.call.parts] == ["history"]
    failed = Call(Scripted(OVERFLOW), request(3, purpose="short"), names=("a", "b"))
    assert failed.error is None and failed.call.short_summary == ""
    assert [one.kind for one in failed.call.attempts] == ["overflow"]


def test_a_service_gives_the_short_summary_along_or_is_asked_after() -> None:
    short = request(purpose="short")
    made = Call(Scripted(Finished("stop", " Along. ")), request(), short, names=(REMOTE,))
    assert made.error is not None, "an answer without text is none"

    class Service(Scripted):
        async def stream(self, request: ModelRequest, cancel: CancelToken) -> AsyncIterator[Event]:
            self.asked.append(request)
            yield TextDelta("ok")
            yield Finished("stop", str(self.plan[0]))

    along = Call(Service("- Along."), request(), short, names=(REMOTE,))
    assert (along.call.short_summary, len(along.steps)) == ("Along.", 1)
    after = Call(Service(""), request(), short, names=(REMOTE,))
    assert (after.call.short_summary, len(after.steps)) == ("ok", 2)
