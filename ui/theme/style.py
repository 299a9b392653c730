"""Palette and style sheet, both built from the tokens and from nothing else."""

from __future__ import annotations

from pathlib import Path
from string import Template

from PySide6 import QtCore
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QWidget

from ui.theme.tokens import COLOUR_TOKENS, RADIUS, Theme, blend, scaled, small_font

ICON_DIR = Path(__file__).resolve().parents[2] / "resources" / "icons"

Group = QPalette.ColorGroup
Role = QPalette.ColorRole


def build_palette(now: Theme) -> QPalette:
    """The palette for everything that the style sheet leaves to Fusion."""
    palette = QPalette()
    for role, colour in (
        (Role.Window, now.paper),
        (Role.WindowText, now.ink),
        (Role.Base, now.card),
        (Role.AlternateBase, now.panel),
        (Role.Text, now.ink),
        (Role.Button, now.card),
        (Role.ButtonText, now.ink),
        (Role.BrightText, now.lost),
        (Role.ToolTipBase, now.card),
        (Role.ToolTipText, now.ink),
        (Role.Highlight, now.sel),
        (Role.HighlightedText, now.ink),
        (Role.Accent, now.accent),
        (Role.Link, now.accent),
        (Role.LinkVisited, now.think),
        (Role.PlaceholderText, now.dim),
        (Role.Light, now.card),
        (Role.Midlight, now.panel),
        (Role.Mid, now.line),
        (Role.Dark, now.faint),
        (Role.Shadow, blend(now.ink, now.paper, 0.3)),
    ):
        palette.setColor(role, colour)
    quiet = blend(now.dim, now.paper, 0.75)
    for role in (Role.WindowText, Role.Text, Role.ButtonText, Role.HighlightedText):
        palette.setColor(Group.Disabled, role, quiet)
    return palette


_SHEET = Template(
    """
* { outline: none; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QToolTip { color: $ink; background: $card; border: 1px solid $line; padding: 4px 6px;
  qproperty-textFormat: PlainText; }
QLabel { qproperty-textFormat: PlainText; }
QLabel[rich="true"] { qproperty-textFormat: RichText; }

QLabel[tone="dim"] { color: $dim; }
QLabel[tone="lost"] { color: $lost; }
QLabel[tone="accent"] { color: $accent; }
QLabel[tone="comp"] { color: $comp; }
QLabel[tone="tool"] { color: $tool; }
QWidget[surface="panel"] { background: $panel; }
QWidget[surface="card"] { background: $card; }
QLabel[keycap="true"] {
  color: $dim; border: 1px solid $line; border-radius: 4px; padding: 0 4px;
}
QFrame[strip="true"] { background: $panel; border-bottom: 1px solid $line; }
QFrame[strip="true"][foot="true"] { border-bottom: none; border-top: 1px solid $line; }
QFrame[card="true"] { background: $card; border: 1px solid $line; border-radius: ${radius}px; }
QFrame[card="true"]:focus { border-color: $accent; }
QFrame[line="h"] { background: $line; border: none; max-height: 1px; min-height: 1px; }
QFrame[line="v"] { background: $line; border: none; max-width: 1px; min-width: 1px; }

QPushButton {
  color: $ink; background: $card; border: 1px solid $line; border-radius: ${radius}px;
  padding: 5px 13px; min-height: 17px;
}
QPushButton:hover { background: $panel; border-color: $faint; }
QPushButton:pressed, QPushButton:checked { background: $sel; }
QPushButton:focus { border-color: $accent; }
QPushButton:disabled { color: $quiet; background: $paper; border-color: $line; }
QPushButton[kind="primary"] {
  color: $on_accent; background: $accent; border-color: $accent; font-weight: 600;
}
QPushButton[kind="primary"]:hover { background: $accent_hover; }
QPushButton[kind="primary"]:pressed { background: $accent_press; }
QPushButton[kind="primary"]:focus { border: 2px solid $ink; padding: 4px 12px; }
QPushButton[kind="primary"]:disabled {
  color: $quiet; background: $line; border-color: $line; font-weight: 600;
}
QPushButton[kind="danger"] { color: $lost; }
QPushButton[kind="link"] {
  color: $accent; background: transparent; border: 1px solid transparent; border-radius: 4px;
  padding: 1px 3px; min-height: 0; text-align: left;
}
QPushButton[kind="link"]:hover { text-decoration: underline; }
QPushButton[kind="link"]:focus { border-color: $accent; }
QPushButton[kind="link"]:disabled { color: $quiet; background: transparent; }

QToolButton {
  color: $ink; background: transparent; border: 1px solid transparent; border-radius: 4px;
  padding: 3px;
}
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked { background: $sel; }
QToolButton:focus { border-color: $accent; }
QToolButton:disabled { color: $quiet; }
QToolButton[floating="true"] {
  background: $card; border: 1px solid $line; border-radius: ${radius}px; padding: 3px 8px 3px 6px;
}
QToolButton[floating="true"]:hover { background: $panel; border-color: $faint; }
QToolButton[switch="true"] { background: $card; border-color: $line; padding: 3px 7px; }
QToolButton[switch="true"]:hover { border-color: $faint; }
QToolButton[switch="true"]:checked { background: $sel; border-color: $accent; }
QToolButton[switch="true"]:focus { border: 1px solid $ink; }
QToolButton[fold="true"] { padding: 2px 5px 2px 0; color: $dim; }
QToolButton[fold="true"][heading="true"] { color: $ink; padding: 4px 5px 4px 0; }
QToolButton[page="true"] {
  padding: 3px 0; border-radius: 0; border-bottom: 2px solid transparent;
}
QToolButton[page="true"]:focus {
  border: 1px dashed $ink; border-bottom: 2px solid transparent;
}
QToolButton[page="true"]:checked { border-bottom: 2px solid $accent; }
QToolButton[popupMode="2"] { padding-right: 14px; }
QToolButton::menu-indicator { image: url("$icons/chevron-down.svg"); width: 10px; height: 10px;
  subcontrol-position: right center; right: 3px; }

QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox, QComboBox {
  color: $ink; background: $card; border: 1px solid $line; border-radius: ${radius}px;
  selection-background-color: $selection; selection-color: $ink;
}
QLineEdit { padding: 4px 9px; min-height: ${field}px; }
QPlainTextEdit, QTextEdit { padding: 3px 5px; }
QAbstractSpinBox { padding: 3px 20px 3px 7px; min-height: ${field}px; }
QAbstractSpinBox QLineEdit, QAbstractSpinBox QLineEdit:focus {
  border: none; padding: 0; min-height: 0; background: transparent;
}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
  subcontrol-origin: border; width: 18px; border: none; background: transparent;
}
QAbstractSpinBox::up-button { subcontrol-position: top right; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; }
QAbstractSpinBox::up-arrow { image: url("$icons/chevron-up.svg"); width: 10px; height: 10px; }
QAbstractSpinBox::down-arrow { image: url("$icons/chevron-down.svg"); width: 10px; height: 10px; }
QAbstractSpinBox[plain="true"] {
  padding: 1px 5px; min-height: 15px; border-color: transparent; background: transparent;
  border-radius: 4px;
}
QAbstractSpinBox[plain="true"]::up-button, QAbstractSpinBox[plain="true"]::down-button {
  width: 0; image: none;
}
QAbstractSpinBox[plain="true"]::up-arrow, QAbstractSpinBox[plain="true"]::down-arrow {
  image: none; width: 0; height: 0;
}
QAbstractSpinBox[plain="true"]:hover { border-color: $line; background: $card; }
QAbstractSpinBox[plain="true"]:focus { border-color: $accent; background: $card; }
QCheckBox, QRadioButton { spacing: 7px; padding: 2px; border: 1px solid transparent; }
QCheckBox:focus, QRadioButton:focus { border-color: $accent; border-radius: 4px; }
QCheckBox::indicator, QRadioButton::indicator, QTableView::indicator {
  width: ${tick}px; height: ${tick}px; border: 1px solid $faint; border-radius: 3px;
  background: $card;
}
QRadioButton::indicator { border-radius: ${tick_radius}px; }
QCheckBox::indicator:hover, QRadioButton::indicator:hover { border-color: $accent; }
QCheckBox::indicator:checked, QTableView::indicator:checked {
  background: $accent; border-color: $accent; image: url("$icons/check-$name.svg");
}
QRadioButton::indicator:checked {
  border: ${tick_ring}px solid $accent; width: ${tick_inner}px; height: ${tick_inner}px;
}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { background: $line; }
QCheckBox:disabled, QRadioButton:disabled { color: $quiet; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QAbstractSpinBox:focus, QComboBox:focus {
  border-color: $accent;
}
QLineEdit:disabled, QPlainTextEdit:disabled, QTextEdit:disabled, QComboBox:disabled {
  color: $quiet; background: $paper;
}
QLineEdit[invalid="true"], QAbstractSpinBox[invalid="true"] { border-color: $lost; }
QTextEdit[plain="true"], QPlainTextEdit[plain="true"], QTextBrowser[plain="true"] {
  border: none; background: transparent; padding: 0; border-radius: 0;
}
QTextEdit[flat="true"]:focus, QPlainTextEdit[plain="true"]:focus { border: none; }
QComboBox { padding: 4px 24px 4px 9px; min-height: ${field}px; }
QComboBox[tight="true"] { padding-right: 4px; }
QComboBox:hover { border-color: $faint; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow {
  image: url("$icons/chevron-down.svg"); width: ${arrow}px; height: ${arrow}px;
}
QComboBox QAbstractItemView {
  color: $ink; background: $card; border: 1px solid $line; padding: 3px;
  selection-background-color: $sel; selection-color: $ink;
}

QSlider { min-height: ${slider_height}px; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $line; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: $accent; }
QSlider::handle:horizontal {
  width: ${knob}px; height: ${knob}px; margin: -${knob_margin}px 0;
  border-radius: ${knob_radius}px; background: $card;
  border: 2px solid $accent;
}
QSlider::handle:horizontal:hover { background: $sel; }
QSlider::handle:horizontal:focus { background: $accent; }
QSlider::sub-page:horizontal:disabled { background: $faint; }
QSlider::handle:horizontal:disabled { border-color: $faint; }

QTabWidget::pane { border: none; border-top: 1px solid $line; }
QTabBar { border: none; background: transparent; qproperty-drawBase: 0; }
QTabBar::tab {
  color: $dim; background: transparent; border: none; border-bottom: 2px solid transparent;
  padding: 9px 7px 8px 7px; margin: 0;
}
QTabBar[tight="true"]::tab { padding: 9px 3px 8px 3px; }
QTabBar::tab:hover { color: $ink; }
QTabBar::tab:selected { color: $ink; border-bottom-color: $accent; }
QTabBar::tab:focus { color: $accent; }
QTabBar::tab:disabled { color: $quiet; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 0; border: none; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; border: none; }
QScrollBar::handle { background: $scroll; border-radius: 3px; }
QScrollBar::handle:vertical { min-height: 28px; margin: 2px; }
QScrollBar::handle:horizontal { min-width: 28px; margin: 2px; }
QScrollBar::handle:disabled { background: transparent; }
QScrollBar::handle:hover { background: $faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollArea { border: none; background: transparent; }
QScrollArea[ring="true"] { border: 1px solid transparent; }
QScrollArea[ring="true"]:focus { border-color: $accent; }

QTableView, QTreeView, QListView {
  color: $ink; background: $paper; border: none; gridline-color: $line;
  selection-background-color: $sel; selection-color: $ink; alternate-background-color: $panel;
}
QTreeView::item, QListView::item { padding: 3px 4px; border: none; }
QTableView::item { border: none; padding: 0 4px; }
QTreeView::item:hover, QListView::item:hover { background: $hover; }
QTreeView::item:selected, QListView::item:selected, QTableView::item:selected {
  background: $sel; color: $ink;
}
QListView:focus, QTreeView:focus, QTableView:focus { border: 1px solid $accent; }
QListView, QTreeView, QTableView { border: 1px solid transparent; }
QTableView[surface="panel"] { padding: 4px; }
QHeaderView { background: $paper; border: none; }
QHeaderView::section {
  color: $dim; background: $paper; border: none; border-bottom: 1px solid $line; padding: 3px 4px;
  font-size: ${small_pt}pt;
}
QHeaderView::section:first { padding-left: 12px; }
QHeaderView::up-arrow, QHeaderView::down-arrow {
  width: 9px; height: 9px; subcontrol-origin: padding; subcontrol-position: top center;
}
QHeaderView::up-arrow { image: url("$icons/chevron-up.svg"); }
QHeaderView::down-arrow { image: url("$icons/chevron-down.svg"); }

QMenuBar { background: $panel; color: $ink; border-bottom: 1px solid $line; }
QMenuBar::item { padding: 4px 9px; background: transparent; }
QMenuBar::item:selected { background: $sel; border-radius: 4px; }
QMenu { color: $ink; background: $card; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 5px 22px 5px 10px; border-radius: 4px; }
QMenu::item:selected { background: $sel; }
QMenu::item:disabled { color: $quiet; }
QMenu::separator { height: 1px; background: $line; margin: 4px 6px; }
QMenu::icon { padding-left: 6px; }

QSplitter::handle { background: $line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QSplitter::handle:hover { background: $accent; }
QSplitter[apart="true"]::handle:!hover { background: transparent; }

QStatusBar { color: $dim; background: $panel; border-top: 1px solid $line; }
QStatusBar::item { border: none; }
QToolBar { background: $panel; border: none; border-bottom: 1px solid $line; spacing: 8px; }
QDockWidget { color: $ink; }
QProgressBar {
  color: $ink; background: $line; border: none; border-radius: 3px; height: 6px;
  text-align: center;
}
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QGroupBox { border: none; margin-top: 18px; font-weight: 600; }
QGroupBox::title { subcontrol-origin: margin; left: 0; padding: 0; }
QDialog { background: $paper; }
"""
)


def _css(colour: QColor) -> str:
    if colour.alpha() == 255:
        return colour.name()
    parts = (colour.red(), colour.green(), colour.blue(), colour.alpha())
    return "rgba(" + ", ".join(str(part) for part in parts) + ")"


def build_style_sheet(now: Theme) -> str:
    """The application's style sheet in this theme."""
    values = {name: _css(getattr(now, name)) for name in COLOUR_TOKENS}
    return _SHEET.substitute(
        values,
        name=now.name,
        radius=RADIUS,
        small_pt=round(small_font().pointSizeF(), 2),
        knob=(knob := 2 * scaled(5)),
        knob_margin=knob // 2,
        knob_radius=knob // 2 + 2,
        slider_height=knob + 6,
        tick=(tick := scaled(13)),
        tick_radius=tick // 2 + 1,
        tick_ring=(ring := scaled(4)),
        tick_inner=max(3, tick + 2 - 2 * ring),
        arrow=scaled(12),
        # What a low window may squeeze a box to: its words are still whole.
        field=max(18, scaled(17)),
        icons=ICON_DIR.as_posix(),
        quiet=_css(blend(now.dim, now.paper, 0.75)),
        hover=_css(blend(now.ink, now.paper, 0.06)),
        selection=_css(blend(now.accent, now.card, 0.32)),
        scroll=_css(blend(now.faint, now.paper, 0.55)),
        accent_hover=_css(blend(now.accent, now.ink, 0.88)),
        accent_press=_css(blend(now.accent, now.ink, 0.76)),
    )


def set_tone(widget: QWidget, tone: str) -> None:
    """Give a label its meaning (``dim``, ``lost``, ``accent`` ..., or empty), also later on."""
    if widget.property("tone") == tone:
        return
    widget.setProperty("tone", tone)
    # What was not shown yet gets its style when it is.
    if widget.testAttribute(QtCore.Qt.WidgetAttribute.WA_WState_Polished):
        widget.style().unpolish(widget)
        widget.style().polish(widget)
