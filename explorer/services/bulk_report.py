"""What the tables of many audits come to, as a page: what was needed again by agent, model,
project, settings and week, and the compactions that cost most. Nothing tells who wrote a session.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from markupsafe import Markup
from msgspec import Struct, field

from explorer import private_files
from explorer.audit.report.output import policy, readable, template_environment
from explorer.services.audit_folder import FolderError, table_rows
from explorer.services.audit_report import report_templates
from explorer.session.secrets import mask

MOST_GROUPS, WORST, MOST_NEEDS, MOST_FAILED = 30, 10, 3, 20
"""Rows of a table, compactions that are named, things named of each, and failed sessions."""
LEAST_COMPACTIONS = 5
"""Settings with fewer are not compared."""
_SIZES = (5_000, 10_000, 20_000, 40_000, 80_000, 160_000)
"""Where kinds of sizes begin and end, in tokens."""
UNKNOWN = "not recorded"

_SESSION = (
    "library",
    "session",
    "title",
    "project",
    "agent",
    "file",
    "status",
    "reason",
    "program",
)
_COMPACTION = (
    "library", "session", "compaction", "number", "time_ms", "agent", "project", "model", "profile",
    "tokens_before", "tokens_after", "tokens_kept", "standing_instruction", "needed_again",
    "needed_again_tokens", "needed_again_usd", "needed_compared", "needed_expected",
)  # fmt: skip


class Cost(Struct):
    """What some compactions made necessary again."""

    name: str = ""
    compactions: int = 0
    needing: int = 0
    """Of these: after which something was needed again."""
    needed: int = 0
    tokens: int = 0
    priced: int = 0
    """Of the tokens: those of models with a listed price ..."""
    dollars: float = 0.0
    """... at which they cost so much, paid once."""
    missing: int = 0
    """Standing instructions that were lost."""

    def add(self, row: dict[str, Any]) -> None:
        """Add a compaction."""
        self.compactions += 1
        self.needing += row["needed_again"] > 0
        self.needed += row["needed_again"]
        self.tokens += row["needed_again_tokens"]
        self.missing += row["standing_instruction"]
        if row["needed_again_usd"] is not None:
            self.priced += row["needed_again_tokens"]
            self.dollars += row["needed_again_usd"]

    def take(self, other: Cost) -> None:
        """Add those of another."""
        for name in self.__struct_fields__[1:]:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def each(self) -> float:
        """Tokens for each compaction."""
        return self.tokens / self.compactions if self.compactions else 0.0

    @property
    def money(self) -> str:
        """The cost in words."""
        if not self.priced:
            return "not known" if self.tokens else "–"
        share = 100 * self.priced / self.tokens
        return f"≈${self.dollars:,.2f}" + (f" for {share:.0f} %" if share < 100 else "")


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

    row: dict[str, Any]
    session: dict[str, Any]
    needs: Sequence[dict[str, Any]]

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
    """What the page shows."""

    sessions: int
    failed: int
    failures: list[dict[str, Any]]
    programs: list[str]
    whole: Cost
    compared: int
    expected: float
    settings: list[Settings]
    other_settings: int
    """Settings with too few compactions."""
    agents: list[Cost]
    models: list[Cost]
    projects: list[Cost]
    weeks: list[Cost]
    worst: list[Worst]


def save_many(folder: Path, output: Path) -> None:
    """Write the page over a folder of tables, whole or not at all. Needs pyarrow. Raises
    FolderError where there are none, OSError."""
    page = mask(_page(read_many(folder)))
    private_files.write(output, page.encode(), keeps_mode=True)


def read_many(folder: Path) -> ManyAudits:
    """What the tables of a folder come to. Raises FolderError, OSError."""
    sums, worst = _Sums(), list[tuple[int, int, dict[str, Any]]]()
    for number, row in enumerate(table_rows(folder, "compactions", _COMPACTION)):
        sums.add(row)
        if row["needed_again_tokens"]:
            entry = row["needed_again_tokens"], -number, row
            (heapq.heappush if len(worst) < WORST else heapq.heappushpop)(worst, entry)
    named = {_session(row) for _, _, row in worst}
    sessions = _Sessions.read(table_rows(folder, "sessions", _SESSION), named)
    if not sessions.count:
        raise FolderError(f"{folder} holds no audits: session-explorer audit --all --out {folder}")
    ranked = [row for _, _, row in sorted(worst, reverse=True)]
    needs = _needs(ranked, folder)
    found = [
        Worst(row, sessions.named[_session(row)], needs[_compaction(row)])
        for row in ranked
        # A run that writes there just now may have taken it out.
        if _session(row) in sessions.named
    ]
    settings, others = sums.compared_settings()
    return ManyAudits(
        sessions.count, sessions.failed, sessions.failures, sorted(sessions.programs), sums.whole,
        sums.compared, sums.expected, settings, others, _most(sums.agents), _most(sums.models),
        _most(sums.projects), [sums.weeks[name] for name in sorted(sums.weeks)], found,
    )  # fmt: skip


def _session(row: dict[str, Any]) -> tuple[str, int]:
    return row["library"], row["session"]


def _compaction(row: dict[str, Any]) -> tuple[str, int, int]:
    return row["library"], row["session"], row["compaction"]


def _needs(
    rows: Sequence[dict[str, Any]], folder: Path
) -> dict[tuple[str, int, int], list[dict[str, Any]]]:
    """The largest things that were needed again after some compactions."""
    found: dict[tuple[str, int, int], list[dict[str, Any]]] = {_compaction(one): [] for one in rows}
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
    failures: list[dict[str, Any]] = field(default_factory=list)
    programs: set[str] = field(default_factory=set)
    named: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, rows: Iterable[dict[str, Any]], wanted: set[tuple[str, int]]) -> _Sessions:
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
    compared: int = 0
    expected: float = 0.0
    agents: dict[str, Cost] = field(default_factory=dict)
    models: dict[str, Cost] = field(default_factory=dict)
    projects: dict[str, Cost] = field(default_factory=dict)
    weeks: dict[str, Cost] = field(default_factory=dict)
    settings: dict[tuple[str, int, int], Cost] = field(default_factory=dict)

    def add(self, row: dict[str, Any]) -> None:
        self.whole.add(row)
        self.compared += row["needed_compared"]
        self.expected += row["needed_expected"]
        for groups, name in (
            (self.agents, row["agent"]), (self.models, row["model"] or UNKNOWN),
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
    environment = template_environment(templates, _legible, autoescape=True)
    sheet = templates["style.css"]
    page = environment.get_template("many.html.j2").render(
        many=found, sheet=Markup(sheet), policy=policy(sheet), LEAST=LEAST_COMPACTIONS,
        MOST_FAILED=MOST_FAILED,
    )  # fmt: skip
    return page + "\n"


def _legible(value: object) -> object:
    return readable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
