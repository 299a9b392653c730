"""Differences by lines, as the diff of a file, and by words."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.session.text_difference import (
    CONTEXT,
    MOST_LINES,
    MOST_WORDS,
    DifferencePiece,
    changed_lines,
    file_diff,
    word_differences,
)

LINES = [f"line {number}" for number in range(1, 31)]


def with_changes(*numbers: int) -> str:
    changed = [f"new {n}" if n in numbers else line for n, line in enumerate(LINES, 1)]
    return "\n".join(changed) + "\n"


OLD = with_changes()


def test_changes_near_each_other_share_their_lines_and_others_have_a_gap_between() -> None:
    near = changed_lines(OLD, with_changes(10, 15), 2)
    assert [line.sign for line in near] == list("  -+    -+  ")
    apart = changed_lines(OLD, with_changes(10, 16), 2)
    assert [line.sign for line in apart] == list("  -+  @  -+  ")
    assert apart[0].text == "line 8" and apart[-1].text == "line 18"
    assert [line.sign for line in changed_lines(OLD, with_changes(10), 0)] == ["-", "+"]
    assert changed_lines(OLD, OLD) == ()
    assert [line.sign for line in changed_lines("--- a", "+++ b")] == ["-", "+"]


FEW_LINES = st.lists(st.sampled_from("abc"), max_size=12)


@settings(max_examples=80, deadline=None)
@given(before=FEW_LINES, after=FEW_LINES, context=st.integers(0, 3))
def test_a_difference_is_true_and_leaves_equal_ends_alone(
    before: list[str], after: list[str], context: int
) -> None:
    old, new = "\n".join(before), "\n".join(after)
    whole = changed_lines(old, new, 99)
    if before == after:
        assert whole == ()
        return
    assert [line.text for line in whole if line.sign != "+"] == before
    assert [line.text for line in whole if line.sign != "-"] == after
    most, start, end = min(len(before), len(after)), 0, 0
    while start < most and before[start] == after[start]:
        start += 1
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    assert all(line.sign == " " for line in [*whole[:start], *whole[len(whole) - end :]])
    lean = changed_lines(old, new, context)
    changed = [at for at, line in enumerate(whole) if line.sign != " "]
    near = {at + by for at in changed for by in range(-context, context + 1)}
    near |= {
        at
        for one, other in pairwise(changed)
        if other - one - 1 <= 2 * context
        for at in range(one, other)
    }
    shown = [line for at, line in enumerate(whole) if at in near]
    assert [line for line in lean if line.sign != "@"] == shown


@settings(max_examples=80, deadline=None)
@given(before=FEW_LINES, after=FEW_LINES)
def test_the_diff_of_a_file_can_be_applied_and_its_numbers_are_those_of_the_lines(
    before: list[str], after: list[str]
) -> None:
    diff = file_diff("f", "".join(f"{one}\n" for one in before), "".join(f"{x}\n" for x in after))
    made, done = [], 0
    for row in diff.unified.split("\n")[2:]:
        if found := re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", row):
            start, old, first, new = map(int, found.groups())
            start, first = start - (old > 0), first - (new > 0)
            made += before[done:start]
            done = start
            assert len(made) == first
        else:
            if row[0] != "+":
                assert before[done] == row[1:]
                done += 1
            made += [row[1:]] * (row[0] != "-")
    assert made + before[done:] == after
    for row in diff.numbered.split("\n") if diff.numbered else ():
        if not row.endswith("..."):
            number, text = row[1:].split()
            assert (before if row[0] == "-" else after)[int(number) - 1] == text


def test_three_lines_are_shown_around_a_change() -> None:
    assert CONTEXT == 3 and len(changed_lines(OLD, with_changes(10))) == 8


def test_a_huge_replacement_is_not_compared_line_by_line() -> None:
    lines = changed_lines("a\nsame\n" * 1_000, "b\nsame\n" * 1_000 + "c")
    assert [line.sign for line in lines] == ["-"] * 2_000 + ["+"] * 2_001


def test_a_numbered_diff_says_where_lines_are_left_out() -> None:
    top = file_diff("a", OLD, with_changes(3)).numbered.split("\n")
    assert top[:3] == ["  1 line 1", "  2 line 2", "- 3 line 3"]
    below = file_diff("a", OLD, with_changes(10, 25))
    rows = below.numbered.split("\n")
    assert rows[:2] == ["    ...", "  6 line 6"]
    assert [at for at, row in enumerate(rows) if row.endswith("...")] == [0, 11]
    assert (below.first_line, below.added, below.removed) == (10, 2, 2)
    assert [row for row in below.unified.split("\n") if row.startswith("@@")] == [
        "@@ -6,9 +6,9 @@",
        "@@ -21,9 +21,9 @@",
    ]


def test_a_new_file_and_one_that_is_emptied() -> None:
    assert file_diff("a", None, "x\n").unified == "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+x"
    assert "@@ -1,1 +0,0 @@" in file_diff("a", "x\n", "").unified
    assert file_diff("a", "x\r\n", "x\n").unified == ""


def test_few_words_in_a_row_between_changes_are_nothing_in_common() -> None:
    for words, is_common in (("of the", False), ("one of the", True)):
        mine, theirs = word_differences(f"Alpha {words} beta", f"Gamma {words} delta")
        for pieces in (mine, theirs):
            assert any(not piece.differs and words in piece.text for piece in pieces) is is_common
    mine, theirs = word_differences("the same end", "another end")
    assert (mine[-1].text.strip(), mine[-1].differs) == ("end", False)


def test_white_space_alone_does_not_differ() -> None:
    mine, theirs = word_differences("one  two", "one two")
    assert not any(piece.differs for piece in (*mine, *theirs))


def test_a_change_counts_its_lines_on_each_side() -> None:
    change = file_diff("a", "one\ntwo\nthree\n", "one\nother\n")
    assert (change.added, change.removed, change.first_line) == (1, 2, 2)


def test_as_many_lines_as_are_compared_are_compared_to_their_end() -> None:
    lines = [f"line {number}\n" for number in range(MOST_LINES - 1)]
    one, other = word_differences("".join(["one\n", *lines]), "".join(["other\n", *lines]))
    assert [piece.differs for piece in one] == [piece.differs for piece in other] == [True, False]
    one, _ = word_differences("".join(["one\n", *lines]), "".join(["other\n", "more\n", *lines]))
    assert [piece.differs for piece in one] == [True]


def test_very_long_texts_share_only_what_they_begin_with() -> None:
    lines = [f"line {number}\n" for number in range(MOST_WORDS + MOST_LINES)]
    one, other = word_differences("".join(lines), "".join(["other\n", *lines[1:]]))
    assert one == (DifferencePiece("".join(lines), True),)
    assert [piece.differs for piece in other] == [True]
    one, _ = word_differences("".join(lines), "".join([*lines[:3], "other\n", *lines[4:]]))
    assert one[0] == DifferencePiece("".join(lines[:3]), False)
