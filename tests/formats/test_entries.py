"""New entries in the spelling of their file (A3)."""

from __future__ import annotations

from random import Random

import pytest

from explorer.formats import new_entry, new_id
from explorer.formats.pi.entries import iso_time
from explorer.session.describe import describe
from explorer.session.kinds import Kind


def test_a3_pi_spells_a_compaction() -> None:
    entry = new_entry(
        "pi",
        "compaction",
        "0000000a",
        1767603600497.0,
        "0000000b",
        summary="s",
        first_kept_entry_id="00000001",
        tokens_before=12,
        details={"read_files": ["a"], "modifiedFiles": ["b"], "other_key": 1},
        from_extension=True,
        short_summary=None,
    )
    assert list(entry.items()) == [
        ("type", "compaction"),
        ("id", "0000000b"),
        ("parentId", "0000000a"),
        ("timestamp", "2026-01-05T09:00:00.497Z"),
        ("fromHook", True),
        ("summary", "s"),
        ("firstKeptEntryId", "00000001"),
        ("tokensBefore", 12),
        ("details", {"readFiles": ["a"], "modifiedFiles": ["b"], "other_key": 1}),
    ]


def test_a3_oh_my_pi_spells_an_extension_and_a_model_its_way() -> None:
    made = new_entry("omp", "branch_summary", None, 0, "b", from_id="a", from_extension=True)
    assert made["fromExtension"] is True and "fromHook" not in made and made["parentId"] is None
    change = new_entry(
        "omp", "model_change", "b", 0, "c", provider="openrouter", model_id="meta/llama"
    )
    assert change["model"] == "openrouter/meta/llama"
    assert "provider" not in change and "modelId" not in change
    pi = new_entry("pi", "model_change", "b", 0, "c", provider="openrouter", model_id="meta/llama")
    assert (pi["provider"], pi["modelId"]) == ("openrouter", "meta/llama")
    assert describe(change).model == describe(pi).model == "openrouter/meta/llama"


def test_a3_an_entry_not_made_by_an_extension_does_not_say_so() -> None:
    entry = new_entry("pi", "branch_summary", "a", 0, "b", summary="s", from_extension=False)
    assert "fromHook" not in entry and "fromExtension" not in entry


def test_what_is_made_is_read_back() -> None:
    entry = new_entry(
        "omp", "compaction", "a", 5000, "b", summary="s", first_kept_entry_id="x", tokens_before=3
    )
    facts = describe(entry)
    assert facts.kind is Kind.COMPACTION and facts.time_ms == 5000
    assert facts.compaction is not None and facts.compaction.first_kept_id == "x"


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1767603614947.9998, "2026-01-05T09:00:14.948Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-62135596800000, "0001-01-01T00:00:00.000Z"),
    ],
)
def test_times_are_written_as_javascript_does(time_ms: float, text: str) -> None:
    assert iso_time(time_ms) == text


def test_a_time_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(ValueError, match="outside the years"):
        iso_time(1e18)


def test_ids_are_8_hexadecimal_digits_that_are_not_taken() -> None:
    first = new_id(set(), Random(1))
    assert len(first) == 8 and int(first, 16) >= 0
    second = new_id({first}, Random(1))
    assert second != first and len(second) == 8
    assert new_id(set(), Random(1)) == first
