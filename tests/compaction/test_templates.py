"""The words sent to models: all there, free of comments, with the sections the formats name."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import asdict

from explorer.compaction.profile import PROFILES, SWITCHES, Profile, Settings
from explorer.compaction.summary import SECTION_SETS, check_answer
from explorer.compaction.templates import fill
from explorer.settings.prompt_templates import load_prompt, load_templates

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
    own = [asdict(each) for each in templates.sections.values()]
    shared = asdict(templates)
    del shared["sections"]
    for text in [*shared.values(), *(text for each in own for text in each.values())]:
        assert text
        assert "<!--" not in text
        assert text == text.strip("\n")


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


@pytest.mark.parametrize("sections", ["explorer", "omp"])
def test_a24_summaries_have_the_sections_in_order(sections: str) -> None:
    own = load_templates().sections[sections]
    for text in (own.history_first, own.history_update):
        assert headings(text) == [*SUMMARY_SECTIONS, "## Critical Context", "## Additional Notes"]


@pytest.mark.parametrize("sections", ["explorer", "omp", "copilot"])
def test_a24_a_branch_summary_stops_at_next_steps(sections: str) -> None:
    assert headings(load_templates().sections[sections].branch) == SUMMARY_SECTIONS


def test_a24_pis_progress_is_one_flat_list() -> None:
    own = load_templates().sections["pi"]
    for text in (own.history_first, own.history_update, own.branch):
        assert headings(text) == [
            "## Goal",
            "## Constraints",
            "## Progress",
            "## Key Decisions",
            "## Next Steps",
            "## Critical Context",
        ]


def test_a26_copilot_asks_for_an_analysis_and_eight_numbered_sections() -> None:
    own = load_templates().sections["copilot"]
    for text in (own.history_first, own.history_update):
        numbered = re.findall(r"^(\d)\. ([^:]+):", text, re.MULTILINE)
        assert [int(number) for number, _ in numbered] == list(range(1, 9))
        assert tuple(name for _, name in numbered) == SECTION_SETS["copilot"]["history"].required
        assert text.index("<analysis>") < text.index("<summary>") < text.index("1. ")


@pytest.mark.parametrize("sections", SECTION_SETS)
def test_c7_every_prompt_asks_for_what_its_answer_must_have(sections: str) -> None:
    """A heading that is demanded and never asked for would fail every model."""
    templates = load_templates()
    own = templates.sections[sections]
    asked = {
        "history": (own.history_first, own.history_update),
        "branch": (own.branch,),
        "turn_prefix": (templates.turn_prefix,),
    }
    for purpose, form in SECTION_SETS[sections].items():
        for text in asked[purpose]:
            assert not check_answer(text, "stop", form=form)
            for name in form.allowed:
                assert f"# {name}" in text


def test_a25_the_short_summary_asks_for_two_or_three_sentences() -> None:
    text = load_templates().short
    assert "2 to 3 short sentences" in text
    assert "first person" in text
    assert not headings(text)


def test_c7_the_reminder_names_what_is_wrong() -> None:
    said = load_templates().reminded(["One.", "Two."])
    assert "- One.\n- Two." in said


def test_a_turn_prefix_has_sections_of_its_own() -> None:
    assert headings(load_prompt("turn-prefix")) == [
        "## Original Request",
        "## Early Progress",
        "## Context for Suffix",
    ]


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
    assert set(SWITCHES) <= set(Profile.__struct_fields__)
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
