"""The typed changes from which every view refreshes, and the hub that carries them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from explorer.extensions.answers import HookRecord


class SessionsChanged(Struct, frozen=True):
    """The list of sessions changed."""


class PromptsChanged(Struct, frozen=True):
    """Other prompt templates are in force; ``names`` of those that changed."""

    names: frozenset[str]


class EntriesAppended(Struct, frozen=True):
    """Entries ``first`` to ``first + count - 1`` are new in the tree of session ``key``."""

    key: int
    first: int
    count: int


class EntriesChanged(Struct, frozen=True):
    """Entries of session ``key`` say more than before: their own agent went on writing them."""

    key: int
    entries: tuple[int, ...]


class LeafMoved(Struct, frozen=True):
    """The active leaf of session ``key`` went from ``old`` to ``new`` (entry indices, -1 none)."""

    key: int
    old: int
    new: int


class LabelsChanged(Struct, frozen=True):
    key: int


class CountsChanged(Struct, frozen=True):
    """More entries of session ``key`` were counted with its tokenizer."""

    key: int
    counted: int
    total: int


class DraftChanged(Struct, frozen=True):
    key: int
    draft: int


class CompactionStarted(Struct, frozen=True):
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


class SummaryArrived(Struct, frozen=True):
    """A piece of a summary of session ``key`` that was not ordered by hand, as it arrives.

    ``restart``: what came for this purpose so far is void.
    """

    key: int
    purpose: str
    text: str
    restart: bool = False


class CompactionEnded(Struct, frozen=True):
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


class PruneMade(Struct, frozen=True):
    """Old tool results of session ``key`` were pruned automatically: how many, and how many tokens
    that saves. ``entry``: the prune entry."""

    key: int
    entry: int
    results: int
    saved: int


class AutomaticChanged(Struct, frozen=True):
    """The state of automatic compaction of session ``key`` changed: its guards, its question, its
    progress."""

    key: int


class BackgroundChanged(Struct, frozen=True):
    """The summary of session ``key`` that is made ahead: its state, how full the last
    prompt was (a share of its budget), and what happened, in a sentence."""

    key: int
    state: str
    ratio: float
    note: str = ""


class ExtensionsActed(Struct, frozen=True):
    """Extensions were asked about an event of session ``key``; what each handler did, in order."""

    key: int
    event: str
    records: tuple[HookRecord, ...]


class CompactionRequested(Struct, frozen=True):
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
