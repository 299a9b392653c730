"""What was needed again after a compaction: which one took it, what would have kept it, and what
would be expected without one."""

from __future__ import annotations

import pytest

from explorer.audit.needed_again import Expected
from explorer.audit.repeats import NeedKind, ShownLines
from explorer.audit.words import (
    NOT_COMPARED,
    before_words,
    expected_words,
    lines_text,
    needs_words,
    path_words,
    tail_words,
    tails_words,
)
from explorer.compaction.context_size import sizes_around
from explorer.compaction.reasons import tokens_text
from explorer.session.entries import FileMention, FilesMessage, PutBack
from tests.audit.agent_work import FILE, LONG, OTHER, AgentWork

READ = NeedKind.READ


def test_a_file_read_again_shows_both_entries_and_what_it_took() -> None:
    made = AgentWork()
    before = made.read()
    first = made.compact()
    after = made.read()
    need = made.need()
    assert (need.kind, need.repeat.before, need.repeat.after) == (READ, before, after)
    assert (need.taken_by, need.repeat.text) == (first, "/w/a.py")
    assert need.repeat.tokens == pytest.approx(made.tree.columns.estimate[after], rel=0.02)


def test_a_tail_from_the_first_entry_to_the_compaction_would_have_held_it() -> None:
    made = AgentWork()
    made.reply("before all")
    before = made.read()
    made.user("And now the other one.")
    kept = made.reply("As you like. " * 20)
    compaction = made.compact(kept)
    made.read()
    sizes = made.tree.columns.estimate
    need = made.need()
    assert need.tail == (sum(sizes[before:compaction]), sizes[kept], sum(sizes[:compaction]))
    assert tail_words(need) == (
        f"Keeping the last {need.tail.needed} of {need.tail.of} tokens word for word would have "
        f"held it; the compaction kept the last {need.tail.kept}."
    )
    assert (need.tail.of, need.tail.kept + sizes[compaction]) == sizes_around(made.tree, compaction)
    # With that tail it is never needed again.
    held = AgentWork()
    held.reply("before all")
    before = held.read()
    held.user("And now the other one.")
    held.reply("As you like. " * 20)
    held.compact(before)
    held.read()
    assert not held.needs()


def test_no_single_tail_is_named_where_a_later_compaction_followed() -> None:
    made = AgentWork()
    made.read()
    made.compact()
    made.reply()
    made.compact()
    made.read()
    assert made.need().tail is None and tail_words(made.need()) == ""


def test_of_lines_from_two_entries_the_tail_begins_at_the_first() -> None:
    made = AgentWork()
    first = made.read(first=1, count=100, of=LONG)
    made.read(first=101, count=100, of=LONG)
    compaction = made.compact()
    made.read(of=LONG)
    tail = made.need().tail
    whole = sum(made.tree.columns.estimate[:compaction])
    assert tail == (sum(made.tree.columns.estimate[first:compaction]), 0, whole)
    assert tail_words(made.need()).endswith("would have held it."), "none was kept"
    # Whoever looks there finds all of the lines that are named.
    assert lines_text(made.need().repeat) == "lines 1 to 200"
    assert before_words(made.need().repeat) == f"#{first} and #{first + 2}"
    rest = (
        ShownLines(0, 1, 190, 190, 1),
        ShownLines(7, 5, 6, 2, 1),
        ShownLines(2, 191, 200, 10, 1),
    )
    words = before_words(made.need().repeat._replace(before=0, shown=rest))
    assert words == "#0 and #2", "few lines, but the last of those that are named"
    parts = tuple(ShownLines(at, 1, 200, 20 if at else 5, 1) for at in (0, 3, 5, 7, 9, 11))
    assert before_words(made.need().repeat._replace(shown=parts)) == "#1, #3, #5, #7 and 2 more"


def test_the_tail_of_a_compaction_holds_all_that_was_needed_again() -> None:
    made = AgentWork()
    for path in ("/w/a.py", "/w/b.py"):
        made.read(path, of=LONG)
    made.compact()
    for path in ("/w/a.py", "/w/b.py"):
        made.read(path, of=LONG)
    one, other = made.found().needs
    longest = max(need.tail.needed for need in (one, other) if need.tail is not None)
    words = tails_words((one, other))
    assert f"Keeping the last {tokens_text(longest)} of" in words and "held all of it" in words
    assert "would have held 1 of these 2." in tails_words((one, other._replace(tail=None)))
    assert tails_words((one,)) == tail_words(one)


def test_what_an_earlier_compaction_took_belongs_to_that_one() -> None:
    made = AgentWork()
    before = made.read()
    first = made.compact()
    made.reply()
    made.compact()
    after = made.read()
    assert made.needs() == [(READ, before, after)] and made.need().taken_by == first
    assert [len(one.needs) for one in made.found().after] == [1, 0]


def test_of_lines_that_two_compactions_took_each_has_its_own() -> None:
    made = AgentWork()
    early = made.read(first=1, count=100, of=LONG)
    first = made.compact()
    late = made.read(first=101, count=100, of=LONG)
    second = made.compact()
    after = made.read(of=LONG)
    assert made.needs() == [(READ, early, after), (READ, late, after)]
    parts = [(need.taken_by, need.repeat.first, need.repeat.last) for need in made.found().needs]
    assert parts == [(first, 1, 100), (second, 101, 200)]


def test_what_the_model_still_saw_was_not_needed_again() -> None:
    made = AgentWork()
    made.reply()
    before = made.read()
    made.compact(kept=before - 1)
    made.read()
    assert made.needs() == [], "it is in the kept tail"
    taken = made.compact()
    after = made.read()
    need = made.need()
    assert (need.repeat.after, need.taken_by) == (after, taken)


def test_reading_twice_after_a_compaction_is_needed_once() -> None:
    made = AgentWork()
    before = made.read()
    made.compact()
    after = made.read()
    made.read()
    assert made.needs() == [(READ, before, after)]


def test_a_short_read_counts_in_a_small_context_alone() -> None:
    def work(before: str) -> list[tuple[NeedKind, int, int]]:
        made = AgentWork()
        made.user(before)
        made.read(of=FILE)
        made.compact()
        made.read(of=FILE)
        return made.needs()

    assert [kind for kind, _, _ in work("Begin.")] == [NeedKind.READ]
    assert work("much was said before it " * 30_000) == []


@pytest.mark.parametrize("recorded", [False, True])
def test_what_an_agents_program_puts_back_unrecorded_may_not_have_been_needed(
    recorded: bool,
) -> None:
    """The files used or changed last, up to a size, where no file put back is recorded."""
    made, larger = AgentWork(), f"{LONG}\n{LONG}"
    made.call("write", "Wrote it.", path="/w/written.py", content=LONG)
    made.read("/w/first.py", of=LONG)
    made.read("/w/larger.py", of=larger)
    made.read("/w/last.py", of=LONG)
    made.edit("line 7 of", "line seven of", "/w/last.py")
    made.run("cat /w/printed.py", OTHER)
    made.compact(put_back=PutBack(2, len(LONG) // 3))
    if recorded:
        made.add(FilesMessage((FileMention("/w/other.py", "x = 1"),)))
    made.reply("I go on.")
    for path, text in (("written", LONG), ("first", LONG), ("larger", larger)):
        made.read(f"/w/{path}.py", of=text)
    made.read("/w/last.py", of=LONG.replace("line 7 of", "line seven of"))
    made.run("cat /w/printed.py", OTHER)
    kept = {"written", "last"} if not recorded else set()
    files = [name for name in ("written", "first", "larger", "last", "printed") if name not in kept]
    found = made.found()
    assert [need.repeat.text for need in found.needs] == [f"/w/{name}.py" for name in files]
    doubted = [need.repeat.text for need in found.after[0].in_doubt]
    assert sorted(doubted) == sorted(f"/w/{name}.py" for name in kept)
    assert ("Not counted: 2 files read, " in path_words(found)) is not recorded


@pytest.mark.parametrize("is_large", [True, False])
def test_a_file_known_in_part_was_not_put_back_where_that_is_too_large(is_large: bool) -> None:
    made = AgentWork()
    before = made.read(first=1, count=150, of=LONG)
    size = sum(len(line) + 1 for line in LONG.split("\n")[:150]) // 4
    made.compact(put_back=PutBack(5, size - 1 if is_large else size))
    made.reply("I go on.")
    after = made.read(first=1, count=150, of=LONG)
    assert made.needs() == ([(READ, before, after)] if is_large else [])


def test_what_may_have_been_put_back_is_told_by_the_entry_that_shows_it() -> None:
    made = AgentWork()
    before = made.read()
    made.compact(put_back=PutBack(5, 5_000))
    made.reply("I go on.")
    taken = made.compact()
    after = made.read()
    assert made.needs() == [(READ, before, after)]
    need = made.need()
    assert need.taken_by == taken and need.tail is not None
    assert need.tail.needed < made.tree.columns.estimate[before], "it may stand behind the first"


def test_what_may_have_been_put_back_is_not_told_with_what_one_compaction_took() -> None:
    made = AgentWork()
    made.read(first=1, count=100, of=LONG)
    made.compact(put_back=PutBack(5, 50_000))
    before = made.read(first=101, count=100, of=LONG)
    taken = made.compact()
    made.read(first=1, count=200, of=LONG)
    need = made.need()
    assert (need.taken_by, need.repeat.before) == (taken, before)
    assert (need.repeat.first, need.repeat.last) == (101, 200)


def _habit(made: AgentWork, rounds: int) -> None:
    """An agent that reads the same file every four rounds, whatever happens."""
    for at in range(rounds):
        made.read() if at % 4 == 0 else made.run(f"go test ./{at}", f"ok {at} in no time at all")


def test_habit_is_expected_without_a_compaction_too() -> None:
    made = AgentWork()
    _habit(made, 60)
    made.compact()
    _habit(made, 60)
    expected = made.found().after[0].expected
    assert expected is not None and expected.found == 1
    assert expected.number == pytest.approx(1, abs=0.2), "it is no more than elsewhere"
    words = f" has {expected.number:.1f} such repeats on average; here there is 1."
    assert words in expected_words(expected)
    assert "on average" not in path_words(made.found()), "nobody can check it at a glance"


def test_what_only_a_compaction_brings_is_not_expected() -> None:
    made = AgentWork()
    for at in range(30):
        made.read(f"/w/{at}.py")
    made.compact()
    for at in reversed(range(30)):
        made.read(f"/w/{at}.py")
    (one,) = made.found().after
    assert one.expected is not None and one.expected.number == 0
    assert one.expected.found >= 5 and len(one.needs) == 30
    assert needs_words(one.needs).startswith("At least 30 files read again; ")


def test_a_short_path_is_not_compared() -> None:
    made = AgentWork()
    made.read()
    made.compact()
    made.read()
    found = made.found()
    assert found.after[0].expected is None and found.expected is None
    # Of what came late, or was done long before, there is no stretch to compare with.
    for nothing in (None, Expected(0.04, 0, 22, 21, 20), Expected(1.3, 0, 22, 21, 20, soon=6)):
        assert expected_words(nothing) == NOT_COMPARED
    assert path_words(found) == f"{needs_words(found.needs)}."
    assert expected_words(Expected(1.34, 4, 22, 21, 20, soon=6)) == (
        "Without a compaction, a stretch this long (22 entries before, 21 after) has 1.3 such "
        "repeats on average; here there are 4."
    )
    assert expected_words(Expected(1.34, 4, 22, 21, 20, soon=6), 6).endswith(
        "here there are 4, and 2 more that lie further apart than that."
    )


def test_a_comparison_of_nothing_with_nothing_is_no_headline() -> None:
    made = AgentWork()
    for at in range(30):
        made.read(f"/w/{at}.py")
    made.compact()
    for at in range(45):
        made.run(f"go test ./{at}", f"ok {at} in no time at all")
    made.read("/w/1.py")
    (one,) = made.found().after
    assert one.expected is not None and (one.expected.found, one.expected.number) == (0, 0)
    assert path_words(made.found()) == f"{needs_words(one.needs)}."


def test_a_path_without_a_compaction_is_not_read_at_all() -> None:
    made = AgentWork()
    made.read()
    made.read()
    made.entries.clear()  # Reading any entry would fail.
    made.entries += [None] * 4  # type: ignore[list-item]
    assert made.found().after == ()
