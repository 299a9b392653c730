"""What is handed about does not change below those who hold it."""

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
    "AgentNeeds", "FileOpColumns", "ImportOutcome", "ParallelRun", "ReadReport", "SalvageReport",
    "SessionColumns", "SessionGroup", "SessionSummary", "WatchedDocument", "_Counts", "_Progress",
    "_Sent", "_Work",
}  # fmt: skip
"""Values that are filled bit by bit, each by the one who made it."""


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
