"""A compaction that asks first: what is asked, what may be answered, and the wait for it.

While a question is open the turn that led to it stands still: nothing is sent and nothing changes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from explorer.models.client import Cancelled, CancelToken
from explorer.session.kinds import Kind
from explorer.work.changes import AutomaticChanged, Change, LeafMoved

if TYPE_CHECKING:
    from explorer.work.document import Document
    from explorer.work.drafting import Draft

Asker = Literal["threshold", "overflow", "background", "prompt"]
"""What leads to a question: the context is too full, the model refused it, a summary made ahead
is ready, or a prompt does not fit its budget."""


@dataclass(frozen=True, slots=True)
class Question:
    """A compaction that is about to happen by itself. Sizes in tokens."""

    trigger: Asker
    tokens: int
    window: int
    threshold: int
    draft: Draft | None = None
    """The summary that is ready, where one was made ahead."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Go on: compact here. ``cut``: the position on the path that was chosen by hand."""

    cut: int | None = None
    instructions: str = ""
    text: str | None = None
    """The summary as it was edited, where one is ready; None takes it as it is."""


@dataclass(frozen=True, slots=True)
class NotNow:
    """Leave it. ``tokens``: ask again when the context has grown by so many; 0: not before the
    person's next message."""

    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Made:
    """A person compacted meanwhile, in the ordinary way."""

    entry: int


Answer = Compact | NotNow | Made


class OpenQuestion:
    """A question that waits. Belongs to the loop of the document; answered once."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    @property
    def is_open(self) -> bool:
        return not self._answered.done()

    def answer(self, answer: Answer) -> None:
        """Let the turn go on. An answer to what was answered already changes nothing."""
        if not self._answered.done():
            self._answered.set_result(answer)

    async def wait(self, cancel: CancelToken) -> Answer:
        """The answer. Raises Cancelled when the turn is stopped meanwhile."""
        loop = asyncio.get_running_loop()

        def give_up() -> None:
            loop.call_soon_threadsafe(self._answered.cancel)

        forget = cancel.add_callback(give_up)
        try:
            return await self._answered
        except asyncio.CancelledError:
            if cancel.cancelled:
                raise Cancelled from None
            raise
        finally:
            forget()
            self._answered.cancel()


class Asking:
    """Asks whoever attends to a session, one question at a time.

    A compaction that the person commits meanwhile is an answer too.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._open: OpenQuestion | None = None
        self.attended = False
        """Somebody is there to answer; nobody is asked otherwise."""

    @property
    def question(self) -> Question | None:
        """What waits for an answer."""
        return self._open.question if self._open is not None else None

    async def ask(self, question: Question, cancel: CancelToken) -> Answer:
        """Wait for the answer, however long it takes. Raises Cancelled."""
        if cancel.cancelled:
            raise Cancelled
        document = self._document
        self._open = opened = OpenQuestion(question)
        stop = document.hub.subscribe(self._changed)
        document.hub.publish(AutomaticChanged(document.key))
        try:
            return await opened.wait(cancel)
        finally:
            stop()
            self._open = None
            document.hub.publish(AutomaticChanged(document.key))

    def answer(self, answer: Answer) -> None:
        """Answer what is open; nothing happens where nothing is."""
        if self._open is not None:
            self._open.answer(answer)

    def _changed(self, change: Change) -> None:
        document, opened = self._document, self._open
        if opened is None or not isinstance(change, LeafMoved) or change.key != document.key:
            return
        tree = document.tree
        is_new = change.new >= 0 and tree.columns.parent[change.new] == change.old
        if is_new and tree.kind(change.new) is Kind.COMPACTION:
            opened.answer(Made(change.new))
