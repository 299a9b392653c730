"""Going back in the tree leaves the disk as it is: which files, what changed, and restoring."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.services.changed_files import ChangedFile, changed_files, recorded_change
from explorer.services.document import Document
from explorer.services.git_files import GitError, difference, restore
from explorer.workbench import Workbench
from tests.services.changed_session import ASKED, CHANGED, HERE, LEFT, changed_session


def opened(bench: Workbench, folder: Path, *, in_git: bool = True) -> Document:
    return bench.open_blocking(bench.import_blocking(changed_session(folder, in_git=in_git)).key)


def left(document: Document, target: int = ASKED) -> tuple[ChangedFile, ...]:
    return changed_files(document, document.navigation.plan(target).left_behind)


def test_a_change_that_was_made_is_found_and_restored(bench: Workbench, tmp_path: Path) -> None:
    document = opened(bench, tmp_path / "work")
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


def test_a_link_out_of_the_folder_is_not_offered(bench: Workbench, tmp_path: Path) -> None:
    document = opened(bench, tmp_path / "work")
    outside = tmp_path / "outside.py"
    (tmp_path / "work" / "calc.py").rename(outside)
    (tmp_path / "work" / "calc.py").symlink_to(outside)
    (one,) = left(document)
    assert not one.in_git
