"""Writing and editing on a real folder: what is found, what is kept, and what a failure says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.agent.tools.edit import PlannedChange, apply_change, places_of, plan_edit, plan_write
from explorer.agent.tools.port import ToolContext, ToolError, ToolOutcome, ToolRun
from explorer.agent.tools.workspace_tools import run_read_only
from explorer.agent.workspace import Workspace, WorkspaceError
from explorer.session.text_difference import file_diff

CODE = "def first():\n    return 1\n\n\ndef second():\n    return 2\n"


class Bench:
    """One file and the tools that change it."""

    def __init__(self, root: Path) -> None:
        self.path = root / "a.py"
        self.desk = ToolContext(Workspace(root))

    def put(self, data: bytes | str) -> None:
        self.path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def do(
        self, plan: Callable[[ToolContext, Any], PlannedChange], **arguments: Any
    ) -> ToolOutcome:
        return apply_change(self.desk, plan(self.desk, {"path": "a.py", **arguments}))

    def edit(self, *pairs: tuple[str, str]) -> ToolOutcome:
        edits = [{"oldText": old, "newText": new} for old, new in pairs]
        return self.do(plan_edit, edits=edits)

    def refused(self, *pairs: tuple[str, str]) -> str:
        """Why an edit fails; the file must be as it was."""
        before = self.path.read_bytes()
        with pytest.raises(ToolError) as error:
            self.edit(*pairs)
        assert self.path.read_bytes() == before
        return str(error.value)

    def read(self) -> None:
        assert not run_read_only(self.desk, {"path": "a.py"}, ToolRun("read")).is_error


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.put(CODE)
    return bench


def test_an_edit_replaces_one_passage(bench: Bench) -> None:
    outcome = bench.edit(("return 2", "return 22"))
    assert bench.path.read_text() == CODE.replace("return 2", "return 22")
    assert outcome.text == "Edited a.py: 1 passage replaced."
    assert outcome.details["firstChangedLine"] == 6
    assert outcome.details["diff"].split("\n")[-2:] == ["-6     return 2", "+6     return 22"]
    assert outcome.details["patch"].split("\n")[:3] == [
        "--- a/a.py",
        "+++ b/a.py",
        "@@ -2,5 +2,5 @@",
    ]


@pytest.mark.parametrize(
    "arguments",
    [{"oldText": "return 1", "newText": "x"},
     {"edits": [{"oldText": "return 1", "newText": "x"}]},
     {"edits": {"oldText": "return 1", "newText": "x"}},
     {"edits": json.dumps([{"oldText": "return 1", "newText": "x"}])},
     {"edits": [], "oldText": "return 1", "newText": "x"}],
)  # fmt: skip
def test_every_form_of_the_arguments_is_taken(bench: Bench, arguments: dict[str, Any]) -> None:
    bench.do(plan_edit, **arguments)
    assert bench.path.read_text() == CODE.replace("return 1", "x")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [({}, "must be a list"), ({"edits": "no json"}, "not a list"), ({"edits": [3]}, "edits[0]"),
     ({"edits": [{"oldText": "a"}]}, "oldText and newText"),
     ({"oldText": "", "newText": "x"}, "is empty")],
)  # fmt: skip
def test_wrong_arguments_are_told(bench: Bench, arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolError) as error:
        bench.do(plan_edit, **arguments)
    assert told in str(error.value)


def test_several_edits_are_found_in_the_file_as_it_was(bench: Bench) -> None:
    bench.edit(("second", "first"), ("first", "third"))
    assert bench.path.read_text() == CODE.replace("first", "third").replace("second", "first")


def test_edits_that_meet_are_refused(bench: Bench) -> None:
    told = bench.refused(("def first():\n    return", "x"), ("return 1", "y"))
    assert "edits[0] and edits[1] meet in a.py at line 2" in told


def test_one_bad_edit_of_several_changes_nothing(bench: Bench) -> None:
    assert "edits[1]: oldText was not found" in bench.refused(("return 1", "x"), ("nowhere", "y"))


def test_several_places_are_told_by_their_lines(bench: Bench) -> None:
    assert "stands in 2 places of a.py, at lines 2, 6" in bench.refused(("    return", "x"))
    bench.put("same\n" * 50)
    assert "more than 20 places" in bench.refused(("same", "x"))


def test_what_changes_nothing_is_told(bench: Bench) -> None:
    assert "nothing changes" in bench.refused(("return 1", "return 1"))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_the_mark_at_the_beginning_are_kept(
    bench: Bench, end: str, bom: bytes
) -> None:
    bench.put(bom + CODE.replace("\n", end).encode())
    bench.edit(("def first():\n    return 1\n", "def first():\n    x = 1\n    return x\n"))
    expected = CODE.replace("    return 1\n", "    x = 1\n    return x\n")
    assert bench.path.read_bytes() == bom + expected.replace("\n", end).encode()


def test_other_lines_keep_the_ends_that_they_have(bench: Bench) -> None:
    bench.put(b"one\r\ntwo\nthree\r\nfour\r\nfive\xff\n")
    bench.edit(("three\nfour", "3\n4"))
    assert bench.path.read_bytes() == b"one\r\ntwo\n3\r\n4\r\nfive\xff\n"


def test_white_space_at_line_ends_is_looked_past(bench: Bench) -> None:
    bench.put("a = 1  \nb = 2\t\nc = 3\n")
    outcome = bench.edit(("a = 1\nb = 2\n", "a = 9\n"))
    assert bench.path.read_text() == "a = 9\nc = 3\n"
    assert "white space at line ends were looked past" in outcome.text


def test_typographic_signs_are_looked_past_and_kept_elsewhere(bench: Bench) -> None:
    bench.put("“one” – it’s\u00a0so\n“two” – it’s\n")
    bench.edit(('"one" - it\'s so', "done"))
    assert bench.path.read_text() == "done\n“two” – it’s\n"


def test_an_exact_place_comes_before_one_that_is_alike(bench: Bench) -> None:
    bench.put("it’s\nit's\n")
    bench.edit(("it's", "x"))
    assert bench.path.read_text() == "it’s\nx\n"


def test_what_is_alike_in_several_places_is_not_guessed(bench: Bench) -> None:
    bench.put("a’b\na‘b\n")
    assert "2 places" in bench.refused(("a'b", "x"))


def test_the_nearest_passage_is_shown_with_what_differs(bench: Bench) -> None:
    told = bench.refused(("def second():\n        return 2", "x"))
    assert "The nearest passage:\n5: def second():\n6:     return 2\n" in told
    assert "Line 6 is indented otherwise" in told
    bench.put("\tif x:\n\t\treturn 1\n")
    assert "by tabs and spaces" in bench.refused(("    if x:\n        return 1", "y"))
    bench.put("value = Compute(1)\n")
    assert "upper and lower case" in bench.refused(("value = compute(1)", "y"))
    bench.put("value = compute(1, 2)\n")
    assert "spaced otherwise" in bench.refused(("value = compute(1,2)", "y"))
    assert "you have 'value = compute(1, 3)'" in bench.refused(("value = compute(1, 3)", "y"))
    assert "nor anything like it" in bench.refused(("nothing of the kind whatever", "y"))


def test_what_reaches_past_the_end_is_told(bench: Bench) -> None:
    assert "The file ends before your line 3" in bench.refused(
        ("def second():\n    return 2\n    more = 3", "x")
    )


def test_a_file_that_changed_since_it_was_read_is_told(bench: Bench) -> None:
    bench.read()
    bench.put(CODE + "# someone else\n")
    outcome = bench.edit(("return 1", "return 11"))
    assert "changed on disk since you read it" in outcome.text
    assert "# someone else" in bench.path.read_text()
    assert "changed on disk" not in bench.edit(("return 11", "return 1")).text


def test_a_changed_file_is_not_edited_by_what_is_only_alike(bench: Bench) -> None:
    bench.read()
    bench.put(CODE.replace("return 1\n", "return 1  \n"))
    told = bench.refused(("return 1\n\n\ndef", "x"))
    assert "does not stand exactly" in told
    assert "changed on disk" in told


def test_a_changed_file_is_not_written_over(bench: Bench) -> None:
    bench.read()
    bench.put("of someone else\n")
    with pytest.raises(ToolError, match="changed on disk since you read it"):
        bench.do(plan_write, content="mine\n")
    bench.read()
    bench.do(plan_write, content="mine\n")
    assert bench.path.read_text() == "mine\n"


def test_a_file_that_changed_while_the_person_was_asked_is_left_alone(bench: Bench) -> None:
    change = plan_edit(bench.desk, {"path": "a.py", "oldText": "return 1", "newText": "x"})
    bench.put("of someone else\n")
    with pytest.raises(WorkspaceError, match="changed by someone else meanwhile"):
        apply_change(bench.desk, change)
    assert bench.path.read_text() == "of someone else\n"


def test_a_new_file_that_someone_else_made_meanwhile_is_left_alone(bench: Bench) -> None:
    change = plan_write(bench.desk, {"path": "new.py", "content": "mine"})
    (bench.path.parent / "new.py").write_text("theirs")
    with pytest.raises(WorkspaceError, match="meanwhile"):
        apply_change(bench.desk, change)
    assert (bench.path.parent / "new.py").read_text() == "theirs"


def test_write_makes_folders_and_says_that_the_file_is_new(bench: Bench) -> None:
    change = plan_write(bench.desk, {"path": "deep/er/b.py", "content": "x\ny\n"})
    assert not (bench.path.parent / "deep").exists()
    assert change.is_new
    assert change.diff.unified.startswith("--- /dev/null\n+++ b/deep/er/b.py\n@@ -0,0 +1,2 @@\n+x")
    assert apply_change(bench.desk, change).text == "Created file deep/er/b.py: 2 lines, 4 bytes."
    assert (bench.path.parent / "deep/er/b.py").read_text() == "x\ny\n"


def test_write_keeps_what_kind_of_file_it_was(bench: Bench) -> None:
    bench.put(b"\xef\xbb\xbfone\r\ntwo\r\n")
    outcome = bench.do(plan_write, content="one\nzwei\n")
    assert bench.path.read_bytes() == b"\xef\xbb\xbfone\r\nzwei\r\n"
    assert outcome.text == "Updated a.py: 1 line added, 1 removed."
    assert outcome.details["firstChangedLine"] == 2
    with pytest.raises(ToolError, match="exactly that already"):
        bench.do(plan_write, content="one\nzwei\n")


def test_what_is_no_text_or_no_file_is_left_alone(bench: Bench) -> None:
    bench.put(b"\0\1")
    for plan in (plan_write, plan_edit):
        with pytest.raises(ToolError, match="not a text file"):
            bench.do(plan, content="x", oldText="a", newText="b")
    with pytest.raises(ToolError, match="is a folder"):
        plan_write(bench.desk, {"path": ".", "content": ""})
    with pytest.raises(ToolError, match="use write to make it"):
        plan_edit(bench.desk, {"path": "none.py", "oldText": "a", "newText": "b"})


LINE = st.text(st.sampled_from("ab’'“\"–- \t"), max_size=6)
TEXT = st.lists(st.tuples(LINE, st.sampled_from(["\n", "\r\n"])), max_size=8).map(
    lambda rows: "".join(line + end for line, end in rows)
)


@given(text=TEXT, data=st.data())
def test_what_is_found_is_what_was_meant(text: str, data: st.DataObject) -> None:
    """A piece of a file, told without what tolerance looks past, is found where it stands."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    plain = str.maketrans("’“–", "'\"-")
    rows = text[start:end].replace("\r\n", "\n").translate(plain).split("\n")
    wanted = "\n".join([*(row.rstrip() for row in rows[:-1]), rows[-1]])
    if not wanted.strip() or text[start:end].endswith("\r"):
        return
    spans = places_of(text, wanted).spans
    assert spans
    for span in spans:
        there = text[span.start : span.end].replace("\r\n", "\n").translate(plain)
        assert [row.rstrip() for row in there.split("\n")] == [
            row.rstrip() for row in wanted.split("\n")
        ]


@given(old=TEXT, new=TEXT)
def test_a_diff_leads_from_one_text_to_the_other(old: str, new: str) -> None:
    before = [row.removesuffix("\r") for row in old.split("\n")]
    after = [row.removesuffix("\r") for row in new.split("\n")]
    diff = file_diff("a", old, new)
    rows = diff.unified.split("\n")[2:]
    at, built = 0, []
    for row in rows:
        if row.startswith("@@"):
            first, count = (int(n) for n in row.split()[1][1:].split(","))
            upto = first - 1 if count else first
            built += before[at:upto]
            at = upto
        elif row.startswith("+"):
            built.append(row[1:])
        elif row:
            assert before[at] == row[1:]
            built += [row[1:]] if row[0] == " " else []
            at += 1
    assert built + before[at:] == after
