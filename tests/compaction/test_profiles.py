"""Profiles as data: every rule explained, read from plain values and written back."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import asdict, replace

from explorer.compaction.profile import (
    BASES,
    POLICIES,
    POLICY_SWITCHES,
    PROFILES,
    SIZES,
    SWITCHES,
    Profile,
    Settings,
    changed,
    profile_values,
    read_profile,
)
from explorer.compaction.profile.rules import Background, PromptBudget, Pruning

EXPLORER = PROFILES["explorer"]


def test_there_are_five_systems_and_what_their_documents_tell_otherwise() -> None:
    assert list(PROFILES) == ["explorer", "pi", "omp", "pyagent", "copilot"]
    for name, profile in BASES.items():
        assert profile.name == name
        assert profile.title
    assert len({profile.title for profile in BASES.values()}) == len(BASES)


def test_every_field_of_a_profile_is_explained_once() -> None:
    names = set(Profile.__struct_fields__) - {"name", "title"}
    own = {name for name in SIZES if "." not in name}
    assert names == set(SWITCHES) | own | set(POLICIES)
    assert not set(SWITCHES) & own


def test_every_field_of_a_policy_is_explained_once() -> None:
    inner = {
        f"{name}.{field}"
        for name, told in POLICIES.items()
        for field in told.default.__struct_fields__
    }
    told = {name for name in SIZES if "." in name}
    assert inner == told | set(POLICY_SWITCHES)
    assert not told & set(POLICY_SWITCHES)


@pytest.mark.parametrize(
    "told", [*SWITCHES.values(), *POLICY_SWITCHES.values(), *SIZES.values(), *POLICIES.values()]
)
def test_an_explanation_is_one_sentence_with_a_source(told: object) -> None:
    explanation: str = told.explanation  # type: ignore[attr-defined]
    assert explanation.endswith(".")
    assert explanation[:-1].count(". ") == 0
    assert explanation[0].isupper()
    assert told.source  # type: ignore[attr-defined]


def test_the_table_of_defaults() -> None:
    """The numbers of the systems' documents and code."""
    table = {
        name: (
            profile.enabled,
            profile.reserve_tokens,
            profile.keep_recent_tokens,
            profile.auto_continue,
            profile.remote_endpoint,
            profile.branch_summaries,
            profile.branch_reserve_tokens,
        )
        for name, profile in BASES.items()
    }
    assert table["pi"] == (True, 16_384, 20_000, False, "", "asked", 16_384)
    assert table["pi-documented"] == (True, 16_384, 16_384, False, "", "asked", 16_384)
    assert table["omp"] == (True, 16_384, 20_000, True, "", "off", 16_384)
    assert table["pyagent"][:4] == (True, 8_192, 16_384, False)
    copilot = PROFILES["copilot"]
    assert (copilot.enabled, copilot.reserve_floor_percent, copilot.cut_unit) == (
        True,
        10,
        "rounds",
    )
    assert copilot.prompt_budget == PromptBudget(tools_margin=0.9)
    assert copilot.background == Background(0.78, 0.82, 0.90, 0.65)
    assert PROFILES["omp"].pruning == Pruning(40_000, 20_000, ("skill", "read"))
    assert Settings.of(PROFILES["pyagent"]) == Settings(200_000, 8_192, 16_384)


@pytest.mark.parametrize("name", list(BASES))
def test_a_profile_is_the_same_after_a_way_through_json(name: str) -> None:
    values = json.loads(json.dumps(profile_values(BASES[name])))
    read = read_profile(values, EXPLORER)
    assert read.profile == BASES[name]
    assert not read.mistakes
    assert not read.unknown


def test_what_values_leave_out_is_as_in_the_base() -> None:
    read = read_profile({"keep_recent_tokens": 5}, PROFILES["omp"])
    assert read.profile == replace(PROFILES["omp"], keep_recent_tokens=5)


def test_a_key_of_another_version_is_kept_and_named() -> None:
    read = read_profile({"colour": "red", "pruning": {"depth": 3}}, PROFILES["omp"])
    assert read.profile == PROFILES["omp"]
    assert read.unknown == {"colour": "red", "pruning.depth": 3}


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("boundary", "nowhere", "expected one of 'corrected', 'faithful-0.58', not 'nowhere'"),
        ("enabled", "yes", "expected one of true, false, not 'yes'"),
        ("enabled", 1, "expected one of true, false, not 1"),
        ("keep_recent_tokens", 0, "expected 1 to 2,147,483,647, not 0"),
        ("keep_recent_tokens", 1.5, "expected a whole number, not 1.5"),
        ("keep_recent_tokens", True, "expected a whole number, not true"),
        ("threshold_percent", 0, "expected 1 to 99, or -1 to leave it open, not 0"),
        ("threshold_percent", float("nan"), "expected a number, not nan"),
        ("remote_endpoint", "file:///etc", "an http(s) address"),
        ("title", "  ", "expected a text"),
        ("pruning", 3, "expected an object, or null for off, not 3"),
        ("background", {"warm_low": 0.9, "warm_high": 0.8}, "warm_low <= warm_high <= cold"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_its_key(
    key: str, value: object, said: str
) -> None:
    read = read_profile({key: value}, EXPLORER)
    assert read.profile == EXPLORER
    assert [mistake.key for mistake in read.mistakes] == [key]
    assert said in str(read.mistakes[0])


def of(key: str, value: object) -> dict[str, object]:
    """Plain values that say one thing; ``policy.name`` is one of a policy."""
    policy, _, inner = key.partition(".")
    return {policy: {inner: value}} if inner else {key: value}


def accepts(key: str, value: object) -> bool:
    read = read_profile(of(key, value), EXPLORER)
    assert not read.unknown
    return not [one for one in read.mistakes if one.key == key]


@pytest.mark.parametrize("key", SIZES)
def test_a_size_has_its_bounds_and_its_type(key: str) -> None:
    size = SIZES[key]
    assert not accepts(key, False) and not accepts(key, {})
    if size.unit == "names":
        assert accepts(key, ["a", "b"]) and accepts(key, [])
        assert not accepts(key, ["a", 1]) and not accepts(key, "a")
    elif size.unit == "address":
        assert [accepts(key, one) for one in ("", "http://a", "https://a", "ftp://a", 3)] == [
            True, True, True, False, False,
        ]  # fmt: skip
    else:
        assert accepts(key, size.lowest) and not accepts(key, "5")
        if key != "prompt_budget.threshold":
            assert accepts(key, size.highest)
        for beyond in (size.lowest - 1, size.highest + 1):
            assert accepts(key, beyond) is (beyond == size.unset)
        if size.unset is not None:
            assert accepts(key, size.unset)
        whole = size.unit in ("tokens", "rounds", "characters") or key == "reserve_floor_percent"
        assert accepts(key, float(size.lowest)) is not whole
        assert not accepts(key, float("inf"))


@pytest.mark.parametrize("key", [*SWITCHES, *POLICY_SWITCHES])
def test_a_switch_takes_its_values_alone(key: str) -> None:
    values = (SWITCHES.get(key) or POLICY_SWITCHES[key]).values
    assert all(accepts(key, value) for value in values)
    assert not accepts(key, 1) and not accepts(key, "none of them") and not accepts(key, None)


def test_a_threshold_of_prompts_is_a_share_or_many_tokens() -> None:
    key = "prompt_budget.threshold"
    fine = (None, 0, 0.5, 1, 100, 150_000)
    assert [accepts(key, value) for value in fine] == [True] * 6
    assert not any(accepts(key, value) for value in (-1, 1.5, 2, 99, True))
    assert changed(EXPLORER, key, "0").prompt_budget == PromptBudget(threshold=None)


def test_a_policy_is_on_off_or_has_values() -> None:
    for key, policy in POLICIES.items():
        base = PROFILES["pi"]
        for value, expected in (
            (None, None), (False, None), (True, getattr(base, key) or policy.default),
        ):  # fmt: skip
            assert getattr(read_profile({key: value}, base).profile, key) == expected
        assert [one.key for one in read_profile({key: [1]}, base).mistakes] == [key]


def test_bounds_of_the_background_may_be_equal() -> None:
    equal = dict.fromkeys(("warm_low", "warm_high", "cold"), 0.8)
    assert not read_profile({"background": equal}, EXPLORER).mistakes


def test_all_mistakes_are_named_at_once() -> None:
    values = {
        "pruning": {"protect_tokens": -1, "protected_tools": "read", "useless": 2},
        "usage": None,
        "prompt_budget": {"threshold": 50, "result_head": 2},
    }
    named = [mistake.key for mistake in read_profile(values, EXPLORER).mistakes]
    assert named == [
        "pruning.protect_tokens",
        "pruning.protected_tools",
        "pruning.useless",
        "usage",
        "prompt_budget.threshold",
        "prompt_budget.result_head",
    ]


def test_one_value_is_changed_by_its_words() -> None:
    profile = changed(EXPLORER, "keep_recent_tokens", "8,000")
    assert profile.keep_recent_tokens == 8_000
    for text, value in (("on", True), ("off", False), ("True", True), ("false", False)):
        assert changed(EXPLORER, "auto_continue", text).auto_continue is value
    assert changed(EXPLORER, "threshold_percent", "72.5").threshold_percent == 72.5
    assert changed(EXPLORER, "pruning", "off").pruning is None
    tools = changed(PROFILES["pi"], "pruning.protected_tools", "skill, read, plan")
    assert tools.pruning == Pruning(protected_tools=("skill", "read", "plan"))
    assert changed(PROFILES["pi"], "background", "on").background == Background()
    simple = changed(PROFILES["copilot"], "prompt_budget.mode", "simple")
    assert simple.prompt_budget == PromptBudget(mode="simple")
    assert changed(simple, "prompt_budget.threshold", "0.5").prompt_budget == PromptBudget(
        threshold=0.5, mode="simple"
    )


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("keep", "5", "keep: there is no such setting"),
        ("name", "x", "name: there is no such setting"),
        ("usage.any", "5", "usage.any: there is no such setting"),
        ("pruning.depth", "5", "pruning.depth: there is no such setting"),
        ("keep_recent_tokens", "many", "keep_recent_tokens: expected a whole number, not 'many'"),
        ("split", "three", "split: expected one of 'two-summaries', 'one-summary', not 'three'"),
    ],
)
def test_a_change_that_makes_no_sense_names_the_key(key: str, text: str, said: str) -> None:
    with pytest.raises(ValueError, match="^" + said.replace("(", r"\(")):
        changed(EXPLORER, key, text)


def test_rules_kept_by_an_older_version_take_the_newer_defaults() -> None:
    kept = {key: value for key, value in asdict(PROFILES["pi"]).items() if key != "sections"}
    assert read_profile(kept, PROFILES["pi"]).profile == PROFILES["pi"]
