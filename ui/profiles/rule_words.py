"""Rules in words: titles, sentences, values, and how two profiles differ. No Qt in here."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from explorer.compaction.profile import (
    POLICIES,
    POLICY_SWITCHES,
    SIZES,
    SWITCHES,
    Profile,
    Size,
    Switch,
)
from ui.widgets.figures import full


class RuleSection(NamedTuple):
    """Rules that belong together. Keys are fields of ``Profile``, or ``policy.field``."""

    title: str
    keys: tuple[str, ...]
    policy: str = ""
    """The policy that the rules are of; without it they do nothing."""


def _policy(title: str, policy: str) -> RuleSection:
    """All rules of a policy, in the order in which they are explained."""
    explained = (*SIZES, *POLICY_SWITCHES)
    return RuleSection(
        title, tuple(key for key in explained if key.startswith(f"{policy}.")), policy
    )


GROUPS = (
    RuleSection(
        "When it starts",
        (
            "enabled", "context_window", "reserve_tokens", "reserve_floor_percent",
            "small_windows",
            "threshold_percent", "threshold_tokens", "threshold_check", "usage",
            "overflow_recovery",
            "manual_while_running", "auto_continue", "finished_turn",
        ),
    ),
    RuleSection(
        "Where it cuts",
        (
            "cut_unit", "keep_recent_tokens", "keep_rounds", "keep_user_tokens",
            "keep_recent_scale", "weights", "boundary", "valid_cuts", "empty_input",
            "oversized_tail", "turn_judgement", "pull_back", "cut_guard",
        ),
    ),
    RuleSection(
        "What is asked",
        (
            "split", "sections", "dialect", "tags_in_text", "long_results", "result_cut",
            "focus", "remote_endpoint",
        ),
    ),
    RuleSection(
        "What is stored",
        (
            "answers", "prefix_only", "file_tools", "failed_calls", "branch_details",
            "file_footer", "short_summary", "context_wrapper",
        ),
    ),
    RuleSection(
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


def rule_of(key: str) -> Switch | Size:
    """The description of a rule. Raises KeyError for a key that is none."""
    return SWITCHES.get(key) or POLICY_SWITCHES.get(key) or SIZES[key]


def value_of(profile: Profile, key: str) -> Any:
    """A rule's value; a policy's own default where the policy is off."""
    policy, _, inner = key.partition(".")
    if not inner:
        return getattr(profile, key)
    return getattr(getattr(profile, policy) or POLICIES[policy].default, inner)


def with_value(profile: Profile, key: str, value: Any) -> Profile:
    """The profile with a rule changed to a value that it can have."""
    policy, _, inner = key.partition(".")
    if not inner:
        return replace(profile, **{key: value})
    current = getattr(profile, policy) or POLICIES[policy].default
    changes: dict[str, Any] = {policy: replace(current, **{inner: value})}
    return replace(profile, **changes)


def words_of(key: str, value: Any) -> str:
    """A value as a person reads it: what a choice does, a number with its unit."""
    rule = rule_of(key)
    if isinstance(rule, Switch):
        return rule.values[value]
    if rule.unit == "names":
        return ", ".join(value) or "none"
    if rule.unit == "address":
        return value or "none"
    if value is None or value == rule.unset:
        return "left open"
    if rule.unit == "percent":
        return f"{value:g} %"
    if rule.unit in ("share", "share or tokens") and value <= 1:
        return f"{value * 100:g} %"
    unit = "tokens" if rule.unit == "share or tokens" else rule.unit
    return f"{full(value)} {unit}"


def typed(key: str, value: Any) -> str:
    """A number, names or an address as it stands in a field to be typed over."""
    rule = rule_of(key)
    if value is None or (isinstance(rule, Size) and value == rule.unset):
        return ""
    if isinstance(value, tuple | list):
        return ", ".join(value)
    if isinstance(value, bool | str):
        return str(value)
    return full(value) if isinstance(value, int) else f"{value:g}"


def from_typed(key: str, text: str) -> str:
    """What a field says, for ``changed``: an empty field leaves a number open where it can."""
    rule = rule_of(key)
    if isinstance(rule, Size) and not text.strip() and rule.unit not in ("names", "address"):
        if key == "prompt_budget.threshold":
            return "0"
        return "" if rule.unset is None else f"{rule.unset:g}"
    return text.strip()


def differing_in(group: RuleSection, profile: Profile, base: Profile) -> list[str]:
    """The rules of a group in which two profiles differ."""
    if group.policy:
        value, other = getattr(profile, group.policy), getattr(base, group.policy)
        if (value is None) != (other is None):
            return [group.policy]
        if value is None:
            return []
    return [key for key in group.keys if value_of(profile, key) != value_of(base, key)]
