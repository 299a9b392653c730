"""The reference vectors: those kept here, and any directory that is named."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.profile import PROFILES, Profile
from tests.conformance.vectors import DATA, Vector, load, vector_files

FIRST_WITH_CORRECT_BOUNDARY = (0, 63)


def _directories() -> list[Path]:
    named = os.environ.get("EXPLORER_CONFORMANCE_DIR")
    return [DATA, *([Path(named)] if named and Path(named).is_dir() else [])]


def _vectors(producer: str) -> list[Any]:
    found = [
        pytest.param(path, id=f"{directory.name}-{path.name.removesuffix('.expected.json')}")
        for directory in _directories()
        for path in vector_files(directory, f"{producer} ")
    ]
    if all(param.values[0].parent == DATA for param in found):
        reason = f"EXPLORER_CONFORMANCE_DIR names no directory with reference vectors of {producer}"
        found.append(pytest.param(None, id="more-vectors", marks=pytest.mark.skip(reason)))
    return found


@lru_cache(maxsize=4)
def _load(path: Path) -> Vector:
    return load(path)


@pytest.fixture(params=_vectors("pi"))
def vector(request: pytest.FixtureRequest) -> Vector:
    return _load(request.param)


@pytest.fixture(params=_vectors("omp"))
def omp_vector(request: pytest.FixtureRequest) -> Vector:
    return _load(request.param)


@pytest.fixture
def pi(vector: Vector) -> Profile:
    """The rules of the version that made the vector (B1)."""
    version = tuple(int(part) for part in vector.expected["producer"].split()[1].split(".")[:2])
    if version < FIRST_WITH_CORRECT_BOUNDARY:
        return replace(PROFILES["pi"], boundary="faithful-0.58")
    return PROFILES["pi"]
