"""What the names of the offline models say of them."""

from __future__ import annotations

from explorer.models.catalogue import DEMO, EXTRACTIVE
from explorer.models.offline.scenario import is_scenario


def cannot_summarize(model: str) -> bool:
    """Whether a model follows rules or a script of its own, and has no summary to give."""
    return model == DEMO or is_scenario(model)


def only_summarizes(model: str) -> bool:
    """Whether a model answers nobody and writes summaries alone."""
    return model == EXTRACTIVE
