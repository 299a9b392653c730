"""Compacting without a review: by the threshold, after an overflow, or on a person's word.

The same path as a reviewed compaction: previewed, drafted and recorded, committed. What fails
changes nothing. Rules are read anew for every decision; guards keep it from going on for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal
from weakref import WeakMethod

from explorer.agent.keeping import Outgoing, Room, TooLarge
from explorer.compaction.partition import is_possible
from explorer.compaction.triggers import (
    Decision,
    Guards,
    LastReply,
    decide,
    looks_between_rounds,
    manual_now,
    may_continue,
    resting_words,
)
from explorer.models.door import Cancelled, CancelToken, ChatMessage
from explorer.session.edits import prunes_on
from explorer.work.asking import Asking
from explorer.work.by_itself import FAILED_WORDS, Running, Unreviewed
from explorer.work.changes import (
    AutomaticChanged,
    Change,
    CompactionEnded,
    LeafMoved,
    PruneMade,
)
from explorer.work.guarding import KeptGuards
from explorer.work.kept_prompts import KeptPrompts
from explorer.work.rules import AutomaticRules, Limits, limits
from explorer.work.situation import refused_reply, situation

if TYPE_CHECKING:
    from explorer.work.document import Document


class NotNow(Exception):
    """A compaction was asked for while the session does not stand still (A9)."""


class AutomaticCompaction:
    """Watches one session and compacts it. All methods belong to the document's thread.

    ``rules`` is asked at every decision. Implements ``ContextKeeper`` for turns of the agent.
    """

    def __init__(self, document: Document, rules: Callable[[], AutomaticRules]) -> None:
        self._document = document
        self._rules = rules
        self._asked: str | None = None
        self._pruned = -1
        """The entry of the last prune that happened by itself."""
        self._looked = False
        """The first request of a turn follows: the context was looked at before its message."""
        told = WeakMethod(self._told)  # a cycle would keep a closed session
        self._guards = KeptGuards(document, lambda: tell() if (tell := told()) else None)
        self.asking = Asking(document)
        """Waits for a person's word, where that is wished and one attends."""
        self._unreviewed = Unreviewed(document, rules, self._guards, self.asking)
        self._at_once: Running | None = None
        self.prompts = KeptPrompts(document, rules, self._guards, self.asking)
        """Renders what is sent, where the profile keeps it within a budget."""
        self._unsubscribe: Callable[[], None] | None = document.hub.subscribe(self._changed)

    # what there is -----------------------------------------------------------------------------

    @property
    def document(self) -> Document:
        """The session that is watched."""
        return self._document

    def close(self) -> None:
        """Watch the session no longer, and hold on to nothing that holds on to this."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    @property
    def rules(self) -> AutomaticRules:
        """The rules as they stand now."""
        return self._rules()

    @property
    def guards(self) -> Guards:
        """What happened so far, as far as it holds further compactions back."""
        return self._guards.now

    @guards.setter
    def guards(self, guards: Guards) -> None:
        self._guards.now = guards

    @property
    def running(self) -> Running | None:
        """The compaction that is under way."""
        return self._at_once or self._unreviewed.running

    @property
    def is_requested(self) -> bool:
        """A compaction waits for the end of the turn."""
        return self._asked is not None

    @property
    def resting(self) -> str:
        """Why nothing happens by itself any more, as a sentence; empty while it does."""
        return resting_words(self.guards)

    def limits(self, model: str) -> Limits:
        """Window and threshold for a model, in tokens."""
        return limits(self._rules(), self._document.door.info(model).window)

    # what a person does ------------------------------------------------------------------------

    def person_spoke(self) -> None:
        """The person sends a message: limits that hold for one message start anew."""
        self.guards = self.guards.person_spoke()

    def request_compaction(self, instructions: str = "") -> None:
        """Compact after the running turn, whatever the threshold says (A8)."""
        self._asked = instructions
        self._told()

    def forget_request(self) -> None:
        """Do not compact after the turn after all."""
        self._asked = None
        self._told()

    def reset(self) -> None:
        """Close the breaker: compactions happen by themselves again."""
        self.guards = self.guards.reset()

    def _changed(self, change: Change) -> None:
        """A person who takes back what happened by itself does not want it to happen again at
        once: it rests until ``reset``."""
        if not isinstance(change, CompactionEnded | LeafMoved) or change.key != self._document.key:
            return
        if isinstance(change, CompactionEnded):
            if change.entry >= 0 and change.trigger in ("background", "prompt"):
                self._guards.did(change.entry)
        elif change.new < change.old and self._guards.is_taken_back(change.new):
            self._guards.did(-1)
            self._rest()

    def cancel(self) -> None:
        """Give up the compaction that is under way; the session stays as it is."""
        self._unreviewed.cancel()

    async def compact_now(
        self,
        instructions: str,
        model: str,
        cancel: CancelToken,
        turn_running: bool = False,
    ) -> int:
        """Compact on a person's word, whatever is switched off (A9, A12); the entry.

        Raises NotNow while a turn or another compaction runs, Cancelled, and ValueError with the
        reason when it fails. A profile that stops the turn first is the caller's to follow:
        see ``manual_now``.
        """
        rules = self._rules()
        if self.running is not None or manual_now(rules.profile, turn_running) != "run":
            raise NotNow("The session is being worked on; compact it after the turn.")
        if self.prompts.wanted:
            self._at_once = Running("manual", 0, self.limits(model).window)
            try:
                return await self.prompts.compact(model, instructions, cancel)
            finally:
                self._at_once = None
                self._told()
        rules = replace(rules, instructions=instructions)
        ended = await self._unreviewed.compact("manual", model, rules, cancel)
        if ended.cancelled:
            raise Cancelled
        if ended.entry < 0:
            raise ValueError(ended.problem)
        return ended.entry

    # what a turn asks --------------------------------------------------------------------------

    async def messages(
        self, outgoing: Outgoing, cancel: CancelToken
    ) -> Sequence[ChatMessage] | None:
        """What is sent, where the profile keeps it within a budget. Elsewhere a turn that goes on
        for long is compacted between two of its rounds, where the profile looks there (A8)."""
        kept = await self.prompts.messages(outgoing, cancel)
        looked, self._looked = self._looked, False
        if kept is None and not looked and looks_between_rounds(self._rules().profile):
            await self._between_rounds(outgoing.model, cancel)
        return kept

    async def _between_rounds(self, model: str, cancel: CancelToken) -> None:
        await self._prune(model)
        if self._decide(model, None).trigger == "threshold" and not cancel.cancelled:
            await self._unreviewed.compact("threshold", model, self._rules(), cancel)

    async def before_message(self, model: str, cancel: CancelToken) -> None:
        """Make room before a message is sent, if the last turn left none: it may have failed, or
        been stopped, or the rules may have changed since."""
        self._looked = True
        refused = refused_reply(self._document)
        if refused is None:
            await self._prune(model)
        decision = self._decide(model, refused)
        if decision.trigger == "overflow":
            await self._leave(self._document.leaf, model, cancel, again=False)
        elif decision.trigger is not None:
            await self._unreviewed.compact(decision.trigger, model, self._rules(), cancel)

    async def make_room(self, model: str, reply: TooLarge, cancel: CancelToken) -> Room:
        """Recover from an overflow: the reply leaves the active path, and what is before it is
        compacted (A10). One recovery per message of the person."""
        decision = self._decide(model, LastReply(model, reply.outcome, reply.read_tokens))
        if decision.trigger != "overflow":
            if reply.outcome == "overflow" and decision.held_by == "recovered":
                return Room(False, f"{FAILED_WORDS['overflow']}: {decision.reason}")
            return Room(False)
        return await self._leave(reply.entry, model, cancel, again=True)

    async def after_turn(
        self, model: str, end: Literal["went-well", "failed", "stopped"], finished: bool,
        cancel: CancelToken,
    ) -> bool:  # fmt: skip
        """Look at the context after a turn; returns whether the agent is to be prompted to go on.

        ``finished``: the turn came to its own end, rather than to a limit.
        """
        asked, self._asked = self._asked, None
        if asked is not None:
            self._told()
        if end == "stopped" or cancel.cancelled:
            return False
        outcome: Literal["answered", "failed"] = "answered" if end == "went-well" else "failed"
        if end == "went-well":
            await self._prune(model)
        decision = self._decide(model, LastReply(model, outcome), requested=asked is not None)
        if decision.trigger is None:
            return False
        rules = self._rules()
        if asked:
            rules = replace(rules, instructions=asked)
        ended = await self._unreviewed.compact(decision.trigger, model, rules, cancel)
        if ended.entry < 0 or decision.trigger != "threshold":
            return False
        rules = self._rules()
        if not may_continue(rules.profile, rules.auto_continue, self.guards, finished):
            return False
        self.guards = replace(self.guards, continued=True)
        return True

    # deciding ----------------------------------------------------------------------------------

    def _decide(self, model: str, reply: LastReply | None, requested: bool = False) -> Decision:
        rules = self._rules()
        now = situation(self._document, rules, model, reply, requested)
        self.guards = self.guards.observed(now)
        found = decide(now, self.guards, rules.profile, rules.enabled)
        if found.trigger == "threshold" and self.prompts.wanted:
            return Decision(None, False, "The prompt is brought within its budget when it is sent.")
        return found

    # doing -------------------------------------------------------------------------------------

    async def _leave(self, reply: int, model: str, cancel: CancelToken, again: bool) -> Room:
        """Make room before a reply that was too large; the reply stays in the log, as a branch.
        When nothing comes of it, the reply is the leaf again."""
        document, rules = self._document, self._rules()
        parent = document.tree.columns.parent[reply]
        self.guards = replace(self.guards, recovered=again)
        await document.writer.move_leaf(parent)
        ended: CompactionEnded | None = None
        try:
            pruned = await self._prune(model, everything=True)
            if pruned and not is_possible(document.preview(None, rules.profile, rules.settings)):
                return Room(True)
            ended = await self._unreviewed.compact("overflow", model, rules, cancel, retry=again)
        finally:
            if (ended is None or ended.entry < 0) and document.leaf == parent:
                await document.writer.move_leaf(reply)
        return Room(ended.entry >= 0, ended.problem)

    async def _prune(self, model: str, everything: bool = False) -> bool:
        """Let old tool results give way to notes before anything is decided (A13); whether any did.

        A policy that prunes no more than needed waits until the context is too full.
        """
        document, rules = self._document, self._rules()
        policy = rules.profile.pruning
        if policy is None or not rules.enabled or self.guards.resting:
            return False
        over = document.context_size(rules.profile).tokens - self.limits(model).threshold
        needed = None if everything or policy.amount == "everything" else over
        if needed is not None and needed <= 0:
            return False
        # A tenth of a second for the longest sessions.
        plan = await asyncio.to_thread(document.plan_pruning, rules.profile, needed=needed)
        if not plan.results or plan.leaf != document.leaf or self._was_taken_back():
            return False
        entry = await document.prune(plan, "Before a compaction was decided on.")
        self._pruned = entry
        self._guards.did(entry)
        document.hub.publish(PruneMade(document.key, entry, len(plan.results), plan.saved))
        return True

    def _was_taken_back(self) -> bool:
        """A prune of this watch's own holds no longer, although nobody left its branch."""
        document = self._document
        path = document.tree.path(document.leaf)
        if self._pruned < 0 or self._pruned not in path:
            return False
        if self._pruned in prunes_on(document.tree, path):
            return False
        self._pruned = -1
        self._rest()
        return True

    def _rest(self) -> None:
        self.guards = self.guards.rest(
            "Automatic compaction rests, since its last step was taken back."
        )

    def _told(self) -> None:
        self._document.hub.publish(AutomaticChanged(self._document.key))
