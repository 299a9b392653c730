"""Every number and text of a profile, explained, with the values that make sense."""

from __future__ import annotations

from typing import NamedTuple


class Size(NamedTuple):
    """One number or text: where it is documented, what it is called, what it does."""

    source: str
    """Checklist ids."""
    title: str
    explanation: str
    unit: str
    """``tokens``, ``rounds``, ``percent``, ``share``, ``characters``, ``names`` or ``address``."""
    lowest: float = 0
    highest: float = 2**31 - 1
    unset: float | None = None
    """A value outside the range that means that the profile leaves it open."""


SIZES: dict[str, Size] = {
    "context_window": Size(
        "A8", "Context window", "All that a model can read and write at once.", "tokens", 1
    ),
    "reserve_tokens": Size(
        "A8",
        "Reserve",
        "What stays free for the next prompt and its answer; above the rest, compaction starts.",
        "tokens",
    ),
    "reserve_floor_percent": Size(
        "B18",
        "Least reserve",
        "A large window needs a larger reserve: at least this share of it.",
        "percent",
        0,
        99,
    ),
    "threshold_percent": Size(
        "B18",
        "Limit as a share of the window",
        "Compaction starts above this share, whatever the reserve says; -1 leaves it to the "
        "reserve.",
        "percent",
        1,
        99,
        -1,
    ),
    "threshold_tokens": Size(
        "B18",
        "Limit in tokens",
        "Compaction starts above so many tokens, whatever the window is; -1 leaves it to the "
        "reserve.",
        "tokens",
        1,
        unset=-1,
    ),
    "keep_recent_tokens": Size(
        "A15",
        "Tokens to keep",
        "The newest part of the conversation that stays word for word.",
        "tokens",
        1,
    ),
    "keep_rounds": Size(
        "A49",
        "Rounds to keep",
        "The newest replies, with their tool results, that stay word for word.",
        "rounds",
        1,
        10_000,
    ),
    "keep_user_tokens": Size(
        "C8",
        "The user's own messages",
        "Of what is summarized, so many tokens of the user's own messages, the newest first, are "
        "told again after the summary, word for word; 0 for none.",
        "tokens",
    ),
    "branch_reserve_tokens": Size(
        "A32",
        "Reserve of a branch summary",
        "What stays free when a branch is told to the summarizer, the newest of it first.",
        "tokens",
    ),
    "remote_endpoint": Size(
        "A29",
        "Address of a summarizing service",
        "A service of one's own can summarize in place of a model; empty for none.",
        "address",
    ),
    "pruning.protect_tokens": Size(
        "A13",
        "Protected tool results",
        "The newest tool results are in use, so pruning leaves so many tokens of them alone.",
        "tokens",
    ),
    "pruning.minimum_savings": Size(
        "A13",
        "Least saving",
        "Pruning breaks the prompt cache, so it must save at least so much to be worth it.",
        "tokens",
    ),
    "pruning.protected_tools": Size(
        "A13",
        "Protected tools",
        "Results of these tools are never pruned.",
        "names",
    ),
    "pruning.smallest_result": Size(
        "C5",
        "Smallest result to prune",
        "The note that stands for a pruned result takes tokens too.",
        "tokens",
    ),
    "background.warm_low": Size(
        "A47",
        "Earliest start with a warm cache",
        "A summary that is made ahead starts somewhere between this and the latest start.",
        "share",
        0.01,
        1,
    ),
    "background.warm_high": Size(
        "A47",
        "Latest start with a warm cache",
        "Sessions that start at different fills do not all fall on the same boundary.",
        "share",
        0.01,
        1,
    ),
    "background.cold": Size(
        "A47",
        "Start with a cold cache",
        "Without a cache to reuse a summary ahead is dear, so it waits until it is urgent.",
        "share",
        0.01,
        1,
    ),
    "background.apply_minimum": Size(
        "A47",
        "Least fill to use it",
        "A finished summary is thrown away when the context has become smaller than this.",
        "share",
        0,
        1,
    ),
    "prompt_budget.threshold": Size(
        "A46",
        "Budget of a prompt",
        "A share of the window up to 1, or tokens from 100 on; 0 leaves it to the model.",
        "share or tokens",
        0,
    ),
    "prompt_budget.tools_margin": Size(
        "A46",
        "Margin beside tools",
        "Tools are counted roughly, so messages take only this share of what they leave.",
        "share",
        0.01,
        1,
    ),
    "prompt_budget.result_share": Size(
        "A49",
        "Largest tool result",
        "No tool result takes more of the window than this.",
        "share",
        0.01,
        1,
    ),
    "prompt_budget.result_head": Size(
        "A49",
        "Beginning of a shortened tool result",
        "The share that its beginning takes; the rest is its end, where errors are.",
        "share",
        0,
        1,
    ),
    "prompt_budget.argument_characters": Size(
        "B19",
        "Arguments in the simple request",
        "Calls are told with so many characters of their arguments.",
        "characters",
        1,
    ),
}
"""Every number and text of ``Profile`` and its policies; a policy's by ``policy.name``."""
