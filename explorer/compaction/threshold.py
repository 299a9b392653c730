"""When a context is too full: the reserve, the limit, and the one comparison (A8, B18)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from explorer.compaction.profile import Profile, Settings

_LOWEST_PERCENT, _HIGHEST_PERCENT = 1.0, 99.0


def reserve_of(profile: Profile, settings: Settings) -> int:
    """Tokens that stay free: the configured reserve, or the profile's share of the window where
    that is more."""
    share = settings.context_window * profile.reserve_floor_percent // 100
    return max(share, settings.reserve_tokens)


def limit_of(profile: Profile, settings: Settings) -> int:
    """Tokens that a context may take before it is compacted.

    A number of tokens goes before a share of the window, and both before the reserve. It is
    negative where the reserve is larger than the window: then every context is too full.
    """
    window = settings.context_window
    if profile.threshold_tokens > 0:
        return max(1, min(profile.threshold_tokens, window - 1))
    if profile.threshold_percent > 0:
        percent = max(_LOWEST_PERCENT, min(profile.threshold_percent, _HIGHEST_PERCENT))
        return int(window * (percent / 100))
    return window - reserve_of(profile, settings)


class Limits(NamedTuple):
    """Tokens that a context may take."""

    window: int
    threshold: int
    """Above it the context is compacted."""


def limits_of(profile: Profile, settings: Settings, model_window: int | None) -> Limits:
    """The limits for a model: its own window, where it is known and smaller than the one set."""
    window = min(settings.context_window, model_window or settings.context_window)
    threshold = limit_of(profile, replace(settings, context_window=window))
    return Limits(window, max(0, threshold))


def should_compact(context_tokens: int, profile: Profile, settings: Settings) -> bool:
    """Whether a context of so many tokens is to be compacted without being asked: strictly more
    than the limit, and never while that is switched off (A8, A12)."""
    return profile.enabled and context_tokens > limit_of(profile, settings)
