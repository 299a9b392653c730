"""The dialog of extensions: what is loaded, what failed and where, examples, and trust."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QLabel,
    QPushButton,
    QWidget,
)

from explorer.extensions.manager import (
    PROJECT_FOLDER,
    ExampleError,
    Extensions,
    Listed,
    Project,
    TrustError,
    examples,
    install_example,
)
from ui.theme import S8, S12, S16, bind_font, set_tone, ui_font
from ui.widgets.choice import ChoiceBox
from ui.widgets.dialogs import TwoPaneDialog, fit
from ui.widgets.figures import count
from ui.widgets.labels import Hairline
from ui.widgets.name_list import NameRow
from ui.widgets.notice import Notice
from ui.widgets.panels import column_in, column_of, row
from ui.widgets.plain_text import PlainTextView

MOST_FILES = 8


class TrustBox(QWidget):
    """Says what the current project brings, and asks twice before it is trusted."""

    trust_asked = Signal(object)
    untrust_asked = Signal(object)
    """With the project's folder."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project: Project | None = None
        self.title, self.text = QLabel(self), QLabel(self)
        for label in (self.title, self.text):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        bind_font(self.title, lambda: ui_font(0, bold=True))
        self.ask = QPushButton("&Trust this project…", self)
        self.ask.clicked.connect(lambda: self._show(asking=True))
        self.sure = QPushButton("Yes, run its e&xtensions", self)
        self.sure.setProperty("kind", "primary")
        self.sure.clicked.connect(self._trust)
        self.cancel = QPushButton("&Cancel", self)
        self.cancel.clicked.connect(lambda: self._show(asking=False))
        self.stop = QPushButton("S&top trusting it", self)
        self.stop.setToolTip("Its extensions are unloaded at once")
        self.stop.clicked.connect(self._untrust)
        for button in (self.ask, self.sure, self.cancel, self.stop):
            button.setAutoDefault(False)
        column = column_in(self, S8)
        column.addWidget(Hairline(parent=self))
        column.addWidget(self.title)
        column.addWidget(self.text)
        column.addLayout(row(self.ask, self.stop, self.sure, self.cancel, 1))
        column.addWidget(Hairline(parent=self))
        self.show_project(None)

    def show_project(self, project: Project | None) -> None:
        """Ask about another project, or about none."""
        self._project = project
        self._show(asking=False)

    def _show(self, *, asking: bool) -> None:
        project = self._project
        self.setVisible(project is not None)
        if project is None:
            return
        self.ask.setVisible(not project.trusted and not asking)
        self.stop.setVisible(project.trusted)
        self.sure.setVisible(asking)
        self.cancel.setVisible(asking)
        set_tone(self.text, "lost" if asking else "dim")
        files = ", ".join(project.files[:MOST_FILES])
        if more := len(project.files) - MOST_FILES:
            files += f" and {more} more" if more > 0 else ""
        if project.trusted:
            self.title.setText(f"{project.folder} is trusted")
            self.text.setText(f"Its extensions are loaded from {PROJECT_FOLDER}: {files}")
        elif asking:
            self.title.setText(f"Run what lies in {project.folder / PROJECT_FOLDER}?")
            self.text.setText(
                "Extensions are programs and can do whatever you can do. Say yes only when you "
                f"know where these files come from: {files}"
            )
            self.cancel.setFocus()
        else:
            self.title.setText("This session's project brings extensions of its own")
            self.text.setText(f"{project.folder} is not trusted; not loaded: {files}")

    def _trust(self) -> None:
        if self._project is not None:
            self.trust_asked.emit(self._project.folder)

    def _untrust(self) -> None:
        if self._project is not None:
            self.untrust_asked.emit(self._project.folder)


Start = Callable[[str, Coroutine[Any, Any, None]], object]
"""Runs a coroutine that is named for the person; its owner ends it with the window."""
WHERE = {"user": "yours", "project": "this project"}


class _Found(NamedTuple):
    rows: list[Listed]
    project: Project | None
    trust_problem: str


class ExtensionsDialog(TwoPaneDialog):
    """Lists the extensions for a session's working folder. What is changed in it holds at once."""

    changed = Signal()
    """What is loaded is not what it was."""

    def __init__(self, extensions: Extensions, cwd: str, start: Start, parent: QWidget) -> None:
        """``cwd``: empty for none."""
        super().__init__("Extensions", "Extensions", 290, parent)
        self._extensions, self._cwd, self._start = extensions, cwd, start
        self._listed: dict[str, Listed] = {}
        self.trust = TrustBox(self)
        self.trust.trust_asked.connect(lambda folder: self._change_trust(folder, True))
        self.trust.untrust_asked.connect(lambda folder: self._change_trust(folder, False))
        self.about = QLabel(self)
        self.about.setWordWrap(True)
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.list.chosen.connect(self._show_details)
        self.details = PlainTextView(self)
        self.details.setAccessibleName("About the chosen extension")
        self.examples = ChoiceBox(self)
        self.examples.setAccessibleName("Examples")
        for example in examples():
            self.examples.addItem(f"{example.name}: {example.about}", example.name)
            at = self.examples.count() - 1
            self.examples.setItemData(at, example.about, Qt.ItemDataRole.ToolTipRole)
        self.install = self.button("&Install example")
        self.install.clicked.connect(self._install)
        self.reload = self.button(
            "&Reload", "Load all extensions again, from their files as they are now"
        )
        self.reload.clicked.connect(lambda: self._start("Loading extensions", self._reload()))
        self._lay_out()
        fit(self, 820, 560)
        self.refresh()
        self.list.setFocus()

    def _lay_out(self) -> None:
        below = column_of(self.examples, row(self.install, 1), margins=(S16, 0, S8, 0))
        head = column_of(self.about, self.trust, margins=(S16, S12, S16, S8))
        close = self.button("Close")
        close.clicked.connect(self.reject)
        foot = row(self.reload, 1, close)
        foot.setContentsMargins(S16, S8, S16, S12)
        page = QWidget(self)
        column_in(page, margins=(S16, 0, 0, 0)).addWidget(self.details)
        self.lay_out_panes(below, head, page, foot)

    # what is there ------------------------------------------------------------------------------

    def refresh(self) -> None:
        """List everything anew; loading happens on a thread."""
        self._start("Listing extensions", self._refresh())

    async def _refresh(self) -> None:
        found = await asyncio.to_thread(self._find)
        self._show_list(found.rows)
        loaded = sum(1 for listed in found.rows if listed.problem is None)
        failed = len(found.rows) - loaded
        self.about.setText(
            f"{count(loaded, 'extension')} loaded"
            + (f", {failed} failed" if failed else "")
            + f". Yours lie in {self._extensions.folder}"
        )
        self.trust.show_project(found.project)
        if found.trust_problem:
            self._say(f"No project is trusted: {found.trust_problem}", failed=True)

    def _find(self) -> _Found:
        rows = self._extensions.listing(self._cwd)
        project = self._extensions.project(self._cwd)
        return _Found(rows, project, self._extensions.trust.problem)

    def _show_list(self, found: Sequence[Listed], name: str = "") -> None:
        """Show the list; select the named extension, the previous one, or the first failed."""
        self._listed = {f"{one.scope} {one.file} {one.name}": one for one in found}
        rows: list[NameRow] = []
        for scope, words in WHERE.items():
            names = [name for name, one in self._listed.items() if one.scope == scope]
            if names:
                rows.append(NameRow("", words.capitalize()))
                rows += [_row(name, self._listed[name]) for name in names]
        before = self.list.name
        self.list.show_names(rows)
        if not rows:
            self.details.set_text("Nothing is loaded yet. An example is a place to begin.")
            return
        named = (each for each, one in self._listed.items() if name and one.name == name)
        same = (each for each in self._listed if each == before)
        failed = (each for each, one in self._listed.items() if one.problem is not None)
        chosen = next(chain(named, same, failed, self._listed))
        self.list.select(chosen)
        self._show_details(chosen)

    def _show_details(self, name: str) -> None:
        self.details.set_text(details_of(self._listed[name]))

    # what a person does -------------------------------------------------------------------------

    def _say(self, what: str, failed: bool = False) -> None:
        self.notice.show_notice(Notice("error" if failed else "done", what))

    async def _reload(self) -> None:
        await asyncio.to_thread(self._extensions.reload)
        await self._refresh()
        self._say("Loaded again.")
        self.changed.emit()

    def _install(self) -> None:
        name = self.examples.currentData()
        if isinstance(name, str):
            self._start("Installing the example", self._install_now(name))

    async def _install_now(self, name: str) -> None:
        try:
            file = await asyncio.to_thread(install_example, name, self._extensions.folder)
        except ExampleError as error:
            self._say(f"{error}.", failed=True)
            return
        await asyncio.to_thread(self._extensions.reload)
        await self._refresh()
        self._show_list(list(self._listed.values()), name)
        self._say(f"Installed {file}; change it as you like, and reload.")
        self.changed.emit()

    def _change_trust(self, folder: Path, trusted: bool) -> None:
        self._start("Changing the trust", self._change_trust_now(folder, trusted))

    async def _change_trust_now(self, folder: Path, trusted: bool) -> None:
        extensions = self._extensions
        change = extensions.trust_project if trusted else extensions.untrust_project
        try:
            await asyncio.to_thread(change, folder)
        except TrustError as error:
            self._say(f"{error}.", failed=True)
            return
        await self._refresh()
        self._say(
            f"{folder} is trusted{'' if trusted else ' no more; its extensions are unloaded'}."
        )
        self.changed.emit()


def _name(listed: Listed) -> str:
    return listed.name or "(folder)"


def _row(name: str, listed: Listed) -> NameRow:
    failed = listed.problem is not None
    text = f"✕ {_name(listed)}" if failed else _name(listed)
    tip = str(listed.problem) if failed else listed.file
    return NameRow(name, text, _sentence(listed), tip, failed)


def _sentence(listed: Listed) -> str:
    problem = f": {listed.problem}" if listed.problem is not None else ""
    return f"{_name(listed)}, {WHERE[listed.scope]}, {listed.state}{problem}"


def details_of(listed: Listed) -> str:
    """All that is known of an extension."""
    parts = [f"{_name(listed)}, {WHERE[listed.scope]}, {listed.state}", listed.file]
    if listed.problem is not None:
        problem = listed.problem
        line = f", line {problem.line}" if problem.line else ""
        parts.append(f"Not loaded. {problem.file}{line}:\n{problem.reason}")
    elif listed.events:
        parts.append("Handles " + ", ".join(listed.events))
    else:
        parts.append("It handles no event.")
    if listed.log:
        parts.append("Its log:\n" + "\n".join(listed.log))
    return "\n\n".join(parts)
