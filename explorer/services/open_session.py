"""An opened session: its tree and leaf, its payloads, its token counts, its stored choices."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, Literal

from explorer.compaction.context_size import (
    ContextSize,
    context_size,
    counted_size,
    last_report,
    sizes_around,
)
from explorer.compaction.entry_sizes import EntrySizes
from explorer.compaction.path_view import entry_tokens
from explorer.compaction.profile import PROFILES, Profile
from explorer.compaction.templates import Templates
from explorer.extensions.manager import Extensions
from explorer.formats import adapter_of
from explorer.models.client import ModelClient
from explorer.models.price_list import ListedCost, listed_cost, no_listed_cost
from explorer.services.changes import ChangeHub, CountsChanged, EntriesChanged
from explorer.services.counting_process import ProcessCounter
from explorer.services.privacy import AskedModels, MaskedPayloads, Privacy
from explorer.services.session_usage import SessionUsage
from explorer.services.session_writer import SessionWriter
from explorer.session.context import PathContext, context_at
from explorer.session.entries import AssistantMessage, Entry
from explorer.session.kinds import Kind
from explorer.session.payloads import Payloads
from explorer.session.secrets import mask
from explorer.session.text import legible, title_line
from explorer.session.tree import SessionTree
from explorer.store import LoadedSession, Store, StoreError
from explorer.tokens.counters import (
    DEFAULT_ENCODING,
    Counter,
    EstimateCounter,
    TiktokenCounter,
    count_entry,
)

_BATCH = 256
"""Entries counted between two looks at the cancel button, and stored together."""


class OpenedSession:
    """The state that all parts of a ``Document`` work on."""

    def __init__(
        self,
        store: Store,
        loaded: LoadedSession,
        hub: ChangeHub,
        client: ModelClient,
        templates: Templates,
        agent_prompt: str,
        now_ms: Callable[[], int],
        random: Random,
        privacy: Privacy | None = None,
    ) -> None:
        """``privacy``: of the workbench."""
        self.agent_prompt = agent_prompt
        """The system prompt of the agent."""
        self.key = loaded.key
        self.row = loaded.row
        self.header = loaded.header
        self.privacy = privacy or Privacy()
        self.stored: Payloads = loaded.payloads
        """What was recorded, secrets and all: to be counted, searched, edited, copied, given to a
        person's own extensions."""
        self.writer = SessionWriter(store, loaded, hub, now_ms, random)
        self.templates = templates
        self.store = store
        self.client = client
        writer = self.writer  # not the session itself, which a cycle would keep after its end
        self.listed_cost: ListedCost = no_listed_cost
        """What a reply cost by listed prices, where its agent, whose files are only read, recorded
        no cost."""
        if not adapter_of(self.header.format).writes:
            self.listed_cost = partial(listed_cost, prices=client.info)
        self.spending = SessionUsage(
            store, self.key, lambda: writer.tree, self.stored, client.info, self.listed_cost
        )
        """What its replies and its drafts took; ``follow`` it before it is asked."""
        self.weights: array[int] | None = None
        """Tokens per entry by a tokenizer, once all are counted; -1 for later ones."""
        self.counter: Counter = EstimateCounter()
        """Who counted ``weights``; the estimate before."""
        self.counting = PROFILES["explorer"]
        """The profile in force, as whose rules count everything is counted that is shown."""
        self.hub = hub
        self._unstored: dict[str, Any] = {}
        """Choices that are being written into the database."""
        self._context: tuple[SessionTree, PathContext] | None = None
        """The last context that was asked for."""
        self.made_here = MadeHere(store, self.key, writer, self.header.time_ms)
        """Whether this program recorded an entry: it came from no file, and no fork copied it."""
        self._make_masked(AskedModels(client, self.privacy, store, self.row), self.privacy)
        self._prompts: dict[int, int] = {}
        """Prompt tokens by reply, as far as they were asked for."""
        self.extensions: Extensions | None = None
        """Asked about compactions and navigations; None: no extensions."""

    def _make_masked(self, models: AskedModels, privacy: Privacy) -> None:
        """The ways to read and to send the session by the person's wishes, none of which knows the
        session itself."""
        self.models = models
        """Who is sent text of the session."""
        self.payloads: Payloads = MaskedPayloads(self.stored, lambda: privacy.mask_shown)
        """As it is shown, and audited."""
        self.sent: Payloads = MaskedPayloads(self.stored, lambda: privacy.mask_sent)
        """As it is sent to be summarized."""
        self.sent_to_agent: Payloads = MaskedPayloads(
            self.stored,
            lambda: privacy.mask_sent and models.are_for_imported(),
            self.made_here,
        )
        """As the agent is sent it, which needs what it wrote and read itself as that was."""

    def use_templates(self, templates: Templates, agent_prompt: str) -> None:
        """Send these templates from now on; requests that are begun keep theirs."""
        self.templates, self.agent_prompt = templates, agent_prompt

    def take_changed(self, entries: Sequence[int]) -> None:
        """Take in entries that their own agent wrote more of, and say so; see ``EntriesChanged``.
        Raises StoreError."""
        there = tuple(at for at in entries if at < len(self.tree))
        if not there:
            return
        self.writer.take_changed(there)
        for payloads in (self.payloads, self.sent, self.sent_to_agent):
            payloads.forget(there)
        self.spending.forget()
        self._context = None
        for at in there:
            self._prompts.pop(at, None)
            if self.weights is not None and at < len(self.weights):
                self.weights[at] = -1
        self.hub.publish(EntriesChanged(self.key, there))

    # what there is -----------------------------------------------------------------------------

    @property
    def tree(self) -> SessionTree:
        return self.writer.tree

    @property
    def leaf(self) -> int:
        return self.writer.leaf

    @property
    def title(self) -> str:
        """The session's name, or the user's first message."""
        name = self.tree.name() or self.row.title or self._first_message()
        return mask(legible(name)) or "Untitled session"

    def _first_message(self) -> str:
        """Of a session that was begun here, whose row has no title yet."""
        try:
            first = self.tree.columns.kind.index(Kind.USER)
        except ValueError:
            return ""
        return title_line(self.payloads.previews([first])[0])

    def context(self, at: int | None = None) -> PathContext:
        """What the model sees at an entry, by default at the leaf.

        Entries never change, so the last one is cached: a window needs it again and again.
        """
        tree, leaf = self.tree, self.leaf if at is None else at
        cached = self._context
        if cached is None or cached[0] is not tree or cached[1].leaf != leaf:
            cached = self._context = (tree, context_at(tree, leaf))
        return cached[1]

    @property
    def project(self) -> str:
        """The last part of the working folder, whichever system wrote it."""
        return self.header.cwd.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or "no folder"

    @property
    def format_title(self) -> str:
        """Which agent's session it is, for people."""
        return f"{adapter_of(self.header.format).title} session"

    def context_size(self, profile: Profile, at: int | None = None) -> ContextSize:
        """Tokens of the context at an entry: the number that is shown, triggers and is tested."""
        return context_size(self.tree, self.context(at), profile, self.weights_for(profile))

    @property
    def recorded_window(self) -> int | None:
        """Tokens of the window that the last reply on the path to the leaf recorded; 0 where it
        recorded none and only its own agent knows; None where the agent is ours, or one whose
        rules and sizes are followed here. Raises StoreError."""
        if adapter_of(self.header.format).writes:
            return None
        reply = last_report(self.tree, self.tree.path(self.leaf), 1)
        if reply >= 0 and self.made_here(reply):
            return None
        body = self.stored.entry(reply).body if reply >= 0 else None
        usage = body.usage if isinstance(body, AssistantMessage) else None
        return usage.window if usage is not None else 0

    def counted_size(self, profile: Profile, at: int | None = None) -> int:
        """Tokens of the context's entries, whatever a provider reported; see ``Partition``."""
        return counted_size(self.tree, self.context(at), profile, self.weights_for(profile))

    def entry_tokens(self, entry: int, profile: Profile | None = None) -> int:
        """Tokens of an entry in its place, by the rules in force or those of ``profile``, whatever
        was pruned or pinned since."""
        rules = profile or self.counting
        return entry_tokens(self.tree.columns, entry, self.weights_for(rules))

    def shown_tokens(self, entry: int) -> int:
        """Tokens of an entry as it is sent at the leaf, by the rules in force: the one figure of
        it, wherever it is shown. See ``EntrySizes``."""
        return EntrySizes(self.tree, self.leaf, self.weights_for(self.counting))[entry]

    def sizes_around(self, compaction: int) -> tuple[int, int | None]:
        """Tokens of the context's entries before and after a compaction, counted alike, by the
        rules in force; None after it where its summary is not in the file."""
        return sizes_around(self.tree, compaction, self.weights_for(self.counting))

    async def counted_around(self, compaction: int) -> tuple[int, int]:
        """``sizes_around`` of a compaction that was just made, once its summary is counted too."""
        await self.count_new()
        before, after = self.sizes_around(compaction)
        assert after is not None, "what is made here has its summary"
        return before, after

    @property
    def counted_by(self) -> Literal["tokenizer", "estimate"]:
        """Who counts the entries by the rules in force."""
        return "estimate" if self.weights_for(self.counting) is None else "tokenizer"

    def count_text(self, text: str, profile: Profile) -> int:
        """Tokens of a text, by the counter that counts the entries under a profile.

        May wait for a tokenizer that is busy: for a worker thread.
        """
        measured = self.weights_for(profile) is not None
        return (self.counter if measured else EstimateCounter()).count(text)

    def weights_for(self, profile: Profile) -> Sequence[int] | None:
        """The tokenizer's counts for a profile that counts what is sent; others estimate."""
        if self.weights is None or profile.weights != "sent":
            return None
        while len(self.weights) < len(self.tree):
            self.weights.append(-1)  # not counted yet: the estimate stands in
        return self.weights

    def prompt_of(self, reply: int) -> int:
        """Tokens of the prompt that the provider reported with a reply; -1 for none (B18)."""
        if reply not in self._prompts:
            usage = self.stored.entry(reply).usage
            self._prompts[reply] = usage.prompt if usage is not None else -1
        return self._prompts[reply]

    async def take_stored_counts(self, counter: Counter) -> bool:
        """Use the counts in the database if they are whole; returns whether they are."""
        counts = await asyncio.to_thread(self._stored_counts, counter.name)
        if counts is None:
            return False
        self.weights, self.counter = counts, counter
        self.hub.publish(CountsChanged(self.key, len(counts), len(counts)))
        return True

    def take_stored_counts_blocking(self) -> None:
        """``take_stored_counts`` of the window's tokenizer, for callers without an event loop: what
        was counted there is the same figure everywhere."""
        counts = self._stored_counts(DEFAULT_ENCODING)
        if counts is not None:
            counter = TiktokenCounter()
            if counter.available:
                self.weights, self.counter = counts, counter

    def _stored_counts(self, counter: str) -> array[int] | None:
        counts = self.store.token_counts(self.key, counter)
        return counts if len(counts) >= len(self.tree) and _is_whole(counts) else None

    async def count(
        self,
        counter: Counter,
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
    ) -> bool:
        """Count all entries with a tokenizer, in a thread; returns False when cancelled.

        ``progress`` is called in that thread with entries done and in all.
        """
        total = len(self.tree)
        counts = await asyncio.to_thread(
            count_session, self.store, self.key, self.stored, total, counter, progress, cancelled
        )
        if not _is_whole(counts):
            return False
        self.weights, self.counter = counts, counter
        self.hub.publish(CountsChanged(self.key, total, total))
        return True

    async def count_new(self) -> None:
        """Count what was appended since everything was counted; in a thread."""
        weights, total = self.weights, len(self.tree)
        if weights is None or (len(weights) == total and _is_whole(weights)):
            return
        await self.count(self.counter, lambda _done, _all: None, lambda: False)

    def prepare_names(self) -> None:
        """Make the table of ids, which the first append would have to wait for. Blocks; meant
        for a worker thread."""
        self.tree.index_of("")

    def previews(self, indices: Sequence[int]) -> list[str]:
        return self.payloads.previews(indices)

    def entry(self, index: int) -> Entry:
        return self.payloads.entry(index)

    def resolve(self, name: str) -> int:
        """The entry that a user names: an id, a unique start of one, or ``#index``.

        Raises ValueError when there is none, or more than one.
        """
        if name.startswith("#") and name[1:].isdigit() and int(name[1:]) < len(self.tree):
            return int(name[1:])
        if (exact := self.tree.index_of(name)) >= 0:
            return exact
        matches = [
            at for at, entry_id in enumerate(self.tree.columns.ids) if entry_id.startswith(name)
        ]
        if len(matches) != 1:
            have = f"{len(matches):,} entries of {self.title!r} have ids"
            if not matches:
                have = f"no entry of {self.title!r} has an id"
            raise ValueError(f"{have} that start{'' if matches else 's'} with {name!r}")
        return matches[0]

    def choices(self) -> dict[str, Any]:
        """What the user chose for this session: JSON values by name."""
        unstored = dict(self._unstored)  # before the database is read, which may know them by then
        kept = self.store.session_settings(self.key) | unstored
        return {name: value for name, value in kept.items() if value is not None}

    def choose(self, name: str, value: Any) -> None:
        """Store a choice for this session; None removes it. Written soon, in order; ``choices``
        has it at once."""
        self._unstored[name] = value
        stored = self.store.set_session_setting(self.key, name, value)
        # Not the session itself: a callback must not keep a closed one alive.
        stored.add_done_callback(partial(_forget, self._unstored, name, value))

    def output_limit(self, model: str | None) -> int | None:
        """Tokens that a model can write, where that is known."""
        return self.client.info(model).output_limit if model else None


class MadeHere:
    """Which entries of a session this program recorded.

    Reads one row of the database the first time, and may be called while a window paints. False
    for a row that cannot be read: its figures then count as a file's, and reading the entry itself
    reports the error.
    """

    def __init__(self, store: Store, key: int, writer: SessionWriter, began_ms: float) -> None:
        self._store, self._key, self._writer, self._began_ms = store, key, writer, began_ms
        self._known: dict[int, bool] = {}

    def __call__(self, index: int) -> bool:
        columns = self._writer.tree.columns
        if not 0 <= index < len(self._writer.tree):
            return False
        if index not in self._known:
            # A fork begins after all that it copies.
            is_new = columns.time[index] >= self._began_ms
            try:
                self._known[index] = is_new and not self._store.is_of_file(self._key, index)
            except StoreError:
                return False
        return self._known[index]


def _forget(unstored: dict[str, Any], name: str, value: Any, _done: object) -> None:
    """On the writer's thread: the database knows a choice, unless there is a newer one."""
    if unstored.get(name) is value:
        unstored.pop(name, None)


def count_session(
    store: Store,
    key: int,
    payloads: Payloads,
    entries: int,
    counter: Counter,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> array[int]:
    """Tokens of the first ``entries`` entries; what was counted before is not counted again.

    Blocks; meant for a worker thread. When cancelled, what is not counted is -1. Raises
    StoreError.
    """
    counts = store.token_counts(key, counter.name)
    while len(counts) < entries:
        counts.append(-1)
    for first in range(0, entries, _BATCH):
        last = min(first + _BATCH, entries)
        missing = [at for at in range(first, last) if counts[at] < 0]
        if missing:
            if cancelled():
                break
            for at, count in zip(missing, _counts(payloads, missing, counter), strict=True):
                counts[at] = count
            store.set_token_counts(key, counter.name, first, counts[first:last]).result()
        progress(last, entries)
    return counts


def _counts(payloads: Payloads, entries: Sequence[int], counter: Counter) -> list[int]:
    if isinstance(counter, ProcessCounter):
        raws = dict(payloads.raws(entries))
        return counter.count_records(payloads.format, [raws.get(entry, "") for entry in entries])
    return [count_entry(counter, entry) for entry in payloads.entries(entries)]


def _is_whole(counts: array[int]) -> bool:
    """Whether every entry was counted."""
    return not counts or min(counts) >= 0
