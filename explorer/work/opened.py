"""What an opened session is made of: its tree, its leaf, its texts, its counts, its drafts."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from explorer.compaction.context_size import ContextSize, context_size, counted_size
from explorer.compaction.profile import Profile
from explorer.compaction.summary import details
from explorer.compaction.wording import Templates
from explorer.extensions.manager import Extensions
from explorer.models.door import ModelDoor
from explorer.session.context import Context, context_at
from explorer.session.describe import prompt_tokens
from explorer.session.edit_entries import KEPT_USER_TOKENS
from explorer.session.kinds import Kind
from explorer.session.payloads import Payloads
from explorer.session.text import legible
from explorer.session.tree import SessionTree
from explorer.store.rows import StoreError
from explorer.tokens.counters import Counter, EstimateCounter
from explorer.work.appending import SessionWriter
from explorer.work.changes import ChangeHub, CountsChanged
from explorer.work.counting import count_session, is_whole
from explorer.work.drafting import Draft
from explorer.work.extending import entry_fields
from explorer.work.spending import SessionSpending
from explorer.work.summaries import DraftMaker

if TYPE_CHECKING:  # see explorer.work.appending
    from explorer.store import LoadedSession, Store


class OpenedSession:
    """The state that everything done with a session starts from; see ``Document``."""

    def __init__(
        self,
        store: Store,
        loaded: LoadedSession,
        hub: ChangeHub,
        door: ModelDoor,
        templates: Templates,
        agent_prompt: str,
        now_ms: Callable[[], int],
        random: Random,
    ) -> None:
        self.agent_prompt = agent_prompt
        """The system prompt of the agent."""
        self.key = loaded.key
        self.row = loaded.row
        self.header = loaded.header
        self.payloads: Payloads = loaded.payloads
        self.writer = SessionWriter(store, loaded, hub, now_ms, random)
        self.templates = templates
        self.store = store
        self.door = door
        self.drafts = DraftMaker(store, self.key, door, templates, hub)
        writer = self.writer  # not the session itself, which a cycle would keep after its end
        self.spending = SessionSpending(
            store, self.key, lambda: writer.tree, self.payloads, door.info
        )
        """What its replies and its drafts took; ``follow`` it before it is asked."""
        self.weights: array[int] | None = None
        """Tokens per entry by a tokenizer, once all are counted; -1 for later ones."""
        self.counter: Counter = EstimateCounter()
        """Who counted ``weights``; the estimate before."""
        self.hub = hub
        self._unstored: dict[str, Any] = {}
        """Choices that are on their way into the database."""
        self._context: tuple[SessionTree, Context] | None = None
        """The last context that was asked for."""
        self._made_here: dict[int, bool] = {}
        """By entry, as far as it was asked for."""
        self._prompts: dict[int, int] = {}
        """Prompt tokens by reply, as far as they were asked for."""
        self.extensions: Extensions | None = None
        """Who is asked about compactions and navigations; None: nobody."""

    def use_words(self, templates: Templates, agent_prompt: str) -> None:
        """Send other words from now on; what is on its way goes out as it was begun."""
        self.templates, self.agent_prompt = templates, agent_prompt
        self.drafts.use_templates(templates)

    # what there is -----------------------------------------------------------------------------

    @property
    def tree(self) -> SessionTree:
        return self.writer.tree

    @property
    def leaf(self) -> int:
        return self.writer.leaf

    @property
    def title(self) -> str:
        """The session's name, or the first thing that was said in it."""
        told = self.tree.name() or self.row.title or self._first_said()
        return legible(told) or "Untitled session"

    def _first_said(self) -> str:
        """For a session that was begun here, whose row knew nothing yet."""
        try:
            first = self.tree.columns.kind.index(Kind.USER)
        except ValueError:
            return ""
        return self.payloads.previews([first])[0]

    def context(self, at: int | None = None) -> Context:
        """What the model sees at an entry, by default at the leaf.

        Entries are never changed, so what was worked out last is kept: a window asks for the same
        one at every turn.
        """
        tree, leaf = self.tree, self.leaf if at is None else at
        kept = self._context
        if kept is None or kept[0] is not tree or kept[1].leaf != leaf:
            kept = self._context = (tree, context_at(tree, leaf))
        return kept[1]

    @property
    def project(self) -> str:
        """The last part of the working folder, whichever system wrote it."""
        return self.header.cwd.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or "no folder"

    @property
    def format_title(self) -> str:
        """Whose session it is, for people."""
        return {"pi": "pi session", "omp": "oh-my-pi session"}[self.header.format]

    def context_size(self, profile: Profile, at: int | None = None) -> ContextSize:
        """Tokens of the context at an entry: the number that is shown, triggers and is tested."""
        return context_size(self.tree, self.context(at), profile, self.weights_for(profile))

    def counted_size(self, profile: Profile, at: int | None = None) -> int:
        """Tokens of the context's entries, whatever a provider reported; see ``Partition``."""
        return counted_size(self.tree, self.context(at), profile, self.weights_for(profile))

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
            message = self.payloads.entry(reply).get("message")
            usage = message.get("usage") if isinstance(message, Mapping) else None
            self._prompts[reply] = prompt_tokens(usage)
        return self._prompts[reply]

    async def take_stored_counts(self, counter: Counter) -> bool:
        """Use the counts in the database if they are whole; returns whether they are."""
        counts = await asyncio.to_thread(self.store.token_counts, self.key, counter.name)
        if len(counts) < len(self.tree) or not is_whole(counts):
            return False
        self.weights, self.counter = counts, counter
        self.hub.publish(CountsChanged(self.key, len(counts), len(counts)))
        return True

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
            count_session, self.store, self.key, self.payloads, total, counter, progress, cancelled
        )
        if not is_whole(counts):
            return False
        self.weights, self.counter = counts, counter
        self.hub.publish(CountsChanged(self.key, total, total))
        return True

    async def count_new(self) -> None:
        """Count what was appended since everything was counted; in a thread."""
        weights, total = self.weights, len(self.tree)
        if weights is None or (len(weights) == total and (not total or weights[-1] >= 0)):
            return
        await self.count(self.counter, lambda _done, _all: None, lambda: False)

    def prepare_names(self) -> None:
        """Make the table of ids, which the first append would have to wait for. Blocks; meant
        for a worker thread."""
        self.tree.index_of("")

    def previews(self, indices: Sequence[int]) -> list[str]:
        return self.payloads.previews(indices)

    def entry(self, index: int) -> Mapping[str, Any]:
        return self.payloads.entry(index)

    def made_here(self, index: int) -> bool:
        """Whether this program recorded an entry: it came from no file, and no fork copied it.

        Reads one row of the database the first time, and may be asked while a window paints. Of
        a row that cannot be read it says no: what stands in the entry is then told with the care
        that a file's figures need, and whoever reads the entry itself tells what is wrong.
        """
        if not 0 <= index < len(self.tree):
            return False
        if index not in self._made_here:
            # A fork begins after all that it copies.
            is_new = self.tree.columns.time[index] >= self.header.time_ms
            try:
                self._made_here[index] = is_new and not self.store.is_of_file(self.key, index)
            except StoreError:
                return False
        return self._made_here[index]

    def resolve(self, name: str) -> int:
        """The entry that a person means: an id, a unique start of one, or ``#index``.

        Raises ValueError when there is none, or more than one.
        """
        if name.startswith("#") and name[1:].isdigit() and int(name[1:]) < len(self.tree):
            return int(name[1:])
        if (exact := self.tree.index_of(name)) >= 0:
            return exact
        found = [
            at for at, entry_id in enumerate(self.tree.columns.ids) if entry_id.startswith(name)
        ]
        if len(found) != 1:
            have = f"{len(found):,} entries of {self.title!r} have ids"
            if not found:
                have = f"no entry of {self.title!r} has an id"
            raise ValueError(f"{have} that start{'' if found else 's'} with {name!r}")
        return found[0]

    def choices(self) -> dict[str, Any]:
        """What the person chose for this session: JSON values by name."""
        unstored = dict(self._unstored)  # before the database is read, which may know them by then
        kept = self.store.session_settings(self.key) | unstored
        return {name: value for name, value in kept.items() if value is not None}

    def choose(self, name: str, value: Any) -> None:
        """Keep a choice for this session; None forgets it. Stored soon, in order; what is read
        knows it at once."""
        self._unstored[name] = value
        stored = self.store.set_session_setting(self.key, name, value)
        # Not the session itself: whoever stored last must not keep a closed one.
        stored.add_done_callback(partial(_forget, self._unstored, name, value))

    # summaries -----------------------------------------------------------------------------------

    def _output_limit(self, model: str | None) -> int | None:
        """Tokens that a model can write, where that is known."""
        return self.door.info(model).output_limit if model else None

    async def _store_draft(
        self, entry_type: str, parent: int, draft: Draft, summary: str, fields: dict[str, Any]
    ) -> int:
        """Append a draft's entry, then note that it was taken."""
        files = details(
            draft.read_files, draft.modified_files, draft.failed_files,
            created=draft.created_files, deleted=draft.deleted_files,
        )  # fmt: skip
        if entry_type == "compaction" and (kept := _kept_user_tokens(draft)):
            files[KEPT_USER_TOKENS] = kept
        whole = {"summary": summary, **fields, "details": files, **entry_fields(draft)}
        index = await self.writer.append(entry_type, parent, **whole)
        await self.drafts.mark(draft, "committed", summary)
        return index


def _forget(unstored: dict[str, Any], name: str, value: Any, _done: object) -> None:
    """On the writer's thread: the database knows a choice, unless there is a newer one."""
    if unstored.get(name) is value:
        unstored.pop(name, None)


def _kept_user_tokens(draft: Draft) -> int:
    """How many tokens of the user's messages the profile of a draft keeps word for word."""
    profile = draft.settings.get("profile")
    tokens = profile.get("keep_user_tokens") if isinstance(profile, Mapping) else 0
    return tokens if isinstance(tokens, int) else 0
