"""A summary in its sections, whichever way its headings are written."""

from __future__ import annotations

import pytest

from explorer.audit.difference import BEFORE, sections_of, title_key


def test_each_section_knows_where_it_stands() -> None:
    text = "Before.\n\n## Goal\nShip.\n\n## Next Steps\n1. Test."
    found = sections_of(text)
    assert [one.title for one in found] == [BEFORE, "Goal", "Next Steps"]
    assert [one.text for one in found] == ["Before.", "Ship.", "1. Test."]
    for one in found:
        assert one.text in text[one.body : one.end]
    assert "".join(text[one.start : one.end] for one in found) == text


@pytest.mark.parametrize(
    ("heading", "other"),
    [
        ("Constraints & Preferences", "constraints and preferences"),
        ("3. Key Decisions", "Key decisions"),
        ("**Goal**", "Goal"),
        ("Constraints &amp; Preferences", "Constraints & Preferences"),
    ],
)
def test_headings_that_mean_the_same(heading: str, other: str) -> None:
    assert title_key(heading) == title_key(other)


def test_lines_of_code_are_no_headings() -> None:
    found = sections_of("## Notes\n```sh\n# not a heading\n## nor this\n```\nend")
    assert [one.title for one in found] == ["Notes"]
    assert "# not a heading" in found[0].text


def test_numbered_headings_count_where_there_are_no_others() -> None:
    """A26: Copilot's form."""
    found = sections_of("1. Conversation Overview:\n- A\n\n2. **Technical Foundation**:\n- B")
    assert [one.title for one in found] == ["Conversation Overview", "Technical Foundation"]
    steps = sections_of("## Next Steps\n1. Fix the parser:\n   - like this")
    assert [one.title for one in steps] == ["Next Steps"]


def test_the_turn_that_was_split_has_headings_of_its_own() -> None:
    """A20: behind a rule another part begins."""
    text = "## Goal\nA\n\n---\n\n**Turn Context (split turn):**\n\n## Original Request\nB"
    found = sections_of(text)
    assert [one.title for one in found] == [
        "Goal",
        "Turn Context (split turn) › Original Request",
    ]


def test_lists_of_files_are_sections_without_their_tags() -> None:
    """A28."""
    found = sections_of("## Goal\nA\n\n<read-files>\na.py\nb.py\n</read-files>")
    assert [(one.title, one.text) for one in found] == [("Goal", "A"), ("Read files", "a.py\nb.py")]


def test_an_empty_section_is_one() -> None:
    found = sections_of("## Goal\n\n## Next Steps\nA")
    assert [(one.title, one.text) for one in found] == [("Goal", ""), ("Next Steps", "A")]


def test_a_text_without_headings_and_no_text() -> None:
    assert [one.title for one in sections_of("All of it.")] == [BEFORE]
    assert sections_of("") == ()
