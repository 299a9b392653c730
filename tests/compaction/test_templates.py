"""The words sent to models: all there, free of comments, with the sections the formats name."""

from __future__ import annotations

from dataclasses import fields

import pytest

from explorer.compaction.profile import PROFILES, SWITCHES, Profile, Settings
from explorer.compaction.wording import Templates, fill
from explorer.templates import load_prompt, load_templates

SUMMARY_SECTIONS = [
    "## Goal",
    "## Constraints & Preferences",
    "## Progress",
    "### Done",
    "### In Progress",
    "### Blocked",
    "## Key Decisions",
    "## Next Steps",
]


def test_every_template_is_there_and_without_its_comment() -> None:
    templates = load_templates()
    for field in fields(Templates):
        text = getattr(templates, field.name)
        assert text
        assert "<!--" not in text
        assert text == text.strip("\n")


@pytest.mark.parametrize("name", ["history-first", "history-update"])
def test_a24_summaries_have_the_sections_in_order(name: str) -> None:
    lines = load_prompt(name).splitlines()
    headings = [line for line in lines if line.startswith("#")]
    assert headings == [*SUMMARY_SECTIONS, "## Critical Context", "## Additional Notes"]


def test_a24_a_branch_summary_stops_at_next_steps() -> None:
    lines = load_prompt("branch").splitlines()
    assert [line for line in lines if line.startswith("#")] == SUMMARY_SECTIONS


def test_a_turn_prefix_has_sections_of_its_own() -> None:
    lines = load_prompt("turn-prefix").splitlines()
    headings = [line for line in lines if line.startswith("#")]
    assert headings == ["## Original Request", "## Early Progress", "## Context for Suffix"]


def test_a6_wrappers_hold_the_summary() -> None:
    templates = load_templates()
    assert templates.compaction_message("S") == (
        "The conversation history before this point was compacted into the following summary:"
        "\n\n<summary>\nS\n</summary>"
    )
    assert "<summary>\nS\n</summary>" in templates.branch_message("S")


def test_what_is_filled_in_is_not_read_as_a_template() -> None:
    assert fill("{{a}} {{b}}", {"a": "{{b}}", "b": "x"}) == "{{b}} x"
    with pytest.raises(KeyError):
        fill("{{c}}", {})


def test_a_missing_prompt_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-prompt"):
        load_prompt("no-such-prompt")


def test_every_quirk_is_a_switch_with_its_explanation() -> None:
    assert set(SWITCHES) <= {field.name for field in fields(Profile)}
    for name, switch in SWITCHES.items():
        # The corrected side comes first, and is the default profile's.
        assert getattr(PROFILES["explorer"], name) == next(iter(switch.values))
        for profile in PROFILES.values():
            assert getattr(profile, name) in switch.values
        assert switch.explanation.endswith(".")
        assert switch.source


def test_profiles_and_settings_can_be_compared_and_kept_in_sets() -> None:
    assert len({PROFILES["pi"], PROFILES["explorer"], PROFILES["pi"]}) == 2
    assert Settings.of(PROFILES["pi"]) == Settings(200_000, 16_384, 20_000)
    assert len({Settings(), Settings()}) == 1
