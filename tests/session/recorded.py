"""What is made of commands, texts, values and trees, as a table: ``python -m
tests.session.recorded`` writes it anew. After a change that is meant, look at its difference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.session import text as plain_text
from explorer.session import visible_text as visible
from explorer.session.context import context_at, latest_on_path
from explorer.session.edits import shape_at
from explorer.session.file_tools import file_ops
from explorer.session.json_values import recorded_count, time_ms, token_count
from explorer.session.kinds import Kind
from explorer.session.result_text import (
    bare_lines,
    exit_code,
    failed,
    is_diff,
    numbered_lines,
    output_of,
)
from explorer.session.shell_commands import shell_command
from explorer.session.text_difference import changed_lines, file_diff, word_differences
from explorer.session.tool_actions import joined, same_path, tool_actions
from tests.compaction.mixed_sessions import Dice, session_of
from tests.tables import short, shown

PLACE = Path(__file__).parent / "data" / "values.txt"
_LINE = 150

COMMANDS = (
    "cat a.py", "cat -n 'b c.py'", "sed -n 3,9p a.py", "sed -n '1,2p;7p;9,$p' b.py",
    "head -20 a.py", "head -n 5 a.py b.py", "tail -3 a.py", "nl -ba a.py", "echo ---", "echo",
    "printf '\\n==\\n'", "grep -rn x src", "rg --files", "ls -la src", "pwd", "git status",
    "git -C w diff v1 --stat", "git log -3", "git show HEAD:a.py", "git commit -am 'x; y'",
    "git stash", "make all", "pytest -q", "python -m venv .", "rm -rf b", "cp a b",
    "mv -f a.py b.py", "tee log", "sort", "head -3", "wc -l", "sleep 2", "curl -s http://x",
    "FOO=1 BAR=2 cat a.py", "sudo cat a.py", "time make", "cd /w/x", "sed -i s/a/b/ a.py",
    "ruff format .", "find . -name '*.py' -delete", "Get-Content a.py", "bat --style=plain a.py",
    "awk '{print}' a.py", "true", ":", "npx prettier -w a.ts", "docker ps", "cat a.py > b.py",
    "make 2>&1", "cat < a.py", "echo $(x)", "ssh h ls", "less a.py", "gh pr view 3",
)  # fmt: skip
JOINTS = (" && ", "; ", " | ", " || ", "\n", " 2>/dev/null; ", " & ")
TEXTS = (
    "", " ", "plain", "# A heading\n\nthe text. And more?", "- [ ] a task `code` **bold**",
    "/model opus", "<command-name>/clear</command-name>", "x" * 81, "word " * 40,
    "line one\n\nline three\n", "Please fix:\n```py\nx = 1\n```\n",
    "a\x1b[31mred\u202e\x00\ud800é", "[link](http://x) ![p](y)", "1. one\n2. two",
    "> quoted\n> more", "  indented\ttabs", "None", "ok", "...", "—", "Yes, go on.",
    "## Goal\n\n- Make it fast\n## Next", "snake_case_name", "camelCaseName", "HTTPServer2",
    "a|b\\c", "値段は高い", "https://example.org/a?b=1", "`tick` and ``two``",
    "\r\nwin\r\n", "tail   ",
)  # fmt: skip
VALUES = (
    None, True, False, 0, 1, -1, 2.5, "3", "x", "", [], {}, 10**12, 10**13, -(10**13), 1e300,
    float("nan"), "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678+02:00", "2026-01-02", "0",
    2**63,
)  # fmt: skip
OUTPUTS = (
    "", "a\nb\n", "1\ta\n2\tb\n", "  7→a\n  8→b", "     1→x\n     2→y\n\nmore",
    "@@ -1,2 +1 @@\n-a\n+b\n c",
    "cat: a.py: No such file or directory\n--\nx\n",
    "Exit code 1\nx\n--\ny\n", "x\n--\ny\n--\nz",
    "Chunk ID: 1\nWall time: 2 s\nProcess exited with code 3\nOutput:\nx\ny",
    "src/a.py:3:def x\n--\n", "<path>a</path>\n<content>\n1| x\n</content>",
    "Command: ls\nOutput: x\nExit Code: 2", "a<system-reminder>be good</system-reminder>\nb",
    '{"output":"x","metadata":{"exit_code":4}}', "8→a\n7→b", "\n\n", "==\nx\n==\ny\n",
)  # fmt: skip
_UPDATED = "*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y"
TOOLS = (
    "read", "Read", "write", "Write", "edit", "Edit", "MultiEdit", "apply_patch", "bash", "Bash",
    "shell", "exec_command", "read_file", "read_files", "view", "str_replace_editor",
    "create_file", "Grep", "Glob", "LS", "NotebookEdit", "Task", "replace_string_in_file",
    "run_in_terminal", "odd",
)  # fmt: skip
ARGUMENTS: tuple[dict[str, Any], ...] = (
    {"path": "a.py"}, {"file_path": "/w/./a.py", "offset": 3, "limit": 4},
    {"filePath": "a.py", "content": "x"}, {"path": "a.py", "oldText": "x", "newText": "y"},
    {"path": "a.py", "edits": [{"old_text": "x", "new_text": "y"}, 3]},
    {"command": "cat a.py", "cwd": "/w"}, {"command": ["bash", "-lc", "rm a.py"]}, {"cmd": "ls"},
    {"input": f"*** Begin Patch\n*** Add File: n.py\n+x\n{_UPDATED}\n*** End Patch"},
    {"files": [{"path": "a.py", "lines": [1, 2]}, "b.py"]}, {"pattern": "x", "path": "src"},
    {"command": "view", "path": "a.py", "view_range": [2, -1]},
    {"command": "create", "path": "a.py", "file_text": "x"},
    {"file_path": "a.py", "old_string": "x", "new_string": "y", "replace_all": True},
    {"notebook_path": "a.ipynb"}, {},
)  # fmt: skip


def commands() -> Iterator[str]:
    """Command lines, alone and joined."""
    dice = Dice(5)
    lines = [*COMMANDS]
    for _ in range(320):
        line = dice.of(COMMANDS)
        for _ in range(1 + dice(3)):
            line += dice.of(JOINTS) + dice.of(COMMANDS)
        lines.append(line)
    for line in lines:
        yield f"{line!r}: {shown(shell_command(line))}"


def texts() -> Iterator[str]:
    """Texts for lists and for reading, differences between them, and what results say."""
    one_line = (
        plain_text.as_prose, plain_text.well_formed, plain_text.legible, plain_text.first_line,
        plain_text.name_in_words, plain_text.plain_line, plain_text.prompt_line,
        plain_text.title_line, plain_text.summary_line, plain_text.says_nothing,
        plain_text.without_folder,
        visible.visible, visible.visible_line, visible.width_of, visible.exact, visible.size_words,
        visible.end_of, visible.plain, visible.code, visible.block,
    )  # fmt: skip
    for text in TEXTS:
        yield f"== {text!r}"
        yield from (f"  {one.__name__} {shown(one(text))}" for one in one_line)
        yield f"  {shown(list(visible.folded(text, 7)))}"
    dice = Dice(9)
    for at in range(40):
        old = [f"{dice.of('abcdef')} {dice.of(('one', 'two', 'three'))}" for _ in range(dice(14))]
        new = [line for line in old if dice(4)]
        for _ in range(dice(4)):
            new.insert(dice(len(new) + 1), f"{dice.of('xyz')} new")
        one, other = "\n".join(old), "\n".join(new) + "\n" * dice(2)
        yield shown([changed_lines(one, other, at % 4), word_differences(one, other)])
        made = file_diff("a.py", one if at % 5 else None, other)
        yield shown(made)
    for output in OUTPUTS:
        said = [output_of(output), exit_code(output), failed(output), is_diff(output)]
        yield f"{output!r}: {shown([*said, numbered_lines(output, 4), bare_lines(output)])}"


def values() -> Iterator[str]:
    """Numbers and times of JSON, and what calls do."""
    for value in VALUES:
        yield f"{value!r}: {shown([time_ms(value), recorded_count(value), token_count(value)])}"
    for tool in TOOLS:
        for given in (*ARGUMENTS, "text", None):
            done = [file_ops(tool, given, "c"), tool_actions(tool, given)]
            yield f"{tool} {shown(given)}: {shown(done)}"
            yield f"  {plain_text.call_title(tool, given)}"
    paths = ("a", "./a", "/w/a", "b/../a", "C:\\w\\a", "~/a", "", "a/", "//x")
    for one in paths:
        yield f"{one!r}: {shown([[joined(other, one), same_path(one, other)] for other in paths])}"


def trees() -> Iterator[str]:
    """Trees of rare things: their shape, paths and contexts."""
    for seed in range(6):
        tree = session_of(seed, 60).tree
        yield shown([tree.roots(), tree.leaves(), tree.branch_points(), tree.labels(), tree.name()])
        for at in range(-1, len(tree), 3):
            path = tree.path(at)
            facts = [list(path.ranges), len(path), tree.children(at)]
            if at >= 0:
                other = at * 7 % len(tree)
                facts += [tree.common_ancestor(at, other), tree.is_ancestor(other, at)]
                facts += [tree.deepest_leaf(at), tree.number(at)]
            context = context_at(tree, at)
            facts += [context.messages, dict(context.again), dict(context.omitted)]
            found = [latest_on_path(tree, path, kind) for kind in (Kind.COMPACTION, Kind.USER)]
            facts += [*found, shown(shape_at(tree, at))]
            yield f"#{at}: {shown(facts)} {shown(dict(context.pruned))} {context.model}"


def table() -> str:
    """All of it."""
    told = (*commands(), *texts(), *values(), *trees())
    lines = (short(line.replace("\n", "⏎"), _LINE) for line in told)
    return "\n".join([*lines, ""]).encode("utf-8", "backslashreplace").decode()


if __name__ == "__main__":
    PLACE.parent.mkdir(exist_ok=True)
    PLACE.write_text(table(), encoding="utf-8")
