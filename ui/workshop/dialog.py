"""The prompt workshop: the texts at the left, one of them at the right with all that is known."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QSizePolicy,
    QWidget,
)

from explorer.settings.prompt_templates import TemplateState, Version
from explorer.settings.template_catalogue import GROUPS, TemplateProblem
from ui.theme import S4, S8, S12, S16, bind_font, set_tone, ui_font
from ui.widgets.dialogs import TwoPaneDialog, fit
from ui.widgets.flow import wrapping_row
from ui.widgets.labels import Caption
from ui.widgets.name_list import NameRow
from ui.widgets.notice import Notice
from ui.widgets.panels import column_in, column_of, enable_unless
from ui.widgets.tabs import Tabs
from ui.workshop.pages import PreviewPage, TemplateEditor, VersionsPage
from ui.workshop.trial_page import TrialPage

SIGNS = {"broken": "✕", "yours": "●", "not saved": "✎"}
"""What stands before a text in the list; in words it is in the tip, and for a screen reader."""


def name_row(state: TemplateState, is_edited: bool, is_used: bool) -> NameRow:
    """How a text stands in the list, by signs and in words."""
    info = state.info
    on = {"broken": bool(state.problem), "yours": state.changed, "not saved": is_edited}
    marks = [word for word in SIGNS if on[word]]
    sign = "".join(SIGNS[word] for word in marks)
    spoken = f"{info.title} — {', '.join(marks)}" if marks else info.title
    use = " The profile in force uses it." if is_used else ""
    text = f"{sign} {info.title}" if sign else info.title
    return NameRow(info.name, text, spoken, f"{spoken}. {info.about}{use}", bool(marks))


TABS = ("text", "request", "versions", "try")


class WorkshopDialog(TwoPaneDialog):
    """Shows and tells; the window does what the signals ask for."""

    edited = Signal(str, str)
    """Name and text as it stands in the editor now."""
    save_asked = Signal(str, str, str)
    """Name, text, and why."""
    reset_asked = Signal(str)
    undone = Signal(str)
    """What is not saved of this text is given up."""
    tab_shown = Signal(str)
    closing = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Prompt workshop", "Texts sent to models", 290, parent)
        self._state: TemplateState | None = None
        self._saved = ""
        self._make_head()
        self._make_pages()
        self._make_foot()
        self._lay_out()
        fit(self, 1060, 760)

    def _make_head(self) -> None:
        self.title = QLabel(self)
        self.title.setWordWrap(True)
        bind_font(self.title, lambda: ui_font(3, bold=True))
        self.about = Caption(parent=self, wraps=True)
        self.standing = Caption(parent=self, wraps=True)
        self.standing.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def _make_pages(self) -> None:
        self.editor = TemplateEditor(self)
        self.editor.edited.connect(self._edited)
        self.preview = PreviewPage(self)
        self.versions = VersionsPage(self)
        self.versions.taken.connect(self._take)
        self.trial = TrialPage(self)
        self.tabs = Tabs(self)
        self.tabs.setDocumentMode(True)
        for page, title in (
            (self.editor, "Te&xt"),
            (self.preview, "Re&quest"),
            (self.versions, "&Versions"),
            (self.trial, "&Try on sessions"),
        ):
            self.tabs.addTab(page, title)
        self.tabs.currentChanged.connect(lambda at: self.tab_shown.emit(TABS[at]))

    def _make_foot(self) -> None:
        self.note = QLineEdit(self)
        self.note.setPlaceholderText("Why, in your words; kept with the version")
        self.note.setAccessibleName("Note kept with the version")
        self.note.returnPressed.connect(self._save)
        self.save = self.button("&Save", "Send this text from now on, and keep it as a version")
        self.save.setProperty("kind", "primary")
        self.save.clicked.connect(self._save)
        self.undo = self.button("&Undo changes", "Give up what is not saved of this text")
        self.undo.clicked.connect(self._undo)
        self.reset = self.button(
            "&Reset to shipped", "Send the text that came with the program again; versions stay"
        )
        self.reset.clicked.connect(lambda: self.reset_asked.emit(self.name))
        self.done_button = self.button("&Close")
        self.done_button.clicked.connect(self.close)

    def _lay_out(self) -> None:
        head = column_of(
            self.title, self.about, self.standing, spacing=S4, margins=(S16, S12, S16, S8)
        )
        buttons = wrapping_row(self.save, self.undo, self.reset, self.done_button)
        foot = QWidget(self)
        foot.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        words = column_in(foot, S8, (S16, S8, S16, S12))
        words.addWidget(self.note)
        words.addLayout(buttons)
        self.lay_out_panes(None, head, self.tabs, foot)

    # what is shown -----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The text that is shown; empty for none."""
        return self._state.info.name if self._state is not None else ""

    @property
    def text(self) -> str:
        """The text as it stands in the editor."""
        return self.editor.text.toPlainText()

    @property
    def tab(self) -> str:
        """Which page is visible."""
        return TABS[self.tabs.currentIndex()]

    def show_states(
        self, states: Sequence[TemplateState], edited: Collection[str], used: Collection[str]
    ) -> None:
        """Show how all texts stand. ``edited``: changed here and not saved; ``used``: those that
        the profile in force is summarized with."""
        rows: list[NameRow] = []
        for group, title in GROUPS.items():
            rows.append(NameRow("", title))
            for state in states:
                if (info := state.info).group == group:
                    rows.append(name_row(state, info.name in edited, info.name in used))
        self.list.show_names(rows)

    def show_template(self, state: TemplateState, saved: str, text: str, used: bool) -> None:
        """Show one text. ``saved``: as it is in force or in its file; ``text``: as it stands in
        the editor; ``used``: by the profile in force."""
        self._state, self._saved = state, saved
        info = state.info
        self.title.setText(info.title)
        in_use = " Used by the profile in force." if used else ""
        self.about.setText(f"{info.about}{in_use}")
        self.editor.show_template(info, text)
        self.note.clear()
        self._show_standing()

    def show_problems(self, problems: Sequence[TemplateProblem]) -> None:
        """Say what is wrong with the text in the editor, and allow saving one that can be sent."""
        self.editor.show_problems(problems)
        broken = any(problem.breaks for problem in problems)
        same = "" if self.is_edited else "Nothing was changed."
        wrong = "What is said below the text must be put right first." if broken else ""
        enable_unless(self.save, same or wrong)
        enable_unless(self.undo, same)
        changed = bool(self._state and (self._state.changed or self._state.problem))
        enable_unless(self.reset, "" if changed else "This is the text that came with the program.")

    def show_versions(self, versions: Sequence[Version]) -> None:
        """Show the versions of the text."""
        self.versions.show_versions(versions, self.text)

    @property
    def is_edited(self) -> bool:
        """Whether the editor holds something that is not saved."""
        return self.text.strip("\n") != self._saved.strip("\n")

    def _show_standing(self) -> None:
        state = self._state
        if state is None:
            return
        if state.problem:
            words = f"Broken, and not sent: {state.problem} The text that came along is sent."
        elif state.changed:
            words = "Yours: it is sent instead of the text that came with the program."
        else:
            words = "As it came with the program."
        if self.is_edited:
            words += " What you changed here is not saved yet."
        self.standing.setText(words)
        set_tone(self.standing, "lost" if state.problem else "dim")

    def tell(self, notice: Notice) -> None:
        """Tell what happened."""
        self.notice.show_notice(notice)

    # what is done ------------------------------------------------------------------------------

    def _edited(self, text: str) -> None:
        if self._state is not None:
            self._show_standing()
            self.edited.emit(self.name, text)

    def _take(self, text: str) -> None:
        self.editor.text.selectAll()
        self.editor.text.insertPlainText(text)
        self.tabs.setCurrentIndex(TABS.index("text"))
        self.editor.text.setFocus()

    def _undo(self) -> None:
        self.undone.emit(self.name)
        self.editor.text.setFocus()

    def _save(self) -> None:
        if self.save.isEnabled():
            self.save_asked.emit(self.name, self.text, self.note.text())

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        is_save = event.key() == Qt.Key.Key_S
        if is_save and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._save()
            return
        super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent, /) -> None:
        super().hideEvent(event)
        self.closing.emit()
