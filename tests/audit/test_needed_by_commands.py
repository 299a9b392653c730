"""Files that shell commands read, alone or with others in one command: what is known for certain
of the lines, and that nothing else is said of them."""

from __future__ import annotations

import pytest

from explorer.audit.repeats import NeedKind
from explorer.audit.words import lines_text
from tests.audit.agent_work import FILE, LONG, OTHER, AgentWork

READ = NeedKind.READ
FOUND = "c.py:3: x = 1\nc.py:9: x = 2"


def _lines(first: int, last: int, of: str = LONG) -> str:
    return "\n".join(of.split("\n")[first - 1 : last])


def _numbered(first: int, last: int) -> str:
    lines = LONG.split("\n")[first - 1 : last]
    return "\n".join(f"{at:6}\t{line}" for at, line in enumerate(lines, first))


def _rows(made: AgentWork) -> list[str]:
    """The files that were read again, with their lines."""
    needs = [need.repeat for need in made.found().needs if need.kind is READ]
    return [f"{one.text.removeprefix('/w/')}: {lines_text(one)}" for one in needs]


A, B = "a.py: lines 1 to 200", "b.py: lines 1 to 60"
SHOWN: dict[str, tuple[str, list[str]]] = {
    "cat a.py b.py": (f"{LONG}\n{OTHER}", [A, B]),
    "sed -n 1,240p a.py": (LONG, [A]),
    "cat a.py && sed -n 1,240p b.py && rg x c.py": (f"{LONG}\n{OTHER}\n{FOUND}", [A, B]),
    "sed -n 1,60p b.py; sed -n '11,90p' a.py": (
        f"{OTHER}\n{_lines(11, 90)}", ["b.py: lines 1 to 60", "a.py: lines 11 to 90"],
    ),
    "sed -n 11,90p a.py && rg x c.py": (f"{_lines(11, 90)}\n{FOUND}", ["a.py: lines 11 to 90"]),
    "rg x c.py; sed -n 11,90p a.py; ls": (
        f"{FOUND}\n{_lines(11, 90)}\nc.py", ["a.py: lines 11 to 90"],
    ),
    "sed -n '1,80p;101,160p' a.py; make test": (
        f"{_lines(1, 80)}\n{_lines(101, 160)}\nok", ["a.py: part of lines 1 to 160"],
    ),
    "nl -ba a.py | sed -n 11,90p && rg x c.py": (
        f"{_numbered(11, 90)}\n{FOUND}", ["a.py: lines 11 to 90"],
    ),
    "nl -ba a.py | sed -n '1,80p;101,160p'": (
        f"{_numbered(1, 80)}\n{_numbered(101, 160)}", ["a.py: part of lines 1 to 160"],
    ),
    "tail -n +101 a.py | head -60; ls": (f"{_lines(101, 160)}\nc.py", []),
    "tail -n +101 a.py": (_lines(101, 200), ["a.py: lines 101 to 200"]),
    "cat a.py || cat b.py": (LONG, [A]),
    "test -f a.py && cat a.py || true": (LONG, [A]),
    "rg x c.py && head -n 90 a.py": (f"{FOUND}\n{_lines(1, 90)}", ["a.py: lines 1 to 90"]),
}  # fmt: skip
"""By command: its output, and what is read again where a.py and b.py are known."""


@pytest.mark.parametrize("line", SHOWN)
@pytest.mark.parametrize("error", [False, True])
def test_what_a_command_shows_of_known_files_is_read_again_however_it_ends(
    line: str, error: bool
) -> None:
    output, rows = SHOWN[line]
    made = AgentWork()
    made.read("/w/a.py", of=LONG)
    made.read("/w/b.py", of=OTHER)
    made.compact()
    made.run(f"cd /w && {line}", output, error=error)
    assert _rows(made) == rows


@pytest.mark.parametrize("line", [line for line, (_, rows) in SHOWN.items() if A in rows])
def test_what_it_showed_is_known_when_the_file_is_read_later(line: str) -> None:
    made = AgentWork()
    shown = made.run(f"cd /w && {line}", SHOWN[line][0])
    made.compact()
    after = made.read("/w/a.py", of=LONG)
    assert _rows(made) == [A] and made.needs()[0] == (READ, shown, after)


NOTHING: dict[str, str] = {
    # Another text than is known, or not all of it.
    "cat a.py && rg x c.py": f"{LONG.replace('is 9', 'is ten')}\n{FOUND}",
    "cat a.py; rg x": f"{_lines(1, 150)}\n{FOUND}",
    "sed -n 11,90p a.py; rg x c.py": f"{_lines(12, 91)}\n{FOUND}",
    "cat a.py && cat b.py": f"{_lines(1, 90)}\nline 91 o…900 tokens truncated…t\n{OTHER}",
    "cat a.py; cat b.py": f"{_lines(1, 90)}\n\n... [110 lines truncated] ...\n\n{OTHER}",
    # Who changes files first looks at what became of them.
    "npx prettier --write . && cat a.py": LONG,
    "sed -i s/x/y/ a.py && cat a.py": LONG,
    # It goes on by itself, or the order is not certain, or the name.
    "cat a.py & cat b.py": f"{LONG}\n{OTHER}",
    "cat $x/a.py b.py": f"{LONG}\n{OTHER}",
    "cat *.py": f"{LONG}\n{OTHER}",
    "nl a.py | head -n 50": _numbered(1, 50),
    "cat -A a.py": LONG,
    "head -n -5 a.py": _lines(1, 195),
    "head -n 50 a.py b.py": f"==> a.py <==\n{_lines(1, 50)}",
    "cat c.py; cd y; cat a.py": LONG,
    "set -x; cat a.py": f"+ cat a.py\n{LONG}",
    "cat <(git show v1:a.py)": LONG,
}
"""By command: an output of which the lines are not certain."""


@pytest.mark.parametrize("line", NOTHING)
def test_where_the_lines_are_not_certain_no_read_is_named(line: str) -> None:
    made = AgentWork()
    made.read("/w/a.py", of=LONG)
    made.read("/w/b.py", of=OTHER)
    made.compact()
    made.run(f"cd /w && {line}", NOTHING[line])
    made.compact()
    made.run(f"cd /w && {line}", NOTHING[line])
    assert _rows(made) == []


@pytest.mark.parametrize(("line", "output"), [
    ("sed -n 1,50p a.py", _lines(1, 61)),
    ("head -n 50 a.py", f"a note\n{_lines(1, 50)}"),
    ("cat a.py", f"bash: warning: no such locale\n{LONG}"),
    ("cat a.py", f"<persisted-output>\nOutput too large\n\n{LONG}"),
    ("nl -ba a.py", LONG),
    ("sed -n 1,90p a.py; sed -n 1,90p b.py", f"{_lines(1, 90)}\n{OTHER}"),
])  # fmt: skip
def test_what_holds_more_or_other_lines_than_were_asked_for_says_nothing(
    line: str, output: str
) -> None:
    made = AgentWork()
    for _ in range(3):
        made.run(line, output)
        made.compact()
    assert _rows(made) == []


HEAD = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"
AROUND = [
    f"{LONG}\nShell cwd was reset to /w",
    f"{LONG}\n<shellId: 7 completed with exit code 0>",
    f"{HEAD}Warning: truncated output (original token count: 9)\nTotal output lines: 280\n\n{LONG}",
    f"{HEAD}Total output lines: 280\n\n{LONG}\n",
]


@pytest.mark.parametrize("result", AROUND)
def test_what_a_tool_says_around_an_output_is_no_line_of_the_file(result: str) -> None:
    made = AgentWork()
    made.run("cat a.py", result)
    made.compact()
    made.run("cat a.py", result)
    made.compact()
    made.call("Read", _numbered(1, 200), file_path="a.py")
    assert _rows(made) == [A, A]


def test_a_command_that_is_still_running_has_not_shown_all() -> None:
    made = AgentWork()
    made.read("/w/a.py", of=LONG)
    made.compact()
    made.run("cat /w/a.py", f"Chunk ID: 1\nProcess running with session ID 7\nOutput:\n{LONG}")
    assert _rows(made) == []


def test_the_numbers_that_stand_in_a_file_are_not_those_of_its_lines() -> None:
    text = "\n".join(f"{at}: the entry {at} of a list" for at in range(900, 980))
    made = AgentWork()
    made.run("sed -n 1,240p /w/a.txt", text)
    made.compact()
    made.run("sed -n 1,240p /w/a.txt", text)
    assert _rows(made) == ["a.txt: lines 1 to 80"]
    made = AgentWork()
    made.read("/w/a.txt", of=text)
    made.compact()
    made.read("/w/a.txt", of=text)
    assert _rows(made) == [], "the tool may have begun there"


def test_a_search_that_found_nothing_leaves_the_rest_to_the_reads() -> None:
    made = AgentWork()
    made.run("sed -n 1,240p a.py && rg x c.py", f"Exit code 1\n{LONG}", error=True)
    made.compact()
    made.run("sed -n 1,240p a.py && rg y c.py", f"Exit code 1\n{LONG}", error=True)
    assert _rows(made) == [A]
    made = AgentWork()
    made.run("sed -n 1,240p a.py && rg x c.py", LONG)
    made.compact()
    made.run("sed -n 1,240p a.py && rg y c.py", LONG)
    assert _rows(made) == [], "the end of the file is not known"


def test_what_was_shown_again_since_is_not_needed() -> None:
    made = AgentWork()
    made.run("cd /w && cat a.py && rg x c.py", f"{LONG}\n{FOUND}")
    made.compact()
    made.run("cd /w && rg -n line a.py", "\n".join(
        f"{at}:{line}" for at, line in enumerate(LONG.split("\n")[:100], 1)
    ))  # fmt: skip
    made.read("/w/a.py", of=LONG)
    assert _rows(made) == ["a.py: lines 101 to 200"]
    made.read("/w/a.py", of=LONG)
    assert len(_rows(made)) == 1


def test_it_is_known_part_by_part_where_the_file_is_read_in_parts() -> None:
    made = AgentWork()
    made.run("cd /w && rg x c.py; cat a.py; ls", f"{FOUND}\n{LONG}\nc.py")
    made.compact()
    made.run("cd /w && sed -n 1,90p a.py", _lines(1, 90))
    made.run("cd /w && sed -n 91,180p a.py", _lines(91, 180))
    assert _rows(made) == ["a.py: lines 1 to 90", "a.py: lines 91 to 180"]


def test_an_edit_makes_another_file_of_it() -> None:
    made = AgentWork()
    made.run("cd /w && cat a.py && rg x c.py", f"{LONG}\n{FOUND}")
    made.edit("line 7 of", "line seven of")
    made.compact()
    made.read("/w/a.py", of=LONG)
    assert _rows(made) == []


@pytest.mark.parametrize("other, rows", [("/w/b/a.py", [A]), ("../a.py", []), ("a.py", [])])
def test_an_edit_of_another_file_of_that_name_changes_nothing(other: str, rows: list[str]) -> None:
    made = AgentWork()
    made.read("/w/a.py", of=LONG)
    made.edit("one", "two", other)
    made.compact()
    made.read("/w/a.py", of=LONG)
    assert _rows(made) == rows


@pytest.mark.parametrize("place", ["$(go env GOMODCACHE)", "\\$x", "'$y'"])
def test_a_name_that_stands_for_the_same_each_time_is_a_name(place: str) -> None:
    made = AgentWork()
    made.run(f"sed -n 1,240p {place}/a.py", LONG)
    made.compact()
    made.run(f"sed -n 1,240p {place}/a.py", LONG)
    (row,) = _rows(made)
    assert row.endswith(A)


@pytest.mark.parametrize("chain", [
    "sed -n 1,60p b.md && sed -n 1,60p a.py && cat c.md",
    "cat b.md; echo; nl -ba a.py",
    "for f in a.py b.md; do cat $f; done",
])  # fmt: skip
def test_what_one_command_shows_of_several_files_is_in_the_context_again(chain: str) -> None:
    made = AgentWork()
    made.read()
    made.compact()
    lines = FILE.split("\n")
    if "nl -ba" in chain:
        lines = [f"{at:6}\t{line}" for at, line in enumerate(lines, 1)]
    shown = made.run(chain, "\n".join(["# Another file", "", *lines, "", "# A third one"]))
    known = len(_rows(made))
    taken = made.compact()
    after = made.read()
    assert made.needs()[known:] == [(READ, shown, after)]
    assert made.found().needs[-1].taken_by == taken
    made.read()
    assert len(made.needs()) == known + 1, "it is in the context again"


def test_a_command_that_shows_a_part_leaves_the_rest() -> None:
    made = AgentWork()
    made.read(of=LONG)
    made.compact()
    made.run("grep -n . b.py; head -50 a.py; cat a.py | tail -50",
             "\n".join([*LONG.split("\n")[:50], *LONG.split("\n")[150:]]))  # fmt: skip
    made.read(of=LONG)
    assert _rows(made) == ["a.py: lines 1 to 50", "a.py: lines 51 to 150"]


def test_several_files_with_words_between_and_one_that_is_missing() -> None:
    made = AgentWork()
    made.read("/w/a.py", of=LONG)
    made.compact()
    both = "cd /w && cat a.py && echo ==== && cat b.py && cat c.py"
    missing = f"{LONG}\n====\n{OTHER}\ncat: c.py: No such file or directory"
    again = made.run(both, missing, error=True)
    made.compact()
    later = made.run(both, missing, error=True)
    assert made.needs() == [
        (READ, 1, again), (NeedKind.MISSING_PATH, again, later),
        (READ, again, later), (READ, again, later),
    ]  # fmt: skip
    needs = made.found().needs
    assert [need.repeat.text for need in needs] == ["/w/a.py", "/w/c.py", "/w/a.py", "/w/b.py"]
    # What they took is shared among them by their length.
    one, other = needs[2].repeat.tokens, needs[3].repeat.tokens
    assert one + other < made.tree.columns.estimate[later] < 1.1 * (one + other)


def test_reads_that_cannot_be_told_apart_are_one_command() -> None:
    made = AgentWork()
    before = made.run("cat a.py; cat b.py", f"{LONG}\n{OTHER}")
    made.compact()
    again = made.run("cat a.py; cat b.py", f"{LONG}\n{OTHER}")
    assert made.needs() == [(NeedKind.COMMAND, before, again)]
    made = AgentWork()
    made.run("cat a.py b.py; cat c.py", LONG, error=True)
    made.compact()
    made.run("cat a.py b.py; cat c.py", LONG, error=True)
    assert made.needs() == []
