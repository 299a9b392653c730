"""Compacts a session automatically: by the threshold, after an overflow, or after a turn on the
user's request, as the procedures of ``explorer.compaction.automatic`` decide.

Each takes the same path as a reviewed compaction: previewed, drafted and recorded, committed. What
fails changes nothing. Rules are read again for every decision; guards keep it from looping.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar
from weakref import WeakMethod

from msgspec.structs import replace

from explorer.agent.turn_interface import Outgoing, Room, TooLarge
from explorer.compaction.automatic import (
    Automatic,
    Compact,
    Outcome,
    Preview,
    Prune,
    Recover,
    Steps,
    run_async,
)
from explorer.compaction.triggers import ContextLimits, Guards, LastReply, manual_now, resting_words
from explorer.models.client import Cancelled, CancelToken, ChatMessage
from explorer.services.auto_compaction.guards import Confirmation, StoredGuards, WatchedDocument
from explorer.services.auto_compaction.prompt_gate import PromptGate
from explorer.services.auto_compaction.runner import FAILED_WORDS, CompactionRunner, Running
from explorer.services.changes import (
    AutomaticChanged,
    Change,
    CompactionEnded,
    CompactionRequested,
    LeafMoved,
    PruneMade,
)
from explorer.services.document import Document
from explorer.services.draft_records import DraftFailed
from explorer.services.effective_rules import EffectiveRules
from explorer.session.edits import prunes_on
from explorer.session.entries import AssistantMessage
from explorer.session.kinds import Flag

_Result = TypeVar("_Result")


class SessionBusy(Exception):
    """A compaction was ordered while a turn or another compaction runs (A9)."""


class AutomaticCompaction:
    """Watches one session and compacts it. All methods belong to the document's thread.

    ``rules`` is asked at every decision. Implements ``ContextPort`` for turns of the agent.
    """

    def __init__(
        self,
        document: Document,
        rules: Callable[[], EffectiveRules],
        beside: Callable[[], int | None] = lambda: None,
    ) -> None:
        """``beside``: what requests take beside the conversation; see ``prepare_prompt``."""
        self._document = document
        self._rules = rules
        self._requested: str | None = None
        """The instructions of a compaction that waits for the end of the turn."""
        self._last_prune = -1
        """The entry of the last prune that was made automatically."""
        self._looked_before_turn = False
        """The first request of a turn follows: the context was looked at before its message."""
        publish = WeakMethod(self._publish)  # a reference cycle would keep a closed session alive
        self._guards = StoredGuards(document, lambda: call() if (call := publish()) else None)
        self.confirmation = Confirmation(document)
        self._runner = CompactionRunner(document, rules, self._guards, self.confirmation)
        self._manual: Running | None = None
        """A compaction that the prompt gate makes on the user's order."""
        self.prompts = PromptGate(
            document, rules, guards=self._guards, confirmation=self.confirmation, beside=beside
        )
        self._unsubscribe: Callable[[], None] | None = document.shared.hub.subscribe(
            self._on_change
        )

    # state -------------------------------------------------------------------------------------

    @property
    def document(self) -> Document:
        """The session that is watched."""
        return self._document

    def close(self) -> None:
        """Stop watching the session; without its subscription nothing keeps this alive."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    @property
    def rules(self) -> EffectiveRules:
        """The rules as they stand now."""
        return self._rules()

    @property
    def guards(self) -> Guards:
        """What holds further automatic compactions back."""
        return self._guards.now

    @guards.setter
    def guards(self, guards: Guards) -> None:
        self._guards.now = guards

    @property
    def running(self) -> Running | None:
        """The compaction that is under way."""
        return self._manual or self._runner.running

    @property
    def is_requested(self) -> bool:
        """A compaction waits for the end of the turn."""
        return self._requested is not None

    @property
    def resting(self) -> str:
        """Why nothing is compacted automatically any more, as a sentence; empty while it is."""
        return resting_words(self.guards)

    def limits(self, model: str) -> ContextLimits:
        """Window and threshold for a model, in tokens."""
        return self._rules().limits(self._document.models.info(model).window)

    # what the user does ------------------------------------------------------------------------

    def person_spoke(self) -> None:
        """Restart the limits that apply to one message."""
        self.guards = self.guards.person_spoke()

    def request_compaction(self, instructions: str = "") -> None:
        """Compact after the running turn, whatever the threshold says (A8)."""
        self._requested = instructions
        self._publish()

    def forget_request(self) -> None:
        """Withdraw ``request_compaction``."""
        self._requested = None
        self._publish()

    def reset(self) -> None:
        """Close the breaker: compactions happen automatically again."""
        self.guards = self.guards.reset()

    def cancel(self) -> None:
        """Give up the compaction that is under way; the session stays unchanged."""
        self._runner.cancel()

    async def compact_now(
        self,
        instructions: str,
        model: str,
        cancel: CancelToken,
        turn_running: bool = False,
    ) -> int:
        """Compact on the user's order, whatever is switched off (A9, A12); the compaction entry.

        Raises SessionBusy, Cancelled, and ValueError with the reason when it fails. A profile that
        stops the turn first is the caller's to follow: see ``manual_now``.
        """
        rules = self._rules()
        if self.running is not None or manual_now(rules.profile, turn_running) != "run":
            raise SessionBusy("The session is being worked on; compact it after the turn.")
        if self.prompts.is_active:
            self._manual = Running("manual", 0, self.limits(model).window)
            try:
                return await self.prompts.compact(model, instructions, cancel)
            except DraftFailed as error:
                raise ValueError(str(error)) from error
            finally:
                self._manual = None
                self._publish()
        rules = replace(rules, instructions=instructions)
        ended = await self._runner.compact("manual", model, rules, cancel)
        if ended.cancelled:
            raise Cancelled
        if ended.entry < 0:
            raise ValueError(ended.problem)
        return ended.entry

    # what a turn asks --------------------------------------------------------------------------

    async def messages(
        self, outgoing: Outgoing, cancel: CancelToken
    ) -> Sequence[ChatMessage] | None:
        """The messages of the next request, where the profile renders them to a budget; else None,
        and the context is compacted between two rounds where the profile looks there (A8)."""
        rendered = await self.prompts.messages(outgoing, cancel)
        looked, self._looked_before_turn = self._looked_before_turn, False
        if rendered is None and not looked:
            model = outgoing.model
            await self._run(self._automatic(model).between_rounds(), model, cancel)
        return rendered

    async def before_message(self, model: str, cancel: CancelToken) -> None:
        """Make room before a message is sent, if the last turn left none."""
        self._looked_before_turn = True
        refused = _refused_reply(self._document)
        await self._run(self._automatic(model).before_message(refused), model, cancel)

    async def make_room(self, model: str, reply: TooLarge, cancel: CancelToken) -> Room:
        """Recover from an overflow: the reply leaves the active path, and what is before it is
        compacted (A10). One recovery per message of the user."""
        last = LastReply(model, reply.outcome, reply.read_tokens)
        steps = self._automatic(model).make_room(last)
        outcome = await self._run(steps, model, cancel, reply.entry)
        if outcome.blocked_by is None:
            return Room(outcome.done, outcome.problem)
        was_tried = reply.outcome == "overflow" and outcome.blocked_by == "recovered"
        return Room(False, f"{FAILED_WORDS['overflow']}: {outcome.problem}" if was_tried else "")

    async def after_turn(
        self, model: str, end: Literal["went-well", "failed", "stopped"], finished: bool,
        cancel: CancelToken,
    ) -> bool:  # fmt: skip
        """Look at the context after a turn; returns whether the agent is to be prompted to go on.

        ``finished``: the turn ended normally rather than at a limit.
        """
        requested, self._requested = self._requested, None
        if requested is not None:
            self._publish()
        if end == "stopped" or cancel.cancelled:
            return False
        steps = self._automatic(model).after_turn(
            LastReply(model, "answered" if end == "went-well" else "failed"),
            finished=finished,
            requested=requested is not None,
        )
        return await self._run(steps, model, cancel, instructions=requested or "")

    # how ---------------------------------------------------------------------------------------

    def _automatic(self, model: str) -> Automatic:
        return Automatic(WatchedDocument(self._document, self._rules, self._guards, model))

    async def _run(
        self,
        steps: Steps[_Result],
        model: str,
        cancel: CancelToken,
        reply: int = -1,
        instructions: str = "",
    ) -> _Result:
        """Perform a procedure. ``reply``: the one that was too large, by default the leaf;
        ``instructions``: those of the user who ordered the compaction."""

        async def perform(step: Prune | Recover | Compact | Preview) -> object:
            match step:
                case Prune(needed):
                    return await self._prune(needed)
                case Recover():
                    return await self._leave_reply(reply, step, model, cancel)
                case Compact(trigger, _reason, again):
                    if cancel.cancelled:
                        return Outcome(False)
                    rules = self._rules()
                    if instructions:
                        rules = replace(rules, instructions=instructions)
                    ended = await self._runner.compact(trigger, model, rules, cancel, retry=again)
                    return Outcome(ended.entry >= 0, ended.problem)
                case Preview():
                    rules = self._rules()
                    sizes = rules.sizes(self._document.models.info(model).window)
                    return self._document.compaction.preview(None, rules.profile, sizes)

        return await run_async(steps, perform)

    async def _leave_reply(
        self, reply: int, step: Recover, model: str, cancel: CancelToken
    ) -> Outcome:
        """Make room before a reply that was too large; the reply stays in the log, as a branch.
        When nothing comes of it, the reply is the leaf again."""
        document = self._document
        reply = document.leaf if reply < 0 else reply
        parent = document.tree.columns.parent[reply]
        await document.writer.move_leaf(parent)
        try:
            return await self._run(self._automatic(model).recovery(step), model, cancel)
        finally:
            if document.leaf == parent:
                await document.writer.move_leaf(reply)

    async def _prune(self, needed: int | None) -> bool:
        """Replace old tool results by notes; whether any was."""
        document = self._document
        # A tenth of a second for the longest sessions.
        plan = await asyncio.to_thread(
            document.edits.plan_pruning, self._rules().profile, needed=needed
        )
        if not plan.results or plan.leaf != document.leaf or self._prune_was_undone():
            return False
        entry = await document.edits.prune(plan, "Before a compaction was decided on.")
        self._last_prune = entry
        self._guards.note_step(entry)
        document.shared.hub.publish(PruneMade(document.key, entry, len(plan.results), plan.saved))
        return True

    def _prune_was_undone(self) -> bool:
        """Forget the last automatic prune: it is no longer in force, although its branch was not
        left."""
        document = self._document
        path = document.tree.path(document.leaf)
        if self._last_prune < 0 or self._last_prune not in path:
            return False
        if self._last_prune in prunes_on(document.tree, path):
            return False
        self._last_prune = -1
        self._rest()
        return True

    def _on_change(self, change: Change) -> None:
        """An extension may ask for a compaction. A user who undoes an automatic step does not want
        it again at once: automatic compaction rests until ``reset``."""
        kinds = CompactionEnded | LeafMoved | CompactionRequested
        if not isinstance(change, kinds) or change.key != self._document.key:
            return
        if isinstance(change, CompactionRequested):
            # Asked by a handler of a compaction, it is under way already.
            if self.running is None:
                self.request_compaction(change.instructions)
        elif isinstance(change, CompactionEnded):
            if change.entry >= 0 and change.trigger in ("background", "prompt"):
                self._guards.note_step(change.entry)
        elif change.new < change.old and self._guards.undoes_last_step(change.new):
            self._guards.note_step(-1)
            self._rest()

    def _rest(self) -> None:
        self.guards = self.guards.rest(
            "Automatic compaction rests, since its last step was taken back."
        )

    def _publish(self) -> None:
        self._document.shared.hub.publish(AutomaticChanged(self._document.key))


def _refused_reply(document: Document) -> LastReply | None:
    """The reply at the leaf, if a model refused the context with it as too large.

    A leaf is newer than any compaction on its path, so what it says is about this context (B13).
    """
    columns, leaf = document.tree.columns, document.leaf
    if leaf < 0 or not columns.flags[leaf] & Flag.ERROR:
        return None
    reply = document.payloads.shown.entry(leaf).body
    if not isinstance(reply, AssistantMessage) or reply.error_kind != "overflow":
        return None
    return LastReply(f"{reply.provider}/{reply.model}", "overflow")
