"""What a session is walked under: rules, and what no recording can tell.

Sizes in tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.compaction.profile import Profile, Settings

CACHE_MINUTES = 5.0
"""How long a provider's prompt cache is taken to live after its last use: Anthropic's default."""


class Policy(Struct, frozen=True):
    """Rules, and the sizes that they go by."""

    profile: Profile
    settings: Settings
    name: str = ""
    """What it is called where several are shown; empty: the profile's title."""

    @classmethod
    def of(cls, profile: Profile, window: int | None = None, name: str = "") -> Policy:
        """A profile with its own sizes. ``window``: one window for all, as one model has."""
        settings = Settings.of(profile)
        if window is not None:
            settings = replace(settings, context_window=window)
        return cls(profile, settings, name)

    @property
    def title(self) -> str:
        """The name, or the profile's title."""
        return self.name or self.profile.title


class Assumptions(Struct, frozen=True):
    """What a walk without a model has to assume. Each says, or its words say, where it is from."""

    summary_share: float | None = None
    """Tokens of a summary as a share of what it summarizes; None: what the session's own
    compactions took, and without any the share that the engine's preview goes by."""
    order_tokens: int = 0
    """What a request for a summary holds beside the conversation: orders and system prompt."""
    tool_tokens: int | None = None
    """What the descriptions of tools take in each request; None: all that the provider counted
    beyond the entries."""
    system_tokens: int = 0
    """What the system prompt takes, where prompts are kept within a budget."""
    cache_minutes: float = CACHE_MINUTES
    """A pause longer than this, by the recorded times, leaves nothing in the prompt cache; 0: the
    cache never ends."""
    ready_after: int = 1
    """Requests that go out until a summary that is made ahead is there."""
    draw: float = 0.5
    """Stands for the random number of the line at which a summary is begun ahead, 0 to below 1."""


class ReportedUsage(NamedTuple):
    """What a provider reported for one request and its reply."""

    prompt: int
    total: int


class RecordedPrompt(NamedTuple):
    """What a provider reported of a recorded prompt."""

    tokens: int
    cached: int
    """The part of it that came from the provider's cache."""


class KnownRun(Struct, frozen=True):
    """What is known of a run rather than assumed, as of one that was played with a model."""

    reports: Mapping[int, ReportedUsage] = field(default_factory=dict)
    """By the recorded reply."""
    summaries: Sequence[int] = ()
    """The sizes of the summaries in their order, as far as they are known."""
    weights: Sequence[int] | None = None
    """The token column, by entry index, for profiles that count with a tokenizer; negative is not
    counted yet. None: the estimate."""
    prompts: Mapping[int, RecordedPrompt] = field(default_factory=dict)
    """By recorded reply, as far as they are known: what was sent then. Of others the prompt is what
    the context took with the reply, less the reply as it is counted here."""


NOTHING_KNOWN = KnownRun()
