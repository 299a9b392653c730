"""Commands that are run again, failures that are met again, and edits that are taken back."""

from __future__ import annotations

import pytest

from explorer.audit.repeats import NeedKind
from explorer.audit.words import needs_words
from tests.audit.agent_work import TESTED, AgentWork

COMMAND, SEARCH = NeedKind.COMMAND, NeedKind.SEARCH
REFUSED = "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>"


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


CHECK, CLEAN = "mise run lint 2>&1", "[lint] $ golangci-lint run ./... took 3 s\n0 issues."


@pytest.mark.parametrize(
    ("command", "output"),
    [("mise run lint 2>&1 | tail -20", CLEAN.replace("3", "5")),
     ("mise run lint | grep -c 'x|y'", "0"),
     ("mise run lint 2>/dev/null | tail -1", "0 issues."),
     ("mise run build && mise run lint", f"built in 3 s\n{CLEAN}"),
     ("make all", CLEAN)],
)  # fmt: skip
def test_what_had_come_back_since_by_another_command_is_not_needed(
    command: str, output: str
) -> None:
    made = AgentWork()
    before = made.run(CHECK, CLEAN)
    made.run(command, output)
    made.compact()
    after = made.run(CHECK, CLEAN)
    assert made.needs() == [(COMMAND, before, after)], "nothing came between"
    since = AgentWork()
    since.run(CHECK, CLEAN)
    since.compact()
    since.run(command, output)
    since.run(CHECK, CLEAN)
    assert since.needs() == []


@pytest.mark.parametrize("output", ["[lint] $ golangci-lint run ./... took 3 s", "1 issue."])
def test_what_had_come_back_in_part_is_needed(output: str) -> None:
    made = AgentWork()
    before = made.run(CHECK, CLEAN)
    made.compact()
    made.run("make all", output)
    after = made.run(CHECK, CLEAN)
    assert made.needs() == [(COMMAND, before, after)]


def test_what_the_user_showed_since_is_not_needed() -> None:
    made = AgentWork()
    made.run(CHECK, CLEAN)
    made.compact()
    made.user(f"Look at this:\n{CLEAN}")
    made.run(CHECK, CLEAN)
    assert made.needs() == []


def test_a_check_that_a_kept_tail_shows_in_another_form_is_not_needed() -> None:
    made = AgentWork()
    made.run(CHECK, CLEAN)
    kept = made.run(f"{CHECK} | tail -20", CLEAN)
    made.compact(kept - 1)
    made.run(CHECK, CLEAN)
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


def test_what_another_search_had_found_since_is_not_needed() -> None:
    made = AgentWork()
    made.call("grep", "a.py:3: timeout", pattern="timeout", path="/w")
    made.compact()
    made.call("grep", "a.py:3: timeout\nb.py:7: retries", pattern="timeout|retries", path="/w")
    made.call("grep", "a.py:3: timeout", pattern="timeout", path="/w")
    assert made.needs() == []


def _failing(made: AgentWork, command: str = "python -m pytest tests") -> int:
    return made.run(command, "bash: python: command not found, exit 127", error=True)


def test_a_failure_that_was_solved_is_met_again() -> None:
    made = AgentWork()
    before = _failing(made)
    made.run("python3 -m pytest tests", "3 passed in 0.2 s, nothing else to be told")
    made.compact()
    after = _failing(made)
    assert made.needs() == [(NeedKind.FAILURE, before, after)]


@pytest.mark.parametrize("is_error", [True, False])
def test_a_failure_that_another_command_met_since_is_not_needed(is_error: bool) -> None:
    made = AgentWork()
    _failing(made)
    made.run("python3 -m pytest tests", "3 passed in 0.2 s, nothing else to be told")
    made.compact()
    made.run("make report", "bash: python: command not found, exit 127", error=is_error)
    _failing(made)
    assert made.needs() == []


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
