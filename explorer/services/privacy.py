"""What may be seen of secrets, and what may leave this computer.

``MaskedPayloads`` reads a session with its secrets masked: the window, audits, requests and exports
read through it, each by its own setting. ``AskedModels`` is the one way by which text of a session
goes to a model: of an imported session only once somebody has agreed to where it goes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from functools import partial

from msgspec import Struct

from explorer.formats.registry import read_record
from explorer.models.client import (
    Cancelled,
    CancelToken,
    Destination,
    Event,
    ModelClient,
    ModelError,
    ModelInfo,
    ModelRequest,
    Models,
)
from explorer.models.events import done_or_cancelled
from explorer.models.request import ImagePart
from explorer.services.publication import PULLED
from explorer.services.related_sessions import ancestors_of, is_imported
from explorer.session.entries import Entry, TokenUsage
from explorer.session.records import FormatName, Payloads
from explorer.session.secrets import mask
from explorer.store import Store
from explorer.store.rows import SessionRow
from explorer.tokens.estimate import estimate_text

SENT_TO = "privacy.sentTo"
"""Name under which a session keeps the hosts that its text may go to."""


class Sending(Struct, frozen=True):
    """Text of an imported session that is about to leave this computer."""

    session: str
    """Its title."""
    what: str
    """What of it, such as ``12 entries to be summarized``; may be empty."""
    tokens: int
    """By the estimate."""
    characters: int
    pictures: int
    model: str
    host: str
    is_masked: bool

    @property
    def sentence(self) -> str:
        """What, how much and to whom."""
        pictures = f" and {self.pictures:,} pictures" if self.pictures else ""
        return (
            f"{self.what or 'Text'} of the imported session “{self.session}” "
            f"(about {self.tokens:,} tokens, {self.characters:,} characters{pictures}) "
            f"would go to {self.model} at {self.host}."
        )


Ask = Callable[[Sending], Awaitable[bool]]
"""Asks a person; whether text of the session may go to that host."""


class Privacy:
    """What the person wants of secrets and of imported sessions, in one workbench. Changed at any
    time; what is read later follows."""

    def __init__(self) -> None:
        self.mask_shown = True
        """Mask secrets in what is shown, audits among it."""
        self.mask_sent = True
        """Mask secrets in requests for summaries, and in what an agent is sent of imported
        entries."""
        self.mask_exports = True
        """Mask secrets in transcripts, in exports of another form than the agent's, in reports."""
        self.ask: Ask | None = None
        """None: nobody can be asked, so nothing is sent."""

    def follow(self, setting: Callable[[str], object]) -> None:
        """Do as the settings say; ``setting``: the value of one, None where it is unset."""
        self.mask_shown = setting("privacy.maskShown") is not False
        self.mask_sent = setting("privacy.maskSent") is not False
        self.mask_exports = setting("privacy.maskExports") is not False

    def shown(self, text: str) -> str:
        """A text as it is shown."""
        return mask(text) if self.mask_shown else text

    def sent(self, text: str) -> str:
        """A text as it is sent."""
        return mask(text) if self.mask_sent else text

    def exported(self, text: str) -> str:
        """A text as it is written to a file for others."""
        return mask(text) if self.mask_exports else text


class MaskedPayloads:
    """The payloads of a session with secrets masked. Any thread; raises what the stored raise."""

    def __init__(
        self,
        stored: Payloads,
        is_on: Callable[[], bool],
        is_left: Callable[[int], bool] = lambda _index: False,
    ) -> None:
        """``is_on``: whether to mask now; ``is_left``: entries that stay as they are."""
        self.format: FormatName = stored.format
        self._stored = stored
        self._is_on, self._is_left = is_on, is_left
        self._clean: set[int] = set()
        """Entries that hold no secret."""
        self.masked: set[int] = set()
        """Entries that were read masked."""

    def _masked(self, index: int, raw: str) -> str:
        if index in self._clean or not self._is_on() or self._is_left(index):
            return raw
        masked = mask(raw)
        (self._clean if masked is raw else self.masked).add(index)
        return masked

    def raw(self, index: int) -> str:
        """The record of the entry."""
        return self._masked(index, self._stored.raw(index))

    def entry(self, index: int) -> Entry:
        """The entry."""
        return read_record(self.format, self.raw(index))

    def entries(self, indices: Sequence[int]) -> list[Entry]:
        """Several entries, in the order asked for."""
        by_index = {at: read_record(self.format, raw) for at, raw in self.raws(sorted({*indices}))}
        try:
            return [by_index[at] for at in indices]
        except KeyError as error:
            raise IndexError(f"the session has no entry {error.args[0]}") from error

    def raws(self, indices: Sequence[int]) -> Iterator[tuple[int, str]]:
        """The records of several entries, given in ascending order; those that are there."""
        for at, raw in self._stored.raws(indices):
            yield at, self._masked(at, raw)

    def usages(self, wanted: Sequence[tuple[int, int]]) -> Iterable[tuple[int, TokenUsage | None]]:
        """What providers reported for entries; see ``Payloads``."""
        return self._stored.usages(wanted)

    def previews(self, indices: Sequence[int]) -> list[str]:
        """First lines, for lists and the map."""
        found = self._stored.previews(indices)
        return list(map(mask, found)) if self._is_on() else found

    def first_words(self, indices: Sequence[int]) -> tuple[list[str], list[int]]:
        """What rows can say at once; see ``Payloads``."""
        found, unmade = self._stored.first_words(indices)
        return (list(map(mask, found)) if self._is_on() else found), unmade

    def forget(self, indices: Sequence[int]) -> None:
        """Read what is cached of these entries again: they have changed."""
        self._clean.difference_update(indices)
        self._stored.forget(indices)


class SessionPayloads:
    """The payloads of one session, as they may be read for each purpose."""

    def __init__(
        self,
        stored: Payloads,
        privacy: Privacy,
        models: AskedModels,
        made_here: Callable[[int], bool],
    ) -> None:
        """``made_here``: whether this program recorded an entry."""
        self.stored = stored
        """What was recorded, secrets and all: to be counted, searched, edited, copied, given to a
        person's own extensions."""
        self.shown = MaskedPayloads(stored, lambda: privacy.mask_shown)
        """As they are shown, and audited."""
        self.sent = MaskedPayloads(stored, lambda: privacy.mask_sent)
        """As they are sent to be summarized."""
        self.sent_to_agent = MaskedPayloads(
            stored, lambda: privacy.mask_sent and models.are_for_imported(), made_here
        )
        """As the agent is sent them, which needs what it wrote and read itself as that was."""

    def forget(self, indices: Sequence[int]) -> None:
        """Read what is cached of these entries again: they have changed."""
        for payloads in (self.shown, self.sent, self.sent_to_agent):
            payloads.forget(indices)


# what leaves --------------------------------------------------------------------------------------


class AskedModels:
    """The models, as one session asks them."""

    def __init__(
        self, client: ModelClient, privacy: Privacy, store: Store, row: SessionRow
    ) -> None:
        self._client, self._privacy = client, privacy
        self._store, self._row = store, row
        self._asked: dict[str, asyncio.Future[bool]] = {}
        """Questions that wait for their answer, by host."""
        self._imported: bool | None = None
        self._agreed: set[str] = set()
        """Hosts that somebody agreed to since the session was opened."""

    def info(self, model_id: str) -> ModelInfo:
        """See ``ModelClient``."""
        return self._client.info(model_id)

    def for_one_summary(self) -> Models:
        """The models for all requests of one summary: an answer to the first that asks whether text
        may go to a host is the answer to all of them, a no as well as a yes."""
        return _AskedOnce(self)

    async def stream(
        self, request: ModelRequest, cancel: CancelToken
    ) -> AsyncGenerator[Event, None]:
        """See ``ModelClient``. Raises ModelError (unavailable) where text must not leave."""
        async with aclosing(self.answered(request, cancel, {})) as events:
            async for event in events:
                yield event

    async def answered(
        self, request: ModelRequest, cancel: CancelToken, answers: dict[str, asyncio.Future[bool]]
    ) -> AsyncGenerator[Event, None]:
        """See ``stream``. ``answers``: by host, those that hold for this request; one that was not
        asked for is added before anything is waited for, so that no second request asks again."""
        if cancel.cancelled:
            raise Cancelled
        to = self._client.destination(request.model, request.endpoint)
        if not to.is_here and to.host not in self._agreed:
            if to.host not in answers:
                answers[to.host] = asyncio.ensure_future(self._may_go(request, to))
            await _wait_for(answers[to.host], to, cancel)
        async with aclosing(self._client.stream(request, cancel)) as events:  # type: ignore[type-var]
            async for event in events:
                yield event

    async def _may_go(self, request: ModelRequest, to: Destination) -> bool:
        """Whether text may go to a host: somebody is asked where that is needed."""
        if not await asyncio.to_thread(self._needs_consent, to.host):
            return True
        if to.host not in self._asked:
            self._asked[to.host] = asyncio.ensure_future(self._ask(request, to))
        return await self._asked[to.host]

    async def _ask(self, request: ModelRequest, to: Destination) -> bool:
        ask = self._privacy.ask
        try:
            if ask is None or not await ask(self._sending(request, to)):
                return False
            self._agreed.add(to.host)
            hosts = sorted({*self._hosts(), *self._agreed})
            await asyncio.wrap_future(
                self._store.set_session_setting(self._row.key, SENT_TO, hosts)
            )
            return True
        finally:
            self._asked.pop(to.host, None)

    def _hosts(self) -> Sequence[str]:
        """Where text of the session may go, as it is stored."""
        stored = self._store.session_settings(self._row.key).get(SENT_TO)
        return stored if isinstance(stored, list) else ()

    def _needs_consent(self, host: str) -> bool:
        return host not in self._hosts() and self.are_for_imported()

    def are_for_imported(self) -> bool:
        """Whether the session came from a file or a team, or is a fork of one that did. May
        block."""
        if self._imported is None:
            rows = partial(self._store.sessions, all_places=True)
            self._imported = is_imported(self._row, rows) or self._is_pulled(rows)
        return self._imported

    def _is_pulled(self, rows: Callable[[], Sequence[SessionRow]]) -> bool:
        """Whether the session, or one that it was forked from, is a copy of a team's."""
        above = ancestors_of(self._row, rows()) if self._row.parent_session else []
        keys = (one.key for one in (self._row, *above))
        return any(PULLED in self._store.session_settings(key) for key in keys)

    def _sending(self, request: ModelRequest, to: Destination) -> Sending:
        texts = [message.text for message in request.messages]
        return Sending(
            session=self._row.title or "Untitled session",
            what=request.of,
            tokens=sum(map(estimate_text, texts)),
            characters=sum(map(len, texts)),
            pictures=sum(
                isinstance(part, ImagePart)
                for message in request.messages
                for part in message.content
            ),
            model=request.model,
            host=to.host,
            is_masked=self._privacy.mask_sent,
        )


class _AskedOnce:
    """See ``AskedModels.for_one_summary``."""

    def __init__(self, models: AskedModels) -> None:
        self._models = models
        self._answers: dict[str, asyncio.Future[bool]] = {}

    def info(self, model_id: str) -> ModelInfo:
        """See ``ModelClient``."""
        return self._models.info(model_id)

    def stream(self, request: ModelRequest, cancel: CancelToken) -> AsyncGenerator[Event, None]:
        """See ``AskedModels``."""
        return self._models.answered(request, cancel, self._answers)


async def _wait_for(answer: asyncio.Future[bool], to: Destination, cancel: CancelToken) -> None:
    """Wait for the answer to whether text may go to a host. Raises ModelError where it may not, and
    Cancelled, which takes the question back."""
    try:
        is_answered = await done_or_cancelled(answer, cancel)
    except asyncio.CancelledError:
        answer.cancel()
        raise
    if not is_answered or answer.cancelled():
        answer.cancel()
        raise Cancelled
    if not answer.result():
        raise ModelError(
            "unavailable",
            f"Nothing was sent: nobody agreed that text of this session goes to {to.host}.",
        )
