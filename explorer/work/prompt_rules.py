"""What holds for the prompts of a session at the moment of a decision; read anew each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.compaction.profile import Profile
from explorer.work.summary_ways import own_model


@dataclass(frozen=True, slots=True)
class PromptRules:
    """See the fields (A12, A54)."""

    profile: Profile
    window: int
    """The context size that is set; a model's own window, where smaller, counts instead."""
    enabled: bool = True
    """Off, nothing is summarized: what does not fit is dropped by priority."""
    summary_models: Callable[[str], Sequence[str]] = own_model
    """Whom to ask for summaries of conversations with a model, the first choice first."""
    ahead: bool = True
    """Off, no summary is begun: the person left it for now."""
    ask_first: bool = False
    """A summary waits for the person's word before it takes the place of what it tells."""
