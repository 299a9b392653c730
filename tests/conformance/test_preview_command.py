"""``preview --json`` under the rules of pi and oh-my-pi gives what they computed, under the
vectors' names."""

from __future__ import annotations

import json

import pytest

from explorer.cli import main
from explorer.compaction.profile import PROFILES, Profile
from tests.conformance.vectors import Vector

SETTLED = (
    "is_split_turn",
    "tokens_before",
    "read_files",
    "modified_files",
    "file_operations_footer",
)
NAMED = ("messages_to_summarize", "turn_prefix_messages")
TRIED = 4


def test_preview_of_a_file_is_what_pi_prepares(
    vector: Vector, pi: Profile, capsys: pytest.CaptureFixture[str]
) -> None:
    if pi != PROFILES["pi"]:
        pytest.skip("the profile pi is that of version 0.73; this boundary is a switch of it")
    everything = vector.expected["preparations"]
    for expected in everything[:: max(1, len(everything) // TRIED)]:
        at = vector.index(expected["leaf"])
        keep = str(max(1, expected["keep_recent_tokens"]))
        words = ["preview", vector.session, "--json", "--profile", "pi", "--keep-recent", keep]
        assert main([*words, "--at", f"#{at}"]) == 0
        preview = json.loads(capsys.readouterr().out)
        assert [row["index"] for row in preview["ledger"]] == vector.tree.path(at).indices()
        _compare(vector, preview, expected["result"])


def test_preview_of_a_file_is_what_omp_prepares(
    omp_vector: Vector, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what the provider reported, read from the file."""
    everything = omp_vector.expected["preparations"]
    for expected in everything[:: max(1, len(everything) // TRIED)]:
        at, keep = omp_vector.index(expected["leaf"]), str(expected["keep_recent_tokens"])
        words = ["preview", omp_vector.session, "--json", "--profile", "omp", "--keep-recent", keep]
        assert main([*words, "--at", f"#{at}"]) == 0
        preview, result = json.loads(capsys.readouterr().out), expected["result"]
        if result is None:
            assert preview["result"] is None
            continue
        for key in ("first_kept_entry", *SETTLED[:-1], *NAMED):
            assert preview[key] == result[key], (expected["leaf"], key)


def _compare(vector: Vector, preview: dict[str, object], result: dict[str, object] | None) -> None:
    if result is None:
        assert preview["result"] is None
        assert preview["reason"]
        return
    ids = vector.tree.columns.ids

    def named(value: object) -> str:
        return ids[vector.index(value)]

    assert preview["first_kept_entry"] == named(result["first_kept_entry"])
    assert {key: preview[key] for key in SETTLED} == {key: result[key] for key in SETTLED}
    for key in NAMED:
        wanted = result[key]
        assert isinstance(wanted, list)
        assert preview[key] == [named(value) for value in wanted]
