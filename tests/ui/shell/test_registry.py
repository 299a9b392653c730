"""The registry of actions, and the palette and the page of keys made from it."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QTextBrowser

from tests.ui.waiting import settle
from ui.actions import ActionRegistry, ActionSpec
from ui.shell.command_palette import CommandPalette, ShortcutsPage, key_sections
from ui.widgets.dialogs import help_html


@pytest.fixture
def window(app: QApplication) -> QMainWindow:
    shown = QMainWindow()
    shown.show()
    return shown


@pytest.fixture
def ran() -> list[str]:
    """The ids of the actions that were run."""
    return []


@pytest.fixture
def registry(window: QMainWindow, ran: list[str]) -> ActionRegistry:
    found = ActionRegistry(window)
    for action_id, title, keys in (
        ("import", "&Import…", (QKeySequence.StandardKey.Open,)),
        ("leaf", "Show the &leaf", ("Ctrl+L",)),
        ("label", "La&bel…", ("Ctrl+B",)),
        ("search", "&Search", ("/", "Ctrl+F")),
    ):
        spec = ActionSpec(action_id, title, f"Tip of {action_id} <b>", "&Menu", keys)
        found.add(spec, partial(ran.append, action_id))
    return found


def test_an_id_or_a_key_is_given_once(registry: ActionRegistry) -> None:
    with pytest.raises(ValueError, match="registered twice"):
        registry.add(ActionSpec("leaf", "Again", "", ""), lambda: None)
    with pytest.raises(ValueError, match=r"wants 'Ctrl\+L', which 'leaf' has"):
        registry.add(ActionSpec("other", "Other", "", "", ("Ctrl+L",)), lambda: None)


def test_menus_are_built_in_order_with_tips(registry: ActionRegistry, window: QMainWindow) -> None:
    registry.fill(window.menuBar())
    (menu,) = (action.menu() for action in window.menuBar().actions())
    assert [action.text() for action in menu.actions()] == [
        "&Import…", "Show the &leaf", "La&bel…", "&Search",
    ]  # fmt: skip
    assert menu.toolTipsVisible()


def test_the_palette_puts_the_best_name_first(
    registry: ActionRegistry, window: QMainWindow
) -> None:
    palette = CommandPalette(registry, window)
    assert len(palette.titles()) == 4
    box = palette.findChild(QLineEdit)
    QTest.keyClicks(box, "l")
    assert palette.titles()[0] == "Label…"
    QTest.keyClicks(box, "eaf")
    assert palette.titles() == ["Show the leaf"]


def test_the_palette_runs_what_the_arrows_chose(
    registry: ActionRegistry, window: QMainWindow, ran: list[str]
) -> None:
    registry.enable(["import"], False, "Not now.")
    palette = CommandPalette(registry, window)
    assert palette.titles()[0] == "Show the leaf", "what is disabled is not listed"
    box = palette.findChild(QLineEdit)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up):
        QTest.keyClick(box, key)
    QTest.keyClick(box, Qt.Key.Key_Return)
    settle()
    assert ran == ["label"]


def test_the_page_of_keys_escapes_what_it_quotes(
    registry: ActionRegistry, window: QMainWindow
) -> None:
    html = help_html(key_sections(registry))
    assert "Tip of leaf &lt;b&gt;" in html
    assert "Ctrl+F" in html
    assert "On the map" in html
    page = ShortcutsPage(registry, window)
    page.show()
    (text,) = page.findChildren(QTextBrowser)
    assert "Tip of leaf <b>" in text.toPlainText()
