"""What is handed about does not change below those who hold it, and says nothing by itself."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from enum import Enum
from types import ModuleType

import pytest
from msgspec import Struct

import explorer

PACKAGES = ("session", "compaction", "facts", "services", "store")
COLLECTED = {
    "Cost", "FileOpColumns", "ImportOutcome", "ParallelRun", "ReadReport",
    "SalvageReport", "SessionColumns", "SessionGroup", "SessionSummary", "WatchedDocument",
    "_Counts", "_Progress", "_Sent", "_Sessions", "_Sums", "_Work",
}  # fmt: skip
"""Values that are filled bit by bit, each by the one who made it."""

SAID = {
    "Application.compacted", "CompactionPlan.at_leaf", "ContextSize.ratio", "Draft.at_leaf",
    "EffectiveRules.ahead", "EffectiveRules.enabled", "FileLines.first", "NoteMessage.display",
    "RecallOrder.questions", "RecallOrder.seed", "Step.tolerance",
    "ToolAction.first",
}  # fmt: skip
"""Fields that are something where nobody says what; profiles have tests of their own."""


def modules(package: str) -> Iterator[ModuleType]:
    paths = [f"{place}/{package}" for place in explorer.__path__]
    for found in pkgutil.walk_packages(paths, f"explorer.{package}."):
        yield importlib.import_module(found.name)


def classes(package: str, base: type) -> Iterator[type]:
    for module in modules(package):
        for _, one in inspect.getmembers(module, inspect.isclass):
            if one.__module__ == module.__name__ and issubclass(one, base):
                yield one


@pytest.mark.parametrize("package", PACKAGES)
def test_values_cannot_be_changed(package: str) -> None:
    changing = {
        one.__name__
        for one in classes(package, Struct)
        if issubclass(one, Struct) and not one.__struct_config__.frozen
    }
    assert changing <= COLLECTED


@pytest.mark.parametrize("package", PACKAGES)
def test_the_names_of_an_enumeration_mean_different_things(package: str) -> None:
    for one in classes(package, Enum):
        assert issubclass(one, Enum) and len(one.__members__) == len({*one.__members__.values()})


def defaults(one: type) -> Iterator[tuple[str, object]]:
    if issubclass(one, Struct):
        fields = one.__struct_fields__
        values = one.__struct_defaults__
        yield from zip(fields[len(fields) - len(values) :], values, strict=True)
    elif issubclass(one, tuple):
        yield from getattr(one, "_field_defaults", {}).items()


@pytest.mark.parametrize("package", PACKAGES)
def test_numbers_and_marks_that_nobody_gives_are_unset(package: str) -> None:
    said = {
        f"{one.__name__}.{name}"
        for one in classes(package, object)
        if not one.__module__.startswith("explorer.compaction.profile.")
        for name, value in defaults(one)
        if type(value) in (bool, int, float) and (value is True or value not in (0, -1))
    }
    assert said <= SAID


def test_the_exceptions_are_there() -> None:
    assert {one.__name__ for each in PACKAGES for one in classes(each, Struct)} >= COLLECTED
    found = {one.__name__: one for each in PACKAGES for one in classes(each, object)}
    given = [dict(defaults(found[key.partition(".")[0]])) for key in sorted(SAID)]
    values = [one[key.partition(".")[2]] for one, key in zip(given, sorted(SAID), strict=True)]
    assert values == [True, True, 1.0, True, True, True, 1, True, 20, 1, 10, 1]
