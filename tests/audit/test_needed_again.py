"""What was needed again after a compaction: each kind where it is so, and what only
looks like it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from explorer.audit.needed_again import Expected, NeedKind
from explorer.audit.needed_words import (
    TOO_LATE,
    TOO_SHORT,
    expected_words,
    need_text,
    needs_words,
    path_words,
    repeated_words,
    tail_words,
    tails_words,
)
from explorer.compaction.context_size import sizes_around
from explorer.compaction.reasons import tokens_text
from explorer.session.entries import FileMention, FilesMessage, PutBack
from explorer.session.tool_actions import ActionKind, tool_actions
from tests.audit.agent_work import FILE, AgentWork

READ, COMMAND, SEARCH = NeedKind.READ, NeedKind.COMMAND, NeedKind.SEARCH
RULE = "Always use Postgres for the jobs table, never the local sqlite file."
TESTED = "ok example.org/w/a 0.2s\nok example.org/w/b 0.4s, and nothing else to be told"
LONG = "\n".join(f"line {at} of the long file is {at * at}" for at in range(1, 201))
OTHER = "\n".join(f"another line {at} that differs, {at * 3}" for at in range(1, 61))


# files ---------------------------------------------------------------------------------------


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


def test_of_two_ranges_only_what_both_show_counts() -> None:
    made = AgentWork()
    before = made.read(first=1, count=100, of=LONG)
    made.compact()
    after = made.read(first=51, count=100, of=LONG)
    repeat = made.need().repeat
    assert (repeat.before, repeat.after, repeat.first, repeat.last) == (before, after, 51, 100)
    assert repeat.tokens == pytest.approx(made.tree.columns.estimate[after] / 2, rel=0.1)


def test_what_an_earlier_compaction_took_belongs_to_that_one() -> None:
    made = AgentWork()
    before = made.read()
    first = made.compact()
    made.reply()
    made.compact()
    after = made.read()
    assert made.needs() == [(READ, before, after)] and made.need().taken_by == first
    assert [len(one.needs) for one in made.found().after] == [1, 0]


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
    assert need_text(second.repeat) == "/w/a.py, 100 lines of 1 to 200"


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


def test_a_few_lines_are_not_worth_a_mention() -> None:
    made = AgentWork()
    made.read(count=10)
    made.compact()
    made.read(count=10)
    assert made.needs() == []


@pytest.mark.parametrize("chain", [
    "sed -n 1,60p b.md && sed -n 1,60p a.py && cat c.md",
    "cat b.md; echo; nl -ba a.py",
    "for f in a.py b.md; do cat $f; done",
])  # fmt: skip
def test_several_reads_in_one_command_show_every_file(chain: str) -> None:
    made = AgentWork()
    made.read()
    made.compact()
    lines = FILE.split("\n")
    if "nl -ba" in chain:
        lines = [f"{at:6}\t{line}" for at, line in enumerate(lines, 1)]
    shown = made.run(chain, "\n".join(["# Another file", "", *lines, "", "# A third one"]))
    assert made.needs() == []
    taken = made.compact()
    after = made.read()
    assert made.needs() == [(READ, shown, after)] and made.need().taken_by == taken
    made.read()
    assert made.needs() == [(READ, shown, after)], "it is in the context again"


def test_a_command_that_shows_a_part_leaves_the_rest() -> None:
    made = AgentWork()
    before = made.read(of=LONG)
    made.compact()
    made.run("grep -n . b.py; head -50 a.py; cat a.py | tail -50",
             "\n".join([*LONG.split("\n")[:50], *LONG.split("\n")[150:]]))  # fmt: skip
    after = made.read(of=LONG)
    assert made.needs() == [(READ, before, after)]
    repeat = made.need().repeat
    assert (repeat.first, repeat.last, repeat.lines) == (51, 150, 100)


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
    assert made.needs() == [(READ, written, after)]


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


def test_an_edit_that_failed_changes_nothing() -> None:
    made = AgentWork()
    before = made.read()
    made.call("edit", "the text was not found in file", error=True, path="/w/a.py", oldText="q")
    made.compact()
    assert made.needs() == []
    assert made.read() and made.needs() == [(READ, before, len(made.entries) - 1)]


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


def test_other_lines_and_other_files_of_the_same_name_are_new() -> None:
    made = AgentWork()
    made.read(first=1, count=10)
    made.compact()
    made.read(first=21, count=10)
    made.read(path="/other/a.py", first=1, count=10)
    assert made.needs() == []


# commands and searches -----------------------------------------------------------------------


def test_a_command_with_the_same_output_and_no_change_between() -> None:
    made = AgentWork()
    before = made.run("go test ./...", TESTED)
    made.compact()
    after = made.run("go test ./...", TESTED)
    assert made.needs() == [(COMMAND, before, after)]


def test_what_is_needed_after_each_compaction_is_one_thing_several_times() -> None:
    made = AgentWork()
    made.run("go test ./...", TESTED)
    for _ in range(2):
        made.compact()
        made.run("go test ./...", TESTED)
    made.edit("a", "b", "/w/b.py")
    made.run("make lint", TESTED)
    made.compact()
    made.run("make lint", TESTED)
    assert needs_words(made.found().needs).startswith("At least 2 commands run again (3 times)")


def test_a_test_after_an_edit_is_not_again() -> None:
    made = AgentWork()
    made.run("pytest -q", TESTED)
    made.compact()
    made.edit("a", "b", "/w/b.py")
    made.run("pytest -q", TESTED)
    assert made.needs() == []


@pytest.mark.parametrize(
    "command",
    ["git status", "git -C /w diff --stat", "git log --oneline -5", "cd /w && pwd", "date",
     "ls -la src", "tree", "git branch -vv", "cat a.py && git status --short"],
)  # fmt: skip
def test_how_the_work_stands_is_asked_at_any_time(command: str) -> None:
    made = AgentWork()
    made.run(command, TESTED)
    made.call("LS", TESTED, path="/w")
    made.compact()
    made.run(command, TESTED)
    made.call("LS", TESTED, path="/w")
    assert made.needs() == []


@pytest.mark.parametrize("command", ["sleep 5; tail log", "gh run view 7", "git push", "rm -r x"])
def test_waiting_and_doing_are_run_again_by_nature(command: str) -> None:
    made = AgentWork()
    made.run(command, TESTED)
    made.compact()
    made.run(command, TESTED)
    assert made.needs() == []


def test_the_same_search_with_the_same_finds() -> None:
    made = AgentWork()
    before = made.call("grep", "a.py:3: timeout", pattern="timeout", path="/w")
    made.call("grep", "a.py:9: retries", pattern="retries", path="/w")
    made.compact()
    after = made.call("grep", "a.py:3: timeout", pattern="timeout", path="/w")
    made.call("grep", "a.py:9: retries\nb.py:1: retries", pattern="retries", path="/w")
    assert made.needs() == [(SEARCH, before, after)], "the other one found more"


# failures and edits ----------------------------------------------------------------------------


def _failing(made: AgentWork, command: str = "python -m pytest tests") -> int:
    return made.run(command, "bash: python: command not found, exit 127", error=True)


def test_a_failure_that_was_solved_is_met_again() -> None:
    made = AgentWork()
    before = _failing(made)
    made.run("python3 -m pytest tests", "3 passed in 0.2 s, nothing else to be told")
    made.compact()
    after = _failing(made)
    assert made.needs() == [(NeedKind.FAILURE, before, after)]


def test_a_failure_that_goes_on_or_that_passed_by_chance_was_never_solved() -> None:
    made = AgentWork()
    _failing(made)
    made.compact()
    _failing(made)
    assert made.needs() == []
    chance = AgentWork()
    _failing(chance)
    chance.run("python -m pytest tests", "3 passed in 0.2 s, nothing else to be told")
    chance.compact()
    _failing(chance)
    assert chance.needs() == [], "the same command without a change: it failed by chance"


def test_an_edit_that_is_refused_until_the_file_is_read_is_no_failure_met_again() -> None:
    made = AgentWork()
    made.read()
    made.compact()
    made.call("edit", REFUSED, error=True, path="/w/a.py", oldText="a", newText="b")
    made.call("write", REFUSED, error=True, path="/w/a.py", content="a")
    assert made.needs() == []


def test_before_a_failure_met_again_stands_a_failure() -> None:
    made = AgentWork()
    made.run("python3 -m pytest tests", TESTED)
    made.compact()
    _failing(made)
    made.run("python3 -m pytest tests", f"{TESTED} this time")
    assert made.needs() == [], "it is met for the first time"


def test_a_path_that_is_known_to_be_missing_is_tried_again() -> None:
    made = AgentWork()
    missing = "ENOENT: no such file or directory"
    before = made.call("read", missing, error=True, path="/w/gone.py")
    made.call("read", missing, error=True, path="/w/made.py")
    made.call("write", "wrote it", path="/w/made.py", content="x")
    made.compact()
    after = made.call("read", missing, error=True, path="/w/gone.py")
    made.call("read", missing, error=True, path="/w/made.py")
    assert made.needs() == [(NeedKind.MISSING_PATH, before, after)], "the other one was made"


def test_an_edit_that_takes_back_an_edit() -> None:
    made = AgentWork()
    before = made.edit("timeout = 30  # seconds", "timeout = 60  # seconds")
    made.compact()
    after = made.edit("timeout = 60  # seconds", "timeout = 30  # seconds")
    assert made.needs() == [(NeedKind.UNDONE_EDIT, before, after)]


def test_a_patch_that_takes_back_a_patch() -> None:
    made = AgentWork()
    head = "*** Begin Patch\n*** Update File: a.py\n@@\n"
    patch = f"{head}-timeout = 30\n+timeout = 60\n*** End Patch"
    before = made.call("apply_patch", "Success", input=patch) - 1
    made.compact()
    back = f"{head}-timeout = 60\n+timeout = 30\n*** End Patch"
    after = made.call("apply_patch", "Success", input=back) - 1
    assert made.needs() == [(NeedKind.UNDONE_EDIT, before, after)]


def test_an_edit_that_the_user_wants_back_is_taken_back_for_a_reason() -> None:
    made = AgentWork()
    made.edit("timeout = 30  # seconds", "timeout = 60  # seconds")
    made.compact()
    made.user("Please undo the change of the timeout.")
    made.edit("timeout = 60  # seconds", "timeout = 30  # seconds")
    assert made.needs() == []


def test_what_was_put_in_as_a_trial_may_be_taken_out() -> None:
    made = AgentWork()
    made.edit("import os\nimport re", "import os\nimport pdb\nimport re")
    made.compact()
    made.edit("import os\nimport pdb\nimport re", "import os\nimport re")
    assert made.needs() == []


# what a person said ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "again",
    [
        RULE,
        "Please always use Postgres for the jobs table, never the local sqlite file!",
        "As I said, the jobs table goes to Postgres.",
        "That's not what I asked, the jobs table must use Postgres",
    ],
)
def test_the_user_says_an_instruction_again(again: str) -> None:
    made = AgentWork()
    before = made.user(f"Build the queue. {RULE}")
    made.compact()
    after = made.user(again)
    assert made.needs() == [(NeedKind.REQUEST, before, after)]


def test_of_many_places_the_first_ones_are_named() -> None:
    made = AgentWork()
    made.user(RULE)
    made.compact()
    made.user(RULE)
    (need,) = made.found().needs
    at = [need._replace(repeat=need.repeat._replace(after=place)) for place in range(10, 17)]
    words = "asked for again by the user at #10, #11, #12, #13"
    assert needs_words(at[:4]) == words
    assert needs_words(at) == f"{words} and 3 more"


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("Commit this.", "Commit this."),
        ("Run the tests again.", "Run the tests again."),
        (RULE, "Use Postgres for the sessions table as well."),
        (RULE, "As I said, the weather is fine."),
        ("Create a custom light theme for me and open it in the editor.",
         "Create a custom dark theme for me and open it in the editor."),
        ("why is this shown?\n\n  v main *  always use Postgres for the jobs table, never sqlite",
         "  v main *  always use Postgres for the jobs table, never sqlite"),
    ],
)  # fmt: skip
def test_habit_other_things_and_what_was_pasted_are_not_said_again(first: str, again: str) -> None:
    made = AgentWork()
    made.user(first)
    made.compact()
    made.user(again)
    assert made.needs() == []


def test_what_nobody_typed_and_what_is_still_seen_is_not_said_again() -> None:
    made = AgentWork()
    made.user(RULE, synthetic=True)
    kept = made.user("Never touch the files below vendor, they are generated from elsewhere.")
    made.compact(kept)
    made.user(RULE)
    made.user("Never touch the files below vendor, they are generated from elsewhere.")
    assert made.needs() == []


# what would be expected ------------------------------------------------------------------------


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
    assert " in the first " in expected_words(expected)
    assert "1 of these came soon after a compaction; expected without" in path_words(made.found())


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
    assert expected_words(None) == TOO_SHORT and TOO_SHORT in path_words(found)
    assert expected_words(Expected(0.04, 0, 22, 21, 20)) == TOO_LATE
    # What is compared is told alone: nothing of it is compared with nothing.
    assert expected_words(Expected(0.04, 0, 22, 21, 20, soon=6)) == (
        "6 of these came in the first 21 entries after it, all first done too long before it to be "
        "compared."
    )
    compared = "; where nothing was compacted, as many entries have 1.3 such (20 places compared)."
    for soon, found, words in (
        (6, 4, "6 of these came in the first 21 entries after it, 4 first done in the 22 entries "
               "before what was kept"),
        (6, 6, "6 of these came in the first 21 entries after it"),
        (0, 0, "None of these came in the first 21 entries after it"),
    ):  # fmt: skip
        assert expected_words(Expected(1.3, found, 22, 21, 20, soon)) == words + compared


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


# the table of tools ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "path", "lines"),
    [
        ("Read", {"file_path": "/w/a", "offset": 5, "limit": 10}, "read", "/w/a", (5, 14)),
        ("copilot_readFile", {"filePath": "a", "startLine": 2, "endLine": 9}, "read", "a", (2, 9)),
        ("view", {"path": "C:\\w\\a", "view_range": [3, 4]}, "read", "C:/w/a", (3, 4)),
        ("read_files", {"files": [{"path": "a"}]}, "read", "a", (1, 0)),
        ("exec_command", {"cmd": "nl -ba 'b c' | sed -n 4,8p", "workdir": "/w"}, "read", "/w/b c",
         (4, 8)),
        ("run_shell_command", {"command": "head -n 20 ./a"}, "read", "a", (1, 20)),
        ("shell", {"command": ["bash", "-lc", "cd /w; cat a"]}, "read", "/w/a", (1, 0)),
        ("replace", {"file_path": "a", "old_string": "x"}, "edit", "a", (1, 0)),
        ("apply_patch", {"input": "*** Begin Patch\n*** Add File: n.py\n+x"}, "write", "n.py",
         (1, 0)),
        ("LS", {"path": "/w"}, "list", "", (1, 0)),
        ("execute_command", {"command": "rg x | head"}, "search", "", (1, 0)),
        ("bash", {"command": "cat a b"}, "look", "", (1, 0)),
        ("bash", {"command": "cat <<EOF > a\nx\nEOF"}, "run", "", (1, 0)),
        ("bash", {"command": "echo 'not closed"}, "run", "", (1, 0)),
        ("never-heard-of", {"path": 3}, "other", "", (1, 0)),
    ],
)  # fmt: skip
def test_the_tools_of_all_agents_in_one_vocabulary(
    tool: str, arguments: object, kind: str, path: str, lines: tuple[int, int]
) -> None:
    (action,) = tool_actions(tool, arguments)
    assert (action.kind, action.path, (action.first, action.last)) == (
        ActionKind(kind), path, lines,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "changes_any", "written"),
    [
        ("git checkout main", True, ()),
        ("npx prettier --write .", True, ()),
        ("git commit -m 'fix: a'", False, ()),
        ("echo x > out.txt 2>&1", False, ("out.txt",)),
        ("grep -rn x . 2>/dev/null", False, ()),
    ],
)
def test_what_a_command_changes(command: str, changes_any: bool, written: tuple[str, ...]) -> None:
    (action,) = tool_actions("bash", {"command": command})
    assert (action.changes_any, action.written) == (changes_any, written)


def test_several_files_that_one_command_reads() -> None:
    made = AgentWork()
    made.read("/w/a.py", of=LONG)
    made.compact()
    both = "cd /w && cat a.py && echo ==== && cat b.py && cat c.py"
    missing = f"{LONG}\n====\n{OTHER}\ncat: c.py: No such file or directory"
    again = made.run(both, missing, error=True)
    made.compact()
    later = made.run(both, missing, error=True)
    assert made.needs() == [
        (NeedKind.READ, 1, again), (NeedKind.READ, again, later),
        (NeedKind.MISSING_PATH, again, later), (NeedKind.READ, again, later),
    ]  # fmt: skip
    needs = made.found().needs
    assert [need.repeat.text for need in needs] == ["/w/a.py", "/w/a.py", "/w/c.py", "/w/b.py"]
    # What they took is shared among them by their length.
    one, other = needs[1].repeat.tokens, needs[3].repeat.tokens
    assert one + other < made.tree.columns.estimate[later] < 1.1 * (one + other)


def test_reads_that_cannot_be_told_apart_are_one_command() -> None:
    made = AgentWork()
    both = "cat a.py b.py; cat c.py"
    before = made.run("cat a.py; cat b.py", f"{LONG}\n{OTHER}")
    made.compact()
    again = made.run("cat a.py; cat b.py", f"{LONG}\n{OTHER}")
    assert made.needs() == [(NeedKind.COMMAND, before, again)]
    made = AgentWork()
    made.run(both, LONG, error=True)
    made.compact()
    made.run(both, LONG, error=True)
    assert made.needs() == []


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


def test_what_was_shown_beside_a_file_that_is_told_apart_is_not_needed_again() -> None:
    made = AgentWork()
    made.read("/w/b.py", of=LONG)
    made.compact()
    made.run("cd /w && cat a.py && echo ==== && cat b.py && cat c.py",
             f"{OTHER}\n====\n{LONG}\n{FILE}")  # fmt: skip
    made.read("/w/b.py", of=LONG)
    assert made.needs() == []


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
    found = [need.repeat.text for need in made.found().needs]
    assert found == [f"/w/{name}.py" for name in files]


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


def test_of_a_read_that_was_partly_new_both_sizes_are_said() -> None:
    made = AgentWork()
    made.read(first=1, count=100, of=LONG)
    made.compact()
    made.read(first=51, count=100, of=LONG)
    repeat = made.need().repeat
    assert 0 < repeat.tokens < repeat.read
    assert repeated_words([made.need()]) == (
        f"It took {repeat.tokens:,} of the {repeat.read:,} that were read the second time."
    )


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
