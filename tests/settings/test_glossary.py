"""The glossary: its form, its order, and that the window asks for no word that it lacks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from explorer.settings import paths
from explorer.settings.glossary import FILE, glossary, parse, search

UI = Path(__file__).resolve().parents[2] / "ui"
DESIGNED = (
    "leaf", "active path", "branch point", "turn", "split turn", "turn prefix", "cut", "kept tail",
    "reserve", "context window", "threshold", "compaction", "branch summary", "pruning", "pin",
    "omission", "profile", "draft", "commit", "exact", "inferred", "base rate", "needed again",
    "finding", "standing instruction", "token", "counter", "prompt template", "control",
)  # fmt: skip


def test_a_term_is_a_heading_and_its_meaning_the_paragraph_below() -> None:
    text = "# Glossary\n\nWhat it is.\n\n## cut\n\nBetween\n*two* entries.\n\n## leaf\n\nEnd.\n"
    assert parse(text) == {"cut": "Between two entries.", "leaf": "End."}


@pytest.mark.parametrize(
    "text", ["## cut\n\nOne.\n\n## cut\n\nTwo.\n", "## cut\n\n## leaf\n\nEnd.\n"]
)
def test_a_term_stands_once_and_has_a_meaning(text: str) -> None:
    with pytest.raises(ValueError, match="cut"):
        parse(text)


def test_every_term_has_one_to_three_sentences_in_alphabetical_order() -> None:
    found = glossary()
    assert list(found) == sorted(found, key=str.casefold)
    for term, meaning in found.items():
        sentences = re.findall(r"[.!?](?= |$)", meaning)
        assert 1 <= len(sentences) <= 3, term
        assert meaning[0].isupper() and meaning.endswith("."), term


def test_the_words_of_the_design_are_in_it() -> None:
    assert set(DESIGNED) <= set(glossary())


def test_every_term_that_a_tool_tip_asks_for_is_in_it() -> None:
    """As literal arguments; a table of terms is looked at where it is."""
    asked: set[str] = set()
    for file in UI.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        asked |= set(re.findall(r"\bexplain\(\s*[\w.]+,\s*\"([^\"]+)\"", text))
        asked |= set(re.findall(r"\bmeaning\(['\"]([^'\"]+)['\"]", text))
    assert len(asked) > 8
    assert asked <= set(glossary())


def test_search_finds_every_word_and_names_before_meanings() -> None:
    assert search("") == list(glossary())
    assert search("turn split")[0] == "split turn"
    assert search("TAIL")[0] == "kept tail" and "cut" in search("tail")
    assert search("zebra") == []


def test_the_file_is_packaged() -> None:
    assert paths.resource(*FILE).is_file()
