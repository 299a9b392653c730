"""Sessions with branches and compactions, and a map that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.compaction.partition import Partition, partition
from explorer.compaction.preparation import prepare
from explorer.compaction.profile import PROFILES, Settings
from explorer.session.tree import SessionTree
from tests.ui.sessions import MemoryDocument, Talk
from ui.map.pane import MapPane


@dataclass
class Branchy:
    """A session with an abandoned branch, its summary, and a compaction."""

    document: MemoryDocument
    fork: int
    abandoned: range
    summary: int
    compaction: int
    first_kept: int
    leaf: int


@pytest.fixture
def branchy() -> Branchy:
    talk = Talk()
    talk.turns(6)
    first_kept = len(talk.document.tree) - 4
    kept_id = talk.document.tree.columns.ids[first_kept]
    compaction = talk.entry(
        "compaction", summary="What was done", firstKeptEntryId=kept_id, tokensBefore=184_200
    )
    fork_id = talk.last
    start = len(talk.document.tree)
    talk.turns(1)
    abandoned = range(start, len(talk.document.tree))
    left_at, talk.last = talk.last, fork_id
    summary = talk.entry("branch_summary", fromId=left_at, summary="The fake clock, given up")
    talk.turns(4)
    document = talk.document
    return Branchy(document, compaction, abandoned, summary, compaction, first_kept, document.leaf)


Show = Callable[..., MapPane]


@pytest.fixture
def show(app: QApplication) -> Iterator[Show]:
    """Opens a pane of 900 by 640 on a document."""
    panes: list[MapPane] = []

    def opened(
        document: MemoryDocument, leaf: int | None = None, labels: dict[int, str] | None = None
    ) -> MapPane:
        pane = MapPane()
        panes.append(pane)
        pane.resize(900, 640)
        leaf = document.leaf if leaf is None else leaf
        pane.show_session(
            document.tree, document.payloads.shown, leaf, labels or {}, document.writer.made_here
        )
        pane.show()
        pane.activateWindow()
        pane.view.setFocus()
        QTest.qWaitForWindowExposed(pane)
        app.processEvents()
        return pane

    yield opened
    for pane in panes:
        pane.shutdown()


def divided(tree: SessionTree, leaf: int, keep: int = 500, cut: int | None = None) -> Partition:
    """The partition that a compaction at the leaf would make."""
    profile = PROFILES["explorer"]
    settings = Settings.of(profile)
    settings = type(settings)(settings.context_window, settings.reserve_tokens, keep)
    return partition(prepare(tree, leaf, profile, settings, cut=cut))


def row_point(pane: MapPane, entry: int, x: float = 300) -> QPoint:
    """The middle of an entry's row in the map."""
    rect = pane.view.row_rect(entry)
    assert not rect.isNull(), f"entry {entry} has no row"
    return QPointF(x, rect.center().y()).toPoint()


def click(pane: MapPane, entry: int, x: float = 300) -> None:
    QTest.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=row_point(pane, entry, x))


def press(pane: MapPane, key: Qt.Key, modifier: Qt.KeyboardModifier | None = None) -> None:
    QTest.keyClick(pane.view, key, modifier or Qt.KeyboardModifier.NoModifier)


def drag(pane: MapPane, start: QPoint, *stops: QPoint, release: bool = True) -> None:
    """A drag with the left button over several points."""
    port, button = pane.view.viewport(), Qt.MouseButton.LeftButton
    QTest.mousePress(port, button, pos=start)
    for stop in stops:
        QTest.mouseMove(port, stop)
    if release:
        QTest.mouseRelease(port, button, pos=stops[-1])
