"""The rules of a profile in the order in which a compaction comes to them."""

from __future__ import annotations

from typing import NamedTuple

from explorer.compaction.profile import POLICY_SWITCHES, SIZES


class Group(NamedTuple):
    """Rules that belong together. Keys are fields of ``Profile``, or ``policy.field``."""

    title: str
    keys: tuple[str, ...]
    policy: str = ""
    """The policy that the rules are of; without it they do nothing."""


def _policy(title: str, policy: str) -> Group:
    """All rules of a policy, in the order in which they are explained."""
    told = (*SIZES, *POLICY_SWITCHES)
    return Group(title, tuple(key for key in told if key.startswith(f"{policy}.")), policy)


GROUPS = (
    Group(
        "When it starts",
        (
            "enabled", "context_window", "reserve_tokens", "reserve_floor_percent",
            "threshold_percent", "threshold_tokens", "threshold_check", "usage",
            "overflow_recovery",
            "manual_while_running", "auto_continue", "finished_turn",
        ),
    ),
    Group(
        "Where it cuts",
        (
            "cut_unit", "keep_recent_tokens", "keep_rounds", "keep_user_tokens",
            "keep_recent_scale", "weights", "boundary", "valid_cuts", "empty_input",
            "oversized_tail", "turn_judgement", "pull_back", "cut_guard",
        ),
    ),
    Group(
        "What is asked",
        (
            "split", "sections", "dialect", "tags_in_text", "long_results", "result_cut",
            "focus", "remote_endpoint",
        ),
    ),
    Group(
        "What is stored",
        (
            "answers", "prefix_only", "file_tools", "failed_calls", "branch_details",
            "file_footer", "short_summary", "context_wrapper",
        ),
    ),
    Group(
        "Branches",
        (
            "branch_summaries", "branch_reserve_tokens", "branch_replies", "branch_files",
            "branch_instructions",
        ),
    ),
    _policy("Old tool results", "pruning"),
    _policy("Made ahead", "background"),
    _policy("Prompt budget", "prompt_budget"),
)  # fmt: skip
