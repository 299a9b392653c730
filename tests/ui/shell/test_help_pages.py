"""The documents under Help: each one is there, and their links lead from one to another."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from explorer.settings import paths
from tests.ui.waiting import settle
from ui.shell.help_pages import DOCUMENTS, GuideWindow, linked

LINK = re.compile(r"\]\(([^)]+)\)")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_to_a_document_of_the_list(document: str) -> None:
    text = paths.resource(*document.split("/")).read_text(encoding="utf-8")
    assert text.startswith("# ")
    for address in LINK.findall(text):
        assert linked(document, address), address


def test_documents_are_chosen_by_key_and_by_link(app: QApplication) -> None:
    parent = QWidget()
    guide = GuideWindow(parent)
    guide.show()
    settle()
    assert "# Guide" in guide.text.markdown_source()
    guide.list.setFocus()
    QTest.keyClick(guide.list, Qt.Key.Key_Down)
    assert guide.text.markdown_source().startswith("# What the audit says")
    QTest.keyClick(guide.list, Qt.Key.Key_Up)
    guide.area.verticalScrollBar().setValue(200)
    guide.text.link_asked.emit("../extensions/README.md")
    settle()
    assert guide.list.name == "extensions/README.md"
    assert guide.area.verticalScrollBar().value() == 0
    guide.close()
    parent.deleteLater()
