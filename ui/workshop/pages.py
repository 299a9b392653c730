"""Pages of the workshop: the text with its problems, the request it makes, and its versions."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import (
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from explorer.services.template_trials import PromptPreview
from explorer.session.text_difference import (
    changed_lines,
)
from explorer.settings.prompt_templates import Version
from explorer.settings.template_catalogue import TemplateInfo, TemplateProblem
from ui.inspector.diff_view import DiffView
from ui.theme import S4, S8, S12, S16, bind_font, mono_font, on_theme_changed, set_tone, theme
from ui.widgets.choice import ChoiceBox
from ui.widgets.figures import full, moment
from ui.widgets.labels import Caption, LinkButton
from ui.widgets.message_blocks import DiffBlock
from ui.widgets.panels import column_in, push_button, row, row_in, stacked
from ui.widgets.plain_text import PlainTextView
from ui.widgets.table import Column, Table, TableModel

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_HEADING = re.compile(r"^\s*#{1,6}\s.+$")


class VariableHighlighter(QSyntaxHighlighter):
    """Marks variables: known ones in bold, others underlined in the warning colour."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._known: Collection[str] = ()
        on_theme_changed(self.rehighlight)

    def set_known(self, names: Collection[str]) -> None:
        """Set the variables that the text may use."""
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
        column = column_in(self, S8, (S16, S8, S16, S12))
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
            none = Caption(
                "This text has no variables: it goes out as it stands.", self._variables, wraps=True
            )
            self._rows.addWidget(none)
            return
        for one in info.variables:
            line = QWidget(self._variables)
            flow = row_in(line, S8)
            button = LinkButton(f"{{{{{one.name}}}}}", line)
            button.setToolTip("Put it in at the caret")
            button.setAccessibleName(f"Insert {one.name}")
            button.clicked.connect(lambda _on=False, name=one.name: self._insert(name))
            needed = "" if one.required else " May be left out."
            caption = Caption(f"{one.about}{needed}", line, wraps=True)
            flow.addWidget(button)
            flow.addWidget(caption, 1)
            self._rows.addWidget(line)

    def _insert(self, name: str) -> None:
        self.text.insertPlainText(f"{{{{{name}}}}}")
        self.text.setFocus()


SYSTEM, PROMPT = "── System prompt ──", "── Prompt ──"


class PreviewPage(QWidget):
    """Read-only; rebuilt as the text changes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sizes = Caption(parent=self, wraps=True)
        self.note = Caption(parent=self, wraps=True)
        self.text = PlainTextView(self)
        self.text.setAccessibleName("The request as it would be sent")
        self._shown: PromptPreview | None = None
        self.text.loaded.connect(self._reveal)
        column = column_in(self, S4, (S16, S8, S16, S12))
        column.addWidget(self.sizes)
        column.addWidget(self.note)
        column.addSpacing(S8 - S4)
        column.addWidget(self.text, 1)

    def show_preview(self, found: PromptPreview) -> None:
        """Show a request, at the place where the text stands."""
        more = f"{abs(found.more):,} {'more' if found.more > 0 else 'fewer'} than"
        against = f"{more} with the text" if found.more else "as many as with the text"
        self.sizes.setText(
            f"{full(found.tokens)} tokens (estimate), {against} that came with the program"
        )
        set_tone(self.sizes, "")
        self.note.setText(found.note)
        self.note.setVisible(bool(found.note))
        head = f"{SYSTEM}\n{found.system}\n\n{PROMPT}\n" if found.system and found.prompt else ""
        body = found.prompt or found.system
        self._shown, self._head = found, len(head)
        self.text.set_text(head + body)

    def show_problem(self, words: str) -> None:
        """Say why there is no request."""
        self._shown = None
        self.sizes.setText(words)
        set_tone(self.sizes, "lost")
        self.note.setVisible(False)
        self.text.set_text("")

    def _reveal(self) -> None:
        if self._shown is not None and self._shown.at:
            self.text.reveal(self._head + self._shown.at, 0)
            self.text.centerCursor()


EDITOR = -1
"""The number that stands for the text in the editor."""


def version_words(version: Version) -> str:
    """A version in a few words."""
    if version.number == EDITOR:
        return "In the editor"
    if not version.number:
        return "As it came with the program"
    return f"Version {version.number}"


def _saved_at(version: Version) -> str:
    return moment(version.time_ms).rpartition(":")[0]


class VersionsPage(QWidget):
    """The versions, the newest first, and below them what changed."""

    taken = Signal(str)
    """A version's text is to be put into the editor."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._versions: dict[int, Version] = {}
        columns: list[Column[Version]] = [
            Column("Version", version_words, fits=True, detail=_saved_at),
            Column("When", _saved_at, fits=True, shown_from=480),
            Column("Note", lambda one: one.note, stretch=True, detail=lambda one: one.note),
        ]
        self.list = Table(TableModel(columns), "Versions of this text", self)
        self.list.current_changed.connect(lambda _now: self._compare())
        self.list.restyle()
        self.against = ChoiceBox(self)
        self.against.setAccessibleName("Version to compare with")
        self.against.activated.connect(lambda _at: self._compare())
        self.take = push_button(
            "Put into the &editor",
            self,
            "Take the chosen version's text, to save it or to change it",
        )
        self.take.clicked.connect(self._taken)
        self.message = Caption(parent=self, wraps=True)
        self._below = QWidget(self)
        self._column = QVBoxLayout(self._below)
        self._column.setContentsMargins(0, S8, 0, 0)
        self._column.setSpacing(S4)
        self.against.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        line = row(Caption("Compared with", self), self.against, self.take, wide=self.against)
        self._column.addLayout(line)
        self._column.addWidget(self.message)
        self.diff: DiffView | None = None
        column = column_in(self, margins=(S16, S8, S16, S12))
        column.addWidget(stacked(self.list, self._below, (2, 3), self))

    def show_versions(self, versions: Sequence[Version], text: str) -> None:
        """``text``: what stands in the editor."""
        editor = Version(EDITOR, 0, "", text)
        chosen, against = self.list.current, self.against.currentData()
        self._versions = {one.number: one for one in (*versions, editor)}
        newest = [editor, *reversed(versions)]
        self.against.clear()
        for one in newest:
            self.against.addItem(version_words(one), one.number)
        last = versions[-1].number if versions else 0
        wanted = against if against in self._versions else last
        self.against.setCurrentIndex(self.against.findData(wanted))
        self.list.show_rows(newest, self._versions.get(chosen.number) if chosen else None)

    def _compare(self) -> None:
        new: Version | None = self.list.current
        old = self._versions.get(self.against.currentData())
        if self.diff is not None:
            self.diff.hide()
            self._column.removeWidget(self.diff)
            self.diff.deleteLater()
            self.diff = None
        if new is None or old is None:
            return
        self.take.setEnabled(new.number != EDITOR)
        lines = changed_lines(old.text, new.text)
        names = f"{version_words(old)} → {version_words(new)}"
        if not lines:
            self.message.setText(f"{names}: the same text.")
            return
        view = self.diff = DiffView(DiffBlock(names, lines), self._below, fit=0)
        self.message.setText(f"{names}: {view.summary}")
        self._column.addWidget(view, 1)

    def _taken(self) -> None:
        version: Version | None = self.list.current
        if version is not None and version.number != EDITOR:
            self.taken.emit(version.text)
