"""Statements told again in other words, and lines that only look as if they told them."""

from __future__ import annotations

import pytest

from explorer.audit.atoms import AtomKind
from explorer.audit.findings import Fate, Place
from explorer.audit.rewording import Rewordings, Verdict
from explorer.audit.rewording.numerals import in_figures
from explorer.audit.told import Told
from tests.audit.reworded import read_pairs
from tests.audit.reworded.scoring import score
from tests.audit.test_fidelity import judge
from tests.audit.texts import result, user

NORMALIZED, LOST = Fate.NORMALIZED, Fate.LOST
RULE = 'So, from me, officially: rule 2 is now "At most 5 attempts per push."'
CONFLICT = "A 409 is a conflict and is not retried (it is not in `RETRY_STATUSES`)"
LIMIT = "The test must not be loosened, its 0.25 s limit stays"


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [("tuning", 0.95, 0.6), ("wider", 0.94, 0.38), ("held_out", 0.65, 0.12)],
)
def test_what_is_told_in_other_words_is_told_from_what_is_not(
    name: str, precision: float, recall: float
) -> None:
    found = score(read_pairs(name))
    assert found.precision >= precision, found.made_up
    assert found.recall >= recall, found.missed


@pytest.mark.parametrize(
    ("said", "summary", "fate"),
    [
        (RULE, "2. At most 5 attempts per push. (Changed on 18 November, it was 3.)", NORMALIZED),
        (RULE, "2. At most 3 attempts per push.", LOST),
        (LIMIT, "4. Don't loosen the test. The 0.25 s limit stays.", NORMALIZED),
        (LIMIT, "4. The 0.25 s limit stays.", LOST),
        (LIMIT, "4. Loosen the test. The 0.25 s limit stays.", LOST),
        ("Never retry a 409, whatever the header says.", f"- {CONFLICT}", LOST),
        ("Leave the vendor folder alone.", "- vendor directory: must not be touched", NORMALIZED),
        ("Leave the vendor folder alone.", "- vendor directory: changed", LOST),
        ("Never wait longer than 30 s.", "- Waits are capped at 30 s", NORMALIZED),
        ("Never wait longer than 30 s.", "- Waits take at least 30 s", LOST),
        ("Never wait longer than 30 s.", "- Waits are capped at 30 min", LOST),
        ("You must never push to main.", "- Pushing to main is forbidden", NORMALIZED),
        ("You must never push to main.", "- You need not push to main", LOST),
        ("You must never push to main.", "- Pushing to develop is forbidden", LOST),
    ],
)
def test_fates_of_statements_said_otherwise(said: str, summary: str, fate: Fate) -> None:
    found = judge(f"## Constraints\n{summary}", [user(said)]).findings
    rule = next(one for one in found if one.atom.kind is AtomKind.CONSTRAINT)
    assert rule.atom.text == said.rstrip(".") or rule.atom.text == said
    assert rule.fate is fate


def test_a_rule_of_two_halves_is_told_by_the_half_that_lays_it_down() -> None:
    for line, verdict in (
        ("Never retry a 409, whatever the header says.", Verdict.SAME),
        ("Never retry a 429, whatever the header says.", None),
        ("Retry a 409, whatever the header says.", None),
    ):
        found = Rewordings(Told([line])).of(CONFLICT, AtomKind.CONSTRAINT)
        assert (found.verdict if found else None) is verdict


def test_a_rule_told_in_two_items_leads_to_both_and_names_the_words_that_told_it() -> None:
    summary = "## Constraints\n- Don't loosen the test\n- The 0.25 s limit stays\n- Be kind"
    one = judge(summary, [user(LIMIT)]).findings[0]
    assert one.fate is NORMALIZED
    assert shown(one.places, summary) == ["Don't loosen the test", "The 0.25 s limit stays"]
    for word in ("loosened", "test", "limit", "0.25 s"):
        assert word in one.note


def test_items_of_two_headings_do_not_make_one_rule() -> None:
    summary = "## Constraints\n- Don't loosen the test\n\n## Done\n- The 0.25 s limit stays"
    assert judge(summary, [user(LIMIT)]).findings[0].fate is LOST


def test_what_stands_under_what_was_given_up_is_not_said() -> None:
    said = "Let's use pytest instead of unittest."
    assert (
        judge("## Decisions\n- pytest, not unittest", [user(said)]).findings[0].fate is NORMALIZED
    )
    assert judge("## Rejected\n- pytest, not unittest", [user(said)]).findings[0].fate is LOST


def shown(places: tuple[Place, ...], summary: str) -> list[str]:
    return [summary[place.start : place.end] for place in places]


def errors(summary: str, *outputs: str) -> list[tuple[str, Fate]]:
    found = judge(summary, [result(output) for output in outputs]).findings
    return [(one.atom.text, one.fate) for one in found if one.atom.kind is AtomKind.ERROR]


WHOLE = "E       AssertionError: assert 'sent' == 'conflict'"
LISTED = "FAILED tests/test_push.py::test_conflict - AssertionE..."


@pytest.mark.parametrize(
    "cut", ["E       Asserti...", "E       AssertionError: assert 'se…", LISTED]
)
def test_a_line_that_was_cut_off_is_the_one_that_stands_whole_beside_it(cut: str) -> None:
    told = [(WHOLE, Fate.EXACT)]
    assert errors(f"It said {WHOLE}", f"{cut}\n{WHOLE}") == told
    assert errors(f"It said {WHOLE}", WHOLE, f"{cut}\n") == told
    assert errors(f"It said {WHOLE}", f"{cut}\n", WHOLE) == told


def test_a_cut_line_far_from_any_whole_one_is_found_by_what_is_left_of_it() -> None:
    far = [WHOLE, "fine", "fine", "fine", LISTED]
    summary = "tests/test_push.py::test_conflict still fails"
    assert errors(summary, *far) == [(WHOLE, LOST), (LISTED, NORMALIZED)]
    assert errors("tests/test_push.py::test_conflicts is new", *far)[1] == (LISTED, LOST)
    assert errors("Nothing", "E   Asser...") == [("E   Asser...", LOST)]


def test_what_was_asked_for_and_is_told_as_done_is_not_lost() -> None:
    said = "Remove the old parser, please."
    done = judge("## Progress\n- [x] old parser removed", [user(said)]).findings[0]
    assert (done.atom.kind, done.fate) == (AtomKind.REQUEST, NORMALIZED)
    assert "as done" in done.note
    other = judge("## Progress\n- [x] old lexer removed", [user(said)]).findings[0]
    assert other.fate is LOST


def test_a_rule_in_other_words_with_another_figure_is_mutated() -> None:
    said = "Never wait longer than 30 s for the hub."
    for summary in ("- Waits for the hub: 60 s at most", "- Wait for the hub 60 s at most"):
        found = judge(f"## Constraints\n{summary}", [user(said)])
        rule = [one for one in found.of(Fate.MUTATED) if one.atom.kind is AtomKind.CONSTRAINT]
        assert [one.source.text for one in rule if one.source] == [said]
    right = judge("## Constraints\n- Waits for the hub: 30 s at most", [user(said)])
    assert not right.of(Fate.MUTATED)


def test_a_line_that_says_another_rule_in_other_words_is_no_slip_of_this_one() -> None:
    one = user("Never wait longer than 30 s for the hub.")
    other = user("You may wait for the hub, but only 60 s at most.")
    summary = "## Constraints\n- Waits for the hub on weekends: 60 s at most"
    assert judge(summary, [one]).of(Fate.MUTATED)
    assert not judge(summary, [one, other]).of(Fate.MUTATED)


@pytest.mark.parametrize(
    ("words", "figures"),
    [
        ("at most two hundred lines", "at most 200 lines"),
        ("twenty-five files, seventy percent", "25 files, 70 percent"),
        ("two dozen, twice, one day", "24, 2 times, 1 day"),
        ("twenty one-liners", "20 one-liners"),
        ("no one waits, the second option", "no one waits, option 2"),
    ],
)
def test_numbers_written_as_words_are_figures(words: str, figures: str) -> None:
    assert in_figures(words) == figures


def test_a_rule_with_a_number_in_words_is_not_told_wrongly_by_its_figure() -> None:
    said = "Never wait longer than two hundred seconds for the hub."
    assert verdict(said, "- Waits for the hub are capped at 200 s") is Verdict.SAME
    assert verdict(said, "- Waits for the hub are capped at 100 s") is Verdict.OTHER_VALUE


def test_what_is_too_long_to_say_one_thing_says_none_in_other_words() -> None:
    """Patterns take the square of a text's length: a page in one line must not be put to them."""
    rule = "Leave the vendor folder alone."
    line = "- vendor directory: must not be touched"
    assert verdict(rule, line) is Verdict.SAME
    assert verdict(rule, line + ", only this" * 200) is None
    assert verdict(rule + " Only this." * 200, line) is None
    page = " ".join(f"Only word{at} waits for the lock." for at in range(200))
    told = Told([f"## Rules\n{page}"])
    found = Rewordings(told).of("Only word7 has to wait for the lock.", KIND)
    assert len(told.lines) == 200
    assert found is not None and len(found.lines) == 1


KIND = AtomKind.CONSTRAINT


def verdict(said: str, told: str) -> Verdict | None:
    """What is found of a rule in a summary."""
    found = Rewordings(Told([f"## Rules\n{told}"])).of(said, KIND)
    return None if found is None else found.verdict
