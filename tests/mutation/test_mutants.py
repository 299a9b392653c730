"""The changes that are tried: each gives code that runs, and none changes only words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.mutation.__main__ import PACKAGES, ROOT, runs, sample
from tests.mutation.calls import CallRecord
from tests.mutation.mutants import mutants

SOURCE = b'''"""A text for readers, with \xc3\xbc and 1 < 2."""


def least(values: list[int], limit: int = 3) -> int | None:
    """Says 1 < 2."""
    found: int | None = None
    for value in values:
        if not value:
            continue
        if value < limit and (found is None or value < found):
            found = value - 1
    if found == 7:
        raise ValueError("not 7")
    values.clear()
    return found
'''


def test_conditions_numbers_operators_and_calls_are_changed() -> None:
    either = "found is None or value < found"
    found = [(one.line, one.before, one.after) for one in mutants(SOURCE)]
    assert found == [
        (4, "3", "(4)"),
        (8, "not value", "(value)"),
        (9, "continue", "break"),
        (10, "value < limit", "(value <= limit)"),
        (10, f"value < limit and ({either})", f"({either})"),
        (10, f"value < limit and ({either})", "(value < limit)"),
        (10, "found is None", "(found is not None)"),
        (10, either, "(found is None)"),
        (10, either, "(value < found)"),
        (10, "value < found", "(value <= found)"),
        (11, "value - 1", "(value + 1)"),
        (11, "1", "(2)"),
        (12, "found == 7", "(found != 7)"),
        (12, "7", "(8)"),
        (14, "values.clear()", "pass"),
    ]  # fmt: skip


def test_every_change_gives_other_code() -> None:
    before = ast.dump(ast.parse(SOURCE))
    assert all(ast.dump(ast.parse(one.applied(SOURCE))) != before for one in mutants(SOURCE))


def test_a_change_knows_the_function_around_it() -> None:
    source = b"""
def outer(most=1):
    def inner():
        return 2 > 1
    return inner

class Pair:
    limit: int = 3
    def first(self): return self.limit - 1
"""
    found = [(one.line, one.function) for one in mutants(source)]
    assert found[0] == (2, "outer") and (4, "outer") in found
    assert (8, "") in found and found[-1] == (9, "Pair.first")


@pytest.mark.parametrize("package", PACKAGES)
def test_a_sample_is_the_same_for_the_same_seed(package: str) -> None:
    drawn = sample([package], 20, 3)
    assert len(drawn) == 20 and drawn == sample([package], 20, 3)
    for file, change in drawn:
        compile(change.applied((ROOT / file).read_bytes()), str(file), "exec")


def test_one_module_can_be_sampled() -> None:
    assert {file.name for file, _ in sample(["session/tree"], 30, 1)} == {"tree.py"}


def test_what_only_costs_time_or_is_for_readers_is_not_changed() -> None:
    source = b"""
AT_ONCE = 256
_TICK_S = 0.5 + 1
LIMIT = 3
Either = First | Second | None
flags = Flag.FIRST | Flag.SECOND
def run(names):
    assert len(names) > 1
    _log.warning("so many: %s", len(names) + 1)
    for one, other in zip(names, names, strict=True):
        isinstance(one, Text | Picture)
        print(one.split(" ", 1)[0])
    while time.monotonic() < ends:
        name = one.rsplit(" ", 1)[-1]
    return slice(0 if byteorder == "little" else 4 - 1, None)
def names(): return secrets.token_hex(8), connect(cached_statements=256)
"""
    found = [(one.line, one.before) for one in mutants(source)]
    assert found == [
        (3, "0.5 + 1"),
        (3, "1"),
        (4, "3"),
        (6, "Flag.FIRST | Flag.SECOND"),
        (11, "isinstance(one, Text | Picture)"),
        (12, 'print(one.split(" ", 1)[0])'),
        (12, "0"),
        (14, "-1"),
        (15, "0"),
    ]


def test_what_is_called_when_a_module_is_imported_counts_as_outside_of_functions() -> None:
    source = b"""
def table(most): return most + 1
def later(): return table(2)
TABLE = table(3)
"""
    found = [(one.line, one.before, one.function) for one in mutants(source)]
    assert found == [
        (2, "most + 1", ""), (2, "1", ""), (3, "2", "later"), (4, "3", ""),
    ]  # fmt: skip


def test_a_bound_is_moved_once() -> None:
    source = b"[at >= 3, at < 3, 3 <= at, 3 > at, at > 3, at <= 3, at == 3, 3 < at <= 4]"
    changed = "(at > 3) (at <= 3) (3 < at) (3 >= at) (at >= 3) (at < 3) (at != 3) (3 <= at <= 4)"
    found = [one.after for one in mutants(source)]
    assert [one for one in found if "at" in one] == re.findall(r"\(.+?\)", changed)
    assert [one for one in found if "at" not in one] == ["(4)", "(4)", "(4)", "(4)", "(5)"]


def test_what_says_that_there_is_none_becomes_the_first() -> None:
    found = [(one.before, one.after) for one in mutants(b"at = -1\nleast = -2\nlast = at - 1\n")]
    assert found == [("-1", "(0)"), ("2", "(3)"), ("at - 1", "(at + 1)"), ("1", "(2)")]


def test_the_tests_that_call_a_function_are_run_the_nearest_first() -> None:
    file = Path("explorer/session/tree.py")
    changes = [one for _, one in sample(["session/tree"], 10_000, 1)]
    change = next(one for one in changes if one.function == "SessionTree.path")
    called = f"{file}::SessionTree.path"
    recorded = [
        CallRecord("tests/compaction/test_a.py::quick", 0.1, [called]),
        CallRecord("tests/session/test_b.py::slow", 2.0, [called]),
        CallRecord("tests/session/test_b.py::quick", 1.0, ["other::f", called]),
        CallRecord("tests/session/test_recorded.py::table", 3.0, [called]),
        CallRecord("tests/session/test_b.py::another", 0.1, ["explorer/session/tree.py::f"]),
        CallRecord("tests/session/test_tree.py::named", 4.0, [called]),
        CallRecord("tests/session/test_tree.py::near", 0.1, []),
    ]
    nearest = ["tree.py::named", "recorded.py::table", "b.py::quick", "b.py::slow", "a.py::quick",
               "tree.py::near"]  # fmt: skip
    found = runs(file, change, recorded)
    assert [name.partition("/test_")[2] for name in found] == nearest
    assert list(found.values()) == [4.0, 3.0, 1.0, 2.0, 0.1, 0.1]
    within = runs(file, change, recorded, budget_s=10.05)
    assert len(within) == 4, "no more than so many seconds"
    for function in ("", "called_by_a_child"):
        elsewhere = change._replace(function=function)
        assert "tests/session/test_b.py::another" in runs(file, elsewhere, recorded)
