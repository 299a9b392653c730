"""What many audits come to: what was needed again by agent, model, profile, project, settings and
week, and the compactions that cost most; of tables also as a page. Nothing tells who wrote a
session.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from markupsafe import Markup
from msgspec import Struct, field, to_builtins

from explorer import private_files
from explorer.audit.report.output import policy, template_environment
from explorer.services.audit_folder import FolderError, table_rows
from explorer.services.audit_report import report_templates
from explorer.services.session_audit import SessionAudit
from explorer.session.secrets import mask

MOST_GROUPS, WORST, MOST_NEEDS, MOST_FAILED = 30, 10, 3, 20
"""Rows of a table, compactions that are named, things named of each, and failed sessions."""
LEAST_COMPACTIONS = 5
"""Settings with fewer are not compared."""
_SIZES = (5_000, 10_000, 20_000, 40_000, 80_000, 160_000)
"""Where kinds of sizes begin and end, in tokens."""
_CENTS_FROM = 0.1
"""Dollars below which the parts of a cent are shown."""
UNKNOWN, NO_PROFILE = "not recorded", "no profile"
"""Of models and times that are not recorded, and of agents whose rules no profile has."""

_SESSION = (
    "library", "session", "id", "title", "project", "agent", "file", "status", "reason", "program",
)  # fmt: skip
_COMPACTION = (
    "library", "session", "compaction", "number", "time_ms", "agent", "project", "model", "profile",
    "tokens_before", "tokens_after", "tokens_kept", "standing_instruction", "needed_again",
    "said_again", "read_again", "needed_again_tokens", "needed_again_usd", "needed_compared",
    "needed_expected",
)  # fmt: skip


Row = Mapping[str, Any]
"""Of a table, by column."""


class Cost(Struct):
    """What some compactions made necessary again."""

    name: str = ""
    sessions: int = 0
    """Sessions with such a compaction."""
    compactions: int = 0
    needing: int = 0
    """Of these: after which something was needed again."""
    needed: int = 0
    said_again: int = 0
    read_again: int = 0
    """Of these: what the person asked for again, and files that were read again or read back."""
    compared: int = 0
    """Those that can be compared with stretches without a compaction ..."""
    expected: float = 0.0
    """... in which so many would be expected."""
    tokens: int = 0
    priced: int = 0
    """Of the tokens: those of models with a listed price ..."""
    dollars: float = 0.0
    """... at which they cost so much, paid once."""
    missing: int = 0
    """Standing instructions that were lost."""
    last: tuple[str, int] | None = None
    """The session of the last compaction."""

    def add(self, row: Row) -> None:
        """Add a compaction; those of a session come one after the other."""
        self.sessions += self.last != _session(row)
        self.last = _session(row)
        self.compactions += 1
        self.needing += row["needed_again"] > 0
        self.needed += row["needed_again"]
        self.said_again += row["said_again"]
        self.read_again += row["read_again"]
        self.compared += row["needed_compared"]
        self.expected += row["needed_expected"]
        self.tokens += row["needed_again_tokens"]
        self.missing += row["standing_instruction"]
        if row["needed_again_usd"] is not None:
            self.priced += row["needed_again_tokens"]
            self.dollars += row["needed_again_usd"]

    def take(self, other: Cost) -> None:
        """Add those of another."""
        for name in self.__struct_fields__[1:-1]:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def each(self) -> float:
        """Tokens for each compaction."""
        return self.tokens / self.compactions if self.compactions else 0.0

    @property
    def money(self) -> str:
        """The cost in words: a lower bound where not all of the models have a price."""
        if not self.priced:
            return "not known" if self.tokens else "–"
        digits = 2 if self.dollars >= _CENTS_FROM else 4
        return f"{'≈' if self.priced == self.tokens else '≥'}${self.dollars:,.{digits}f}"


class Settings(Struct, frozen=True):
    """How contexts were compacted, and what that cost."""

    rules: str
    before: str
    """How large they were."""
    kept: str
    """What was kept of them word for word."""
    cost: Cost


class Worst(Struct, frozen=True):
    """A compaction that cost much: its row, that of its session, and those of the largest things
    that were needed again after it."""

    row: Row
    session: Row
    needs: Sequence[Row]

    @property
    def commands(self) -> list[str]:
        """What opens it."""
        library, key, entry = self.row["library"], self.row["session"], self.row["compaction"]
        if library:
            return [
                f"session-explorer audit {library}:{key} --compaction {entry}",
                f"session-explorer pull {key} --library {library}",
            ]
        return [
            f"session-explorer open {key}",
            f"session-explorer audit {key} --compaction {entry}",
        ]


class ManyAudits(Struct, frozen=True):
    """What is shown."""

    sessions: int
    failed: int
    failures: list[Row]
    programs: list[str]
    whole: Cost
    settings: list[Settings]
    other_settings: int
    """Settings with too few compactions."""
    agents: list[Cost]
    models: list[Cost]
    profiles: list[Cost]
    projects: list[Cost]
    weeks: list[Cost]
    worst: list[Worst]


def save_many(folder: Path, output: Path) -> None:
    """Write the page over a folder of tables, whole or not at all. Needs pyarrow. Raises
    FolderError where there are none, OSError."""
    page = mask(_page(read_many(folder)))
    private_files.write(output, page.encode(), keeps_mode=True)


def read_many(folder: Path) -> ManyAudits:
    """What the tables of a folder come to. Needs pyarrow. Raises FolderError, OSError."""
    found = _many(
        table_rows(folder, "compactions", _COMPACTION), table_rows(folder, "sessions", _SESSION),
        lambda worst: _needs(worst, folder),
    )  # fmt: skip
    if not found.sessions:
        raise FolderError(f"{folder} holds no audits: session-explorer audit --all --out {folder}")
    return found


def sum_up(audits: Collection[SessionAudit]) -> ManyAudits:
    """What some audits come to."""
    return _many(
        (to_builtins(row) for one in audits for row in one.compactions),
        (to_builtins(one.row) for one in audits),
        lambda worst: defaultdict(list),
    )


_Needs = Mapping[tuple[str, int, int], Sequence[Row]]
"""By compaction: what was needed again after it."""


def _many(
    compactions: Iterable[Row], sessions: Iterable[Row], needs_of: Callable[[Sequence[Row]], _Needs]
) -> ManyAudits:
    sums, worst = _Sums(), list[tuple[int, int, Row]]()
    for number, row in enumerate(compactions):
        sums.add(row)
        if row["needed_again_tokens"]:
            entry = row["needed_again_tokens"], -number, row
            (heapq.heappush if len(worst) < WORST else heapq.heappushpop)(worst, entry)
    read = _Sessions.read(sessions, {_session(row) for _, _, row in worst})
    ranked = [row for _, _, row in sorted(worst, reverse=True)]
    needs = needs_of(ranked)
    found = [
        Worst(row, read.named[_session(row)], needs[_compaction(row)])
        for row in ranked
        # A run that writes there just now may have taken it out.
        if _session(row) in read.named
    ]
    settings, others = sums.compared_settings()
    return ManyAudits(
        read.count, read.failed, read.failures, sorted(read.programs), sums.whole, settings,
        others, _most(sums.agents), _most(sums.models), _most(sums.profiles),
        _most(sums.projects), [sums.weeks[name] for name in sorted(sums.weeks)], found,
    )  # fmt: skip


def _session(row: Row) -> tuple[str, int]:
    return row["library"], row["session"]


def _compaction(row: Row) -> tuple[str, int, int]:
    return row["library"], row["session"], row["compaction"]


def _needs(rows: Sequence[Row], folder: Path) -> _Needs:
    """The largest things that were needed again after some compactions."""
    found: dict[tuple[str, int, int], list[Row]] = {_compaction(one): [] for one in rows}
    columns = ("library", "session", "compaction", "kind", "tokens", "text", "before", "after")
    for row in table_rows(folder, "needed", columns):
        if (name := _compaction(row)) in found:
            found[name] = heapq.nlargest(
                MOST_NEEDS, [*found[name], row], key=lambda need: int(need["tokens"])
            )
    return found


class _Sessions(Struct):
    count: int = 0
    failed: int = 0
    failures: list[Row] = field(default_factory=list)
    programs: set[str] = field(default_factory=set)
    named: dict[tuple[str, int], Row] = field(default_factory=dict)

    @classmethod
    def read(cls, rows: Iterable[Row], wanted: set[tuple[str, int]]) -> _Sessions:
        found = cls()
        for row in rows:
            found.count += 1
            found.programs.add(row["program"])
            if row["status"] == "failed":
                found.failed += 1
                if len(found.failures) < MOST_FAILED:
                    found.failures.append(row)
            if (name := _session(row)) in wanted:
                found.named[name] = row
        return found


class _Sums(Struct):
    whole: Cost = field(default_factory=Cost)
    agents: dict[str, Cost] = field(default_factory=dict)
    models: dict[str, Cost] = field(default_factory=dict)
    profiles: dict[str, Cost] = field(default_factory=dict)
    projects: dict[str, Cost] = field(default_factory=dict)
    weeks: dict[str, Cost] = field(default_factory=dict)
    settings: dict[tuple[str, int, int], Cost] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        self.whole.add(row)
        for groups, name in (
            (self.agents, row["agent"]), (self.models, row["model"] or UNKNOWN),
            (self.profiles, row["profile"] or NO_PROFILE),
            (self.projects, row["project"] or "no folder"), (self.weeks, _week(row["time_ms"])),
        ):  # fmt: skip
            groups.setdefault(name, Cost(name)).add(row)
        sizes = _size(row["tokens_before"]), _size(row["tokens_kept"])
        self.settings.setdefault((row["profile"] or row["agent"], *sizes), Cost()).add(row)

    def compared_settings(self) -> tuple[list[Settings], int]:
        """Those with enough compactions, the least costly first; and how many others there are."""
        some = [
            Settings(rules, _size_words(before), _size_words(kept), cost)
            for (rules, before, kept), cost in self.settings.items()
            if cost.compactions >= LEAST_COMPACTIONS
        ]
        best = sorted(some, key=lambda one: (one.cost.each, -one.cost.compactions, one.rules))
        return best[:MOST_GROUPS], len(self.settings) - len(some)


def _most(groups: dict[str, Cost]) -> list[Cost]:
    """The groups, the costliest first, the last ones taken together."""
    every = sorted(groups.values(), key=lambda one: (-one.tokens, -one.compactions, one.name))
    shown, others = every[:MOST_GROUPS], every[MOST_GROUPS:]
    if others:
        rest = Cost(f"{len(others):,} others")
        for one in others:
            rest.take(one)
        shown.append(rest)
    return shown


def _week(time_ms: float) -> str:
    """The Monday of a week, in UTC."""
    if time_ms <= 0:
        return UNKNOWN
    try:
        day = datetime.fromtimestamp(time_ms / 1000, UTC).date()
    except (OSError, OverflowError, ValueError):
        return UNKNOWN
    return (day - timedelta(days=day.weekday())).isoformat()


def _size(tokens: int | None) -> int:
    """Which kind of size it is; -1 where it is not known, -2 for nothing."""
    if not tokens:
        return -1 if tokens is None else -2
    return sum(tokens >= size for size in _SIZES)


def _size_words(kind: int) -> str:
    if kind < 0:
        return UNKNOWN if kind == -1 else "nothing"
    if kind == len(_SIZES):
        return f"{_SIZES[-1] // 1000}k or more"
    above = f"{_SIZES[kind - 1] // 1000}k to " if kind else "under "
    return f"{above}{_SIZES[kind] // 1000}k"


def _page(found: ManyAudits) -> str:
    templates = report_templates()
    environment = template_environment(templates, is_html=True)
    sheet = templates["style.css"]
    page = environment.get_template("many.html.j2").render(
        many=found, sheet=Markup(sheet), policy=policy(sheet), LEAST=LEAST_COMPACTIONS,
        MOST_FAILED=MOST_FAILED,
    )  # fmt: skip
    return page + "\n"
