"""What holds compactions back that would happen by themselves, and what of it outlasts the program.

A step that was taken back, and a breaker that opened, hold until a person resets them: they are
kept with the session. Limits of one message, waits and counts of failures that were fewer are not:
opening a session is a fresh start for those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from explorer.compaction.profile import Profile
from explorer.compaction.triggers import MOST_FAILURES, Guards

if TYPE_CHECKING:
    from explorer.work.document import Document

KEPT = "automatic_guards"
"""Under which a session keeps them."""


class KeptGuards:
    """The guards of one session. ``told`` is called when it begins or ends to rest."""

    def __init__(self, document: Document, told: Callable[[], None]) -> None:
        self._document = document
        self._told = told
        kept = document.choices().get(KEPT)
        self._kept: dict[str, Any] = kept if isinstance(kept, dict) else {}
        self._now = _guards_of(self._kept)

    @property
    def now(self) -> Guards:
        return self._now

    @now.setter
    def now(self, guards: Guards) -> None:
        rested, self._now = self._now.resting, guards
        self._keep()
        if guards.resting != rested:
            self._told()

    def put_off(self, profile: Profile, tokens: int) -> None:
        """Leave it, as the person wishes: until the context has grown by so many tokens, or, with
        0, until the next message."""
        wanted = self._document.context_size(profile).tokens + tokens if tokens else 0
        self.now = self.now.left(wanted)

    def did(self, entry: int) -> None:
        """A compaction or prune happened by itself; -1: what comes next is not about the last."""
        self._keep({"last": self._document.tree.columns.ids[entry]} if entry >= 0 else {})

    def is_taken_back(self, leaf: int) -> bool:
        """Whether a move of the leaf to an entry takes back what happened by itself last."""
        name = self._kept.get("last")
        if not isinstance(name, str):
            return False
        tree = self._document.tree
        last = tree.index_of(name)
        return last >= 0 and tree.columns.parent[last] == leaf

    def _keep(self, last: dict[str, str] | None = None) -> None:
        before = {"last": self._kept["last"]} if "last" in self._kept else {}
        kept: dict[str, Any] = dict(before if last is None else last)
        if self._now.resting:
            kept |= {"reason": self._now.reason, "held": self._now.held}
        if kept != self._kept:
            self._kept = kept
            self._document.choose(KEPT, kept or None)


def _guards_of(kept: dict[str, Any]) -> Guards:
    reason, held = kept.get("reason"), kept.get("held")
    if not isinstance(reason, str) or not isinstance(held, bool):
        return Guards()
    return Guards(failures=0 if held else MOST_FAILURES, reason=reason, held=held)
