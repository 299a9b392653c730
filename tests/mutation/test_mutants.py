"""The changes that are tried: each gives code that runs, and none changes only words."""

from __future__ import annotations

import ast

import pytest

from tests.mutation.__main__ import FOLDERS, ROOT, runs, sample
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


@pytest.mark.parametrize("package", list(FOLDERS))
def test_a_sample_is_the_same_for_the_same_seed_and_has_tests(package: str) -> None:
    drawn = sample([package], 20, 3)
    assert len(drawn) == 20 and drawn == sample([package], 20, 3)
    for file, change in drawn:
        compile(change.applied((ROOT / file).read_bytes()), str(file), "exec")
        assert runs(file)
