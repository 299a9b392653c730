"""What a profile becomes under settings, and what a session's own choices do over them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.compaction.profile import PROFILES, Profile, Settings, profile_values
from explorer.compaction.profile.rules import Pruning
from explorer.models.client import EXTRACTIVE
from explorer.services.effective_rules import EffectiveRules
from explorer.settings.effective import (
    Chosen,
    Ground,
    chosen_from,
    effective,
    profile_named,
    rules_of,
    summary_models,
    with_profile,
    with_rules,
    with_sizes,
    without_key,
)
from explorer.settings.keys import KEYS

KEEP = "compaction.keepRecentTokens"
ELSEWHERE = {"compaction.profile", "compaction.model", "compaction.servedModels", "agent.model"}
ELSEWHERE |= {"models.apiBase", "extensions.enabled", "extensions.timeoutMs"}
ELSEWHERE |= {
    "privacy.maskExports",
    "privacy.maskSent",
    "privacy.maskShown",
    "sessions.agents",
    "sessions.find",
    "sessions.places",
    "sessions.terminal",
    "compaction.askFirst",
    "models.scriptedPace",
    "models.silenceSeconds",
}
ELSEWHERE |= {"agent.mostRounds", "agent.mostTurnTokens", "agent.sameCalls", "agent.allow"}
"""Settings that are no rules of a profile."""
VALUES: dict[str, Any] = {
    "compaction.enabled": False,
    "compaction.keepRecentTokens": 777,
    "compaction.reserveTokens": 888,
    "compaction.contextWindow": 99_999,
    "compaction.thresholdPercent": 50,
    "compaction.thresholdTokens": 1_234,
    "compaction.remoteEndpoint": "https://localhost/s",
    "branchSummary.reserveTokens": 555,
    "pruning.protectTokens": 11,
    "pruning.minimumSavings": 12,
    "pruning.protectedTools": ["bash"],
    "chat.summarizeAgentConversationHistory.enabled": False,
    "chat.advanced.summarizeAgentConversationHistoryThreshold": 0.5,
    "chat.advanced.agentHistorySummarizationMode": "simple",
}
every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


@every_profile
def test_nothing_set_is_the_profile_itself(profile: Profile) -> None:
    assert effective(profile, {}) == profile


@every_profile
@pytest.mark.parametrize("name", sorted(KEYS.keys() - ELSEWHERE))
def test_every_setting_changes_the_rules_where_it_says_so(name: str, profile: Profile) -> None:
    """No setting does nothing, and none does something where it says that it does not (A12)."""
    on = {"pruning.enabled": profile.pruning is None,
          "branchSummary.enabled": profile.branch_summaries == "off",
          "compaction.autoContinue": not profile.auto_continue}  # fmt: skip
    if name in ("pruning.supersededFirst", "pruning.useless"):
        own = profile.pruning or Pruning()
        field = "superseded_first" if name.endswith("First") else "useless"
        on[name] = not getattr(own, field)
    value = on.get(name, VALUES.get(name))
    assert not KEYS[name].kind.problem(value)
    values = {name: value}
    before = profile
    if name.startswith("pruning.") and name != "pruning.enabled":
        values["pruning.enabled"] = True
        before = effective(profile, {"pruning.enabled": True})
    changes = effective(profile, values) != before
    assert changes == (profile.name in KEYS[name].systems)


def test_the_master_switch_of_copilot_rules_what_happens_ahead_of_time_too() -> None:
    """A54: on by default, and it gates the foreground and the background."""
    off = effective(PROFILES["copilot"], {"chat.summarizeAgentConversationHistory.enabled": False})
    assert not off.enabled
    assert off.background is None
    assert PROFILES["copilot"].enabled
    assert PROFILES["copilot"].background is not None


def test_who_writes_the_summary() -> None:
    """A43, A54: candidates in order; a model that serves others, and those that it does not."""
    assert summary_models({}, "a/chosen", "a/agent") == ("a/chosen",)
    named = {"compaction.model": ["a/one", "a/two"]}
    assert summary_models(named, "a/chosen", "a/agent") == ("a/one", "a/two")
    served = {**named, "compaction.servedModels": ["b/*", "exact"]}
    assert summary_models(served, "a/chosen", "b/x") == ("a/one", "a/two")
    assert summary_models(served, "a/chosen", "c/exact") == ("a/one", "a/two")
    assert summary_models(served, "a/chosen", "c/other") == ("c/other",)
    assert profile_named({"compaction.profile": "omp"}).name == "omp"
    assert profile_named({}, "pi").name == "pi"


def test_a_session_chooses_over_the_settings_and_follows_them_otherwise() -> None:
    values = {"compaction.keepRecentTokens": 9_000, "compaction.reserveTokens": 4_000}
    shown = rules_of(Chosen(), Ground(values))
    assert shown.settings == Settings(200_000, 4_000, 9_000)
    chosen = with_sizes(Chosen(), replace(shown.settings, keep_recent_tokens=7), Ground(values))
    assert chosen.sizes == {"keep_recent_tokens": 7}
    later = rules_of(chosen, Ground({KEEP: 1, "compaction.reserveTokens": 2}))
    assert later.settings == Settings(200_000, 2, 7)
    assert chosen.by_key(later) == {"compaction.keepRecentTokens": 7}
    back = with_sizes(chosen, shown.settings, Ground(values))
    assert back == Chosen()
    assert without_key(chosen, "compaction.keepRecentTokens") == Chosen()


def test_profiles_of_ones_own_follow_the_settings_too() -> None:
    mine = replace(PROFILES["copilot"], name="mine", title="Mine")
    ground = Ground({"compaction.profile": "mine", "compaction.reserveTokens": 5}, "pi",
                    {"mine": mine, **PROFILES})  # fmt: skip
    assert rules_of(Chosen(), ground).profile == replace(mine, reserve_tokens=5)
    gone = replace(ground, profiles=PROFILES)
    assert rules_of(Chosen(), gone).profile.name == "pi"


def test_rules_of_a_session_are_kept_one_by_one() -> None:
    values = {"pruning.enabled": False}
    shown = rules_of(Chosen(), Ground(values)).profile
    chosen = with_rules(Chosen(), replace(shown, focus="history-only"), Ground(values))
    assert chosen.rules == {"focus": "history-only"}
    assert rules_of(chosen, Ground(values)).profile == replace(shown, focus="history-only")
    assert with_rules(chosen, PROFILES["explorer"], Ground(values)) == Chosen()
    assert with_profile(chosen, "omp") == Chosen("omp")
    assert without_key(with_profile(chosen, "omp"), "compaction.profile") == Chosen()


@every_profile
def test_what_the_first_version_kept_with_a_session_is_read(profile: Profile) -> None:
    changed = replace(profile, focus="history-only", boundary="faithful-0.58")
    sizes = Settings(150_000, 16_384, 333)
    kept = {"profile": profile_values(changed), "settings": {"context_window": 150_000,
            "reserve_tokens": 16_384, "keep_recent_tokens": 333}}  # fmt: skip
    rules = rules_of(chosen_from(kept), Ground())
    assert rules.profile == changed
    assert rules.settings == replace(sizes, keep_rounds=profile.keep_rounds)


sizes = st.dictionaries(
    st.sampled_from(["context_window", "reserve_tokens", "keep_recent_tokens"]),
    st.integers(1, 10**6),
)


@given(st.sampled_from(["", *PROFILES]), sizes)
def test_choices_survive_being_kept(name: str, chosen_sizes: dict[str, int]) -> None:
    chosen = Chosen(name, {"focus": "history-only"}, chosen_sizes)
    assert chosen_from(chosen.to_json()) == chosen


def test_choices_that_make_no_sense_are_told() -> None:
    with pytest.raises(ValueError, match="not known here"):
        chosen_from({"profile": 5, "rules": []})
    assert chosen_from(None) == Chosen()
    sideways = Chosen(rules={"focus": "sideways", "cut_unit": "tokens"})
    mistakes = rules_of(sideways, Ground()).mistakes
    assert len(mistakes) == 1
    assert "focus" in mistakes[0]


def test_a54_who_answers_summarizes_unless_another_is_chosen() -> None:
    explorer, copilot = PROFILES["explorer"], PROFILES["copilot"]
    for profile in (explorer, copilot):
        rules = EffectiveRules.from_settings(profile, {}, "a/agent")
        assert (rules.summary_model, rules.prompt_summary_model("a/agent")) == ("a/agent",) * 2
        demo = EffectiveRules.from_settings(profile, {}, "offline/demo")
        assert demo.summary_model == demo.prompt_summary_model("offline/demo") == EXTRACTIVE
        set_one = {"compaction.model": ["b/one"]}
        rules = EffectiveRules.from_settings(profile, set_one, "a/agent")
        assert (rules.summary_model, rules.prompt_summary_model("a/agent")) == ("b/one",) * 2
        named = EffectiveRules.from_settings(profile, set_one, "a/agent", ("c/two", "c/three"))
        assert (named.summary_model, named.fallbacks) == ("c/two", ("c/three",))
        assert named.prompt_summary_model("a/agent") == "c/two"
