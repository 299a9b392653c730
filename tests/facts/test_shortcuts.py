"""What is looked at before a slow pattern never hides what the pattern would have found."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.audit import summary_text
from explorer.audit.stated_wrongly import EntryMentions
from explorer.facts import scan
from explorer.facts.errors import error_lines, is_failure
from explorer.facts.text import TextRanges, units, wide_places, word_set
from tests.audit.texts import user

_LOOSE = st.text("aAiIsSkKéİıſK0٣5 \t\n.,:;!?-–'’→$~(", max_size=60)
_WORDS = word_set(
    """
    Please please add ADD the a test, tests after that: then Then do it We we I i'd want need
    to you u can could let's Let’s go ahead But but also, and And so never don't DO not x
    first task — -and “now write fix: it İs ıt fıx ſo max 5 limit at most must only 250 ms
    v3.2 Python 3.12 5,000 2024-05-01 port=80 -4 +7% $12.50 (3) 1.5k 10:30 #42 x2 Node v20
    git status --short run. npm test "quoted thing" 'open one close' make build; go on ~5
    error: Error: failed FAILED timeout panic: at src/x.py:12: e: E assert ok
    """
)
_BETWEEN = (" ", "\n", "\n\n", ", ", ". ", "; ", "\nE    ")
_SAID = st.lists(st.sampled_from([*sorted(_WORDS), *_BETWEEN]), max_size=40).map(" ".join)
_ANY = _LOOSE | _SAID


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8), st.integers(0, 31))
def test_a_place_is_taken_when_any_stretch_holds_it(
    stretches: list[tuple[int, int]], at: int
) -> None:
    taken = TextRanges(stretches[::2])
    assert (at in taken) == any(start <= at < end for start, end in stretches[::2])
    for start, end in stretches[1::2]:
        taken.add(start, end)
    assert (at in taken) == any(start <= at < end for start, end in stretches)


@given(_SAID)
def test_failures_stand_where_they_are_said_to_stand(text: str) -> None:
    for start, bare in error_lines(text):
        assert text[start : start + len(bare)] == bare


@given(_ANY)
def test_no_failure_is_passed_over_for_want_of_a_word(line: str) -> None:
    line = " ".join(line.split())
    assert bool(error_lines(line)) == (len(line) >= 4 and is_failure(line))


@given(_ANY, st.integers(0, 60))
def test_places_are_counted_in_units(text: str, at: int) -> None:
    wide = text.replace("a", "😀")
    at = min(at, len(wide))
    assert units(at, wide_places(wide)) == sum(1 + (letter > "\uffff") for letter in wide[:at])


@settings(max_examples=300)
@given(st.text("aAB İΣς ß\n\u00a0`*_\"“'’.日😀", max_size=20))
def test_a_summary_is_flattened_as_letter_by_letter(text: str) -> None:
    letters = [
        (at, low)
        for at, letter in enumerate(text)
        if letter not in "`*_\"“”'‘’"
        for low in (" " if letter.isspace() else letter.lower())
    ]
    wanted = [
        one for before, one in pairwise([(-1, " "), *letters]) if one[1] != " " or before[1] != " "
    ]
    flat, offsets = summary_text._flattened(text)
    assert list(zip(offsets, flat, strict=True)) == wanted


def test_ranges_that_grow_are_gathered_as_if_each_were_the_first() -> None:
    entries = [
        user("Use port 8443."),
        user("At most 5 retries in src/a.py."),
        user("See docs/b.md, v2.1."),
        user("Only 12 ms."),
    ]
    table = scan(range(len(entries)), lambda wanted: [entries[index] for index in wanted])
    kept = EntryMentions()
    for first, last in [*pairwise((0, 1, 3, 4)), (0, 3), (0, 4), (2, 4), (1, 2)]:
        known = range(first, last)
        fresh = EntryMentions()
        fresh.read(table, known)
        kept.read(table, known)
        for one in (fresh, kept):
            one.paths.sort()
        assert (kept.mentions, kept.paths) == (fresh.mentions, fresh.paths)
        assert list(kept.figures(known)) == list(fresh.figures(known))
