"""What a plan says, independent of how a provider spells it."""

from __future__ import annotations

import json
from typing import Any, Protocol

from tests.models.serving.lines import argument_pieces, pieces_of
from tests.models.serving.plans import (
    HALF_A_CALL,
    Answer,
    Malformed,
    StreamFailure,
    WrongOrder,
)


class Spelling(Protocol):
    """One provider's stream. Tool calls and texts are numbered as they begin."""

    def begin(self, usage: dict[str, Any] | None) -> None: ...
    def text(self, piece: str) -> None: ...
    def thinking(self, text: str, signature: str) -> None: ...
    def call_begins(self, number: int, call_id: str, name: str, arguments: str) -> None: ...
    def call_goes_on(self, number: int, arguments: str) -> None: ...
    def call_ends(self, number: int) -> None: ...
    def finish(self, reason: str | None, usage: dict[str, Any] | None) -> None: ...
    def count(self, usage: dict[str, Any]) -> None: ...
    def error(self, plan: StreamFailure) -> None: ...
    def raw(self, line: str) -> None: ...
    def done(self) -> None: ...


class Pace(Protocol):
    """Told of every piece of text that is out; waits where the plan is slow."""

    def __call__(self) -> None: ...


def say_answer(out: Spelling, plan: Answer, sent: Pace) -> None:
    out.begin(plan.usage)
    if plan.thinking:
        out.thinking(plan.thinking, plan.signature)
    for piece in pieces_of(plan.text, plan.pieces):
        out.text(piece)
        sent()
    for number, (call_id, name, arguments) in enumerate(plan.tool_calls):
        first, *rest = argument_pieces(arguments) or [""]
        out.call_begins(number, call_id, name, first)
        sent()
        for piece in rest:
            out.call_goes_on(number, piece)
        out.call_ends(number)
    out.finish(plan.finish, plan.usage)
    if plan.done_line:
        out.done()


def say_half(out: Spelling, after: int, text: str, in_call: bool, sent: Pace) -> None:
    """So many pieces of text, and where asked for the half of a call."""
    out.begin(None)
    for _ in range(after):
        out.text(text)
        sent()
    if in_call:
        call_id, name, arguments = HALF_A_CALL
        out.call_begins(0, call_id, name, arguments[: len(arguments) // 2])
        sent()


def say_malformed(out: Spelling, plan: Malformed) -> None:
    out.begin(None)
    out.text("so far so good")
    out.raw(plan.line)


def say_failure(out: Spelling, plan: StreamFailure, sent: Pace) -> None:
    out.begin(None)
    for _ in range(plan.after):
        out.text(plan.text)
        sent()
    out.error(plan)


USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def say_in_wrong_order(out: Spelling, plan: WrongOrder, sent: Pace) -> None:
    out.begin(USAGE)
    if plan.order == "usage-first":
        out.count(USAGE)
        out.text(plan.text)
        for number, call in enumerate(plan.tool_calls):
            _whole_call(out, number, *call)
        out.finish("tool_calls", None)
    elif plan.order == "arguments-first":
        out.text(plan.text)
        for number, (call_id, name, arguments) in enumerate(plan.tool_calls):
            first, second = pieces_of(arguments, 2)
            out.call_goes_on(number, first)
            out.call_begins(number, call_id, name, "")
            out.call_goes_on(number, second)
            out.call_ends(number)
        out.finish("tool_calls", USAGE)
    elif plan.order == "interleaved":
        out.text(plan.text)
        for number, (call_id, name, _) in enumerate(plan.tool_calls):
            out.call_begins(number, call_id, name, "")
        pieces = [pieces_of(arguments, 4) for _, _, arguments in plan.tool_calls]
        for at in range(4):
            for number, own in enumerate(pieces):
                out.call_goes_on(number, own[at])
        for number in range(len(plan.tool_calls)):
            out.call_ends(number)
        out.finish("tool_calls", USAGE)
    else:
        *before, (call_id, name, arguments) = plan.tool_calls
        for number, call in enumerate(before):
            _whole_call(out, number, *call)
        first, second = pieces_of(arguments, 2)
        out.call_begins(len(before), call_id, name, first)
        out.finish("tool_calls", None)
        out.call_goes_on(len(before), second)
        out.call_ends(len(before))
        out.count(USAGE)
    sent()
    out.done()


def _whole_call(out: Spelling, number: int, call_id: str, name: str, arguments: str) -> None:
    out.call_begins(number, call_id, name, "")
    for piece in argument_pieces(arguments):
        out.call_goes_on(number, piece)
    out.call_ends(number)


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
