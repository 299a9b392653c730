"""What the engine answers to a prediction."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from explorer.compaction.profile import Settings
from explorer.compaction.reasons import tokens_text
from explorer.services.lessons.lesson import Kind
from explorer.services.lessons.situation import Situation
from explorer.session.partly_compared import PartlyCompared


class Answer(PartlyCompared, frozen=True):
    """One of entries, cuts, options or a number is the answer, by the kind of the prediction."""

    UNCOMPARED = frozenset({"explain"})

    reason: str
    """Why, in sentences with the engine's figures."""
    entries: tuple[int, ...] = ()
    """Every entry that is right; the first one is shown."""
    cuts: tuple[int, ...] = ()
    """Positions of the path at which the cut is right."""
    number: int = 0
    unit: str = "tokens"
    chosen: frozenset[str] = frozenset()
    """The ids of the options that are right."""
    options: tuple[tuple[str, str], ...] = ()
    """Ids and words, where the session decides what can be chosen."""
    show: int = -1
    """An entry to select with the answer; -1: the first of ``entries``, if any."""
    settings: Settings | None = None
    """Sizes that are shown in the window with the answer; None: those of the place."""
    explain: Callable[[int], str] | None = None
    """Why an entry is, or is not, among them."""

    @property
    def selected(self) -> int:
        """The entry to select with the answer, or -1."""
        return self.show if self.show >= 0 else self.entries[0] if self.entries else -1

    @property
    def number_text(self) -> str:
        """The number with its unit."""
        return f"{self.number:,} {self.unit}"


class KnownAnswer(Struct, frozen=True):
    """An answer by its name."""

    find: Callable[[Situation], Answer]
    """Raises NoAnswer. May read entries: for a worker thread."""
    kinds: tuple[Kind, ...]
    """The kinds of prediction that it answers."""
    about: str
    """What it is the answer to, for who writes a lesson."""
    ids: tuple[str, ...] = ()
    """The options that it knows, where a lesson gives their words."""


def verdict_of(now: Situation, entry: int) -> str:
    """What becomes of an entry at the place of the lesson, in a sentence."""
    position = now.shown.path.position(entry)
    if position < 0:
        return f"#{entry} is on another branch: it is not on the path to #{now.place.at}."
    return now.shown.reason(position)


def size_of(now: Situation, entry: int) -> str:
    """The tokens of an entry, in words."""
    return f"{tokens_text(now.document.tokens.entry_tokens(entry, now.place.profile))} tokens"
