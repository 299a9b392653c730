"""An opened session, of parts: its log, payloads, token counts, usage, models and choices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from explorer.compaction.templates import Templates
from explorer.extensions.manager import Extensions
from explorer.models.client import ModelClient
from explorer.services.changes import ChangeHub
from explorer.services.privacy import AskedModels, Privacy, SessionPayloads
from explorer.services.session_tokens import SessionUsage, TokenCounts
from explorer.services.session_writer import READ_ONLY, SessionWriter
from explorer.session.context import ContextCache, PathContext
from explorer.session.kinds import Kind
from explorer.session.secrets import mask
from explorer.session.text import legible, title_line
from explorer.session.tree import SessionTree
from explorer.store import LoadedSession, Store


class Shared:
    """What all opened sessions of a workbench use together."""

    def __init__(
        self,
        store: Store,
        client: ModelClient,
        hub: ChangeHub,
        templates: Templates,
        agent_prompt: str,
        extensions: Extensions | None = None,
    ) -> None:
        self.store = store
        self.client = client
        self.hub = hub
        self.templates = templates
        """Sent from now on; requests that are begun keep theirs."""
        self.agent_prompt = agent_prompt
        """The system prompt of the agent."""
        self.extensions = extensions
        """Asked about compactions and navigations; None: none are."""
        self.privacy = Privacy()
        self.is_read_only = False
        """Whether nothing is appended to sessions, and no leaf is moved."""


class OpenedSession:
    """The state that all parts of a ``Document`` work on."""

    def __init__(
        self, shared: Shared, loaded: LoadedSession, now_ms: Callable[[], int], random: Random
    ) -> None:
        store, client = shared.store, shared.client
        self.shared = shared
        """What it has in common with the other opened sessions."""
        self.key = loaded.key
        """Its key in the database."""
        self.row = loaded.row
        """As the library listed it when it was opened."""
        self.header = loaded.header
        """What its file says of it as a whole."""
        # No part knows the session itself, which a reference cycle would keep after its end.
        self.writer = writer = SessionWriter(
            store, loaded, shared.hub, now_ms, random, is_read_only=shared.is_read_only
        )
        """Appends entries and moves the leaf."""
        self.models = AskedModels(client, shared.privacy, store, self.row)
        """Who is sent text of the session."""
        self.payloads = SessionPayloads(
            loaded.payloads, shared.privacy, self.models, writer.made_here
        )
        """The entries themselves, as they may be read for each purpose."""
        self._contexts = ContextCache()
        self.tokens = TokenCounts(writer, self._contexts, loaded.payloads, store, shared.hub)
        """Tokens of entries, texts and contexts."""
        self.usage = SessionUsage(store, writer, loaded.payloads, client.info)
        """What its replies and its drafts took; ``follow`` it before it is asked."""
        self.choices = SessionChoices(store, self.key)
        """What the user chose for it."""
        self.undone: list[tuple[int, int]] = []
        """The leaf after each undo since it was opened, and the leaf before it."""

    @property
    def tree(self) -> SessionTree:
        """All entries of all branches, as facts in columns."""
        return self.writer.tree

    @property
    def leaf(self) -> int:
        """The entry that the next one goes below; -1: none."""
        return self.writer.leaf

    @property
    def read_only(self) -> str:
        """Why it cannot be changed, in a sentence; empty where it can be."""
        return READ_ONLY if self.writer.is_read_only else ""

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
        return title_line(self.payloads.shown.previews([first])[0])

    def context(self, at: int | None = None) -> PathContext:
        """What the model sees at an entry, by default at the leaf."""
        return self._contexts.at(self.tree, self.leaf if at is None else at)


class SessionChoices:
    """What the user chose for one session: JSON values by name, kept in the database."""

    def __init__(self, store: Store, key: int) -> None:
        self._store, self._key = store, key
        self._unstored: dict[str, Any] = {}
        """Choices that are being written."""

    def all(self) -> dict[str, Any]:
        """All choices that are set. Raises StoreError."""
        unstored = dict(self._unstored)  # before the database is read, which may know them by then
        stored = self._store.session_settings(self._key) | unstored
        return {name: value for name, value in stored.items() if value is not None}

    def set(self, name: str, value: Any) -> None:
        """Store a choice; None removes it. Written soon, in order; ``all`` has it at once."""
        self._unstored[name] = value
        written = self._store.set_session_setting(self._key, name, value)
        # Not the choices themselves: a callback must not keep those of a closed session alive.
        written.add_done_callback(partial(_forget, self._unstored, name, value))


def _forget(unstored: dict[str, Any], name: str, value: Any, _done: object) -> None:
    """On the writer's thread: the database knows a choice, unless there is a newer one."""
    if unstored.get(name) is value:
        unstored.pop(name, None)


def resolve_entry(session: OpenedSession, name: str) -> int:
    """The entry that a user names: an id, a unique start of one, or ``#index``.

    Raises ValueError when there is none, or more than one.
    """
    tree = session.tree
    if name.startswith("#") and name[1:].isdigit() and int(name[1:]) < len(tree):
        return int(name[1:])
    if (exact := tree.index_of(name)) >= 0:
        return exact
    matches = [at for at, entry_id in enumerate(tree.columns.ids) if entry_id.startswith(name)]
    if len(matches) != 1:
        have = f"{len(matches):,} entries of {session.title!r} have ids"
        if not matches:
            have = f"no entry of {session.title!r} has an id"
        raise ValueError(f"{have} that start{'' if matches else 's'} with {name!r}")
    return matches[0]
