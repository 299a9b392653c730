"""What the offline summarizer says of itself is no part of what a summary states."""

from __future__ import annotations

from explorer.facts.entry_texts import Speaker
from explorer.facts.fact_table import scan_text
from explorer.facts.summary_notes import NOT_FOLLOWED, without_notes
from explorer.tokens.estimate import utf16_units

NOTE = f"- {NOT_FOLLOWED}: “Keep src/load.py and the 🦉 of 40 MB.”"
SUMMARY = f"## Notes\n- The port is 8443.\n{NOTE}\n- The host is db1.example."


def test_places_behind_a_note_stay_where_they_are() -> None:
    bare = without_notes(SUMMARY)
    assert "load" not in bare and "The port is 8443." in bare
    at = SUMMARY.index("- The host"), bare.index("- The host")
    assert utf16_units(SUMMARY[: at[0]]) == utf16_units(bare[: at[1]])


def test_a_note_holds_no_facts() -> None:
    stated = scan_text(SUMMARY, Speaker.SUMMARY)
    assert "8443" in "".join(one.text for one in stated.items)
    assert "src/load.py" not in stated.mentions
    assert "src/load.py" in scan_text(SUMMARY, Speaker.ASSISTANT).mentions
