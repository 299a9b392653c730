"""The panel Learn: the lessons, and the one that runs. It takes the place of the sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QStackedWidget, QToolButton, QWidget

from explorer.services.lessons.lesson import Lesson
from ui import theme
from ui.lessons.step_view import StepView
from ui.theme import S4, S8, S12, S16
from ui.widgets.labels import Caption, LinkButton
from ui.widgets.name_list import NameList, NameRow
from ui.widgets.panels import column_in, enable_unless, push_button, row, row_in, scroll_area


class LessonsPane(QWidget):
    """Shows and emits; ``ui.lessons.controller`` does the rest."""

    begin_asked = Signal(str)
    """The id of a lesson."""
    list_asked = Signal()
    """The lesson is to end, and the list to be shown."""
    leave_asked = Signal()
    """The lesson is to end: on to the list, or back to where it was begun."""
    close_asked = Signal()
    open_asked = Signal()
    """A lesson file is to be chosen."""
    export_asked = Signal(str)
    """A lesson is to be written to a file with the open session."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("surface", "panel")
        self.setAccessibleName("Learn")
        self._lessons: dict[str, Lesson] = {}
        head = QLabel("Learn", self)
        theme.bind_font(head, lambda: theme.ui_font(1, bold=True))
        self.all_lessons = LinkButton("All lessons", self)
        self.all_lessons.setToolTip("Leave this lesson; the window is as it was before it")
        self.all_lessons.clicked.connect(self.list_asked)
        self.close_button = QToolButton(self)
        theme.bind_icon(self.close_button, "close", "dim")
        self.close_button.setAccessibleName("Close the panel Learn")
        self.close_button.setToolTip("Close (F4); the window is as it was before")
        self.close_button.clicked.connect(self.close_asked)
        self.pages = QStackedWidget(self)
        self._choosing = self._make_list()
        self.area = scroll_area(self.pages, has_frame=False)
        self.step = StepView(self.area)
        self.area.setWidget(self.step)
        for page in (self._choosing, self.area):
            self.pages.addWidget(page)
        column = column_in(self, S4, (0, S8, 0, 0))
        bar = row(head, 1, self.all_lessons, self.close_button)
        bar.setContentsMargins(S16, 0, S8, 0)
        column.addLayout(bar)
        column.addWidget(self.pages, 1)
        self.show_list()

    def _make_list(self) -> QWidget:
        page = QWidget(self.pages)
        self.intro = Caption(
            "Each lesson runs on the session that is open, and changes nothing in it.", page,
            wraps=True,
        )  # fmt: skip
        self.intro.setContentsMargins(S16, 0, S16, 0)
        self.list = NameList("Lessons", page)
        self.list.chosen.connect(self._chosen)
        self.list.row_activated.connect(lambda found: self.begin_asked.emit(found.name))
        self.about = Caption("", page, wraps=True)
        self.begin = push_button("&Begin", page, primary=True)
        self.begin.clicked.connect(lambda: self.begin_asked.emit(self.list.name))
        self.open_file = LinkButton("Open…", page)
        self.open_file.setToolTip("Open a lesson file, with the session in it")
        self.open_file.clicked.connect(self.open_asked)
        self.export = LinkButton("Export…", page)
        self.export.setToolTip("Write this lesson and the open session to one file")
        self.export.clicked.connect(lambda: self.export_asked.emit(self.list.name))
        column = column_in(page, S8)
        column.addWidget(self.intro)
        column.addWidget(self.list, 1)
        foot = QWidget(page)
        below = column_in(foot, S8, (S16, S4, S16, S12))
        below.addWidget(self.about)
        below.addWidget(self.begin)
        links = QWidget(foot)
        line = row_in(links, S12)
        line.addWidget(self.open_file)
        line.addWidget(self.export)
        line.addStretch(1)
        below.addWidget(links)
        column.addWidget(foot)
        return page

    @property
    def runs_lesson(self) -> bool:
        """Whether a lesson is shown rather than the list."""
        return self.pages.currentWidget() is self.area

    def show_lessons(self, lessons: Sequence[Lesson], done: Mapping[str, int], chosen: str) -> None:
        """Offer lessons. ``done``: steps that were done, by id; ``chosen``: the one to select."""
        self._lessons = {lesson.id: lesson for lesson in lessons}
        self.list.show_names([self._row(lesson, done.get(lesson.id, 0)) for lesson in lessons])
        self.list.select(chosen or next((one.id for one in lessons), ""))
        self._chosen(self.list.name)

    @staticmethod
    def _row(lesson: Lesson, done: int) -> NameRow:
        steps = len(lesson.steps)
        number = f"{lesson.number}. " if lesson.number else ""
        sign, spoken = "", "not begun"
        if done >= steps:
            sign, spoken = "✓ ", "done"
        elif done:
            sign, spoken = "◐ ", f"{done} of {steps} steps done"
        words = f"{number}{lesson.title}"
        return NameRow(lesson.id, f"{sign}{words}", f"{words}, {spoken}", lesson.about)

    def _chosen(self, name: str) -> None:
        lesson = self._lessons.get(name)
        enable_unless(self.begin, "" if lesson is not None else "Choose a lesson first.")
        self.export.setEnabled(lesson is not None)
        if lesson is not None:
            steps = len(lesson.steps)
            self.about.setText(f"{lesson.about} {steps} steps, about {lesson.minutes} minutes.")

    def show_list(self) -> None:
        """Show the list of lessons."""
        self.pages.setCurrentWidget(self._choosing)
        self.all_lessons.hide()

    def show_lesson(self) -> None:
        """Show the step of a lesson."""
        self.pages.setCurrentWidget(self.area)
        self.all_lessons.show()
        self.area.verticalScrollBar().setValue(0)

    def focus_panel(self) -> None:
        """Put the keyboard into the panel."""
        if self.runs_lesson:
            self.step.focus_first()
        else:
            self.list.setFocus()

    def keyPressEvent(self, event: QKeyEvent, /) -> None:
        if event.key() == Qt.Key.Key_Escape:
            (self.leave_asked if self.runs_lesson else self.close_asked).emit()
            return
        super().keyPressEvent(event)
