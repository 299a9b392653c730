"""Comparing two branches of the session shown."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from explorer.session.branch_difference import compare_branches
from explorer.session.tree import SessionTree
from explorer.work.document import Document
from ui.app_state import Desk
from ui.branching.difference_window import BETWEEN, Branch, DifferenceWindow
from ui.map.navigation import NavigationControl

MOST_OFFERED = 60
"""Branches that are offered to choose from, the newest first."""


class DifferenceControl(QObject):
    """Owns the window of the comparison."""

    def __init__(self, desk: Desk, navigation: NavigationControl) -> None:
        super().__init__(desk)
        self._desk, self._navigation = desk, navigation
        self.window: DifferenceWindow | None = None
        self.show_summaries: Callable[[int, int], None] = lambda _left, _right: None
        """Shows the branch summaries that tell of two branches."""
        desk.document_changed.connect(self._other_document)

    def _other_document(self) -> None:
        if self.window is not None:
            self.window.close()
            self.window.deleteLater()
            self.window = None

    def compare_with_active(self, entry: int) -> None:
        """Compare the branch that an entry is on with the active path. On the active path itself
        the branch that was left last stands beside it."""
        document = self._desk.document
        if document is None or document.leaf < 0:
            return
        other = branch_of(document.tree, entry, document.leaf)
        if other < 0:
            self._desk.say("There is only one branch; nothing can be compared yet.")
            return
        self.compare(document.leaf, other)

    def compare(self, left: int, right: int) -> None:
        """Compare the branches that end in two entries."""
        document = self._desk.document
        if document is None:
            return
        if self.window is None:
            tree, payloads = document.tree, document.payloads
            self.window = DifferenceWindow(
                lambda one, other: compare_branches(tree, payloads, one, other), self._desk.window
            )
            self.window.entry_requested.connect(self._desk.window.map.select)
            self.window.go_requested.connect(self._navigation.go_to)
            self.window.summaries_requested.connect(
                lambda left, right: self.show_summaries(left, right)
            )
        self.window.compare(branches_of(document, (left, right)), left, right)
        self.window.show()
        self.window.raise_()
        self.window.activateWindow()


def branch_of(tree: SessionTree, entry: int, leaf: int) -> int:
    """The end of the branch that an entry is on, where that is another than the active one; else
    of the one that was added to last; -1 for none."""
    if 0 <= entry < len(tree) and not tree.is_ancestor(entry, leaf):
        return tree.deepest_leaf(entry)
    ends = (end for end in reversed(tree.leaves()) if not tree.is_ancestor(end, leaf))
    return next(ends, -1)


def branches_of(document: Document, always: tuple[int, ...] = ()) -> list[Branch]:
    """The branches to choose from, the active one first, then the newest."""
    tree = document.tree
    ends = [end for end in reversed(tree.leaves()) if end not in always][:MOST_OFFERED]
    listed = list(dict.fromkeys([*always, *ends]))
    labels = tree.labels()
    names = document.previews(listed)
    found = []
    for end, first in zip(listed, names, strict=True):
        what = labels.get(end) or first
        model = _model(tree, end)
        told = f"#{end}" + (", the leaf" if end == document.leaf else "")
        found.append(Branch(end, BETWEEN.join(part for part in (told, model, what) if part)))
    return found


def _model(tree: SessionTree, end: int) -> str:
    columns = tree.columns
    path = tree.path(end)
    for at in reversed(path[max(0, len(path) - 20) :].indices()):
        if columns.model[at]:
            return columns.models[columns.model[at]].rpartition("/")[2]
    return ""
