"""Files that an agent read or wrote, edited, and read again: what it knew of them is what its own
edits made of the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from explorer.audit.repeats import NeedKind
from explorer.audit.words import need_text
from tests.audit.agent_work import FILE, AgentWork

READ = NeedKind.READ
OLD, NEW = "line 3 of the file = 9", "line 3 of the file = nine\nand one more\nand another"
EDITED = FILE.replace(OLD, NEW)


def _numbered(text: str) -> str:
    return "\n".join(f"{at:6}→{line}" for at, line in enumerate(text.split("\n"), 1))


def test_what_was_read_and_edited_is_known_as_edited() -> None:
    made = AgentWork()
    before = made.read()
    edited = made.edit(OLD, NEW)
    taken = made.compact()
    after = made.read(of=EDITED)
    need = made.need()
    assert (need.kind, need.repeat.before, need.repeat.after) == (READ, before, after)
    assert (need.taken_by, need.repeat.edited, need.repeat.lines) == (taken, edited, 42)
    assert need_text(need.repeat) == f"/w/a.py, lines 1 to 42, as last edited at #{edited}"


def test_what_was_written_and_edited_several_times_is_known() -> None:
    made = AgentWork()
    made.call("write", "Successfully wrote", path="/w/a.py", content=FILE)
    made.edit(OLD, NEW)
    made.edit("line 40 of the file = 1600\n", "")
    last = made.edit("and another\n", "and\n")
    made.compact()
    made.read(of=EDITED.replace("line 40 of the file = 1600\n", "").replace("another", ""))
    assert made.needs() == [], "a blank at the end of a line is text too"
    right = AgentWork()
    right.call("write", "Successfully wrote", path="/w/a.py", content=FILE)
    right.edit(OLD, NEW)
    right.edit("line 40 of the file = 1600\n", "")
    right.edit("and another\n", "and\n")
    right.compact()
    right.read(of=EDITED.replace("line 40 of the file = 1600\n", "").replace("and another", "and"))
    assert right.need().repeat.edited == last


def test_the_numbers_that_a_tool_prints_are_no_text() -> None:
    made = AgentWork()
    made.call("Read", _numbered(FILE), file_path="/w/a.py")
    made.call("Edit", "ok", file_path="/w/a.py", old_string=OLD, new_string=NEW)
    made.compact()
    after = made.call("Read", _numbered(EDITED), file_path="/w/a.py")
    assert [(kind, at) for kind, _, at in made.needs()] == [(READ, after)]


@pytest.mark.parametrize(("everywhere", "needed"), [(True, 1), (False, 0)])
def test_an_edit_of_every_place_is_followed_only_if_it_says_so(
    everywhere: bool, needed: int
) -> None:
    made = AgentWork()
    made.read()
    made.call("Edit", "ok", file_path="/w/a.py", old_string="of the file", new_string="of it",
              replace_all=everywhere)  # fmt: skip
    made.compact()
    made.read(of=FILE.replace("of the file", "of it"))
    assert len(made.needs()) == needed


PATCH = f"""*** Begin Patch
*** Update File: /w/a.py
@@
 line 2 of the file = 4
-{OLD}
+line 3 of the file = nine
+and one more
+and another
 line 4 of the file = 16
*** End Patch"""


@pytest.mark.parametrize(("patch", "needed"), [
    (PATCH, 1),
    (PATCH.replace(" line 2 of", " line two of"), 0),
    (PATCH.replace(" line 2 of the file = 4\n", "").replace(f"-{OLD}\n", f"-{OLD[2:]}\n"), 0),
])  # fmt: skip
def test_a_patch_is_followed_part_by_part(patch: str, needed: int) -> None:
    made = AgentWork()
    made.read()
    made.call("apply_patch", "Done!", input=patch)
    made.compact()
    made.read(of=EDITED)
    assert len(made.needs()) == needed


def _other_text(made: AgentWork) -> None:
    made.edit("line three of the file", "x")


def _several_places(made: AgentWork) -> None:
    made.edit("of the file = 1", "x")


def _without_a_text(made: AgentWork) -> None:
    made.call("str_replace_editor", "ok", command="insert", path="/w/a.py", insert_line=3)


def _without_a_result(made: AgentWork) -> None:
    made.ask("edit", path="/w/a.py", oldText=OLD, newText=OLD)


def _by_a_command(made: AgentWork) -> None:
    made.run("npx prettier --write a.py", "a.py 20 ms")


def _in_place(made: AgentWork) -> None:
    made.run("cd /w && sed -i s/x/y/ a.py", "")


@pytest.mark.parametrize("change", [
    _other_text, _several_places, _without_a_text, _without_a_result, _by_a_command, _in_place,
])  # fmt: skip
def test_what_cannot_be_followed_is_not_known(change: Callable[[AgentWork], None]) -> None:
    made = AgentWork()
    made.read()
    change(made)
    made.edit(OLD, NEW)
    made.compact()
    made.read(of=EDITED)
    assert made.needs() == []


COMMIT = """git add a.py && git commit -m "$(cat <<'EOF'
feat: format `a.py`

It's (better).
EOF
)" && git push 2>&1"""


@pytest.mark.parametrize("command", ["make test", "npx prettier --write b.py", COMMIT])
def test_a_command_that_left_the_file_alone_is_told_by_the_text(command: str) -> None:
    made = AgentWork()
    made.read()
    made.edit(OLD, NEW)
    made.run(command, "ok")
    made.compact()
    made.read(of=EDITED)
    assert [kind for kind, _, _ in made.needs()] == [READ]


@pytest.mark.parametrize("found", [
    EDITED.replace("line 40 of", "line forty of"),
    EDITED.replace("line 30 of", "line 30  of"),
    EDITED.replace("line 40 of the file = 1600\n", ""),
    f"{EDITED}one more line\n",
    FILE,
])  # fmt: skip
def test_any_other_text_is_not_what_was_known(found: str) -> None:
    made = AgentWork()
    made.read()
    made.edit(OLD, NEW)
    made.compact()
    made.read(of=found)
    assert made.needs() == []


def test_an_edit_that_failed_changes_nothing_of_what_is_known() -> None:
    made = AgentWork()
    made.read()
    made.edit(OLD, NEW)
    made.call("edit", "the text was not found in file", error=True, path="/w/a.py", oldText=OLD,
              newText="x")  # fmt: skip
    made.compact()
    made.read(of=EDITED)
    assert [kind for kind, _, _ in made.needs()] == [READ]


def test_of_a_part_only_what_follows_from_an_edit_of_whole_lines_of_it_is_known() -> None:
    made = AgentWork()
    before = made.read(first=1, count=30)
    edited = made.edit(OLD, NEW)
    made.compact()
    after = made.read(of=EDITED, first=1, count=40)
    need = made.need()
    assert (need.repeat.before, need.repeat.edited, need.repeat.after) == (before, edited, after)
    assert (need.repeat.lines, need.repeat.last) == (32, 32), "the lines behind it moved"


@pytest.mark.parametrize(
    ("old", "new", "more"),
    [("3 of the file", "three of the file", {}), ("line 35 of the file = 1225", "35", {}),
     (OLD, NEW, {"replace_all": True}), ("\n", "\n\n", {}), (f"{OLD}\n", "line 3", {})],
)  # fmt: skip
def test_of_a_part_it_must_be_certain_where_the_edit_was_made(
    old: str, new: str, more: dict[str, Any]
) -> None:
    made = AgentWork()
    made.read(first=1, count=30)
    made.call("Edit", "ok", file_path="/w/a.py", old_string=old, new_string=new, **more)
    made.compact()
    made.read(of=FILE.replace(old, new), first=1, count=30)
    assert made.needs() == []


def test_lines_of_a_part_that_are_there_twice_do_not_tell_which_was_edited() -> None:
    twice = f"{FILE}{FILE}"
    made = AgentWork()
    made.read(of=twice, first=1, count=60)
    made.edit(OLD, NEW)
    made.compact()
    made.read(of=twice.replace(OLD, NEW, 1), first=1, count=60)
    assert made.needs() == []


def test_a_part_that_is_not_as_the_edit_left_it_has_changed_otherwise() -> None:
    made = AgentWork()
    made.read(first=1, count=30)
    made.edit(OLD, NEW)
    made.compact()
    made.read(of=EDITED.replace("line 9 of", "line nine of"), first=1, count=30)
    assert made.needs() == []


@pytest.mark.parametrize(
    ("old", "new"),
    [("line 3 of the file = 9\nline 4 of the file = 16\n", ""), ("line 3 of the file = 9", ""),
     ("line 3 of the file = 9\n", "one\ntwo\n")],
)  # fmt: skip
def test_of_a_part_lines_are_taken_out_and_put_in(old: str, new: str) -> None:
    made = AgentWork()
    made.read(first=1, count=30)
    made.edit(old, new)
    made.compact()
    made.read(of=FILE.replace(old, new), first=1, count=27)
    assert made.need().repeat.lines == 27


def test_a_part_that_was_read_since_the_edit_was_seen_as_it_is() -> None:
    made = AgentWork()
    made.read(first=1, count=30)
    made.edit(OLD, NEW)
    made.read(of=EDITED, first=1, count=30)
    made.compact()
    made.read(of=EDITED, first=1, count=30)
    assert made.need().repeat.edited == -1


def test_a_part_of_what_was_edited_may_be_read_again() -> None:
    long = "".join(f"line {at} of the file = {at * at}\n" for at in range(1, 101))
    made = AgentWork()
    made.read(of=long)
    made.edit(OLD, NEW)
    made.compact()
    part = made.read(of=long.replace(OLD, NEW), first=11, count=50)
    whole = made.read(of=long.replace(OLD, NEW))
    first, second = (need.repeat for need in made.found().needs)
    assert (first.after, first.first, first.last) == (part, 11, 60)
    assert (second.after, second.lines) == (whole, 102 - 50)


def test_a_file_edited_after_the_compaction_is_read_to_see_the_edit() -> None:
    made = AgentWork()
    made.read()
    made.compact()
    made.edit(OLD, NEW)
    made.read(of=EDITED)
    assert made.needs() == []


def test_without_a_compaction_the_same_counts_the_same_way() -> None:
    def work(*, edits_late: bool) -> float:
        made = AgentWork()

        def others(count: int) -> None:
            for _ in range(count):
                made.reply()

        others(60)
        made.read()
        if not edits_late:
            made.edit(OLD, NEW)
        others(30)
        if edits_late:
            made.edit(OLD, NEW)
        made.read(of=EDITED)
        others(30)
        made.compact()
        others(40)
        expected = made.found().after[0].expected
        assert expected is not None
        return expected.number

    assert work(edits_late=False) > 5 * work(edits_late=True) > 0


def _arguments(**more: Any) -> dict[str, Any]:
    return {"path": "/w/a.py", **more}


def test_several_edits_of_one_call_are_made_one_after_the_other() -> None:
    made = AgentWork()
    made.read()
    edits = [{"oldText": OLD, "newText": NEW}, {"oldText": "and another", "newText": "and it"}]
    made.call("edit", "ok", **_arguments(edits=edits))
    made.compact()
    made.read(of=EDITED.replace("and another", "and it"))
    assert [kind for kind, _, _ in made.needs()] == [READ]
