"""The profile ``omp`` computes what oh-my-pi 13.19.0 computed, entry by entry, from the same files.

Runs on the vectors kept here and on any directory that ``EXPLORER_CONFORMANCE_DIR`` names. A
vector holds some of the keys; each test looks at one of them.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from explorer.compaction.branch_summaries import prepare_branch
from explorer.compaction.messages import entry_to_llm, serialize_message
from explorer.compaction.partition import partition
from explorer.compaction.preparation import Preparation, PreparationRefusal, prepare
from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.triggers import should_compact
from explorer.formats.pi.entries import read_entry
from explorer.session.kinds import CONTEXT_KINDS, selector
from explorer.settings.prompt_templates import load_templates
from explorer.tokens.estimate import estimate_entry, utf16_units
from tests.conformance.vectors import Vector, utf8_hash

OMP = PROFILES["omp"]


def _prepare(vector: Vector, expected: dict[str, Any]) -> Preparation | PreparationRefusal:
    settings = Settings(keep_recent_tokens=expected["keep_recent_tokens"])
    leaf = vector.index(expected["leaf"])
    return prepare(vector.tree, leaf, OMP, settings, prompt_of=vector.prompt_of)


def test_every_entry_of_the_session_is_in_the_tree(omp_vector: Vector) -> None:
    assert len(omp_vector.tree) == omp_vector.expected["entries"]


def test_estimates_of_messages_are_omps(omp_vector: Vector) -> None:
    """B8."""
    expected = omp_vector.expected.get("estimate_tokens", {})
    got = {
        name: estimate_entry(read_entry(omp_vector.entries[omp_vector.index(name)]))
        for name in expected
    }
    assert got == expected


def test_messages_are_serialized_as_omp_does(omp_vector: Vector) -> None:
    """A21: the labels, and B11: long results."""
    templates = load_templates()
    for name, expected in omp_vector.expected.get("serialized", {}).items():
        message = entry_to_llm(read_entry(omp_vector.entries[omp_vector.index(name)]), templates)
        text = serialize_message(message, OMP) if message is not None else ""
        if "text" in expected:
            assert text == expected["text"], name
        else:
            assert utf8_hash(text) == expected["sha256_16"], name
            assert utf16_units(text) == expected["utf16_length"], name


def test_preparations_are_omps(omp_vector: Vector) -> None:
    """A14 to A18, A28, B1, B18: what would be summarized, what stays, and the files."""
    for expected in omp_vector.expected["preparations"]:
        prepared, result = _prepare(omp_vector, expected), expected["result"]
        where = (expected["leaf"], expected["keep_recent_tokens"])
        if result is None:
            assert not isinstance(prepared, Preparation), where
            continue
        assert isinstance(prepared, Preparation), where
        assert omp_vector.names([prepared.first_kept]) == [result["first_kept_entry"]], where
        assert prepared.is_split_turn == result["is_split_turn"], where
        assert prepared.tokens_before == result["tokens_before"], where
        assert omp_vector.names(prepared.history) == result["messages_to_summarize"], where
        assert omp_vector.names(prepared.turn_prefix) == result["turn_prefix_messages"], where
        assert list(prepared.read_files) == result["read_files"], where
        assert list(prepared.modified_files) == result["modified_files"], where
        kept = prepared.path[prepared.cut :].select(omp_vector.tree.columns.kind, _MESSAGES)
        assert omp_vector.names(kept) == result["recent_messages"], where


_MESSAGES = selector(CONTEXT_KINDS)


def test_partitions_of_omps_preparations_add_up(omp_vector: Vector) -> None:
    """Every entry of the path has one verdict and is counted once."""
    for expected in omp_vector.expected["preparations"]:
        parts = partition(_prepare(omp_vector, expected))
        assert len(parts.verdicts) == len(parts.path)
        weighed = sum(parts.weight(position) for position in range(len(parts.path)))
        assert sum(parts.tokens) == weighed


def test_branches_are_omps(omp_vector: Vector) -> None:
    """A31, A32, B17: what is left behind, and what of it fits each budget."""
    for expected in omp_vector.expected.get("branches", []):
        old, target = omp_vector.index(expected["old_leaf"]), omp_vector.index(expected["target"])
        for fits in expected["prepared"]:
            left = prepare_branch(
                omp_vector.tree, old, target, OMP, Settings(), budget=fits["token_budget"]
            )
            assert left.common_ancestor == omp_vector.index(expected["common_ancestor"])
            assert omp_vector.names(left.entries) == expected["entries"]
            assert omp_vector.names(left.messages) == fits["messages"]
            assert left.total_tokens == fits["total_tokens"]
            assert list(left.read_files) == fits["read_files"]
            assert list(left.modified_files) == fits["modified_files"]


def test_compaction_starts_where_omp_starts_it(omp_vector: Vector) -> None:
    """A8, B18: the strict limit, the 15 % floor, and the two settings that replace the reserve."""
    for expected in omp_vector.expected.get("should_compact", []):
        given = expected["settings"]
        rules = replace(
            OMP,
            enabled=given["enabled"],
            threshold_percent=given["threshold_percent"],
            threshold_tokens=given["threshold_tokens"],
        )
        settings = Settings(expected["context_window"], given["reserve_tokens"])
        assert should_compact(expected["context_tokens"], rules, settings) == expected["result"], (
            expected
        )
