"""The panel with a session in it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.compaction.profile import PROFILES, Settings
from explorer.models.catalogue import ModelInfo
from tests.ui.compaction.previews import Previewed
from tests.ui.sessions import MemoryDocument, Talk
from tests.ui.waiting import settle
from ui.compaction.panel import CompactionPanel

Key = Qt.Key
MODELS = [
    ModelInfo("offline/extractive", "Extractive (offline)", None, None, True, 0.0, 0.0),
    ModelInfo("provider/large", "Large", None, None, False, 3e-6, 15e-6),
]


def talked(turns: int = 40) -> MemoryDocument:
    talk = Talk()
    talk.turns(turns)
    return talk.document


@pytest.fixture
def document() -> Previewed:
    return Previewed(talked())


@pytest.fixture
def panel(app: QApplication, document: Previewed) -> CompactionPanel:
    widget = CompactionPanel()
    widget.set_models(MODELS, "offline/extractive")
    widget.set_rules(PROFILES["explorer"], Settings(200_000, 16_384, 3_000))
    widget.set_document(document)
    widget.resize(460, 860)
    widget.show()
    settle()
    return widget


def set_keep(panel: CompactionPanel, value: int) -> None:
    """Type a number for what is kept."""
    box = panel.setup.keep.box
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, str(value))
    QTest.keyClick(box, Key.Key_Return)
