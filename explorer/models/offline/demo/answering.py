"""One reply: the work that a question asks for is done again in thought, up to where it stands.

A piece of work is a generator that yields moves and is sent their results. All that happened since
the question stands in the request, so every request runs the work from its beginning, feeds it the
results that are there, and answers with the first move that has none.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from explorer.models.events import ThinkingDelta, ToolCallReady
from explorer.models.offline.demo.move import Move, Wanted, Work
from explorer.models.offline.demo.reporting import report
from explorer.models.offline.demo.situation import Round, Situation, situation_of
from explorer.models.offline.demo.steps import Look, steps_in
from explorer.models.offline.demo.working import work_on
from explorer.models.offline.pieces import Emit, IsCancelled, send_end, send_text
from explorer.models.request import ModelRequest, ToolCall

MOST_MOVES = 60
"""Moves of one piece of work; it is ended where a rule would go on for ever."""


def answer(request: ModelRequest, emit: Emit, cancelled: IsCancelled) -> None:
    """Answer the last user message, or go on with what it asked for."""
    now = situation_of(request, cancelled)
    move = _next_move(work_on(now), now)
    if cancelled():
        return
    if move.thinking and request.thinking != "off":
        emit(ThinkingDelta(move.thinking))
    if not send_text(move.text, emit, cancelled):
        return
    calls = [ToolCall(_call_id(), want.tool, dict(want.arguments)) for want in move.wants]
    for call in calls:
        emit(ToolCallReady(call))
    said = move.thinking + move.text + "".join(str(call.arguments) for call in calls)
    send_end(request, said, "tool_calls" if calls else "stop", emit, "provider")


def _call_id() -> str:
    return f"demo_{secrets.token_hex(4)}"


def _next_move(work: Work, now: Situation) -> Move:
    """What to do now. Where another model began, what it found is told."""
    if now.rounds and all(isinstance(step, Look) for step in steps_in(now.question)):
        told = [
            report(Wanted(call.name, call.arguments), result)
            for last in now.rounds[-1:]
            for call, result in zip(last.calls, last.results, strict=True)
        ]
        return Move("", "\n\n".join(told))
    return _along(work, now)


def _along(work: Work, now: Situation) -> Move:
    """Run the work over what was done already. What was done before a compaction is not there any
    more, so a round that fits is looked for among all that are left."""
    at = 0
    try:
        move = next(work)
        for _ in range(MOST_MOVES):
            found = _done(move.wants, now.rounds, at)
            if found < 0:
                return move
            at = found + 1
            move = work.send(now.rounds[found].results)
    except StopIteration as end:
        return Move("", "Nothing is left to do." if now.is_over else str(end.value))
    return Move("", "I have been at this for too long without an end, so I stop here.")


def _done(wants: Sequence[Wanted], rounds: Sequence[Round], first: int) -> int:
    asked = [(want.tool, dict(want.arguments)) for want in wants]
    for at in range(first, len(rounds)):
        if [(call.name, call.arguments) for call in rounds[at].calls] == asked:
            return at
    return -1
