"""Differences by lines, as the diff of a file, and by words."""

from __future__ import annotations

from explorer.session.text_difference import (
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


def test_very_long_texts_share_only_what_they_begin_with() -> None:
    lines = [f"line {number}\n" for number in range(MOST_WORDS + MOST_LINES)]
    one, other = word_differences("".join(lines), "".join(["other\n", *lines[1:]]))
    assert one == (DifferencePiece("".join(lines), True),)
    assert [piece.differs for piece in other] == [True]
    one, _ = word_differences("".join(lines), "".join([*lines[:3], "other\n", *lines[4:]]))
    assert one[0] == DifferencePiece("".join(lines[:3]), False)
