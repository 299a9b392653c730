"""Profiles through the workbench: kept, told to who listens, compared at a place of a session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from explorer.compaction.profile import PROFILES
from explorer.models.client import TextPart
from explorer.services.changes import Change, ProfilesChanged
from explorer.settings.profile_files import ProfileError, UserProfile
from explorer.workbench import Workbench

DATA = Path(__file__).parents[1] / "conformance" / "data"
MINE = UserProfile(replace(PROFILES["copilot"], name="mine", title="Mine"), "copilot")


def test_a_profile_that_is_kept_or_taken_away_is_told(bench: Workbench, tmp_path: Path) -> None:
    told: list[Change] = []
    bench.subscribe(told.append)
    bench.save_profile(MINE)
    assert bench.profiles().named("mine") == MINE.profile
    bench.export_profile("mine", tmp_path / "shared.json")
    bench.import_profile(tmp_path / "shared.json", name="again")
    bench.delete_profile("mine")
    assert told == [ProfilesChanged("mine"), ProfilesChanged("again"), ProfilesChanged("mine")]
    assert list(bench.profiles().user_profiles) == ["again"]


def test_what_is_refused_is_not_told(bench: Workbench) -> None:
    bench.save_profile(MINE)
    told: list[Change] = []
    bench.subscribe(told.append)
    with pytest.raises(ProfileError):
        bench.save_profile(MINE)
    with pytest.raises(ProfileError):
        bench.delete_profile("omp")
    assert told == []


def test_a_document_compares_profiles_at_its_leaf_or_at_an_entry(bench: Workbench) -> None:
    document = bench.open_blocking(bench.import_blocking(DATA / "omp-parts.jsonl").key)
    found = document.compaction.compare(None, PROFILES.values())
    assert [one.profile.name for one in found] == list(PROFILES)
    assert {len(one.shown.path) for one in found} == {len(document.tree.path(document.leaf))}
    early = document.compaction.compare(9, [MINE.profile], context_window=30_000)[0]
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
