"""The question whether the agent may do something, between conversation and message box.

It takes the keyboard only from an empty message box, and answers to keys only after it had it for
a moment: a keystroke that was meant for the box approves nothing, and goes into the box.
"""

from __future__ import annotations

from functools import partial

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from explorer.agent.approval import ApprovalAnswer, ApprovalChoice, ApprovalRequest, pattern_of
from explorer.session.text_difference import DifferenceLine
from explorer.session.visible_text import end_of, exact, folded, size_words, visible_line
from ui import theme
from ui.inspector.diff_view import DiffView, unified_lines
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption, ElidedLabel, LinkButton
from ui.widgets.message_blocks import DiffBlock
from ui.widgets.plain_text import PlainTextView

ARMED_AFTER_MS = 700
"""How long the card has the keyboard, without a key, before a key answers it."""
NARROW = 420
"""Pixels of the drawing; a card in a pane of less shows what can be left out on a word."""
BODY, BODY_SMALL, BODY_LEAST = 150, 88, 44
"""Pixels of the drawing that a diff or a command takes at most; in a small card; in one that shows
all else. The rest is scrolled to."""
BODY_MOST = 180
"""Pixels that it takes at most with large text."""
LONG = 400
"""Characters of a command from which the card says how many there are and how they end."""
LONG_LINES = 6
"""Lines of it from which the card does so."""
FOLDED = 500
"""Columns after which a line of a diff goes on in the next."""

HINT_HERE = "Enter allows once, 4 denies"
HINT_UNFOCUSED = "Alt+O allows once, Alt+D denies"

Key = Qt.Key
_ENTER = (Key.Key_Return, Key.Key_Enter)
_ICONS = {"command": "shell", "edit": "edit", "write": "file"}


class _Choice(Struct, frozen=True):
    """One way to answer."""

    choice: ApprovalChoice
    label: str
    tip: str


CHOICES = (
    _Choice(
        "once",
        "&Once",
        "Allow this one (1; Enter when the card has had the keyboard a moment)",
    ),
    _Choice(
        "session",
        "This sessio&n",
        "Allow it, and what the pattern says, until this session is closed (2)",
    ),
    _Choice(
        "always", "Alwa&ys", "Allow it, and what the pattern says from now on, in every session (3)"
    ),
    _Choice("deny", "&Deny", "Do not allow it; the note tells the agent why (4)"),
)


def _whole_lines(diff: str) -> tuple[DifferenceLine, ...]:
    """The lines of a unified diff, of which none hides a part of itself."""
    return tuple(
        DifferenceLine(line.sign, part)
        for line in unified_lines(diff)
        for part in folded(exact(line.text), FOLDED)
    )


class ApprovalCard(QFrame):
    """Shows one request at a time."""

    answered = Signal(object, object)
    """(``ApprovalRequest``, ``ApprovalAnswer``)"""
    stopped = Signal()
    """Esc: the person wants the turn to end."""
    typed_outside = Signal(QKeyEvent)
    """A keystroke that was meant for the message box."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.request: ApprovalRequest | None = None
        self._is_narrow = self._is_low = False
        self._waiting = 0
        self._sign = QLabel(self)
        self._title = QLabel(self)
        self._title.setWordWrap(True)
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        theme.bind_font(self._title, lambda: theme.ui_font(bold=True))
        self._more = Caption("", self)
        self._size = Caption("", self)
        self._size.setWordWrap(True)
        self._where = ElidedLabel("", self, Qt.TextElideMode.ElideMiddle)
        theme.set_tone(self._where, "dim")
        self._notice = Caption("", self)
        self._notice.setWordWrap(True)
        self._mistake = Caption("", self, "lost")
        self._mistake.setWordWrap(True)
        self._mistake.hide()
        self._body: PlainTextView | None = None
        self._make_answers()
        self.details = LinkButton("&More", self)
        self.details.setCheckable(True)
        self.details.setAutoDefault(False)
        self.details.setToolTip("The folder, the pattern and a note to the agent")
        self.details.toggled.connect(self._fold)
        self._arming = QTimer(self)
        self._arming.setSingleShot(True)
        self._arming.setInterval(ARMED_AFTER_MS)
        self._lay_out()
        theme.on_theme_changed(self._restyle)
        self._restyle()
        self.hide()

    def _make_answers(self) -> None:
        self.buttons: dict[ApprovalChoice, QPushButton] = {}
        for way in CHOICES:
            button = self.buttons[way.choice] = QPushButton(way.label, self)
            button.setToolTip(way.tip)
            button.setAutoDefault(False)
            button.clicked.connect(partial(self._answer, way.choice))
            button.installEventFilter(self)
        self.pattern = QLineEdit(self)
        self.pattern.setAccessibleName("Pattern that is allowed from now on")
        self.pattern.setToolTip(
            "What “This session” and “Always” allow without a question; * stands for anything"
        )
        self.note = QLineEdit(self)
        self.note.setAccessibleName("Note to the agent when it is denied")
        self.note.setPlaceholderText("Why not, for the agent (optional)")
        self.note.returnPressed.connect(partial(self._answer, "deny"))

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.S8)
        head.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self._title, 1)
        head.addWidget(self._more, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.details, 0, Qt.AlignmentFlag.AlignTop)
        self._pattern_label = Caption("Pattern:", self)
        answers = wrapping_row(
            self.buttons["once"], self.buttons["session"], self.buttons["always"],
            self._pattern_label, self.pattern, self.buttons["deny"], self.note,
            across=theme.S4,
        )  # fmt: skip
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(theme.S8, theme.S8, theme.S8, theme.S8)
        self._column.setSpacing(theme.S4)
        self._column.addLayout(head)
        self._column.addWidget(self._where)
        self._column.addWidget(self._size)
        self._column.addWidget(self._notice)
        self._column.addLayout(answers)
        self._column.addWidget(self._mistake)

    def _restyle(self) -> None:
        for line, width in ((self.pattern, 190), (self.note, 220)):
            line.setFixedWidth(theme.scaled(width))
        self._pattern_label.setFixedHeight(self.pattern.sizeHint().height())
        self._show_sign()

    def _show_sign(self) -> None:
        if self.request is not None:
            size, ratio = theme.scaled(16), self.devicePixelRatioF()
            name = _ICONS[self.request.kind]
            self._sign.setPixmap(theme.icon_pixmap(name, "shell", size, ratio))

    # what is asked -------------------------------------------------------------------------------

    def show_request(self, request: ApprovalRequest | None, waiting: int = 1) -> None:
        """Ask this, as the first of so many questions that wait; None: nothing is asked."""
        self._waiting = waiting
        self._hint()
        if request is self.request:
            return
        self.request = request
        if request is None:
            self._arming.stop()
            self.hide()
            return
        self._title.setText(visible_line(exact(request.title)))
        where = request.path or request.folder
        self._where.setText(visible_line(f"in {request.folder}" if request.folder else where))
        self._where.setToolTip(request.folder)
        self._notice.setText(visible_line(request.notice))
        self._title.setToolTip(f"in {request.folder}. {request.notice}".strip())
        self.pattern.setText(request.pattern)
        self.note.clear()
        self._mark_pattern("")
        self.buttons["always"].setVisible(bool(request.pattern))
        self._show_body(request)
        self.setAccessibleName(f"The agent asks: {visible_line(exact(request.title))}")
        self.setAccessibleDescription(
            f"{exact(request.command or request.path)}. {visible_line(request.notice)} "
            "1 allows it once, 2 for this session, 3 always, 4 denies, Escape stops the turn."
        )
        self._show_sign()
        self.details.setChecked(False)
        self._fold()
        self.show()
        self._arming.start()

    def set_room(self, *, narrow: bool, low: bool) -> None:
        """Set whether there is room for little more than the question and its buttons."""
        if (narrow, low) != (self._is_narrow, self._is_low):
            self._is_narrow, self._is_low = narrow, low
            self._fold()

    @property
    def is_small(self) -> bool:
        """Whether what can be left out waits behind a button."""
        return self._is_narrow or self._is_low

    def _fold(self) -> None:
        """What can be left out of a small card waits behind a button."""
        request = self.request
        if request is None:
            return
        whole = not self.is_small or self.details.isChecked()
        self.details.setVisible(self.is_small)
        self._more.setVisible(whole or self._waiting > 1)
        # What a command may do is said wherever there is the width for it.
        told = whole or (request.kind == "command" and not self._is_narrow)
        self._where.setVisible(told)
        self._notice.setVisible(told and bool(request.notice))
        for part in (self.pattern, self._pattern_label):
            part.setVisible(whole and bool(request.pattern))
        self.note.setVisible(whole)
        if self._body is not None:
            self._body.set_fit(self._body_height())
        self.updateGeometry()

    def _show_body(self, request: ApprovalRequest) -> None:
        if self._body is not None:
            self._column.removeWidget(self._body)
            self._body.hide()
            self._body.deleteLater()
        fit = self._body_height()
        if request.kind == "command":
            self._body = PlainTextView(self, fit=fit)
            self._body.set_text(exact(request.command))
            self._body.setAccessibleName("Command line")
        else:
            block = DiffBlock(request.path, _whole_lines(request.diff))
            self._body = DiffView(block, self, fit=fit)
        self._column.insertWidget(2, self._body)
        text = request.command or request.diff
        # A diff is read line by line anyway; of a command one line may matter.
        much = 1 if request.command else 10
        is_long = len(text) > much * LONG or text.count("\n") >= much * LONG_LINES
        self._size.setText(f"{size_words(text)}, ending with: {end_of(exact(text))}")
        self._size.setVisible(is_long)

    def _body_height(self) -> int:
        small = BODY_LEAST if self.details.isChecked() else BODY_SMALL
        return min(theme.scaled(small if self.is_small else BODY), BODY_MOST)

    def _answer(self, choice: ApprovalChoice) -> None:
        request = self.request
        if request is None:
            return
        lasts = choice in ("session", "always") and bool(request.pattern)
        pattern = self.pattern.text().strip() if lasts else ""
        if lasts:
            try:
                pattern_of(pattern)
            except ValueError as error:
                self._mark_pattern(str(error))
                return
        note = self.note.text().strip() if choice == "deny" else ""
        self.answered.emit(request, ApprovalAnswer(choice, pattern, note))

    def _mark_pattern(self, mistake: str) -> None:
        """Say that the pattern is none; empty: it is one."""
        self._mistake.setText(f"{mistake}. Nothing was allowed yet." if mistake else "")
        self._mistake.setVisible(bool(mistake))
        self.pattern.setProperty("invalid", bool(mistake))
        self.pattern.style().unpolish(self.pattern)
        self.pattern.style().polish(self.pattern)
        if mistake:
            self.pattern.setFocus()

    # keys ----------------------------------------------------------------------------------------

    @property
    def is_armed(self) -> bool:
        """Whether a key answers now."""
        return self.request is not None and not self._arming.isActive()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._arming.start()
        self._hint()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._hint()

    def _hint(self) -> None:
        """How many questions wait, and which keys answer now."""
        count = f"1 of {self._waiting} questions   " if self._waiting > 1 else ""
        keys = HINT_HERE if self.hasFocus() else HINT_UNFOCUSED
        self._more.setText(count + keys)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Key(event.key())
        if key == Key.Key_Escape:
            self.stopped.emit()
        elif event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif not self.is_armed:
            self._not_yet(event)
        elif key in _ENTER:
            self._answer("once")
        elif Key.Key_1 <= key <= Key.Key_4:
            way = CHOICES[key - Key.Key_1]
            if self.buttons[way.choice].isVisible():
                self._answer(way.choice)
        else:
            self._not_yet(event)

    def _not_yet(self, event: QKeyEvent) -> None:
        """Before the card is armed: pass typed text to the message box, else start arming."""
        if event.text().isprintable() and event.text():
            self.typed_outside.emit(event)
        else:
            self._arming.start()
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter on a button presses it, but like Space only once the card is armed."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = Key(event.key())
            if key in (*_ENTER, Key.Key_Space) and not event.modifiers():
                if not self.is_armed:
                    self._arming.start()
                    return True
                if key in _ENTER and isinstance(watched, QPushButton):
                    watched.click()
                    return True
        return super().eventFilter(watched, event)
