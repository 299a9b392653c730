"""A text with its variables marked, each explained, and what is wrong with it said at once."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from explorer.template_catalogue import TemplateInfo, TemplateProblem
from ui.theme import S4, S8, S12, S16, bind_font, mono_font, on_theme_changed, set_tone, theme
from ui.widgets.labels import Caption, LinkButton

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_HEADING = re.compile(r"^\s*#{1,6}\s.+$")


class VariableHighlighter(QSyntaxHighlighter):
    """Marks variables: known ones in bold, others underlined in the warning colour."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._known: Collection[str] = ()
        on_theme_changed(self.rehighlight)

    def set_known(self, names: Collection[str]) -> None:
        """The variables that the text may use."""
        self._known = names
        self.rehighlight()

    def highlightBlock(self, text: str, /) -> None:
        now = theme()
        if _HEADING.match(text):
            heading = QTextCharFormat()
            heading.setFontWeight(QFont.Weight.Bold)
            self.setFormat(0, len(text), heading)
        for found in _VARIABLE.finditer(text):
            form = QTextCharFormat()
            form.setFontWeight(QFont.Weight.Bold)
            if found.group(1) in self._known:
                form.setForeground(now.accent)
            else:
                form.setForeground(now.lost)
                form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
                form.setUnderlineColor(now.lost)
            self.setFormat(found.start(), found.end() - found.start(), form)


class TemplateEditor(QWidget):
    """The text, its variables below it, and its problems."""

    edited = Signal(str)
    """The text as it is now."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QPlainTextEdit(self)
        self.text.setAccessibleName("Text that is sent")
        self.text.setTabChangesFocus(True)
        self.text.textChanged.connect(lambda: self.edited.emit(self.text.toPlainText()))
        bind_font(self.text, mono_font)
        self.text.setMinimumHeight(60)
        self.highlighter = VariableHighlighter(self.text.document())
        self.problems = QLabel(self)
        self.problems.setWordWrap(True)
        self.problems.setTextFormat(Qt.TextFormat.PlainText)
        self.problems.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._variables = QWidget(self)
        self._rows = QVBoxLayout(self._variables)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(S4)
        column = QVBoxLayout(self)
        column.setContentsMargins(S16, S8, S16, S12)
        column.setSpacing(S8)
        column.addWidget(self.text, 1)
        column.addWidget(self.problems)
        column.addWidget(self._variables)

    def show_template(self, info: TemplateInfo, text: str) -> None:
        """Show a text to be changed, without a signal."""
        self.text.blockSignals(True)
        if self.text.toPlainText() != text:
            self.text.setPlainText(text)
        self.text.blockSignals(False)
        self.text.setAccessibleDescription(info.about)
        self.highlighter.set_known({one.name for one in info.variables})
        self._fill_variables(info)

    def show_problems(self, problems: Sequence[TemplateProblem]) -> None:
        """Say what is wrong with the text."""
        breaks = any(one.breaks for one in problems)
        lines = [f"{'✕' if one.breaks else '!'} {one.message}" for one in problems]
        if breaks:
            lines.append("It cannot be saved like this.")
        self.problems.setText("\n".join(lines))
        self.problems.setVisible(bool(lines))
        set_tone(self.problems, "lost" if breaks else "dim")

    def _fill_variables(self, info: TemplateInfo) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        if not info.variables:
            none = Caption("This text has no variables: it goes out as it stands.", self._variables)
            none.setWordWrap(True)
            self._rows.addWidget(none)
            return
        for one in info.variables:
            line = QWidget(self._variables)
            flow = QHBoxLayout(line)
            flow.setContentsMargins(0, 0, 0, 0)
            flow.setSpacing(S8)
            button = LinkButton(f"{{{{{one.name}}}}}", line)
            button.setToolTip("Put it in at the caret")
            button.setAccessibleName(f"Insert {one.name}")
            button.clicked.connect(lambda _on=False, name=one.name: self._insert(name))
            needed = "" if one.required else " May be left out."
            told = Caption(f"{one.about}{needed}", line)
            told.setWordWrap(True)
            flow.addWidget(button)
            flow.addWidget(told, 1)
            self._rows.addWidget(line)

    def _insert(self, name: str) -> None:
        self.text.insertPlainText(f"{{{{{name}}}}}")
        self.text.setFocus()
