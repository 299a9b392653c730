"""What oh-my-pi prunes, result by result (A13): the key ``pruning`` of its vectors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.profile import PROFILES
from explorer.compaction.pruning import plan_pruning
from tests.conformance.vectors import DATA, load, vector_files


def _with_pruning() -> list[Any]:
    named = os.environ.get("EXPLORER_CONFORMANCE_DIR")
    directories = [DATA, *([Path(named)] if named and Path(named).is_dir() else [])]
    found = [
        pytest.param(path, id=f"{directory.name}-{path.name.removesuffix('.expected.json')}")
        for directory in directories
        for path in vector_files(directory, "omp")
        if '"pruning"' in path.read_text("utf-8")
    ]
    if not found:
        reason = "EXPLORER_CONFORMANCE_DIR names no directory with reference vectors of oh-my-pi"
        found.append(pytest.param(None, id="none", marks=pytest.mark.skip(reason)))
    return found


@pytest.mark.parametrize("path", _with_pruning())
def test_a13_the_same_results_give_way_to_the_same_notes(path: Path) -> None:
    vector = load(path)
    rules = PROFILES["omp"].pruning
    assert rules is not None
    assert vector.expected["pruning"]
    for case in vector.expected["pruning"]:
        policy = replace(
            rules,
            protect_tokens=case["protect_tokens"],
            minimum_savings=case["minimum_savings"],
            protected_tools=tuple(case["protected_tools"]),
        )
        plan = plan_pruning(vector.tree, vector.index(case["leaf"]), policy)
        notes = {vector.known_as[one.entry]: one.note for one in plan.results}
        assert notes == case["replaced_with"]
        assert len(notes) == case["pruned_count"]
        assert plan.saved == case["tokens_saved"]
