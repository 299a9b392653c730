"""Which stored sessions belong to one, by what their files say of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from explorer.services.related_sessions import (
    ancestors_of,
    file_stem,
    is_imported,
    origin_of,
    related_sessions,
    started_by,
)
from explorer.settings.paths import resource_path
from explorer.store import Store
from explorer.store.rows import SessionRow

SAMPLE = str(resource_path("samples") / "a.jsonl")


def row(key: int, parent: str = "", path: str = "", **more: Any) -> SessionRow:
    made = {"started_ms": 0.0, **more}
    return SessionRow(key, f"s{key}", "pi", 3, "", parent, "", 0, 0, 0, last_ms=0.0, leaf=-1,
                      path=path, **made)  # fmt: skip


@pytest.mark.parametrize(
    ("parent", "key"),
    [
        ("s2", 2),
        ("/s/three.jsonl", 3),
        ("/moved/2026-01-02_s2.jsonl", 2),
        ("C:\\moved\\x_s2.jsonl", 2),
        ("/moved/s2.jsonl", None),
        ("s9", None),
        ("s1", None),
        ("", None),
    ],
)
def test_a_parent_is_named_by_id_by_file_or_by_the_end_of_a_file(
    parent: str, key: int | None
) -> None:
    fork = row(1, parent)
    found = origin_of(fork, [fork, row(2), row(3, path="/s/three.jsonl")])
    assert (found.key if found is not None else None) == key


def test_an_id_counts_before_a_file_and_a_file_before_a_name() -> None:
    fork = row(1, "s2")
    by_file, by_id = row(3, path="s2"), row(2)
    assert origin_of(fork, [by_file, by_id]) == by_id and origin_of(fork, [by_file]) == by_file
    unnamed = row(4)
    assert origin_of(row(1, "/x_"), [SessionRow(4, "", *fork_values(unnamed))]) is None


def fork_values(one: SessionRow) -> list[Any]:
    return [getattr(one, name) for name in one.__struct_fields__[2:]]


def test_ancestors_are_the_nearest_first_and_a_cycle_ends() -> None:
    chain = [row(1, "s2"), row(2, "s3"), row(3)]
    assert [one.key for one in ancestors_of(chain[0], chain)] == [2, 3]
    assert ancestors_of(chain[2], chain) == []
    cycle = [row(1, "s2"), row(2, "s3"), row(3, "s2")]
    assert [one.key for one in ancestors_of(cycle[0], cycle)] == [2, 3]


def test_a_name_is_that_of_any_system() -> None:
    assert [file_stem(one) for one in ("/a/b.jsonl", "C:\\a\\b.c.json", "b")] == ["b", "b.c", "b"]


@pytest.mark.parametrize(
    ("rows", "imported"),
    [
        ([row(1, path="/s/a.jsonl")], True),
        ([row(1, path=SAMPLE)], False),
        ([row(1)], False),
        ([row(1, "s2"), row(2)], False),
        ([row(1, "s2"), row(2, path=SAMPLE)], False),
        ([row(1, "s2"), row(2, path="/s/a.jsonl")], True),
        ([row(1, "s2"), row(2, "s3"), row(3, path="/s/a.jsonl")], True),
        ([row(1, "gone")], True),
        ([row(1, "s2"), row(2, "gone")], True),
        ([row(1, "s2"), row(2, "gone", path=SAMPLE)], False),
    ],
)
def test_whether_it_came_from_a_file(rows: list[SessionRow], imported: bool) -> None:
    assert is_imported(rows[0], lambda: rows) is imported


class Family:
    """A store that knows a family of sessions, and the results of some calls."""

    def __init__(self, *rows: SessionRow, **results: int) -> None:
        self.rows, self.results = rows, results

    def family(self, _key: int) -> Sequence[SessionRow]:
        return self.rows

    def results_of(self, _key: int, calls: Sequence[str]) -> dict[str, int]:
        return {call: at for call, at in self.results.items() if call in calls}


def test_children_stand_at_the_results_of_their_calls() -> None:
    store = Family(
        row(1, "s9"), row(9), row(2, "s1", parent_call="c", started_ms=5.0),
        row(3, "s1", parent_call="c", started_ms=4.0), row(4, "s1", parent_call="d"),
        row(5, "s1"), row(6, "s1", parent_call="lost", started_ms=-1.0), row(7, "other"),
        row(8, "s1", trashed_ms=1.0), c=3, d=0,
    )  # fmt: skip
    found = related_sessions(cast(Store, store), 1)
    assert found.parent is not None and found.parent.key == 9
    assert {at: [one.key for one in rows] for at, rows in found.started.items()} == {
        0: [4], 3: [3, 2],
    }  # fmt: skip
    assert [one.key for one in found.others] == [6, 5]
    assert [one.key for one in found.children] == [4, 3, 2, 6, 5]
    trashed = Family(row(1, "s9", trashed_ms=1.0), row(9, trashed_ms=1.0))
    assert related_sessions(cast(Store, trashed), 1).parent is None
    assert related_sessions(cast(Store, trashed), 5).children == ()


def test_sub_agents_are_followed_to_the_last_generation() -> None:
    rows = [
        row(1), row(2, "s1", relation="subagent"), row(3, "/x_s2.jsonl", relation="subagent"),
        row(4, "s1", relation="fork"), row(5, "s4", relation="subagent"), row(6, "s3"),
    ]  # fmt: skip
    assert sorted(one.key for one in started_by(rows, [1])) == [2, 3]
    assert sorted(one.key for one in started_by(rows, [4])) == [5]
    assert started_by(rows, []) == []
