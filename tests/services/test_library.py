"""The library: rows, filters, sums, archive and trash."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from explorer.models.catalogue import ModelInfo, PriceTier
from explorer.services.changes import Change, SessionsChanged
from explorer.services.library import (
    Library,
    LibraryFilter,
    LibraryRow,
    library_of,
    project_name,
    read_library,
    shared_library,
)
from explorer.services.related_sessions import started_by
from explorer.services.resume_command import resume_command_of
from explorer.session.records import Relation
from explorer.session.usage_sums import NO_LIST, UsageSum
from explorer.store import Store
from explorer.store.postgres import Note, Shared
from explorer.store.rows import SessionRow
from explorer.store.totals import Total
from explorer.workbench import Workbench
from tests.formats.claude_lines import SESSION, USAGE, Lines
from tests.store.conftest import eventually
from tests.store.test_totals import day, day_number, reply


def imported(bench: Workbench, path: Path, cwd: str, model: str, costs: list[float]) -> int:
    lines: list[Any] = [
        {"type": "session", "version": 3, "id": path.stem, "timestamp": day(1), "cwd": cwd}
    ]
    lines += [reply(at, day(at + 1), model, cost, at - 1 if at else None)
              for at, cost in enumerate(costs)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return bench.import_blocking(path).key


def library(bench: Workbench, calls: int) -> Library:
    def counted() -> bool:
        return sum(one.spent.calls for one in bench.store.totals()) == calls

    eventually(counted, "all calls are summed up")
    return read_library(bench.store)


def test_filters_and_sums_go_over_all_sessions(bench: Workbench, tmp_path: Path) -> None:
    one = imported(bench, tmp_path / "one.jsonl", "/home/sam/quay", "small", [1.0, 2.0])
    two = imported(bench, tmp_path / "two.jsonl", "/home/sam/pier", "large", [4.0])
    found = library(bench, 3)
    everything = found.filtered(LibraryFilter())
    assert [row.session.key for row in everything] == [two, one]
    for entries, branches, is_summed in ((2, 1, True), (2, 0, False), (0, 0, True)):
        row = replace(everything[0].session, entries=entries, branches=branches)
        assert replace(everything[0], session=row).is_summed == is_summed
    sums = found.sums(everything)
    assert (sums.sessions, sums.entries, sums.compactions, sums.spent.cost) == (2, 3, 0, 7.0)
    assert {name: spent.cost for name, spent in sums.by_project.items()} == {
        "quay": 3.0,
        "pier": 4.0,
    }
    assert {name: spent.cost for name, spent in sums.by_model.items()} == {
        "p/small": 3.0,
        "p/large": 4.0,
    }
    first, second = day_number(day(1)), day_number(day(2))
    assert {at: spent.cost for at, spent in sums.by_day.items()} == {first: 5.0, second: 2.0}
    for wanted in (
        LibraryFilter(projects=frozenset({"quay"})), LibraryFilter(models=frozenset({"p/small"})),
        LibraryFilter(words="SAM quay"),
    ):  # fmt: skip
        assert [row.session.key for row in found.filtered(wanted)] == [one]
    assert found.filtered(LibraryFilter(agents=frozenset({"Codex CLI"}))) == []
    assert found.filtered(LibraryFilter(compacted=True)) == []
    assert len(found.filtered(LibraryFilter(agents=frozenset({"pi"})))) == 2


def test_what_is_put_away_is_found_where_it_was_put(bench: Workbench, tmp_path: Path) -> None:
    keys = [imported(bench, tmp_path / f"{name}.jsonl", "/w", "m", [1.0]) for name in "abc"]
    store = bench.store
    store.arrange(keys[:1], "trashed_ms", 5.0).result()
    store.arrange(keys[1:2], "archived_ms", 6.0).result()
    store.arrange(keys[2:], "note", "look here").result()
    found = library(bench, 3)

    def shown(**fields: Any) -> list[int]:
        return [row.session.key for row in found.filtered(replace(LibraryFilter(), **fields))]

    assert shown() == keys[2:] and shown(words="look here") == keys[2:]
    assert shown(place="trash") == keys[:1] and shown(place="archive") == keys[1:2]
    assert [row.key for row in bench.sessions()] == keys[2:]
    store.arrange(keys[:1], "trashed_ms", None).result()
    assert sorted(row.key for row in bench.sessions()) == sorted([keys[0], keys[2]])


def test_the_sessions_used_last_can_be_read_first(bench: Workbench, tmp_path: Path) -> None:
    keys = [imported(bench, tmp_path / f"{name}.jsonl", "/w", "m", [1.0]) for name in "abcd"]
    library(bench, 4)
    bench.store.arrange(keys[3:], "trashed_ms", 5.0).result()
    first = read_library(bench.store, most=2)
    assert [row.session.key for row in first.rows] == [keys[3], keys[2]]
    assert [row.spent.cost for row in first.rows] == [1.0, 1.0]
    assert [row.key for row in bench.sessions(2)] == [keys[2], keys[1]], "without the trash"
    assert len(read_library(bench.store).rows) == 4


def test_sub_agents_of_a_session_are_found_with_theirs(bench: Workbench, tmp_path: Path) -> None:
    key = imported(bench, tmp_path / "a.jsonl", "/w", "m", [1.0])
    this = bench.store.session(key)

    def row(number: int, parent: str, relation: Relation = "subagent") -> SessionRow:
        return replace(this, key=number, session_id=f"s-{number}", path=f"/x/{number}.jsonl",
                       parent_session=parent, relation=relation)  # fmt: skip

    rows = [
        row(1, "", ""), row(2, "s-1"), row(3, "/x/1.jsonl", "compactor"), row(4, "s-2"),
        row(5, "/moved/2026_s-1.jsonl"), row(6, "s-1", "fork"), row(7, "s-6"), row(8, "s-9"),
        row(9, "s-8"),
    ]  # fmt: skip
    assert [one.key for one in started_by(rows, {1})] == [2, 3, 5, 4]
    assert [one.key for one in started_by(rows, {1, 2, 6})] == [3, 4, 5, 7]
    assert [one.key for one in started_by(rows, {8})] == [9], "parents may form a cycle"


def test_labels_are_filtered_by_and_found(bench: Workbench, tmp_path: Path) -> None:
    keys = [imported(bench, tmp_path / f"{name}.jsonl", "/w", "m", [1.0]) for name in "abc"]
    bench.store.arrange(keys[:2], "labels", "paper\nto do").result()
    bench.store.arrange(keys[1:2], "labels", "paper").result()
    found = library(bench, 3)
    assert found.rows[-1].session.labels == ("paper", "to do")

    def shown(**fields: Any) -> set[int]:
        return {row.session.key for row in found.filtered(replace(LibraryFilter(), **fields))}

    assert shown(labels=frozenset({"paper"})) == {*keys[:2]}
    assert shown(labels=frozenset({"to do", "x"})) == shown(words="to do") == {keys[0]}


async def arranged(bench: Workbench, key: int) -> list[Change]:
    changes: list[Change] = []
    stop = bench.subscribe(changes.append)
    await bench.arrange([key], "note", "look here")
    stop()
    return changes


def test_what_arranges_sessions_says_so(bench: Workbench, tmp_path: Path) -> None:
    key = imported(bench, tmp_path / "a.jsonl", "/w", "m", [1.0])
    assert asyncio.run(arranged(bench, key)) == [SessionsChanged()]
    assert bench.sessions()[0].note == "look here"


def test_a_listed_session_tells_how_its_agent_goes_on_with_it(
    bench: Workbench, tmp_path: Path
) -> None:
    imported(bench, tmp_path / "a.jsonl", "/w", "m", [1.0])
    command = resume_command_of(bench.sessions()[0])
    assert command is not None and command.line() == "cd /w && pi --session a"
    assert resume_command_of(replace(bench.sessions()[0], relation="subagent")) is None


def test_listed_costs_are_those_of_each_call_with_the_prices_of_long_prompts(
    bench: Workbench, tmp_path: Path
) -> None:
    """Two calls of a day, of which one is over the size from which on prompts cost more."""
    lines = Lines().user("u1", "Build it")
    for at, cached in enumerate((10_000, 250_000)):
        parts = {"ephemeral_1h_input_tokens": 3 + 5 * at}
        usage = {**USAGE, "cache_read_input_tokens": cached, "cache_creation": parts}
        lines.reply(f"r{at}", f"m{at}", "done", model="claude-sonnet-4-5", usage=usage)
    path = lines.write(tmp_path / f"{SESSION}.jsonl")
    key = bench.import_blocking(path).key
    library(bench, 2)
    (row,) = read_library(bench.store, prices=bench.client.info).rows
    assert len(bench.store.totals()) == 2
    document = bench.open_blocking(key)
    asyncio.run(document.usage.follow())
    exact = document.usage.session().total
    assert row.spent.listed == exact.listed == 2
    assert row.spent.cache_write_1h == exact.cache_write_1h == 11
    assert abs(row.spent.listed_cost - exact.listed_cost) < 1e-9 < exact.listed_cost


# rows alone ---------------------------------------------------------------------------------------

SESSION_ROW = SessionRow(
    7, "abc", "pi", 3, "/home/sam/Quay", "", "Fix the Wake", 5, 0, 99, 1.0, 100.0, 4, "/s/a.jsonl",
    labels=("Later",), note="A note",
)  # fmt: skip


def listed(**changes: Any) -> LibraryRow:
    (row,) = library_of([replace(SESSION_ROW, **changes)]).rows
    return row


@pytest.mark.parametrize(
    ("changes", "asked", "taken"),
    [
        ({}, {}, True),
        ({}, {"since_ms": 100.0}, True),
        ({}, {"since_ms": 100.1}, False),
        ({"trashed_ms": 1.0}, {}, False),
        ({"trashed_ms": 1.0, "archived_ms": 1.0}, {"place": "trash"}, True),
        ({"archived_ms": 1.0}, {"place": "archive"}, True),
        ({"archived_ms": 1.0}, {}, False),
        ({}, {"place": "archive"}, False),
        ({"relation": "subagent"}, {}, False),
        ({"relation": "subagent"}, {"started": True}, True),
        ({"relation": "fork"}, {}, True),
        ({}, {"agents": {"pi"}}, True),
        ({}, {"agents": {"Codex CLI"}}, False),
        ({}, {"projects": {"Quay"}}, True),
        ({}, {"projects": {"quay"}}, False),
        ({}, {"models": {"p/m"}}, False),
        ({}, {"models": {""}}, True),
        ({}, {"labels": {"Later", "now"}}, True),
        ({}, {"labels": {"now"}}, False),
        ({}, {"compacted": True}, False),
        ({"compactions": 1}, {"compacted": True}, True),
        ({}, {"words": "WAKE sam later note abc pi a.jsonl"}, True),
        ({}, {"words": "wake gone"}, False),
    ],
)
def test_a_filter_takes_what_meets_all_of_it(
    changes: dict[str, Any], asked: dict[str, Any], taken: bool
) -> None:
    sets: dict[str, Any]
    sets = {name: frozenset(one) if isinstance(one, set) else one for name, one in asked.items()}
    found = library_of([replace(SESSION_ROW, **changes)]).filtered(LibraryFilter(**sets))
    assert bool(found) is taken


@pytest.mark.parametrize(
    ("cwd", "name"),
    [("/a/b", "b"), ("/a/b/", "b"), ("C:\\a\\b\\", "b"), ("b", "b"), ("", ""), ("/", "")],
)
def test_a_project_is_the_last_part_of_a_folder(cwd: str, name: str) -> None:
    assert project_name(cwd) == name == listed(cwd=cwd).project


class Totals:
    """A store of one session with some totals."""

    def __init__(self, form: Any, *totals: Total) -> None:
        self.form, self.given = form, totals

    def sessions(self, *, all_places: bool, most: int | None) -> list[SessionRow]:
        assert all_places
        return [replace(SESSION_ROW, format=self.form)][:most]

    def totals(self, keys: list[int] | None) -> list[Total]:
        return [one for one in self.given if keys is None or one.key in keys]


def test_the_model_is_that_of_most_calls_and_all_are_summed() -> None:
    totals = [
        Total(7, 3, "p/a", 0, UsageSum(input=10, calls=1, uncounted=2)),
        Total(7, 4, "p/b", 0, UsageSum(input=20, calls=2)),
        Total(7, 4, "p/a", 1, UsageSum(input=40, calls=0)),
    ]
    for given, model, tokens in ((totals, "p/a", 70), (totals[1:], "p/b", 60), ([], "", 0)):
        library = read_library(cast(Store, Totals("pi", *given)))
        (row,) = library.rows
        assert (row.model, row.spent.input) == (model, tokens)
        sums = library.sums([row])
        assert (sums.sessions, sums.entries, sums.compactions) == (1, 5, 0)
        assert sums.spent.input == tokens
        assert {day: one.input for day, one in sums.by_day.items()} == (
            {3: 10, 4: 60} if len(given) == 3 else {4: 60} if given else {}
        )
    assert read_library(cast(Store, Totals("pi", *totals)), 0).rows == ()


TIERS = (PriceTier(100, 10.0, None), PriceTier(200, None, 30.0))


@pytest.mark.parametrize(
    ("form", "size", "cost"),
    [
        ("pi", 0, 0.0),
        ("claude-code", 0, 3 * 1.0 + 2 * 2.0),
        ("claude-code", 99, 3 * 1.0 + 2 * 2.0),
        ("claude-code", 100, 3 * 10.0 + 2 * 2.0),
        ("claude-code", 200, 3 * 10.0 + 2 * 30.0),
        ("claude-code", NO_LIST, 0.0),
    ],
)
def test_calls_without_a_cost_have_one_by_the_list_of_prices(
    form: str, size: int, cost: float
) -> None:
    def prices(model: str) -> ModelInfo:
        asked.append(model)
        known = model == "p/a"
        return ModelInfo(model, "", None, None, input_price=1.0 if known else None,
                         output_price=2.0 if known else None, tiers=TIERS)  # fmt: skip

    asked: list[str] = []
    spent = UsageSum(input=3, output=2, calls=1, uncounted=1)
    given = [Total(7, day, "p/a", size, spent) for day in (1, 2)]
    given.append(Total(7, 1, "p/free", size, spent))
    (row,) = read_library(cast(Store, Totals(form, *given)), prices=prices).rows
    assert row.spent.listed_cost == 2 * cost and row.spent.listed == (4 if cost else 0)
    assert asked.count("p/a") == (1 if form != "pi" else 0), "asked once for each size"


def test_a_teams_sessions_have_their_labels_and_notes() -> None:
    def note(kind: str, text: str, entry: str = "") -> Note:
        return Note(1, 7, entry, kind, text, "Ann", 0.0)

    shared = Shared(SESSION_ROW, "Bo", 5.0, "p/m")
    notes = [
        note("label", "b"), note("label", "A"), note("label", "b"), note("note", "one"),
        note("note", "of an entry", "e1"), note("note", "two"),
    ]  # fmt: skip
    (row,) = shared_library([shared], notes).rows
    assert (row.publisher, row.published_ms, row.model) == ("Bo", 5.0, "p/m")
    assert row.session.labels == ("A", "b") and row.session.note == "Ann: one\nAnn: two"
    assert row.text.endswith("\nbo") and "of an entry" not in row.text
