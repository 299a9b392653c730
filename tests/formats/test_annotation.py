"""What other records tell of an entry stays with its record."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.formats import registry
from explorer.formats.registry import read_record
from explorer.formats.typed_source import annotated, apply_annotation, split_annotation
from explorer.session.entries import CompactionSummary, Entry, UserMessage, text_content
from tests.services.test_new_format import Parley

SHRUNK = '[7, 6, "shrunk", "what was said"]'


def test_a_record_without_a_note_is_its_own_lines() -> None:
    assert split_annotation("one\ntwo") == ("one\ntwo", "")
    entry = Entry.of(UserMessage(text_content("hi")), "a")
    assert annotated("one", entry, ()) == "one"


def test_what_was_noted_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.ADAPTERS, "parley", Parley())
    body = CompactionSummary(
        "what was said", first_kept_id="p3", tokens_before=900, tokens_after=None,
        certainty="unreadable",
    )  # fmt: skip
    entry = Entry.of(body, "x7", "x6", 5.0)
    names = ("id", "parent_id", "time_ms", "first_kept_id", "tokens_before", "certainty")
    record = annotated(SHRUNK, entry, names)
    assert record.startswith(SHRUNK + "\n")
    again = read_record("parley", record)
    assert again == entry
    assert read_record("parley", record.encode()) == entry
    assert split_annotation(record)[0] == SHRUNK


def test_a_field_that_the_entry_does_not_have_is_left_out() -> None:
    entry = Entry.of(UserMessage(text_content("hi")), "a")
    note = '{"sessionExplorer":"note","tokens_before":3,"synthetic":true}'
    assert apply_annotation(entry, note).body == UserMessage(text_content("hi"), synthetic=True)
    with pytest.raises(ValueError, match="not a JSON object"):
        apply_annotation(entry, "3")


def test_words_of_a_session_that_look_like_a_note_are_not_one(tmp_path: Path) -> None:
    spoken = 'He wrote {"sessionExplorer":"note"} there.'
    assert split_annotation(spoken) == (spoken, "")
