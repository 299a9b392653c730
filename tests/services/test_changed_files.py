"""Going back in the tree leaves the disk as it is: which files, what changed, and restoring."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from explorer.services import changed_files as module
from explorer.services.changed_files import (
    ChangedFile,
    GitError,
    changed_files,
    difference,
    known_files,
    recorded_change,
    restore,
)
from explorer.services.document import Document
from explorer.services.open_session import OpenedSession
from explorer.workbench import Workbench
from tests.compaction.pruned_sessions import used
from tests.compaction.sessions import Session
from tests.services.changed_session import ASKED, CHANGED, HERE, LEFT, changed_session


def opened(bench: Workbench, folder: Path, *, in_git: bool = True) -> Document:
    return bench.open_blocking(bench.import_blocking(changed_session(folder, in_git=in_git)).key)


def left(document: Document, target: int = ASKED) -> tuple[ChangedFile, ...]:
    return changed_files(document, document.navigation.plan(target).left_behind)


def test_a_change_that_was_made_is_found_and_restored(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = opened(bench, tmp_path / "work")
    # As in a hook of another repository, from which the program may have been started.
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    assert document.leaf == CHANGED
    (one,) = left(document)
    assert (one.name, one.in_git, one.is_gone) == ("calc.py", True, False)
    signs = [(line.sign, line.text) for line in recorded_change(document, one)]
    assert signs == [("-", "a - b"), ("+", "a + b")]
    assert "-    return a - b\n+    return a + b\n" in difference(one.folder, one.place)
    replaced = restore(one.folder, [one.place])
    assert one.place.read_text(encoding="utf-8") == LEFT
    assert len(replaced[one.place]) == 40
    assert left(document) == ()


def test_without_git_it_is_only_said(bench: Workbench, tmp_path: Path) -> None:
    (one,) = left(opened(bench, tmp_path / "work", in_git=False))
    assert (one.name, one.in_git) == ("calc.py", False)
    with pytest.raises(GitError):
        restore(one.folder, [one.place])
    assert one.place.read_text(encoding="utf-8") == HERE


def test_nothing_is_said_where_nothing_stays(bench: Workbench, tmp_path: Path) -> None:
    document = opened(bench, tmp_path / "work")
    assert left(document, CHANGED - 1) == ()
    (tmp_path / "work" / "calc.py").write_text(LEFT, encoding="utf-8")
    assert left(document) == ()
    (tmp_path / "work").rename(tmp_path / "gone")
    assert left(document) == ()


def committed(folder: Path) -> None:
    words = ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-aqm", "later"]
    subprocess.run(["git", *words], cwd=folder, check=True, timeout=20)


def test_what_was_changed_further_stands_until_it_is_committed(
    bench: Workbench, tmp_path: Path
) -> None:
    document = opened(bench, tmp_path / "work")
    (tmp_path / "work" / "calc.py").write_text("add = sum\n", encoding="utf-8")
    assert [(one.name, one.in_git) for one in left(document)] == [("calc.py", True)]
    committed(tmp_path / "work")
    assert left(document) == ()


def test_git_has_what_the_last_commit_has(tmp_path: Path) -> None:
    """Also a file that the next commit will not have; one that no commit had it has not."""
    changed_session(tmp_path / "work", in_git=True)
    place = tmp_path / "work"
    (place / "new.py").write_text("", encoding="utf-8")
    files = [place / name for name in ("calc.py", "other.py", "new.py")]
    assert known_files(place, files) == {files[0]: True, files[1]: False}
    subprocess.run(["git", "rm", "-q", "--cached", "calc.py"], cwd=place, check=True, timeout=20)
    assert known_files(place, files) == {files[0]: True, files[1]: False}
    assert known_files(place, [tmp_path / "elsewhere.py"]) == {}


def test_a_link_out_of_the_folder_is_not_offered(bench: Workbench, tmp_path: Path) -> None:
    document = opened(bench, tmp_path / "work")
    outside = tmp_path / "outside.py"
    (tmp_path / "work" / "calc.py").rename(outside)
    (tmp_path / "work" / "calc.py").symlink_to(outside)
    (one,) = left(document)
    assert not one.in_git


# without git --------------------------------------------------------------------------------------


def found_in(session: Session, folder: Path, made_here: bool = False) -> OpenedSession:
    payloads = SimpleNamespace(entry=lambda at: session.read([at])[0])
    return cast(OpenedSession, SimpleNamespace(
        tree=session.tree, header=SimpleNamespace(cwd=str(folder)),
        writer=SimpleNamespace(made_here=lambda _entry: made_here),
        payloads=SimpleNamespace(stored=payloads, shown=payloads),
    ))  # fmt: skip


def standing(
    session: Session, folder: Path, workspace: str = "", made_here: bool = False
) -> list[tuple[str, tuple[int, ...], bool]]:
    found = changed_files(
        found_in(session, folder, made_here), range(len(session.entries)), workspace
    )
    return [(one.name, one.entries, one.is_gone) for one in found]


EDIT = {"path": "a.py", "oldText": "old", "newText": "new"}
DELETED = {"input": "*** Begin Patch\n*** Delete File: a.py\n*** End Patch"}


@pytest.mark.parametrize(
    ("tool", "arguments", "now", "stands"),
    [
        ("edit", EDIT, "the new one", True),
        ("edit", EDIT, "the old one", False),
        ("edit", EDIT, "new and old", True),
        ("edit", EDIT, "something else", True),
        ("edit", EDIT, None, False),
        ("edit", {**EDIT, "newText": ""}, "the old one", False),
        ("edit", {**EDIT, "newText": ""}, "without it", True),
        ("edit", {**EDIT, "oldText": "a\r\nb", "newText": "c\r\nd"}, "c\nd", True),
        ("edit", {**EDIT, "oldText": "a\r\nb", "newText": "c\r\nd"}, "a\nb", False),
        ("write", {"path": "a.py", "content": "new"}, "new", True),
        ("write", {"path": "a.py", "content": "new"}, "else", True),
        ("apply_patch", DELETED, None, True),
        ("apply_patch", DELETED, "there again", False),
        ("read", {"path": "a.py"}, "new", False),
    ],
)
def test_a_change_stands_as_far_as_can_be_seen(
    tmp_path: Path, tool: str, arguments: dict[str, str], now: str | None, stands: bool
) -> None:
    session = Session()
    used(session, tool, arguments=arguments)
    if now is not None:
        (tmp_path / "a.py").write_text(now, encoding="utf-8")
    wanted = [("a.py", (0,), tool == "apply_patch")] if stands else []
    assert standing(session, tmp_path) == wanted


def test_only_calls_that_were_answered_well_changed_something(tmp_path: Path) -> None:
    session = Session()
    (tmp_path / "a.py").write_text("new")
    used(session, "edit", arguments=EDIT, error=True)
    session.reply(calls=[("edit", "a.py")])
    assert standing(session, tmp_path) == []
    used(session, "edit", arguments=EDIT)
    session.user()
    used(session, "write", arguments={"path": "./a.py", "content": "new"})
    assert standing(session, tmp_path) == [("a.py", (3, 6), False)]
    assert standing(session, tmp_path / "gone") == [] == standing(session, Path("relative"))


def test_entries_that_follow_each_other_are_told_apart(tmp_path: Path) -> None:
    """Two replies in a row, whose results come after both."""
    session = Session()
    for name in ("a.py", "b.py"):
        session.reply(calls=[("edit", name)])
        (tmp_path / name).write_text("new")
    for call in ("c0.0", "c1.0"):
        session.result(call=call)
    made = found_in(session, tmp_path)
    assert [one.name for one in changed_files(made, [0])] == ["a.py"]
    assert [one.name for one in changed_files(made, [1])] == ["b.py"]
    assert [one.name for one in changed_files(made, range(4))] == ["a.py", "b.py"]


def test_files_of_here_are_those_of_the_workspace(tmp_path: Path) -> None:
    session = Session()
    used(session, "edit", arguments=EDIT)
    (tmp_path / "here").mkdir()
    (tmp_path / "here/a.py").write_text("new")
    there = tmp_path / "there"
    assert standing(session, there, str(tmp_path / "here"), made_here=True)
    assert not standing(session, there, str(tmp_path / "here"))
    assert standing(session, tmp_path / "here", made_here=True)


@pytest.mark.parametrize("folder", ["there", "a.py", "missing"])
def test_files_are_looked_for_in_whole_folders_only(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not below a folder of the moment, a file, or nothing."""
    session = Session()
    used(session, "write", arguments={"path": "a.py", "content": "new"})
    (tmp_path / "there").mkdir()
    for place in (tmp_path, tmp_path / "there"):
        (place / "a.py").write_text("new")
    monkeypatch.chdir(tmp_path)
    assert standing(session, Path(folder)) == []
    assert bool(standing(session, tmp_path / folder)) is (folder == "there")


def test_large_files_are_not_read_and_the_last_ones_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session()
    for name in ("c.py", "a.py", "b.py", "c.py"):
        used(session, "edit", arguments={**EDIT, "path": name})
        (tmp_path / name).write_text("old!!")
    assert standing(session, tmp_path) == []
    monkeypatch.setattr(module, "MOST_BYTES", 5)
    assert standing(session, tmp_path) == []
    monkeypatch.setattr(module, "MOST_BYTES", 4)
    every = [("a.py", (2,), False), ("b.py", (4,), False), ("c.py", (0, 6), False)]
    assert standing(session, tmp_path) == every
    monkeypatch.setattr(module, "MOST_FILES", 2)
    assert standing(session, tmp_path) == every[1:]


def test_recorded_changes_follow_each_other(tmp_path: Path) -> None:
    session = Session()
    (tmp_path / "a.py").write_text("new")
    used(session, "edit", arguments=EDIT)
    used(session, "edit", arguments={**EDIT, "path": "b.py"})
    used(session, "write", arguments={"path": "a.py", "content": "new"})
    made = found_in(session, tmp_path)
    (one,) = [each for each in changed_files(made, range(6)) if each.path == "a.py"]
    assert [(line.sign, line.text) for line in recorded_change(made, one)] == [
        ("-", "old"), ("+", "new"), ("@", "…"), ("+", "new"),
    ]  # fmt: skip
