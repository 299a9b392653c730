"""How two statements relate: the same, another value, the opposite, changed by a later one."""

from __future__ import annotations

import pytest

from explorer.facts.comparison import (
    Agreement,
    Rule,
    compare,
    mark_changed,
    old_value_mentions,
    permits,
    wording,
)
from explorer.facts.fact import FactKind, Mention
from explorer.facts.figures import figures_in

SAME, VALUE = Agreement.SAME, Agreement.OTHER_VALUE
OPPOSITE, DIFFERENT = Agreement.OPPOSITE, Agreement.DIFFERENT
PADDING = " ." * 480


@pytest.mark.parametrize(
    ("statement", "line", "expected"),
    [
        ("keep the parser small", "keep the parser small", SAME),
        ("parser", "parser", DIFFERENT),
        ("timeout 5 s", "timeout 5 s", SAME),
        ("timeout 5 s", "timeout 9 s", VALUE),
        ("timeout 5 s", "timeout", DIFFERENT),
        ("timeout 5 s", "timeout 5 retries", DIFFERENT),
        ("read timeout 5 s", "write timeout 9 s", DIFFERENT),
        ("read timeout 5 s", "timeout 9 s", DIFFERENT),
        ("read socket timeout 5 s", "socket timeout 9 s", VALUE),
        ("read timeout 5 s or 9 s", "read timeout 9 s", DIFFERENT),
        ("green parser walks every branch 5 s", "green parser walks 9 s", VALUE),
        ("green parser walks every branch slowly 5 s", "green parser walks 9 s", DIFFERENT),
        ("replace foxes with badgers", "replace badgers with foxes", DIFFERENT),
        ("never replace foxes", "replace foxes", OPPOSITE),
        ("replace foxes", "never replace foxes", OPPOSITE),
        ("foxes chase badgers", "foxes chase badgers", SAME),
        ("foxes chase badgers swiftly", "foxes chase badgers swiftly tonight", SAME),
        ("foxes chase badgers swiftly", "foxes chase badgers swiftly around trees", DIFFERENT),
        ("foxes chase", "foxes chase badgers", DIFFERENT),
        ("timeout of foxes 5 s", "timeout of foxes 5 s", SAME),
        ("foxes 5 s 9 s", "foxes 5 s", DIFFERENT),
        ("foxes 5 s", "badgers foxes 5 s", DIFFERENT),
        ("foxes chase badgers 5 s", "never foxes chase badgers 5 s", OPPOSITE),
        ("foxes chase five badgers around many trees", "foxes badgers trees", DIFFERENT),
        ("timeout 5 s", "timeout 5 ms", VALUE),
        ("timeout 5 s", "timeout 5 s, 9 s", DIFFERENT),
    ],
)
def test_what_a_line_is_to_a_statement(statement: str, line: str, expected: Agreement) -> None:
    assert compare(statement, line) is expected


def test_a_text_of_up_to_a_thousand_characters_is_one_statement() -> None:
    statement = "foxes chase badgers"
    line = statement + " " * (1000 - len(statement))
    assert compare(statement, line) is SAME and compare(statement, line + " ") is DIFFERENT
    assert wording(line + " ").words == () and not wording("x" * 1001).denies


def rules(*texts: str) -> list[Rule]:
    return [
        Rule(at, [Mention(FactKind.CONSTRAINT, text, text, 0, len(text))])
        for at, text in enumerate(texts)
    ]


CHANGED = [
    ("use at most 5 retries", "use at most 8 retries now", True),
    ("use at most 5 retries", "use at most 5 retries now", False),
    ("the upload timeout is 5 s", "the login timeout is 9 s now", False),
    ("the upload timeout is 5 s", "the upload timeout is 9 s", True),
    ("the timeout is 5 s", "the timeout is 9 s", False),
    ("the timeout is 5 s", "the timeout is 9 s now", True),
    ("the timeout is 5 s", "the timeout is 9 retries now", False),
    ("the timeout is 5 s", "the timeout is 4 minutes now", True),
    ("the timeout is 5 s", "the timeout is 250 s now", True),
    ("the timeout is 5 s", "the timeout is 251 s now", False),
    ("the upload timeout of big files is 5 s", "the upload timeout is 9 s now", True),
    ("the upload timeout is 5 s", "the upload timeout of big files is 9 s now", True),
    ("upload at most 5 files", "make that 8", True),
    ("upload at most 5 files", "make that 8, big green boxes", True),
    ("upload at most 5 files", "make that 8, big green boxes outside", False),
    ("upload at most 5 files", "make that 8 s", False),
    ("upload at most 5 files", "it goes from 5 to 8 files", False),
    ("never touch the generated parser", "you may touch the generated parser", True),
    ("never touch the generated parser", "you may paint the fence", False),
    ("touch the generated parser", "you may touch the generated parser", False),
    ("never touch the generated parser", "you may not touch the generated parser", False),
    ("run the tests with coverage", "forget about what I said on tests and coverage", True),
    ("run the tests with coverage", "forget about what I said on the tests", True),
    ("run the tests with coverage", "forget about what I said on the weather", False),
    ("run the unit tests with coverage", "forget the tests with big green boxes", False),
    ("run the tests with coverage", "forget about the tests of the boxes", True),
    ("keep the cap at 5 retries", "no longer need 5 retries", True),
    ("keep the cap at 5 retries", "no longer need 6 boxes", False),
    ("keep the cap at 5 retries", "we use 5 retries", False),
    ("never touch the generated parser", "you may touch the big green parser", True),
    ("never touch the generated parser", "you may touch the big green old house", False),
    ("the upload takes at most 5 mb", "the upload takes at most 8 files now", False),
    ("upload at most 5 files", "upload at most 8 s now", False),
    ("upload at most 5 files", "upload at most 8 boxes now", False),
    ("the cap is 2 s for uploads", "the upload cap is 100 s now", True),
    ("the cap is 2 s for uploads", "the upload cap is 101 s now", False),
    ("the cap is 100 s for uploads", "the upload cap is 2 s now", True),
    ("the cap is 101 s for uploads", "the upload cap is 2 s now", False),
    ("upload at most 5 files", "upload at most 5000 files now", True),
    ("never retry the upload on a 409", "retry the upload 5 times now", False),
    ("never retry the upload on 409", "retry the upload 5 times now", True),
    ("deploy on Monday", "deploy tomorrow", True),
    ("deploy on Monday at 5", "deploy at 8 now", True),
    ("deploy on Monday", "deploy at 8 now", False),
    ("deploy on Monday", "deploy on Tuesday", True),
    ("deploy the site on Monday", "deploy the site on Tuesday", True),
    ("deploy the site on Monday", "deploy the site on Monday", False),
]


@pytest.mark.parametrize(("old", "new", "changed"), CHANGED)
def test_a_later_statement_changes_an_earlier_one(old: str, new: str, changed: bool) -> None:
    first, second = rules(old, new)
    mark_changed([first, second])
    assert (first.replaced_by == new) is changed and second.replaced_by == ""


def test_of_several_the_one_with_most_words_in_common_is_changed_and_the_later_of_equals() -> None:
    made = rules(
        "upload at most 5 files", "upload at most 6 big files", "upload at most 7 big files",
        "upload at most 9 big files now",
    )  # fmt: skip
    mark_changed(made)
    assert [bool(one.replaced_by) for one in made] == [False, True, True, False]
    made = rules("use at most 5 retries", "use at most 6 retries", "use at most 9 retries now")
    mark_changed(made)
    assert [one.replaced_by for one in made] == ["", made[2].text, ""]


def test_forty_earlier_statements_are_looked_at() -> None:
    for between, changed in ((39, True), (40, False)):
        others = [f"paint fence number{'x' * at} green" for at in range(between)]
        made = rules("use at most 5 retries", *others, "use at most 8 retries now")
        mark_changed(made)
        assert bool(made[0].replaced_by) is changed


def test_a_value_that_is_only_named_as_the_old_one_is_found() -> None:
    made = rules("use at most 5 retries", "use at most 8 retries now")
    mark_changed(made)
    mentions = []
    for before in ("use 8, not ", "it was ", "with "):
        (figure,) = figures_in("5 retries")
        context = f"{before}\n."
        mention = Mention(FactKind.NUMBER, "5 retries", "5", 0, 9, context=context)
        mentions.append((3, mention, figure))
    found = list(old_value_mentions(made, mentions))
    assert [mention.context for _, mention, _ in found] == ["use 8, not \n.", "it was \n."]
    assert {text for *_, text in found} == {"use at most 8 retries now"}
    assert not list(old_value_mentions(made[1:], mentions))


@pytest.mark.parametrize(
    ("line", "forbidding", "expected"),
    [
        ("new dependencies are fine", "never add new dependencies", True),
        ("dependencies are fine", "never add new dependencies", False),
        ("dependencies are fine", "never use dependencies", False),
        ("new dependencies are not allowed", "never add new dependencies", False),
        ("new dependencies are fine", "add new dependencies", False),
        ("new dependencies", "never add new dependencies", False),
        ("new dependencies are fine", "never add new dependencies green", False),
        ("new old dependencies are fine", "never take new old big dependencies", True),
        ("new dependencies are welcome", "never use new dependencies", True),
    ],
)
def test_what_lets_pass_what_was_forbidden(line: str, forbidding: str, expected: bool) -> None:
    assert permits(line, forbidding) is expected
