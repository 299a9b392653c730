"""Profiles compared at a place of a session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from explorer.compaction.profile import PROFILES
from explorer.models.client import TextPart
from explorer.workbench import Workbench

DATA = Path(__file__).parents[1] / "conformance" / "data"


def test_a_document_compares_profiles_at_its_leaf_or_at_an_entry(bench: Workbench) -> None:
    document = bench.open_blocking(bench.import_blocking(DATA / "omp-parts.jsonl").key)
    found = document.compaction.compare(None, PROFILES.values())
    assert [one.profile.name for one in found] == list(PROFILES)
    assert {len(one.shown.path) for one in found} == {len(document.tree.path(document.leaf))}
    early = document.compaction.compare(9, [PROFILES["copilot"]], context_window=30_000)[0]
    assert (len(early.shown.path), early.settings.context_window) == (10, 30_000)
    omp, explorer = (
        replace(PROFILES[name], keep_recent_tokens=300) for name in ("omp", "explorer")
    )
    assert "boundary" in {cause.key for cause in document.compaction.causes(None, omp, explorer)}


def test_a6_the_agent_is_told_a_summary_in_the_words_of_the_profile(bench: Workbench) -> None:
    document = bench.open_blocking(bench.import_blocking(DATA / "omp-parts.jsonl").key)
    for profile, opening in (
        (None, "The conversation history before this point"),
        (PROFILES["pi"], "The conversation history before this point"),
        (PROFILES["copilot"], "<conversation-summary>"),
    ):
        said = document.agent.messages(profile)[0].content
        assert isinstance(said, tuple)
        assert isinstance(said[0], TextPart)
        assert said[0].text.startswith(opening)
