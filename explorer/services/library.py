"""All stored sessions as a library: what each is and took, filters over them, their sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from explorer.formats import adapter_of
from explorer.models.catalogue import cost_of
from explorer.models.events import Usage
from explorer.models.price_list import Prices, listed_model
from explorer.session.usage_sums import NOTHING, UsageSum
from explorer.store import SessionRow, Store
from explorer.store.totals import Total


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """One session."""

    session: SessionRow
    agent: str
    """The agent's name for people."""
    project: str
    """The last part of its working folder."""
    model: str
    """The model that answered most of its calls; empty where none is recorded."""
    spent: UsageSum
    """What its replies and summaries took, as far as it is summed up."""

    @property
    def text(self) -> str:
        """What free text is looked for in: title, folder, agent, model, note, id."""
        row = self.session
        return "\n".join(
            (row.title, row.cwd, self.agent, self.model, row.note, row.session_id, row.path)
        ).casefold()


@dataclass(frozen=True, slots=True)
class LibraryFilter:
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

    def takes(self, row: LibraryRow) -> bool:
        """Whether a session is shown."""
        session = row.session
        place = "trash" if session.trashed_ms else "archive" if session.archived_ms else "library"
        return (
            place == self.place
            and (self.started or session.relation not in ("subagent", "compactor"))
            and (not self.agents or row.agent in self.agents)
            and (not self.projects or row.project in self.projects)
            and (not self.models or row.model in self.models)
            and session.last_ms >= self.since_ms
            and (not self.compacted or session.compactions > 0)
            and (not self.words or all(one in row.text for one in self.words.casefold().split()))
        )


@dataclass(frozen=True, slots=True)
class LibrarySums:
    """What filtered sessions came to."""

    sessions: int = 0
    entries: int = 0
    compactions: int = 0
    spent: UsageSum = NOTHING
    by_day: Mapping[int, UsageSum] = field(default_factory=dict)
    """By days since 1970, UTC; 0 where no time is recorded."""
    by_project: Mapping[str, UsageSum] = field(default_factory=dict)
    by_model: Mapping[str, UsageSum] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Library:
    """The rows of all sessions, and what they took by day and model."""

    rows: tuple[LibraryRow, ...]
    totals: Mapping[int, Sequence[Total]]
    """By session key."""

    def filtered(self, by: LibraryFilter) -> list[LibraryRow]:
        """The sessions that a filter lets through, the last used first."""
        return [row for row in self.rows if by.takes(row)]

    def sums(self, rows: Iterable[LibraryRow]) -> LibrarySums:
        """What some sessions came to."""
        days: dict[int, UsageSum] = defaultdict(lambda: NOTHING)
        projects: dict[str, UsageSum] = defaultdict(lambda: NOTHING)
        models: dict[str, UsageSum] = defaultdict(lambda: NOTHING)
        sessions = entries = compactions = 0
        spent = NOTHING
        for row in rows:
            sessions += 1
            entries += row.session.entries
            compactions += row.session.compactions
            spent += row.spent
            projects[row.project] += row.spent
            for one in self.totals.get(row.session.key, ()):
                days[one.day] += one.spent
                models[one.model] += one.spent
        return LibrarySums(
            sessions, entries, compactions, spent, dict(days), dict(projects), dict(models)
        )


def read_library(store: Store, prices: Prices | None = None) -> Library:
    """All sessions as they are now. Blocks; meant for a worker thread. ``prices``: what is known
    of a model; with it the cost that an agent did not record is worked out. Raises StoreError."""
    sessions = store.sessions(all_places=True)
    foreign = {one.key for one in sessions if not adapter_of(one.format).writes}
    totals: dict[int, list[Total]] = defaultdict(list)
    for one in store.totals():
        if prices is not None and one.key in foreign:
            one = _with_listed_cost(one, prices)
        totals[one.key].append(one)
    rows = [_row(session, totals.get(session.key, ())) for session in sessions]
    return Library(tuple(rows), totals)


def _with_listed_cost(total: Total, prices: Prices) -> Total:
    """A sum with the cost of its calls by listed prices, where none of them has a recorded one.
    The dearer prices of long prompts are left out: the sum does not say how long each was."""
    spent = total.spent
    if not spent.calls or spent.unpriced < spent.calls or not spent.output:
        return total
    info = listed_model(total.model, prices)
    if info is None:
        return total
    counted = Usage(spent.input, spent.output, spent.cache_read, spent.cache_write)
    cost = cost_of(counted, replace(info, tiers=())).total
    return replace(total, spent=replace(spent, listed=spent.calls, listed_cost=cost))


def _row(session: SessionRow, totals: Sequence[Total]) -> LibraryRow:
    spent, calls = NOTHING, dict[str, int]()
    for one in totals:
        spent += one.spent
        calls[one.model] = calls.get(one.model, 0) + one.spent.calls + one.spent.uncounted
    project = session.cwd.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    model = max(calls, key=lambda name: calls[name]) if calls else ""
    return LibraryRow(session, adapter_of(session.format).title, project, model, spent)
