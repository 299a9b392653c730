"""What a call does, read from its words: one vocabulary for the tools of all agents."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.session.result_text import (
    bare_lines,
    exit_code,
    failed,
    is_running,
    numbered_lines,
    output_of,
    printed_files,
)
from explorer.session.shell_commands import FileLines, ShellCommand, ShellWork, shell_command
from explorer.session.tool_actions import (
    ActionKind,
    ToolAction,
    is_absolute,
    joined,
    same_path,
    tool_actions,
)

READS: dict[str, tuple[Any, ...]] = {
    "cat a.py": ("a.py", 1, 0),
    "/usr/bin/cat a.py": ("a.py", 1, 0),
    "cat -n a.py": ("a.py", 1, 0, False, True),
    "cat 'a b.py' 2>/dev/null": ("a b.py", 1, 0),
    'cat "a\\"b.py"': ('a"b.py', 1, 0),
    "cat a\\ b.py": ("a b.py", 1, 0),
    "cat src\\main.py": ("src\\main.py", 1, 0),
    "sudo cat a.py": ("a.py", 1, 0),
    "LANG=C timeout 5 cat a.py": ("a.py", 1, 0),
    "sed -n 5,9p a.py": ("a.py", 5, 9),
    "sed -n '5,$p' a.py": ("a.py", 5, 0),
    "sed -n 7p a.py": ("a.py", 7, 7),
    "head a.py": ("a.py", 1, 10),
    "head -3 a.py": ("a.py", 1, 3),
    "head -n 4 a.py": ("a.py", 1, 4),
    "head -n5 a.py": ("a.py", 1, 5),
    "cat a.py | head -6": ("a.py", 1, 6),
    "cat a.py | tail -n +6": ("a.py", 6, 0),
    "tail -n +7 a.py": ("a.py", 7, 0),
    "tail -n+7 a.py": ("a.py", 7, 0),
    "nl -ba a.py | sed -n 2,8p": ("a.py", 2, 8, False, True),
    "sed -n 5,9p \\$x/a.py": ("$x/a.py", 5, 9),
    "cat '$x/a.py'": ("$x/a.py", 1, 0),
    "cat $(go env GOROOT)/a.go": ("$(go env GOROOT)/a.go", 1, 0),
    "test -f a.py && cat a.py || true": ("a.py", 1, 0),
    "Get-Content a.py": ("a.py", 1, 0),
}
"""A file, the first and last line that is printed, 0 for the end, and whether they are numbered."""


@pytest.mark.parametrize(("line", "read"), READS.items())
def test_a_command_that_prints_a_part_of_one_file_is_a_read(
    line: str, read: tuple[Any, ...]
) -> None:
    lines = FileLines(*read)
    assert shell_command(line) == ShellCommand(ShellWork.READ, (lines,))
    inside = shell_command(f"cd /w && {line}")
    assert inside == ShellCommand(ShellWork.READ, (lines,), "/w")


SEVERAL = {
    "cat a; cat b": (FileLines("a"), FileLines("b")),
    "sed -n 1,9p a && sed -n 1,9p b": (FileLines("a", 1, 9, stops=True), FileLines("b", 1, 9)),
    "cat a || true && cat b": (FileLines("a"), FileLines("b")),
    "sed -n '1,3p;7p;9,$p' a": (FileLines("a", 1, 3), FileLines("a", 7, 7), FileLines("a", 9)),
    "nl -ba a | sed -n '1,3p;7,8p'": (
        FileLines("a", 1, 3, numbered=True), FileLines("a", 7, 8, numbered=True),
    ),
    "cat a b": (FileLines("a"), FileLines("b")),
    "cat a\necho === b\ncat b": (FileLines("a"), "=== b\n", FileLines("b")),
    "cat a && printf '\\n--\\n' && cat b": (
        FileLines("a", stops=True), "\n--\n", FileLines("b")
    ),
}  # fmt: skip
"""What a command prints that reads several parts of files."""


@pytest.mark.parametrize(("line", "prints"), SEVERAL.items())
def test_a_command_can_read_several_files(line: str, prints: tuple[FileLines | str, ...]) -> None:
    assert shell_command(line) == ShellCommand(ShellWork.READ, prints)


MIXED = {
    "cat a && sed -n 1,9p b && rg x c": (
        ShellWork.LOOK, (FileLines("a", stops=True), FileLines("b", 1, 9, stops=True), ""), True,
    ),
    "rg x; sed -n 1,9p b": (ShellWork.SEARCH, ("", FileLines("b", 1, 9)), False),
    "cat a || cat b": (ShellWork.LOOK, (FileLines("a"), ""), False),
    "cat a; find . -name x": (ShellWork.LOOK, (FileLines("a"), ""), False),
    "cat a; ls | grep x": (ShellWork.LOOK, (FileLines("a"), ""), False),
    "cat a && npm test > log": (ShellWork.RUN, (FileLines("a", stops=True), ""), False),
    "cat a; echo; cat b": (ShellWork.LOOK, (FileLines("a"), "", FileLines("b")), False),
    "cat a; cd w; cat b": (ShellWork.RUN, (FileLines("a"), "", ""), False),
    "echo $x; cat a": (ShellWork.LOOK, ("", FileLines("a")), False),
    "cat a & cat b": (ShellWork.LOOK, (), False),
    "cd w | cat a": (ShellWork.LOOK, (), False),
    "set -x; cat a": (ShellWork.LOOK, (), False),
    "cat <(git show a)": (ShellWork.LOOK, (), False),
}  # fmt: skip
"""What a command prints that reads files among other things, and whether it ends with a search."""


@pytest.mark.parametrize(("line", "found"), MIXED.items())
def test_a_command_can_read_files_among_other_things(
    line: str, found: tuple[ShellWork, tuple[FileLines | str, ...], bool]
) -> None:
    command = shell_command(line)
    assert (command.work, command.prints, command.finds_last) == found


PRINTED = [
    ("cat a", "1\n2\n", ["1\n2\n"]),
    # Parts that are all there, or end with their one file.
    ("sed -n 1,2p a; sed -n 1,1p b", "a1\na2\nb1\n", ["a1\na2\n", "b1\n"]),
    ("sed -n '1,2p;4,9p' a", "1\n2\n4\n", ["1\n2\n", "4\n"]),
    # Which of two files is short cannot be told.
    ("sed -n 1,2p a; sed -n 1,2p b", "1\n2\n3\n", ["", ""]),
    ("cat a; cat b", "1\n2\n", ["", ""]),
    ("sed -n 1,2p a", "1\n2\n3\n", [""]),
    ("sed -n 5,6p a; sed -n 1,4p a", "5\n6\n1\n", ["", ""]),
    # Numbers that the command prints tell it.
    ("nl -ba a | sed -n 3,9p; rg x", "     3\tc\n     4\td\n7:x\n", ["c\nd\n"]),
    ("cat -n a; cat -n b", "     1\ta\n     2\tb\n     1\tc\n", ["a\nb\n", "c\n"]),
    ("cat -n a; cat -n b", "     1\ta\n     2\tb\n", ["", ""]),
    ("nl b; cat -n a", "     1\tb\n     1\ta\n", [""]),
    # What was left out at the end.
    ("cat a", "1\n\n[Showing lines 1-2 of 9.]\n", ["1\n"]),
    ("cat a", "1\n[Showing lines 1-1 of 9.]\n", ["1\n"]),
    ("cat a", "1\n2\nx…9 tokens truncated…y\n4\n", ["1\n2\n"]),
    ("cat a", "1\n... [9 lines truncated] ...\n4\n", ["1\n"]),
    ("sed -n 1,2p a; sed -n 1,2p b", "1\n2\n3\n[... omitted 1 of 9 lines ...]\n", ["", ""]),
    ("cat a", "cat: a: Permission denied\n", []),
    # Words of the command between them.
    ("cat a; echo ==; cat b", "1\n==\n2\n3\n", ["1\n", "2\n3\n"]),
    ("cat a; printf '\\n--\\n'; cat b", "1\n\n--\n2\n", ["1\n", "2\n"]),
    ("cat a; echo --; cat b; echo --; cat c", "1\n--\n2\n--\n3", ["1\n", "2\n", "3\n"]),
    ("cat a; echo --; cat b", "1\n--\n2\n--\n", ["", ""]),
    ("cat a; echo --; cat b", "1\n2\n", ["", ""]),
    # Files that are not there.
    ("cat a; cat b", "cat: a: No such file or directory\n2\n", [None, "2\n"]),
    ("cat a.py; cat data.py", "1\ncat: data.py: No such file or directory\n", [None, "1\n"]),
    ("sed -n '1p;3p' a; cat b", "sed: can't read a: No such file or directory\n2\n",
     [None, None, "2\n"]),
    ("cat a && cat d/b", "Exit code 1\n1\ncat: d/b: No such file or directory", [None, "1\n"]),
    ("cat a && cat b", "cat: a: No such file or directory\n", [None]),
    ("cat a; echo x: No such file or directory; cat b", "1\nx: No such file or directory\n2\n",
     ["1\n", "2\n"]),
]  # fmt: skip
"""A command, its output, and what it printed of each file that can be told; None: not there."""


@pytest.mark.parametrize(("line", "output", "texts"), PRINTED)
def test_the_files_in_the_output_of_one_command(
    line: str, output: str, texts: list[str | None]
) -> None:
    prints = shell_command(line).prints
    found = printed_files(output, prints)
    assert [one.text for one in found] == texts
    reads = [one for one in prints if isinstance(one, FileLines)]
    if texts and None not in texts:
        assert [one.asked for one in found] == reads
    lines = tuple(output.split("\n"))
    assert all(set(one.among) <= set(lines) and bool(one.among) == (one.text == "")
               for one in found)  # fmt: skip


WORKS = {
    ShellWork.SEARCH: "grep -rn x . / find . -name '*.py' / rg x | head -3 / rg x 2>&1",
    ShellWork.LIST: "ls / ls -la | head -3 / tree src / Get-ChildItem",
    ShellWork.LOOK: "cat *.py / cat 'a?b' / wc -l a / head -c 9 a / head -1 -2 a / head"
    " / head -n -5 a / head --lines=9 a / head -3 a b / nl a / cat -A a / cat $x"
    " / sed -n '2,4p;4,5p' a / sed 1,2p a / cat a b | head -3"
    " / sed -n 1,2p a b / sed -n 1p 2p a / sed s,a,b, a / nl a | head -3 -q b / tail a"
    " / python --version / node -h / git show HEAD / git blame a / gh pr view 3 / gh pr list"
    " / gh pr diff / cat a | sort / Get-Content a -Tail 3 / git diff v1 v2 / git -C w show"
    " / git -c a=b show / head -2 a | head -1 / sed -n 2,9p a | head -1 / cat a | ls | rg x",
    ShellWork.STATE: "pwd / git status / git diff / git diff --stat v1 / git -C w log"
    " / git log | head / git --no-pager -P log / ls && git status",
    ShellWork.WAIT: "sleep 3 / tail -f log / watch ls / curl localhost / gh run list"
    " / gh pr checks / ls && sleep 1 / make && sleep 1",
    ShellWork.RUN: "make / python a.py / python a.py x --version / pytest -q --version x y"
    " / find . -delete / find . -exec rm x / gh pr create / make && ls / git commit -m x / git",
}


@pytest.mark.parametrize("work", WORKS)
def test_the_words_say_what_a_command_is_for(work: ShellWork) -> None:
    for line in WORKS[work].split(" / "):
        assert shell_command(line).work is work, line
        assert shell_command(f"cd x; {line}").work is work, line


CHANGES = {
    "rm -f a b": (("a", "b"), False),
    "mv a b": (("a", "b"), False),
    "cp -r s/a t/ b": (("b", "b/a", "b/t"), False),
    "echo x > a": (("a",), False),
    "make 2>&1 >> log": (("log",), False),
    "cat < a > b": (("b",), False),
    "sed -i s/a/b/ f": (("s/a/b/", "f"), False),
    "perl -pi -e s/a/b/ f": (("s/a/b/", "f"), False),
    "sed s/a/b/ f": ((), False),
    "ls | tee a": (("a",), False),
    "git checkout main": ((), True),
    "git -C /w stash": ((), True),
    "git push": ((), False),
    "git": ((), True),
    "ruff format .": ((), True),
    "eslint --fix src": ((), True),
    "cat format": ((), False),
    "grep -i x a": ((), False),
    "make": ((), False),
    "make all": ((), False),
    "cat <<END": ((), True),
    "git commit -m \"$(cat <<'END'\nrm a `b` $(c)\nEND\n)\"": ((), False),
    'git commit -m "$(cat <<END\n$(rm a)\nEND\n)"': ((), True),
    "echo $(rm a)": ((), True),
    "echo `rm a`": ((), True),
    "echo 'a": ((), True),
}
"""The files that a command plainly changes, and whether it may change others."""


@pytest.mark.parametrize(("line", "changes"), CHANGES.items())
def test_what_a_command_changes(line: str, changes: tuple[tuple[str, ...], bool]) -> None:
    found = shell_command(line)
    assert (found.written, found.changes_any) == changes
    if any(changes):
        assert found.work is ShellWork.RUN


def test_a_command_is_looked_into_up_to_a_length_and_a_folder_alone_is_a_run() -> None:
    line = "cat " + "a" * 3_996
    assert shell_command(line).work is ShellWork.READ
    assert shell_command(line + "a") == ShellCommand(ShellWork.RUN, changes_any=True)
    assert shell_command("cd /w") == ShellCommand(ShellWork.RUN, folder="/w")
    assert shell_command("set -e; cd a; cd b; ls").folder == "b"
    assert shell_command("cd; ls").folder == ""


E = ActionKind.EDIT
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-old\n+new\n kept\n*** End Patch"
ACTIONS: list[tuple[str, object, list[ToolAction]]] = [
    ("Read", {"file_path": "./a//b"}, [ToolAction(ActionKind.READ, "a/b")]),
    ("Read", {"file_path": "a", "offset": 5, "limit": 3}, [ToolAction(ActionKind.READ, "a", 5, 7)]),
    ("Read", {"file_path": "a", "limit": "3"}, [ToolAction(ActionKind.READ, "a", 1, 3)]),
    ("read", {"path": "a", "offset": True, "limit": -3}, [ToolAction(ActionKind.READ, "a")]),
    ("read", {"path": "a", "offset": "1" * 10}, [ToolAction(ActionKind.READ, "a")]),
    ("read", {"path": "a", "offset": "٣"}, [ToolAction(ActionKind.READ, "a")]),
    ("read", {"path": "a", "offset": "²"}, [ToolAction(ActionKind.READ, "a")]),
    ("read", {"path": "a", "offset": "1" * 9}, [ToolAction(ActionKind.READ, "a", 111_111_111)]),
    ("view", {"path": "a", "view_range": [4, 9]}, [ToolAction(ActionKind.READ, "a", 4, 9)]),
    ("view", {"path": "a", "view_range": [0, -1]}, [ToolAction(ActionKind.READ, "a")]),
    ("view", {"path": "a", "view_range": [4]}, [ToolAction(ActionKind.READ, "a")]),
    ("read_file", {"filePath": "a", "startLine": 2, "endLine": 3},
     [ToolAction(ActionKind.READ, "a", 2, 3)]),
    ("read_file", {"filePath": "a", "end_line": 3}, [ToolAction(ActionKind.READ, "a", 1, 3)]),
    ("read_files", {"files": [{"path": "a", "start_line": 2}, "b", 3, {}]},
     [ToolAction(ActionKind.READ, "a", 2), ToolAction(ActionKind.READ, "b")]),
    ("Write", {"file_path": "a", "content": "x"}, [ToolAction(ActionKind.WRITE, "a", added="x")]),
    ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"},
     [ToolAction(E, "a", removed="x", added="y")]),
    ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}, 3]},
     [ToolAction(E, "a", removed="x", added="y")]),
    ("apply_patch", {"input": PATCH}, [ToolAction(
        E, "a.py", removed="old", added="new", parts=(("old\nkept\n", "new\nkept\n"),),
    )]),
    ("apply_patch", {"input": PATCH.replace("@@", "*** Update File: b.py")},
     [ToolAction(E, "a.py"), ToolAction(E, "b.py")]),
    ("edit", {"path": "a", "rename": "b"},
     [ToolAction(ActionKind.DELETE, "a"), ToolAction(ActionKind.WRITE, "b")]),
    ("Grep", {"pattern": "x", "timeout": 3},
     [ToolAction(ActionKind.SEARCH, key='Grep {"pattern": "x"}', text="x")]),
    ("LS", {"path": ""}, [ToolAction(ActionKind.LIST, key='LS {"path": ""}', text="LS")]),
    ("Task", {"prompt": "x"}, [ToolAction(ActionKind.OTHER, changes_any=True)]),
    ("unknown", {"path": "x"}, [ToolAction(ActionKind.OTHER)]),
    ("bash", ["no mapping"], [ToolAction(ActionKind.OTHER)]),
    ("bash", {"command": "cat a", "cwd": "/w"},
     [ToolAction(ActionKind.READ, "/w/a", text="cat a", prints=(FileLines("/w/a"),))]),
    ("exec_command", {"cmd": "sed -n 4,8p a", "workdir": "/w"},
     [ToolAction(ActionKind.READ, "/w/a", 4, 8, text="sed -n 4,8p a",
                 prints=(FileLines("/w/a", 4, 8),))]),
    ("run_shell_command", {"command": "rg x; cat a"},
     [ToolAction(ActionKind.SEARCH, key="$ rg x; cat a", text="rg x; cat a",
                 prints=("", FileLines("a")))]),
    ("copilot_readFile", {"filePath": "a", "startLine": 2, "endLine": 9},
     [ToolAction(ActionKind.READ, "a", 2, 9)]),
    ("view", {"path": "C:\\w\\a"}, [ToolAction(ActionKind.READ, "C:/w/a")]),
    ("replace", {"file_path": "a", "old_string": "x"}, [ToolAction(E, "a", removed="x")]),
    ("apply_patch", {"input": "*** Begin Patch\n*** Add File: n.py\n+x"},
     [ToolAction(ActionKind.WRITE, "n.py")]),
    ("bash", {"command": "cd /v; rm  a", "cwd": "/w"},
     [ToolAction(ActionKind.RUN, key="/v$ cd /v; rm a", text="cd /v; rm  a", written=("/v/a",))]),
    ("shell", {"command": ["bash", "-lc", "pwd"]},
     [ToolAction(ActionKind.STATE, key="$ pwd", text="pwd")]),
    ("shell", {"command": ["ls", "-lc", "x"]},
     [ToolAction(ActionKind.LIST, key="$ ls -lc x", text="ls -lc x")]),
    ("shell", {"command": ["bash", "a.sh"]},
     [ToolAction(ActionKind.RUN, key="$ bash a.sh", text="bash a.sh")]),
    ("shell", {"command": ["apply_patch", PATCH]}, [ToolAction(ActionKind.EDIT, "a.py")]),
    ("run_commands", {"commands": ["cd x", "ls"]},
     [ToolAction(ActionKind.LIST, key="x$ cd x && ls", text="cd x && ls")]),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "actions"), ACTIONS)
def test_what_a_call_does(tool: str, arguments: Any, actions: list[ToolAction]) -> None:
    assert list(tool_actions(tool, arguments)) == actions


def test_empty_lines_of_a_patch_are_of_the_file_but_for_those_after_a_part() -> None:
    patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n\n+y\n\n\n@@\n-z\n*** End Patch"
    (action,) = tool_actions("apply_patch", {"input": patch})
    assert action.parts == (("x\n\n", "\ny\n"), ("z\n", ""))


def test_paths_of_all_systems_are_joined_and_compared() -> None:
    assert [joined(*pair) for pair in (
        ("", ""), ("a", ""), ("a", "./b"), ("a", "../b"), ("a", "/b"), ("a", "C:\\b"),
        ("C:\\a", "b"), ("a", "~/b"),
    )] == ["", "a", "a/b", "b", "/b", "C:/b", "C:/a/b", "~/b"]  # fmt: skip
    assert [is_absolute(one) for one in ("/a", "~", "C:x", "a/b", "", "a")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip
    assert same_path("a/b", "a/b") and same_path("/w/a/b", "a/b") and same_path("b", "a/b")
    assert not same_path("/w/b", "/b") and not same_path("a/cb", "b") and not same_path("a", "b")


def test_what_tools_wrap_around_their_output_is_taken_away() -> None:
    assert output_of("Chunk ID: 1\nWall time: 2 s\nOutput:\nx\ny") == "x\ny"
    assert output_of("Command: ls\nDirectory: /w\nOutput: x\nError: (none)\nExit Code: 0") == "x"
    assert output_of("Command: ls\nDirectory: /w\nOutput: x") == "x"
    assert output_of("<path>a</path>\n<content>\nx\n</content>\nend") == "x"
    assert output_of("see <content>x</content>") == "see <content>x</content>"
    assert output_of("<path>a</path></content><content>") == "<path>a</path></content><content>"
    reminder = "<system-reminder>be good</system-reminder>"
    assert output_of(f"a\n{reminder}\nb") == "a\nb" and output_of(f"{reminder}\nb") == "\nb"
    assert output_of("a<system-reminder>b") == "a<system-reminder>b"
    assert output_of("a\nShell cwd was reset to /w") == output_of("a") == "a"
    assert output_of("a\n<shellId: 7 completed with exit code 1>") == "a"
    head = "Chunk ID: 1\nOutput:\n"
    assert output_of(f"{head}Total output lines: 9\n\nx") == output_of(f"{head}x") == "x"


def test_how_a_command_ended_is_read_at_both_ends_of_its_result() -> None:
    assert exit_code("Exit code: 3\n") == 3 and exit_code("fine") is None
    between = "x" * 381
    assert exit_code(f"{between}Exit code: 12345{' ' * 400}") == 12345
    assert exit_code(f"{'x' * 400}Exit code: 7{'x' * 400}") is None
    assert failed("a\n<shellId: 7 completed with exit code 1>") and not failed("a\n<exited: 1>")
    assert is_running("Chunk ID: 1\nProcess running with session ID 7\n") and not is_running("x")
    assert failed("Exit code 2\n") and not failed("Exit code 0\n") and not failed("so: Exit code 2")


def test_numbers_before_lines_are_believed_where_nearly_all_have_one_and_they_rise() -> None:
    assert numbered_lines("a\nb\n", 5) == (range(5, 7), ["a", "b"])
    assert numbered_lines("", 1) == (range(1, 1), [])
    assert numbered_lines("  7→a\n  8→b", 1) == ([7, 8], ["a", "b"])
    assert numbered_lines("7\ta\n8\tb", 7) == numbered_lines("7\ta\n8\tb", 6)
    assert numbered_lines("7\ta\n8\tb", 1) == ((), ["a", "b"]), "they may be the file's own"
    assert numbered_lines("a\nb\nc", 5, 7) == (range(5, 8), ["a", "b", "c"])
    assert numbered_lines("a\nb\nc", 5, 6)[0] == (), "more than was asked for"
    assert numbered_lines("a\nb\n\n[9 more lines in file]\n", 5, 6) == (range(5, 7), ["a", "b"])
    above = "".join(f"word {at}\n" for at in range(4))
    assert numbered_lines(f"{above}7→a\n", 1) == ([7], ["a"])
    assert numbered_lines(f"{above}word\n7→a\n", 1)[0] == range(1, 7)
    assert numbered_lines(f"7→a\n{above}word\n", 1)[0] == range(1, 7)
    long = "".join(f"{at}→x\n" for at in range(1, 245))
    words = "word\n" * 5
    assert len(numbered_lines(long + words, 1)[0]) == 249
    assert len(numbered_lines(long + "245→x\n" + words, 1)[0]) == 245
    part = (
        "\nIMPORTANT: The file content has been truncated.\n"
        "Status: Showing lines 60-61 of 400 total lines.\nAction: To read more.\n\n"
    )
    shown = f"{part}--- FILE CONTENT (truncated) ---\na\n7→b\n\n--- More ---"
    assert numbered_lines(shown, 1) == (range(60, 62), ["a", "7→b"]), "as its tool says"
    assert numbered_lines(part, 1) == (range(60, 60), [])
    assert numbered_lines("8→a\n7→b", 1) == (range(1, 3), ["8→a", "7→b"])
    assert numbered_lines("8→a\n8→b", 1) == (range(1, 3), ["8→a", "8→b"])
    assert bare_lines("7→a\nb") == [("7→a", "a"), ("b",)]
    assert bare_lines("+a\n b") == [("+a",), (" b",)]
    assert bare_lines("@@ -1 +1 @@\n+a\n-b\n c")[1:] == [("+a", "a"), ("-b",), (" c", "c")]
