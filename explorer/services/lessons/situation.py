"""One place of a session under one set of rules: all that an answer may look at."""

from __future__ import annotations

from msgspec import Struct

from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.triggers import fitted
from explorer.services.document import Document
from explorer.session.context import PathContext, context_at
from explorer.session.tree import SessionTree


class Place(Struct, frozen=True):
    """Where in a session a lesson runs, and under which rules."""

    at: int
    """The entry at which a compaction is previewed."""
    profile: Profile
    settings: Settings
    sentence: str
    """Where that is, for the person."""
    target: int = -1
    """Where the branch that ends at ``at`` is left for; -1 where no branch is left."""
    instruction: int = -1
    """An entry with a standing instruction that would be summarized, or -1."""
    pruning: Pruning | None = None
    """The rules that old tool results are pruned by, where the lesson is about that."""


class Situation(Struct, frozen=True):
    """What the engine makes of a place. Nothing in it is changed."""

    document: Document
    place: Place
    shown: Partition
    context: PathContext

    def filled(self, words: str) -> str:
        """The words of a step with the figures of this place in them."""
        settings = fitted(self.place.profile, self.place.settings)
        figures = {
            "keep_recent": f"{settings.keep_recent_tokens:,}",
            "reserve": f"{settings.reserve_tokens:,}",
            "window": f"{settings.context_window:,}",
            "at": f"#{self.place.at}",
        }
        for name, figure in figures.items():
            words = words.replace(f"{{{name}}}", figure)
        return words

    @property
    def tree(self) -> SessionTree:
        """The session's tree."""
        return self.document.tree

    @property
    def whole_cuts(self) -> list[int]:
        """Valid cuts at which no turn is split and something lies before. Raises NoAnswer."""
        made = self.made
        view, start = made.cuts.view, made.boundary
        return [
            at
            for at in self.shown.valid_cuts
            if view.weight(start, at) and not made.cuts.at(start, at).is_split_turn
        ]

    @property
    def made(self) -> Preparation:
        """The compaction that can be done here. Raises NoAnswer where none can."""
        prepared = self.shown.preparation
        if isinstance(prepared, Preparation):
            return prepared
        raise NoAnswer(prepared.reason)


class NoAnswer(Exception):
    """The engine has no answer to this here; the message says why."""


def situation_at(document: Document, place: Place, cut: int | None = None) -> Situation:
    """The situation at a place; pure. ``cut``: a position that was chosen by hand."""
    shown = document.compaction.preview(place.at, place.profile, place.settings, cut)
    return Situation(document, place, shown, context_at(document.tree, place.at))
