"""Policies: the parts of a profile that have settings of their own.

A profile without a policy (``None``) does not do what the policy is about. Shares are of the
context window, from 0 to 1; sizes are tokens unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Pruning:
    """Old tool results give way to a note before anything is summarized (A13, C5).

    The defaults are oh-my-pi's rules.
    """

    protect_tokens: int = 40_000
    """The newest tool results up to this many tokens are never pruned."""
    minimum_savings: int = 20_000
    """Nothing is pruned when less than this would be saved."""
    protected_tools: tuple[str, ...] = ("skill", "read")
    """Results of these tools are never pruned; ``*`` and ``?`` stand for any letters."""
    superseded_first: bool = False
    """A read of a file that was read, or changed, again later goes first."""
    useless: bool = False
    """Results that say nothing any more (empty, or the same error again later) go next."""
    current_reads: Literal["pruned", "kept"] = "pruned"
    """What becomes of a read that is still the newest word on its file: ``pruned`` for its age
    like any other result, or ``kept``."""
    amount: Literal["everything", "needed"] = "everything"
    """How much goes of what is merely old: all of it, or the oldest until enough is saved."""
    scope: Literal["path", "context"] = "path"
    """Which results are looked at: all of the path, or those that the model is still sent."""
    smallest_result: int = 0
    """Results of fewer tokens are left alone: a note in their place gains nothing."""


@dataclass(frozen=True, slots=True)
class Background:
    """A summary is made ahead, while the agent works on (A47, A48). Shares of the budget."""

    warm_low: float = 0.78
    warm_high: float = 0.82
    """With a warm prompt cache the trigger lies somewhere between these two."""
    cold: float = 0.90
    """With a cold prompt cache it lies here."""
    apply_minimum: float = 0.65
    """A finished summary is thrown away when the context fills less than this by then."""


@dataclass(frozen=True, slots=True)
class PromptBudget:
    """A prompt is rendered to a budget, the least important part dropped first (A44 to A46)."""

    threshold: float | None = None
    """Budget: a share in (0, 1] of the window, or tokens from 100 on; None is the window."""
    tools_margin: float = 0.9
    """Share of what the tools leave that messages may take, when there are tools."""
    result_share: float = 0.5
    """Largest tool result, as a share of the window."""
    result_head: float = 0.4
    """Share of a shortened tool result that its beginning takes; the rest is its end."""
    mode: Literal["auto", "simple", "full"] = "auto"
    """``auto`` is the full request, and the simple one where that fails (A50)."""
    argument_characters: int = 200
    """Characters of a tool call's arguments that the simple request tells (B19)."""
    breadcrumb: bool = True
    """Summaries say where the whole conversation can be read (A51)."""
