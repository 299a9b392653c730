"""One strip for what went wrong or well: what happened, what is safe, what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.session.text import legible
from ui.theme import S4, S8, S16, bind_icon, icon_pixmap, on_theme_changed, scaled, set_tone
from ui.widgets.labels import Caption, LinkButton
from ui.widgets.panels import column_in
from ui.widgets.plain_text import PlainTextView

Level = Literal["error", "warning", "info", "done"]

_ICONS = {"error": "error", "warning": "warning", "info": "info", "done": "check"}
_TINTS = {"error": "lost", "warning": "comp", "info": "accent", "done": "tool"}

PASSING_MS = 12_000
"""How long a passing notice is shown."""
BESIDE = 620
"""Pixels of the drawing; in a strip of less the button stands below the words, if they are more
than a sentence."""


class Notice(Struct, frozen=True):
    """A message to the user."""

    level: Level
    what: str
    """What happened, in one sentence."""
    safe: str = ""
    """What is safe, or that nothing changed."""
    todo: str = ""
    """What to do next."""
    details: str = ""
    """Technical details, shown on demand and copied."""
    action: str = ""
    """The words of a button, when there is something to press."""
    on_action: Callable[[], None] | None = None
    passes: bool = False
    """Whether it goes by itself although it has a button."""

    @property
    def is_passing(self) -> bool:
        """Whether it goes by itself: something went well, and nothing is to be pressed."""
        return self.passes or (self.level == "done" and not (self.action or self.details))


class NoticeStrip(QFrame):
    """Shows one notice until it is dismissed (Escape or the cross) or replaced. One that is passing
    goes after a while, but not from below the pointer or the keyboard."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.notice: Notice | None = None
        self.setProperty("strip", True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._sign = QLabel(self)
        self._what = QLabel(self)
        self._rest = Caption(parent=self)
        for label in (self._what, self._rest):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._act = QPushButton(self)
        self._act.clicked.connect(self._acted)
        self._show_details = LinkButton("Det&ails", self)
        self._show_details.setCheckable(True)
        self._show_details.toggled.connect(self._details_toggled)
        self._copy = LinkButton("Cop&y details", self)
        self._copy.clicked.connect(self._copy_details)
        self._close = QToolButton(self)
        bind_icon(self._close, "close", "dim")
        self._close.setToolTip("Dismiss (Esc)")
        self._close.setAccessibleName("Dismiss")
        self._close.clicked.connect(self.dismiss)
        self._details = PlainTextView(self, fit=160)
        self._passing = QTimer(self)
        self._passing.setSingleShot(True)
        self._passing.timeout.connect(self._pass)
        self._lay_out()
        on_theme_changed(self._restyle)
        self.hide()

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self._what)
        texts.addWidget(self._rest)
        links = QHBoxLayout()
        links.setSpacing(S8)
        links.addWidget(self._show_details)
        links.addWidget(self._copy)
        links.addStretch(1)
        texts.addLayout(links)
        texts.addWidget(self._details)
        self._beside = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._beside.setSpacing(S8)
        self._beside.addLayout(texts, 1)
        start = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft
        self._beside.addWidget(self._act, 0, start)
        row = QHBoxLayout(self)
        row.setSpacing(S8)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(self._beside, 1)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        row.setContentsMargins(S16, S8, S8, S8)

    def show_notice(self, notice: Notice) -> None:
        """Replace what is shown."""
        self.notice = notice
        self._what.setText(notice.what)
        set_tone(self._what, "lost" if notice.level == "error" else "")
        rest = " ".join(part for part in (notice.safe, notice.todo) if part)
        self._rest.setText(rest)
        self._rest.setVisible(bool(rest))
        self._act.setText(notice.action)
        self._act.setVisible(bool(notice.action))
        self._show_details.setChecked(False)
        self._show_details.setVisible(bool(notice.details))
        self._copy.setVisible(bool(notice.details))
        self._details.set_text(notice.details)
        self._details.setVisible(False)
        self.setAccessibleName(f"{notice.level}: {notice.what}")
        self.setAccessibleDescription(rest)
        self._restyle()
        self._take_form(self.width())
        self.show()
        self._passing.stop()
        if notice.is_passing:
            self._passing.start(PASSING_MS)

    def _pass(self) -> None:
        focus = QApplication.focusWidget()
        has_focus = focus is not None and (focus is self or self.isAncestorOf(focus))
        # What nobody can see yet was not read either.
        if has_focus or self.underMouse() or not self.isVisible():
            self._passing.start(PASSING_MS)
        else:
            self.dismiss()

    def _restyle(self) -> None:
        if self.notice is not None:
            name, tint = _ICONS[self.notice.level], _TINTS[self.notice.level]
            self._sign.setPixmap(icon_pixmap(name, tint, scaled(16), self.devicePixelRatioF()))

    def resizeEvent(self, event: QResizeEvent, /) -> None:
        super().resizeEvent(event)
        self._take_form(self.width())

    def _take_form(self, width: int) -> None:
        is_short = self.notice is not None and not (self._rest.text() or self.notice.details)
        wide = is_short or width >= scaled(BESIDE)
        self._beside.setDirection(
            QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        )

    def height_at(self, width: int) -> int:
        """The height that it needs at a width."""
        self._take_form(width)
        height = max(self.heightForWidth(width), self.minimumSizeHint().height())
        self._take_form(self.width())
        return height

    def dismiss(self) -> None:
        """Hide the strip."""
        self.notice = None
        self._passing.stop()
        self.hide()

    def _acted(self) -> None:
        if self.notice is not None and self.notice.on_action is not None:
            self.notice.on_action()

    def _details_toggled(self, on: bool) -> None:
        self._details.setVisible(on)

    def _copy_details(self) -> None:
        if self.notice is not None:
            parts = (self.notice.what, self.notice.safe, self.notice.todo, self.notice.details)
            QGuiApplication.clipboard().setText("\n".join(part for part in parts if part))

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
            return
        super().keyPressEvent(event)


class AddressStrip(QFrame):
    """Shows the address of a clicked link; only a second, deliberate press opens it."""

    def __init__(self, open_address: Callable[[str], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._open_address = open_address
        self.address = ""
        self.setProperty("strip", True)
        self._shown = PlainTextView(self, fit=96)
        self._shown.setAccessibleName("Address of the link")
        self._open = QPushButton("&Open in browser", self)
        self._open.clicked.connect(self._opened)
        copy = QPushButton("Cop&y", self)
        copy.clicked.connect(self._copied)
        close = QPushButton("&Leave", self)
        close.clicked.connect(self.hide)
        buttons = QHBoxLayout()
        buttons.setSpacing(S8)
        for button in (self._open, copy, close):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = column_in(self, S4, (S16, S8, S16, S8))
        self._title = Caption("The text links to this address:", self)
        column.addWidget(self._title)
        column.addWidget(self._shown)
        column.addLayout(buttons)
        self.hide()

    def ask(
        self, address: str, can_open: bool, title: str = "", action: str = "&Open in browser"
    ) -> None:
        """Show an address. One that is not of the web can be read and copied, not opened.

        One that can be opened is shown as it is sent, characters of other scripts and marks that
        turn the direction of writing encoded: what is read is where it leads.
        ``title`` and ``action``: other words for what it is and for the button that opens it.
        """
        self.address = address = (
            QUrl(address).toEncoded().toStdString() if can_open else legible(address)
        )
        self._open.setText(action)
        self._title.setText(
            title
            or (
                "The text links to this address:"
                if can_open
                else "The text links to this address, which is not of the web and is not opened:"
            )
        )
        self._shown.set_text(address)
        self._open.setVisible(can_open)
        self.show()
        self._shown.set_text(address)
        self.setFocus()

    def _opened(self) -> None:
        self.hide()
        self._open_address(self.address)

    def _copied(self) -> None:
        QGuiApplication.clipboard().setText(self.address)

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
            return
        super().keyPressEvent(event)
