"""What the rows of tool results say: tool, target, outcome."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.session.entries import ToolCallBlock, ToolResultMessage, text_content
from explorer.session.kinds import Flag, Kind
from explorer.session.rows import large_row, result_row, stored_row
from explorer.session.text import plain_line, prompt_line, title_line


def row(tool: str, given: dict[str, Any], text: str, *, is_error: bool = False) -> str:
    body = ToolResultMessage("c", tool, text_content(text), is_error)
    return result_row(body, ToolCallBlock("c", tool, given), "/work/app")


NUMBERED = "\n".join(f"{at:>6}→line" for at in range(1, 149))
CODEX = "Chunk ID: 4f\nWall time: 0.1 seconds\nProcess exited with code {}\nOutput:\n{}"
FAILED = "Traceback (most recent call last):\n  File x\nModuleNotFoundError: No module named 'y'\n"
TESTED = "....F\nFAILED tests/a.py::test_b\n=== 1 failed, 60 passed in 2.31s ===\n"


PART = (
    "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines {}-{} of 927 total "
    "lines.\nAction: To read more of the file, use start_line: 95.\n\n--- FILE CONTENT "
    "(truncated) ---\na\nb"
)
PERSISTED = "<persisted-output>\nOutput too large (60KB). Preview:\na\n</persisted-output>"


@pytest.mark.parametrize(
    ("tool", "given", "text", "is_error", "said"),
    [
        ("Read", {"file_path": "/work/app/src/retry.py"}, NUMBERED, False,
         "read src/retry.py, 148 lines"),
        ("read", {"path": "a.py"}, "x = 1\n", False, "read a.py, 1 line"),
        ("exec_command", {"cmd": "sed -n 1,3p src/a.py"}, CODEX.format(0, "a\nb\nc\n"), False,
         "read src/a.py, 3 lines"),
        ("read_file", {"file_path": "a.py", "start_line": 60}, PART.format(60, 1095), False,
         "read a.py, lines 60 to 1,095"),
        ("Read", {"file_path": "a.py"}, PERSISTED, False, "read a.py"),
        ("exec_command", {"cmd": "git status"}, CODEX.format(0, "a\nb\n"), False,
         "exec_command git status, 2 lines"),
        ("exec_command", {"cmd": "python -m app"}, CODEX.format(1, FAILED), False,
         "exec_command python -m app exited 1: ModuleNotFoundError: No module named 'y'"),
        ("Bash", {"command": "cd /work/app && git branch"}, "main", False, "Bash git branch: main"),
        ("bash", {"command": "mkdir -p a"}, "(no output)", False, "bash mkdir -p a, no output"),
        ("Bash", {"command": "make"}, "Exit code 2\nfatal: no rule", True,
         "Bash make exited 2: fatal: no rule"),
        ("bash", {"command": "make"}, "it broke\n\nCommand exited with code 2", True,
         "bash make exited 2: it broke"),
        ("bash", {"command": "pytest -q"}, TESTED, False, "pytest: 1 failed, 60 passed"),
        ("bash", {"command": "pytest -q; pytest -q"}, f"{TESTED}\n61 passed in 2.10s", False,
         "pytest: 1 failed, 60 passed, then 61 passed"),
        ("bash", {"command": "pytest -q; pytest -q"}, f"9 passed in 1.00s\n{TESTED}", False,
         "pytest: 1 failed, 60 passed"),
        ("bash", {"command": "pytest -q"}, TESTED, True,
         "bash pytest -q failed: pytest: 1 failed, 60 passed"),
        ("bash", {"command": "npx vitest"}, " Tests  2 failed | 5 passed (7)", False,
         "tests: 2 failed, 5 passed"),
        ("edit", {"path": "src/a.py", "oldText": "a\nb", "newText": "a\nc\nd\ne"}, "done", False,
         "edited src/a.py (+3 -1)"),
        ("edit", {"path": "src/a.py", "oldText": "a\n", "newText": "a\n\nb\n\n"}, "done", False,
         "edited src/a.py (+3 -0)"),
        ("write", {"path": "a.py", "content": "x\ny\n"}, "ok", False, "wrote a.py, 2 lines"),
        ("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"},
         "<tool_use_error>String to replace not found</tool_use_error>", True,
         "Edit a.py failed: String to replace not found"),
        ("grep", {"pattern": "x"}, "a.py:1: x\nb.py:2: x", False, "grep x: 2 lines"),
        ("Grep", {"pattern": "x"}, "Found 12 files\na\nb", False, "Grep x: 12 files"),
        ("mcp__issues__list", {"query": "open"}, '{"issues": []}', False,
         "mcp__issues__list open, JSON of 14 characters"),
        ("ask", {}, "**Yes**, `do` it", False, "ask: Yes, do it"),
    ],
)  # fmt: skip
def test_a_result_says_tool_target_and_outcome(
    tool: str, given: dict[str, Any], text: str, is_error: bool, said: str
) -> None:
    assert row(tool, given, text, is_error=is_error) == said


def test_a_result_whose_call_is_not_known_says_what_it_can() -> None:
    body = ToolResultMessage("c", "bash", text_content("one\ntwo"))
    assert result_row(body, None) == "bash, 2 lines"
    assert result_row(ToolResultMessage("c", "", ()), None) == "tool, no output"
    call = ToolCallBlock("c", "read", {"path": "big.log"})
    assert large_row(call, "read", 21_000) == "read big.log, about 84 KB"


@pytest.mark.parametrize("given", [None, [], "x", 7, {"path": 3}, {"edits": [1]}, {"command": []}])
def test_what_a_model_wrote_is_never_too_odd(given: Any) -> None:
    for tool in ("read", "edit", "bash", "apply_patch", "grep", "other"):
        body = ToolResultMessage("c", tool, text_content("x\ny"))
        said = result_row(body, ToolCallBlock("c", tool, given))
        assert said and "\n" not in said


def test_a_long_command_is_cut_so_that_its_outcome_is_seen_and_no_secret_is_halved() -> None:
    said = row(
        "bash", {"command": "git log --oneline --decorate --max-count=30 origin/main"}, "a\nb"
    )
    assert said == "bash git log --oneline --decorate…, 2 lines"
    key = "sk-ant-api03-" + "aB3dE6gH9j" * 9
    assert "aB3" not in row("bash", {"command": f"curl -H x-api-key:{key} https://x.y/z"}, "a\nb")


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("**Found it**: `a.py`", "Found it: a.py"),
        ("## The *plan*", "The plan"),
        ("- [ ] read [the docs](https://x.y/z) first", "read the docs first"),
        ("> quoted __text__", "quoted text"),
        ("call `f(*args, **kwargs)` now", "call f(*args, **kwargs) now"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
        ("**Fix `x`** soon", "Fix x soon"),
        ("-1 is no list", "-1 is no list"),
        ("", ""),
    ],
)
def test_a_line_of_markdown_loses_its_marks(line: str, plain: str) -> None:
    assert plain_line(line) == plain


def test_calls_keep_their_asterisks() -> None:
    assert stored_row("find **/*.py", Kind.ASSISTANT, Flag.HAS_TOOL_CALL) == "find **/*.py"
    assert stored_row("**Done**", Kind.ASSISTANT, Flag.HAS_TEXT) == "Done"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            '{"type":"task_assignment","taskId":"17","subject":"UI-6: Add `share` \\u2192 page"',
            "UI-6: Add share → page",
        ),
        ('{"type":"task_assignment","subject":"UI-6: Add the qu…', "UI-6: Add the qu…"),
        (
            '{"type":"idle_notification","from":"docs","idleReason":"available",'
            '"summary":"[to verify] Page done"}',
            "Idle notification from docs: [to verify] Page done",
        ),
        ('{"type":"shutdown_approved","from":"docs"}', "Shutdown approved from docs"),
        ('{"type": "module", "name": "todo"}', '{"type": "module", "name": "todo"}'),
        ('{"type":"module","name":"todo"}', '{"type":"module","name":"todo"}'),
        ("## The *plan*", "The plan"),
    ],
)
def test_what_agents_send_each_other_is_shown_by_its_subject(line: str, shown: str) -> None:
    assert stored_row(line, Kind.USER, 0) == shown


def test_a_line_that_leads_to_the_next_is_shown_with_it() -> None:
    plan = "Implement the following plan:\n\n# Install Chakra UI v3\n\n## Context"
    assert prompt_line(plan) == "Implement the following plan: Install Chakra UI v3"
    assert (
        prompt_line('<note from="lead">\nYou write the router.\n</note>') == "You write the router."
    )
    assert prompt_line("<App />") == "<App />"
    assert prompt_line("brainstorm:\n- one\n- two") == "brainstorm: one"
    assert prompt_line("Why:") == "Why:" and prompt_line("Do it.\nNow") == "Do it."


def test_a_title_is_one_sentence_cut_at_a_word() -> None:
    assert title_line("Fix the retry of the uploads. Then run the tests.") == (
        "Fix the retry of the uploads."
    )
    assert title_line("ok. now fix the parser") == "ok. now fix the parser"
    assert title_line("**Fix** `a.py`") == "Fix a.py"
    cut = title_line("word " * 40)
    assert len(cut) <= 80 and cut.endswith("word…")
    assert len(title_line("x" * 200)) <= 81


def test_the_paths_of_calls_are_those_from_the_session_s_folder() -> None:
    calls, said = int(Flag.HAS_TOOL_CALL), int(Flag.HAS_TOOL_CALL | Flag.HAS_TEXT)
    two = "Edit /w/src/a.py · Read /w/b.py"
    assert stored_row(two, Kind.ASSISTANT, calls, "/w/") == "Edit src/a.py · Read b.py"
    assert stored_row(two, Kind.ASSISTANT, calls, "/other") == two
    assert stored_row(two, Kind.ASSISTANT, calls) == two
    assert stored_row("See /w/a.py", Kind.ASSISTANT, said, "/w") == "See /w/a.py"
