"""Nothing outside the workspace is read or written, however a path is spelled or links are made."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.agent import workspace as workspace_files
from explorer.agent.tools.edit import apply_change, plan_edit, plan_write
from explorer.agent.tools.port import ToolContext, ToolError, ToolRun
from explorer.agent.tools.workspace_tools import run_read_only
from explorer.agent.workspace import Workspace, WorkspaceError, mark_of, read_whole, replace_whole

SECRET = "the word outside"


class Place:
    """A workspace with something beside it that must stay as it is."""

    def __init__(self, root: Path) -> None:
        self.outside = root / "outside"
        self.outside.mkdir()
        (self.outside / "secret.txt").write_text(SECRET)
        (self.outside / "unspoken.txt").write_text(SECRET)
        self.inside = root / "project"
        (self.inside / "src").mkdir(parents=True)
        (self.inside / "src" / "a.py").write_text("inside\n")
        self.desk = ToolContext(Workspace(self.inside))

    def is_whole(self) -> bool:
        """Whether nothing outside was touched."""
        return [
            (path.relative_to(self.outside).as_posix(), path.read_text())
            for path in sorted(self.outside.rglob("*"))
        ] == [("secret.txt", SECRET), ("unspoken.txt", SECRET)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["..", "../outside/secret.txt", "src/../../outside/secret.txt", "/etc/hostname", "~",
     "~nobody-here/x", "~root/x", "a\0b", "/", "src/../..", "/proc/self/cwd/x"],
)  # fmt: skip
def test_names_that_lead_out_are_refused(place: Place, name: str) -> None:
    with pytest.raises(WorkspaceError):
        place.desk.workspace.target(name)
    with pytest.raises(WorkspaceError):
        place.desk.workspace.readable(name)


def test_a_name_that_no_file_can_have_is_told(place: Place) -> None:
    assert run_read_only(place.desk, {"path": "x" * 5_000}, ToolRun("read")).is_error


def test_a_file_that_is_not_there_yet_is_found_through_its_links(place: Place) -> None:
    (place.inside / "way").symlink_to(place.inside / "src")
    (place.inside / "door").symlink_to(place.outside)
    (place.inside / "dangling").symlink_to(place.outside / "new.txt")
    workspace = place.desk.workspace
    assert workspace.target("way/new.py") == place.inside / "src" / "new.py"
    for name in ("door/new.txt", "dangling", "door/more/new.txt", "way/../../outside/new"):
        with pytest.raises(WorkspaceError):
            workspace.target(name)


def test_links_in_a_ring_are_told(place: Place) -> None:
    (place.inside / "one").symlink_to("two")
    (place.inside / "two").symlink_to("one")
    with pytest.raises((WorkspaceError, OSError)):
        read_whole(place.desk.workspace, place.desk.workspace.target("one"))


def test_what_may_be_read_besides_may_not_be_written_or_searched(place: Place) -> None:
    secret = place.outside / "secret.txt"
    desk = ToolContext(Workspace(place.inside).with_reading(lambda path: path == secret))
    told = run_read_only(desk, {"path": str(secret)}, ToolRun("read"))
    assert (told.text, told.is_error) == (SECRET, False)
    assert run_read_only(desk, {"pattern": "word", "path": str(secret)}, ToolRun("grep")).is_error
    assert run_read_only(desk, {"path": str(place.outside)}, ToolRun("ls")).is_error
    with pytest.raises(WorkspaceError):
        plan_write(desk, {"path": str(secret), "content": "x"})


def test_two_reasons_to_read_both_hold(place: Place) -> None:
    one, two = place.outside / "secret.txt", place.outside / "two.txt"
    two.write_text("two")
    workspace = Workspace(place.inside).with_reading(lambda path: path == one)
    workspace = workspace.with_reading(lambda path: path == two)
    assert workspace.readable(str(one)) == one
    assert workspace.readable(str(two)) == two


def swap(place: Place, name: str, target: Path) -> None:
    """Put a link in the place of something, as somebody else could at any moment."""
    path = place.inside / name
    os.rename(path, place.inside / "moved-away")
    path.symlink_to(target)


def test_a_folder_that_becomes_a_link_after_the_permission_is_not_followed(place: Place) -> None:
    change = plan_write(place.desk, {"path": "src/new.txt", "content": "x"})
    swap(place, "src", place.outside)
    with pytest.raises(WorkspaceError, match="link"):
        apply_change(place.desk, change)
    assert place.is_whole()


def test_a_file_that_becomes_a_link_after_the_permission_is_not_followed(place: Place) -> None:
    change = plan_edit(
        place.desk, {"path": "src/a.py", "edits": [{"oldText": "inside", "newText": "x"}]}
    )
    swap(place, "src/a.py", place.outside / "secret.txt")
    with pytest.raises(WorkspaceError):
        apply_change(place.desk, change)
    assert place.is_whole()


def test_a_link_made_where_a_new_file_goes_is_not_followed(place: Place) -> None:
    change = plan_write(place.desk, {"path": "new.txt", "content": "x"})
    (place.inside / "new.txt").symlink_to(place.outside / "secret.txt")
    with pytest.raises(WorkspaceError):
        apply_change(place.desk, change)
    assert place.is_whole()


def test_a_link_made_between_the_decision_and_the_reading_is_not_followed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Workspace.readable

    def readable(self: Workspace, name: str) -> Path:
        found = real(self, name)
        swap(place, "src", place.outside)
        return found

    (place.inside / "src" / "secret.txt").write_text("inside")
    monkeypatch.setattr(Workspace, "readable", readable)
    told = run_read_only(place.desk, {"path": "src/secret.txt"}, ToolRun("read"))
    assert told.is_error
    assert SECRET not in told.text


def test_what_is_no_plain_file_is_not_opened(place: Place) -> None:
    os.mkfifo(place.inside / "pipe")
    assert "no plain file" in run_read_only(place.desk, {"path": "pipe"}, ToolRun("read")).text
    assert run_read_only(place.desk, {"pattern": "x"}, ToolRun("grep")).text == "No matches found."


def test_a_write_is_whole_or_not_at_all(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place.inside / "src" / "a.py"

    def broken(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(workspace_files.os, "fsync", broken)
    with pytest.raises(OSError, match="No space"):
        replace_whole(place.desk.workspace, path, b"new", mark_of(b"inside\n"))
    assert path.read_text() == "inside\n"
    assert [item.name for item in path.parent.iterdir()] == ["a.py"]


def test_a_write_keeps_the_mode_and_breaks_a_hard_link(place: Place) -> None:
    path = place.inside / "src" / "a.py"
    path.chmod(0o750)
    os.link(place.outside / "secret.txt", place.inside / "same.txt")
    replace_whole(place.desk.workspace, path, b"new", mark_of(b"inside\n"))
    assert path.stat().st_mode & 0o777 == 0o750
    same = place.inside / "same.txt"
    replace_whole(place.desk.workspace, same, b"new", mark_of(SECRET.encode()))
    assert place.is_whole()


PARTS = st.sampled_from(
    ["..", ".", "src", "a.py", "door", "file", "deep", "new", "outside", "secret.txt", "up",
     "project", "", "~", "/", "loop"]
)  # fmt: skip
NAMES = st.builds(
    lambda first, parts: first + "/".join(parts),
    st.sampled_from(["", "/", "ROOT/", "./", "OUT/"]),
    st.lists(PARTS, min_size=1, max_size=6),
)
CALLS = st.sampled_from(["read", "grep", "find", "ls", "write", "edit"])


def _links(place: Place) -> None:
    (place.inside / "door").symlink_to(place.outside)
    (place.inside / "file").symlink_to(place.outside / "secret.txt")
    (place.inside / "deep").symlink_to("src/up")
    (place.inside / "src" / "up").symlink_to("../..")
    (place.inside / "new").symlink_to("../outside/new")
    (place.inside / "loop").symlink_to("loop")


@pytest.fixture(scope="module")
def linked() -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder).resolve())
        _links(place)
        yield place


@settings(max_examples=300, deadline=None)
@given(name=NAMES, call=CALLS)
def test_no_spelling_escapes(linked: Place, name: str, call: str) -> None:
    """Links out of the workspace, ``..``, absolute and home paths, in every mixture."""
    name = name.replace("ROOT", str(linked.inside)).replace("OUT", str(linked.outside))
    plans: dict[str, Callable[[ToolContext, Any], Any]] = {"write": plan_write, "edit": plan_edit}
    if call in plans:
        arguments = {"path": name, "content": "changed", "oldText": SECRET, "newText": "changed"}
        try:
            apply_change(linked.desk, plans[call](linked.desk, arguments))
        except (ToolError, WorkspaceError, OSError) as error:
            assert SECRET not in str(error)
    else:
        told = run_read_only(linked.desk, {"path": name, "pattern": "*" if call == "find" else "."},
                    ToolRun(call))  # fmt: skip
        assert SECRET not in told.text
        assert "unspoken" not in told.text
    assert linked.is_whole()
