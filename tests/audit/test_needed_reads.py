"""Files that are read again, by tools for files: what counts as known, and what as changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from explorer.audit.repeats import NeedKind
from explorer.audit.words import NEED_TITLES, again_words, need_text, needs_words, repeated_words
from explorer.session.entries import CompactionSummary
from tests.audit.agent_work import FILE, LONG, AgentWork

READ = NeedKind.READ


def test_of_two_ranges_only_what_both_show_counts() -> None:
    made = AgentWork()
    before = made.read(first=1, count=100, of=LONG)
    made.compact()
    after = made.read(first=51, count=100, of=LONG)
    repeat = made.need().repeat
    assert (repeat.before, repeat.after, repeat.first, repeat.last) == (before, after, 51, 100)
    assert repeat.tokens == pytest.approx(made.tree.columns.estimate[after] / 2, rel=0.1)
    assert repeated_words([made.need()]) == (
        f"It took {repeat.tokens:,} of the {repeat.read:,} that were read the second time."
    )


def test_only_the_lines_count_that_were_not_read_again_by_then() -> None:
    made = AgentWork()
    made.read(of=LONG)
    taken = made.compact()
    made.read(first=51, count=100, of=LONG)
    after = made.read(of=LONG)
    first, second = made.found().needs
    assert (first.repeat.first, first.repeat.last) == (51, 150)
    assert (second.taken_by, second.repeat.after, second.repeat.lines) == (taken, after, 100)
    assert second.repeat.tokens == pytest.approx(made.tree.columns.estimate[after] / 2, rel=0.1)
    words = "/w/a.py, lines 1 to 200 but for some already in the context"
    assert need_text(second.repeat) == words


def _by_a_test(made: AgentWork) -> None:
    made.run("make test", f"FAILED a.py\n{FILE}", error=True)


def _by_another_agent(made: AgentWork) -> None:
    made.call("Task", f"All of a.py is:\n{FILE}", prompt="Look.")


def _by_the_user(made: AgentWork) -> None:
    made.user(f"This is a.py now:\n{FILE}")


def _by_the_model(made: AgentWork) -> None:
    made.reply(f"This is a.py now:\n```python\n{FILE}```")


@pytest.mark.parametrize("show", [_by_a_test, _by_another_agent, _by_the_user, _by_the_model])
def test_what_something_else_showed_since_is_not_needed(show: Callable[[AgentWork], None]) -> None:
    made = AgentWork()
    made.read()
    show(made)
    made.compact()
    made.read()
    assert made.need().repeat.lines >= 40
    since = AgentWork()
    since.read()
    since.compact()
    show(since)
    since.read()
    assert since.needs() == []


def test_what_the_summary_quotes_is_not_needed_until_it_is_taken_itself() -> None:
    made = AgentWork()
    made.read()
    made.add(CompactionSummary(f"## Files\n/w/a.py:\n{FILE}"))
    made.read()
    assert made.needs() == []
    later = AgentWork()
    later.read()
    quoted = later.add(CompactionSummary(f"## Files\n/w/a.py:\n{FILE}"))
    taken = later.compact()
    after = later.read()
    assert later.needs() == [(READ, quoted, after)]
    assert later.need().taken_by == taken


def test_a_few_lines_are_not_worth_a_mention() -> None:
    made = AgentWork()
    made.read(count=10)
    made.compact()
    made.read(count=10)
    assert made.needs() == []


REFUSED = "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>"

CHANGED = "File has been modified since read, either by the user or by a linter. Read it again."


@pytest.mark.parametrize("refusal", [REFUSED, CHANGED])
def test_who_quotes_a_file_reads_it_only_since_the_edit_is_refused(refusal: str) -> None:
    made = AgentWork()
    before = made.read()
    made.compact()
    old = "line 3 of the file = 9\nline 4 of the file = 16\n"
    made.call("edit", refusal, error=True, path="/w/a.py", oldText=old, newText="x")
    made.read()
    assert made.needs() == []
    wrong = AgentWork()
    before = wrong.read()
    wrong.compact()
    wrong.call("edit", refusal, error=True, path="/w/a.py", oldText="line three", newText="x")
    after = wrong.read()
    assert wrong.needs() == [(READ, before, after)], "what it quotes is not there"


def test_a_file_is_known_by_whatever_tool_shows_it() -> None:
    made = AgentWork()
    numbered = "\n".join(f"{at:6}→{line}" for at, line in enumerate(FILE.split("\n"), 1))
    made.call("Read", numbered, file_path="/w/src/a.py")
    made.call("exec_command", f"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\n"
              f"Output:\n{FILE}", cmd="sed -n '1,60p' src/a.py", workdir="/w")  # fmt: skip
    made.compact()
    after = made.run("cd /w && cat src/a.py", FILE)
    assert [(kind, at) for kind, _, at in made.needs()] == [(READ, after)]


def test_what_the_agent_wrote_itself_is_known_too() -> None:
    made = AgentWork()
    written = made.call("write", "Successfully wrote", path="/w/a.py", content=FILE) - 1
    made.compact()
    after = made.read()
    assert made.needs() == [(NeedKind.READ_BACK, written, after)]
    repeat = made.need().repeat
    assert NEED_TITLES[repeat.kind] == "read back"
    assert again_words(repeat) == f"written at #{written}, read at #{after}"


def test_what_was_written_and_what_was_read_is_told_apart() -> None:
    made = AgentWork()
    for name in "ab":
        made.call("write", "Successfully wrote", path=f"/w/{name}.py", content=LONG)
    seen = made.read("/w/b.py", first=1, count=150, of=LONG)
    made.compact()
    made.read("/w/a.py", of=LONG)
    after = made.read("/w/b.py", of=LONG)
    assert [kind for kind, *_ in made.needs()] == [NeedKind.READ_BACK, READ]
    assert again_words(made.found().needs[1].repeat).startswith("before at #")
    assert made.needs()[1][1:] == (seen, after), "most of it had been read"
    words = needs_words(made.found().needs)
    assert words.startswith("At least 1 file read again, 1 file written and read back; ")


def test_what_an_agent_edited_as_a_whole_was_written_too() -> None:
    made = AgentWork()
    made.read()
    edit = made.edit(FILE, FILE.replace("line", "LINE"))
    made.compact()
    after = made.read(of=FILE.replace("line", "LINE"))
    assert made.needs() == [(NeedKind.READ_BACK, edit, after)]


def _edited(made: AgentWork) -> None:
    made.edit("line 3 of the file = 9", "line 3 of the file = 10")


def _written_by_a_command(made: AgentWork) -> None:
    made.run("sed -i s/x/y/ a.py", "")


def _patched_by_a_command(made: AgentWork) -> None:
    made.run("apply_patch <<'PATCH'\n*** Begin Patch\n*** Update File: a.py\n-x\n+y\nPATCH", "")


def _formatted(made: AgentWork) -> None:
    made.run("npx prettier --write src/a.py", "a.py 20 ms")


def _edited_without_a_result(made: AgentWork) -> None:
    made.ask("edit", path="/w/a.py", oldText="a", newText="b")


@pytest.mark.parametrize(
    "change",
    [_edited, _written_by_a_command, _patched_by_a_command, _formatted, _edited_without_a_result],
)
def test_a_file_that_was_changed_since_is_read_for_a_reason(
    change: Callable[[AgentWork], None],
) -> None:
    made = AgentWork()
    made.read()
    change(made)
    made.compact()
    made.read()
    assert made.needs() == []


def test_a_file_that_somebody_else_changed_is_told_by_its_text() -> None:
    made = AgentWork()
    made.read()
    made.compact()
    made.read(of=FILE.replace("= ", "== "))
    assert made.needs() == []


def test_other_lines_and_other_files_of_the_same_name_are_new() -> None:
    made = AgentWork()
    made.read(first=1, count=10)
    made.compact()
    made.read(first=21, count=10)
    made.read(path="/other/a.py", first=1, count=10)
    assert made.needs() == []


def test_empty_lines_at_both_ends_of_what_a_search_showed_are_shown() -> None:
    made = AgentWork()
    lines = LONG.split("\n")
    lines[99] = lines[150] = lines[10] = ""
    text = "\n".join(lines)
    made.read("/w/src/a.py", of=text)
    found = "\n".join(f"/w/src/a.py-{at}-{lines[at - 1]}" for at in range(100, 152))
    made.call("Grep", found, pattern="line", path="/w/src")
    made.compact()
    made.read("/w/src/a.py", of=text)
    again = made.need().repeat
    assert [one.number for one in again.shown] == [148, 52], "line 11 stands beside neither"
    assert repeated_words([made.need()]) == f"It took {again.tokens:,} tokens the second time."


def test_what_a_diff_showed_since_is_not_needed_again() -> None:
    made = AgentWork()
    made.read("/w/src/a.py", of=LONG)
    made.compact()
    lines = LONG.split("\n")
    diff = "\n".join(f"{'+' if at > 40 else ' '}{line}" for at, line in enumerate(lines))
    made.run("git diff main", f"diff --git a/src/a.py b/src/a.py\n@@ -1,41 +1,200 @@\n{diff}")
    made.read("/w/src/a.py", of=LONG)
    assert made.needs() == []


def test_what_a_search_showed_since_is_not_needed_again() -> None:
    made = AgentWork()
    made.read("/w/src/a.py", of=LONG)
    made.compact()
    lines = LONG.split("\n")
    found = "\n".join(f"/w/src/a.py-{at}-{line}" for at, line in enumerate(lines, 1))
    made.call("Grep", found, pattern="line", path="/w/src")
    made.read("/w/src/a.py", of=LONG)
    assert made.needs() == []
    made = AgentWork()
    made.read("/w/src/a.py", of=LONG)
    made.compact()
    made.call("Grep", "\n".join(f"{at}:{line}" for at, line in enumerate(lines, 1)),
              pattern="line", path="/w/src/a.py")  # fmt: skip
    made.read("/w/src/a.py", of=LONG)
    assert made.needs() == []


def _part(made: AgentWork, first: int, last: int, of: str, **asked: int) -> int:
    """A read that Gemini CLI says is of a part."""
    lines = of.split("\n")
    text = (
        "\nIMPORTANT: The file content has been truncated.\n"
        f"Status: Showing lines {first}-{last} of {len(lines)} total lines.\n"
        "Action: To read more of the file, you can use the 'start_line' and 'end_line' parameters "
        f"in a subsequent 'read_file' call. For example, use start_line: {last + 1}.\n\n"
        "--- FILE CONTENT (truncated) ---\n" + "\n".join(lines[first - 1 : last])
    )
    return made.call("read_file", text, file_path="/w/a.py", **asked)


def test_a_part_that_gemini_says_it_shows_is_needed_again_where_it_was_known() -> None:
    made = AgentWork()
    before = _part(made, 41, 140, LONG, start_line=41, end_line=140)
    made.compact()
    after = _part(made, 101, 170, LONG, start_line=101, end_line=170)
    repeat = made.need().repeat
    assert (repeat.before, repeat.after, repeat.first, repeat.last) == (before, after, 101, 140)
    other = AgentWork()
    other.read(of=LONG)
    other.compact()
    _part(other, 61, 120, LONG, start_line=61, end_line=120)
    assert other.need().repeat.lines == 60


def test_a_part_that_was_not_known_or_has_changed_is_not_needed_again() -> None:
    made = AgentWork()
    _part(made, 1, 80, LONG, start_line=1, end_line=80)
    made.compact()
    _part(made, 81, 160, LONG, start_line=81, end_line=160)
    assert made.needs() == [], "other lines"
    changed = AgentWork()
    _part(changed, 1, 80, LONG, start_line=1, end_line=80)
    changed.compact()
    _part(changed, 1, 80, LONG.replace(" is ", " was "), start_line=1, end_line=80)
    assert changed.needs() == [], "another text"


def test_a_file_of_which_gemini_shows_only_the_beginning_is_not_known_whole() -> None:
    """Whoever asks for a whole file is shown its first 2,000 lines: what is known below them is
    still known once the agent edits one of these."""
    made = AgentWork()
    before = _part(made, 101, 200, LONG, start_line=101, end_line=200)
    _part(made, 1, 100, LONG)
    made.edit("line 7 of the long file is 49", "line 7 is another")
    made.compact()
    after = _part(made, 101, 200, LONG, start_line=101, end_line=200)
    assert made.needs() == [(READ, before, after)]
