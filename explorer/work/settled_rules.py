"""The rules of automatic compaction as a person's settings have them, where no window rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.compaction.profile import Profile, Settings
from explorer.models.catalogue import cannot_summarize
from explorer.models.client import EXTRACTIVE
from explorer.settings.effective import summary_models
from explorer.work.rules import AutomaticRules


def rules_from(profile: Profile, values: Mapping[str, Any], model: str) -> AutomaticRules:
    """``profile`` with its settings applied; ``values``: the settings; ``model``: who answers."""

    def for_prompts(asked: str) -> tuple[str, ...]:
        return summary_models(values, asked, asked)

    first, *fallbacks = summary_models(values, EXTRACTIVE, model)
    return AutomaticRules(
        profile,
        Settings.of(profile),
        EXTRACTIVE if cannot_summarize(first) else first,
        enabled=profile.enabled,
        auto_continue=profile.auto_continue,
        fallbacks=tuple(fallbacks),
        summary_models=for_prompts,
    )
