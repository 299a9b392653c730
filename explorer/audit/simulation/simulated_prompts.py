"""Prompts that are kept within a budget, and summaries that are made ahead (A44 to A49).

The procedures of ``explorer.compaction.background``, as a live session runs them, with steps that
are performed on the walk's columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.simulation.result import CompactionCause
from explorer.audit.simulation.simulated_compactor import Planned, SimulatedCompactor
from explorer.compaction import background as machine
from explorer.compaction.automatic import run
from explorer.compaction.background import BudgetedPrompts
from explorer.compaction.profile.rules import Background, PromptBudget
from explorer.prompting.agent_prompt import (
    MessageBudget,
    SummaryPart,
    message_budget,
    part_ahead,
    part_before_request,
    result_limit,
)
from explorer.prompting.turns import CallResult, ConversationTurns, Round, Spoken, ToolUse, Turn
from explorer.session.kinds import CONTEXT_KINDS, TURN_START_KINDS, Flag, Kind

_CALL = (ToolUse("", "", {}),)
_FAILED = int(Flag.ERROR | Flag.ABORTED)
_TEXT, _CALLS = int(Flag.HAS_TEXT), int(Flag.HAS_TOOL_CALL)


class _Draw(Struct, frozen=True):
    """Stands for the random numbers of the state machine."""

    value: float

    def random(self) -> float:
        return self.value


class RenderedMessages(NamedTuple):
    """The messages of a prompt."""

    tokens: int
    is_shortened: bool
    """The oldest were left out."""


class _Pending(Struct, frozen=True):
    """A summary that is made ahead."""

    run: int
    last: int
    """Position of the last entry that it summarizes."""
    planned: Planned
    ready_at: int
    """The request before which it is there."""


class Prompts:
    """The prompts of one walk. Positions are the track's."""

    def __init__(self, compactor: SimulatedCompactor) -> None:
        profile = compactor.profile
        policy = profile.prompt_budget or PromptBudget()
        taken, beyond = compactor.taken, compactor.measure.beyond
        tools = beyond if taken.tool_tokens is None else taken.tool_tokens
        window = compactor.limits.window
        self._compactor = compactor
        self.policy = profile.background or Background()
        self._draws = _Draw(taken.draw)
        self.budget: MessageBudget = message_budget(
            window, tools, policy.threshold, policy.tools_margin
        )
        self._limit = result_limit(window, policy.result_share)
        self._prompts = BudgetedPrompts(self, self._draws)
        self._pending: _Pending | None = None
        self._last = RenderedMessages(-1, False)
        """The last prompt."""
        self._turns: list[Turn] = []
        self._end = 0
        """Positions that are in the turns."""
        self._left_out = 0
        """Tokens of long results that prompts do not hold."""
        compactor.on_changed = self._from

    @property
    def line(self) -> int:
        """Where a summary is begun ahead with a warm cache, in tokens of the whole prompt."""
        return round(self.budget.base * machine.trigger_line(self.policy, True, self._draws))

    # the conversation --------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Take in what was appended."""
        for at in range(self._end, self._compactor.context.end):
            self._append(at)
        self._end = self._compactor.context.end

    def _append(self, at: int) -> None:
        track, values = self._compactor.track, self._compactor.weighed.values
        kind, flags, turns = track.kinds[at], track.flags[at], self._turns
        if kind not in CONTEXT_KINDS or at in self._compactor.omitted:
            return
        if kind == Kind.TOOL_RESULT:
            self._left_out += max(0, values[at] - self._limit)
            if turns and turns[-1].rounds:
                turns[-1].rounds[-1].results.append(CallResult(at, "", "", values[at]))
        elif kind == Kind.ASSISTANT:
            if flags & _FAILED:
                return
            if not turns:
                turns.append(Turn())
            text = "said" if flags & _TEXT else ""
            calls = _CALL if flags & _CALLS else ()
            turns[-1].rounds.append(Round(at, text, values[at], calls))
        else:
            if not turns or turns[-1].rounds:
                turns.append(Turn())
            turns[-1].messages.append(Spoken(at, "", values[at]))

    def _conversation(self) -> ConversationTurns:
        """As ``explorer.prompting.turns.conversation`` tells it: rounds of nothing aside."""
        turns = (
            replace(turn, rounds=[one for one in turn.rounds if one.text or one.results])
            for turn in self._turns
        )
        summary = self._compactor.context.summary
        spoken = Spoken(-1, "", summary) if summary else None
        return ConversationTurns(spoken, tuple(turns))

    def _from(self, position: int) -> None:
        """What is before a position was summarized, or something behind it left out."""
        self._turns, self._left_out, self._end = [], 0, position
        self._go_on()

    # what the procedures look at ---------------------------------------------------------------

    @property
    def enabled(self) -> bool:
        """Whether prompts are summarized at all."""
        return self._compactor.profile.enabled and not self._compactor.guards.resting

    ahead = True
    """Nothing is postponed in a simulation."""

    def machine_changed(self, now: machine.Machine) -> None:
        """Ignore progress: nothing shows it."""

    # what is sent ------------------------------------------------------------------------------

    def send(self) -> RenderedMessages:
        """Make the next prompt."""
        self._go_on()
        requests = len(self._compactor.meter.requests)
        if self._pending is not None and requests >= self._pending.ready_at:
            self._finish()
        run(self._prompts.prompt(), self._perform)
        return self._last

    def _perform(self, step: Any) -> Any:
        """Perform a step of a procedure."""
        match step:
            case machine.Prepare():
                return self.budget.ratio(self._last.tokens) if self._last.tokens >= 0 else None
            case machine.Render(shortens):
                return self._render(shortens)
            case machine.SummarizeNow():
                return self._summarize_now()
            case machine.Start(number):
                self._start(number)
            case machine.Wait():
                self._finish()
            case machine.Apply():
                return self._apply()
            case machine.Stop() | machine.DiscardRun():
                self._pending = None

    def _tokens(self) -> int:
        compactor = self._compactor
        return compactor.taken.system_tokens + compactor.context.counted - self._left_out

    def _render(self, shortens: bool) -> machine.Sent | None:
        tokens, most = self._tokens(), self.budget.messages
        if tokens > most and not shortens:
            return None
        self._last = RenderedMessages(min(tokens, most), tokens > most)
        current = ConversationTurns(None, tuple(self._turns[-1:]))
        return machine.Sent(self.budget.ratio(self._last.tokens), current.is_warm)

    def _summarize_now(self) -> bool:
        part = part_before_request(self._conversation())
        if part is None:
            return False
        pending = self._asked_for(part, 0)
        why = f"{self._tokens():,} tokens do not fit the {self.budget.messages:,} of a prompt."
        self._commit(pending, "prompt", why)
        return True

    # a summary made ahead ----------------------------------------------------------------------

    def _start(self, number: int) -> None:
        part = part_ahead(self._conversation())
        if part is None:
            self._prompts.step(machine.Failed(number, "No round is complete yet."))
        else:
            self._pending = self._asked_for(part, number)

    def _finish(self) -> None:
        """The summary that was begun is there."""
        if self._pending is not None:
            self._prompts.step(machine.RunFinished(self._pending.run))

    def _apply(self) -> machine.Application:
        found, self._pending = self._pending, None
        context = self._compactor.context
        if found is None or not (found.last >= context.compacted_at or context.is_whole):
            return machine.Application("It is out of date.", compacted=False)
        self._commit(found, "background", self._prompts.machine.note)
        return machine.Application()

    # summaries ---------------------------------------------------------------------------------

    def _asked_for(self, part: SummaryPart, run: int) -> _Pending:
        compactor = self._compactor
        context, measure = compactor.context, compactor.measure
        last = part.last_entry
        upto = context.upto(last + 1)
        size, assumed = compactor.summary_size(context.summary, upto - context.summary, 0)
        asked = measure.prompt(upto) + compactor.taken.order_tokens
        meter, is_fork = compactor.meter, run > 0
        # A fork of the very prompt that goes out finds it in the cache.
        cached = meter.cached_tokens(asked, compactor.now_ms) if is_fork or meter.requests else 0
        messages = compactor.track.messages
        planned = Planned(
            size, assumed, asked, messages[last + 1] - messages[context.start], cached
        )
        return _Pending(run, last, planned, len(meter.requests) + compactor.taken.ready_after)

    def _commit(self, pending: _Pending, cause: CompactionCause, why: str) -> None:
        kept, track = pending.last + 1, self._compactor.track
        is_split = 0 < kept < len(track) and track.kinds[kept] not in TURN_START_KINDS
        split_turn = track.turn[kept] if is_split else 0
        self._compactor.commit(cause, why, pending.planned, kept, split_turn)
