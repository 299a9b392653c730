"""The typed changes from which every view refreshes, and the hub that carries them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from explorer.extensions.records import HookRecord


@dataclass(frozen=True, slots=True)
class SessionsChanged:
    """The list of sessions changed."""


@dataclass(frozen=True, slots=True)
class PromptsChanged:
    """Other prompt templates are in force; ``names`` of those that changed."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class EntriesAppended:
    """Entries ``first`` to ``first + count - 1`` are new in the tree of session ``key``."""

    key: int
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class EntriesChanged:
    """Entries of session ``key`` say more than before: their own agent went on writing them."""

    key: int
    entries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LeafMoved:
    """The active leaf of session ``key`` went from ``old`` to ``new`` (entry indices, -1 none)."""

    key: int
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class LabelsChanged:
    key: int


@dataclass(frozen=True, slots=True)
class CountsChanged:
    """More entries of session ``key`` were counted with its tokenizer."""

    key: int
    counted: int
    total: int


@dataclass(frozen=True, slots=True)
class DraftChanged:
    key: int
    draft: int


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """A compaction of session ``key`` without review is under way.

    ``trigger``: ``manual``, ``requested``, ``threshold``, ``overflow`` or ``prompt``. ``tokens`` of
    ``window`` are taken. ``retry``: the reply that failed is made again afterwards. ``model``
    writes the summary; ``purposes`` are those of the requests that it answers.
    """

    key: int
    trigger: str
    tokens: int
    window: int
    retry: bool = False
    model: str = ""
    purposes: tuple[str, ...] = ("history",)


@dataclass(frozen=True, slots=True)
class SummaryArrived:
    """A piece of a summary of session ``key`` that was not ordered by hand, as it arrives.

    ``restart``: what came for this purpose so far is void.
    """

    key: int
    purpose: str
    text: str
    restart: bool = False


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """It is over: with an entry, with a ``problem`` (a sentence for the user), or cancelled.

    ``tokens_before`` and ``tokens_after`` are those of the context's entries right before and
    right after it, 0 without one: see ``sizes_around``.
    """

    key: int
    trigger: str
    entry: int = -1
    tokens_before: int = 0
    tokens_after: int = 0
    problem: str = ""
    cancelled: bool = False
    retry: bool = False

    def sized(self, sizes: tuple[int, int]) -> CompactionEnded:
        """The same, with the tokens before and after it."""
        before, after = sizes
        return replace(self, tokens_before=before, tokens_after=after)


@dataclass(frozen=True, slots=True)
class PruneMade:
    """Old tool results of session ``key`` were pruned automatically: how many, and how many tokens
    that saves. ``entry``: the prune entry."""

    key: int
    entry: int
    results: int
    saved: int


@dataclass(frozen=True, slots=True)
class AutomaticChanged:
    """The state of automatic compaction of session ``key`` changed: its guards, its question, its
    progress."""

    key: int


@dataclass(frozen=True, slots=True)
class BackgroundChanged:
    """The summary of session ``key`` that is made ahead: its state, how full the last
    prompt was (a share of its budget), and what happened, in a sentence."""

    key: int
    state: str
    ratio: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class ExtensionsActed:
    """Extensions were asked about an event of session ``key``; what each handler did, in order."""

    key: int
    event: str
    records: tuple[HookRecord, ...]


@dataclass(frozen=True, slots=True)
class CompactionRequested:
    """An extension asked for a compaction of session ``key`` after the turn."""

    key: int
    instructions: str


Change = (
    SessionsChanged
    | PromptsChanged
    | EntriesAppended
    | EntriesChanged
    | LeafMoved
    | LabelsChanged
    | CountsChanged
    | DraftChanged
    | CompactionRequested
    | CompactionStarted
    | SummaryArrived
    | CompactionEnded
    | PruneMade
    | AutomaticChanged
    | ExtensionsActed
    | BackgroundChanged
)
Listener = Callable[[Change], None]


class ChangeHub:
    """Delivers changes to listeners in the order in which they subscribed."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; the returned function removes it again."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def publish(self, change: Change) -> None:
        for listener in list(self._listeners):
            listener(change)
