"""Who says the texts of an entry."""

from __future__ import annotations

from explorer.facts.entry_texts import Speaker, texts_of
from explorer.session.entries import Entry, UserMessage, text_content


def test_what_nobody_typed_is_no_wish_of_the_user() -> None:
    said = text_content("Never push to main.")
    typed, generated = (
        list(texts_of(Entry.of(UserMessage(said, synthetic=synthetic))))
        for synthetic in (False, True)
    )
    assert [one.speaker for one in typed] == [Speaker.USER]
    assert [one.speaker for one in generated] == [Speaker.ASIDE]
