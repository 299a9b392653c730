"""Small dialogs that every feature opens the same way: a text, files, a folder, a confirmation.

None of them blocks: what was answered is passed to a function, and the dialog deletes itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QInputDialog,
    QMessageBox,
    QToolButton,
    QWidget,
)

from ui.theme import bind_icon

Role = QMessageBox.ButtonRole


def open_once(dialog: QDialog) -> None:
    """Open a dialog that is deleted when it is closed."""
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def present(window: QWidget) -> None:
    """Show a window in front of the others, with the keyboard."""
    window.show()
    window.raise_()
    window.activateWindow()


def ask_text(
    parent: QWidget, title: str, label: str, text: str, then: Callable[[str], object]
) -> None:
    """Ask for a line of text; ``then`` is given it without spaces around it."""
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    dialog.textValueSelected.connect(lambda answer: then(answer.strip()))
    open_once(dialog)


_FILE_ICONS = {
    "backButton": "chevron-left",
    "forwardButton": "chevron-right",
    "toParentButton": "arrow-up",
    "newFolderButton": "plus",
}
"""By the names that Qt has for the buttons of its own file dialog."""


def file_dialog(parent: QWidget, title: str) -> QFileDialog:
    """A dialog for files; Qt's own, where the system has none, with arrows that dark colours let
    be seen."""
    dialog = QFileDialog(parent, title)
    for name, icon in _FILE_ICONS.items():
        button = dialog.findChild(QToolButton, name)
        if button is not None:
            bind_icon(button, icon, "ink")
    return dialog


def choose_files(
    parent: QWidget,
    title: str,
    then: Callable[[Sequence[str]], object],
    name_filter: str = "",
    start: str = "",
) -> None:
    """Ask for files that exist; ``start`` is the folder that is shown first, where it is there."""
    dialog = file_dialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    if name_filter:
        dialog.setNameFilter(name_filter)
    if start and Path(start).is_dir():
        dialog.setDirectory(start)
    dialog.filesSelected.connect(then)
    open_once(dialog)


def choose_folder(
    parent: QWidget, title: str, then: Callable[[str], object], start: str = ""
) -> None:
    """Ask for a folder; ``start`` is shown first, where it is there."""
    dialog = file_dialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    if start and Path(start).is_dir():
        dialog.setDirectory(start)
    dialog.fileSelected.connect(then)
    open_once(dialog)


def confirm(
    parent: QWidget,
    title: str,
    question: str,
    consequence: str,
    yes: str,
    then: Callable[[], object],
    role: Role = Role.DestructiveRole,
) -> None:
    """Ask before something is done; ``yes`` names it on its button, and Enter cancels."""
    box = QMessageBox(parent)
    box.setWindowTitle(title)
    box.setText(question)
    box.setInformativeText(consequence)
    accept = box.addButton(yes, role)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    box.finished.connect(lambda _code: then() if box.clickedButton() is accept else None)
    open_once(box)
