"""What holds automatic compaction back: what is stored of that with the session, and the question
whether the person wants it, with the answer and the wait between.

A step that was undone, and a breaker that opened after failures, hold until the user resets them:
they are stored. Limits of one message, waits and lower counts of failures are not: opening a
session starts those anew. While a question is open, the agent's turn that led to it is suspended:
nothing is sent and nothing changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from explorer.compaction.automatic import Switches
from explorer.compaction.profile import Profile
from explorer.compaction.triggers import MOST_FAILURES, Guards, TriggerSituation
from explorer.models.client import Cancelled, CancelToken
from explorer.models.events import done_or_cancelled
from explorer.services.changes import AutomaticChanged, Change, LeafMoved
from explorer.services.document import Document
from explorer.services.draft_records import Draft
from explorer.services.effective_rules import EffectiveRules
from explorer.session.kinds import CONTEXT_KINDS, Kind, selector

SETTING = "automatic_guards"
"""The session setting that stores them."""
_MESSAGES = selector(CONTEXT_KINDS)


class StoredGuards:
    """The guards of one session. ``on_rest`` is called when it begins or ends to rest."""

    def __init__(self, document: Document, on_rest: Callable[[], None]) -> None:
        self._document = document
        self._on_rest = on_rest
        stored = document.choices.all().get(SETTING)
        self._stored: dict[str, Any] = stored if isinstance(stored, dict) else {}
        self._now = _parse(self._stored)

    @property
    def now(self) -> Guards:
        """The guards as they stand."""
        return self._now

    @now.setter
    def now(self, guards: Guards) -> None:
        rested, self._now = self._now.resting, guards
        self._store()
        if guards.resting != rested:
            self._on_rest()

    def postpone(self, profile: Profile, tokens: int) -> None:
        """Hold back until the context has grown by so many tokens, or, with 0, until the user's
        next message."""
        wanted = self._document.tokens.context_size(profile).tokens + tokens if tokens else 0
        self.now = self.now.left(wanted)

    def note_step(self, entry: int) -> None:
        """A compaction or prune was made automatically; -1: there is none to be undone."""
        self._store({"last": self._document.tree.columns.ids[entry]} if entry >= 0 else {})

    def undoes_last_step(self, leaf: int) -> bool:
        """Whether moving the leaf to an entry undoes the last automatic step."""
        name = self._stored.get("last")
        if not isinstance(name, str):
            return False
        tree = self._document.tree
        last = tree.index_of(name)
        return last >= 0 and tree.columns.parent[last] == leaf

    def _store(self, last: dict[str, str] | None = None) -> None:
        before = {"last": self._stored["last"]} if "last" in self._stored else {}
        stored: dict[str, Any] = dict(before if last is None else last)
        if self._now.resting:
            stored |= {"reason": self._now.reason, "held": self._now.paused}
        if stored != self._stored:
            self._stored = stored
            self._document.choices.set(SETTING, stored or None)


class WatchedDocument(Struct):
    """One session, talking to one model, as the procedures of automatic compaction look at it."""

    document: Document
    read_rules: Callable[[], EffectiveRules]
    stored: StoredGuards
    model: str

    @property
    def guards(self) -> Guards:
        """What holds further compactions back."""
        return self.stored.now

    @guards.setter
    def guards(self, guards: Guards) -> None:
        self.stored.now = guards

    @property
    def rules(self) -> Switches:
        """The switches of the moment."""
        rules = self.read_rules()
        return Switches(rules.profile, rules.enabled, rules.auto_continue)

    def situation(self) -> TriggerSituation:
        """How full the context at the leaf is for the model, and what came since the last
        compaction."""
        document, rules = self.document, self.read_rules()
        window, threshold = rules.limits(document.models.info(self.model).window)
        context = document.context()
        start = context.path.position(context.compaction) + 1 if context.compaction >= 0 else 0
        new = len(context.path[start:].select(document.tree.columns.kind, _MESSAGES))
        return TriggerSituation(
            tokens=document.tokens.context_size(rules.profile).tokens,
            counted=document.tokens.counted_size(rules.profile),
            threshold=threshold,
            window=window,
            model=self.model,
            reply=None,
            new_messages=new,
            now_ms=document.writer.now_ms(),
        )


def _parse(stored: dict[str, Any]) -> Guards:
    reason, paused = stored.get("reason"), stored.get("held")
    if not isinstance(reason, str) or not isinstance(paused, bool):
        return Guards()
    return Guards(failures=0 if paused else MOST_FAILURES, reason=reason, paused=paused)


Occasion = Literal["threshold", "overflow", "background", "prompt"]
"""What leads to a question: the context is over its threshold, the model refused it, a summary
made ahead is ready, or a prompt does not fit its budget."""


class CompactionQuestion(Struct, frozen=True):
    """A compaction that is about to happen automatically. Sizes in tokens."""

    trigger: Occasion
    tokens: int
    window: int
    threshold: int
    draft: Draft | None = None
    """The summary that is ready, where one was made ahead."""


class CompactHere(Struct, frozen=True):
    """Go on: compact here. ``cut``: a position on the path that was chosen by hand."""

    cut: int | None = None
    instructions: str = ""
    text: str | None = None
    """The summary as it was edited, where one is ready; None takes it unchanged."""


class NotNow(Struct, frozen=True):
    """Postpone. ``tokens``: ask again when the context has grown by so many; 0: not before the
    user's next message."""

    tokens: int = 0


class MadeByHand(Struct, frozen=True):
    """The user compacted by hand meanwhile; the compaction entry."""

    entry: int


Answer = CompactHere | NotNow | MadeByHand


class Confirmation:
    """Asks the user of one session, one question at a time.

    A compaction that the user commits meanwhile is an answer too.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._question: CompactionQuestion | None = None
        self._answer: asyncio.Future[Answer] | None = None
        self.attended = False
        """Whether a user can be asked."""

    @property
    def question(self) -> CompactionQuestion | None:
        """The question that waits for an answer, if any."""
        return self._question

    async def ask(self, question: CompactionQuestion, cancel: CancelToken) -> Answer:
        """Wait for the answer, however long it takes. Raises Cancelled."""
        if cancel.cancelled:
            raise Cancelled
        document = self._document
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._question, self._answer = question, answer
        unsubscribe = document.shared.hub.subscribe(self._on_change)
        document.shared.hub.publish(AutomaticChanged(document.key))
        try:
            if not await done_or_cancelled(answer, cancel):
                raise Cancelled
            return answer.result()
        finally:
            unsubscribe()
            answer.cancel()
            self._question = self._answer = None
            document.shared.hub.publish(AutomaticChanged(document.key))

    def answer(self, answer: Answer) -> None:
        """Answer the open question; without one, or when it is answered, nothing happens."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def _on_change(self, change: Change) -> None:
        document = self._document
        if not isinstance(change, LeafMoved) or change.key != document.key:
            return
        tree = document.tree
        is_new = change.new >= 0 and tree.columns.parent[change.new] == change.old
        if is_new and tree.kind(change.new) is Kind.COMPACTION:
            self.answer(MadeByHand(change.new))
