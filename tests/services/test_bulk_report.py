"""The page on the tables of many audits."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from explorer.services.audit_folder import AuditFolder, FolderError
from explorer.services.bulk_report import Cost, read_many, save_many, sum_up
from explorer.services.session_audit import (
    VERSION,
    AuditRow,
    CompactionRow,
    NeededRow,
    SessionAudit,
)
from tests.audit.reported import HOSTILE
from tests.commands.processes import called

DAY_MS = 86_400_000.0
MONDAY_MS = 20_458 * DAY_MS
"""5 January 2026."""


def compaction(session: int, entry: int, tokens: int, **changes: Any) -> CompactionRow:
    needed = 1 if tokens else 0
    made = CompactionRow(
        "", session, entry, f"e{entry}", 1, MONDAY_MS, "pi", "orders", "openai/gpt-5", "pi 0.73",
        "pi 0.73", None, None, 90_000, 12_000, 11_000, 70_000, 1_000, True, 1, 0, 0, 0, 0,
        needed, 0, needed, tokens, tokens / 1_000_000, needed, 0.25,
    )  # fmt: skip
    return replace(made, **changes)


def audit(number: int, *found: CompactionRow, **changes: Any) -> SessionAudit:
    row = AuditRow(
        VERSION, "", number, f"s{number}", "pi", "pi", f"Session {number}", "orders", "", "1/2/3",
        "Session Explorer 1", "recorded", "audited",
    )  # fmt: skip
    row = replace(row, **changes)
    needed = tuple(
        NeededRow(row.library, number, one.compaction, "read", 3, 99, "a", "b",
                  one.needed_again_tokens, None, None, f"src/part_{number}.py")
        for one in found if one.needed_again
    )  # fmt: skip
    return SessionAudit(row, found, (), needed)


def written(folder: Path, *audits: SessionAudit) -> Path:
    opened = AuditFolder(folder)
    opened.begin([], lambda _: "")
    for at, one in enumerate(audits):
        opened.add(one)
        if at % 3 == 2:
            opened.write()
    opened.close()
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Fourteen sessions in several parts; the costliest by another agent, from a team."""
    ordinary = [audit(n, compaction(n, 40, 100 * n), compaction(n, 90, 0)) for n in range(1, 13)]
    hostile = compaction(
        13, 40, 5_000, library="acme", agent="Claude Code", project=HOSTILE, model="", profile="",
        tokens_kept=0, needed_again_usd=None, time_ms=MONDAY_MS + 6 * DAY_MS,
        standing_instruction=2,
    )  # fmt: skip
    return written(
        tmp_path / "out",
        *ordinary,
        audit(13, hostile, library="acme", title=HOSTILE, agent="Claude Code"),
        audit(14, status="failed", reason="ended its process (signal 9)"),
    )


def test_the_sums_are_those_of_the_tables(folder: Path) -> None:
    many = read_many(folder)
    assert (many.sessions, many.failed, many.whole.compactions) == (14, 1, 25)
    assert (many.whole.tokens, many.whole.needed, many.whole.needing) == (12_800, 13, 13)
    assert (many.whole.compared, many.whole.expected) == (13, 25 * 0.25)
    assert [
        (one.name, one.sessions, one.compactions, one.tokens, one.read_again) for one in many.agents
    ] == [("pi", 12, 24, 7_800, 12), ("Claude Code", 1, 1, 5_000, 1)]
    assert [(one.name, one.sessions) for one in many.profiles] == [
        ("pi 0.73", 12), ("no profile", 1),
    ]  # fmt: skip
    assert [(one.name, one.money) for one in many.models] == [
        ("openai/gpt-5", "≈$0.0078"), ("not recorded", "not known"),
    ]  # fmt: skip
    assert many.whole.money == "≥$0.0078", "those of the team have no price"
    assert [(one.name, one.tokens) for one in many.weeks] == [("2026-01-05", 12_800)]
    (settings,) = many.settings
    assert (settings.rules, settings.before, settings.kept) == ("pi 0.73", "80k to 160k",
                                                               "10k to 20k")  # fmt: skip
    assert settings.cost.each == 325 and many.other_settings == 1


def test_audits_that_are_in_no_folder_come_to_the_same(folder: Path) -> None:
    ordinary = [audit(n, compaction(n, 40, 100 * n), compaction(n, 90, 0)) for n in range(1, 13)]
    found = sum_up(ordinary)
    many = read_many(folder)
    assert (found.sessions, found.profiles, found.settings) == (
        12,
        many.profiles[:1],
        many.settings,
    )
    assert [one.row for one in found.worst[:2]] == [
        to_builtins(ordinary[n].compactions[0]) for n in (11, 10)
    ]
    assert found.worst[0].session["title"] == "Session 12"


def test_the_ten_costliest_come_with_the_way_to_open_them(folder: Path) -> None:
    worst = read_many(folder).worst
    assert [one.row["needed_again_tokens"] for one in worst] == [
        5_000, 1_200, 1_100, 1_000, 900, 800, 700, 600, 500, 400,
    ]  # fmt: skip
    assert worst[0].commands == [
        "session-explorer audit acme:13 --compaction 40", "session-explorer pull 13 --library acme",
    ]  # fmt: skip
    assert worst[1].commands == [
        "session-explorer open 12", "session-explorer audit 12 --compaction 40",
    ]  # fmt: skip
    assert [need["text"] for need in worst[1].needs] == ["src/part_12.py"]


@pytest.mark.parametrize(
    ("changes", "before", "kept"),
    [
        ({"tokens_before": 4_999, "tokens_kept": 5_000}, "under 5k", "5k to 10k"),
        ({"tokens_before": 160_000, "tokens_kept": 159_999}, "160k or more", "80k to 160k"),
        ({"tokens_before": 9_999, "tokens_kept": 10_000}, "5k to 10k", "10k to 20k"),
        ({"tokens_before": 39_999, "tokens_kept": 20_000}, "20k to 40k", "20k to 40k"),
        ({"tokens_before": 40_000, "tokens_kept": 80_000}, "40k to 80k", "80k to 160k"),
        ({"tokens_before": None, "tokens_kept": 0}, "not recorded", "nothing"),
    ],
)
def test_sizes_are_of_a_kind(changes: dict[str, Any], before: str, kept: str) -> None:
    (settings,) = sum_up(
        [audit(1, *[compaction(1, at, 10, **changes) for at in range(5)])]
    ).settings
    assert (settings.before, settings.kept) == (before, kept)


@pytest.mark.parametrize(
    ("time_ms", "week"),
    [
        (0, "not recorded"), (-1, "not recorded"), (1, "1969-12-29"), (1e18, "not recorded"),
        (MONDAY_MS - 1, "2025-12-29"), (MONDAY_MS, "2026-01-05"),
        (MONDAY_MS + 7 * DAY_MS - 1, "2026-01-05"), (MONDAY_MS + 7 * DAY_MS, "2026-01-12"),
    ],
)  # fmt: skip
def test_a_week_begins_on_monday(time_ms: float, week: str) -> None:
    many = sum_up([audit(1, compaction(1, 1, 10, time_ms=time_ms))])
    assert [one.name for one in many.weeks] == [week]


@pytest.mark.parametrize(
    ("tokens", "priced", "dollars", "money"),
    [
        (0, 0, 0.0, "–"), (5, 0, 0.0, "not known"), (5, 5, 0.0999, "≈$0.0999"),
        (5, 5, 0.1, "≈$0.10"), (5, 4, 1234.5, "≥$1,234.50"), (0, 1, 0.05, "≥$0.0500"),
    ],
)  # fmt: skip
def test_money_is_a_lower_bound_where_a_price_is_missing(
    tokens: int, priced: int, dollars: float, money: str
) -> None:
    assert Cost(tokens=tokens, priced=priced, dollars=dollars).money == money


def test_groups_after_the_thirtieth_are_taken_together() -> None:
    def groups(count: int) -> list[tuple[str, int, int]]:
        found = [
            audit(n, compaction(n, 1, 100 + n, agent=f"a{n:02}"), compaction(n, 2, 0, agent="a00"))
            for n in range(1, count)
        ]
        return [(one.name, one.sessions, one.tokens) for one in sum_up(found).agents]

    thirty = groups(30)
    assert thirty[0] == ("a29", 1, 129) and thirty[-1] == ("a00", 29, 0) and len(thirty) == 30
    more = groups(33)
    assert more[:2] == [("a32", 1, 132), ("a31", 1, 131)] and len(more) == 31
    assert more[-1] == ("3 others", 34, 203)
    equal = [audit(n, compaction(n, 1, 10, model=name)) for n, name in enumerate("cab")]
    twice = audit(9, compaction(9, 1, 5, model="d"), compaction(9, 2, 5, model="d"))
    assert [one.name for one in sum_up([*equal, twice]).models] == ["d", "a", "b", "c"]
    whole = sum_up([*equal, twice]).whole
    assert (whole.sessions, whole.compactions, whole.each) == (4, 5, 8) and Cost().each == 0.0


def test_settings_with_five_compactions_are_compared_the_least_costly_first() -> None:
    def made(session: int, rules: str, count: int, tokens: int) -> SessionAudit:
        rows = [compaction(session, at, tokens, profile=rules) for at in range(count)]
        return audit(session, *rows)

    many = sum_up([
        made(1, "few", 4, 1), made(2, "dear", 5, 30), made(3, "cheap", 5, 20),
        made(4, "often", 6, 20), made(5, "also", 5, 20), made(6, "", 5, 10),
    ])  # fmt: skip
    assert [one.rules for one in many.settings] == ["pi", "often", "also", "cheap", "dear"]
    assert many.other_settings == 1
    every = sum_up([made(n, f"r{n:02}", 5, n) for n in range(40)])
    assert [one.rules for one in every.settings] == [f"r{n:02}" for n in range(30)]
    assert every.other_settings == 0


def test_of_equally_costly_compactions_the_first_are_named_and_none_that_cost_nothing() -> None:
    many = sum_up([audit(n, compaction(n, 1, 7), compaction(n, 2, 0)) for n in range(12)])
    assert [one.row["session"] for one in many.worst] == list(range(10))
    lost = compaction(1, 1, 7, standing_instruction=2, said_again=3)
    told = sum_up([audit(1, lost, lost)]).whole
    assert (told.missing, told.said_again) == (4, 6)
    assert (
        sum_up([audit(1, compaction(1, 1, 7)), audit(2, compaction(3, 1, 9))])
        .worst[0]
        .row["session"]
        == 1
    ), "of one whose session is gone nothing is named"


def test_twenty_failed_sessions_are_named() -> None:
    many = sum_up([audit(n, status="failed", program=f"p{n % 2}") for n in range(21)])
    assert (many.failed, len(many.failures), many.sessions) == (21, 20, 21)
    assert many.programs == ["p0", "p1"]


def test_the_three_largest_needs_of_a_compaction_are_named(tmp_path: Path) -> None:
    one = audit(1, compaction(1, 40, 100))
    needs = tuple(replace(one.needed[0], tokens=n, text=f"t{n}") for n in (10, 40, 20, 30))
    other = replace(one.needed[0], compaction=41, tokens=99)
    (worst,) = read_many(written(tmp_path / "out", replace(one, needed=(*needs, other)))).worst
    assert [need["text"] for need in worst.needs] == ["t40", "t30", "t20"]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_page_stands_alone_and_runs_nothing(folder: Path) -> None:
    save_many(folder, folder / "page.html")
    text = (folder / "page.html").read_text("utf-8")
    tags = _Tags()
    tags.feed(text)
    names = {name for name, _ in tags.found}
    assert not names & {"script", "img", "link", "iframe", "object", "form"}
    assert not [a for _, a in tags.found if any(n.startswith("on") or n == "style" for n in a)]
    assert all(a["href"] and a["href"][0] == "#" for name, a in tags.found if name == "a")
    assert "default-src 'none'" in unescape(text)
    words = unescape(re.sub(r"<[^>]+>", " ", text.partition("</style>")[2]))
    for shown in (HOSTILE, "ended its process (signal 9)", "12,800", "80k to 160k", "2026-01-05"):
        assert shown in words
    rows = [a for name, a in tags.found if name == "rect"]
    assert {row["width"] for row in rows} >= {"100.0", "64.1"}


def test_the_command_writes_it_beside_the_tables(folder: Path, tmp_path: Path) -> None:
    status, _, err = called("audit", "--report", str(folder))
    assert status == 0 and "report.html: the report was written" in err
    other = tmp_path / "other.html"
    assert called("audit", "--report", str(folder), "--output", str(other))[0] == 0
    assert other.read_bytes() == (folder / "report.html").read_bytes()
    empty = tmp_path / "empty"
    empty.mkdir()
    status, _, err = called("audit", "--report", str(empty))
    assert status == 1 and "holds no audits: session-explorer audit --all --out" in err
    status, _, err = called("audit", "1", "--report", str(folder))
    assert status == 2 and "a session does not go with --report" in err


def test_a_library_without_compactions_says_so(tmp_path: Path) -> None:
    folder = written(tmp_path / "out", audit(1))
    save_many(folder, folder / "report.html")
    text = (folder / "report.html").read_text("utf-8")
    assert (
        "Nothing was found to be needed again" in text
        and "No settings have 5 compactions yet" in text
    )
    with pytest.raises(FolderError):
        read_many(tmp_path / "nowhere")
