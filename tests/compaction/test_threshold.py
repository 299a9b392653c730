"""When a context is too full (A8, B18)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from explorer.compaction.profile import BASES, PROFILES, Settings
from explorer.compaction.triggers import (
    fitted,
    limit_of,
    reserve_of,
    should_compact,
    unfit_words,
)

OMP, EXPLORER = PROFILES["omp"], PROFILES["explorer"]


def test_a8_the_comparison_is_strict() -> None:
    settings = Settings(100_000, 16_384)
    assert not should_compact(83_616, EXPLORER, settings)
    assert should_compact(83_617, EXPLORER, settings)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("explorer", 183_616), ("pi", 183_616), ("omp", 170_000), ("omp-documented", 183_616),
        ("pyagent", 191_808), ("copilot", 180_000),
    ],
)  # fmt: skip
def test_each_system_has_its_own_limit(name: str, limit: int) -> None:
    assert limit_of(BASES[name], Settings.of(BASES[name])) == limit


def test_b18_the_reserve_is_a_share_of_a_large_window() -> None:
    assert reserve_of(OMP, Settings(1_000_000, 16_384)) == 150_000
    assert reserve_of(OMP, Settings(32_000, 16_384)) == 16_384
    assert reserve_of(OMP, Settings(32_000, 100)) == 4_800


def test_a_limit_in_tokens_goes_before_one_in_per_cent_and_both_before_the_reserve() -> None:
    settings = Settings(100_000, 16_384)
    percent = replace(EXPLORER, threshold_percent=50)
    assert limit_of(percent, settings) == 50_000
    both = replace(percent, threshold_tokens=70_000)
    assert limit_of(both, settings) == 70_000


def test_a_limit_stays_within_the_window() -> None:
    settings = Settings(100_000, 16_384)
    assert limit_of(replace(EXPLORER, threshold_tokens=500_000), settings) == 99_999
    assert limit_of(replace(EXPLORER, threshold_percent=99.9), settings) == 99_000
    assert limit_of(replace(EXPLORER, threshold_percent=0.2), settings) == 1_000


def test_a_reserve_larger_than_the_window_leaves_nothing() -> None:
    settings = Settings(10_000, 16_384)
    assert limit_of(OMP, settings) < 0
    assert should_compact(0, OMP, settings)


@pytest.mark.parametrize("window", [8_192, 16_384, 32_768])
def test_in_a_small_window_the_sizes_leave_room_or_say_what_would(window: int) -> None:
    for profile in BASES.values():
        sized = fitted(profile, Settings.of(profile), window)
        fits = limit_of(profile, sized) > sized.keep_recent_tokens
        assert (unfit_words(profile, Settings.of(profile), window) == "") == fits
        assert fits or profile.small_windows == "as-set", profile.name
        if profile.small_windows == "scaled":
            rest = limit_of(profile, sized) - sized.keep_recent_tokens
            assert rest > sized.reserve_tokens * 4 // 5, "the longest summary fits too"
    # Sizes that fit are nobody's to change.
    assert fitted(EXPLORER, Settings(window, 100, 200)) == Settings(window, 100, 200)
    assert fitted(EXPLORER, Settings()) == Settings()


def test_a_profile_that_cannot_says_the_smallest_change_that_lets_it() -> None:
    pi = PROFILES["pi"]
    assert unfit_words(pi, Settings.of(pi), 8_192) == (
        "pi 0.73 keeps 20,000 tokens and 16,384 free whatever the window, so nothing of 8,192 can"
        " be summarized. Set compaction.reserveTokens to 2,048 and compaction.keepRecentTokens to"
        " 2,560."
    )
    both = Settings(8_192, 2_048, 2_560)
    assert unfit_words(pi, both) == ""
    large = unfit_words(pi, Settings.of(pi), 32_768)
    assert large.endswith(" Set compaction.keepRecentTokens to 10,240.")
    assert unfit_words(pi, replace(Settings(32_768), keep_recent_tokens=10_240)) == ""


def test_a12_switched_off_nothing_is_too_full() -> None:
    assert not should_compact(10**6, replace(EXPLORER, enabled=False), Settings())
