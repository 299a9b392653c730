"""The user's confirmation of an automatic compaction: question, answer and the wait between.

While a question is open, the agent's turn that led to it is suspended: nothing is sent and nothing
changes.
"""

from __future__ import annotations

import asyncio
from typing import Literal

from msgspec import Struct

from explorer.models.client import Cancelled, CancelToken
from explorer.models.events import done_or_cancelled
from explorer.services.changes import AutomaticChanged, Change, LeafMoved
from explorer.services.document import Document
from explorer.services.draft_records import Draft
from explorer.session.kinds import Kind

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
