"""One opened session with everything that can be done with it, part by part."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.services.agent import Agent
from explorer.services.changes import EntriesChanged
from explorer.services.compaction import Compaction
from explorer.services.drafts import Drafts
from explorer.services.edits import Edits
from explorer.services.navigation import Branches, Navigation
from explorer.services.open_session import OpenedSession


class Document(OpenedSession):
    """A session in the window or in a command. All methods belong to one event loop's thread.

    The parts hold no state: they are made when they are asked for, so that no reference cycle
    keeps a closed session in memory.
    """

    def take_changed(self, entries: Sequence[int]) -> None:
        """Take in entries that their own agent wrote more of, and say so; see ``EntriesChanged``.
        Raises StoreError."""
        present = tuple(at for at in entries if at < len(self.tree))
        if not present:
            return
        self.writer.take_changed(present)
        self.payloads.forget(present)
        self.usage.forget(present)
        self.tokens.forget(present)
        self._contexts.forget()
        self.shared.hub.publish(EntriesChanged(self.key, present))

    @property
    def compaction(self) -> Compaction:
        """Previews, drafts and commits of compactions."""
        return Compaction(self)

    @property
    def branches(self) -> Branches:
        """Summaries of branches that are left."""
        return Branches(self)

    @property
    def navigation(self) -> Navigation:
        """Moves of the leaf."""
        return Navigation(self)

    @property
    def edits(self) -> Edits:
        """Pins, omissions, prunes, labels, and undo."""
        return Edits(self)

    @property
    def drafts(self) -> Drafts:
        """Drafts of summaries, as they are made and recorded."""
        return Drafts(self)

    @property
    def agent(self) -> Agent:
        """What the agent is sent, and whether it is done."""
        return Agent(self)
