"""What a branch that is left changed on the disk: a line that says so, differences, restoring.

The leaf moves in the tree; files do not. They are only put back when a person says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from explorer.services.changed_files import (
    ChangedFile,
    GitError,
    changed_files,
    difference,
    recorded_change,
    restore,
)
from explorer.services.document import Document
from explorer.services.navigation import NavigationPlan
from explorer.session.text_difference import DifferenceLine
from ui import theme
from ui.app_state import AppState
from ui.conversation.workspace import WORKSPACE_CHOICE
from ui.inspector.diff_view import DiffView, unified_lines
from ui.shell.dialogs import confirm, open_once
from ui.widgets.dialogs import Dialog, fit
from ui.widgets.figures import count
from ui.widgets.labels import Caption, ElidedLabel, Hairline, LinkButton
from ui.widgets.message_blocks import DiffBlock
from ui.widgets.name_list import NameList, NameRow
from ui.widgets.panels import column_in, column_of, row, row_in

MOST_NAMED = 3
"""Files that a line names."""
_LIST_WIDTH = 220


def stays_words(files: Sequence[ChangedFile], branch: str) -> str:
    """That files stay as a branch left them. ``branch``: which one, as in "that this branch"."""
    names = [f"{one.name} (deleted)" if one.is_gone else one.name for one in files[:MOST_NAMED]]
    if more := len(files) - len(names):
        names.append(f"{more} more")
    stay = "stays" if len(files) == 1 else "stay"
    return f"{count(len(files), 'file')} that {branch} changed {stay} changed: {', '.join(names)}"


class ChangedFilesLine(QFrame):
    """One sentence and what can be done about it; hidden while there is nothing to say."""

    changes_asked = Signal()
    difference_asked = Signal()
    restore_asked = Signal()

    def __init__(self, parent: QWidget, *, is_strip: bool) -> None:
        """``is_strip``: one line across a pane, which can be closed; else it stands in a dialog."""
        super().__init__(parent)
        if is_strip:
            self.setProperty("strip", True)
        self.files: Sequence[ChangedFile] = ()
        self.words: QLabel = ElidedLabel("", self) if is_strip else QLabel(self)
        self.words.setWordWrap(not is_strip)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self._sign = QLabel(self)
        changes = LinkButton("What it changed", self)
        changes.setToolTip("The changes as the branch's calls record them")
        changes.clicked.connect(self.changes_asked)
        self.look = LinkButton("Look at the difference", self)
        self.look.setToolTip("What differs now from the last commit of the folder's git repository")
        self.look.clicked.connect(self.difference_asked)
        self.restore = LinkButton("Restore…", self)
        self.restore.setToolTip("Put these files back as they were committed last; asks first")
        self.restore.clicked.connect(self.restore_asked)
        self._buttons = (changes, self.look, self.restore)
        self._lay_out(is_strip)
        theme.on_theme_changed(self._restyle)
        self._restyle()
        self.hide()

    def _lay_out(self, is_strip: bool) -> None:
        if not is_strip:
            column = column_in(self, theme.S4)
            column.addLayout(row(self._sign, self.words, wide=self.words))
            column.addLayout(row(*self._buttons, 1))
            return
        close = QToolButton(self)
        theme.bind_icon(close, "close", "dim")
        close.setToolTip("Take this line away")
        close.setAccessibleName("Take this line away")
        close.clicked.connect(self.clear)
        line = row_in(self, theme.S8, (theme.S16, 2, theme.S16, 3))
        for part in (self._sign, self.words, *self._buttons, close):
            line.addWidget(part, 1 if part is self.words else 0)

    def _restyle(self) -> None:
        self._sign.setPixmap(
            theme.icon_pixmap("warning", "comp", theme.scaled(16), self.devicePixelRatioF())
        )

    def say(self, words: str) -> None:
        """Say something else, with nothing left to be done about it."""
        self.words.setText(words)
        for button in self._buttons:
            button.hide()

    def show_files(self, files: Sequence[ChangedFile], branch: str) -> None:
        """Say that these files stay as they are; with none, say nothing."""
        self.files = files
        self.words.setText(stays_words(files, branch) if files else "")
        in_git = any(one.in_git for one in files)
        self.look.setVisible(in_git)
        self.restore.setVisible(in_git)
        self.setVisible(bool(files))

    def clear(self) -> None:
        """Say nothing any more."""
        self.show_files((), "")


class DifferencesDialog(Dialog):
    """The differences of a few files, one at a time."""

    def __init__(
        self,
        title: str,
        note: str,
        found: Sequence[tuple[str, Sequence[DifferenceLine], str]],
        parent: QWidget,
    ) -> None:
        """``found``: the name of each file, its lines, and what to say where there are none."""
        super().__init__(title, parent)
        self._found = {name: (lines, instead) for name, lines, instead in found}
        self.list = NameList("Files", self)
        self.list.show_names([NameRow(name, name, tip=name) for name in self._found])
        self.list.setFixedWidth(theme.scaled(_LIST_WIDTH))
        self.list.setVisible(len(found) > 1)
        self._figures = Caption("", self)
        self.shown: QWidget = QLabel(self)
        self._right = column_of(
            self._figures, self.shown, spacing=theme.S8,
            margins=(theme.S16, theme.S12, theme.S16, theme.S12),
        )  # fmt: skip
        body = QHBoxLayout()
        body.setSpacing(0)
        body.addWidget(self.list)
        body.addWidget(Hairline(vertical=True, parent=self))
        body.addLayout(self._right, 1)
        close = self.button("Close")
        close.clicked.connect(self.accept)
        self.lay_out(None, body, row(Caption(note, self), 1, close))
        self.list.chosen.connect(self._show)
        self._show(found[0][0])
        self.list.select(found[0][0])
        fit(self, 760 if len(found) > 1 else 620, 420)

    def _show(self, name: str) -> None:
        lines, instead = self._found[name]
        block = DiffBlock(name, tuple(lines))
        self._figures.setText(f"{name}   {block.figures}" if lines else name)
        now = DiffView(block, self, fit=0) if lines else QLabel(instead, self)
        self._right.replaceWidget(self.shown, now)
        self._right.setStretchFactor(now, 1)
        self.shown.deleteLater()
        self.shown = now


class ChangedFilesController(QObject):
    """Looks for the files of a branch that is left, says so, and does what is asked about them."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self.strip = ChangedFilesLine(state.window.agent, is_strip=True)
        state.window.agent.add_strip(self.strip)
        self.serve(self.strip)
        self._document: Document | None = None
        state.document_changed.connect(self._document_changed)

    def _document_changed(self) -> None:
        if self._state.document is not self._document:
            self._document = self._state.document
            self.strip.clear()

    async def find(self, document: Document, plan: NavigationPlan) -> tuple[ChangedFile, ...]:
        """The files that the branch of a plan changed and that stay so."""
        if not plan.left_behind:
            return ()
        chosen = document.choices.all().get(WORKSPACE_CHOICE)
        workspace = chosen if isinstance(chosen, str) else ""
        return await asyncio.to_thread(changed_files, document, plan.left_behind, workspace)

    def ask_about(self, document: Document, plan: NavigationPlan, line: ChangedFilesLine) -> None:
        """Fill the line of the dialog that asks about the branch, as soon as it is known."""

        async def look() -> None:
            files = await self.find(document, plan)
            if files and line.window().isVisible():
                line.show_files(files, "this branch")

        self.serve(line)
        task = self._state.tasks.start("Looking for changed files", look())
        line.window().destroyed.connect(lambda _gone=None: task.cancel())

    async def left(self, document: Document, plan: NavigationPlan) -> None:
        """The branch of a plan was left: say in the conversation what stays changed."""
        files = await self.find(document, plan)
        if self._state.document is document:
            self.strip.show_files(files, "the branch you left")

    def serve(self, line: ChangedFilesLine) -> None:
        """Do what the buttons of a line ask for."""
        tasks = self._state.tasks
        line.changes_asked.connect(
            lambda: tasks.start("Reading the changes", self._show_recorded(line))
        )
        line.difference_asked.connect(
            lambda: tasks.start("Asking git", self._show_difference(line))
        )
        line.restore_asked.connect(lambda: self._ask_restore(line))

    async def _show_recorded(self, line: ChangedFilesLine) -> None:
        document, files = self._state.document, line.files
        if document is None or not files:
            return
        found = await asyncio.to_thread(
            lambda: [
                (
                    one.name,
                    recorded_change(document, one),
                    f"What changed is not recorded in text; see #{one.entries[-1]}.",
                )
                for one in files
            ]
        )
        note = "As the branch's calls state it. What shell commands changed is not known."
        open_once(DifferencesDialog("What the branch changed", note, found, line.window()))

    async def _show_difference(self, line: ChangedFilesLine) -> None:
        files = [one for one in line.files if one.in_git]
        try:
            found = await asyncio.to_thread(
                lambda: [
                    (one.name, unified_lines(difference(one.folder, one.place)), "Nothing differs.")
                    for one in files
                ]
            )
        except GitError as error:
            self._state.notice("error", f"The difference cannot be shown: {error}.")
            return
        note = "From the last commit to the file as it is now, whoever changed it."
        open_once(DifferencesDialog("Changed since the last commit", note, found, line.window()))

    def _ask_restore(self, line: ChangedFilesLine) -> None:
        files = [one for one in line.files if one.in_git]
        names = "\n".join(one.name for one in files)
        confirm(
            line.window(),
            "Restore files",
            f"Put {count(len(files), 'file')} back as committed last?",
            "Everything that was changed in them since the last commit is taken out, your own"
            " changes too. git keeps what stands there now for a while, under ids that are shown"
            f" afterwards. No other file is touched:\n\n{names}",
            "&Restore",
            lambda: self._state.tasks.start("Restoring files", self._restore(line, files)),
        )

    async def _restore(self, line: ChangedFilesLine, files: Sequence[ChangedFile]) -> None:
        replaced: dict[Path, str] = {}
        folders = list(dict.fromkeys(one.folder for one in files))
        try:
            for folder in folders:
                places = [one.place for one in files if one.folder == folder]
                replaced |= await asyncio.to_thread(restore, folder, places)
        except GitError as error:
            self._state.notice("error", f"The files were not restored: {error}.")
            return
        words = f"Restored as committed last: {', '.join(one.name for one in files)}."
        rest = [one for one in line.files if one.place not in replaced]
        if rest or line is self.strip:
            line.show_files(rest, "the branch you left" if line is self.strip else "this branch")
        else:
            line.say(words)
        kept = [
            f"{one.name}: git cat-file -p {replaced[one.place]}"
            for one in files
            if replaced.get(one.place)
        ]
        self._state.notice(
            "info",
            words,
            "The repository keeps what stood there for a while; the details say how to print it."
            if kept
            else "",
            details="\n".join(kept),
        )
