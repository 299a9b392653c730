"""All stored sessions as a library: what each is and took, filters over them, their sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from explorer.formats.registry import adapter_of
from explorer.models.catalogue import ModelInfo, Prices, cost_of, listed_model
from explorer.models.events import Usage
from explorer.session.partly_compared import PartlyCompared
from explorer.session.records import STARTED
from explorer.session.usage_sums import NO_LIST, NOTHING, UsageSum, total_of
from explorer.store import SessionRow, Store
from explorer.store.postgres import Note, Shared
from explorer.store.totals import Total


class LibraryRow(PartlyCompared, frozen=True):
    """One session."""

    UNCOMPARED = frozenset({"text"})

    session: SessionRow
    agent: str
    """The agent's name for people."""
    project: str
    """The last part of its working folder."""
    model: str
    """The model that answered most of its calls; empty where none is recorded."""
    spent: UsageSum
    """What its replies and summaries took, as far as it is summed up."""
    text: str
    """What free text is looked for in: title, folder, agent, model, note, labels, id, publisher; in
    lower case."""
    publisher: str = ""
    """Who published it; empty for one of the person's own library."""
    published_ms: float = 0.0
    """When; milliseconds since 1970."""

    @property
    def is_summed(self) -> bool:
        """Whether ``spent`` is of all its entries: they are summed up in the background."""
        return self.session.branches > 0 or not self.session.entries


class LibraryFilter(Struct, frozen=True):
    """Which sessions are shown; what is empty lets all through."""

    agents: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    since_ms: float = 0.0
    """Of the last activity; milliseconds since 1970."""
    compacted: bool = False
    """Only those with a compaction."""
    words: str = ""
    """All of them must be in ``LibraryRow.text``."""
    place: str = "library"
    """``library``, ``archive`` or ``trash``."""
    started: bool = False
    """With the sub-agents that other sessions started."""
    labels: frozenset[str] = frozenset()
    """One of them is enough."""

    def takes(self, row: LibraryRow, words: Sequence[str]) -> bool:
        """Whether a session is shown; ``words``: those of the filter, in lower case."""
        session = row.session
        place = "trash" if session.trashed_ms else "archive" if session.archived_ms else "library"
        return (
            place == self.place
            and (self.started or session.relation not in STARTED)
            and (not self.agents or row.agent in self.agents)
            and (not self.projects or row.project in self.projects)
            and (not self.models or row.model in self.models)
            and (not self.labels or not self.labels.isdisjoint(session.labels))
            and session.last_ms >= self.since_ms
            and (not self.compacted or session.compactions > 0)
            and all(one in row.text for one in words)
        )


class LibrarySums(Struct, frozen=True):
    """What filtered sessions came to."""

    sessions: int = 0
    entries: int = 0
    compactions: int = 0
    spent: UsageSum = NOTHING
    by_day: Mapping[int, UsageSum] = {}
    """By days since 1970, UTC; 0 where no time is recorded."""
    by_project: Mapping[str, UsageSum] = {}
    by_model: Mapping[str, UsageSum] = {}


class Library(Struct, frozen=True):
    """The rows of all sessions, and what they took by day and model."""

    rows: tuple[LibraryRow, ...]
    totals: Mapping[int, Sequence[Total]]
    """By session key."""

    def filtered(self, by: LibraryFilter) -> list[LibraryRow]:
        """The sessions that a filter lets through, the last used first."""
        words = by.words.casefold().split()
        return [row for row in self.rows if by.takes(row, words)]

    def sums(self, rows: Iterable[LibraryRow]) -> LibrarySums:
        """What some sessions came to."""
        days: dict[int, list[UsageSum]] = defaultdict(list)
        projects: dict[str, list[UsageSum]] = defaultdict(list)
        models: dict[str, list[UsageSum]] = defaultdict(list)
        sessions = entries = compactions = 0
        for row in rows:
            sessions += 1
            entries += row.session.entries
            compactions += row.session.compactions
            projects[row.project].append(row.spent)
            for one in self.totals.get(row.session.key, ()):
                days[one.day].append(one.spent)
                models[one.model].append(one.spent)
        by_project = {name: total_of(parts) for name, parts in projects.items()}
        return LibrarySums(
            sessions,
            entries,
            compactions,
            total_of(by_project.values()),
            {day: total_of(parts) for day, parts in days.items()},
            by_project,
            {model: total_of(parts) for model, parts in models.items()},
        )


def read_library(store: Store, most: int | None = None, prices: Prices | None = None) -> Library:
    """All sessions as they are now, or the ``most`` that were used last. Blocks; meant for a worker
    thread. ``prices``: what is known of a model; with it the cost that an agent did not record is
    worked out. Raises StoreError."""
    sessions = store.sessions(all_places=True, most=most)
    foreign = {one.key for one in sessions if not adapter_of(one.format).writes}
    totals: dict[int, list[Total]] = defaultdict(list)
    models: dict[tuple[str, int], ModelInfo | None] = {}
    for one in store.totals(None if most is None else [row.key for row in sessions]):
        if prices is not None and one.key in foreign:
            name = one.model, one.size
            if name not in models:
                models[name] = _priced(*name, prices)
            one = _with_listed_cost(one, models[name])
        totals[one.key].append(one)
    return Library(tuple(_row(one, totals.get(one.key, ())) for one in sessions), totals)


def library_of(sessions: Iterable[SessionRow]) -> Library:
    """Sessions of a team, of which it is not known what they took."""
    return Library(tuple(_row(one, ()) for one in sessions), {})


def _with_listed_cost(total: Total, info: ModelInfo | None) -> Total:
    """A sum with the cost of its calls by listed prices: what they cost one by one, since their
    prompts are all of the size from which on the same prices hold. Where a model has a price from
    another size on than those in ``PRICE_SIZES``, it counts from the next one of these on."""
    spent = total.spent
    if info is None:
        return total
    counted = Usage(spent.input, spent.output, spent.cache_read, spent.cache_write)
    cost = cost_of(counted, info, spent.cache_write_1h)
    by_list = replace(
        spent, listed=spent.calls + spent.uncounted, listed_cost=cost.total,
        low_priced=cost.low_priced,
    )  # fmt: skip
    return replace(total, spent=by_list)


def _priced(model: str, size: int, prices: Prices) -> ModelInfo | None:
    """A model at its listed prices for prompts of a ``price_size``; None where it has none."""
    info = listed_model(model, prices)
    if info is None or size == NO_LIST:
        return None
    dearer: dict[str, Any] = {}
    for tier in info.tiers:
        if tier.above <= size:
            dearer |= {name: price for name, price in asdict(tier).items() if price is not None}
    dearer.pop("above", None)
    return replace(info, tiers=(), **dearer)


def shared_library(shared: Iterable[Shared], notes: Sequence[Note]) -> Library:
    """The sessions of a team's library, with the labels and notes on them as a whole, each note
    with its author. What they took is not published."""
    labels: dict[int, set[str]] = defaultdict(set)
    written: dict[int, list[str]] = defaultdict(list)
    for note in notes:
        if note.entry_id:
            continue
        if note.kind == "label":
            labels[note.key].add(note.text)
        else:
            written[note.key].append(f"{note.author}: {note.text}")
    rows = []
    for one in shared:
        key = one.row.key
        named = tuple(sorted(labels[key], key=str.casefold))
        session = replace(one.row, note="\n".join(written[key]), labels=named)
        row = _row(session, (), one.model)
        rows.append(
            replace(
                row, publisher=one.publisher, published_ms=one.published_ms,
                text=f"{row.text}\n{one.publisher.casefold()}",
            )
        )  # fmt: skip
    return Library(tuple(rows), {})


def _row(session: SessionRow, totals: Sequence[Total], model: str = "") -> LibraryRow:
    """``model``: where no totals say it."""
    calls = dict[str, int]()
    for one in totals:
        calls[one.model] = calls.get(one.model, 0) + one.spent.calls + one.spent.uncounted
    model = max(calls, key=lambda name: calls[name]) if calls else model
    agent, project = adapter_of(session.format).title, project_name(session.cwd)
    words = (
        session.title, session.cwd, agent, model, session.note, session.session_id, session.path,
        *session.labels,
    )  # fmt: skip
    spent = totals[0].spent if len(totals) == 1 else total_of(one.spent for one in totals)
    return LibraryRow(session, agent, project, model, spent, "\n".join(words).casefold())


def project_name(cwd: str) -> str:
    """The last part of a working folder, whichever system wrote it; empty where none is known."""
    return cwd.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
