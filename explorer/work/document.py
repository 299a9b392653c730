"""One opened session: what can be seen of it and done with it."""

from __future__ import annotations

from typing import Any

from explorer.work.branching import Branching
from explorer.work.compacting import Compacting
from explorer.work.pruning import Prunings
from explorer.work.undoing import NothingToUndo, Undone

__all__ = ["Document", "NothingToUndo", "Undone"]


class Document(Prunings, Compacting, Branching):
    """A session in the window or in a command. All methods belong to one event loop's thread."""

    async def set_label(self, target: int, label: str) -> int:
        """Label an entry; an empty text removes its label."""
        fields: dict[str, Any] = {"target_id": self.tree.columns.ids[target]}
        if label:
            fields["label"] = label
        return await self.writer.append("label", self.leaf, **fields)

    async def rename(self, name: str) -> int:
        return await self.writer.append("session_info", self.leaf, name=name)
