"""A conversation in windows: nothing lost, nothing twice, each with its source (C6)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from explorer.compaction.messages import Serialized, SourceSpan
from explorer.compaction.requests import GOES_ON, newest_within, take_window
from explorer.tokens.estimate import estimate_text, utf16_units
from tests.compaction.windows import windows_of

texts = st.text(
    st.sampled_from("ab \n\U0001f600é") | st.characters(exclude_categories=["Cs"]), min_size=1
)
conversations = st.lists(texts | st.integers(1, 900).map("xy\n".__mul__), min_size=1, max_size=12)


def conversation(messages: list[str], between: str = "\n\n") -> Serialized:
    spans, at, parts = [], 0, []
    for number, message in enumerate(messages):
        if parts:
            at += len(between)
        spans.append(SourceSpan(at, at + len(message), number))
        parts.append(message)
        at += len(message)
    return Serialized(between.join(parts), spans)


@given(conversations, st.integers(10, 400))
def test_c6_every_character_is_in_one_window_in_order_and_under_its_entry(
    messages: list[str], limit: int
) -> None:
    told: dict[int, str] = {}
    for window in windows_of(conversation(messages), limit):
        assert utf16_units(window.text) <= limit * 4
        for start, end, entry in window.spans:
            told[entry] = told.get(entry, "") + window.text[start:end]
    assert [told[number] for number in range(len(messages))] == messages
    assert list(told) == sorted(told)


@given(conversations, st.integers(10, 400))
def test_c6_a_message_that_fits_is_never_cut(messages: list[str], limit: int) -> None:
    for window in windows_of(conversation(messages), limit):
        for start, end, entry in window.spans:
            whole = messages[entry]
            if utf16_units(whole) + utf16_units(GOES_ON) <= limit * 4:
                assert window.text[start:end] == whole


def test_c6_what_fits_is_one_window_as_it_is() -> None:
    whole = conversation(["one", "two"])
    assert take_window(whole, 0, 100) == (whole, len(whole.text))
    full = conversation(["a" * 40, "b" * 40], "")
    assert take_window(full, 0, 20) == (full, 80)
    assert windows_of(whole, 100) == [whole]


def test_c6_a_giant_message_is_cut_at_a_line_and_its_pieces_say_that_they_go_on() -> None:
    giant = "".join(f"line {number}\n" for number in range(200))
    first, *later = windows_of(conversation(["before", giant, "after"]), 100)
    assert first.text == "before"
    assert later[0].text.startswith("line 0\n")
    assert later[0].text.endswith("\n")
    for window in later[1:]:
        assert window.text.startswith(GOES_ON + "line ")
    assert later[-1].text.endswith("after")
    assert [span.entry for span in later[-1].spans] == [1, 2]


def test_c6_dividers_between_messages_stay_with_what_they_divide() -> None:
    whole = conversation(["a" * 40, "b" * 40, "c" * 40], "\n\n---\n\n")
    first, second = windows_of(whole, 25)
    assert first.text == "a" * 40 + "\n\n---\n\n" + "b" * 40
    assert second == Serialized("c" * 40, [SourceSpan(0, 40, 2)])


def test_e11_a_cut_never_falls_inside_a_character() -> None:
    for window in windows_of(conversation(["\U0001f600" * 300]), 11):
        assert window.text.encode("utf-8")


@given(conversations, st.integers(1, 400))
def test_a25_the_newest_messages_are_whole_and_the_last_ones(
    messages: list[str], limit: int
) -> None:
    newest = newest_within(conversation(messages), limit)
    assert newest.text
    assert estimate_text(newest.text) <= limit or len(newest.text) == 1
    entries = [span.entry for span in newest.spans]
    assert entries == list(range(entries[0], len(messages)))
    assert messages[-1].endswith(newest.text[newest.spans[-1].start : newest.spans[-1].end])


def test_as_many_of_the_newest_messages_are_taken_as_fit() -> None:
    newest = newest_within(conversation(["a" * 40, "b" * 40, "c" * 40, "d" * 40]), 21)
    assert [span.entry for span in newest.spans] == [2, 3]
