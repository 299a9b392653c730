"""Profiles compared at a place of a session."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.profile_comparison import causes
from explorer.models.client import TextPart
from explorer.services.effective_rules import limits_of, next_mark
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
    found_causes = causes(document.tree, document.leaf, omp, explorer)
    assert "boundary" in {cause.key for cause in found_causes}


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


def test_where_a_growing_context_is_compacted_next() -> None:
    explorer, copilot = PROFILES["explorer"], PROFILES["copilot"]
    settings = replace(Settings.of(explorer), context_window=100_000)
    threshold = limits_of(explorer, settings, None).threshold
    assert next_mark(explorer, settings, None) == (threshold, False)
    # Between 78 and 82 % of the window its summaries are begun with a warm cache (A47).
    assert next_mark(copilot, settings, None) == (80_000, True)
    alone = replace(copilot, background=None)
    assert alone.prompt_budget is not None
    for chosen, tokens in ((None, 100_000), (0.5, 50_000), (2_000, 2_000), (-3, 100_000)):
        budget = replace(alone.prompt_budget, threshold=chosen)
        mark = next_mark(replace(alone, prompt_budget=budget), settings, None)
        assert mark == (tokens, False)
