"""The page of commands, made from their registry."""

from __future__ import annotations

from html import escape

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from ui import theme
from ui.control.slash_commands import SlashCommands
from ui.widgets.dialogs import fit

MORE = (
    ("@name", "Mention a file of the agent's folder; it reads the file itself."),
    ("//text", "Send a message that begins with a slash."),
    ("Shift+Enter", "Start a new line."),
    ("Alt+Enter", "While the agent works: let the message wait until it is done."),
    ("Up, Down", "Earlier messages."),
    ("Esc", "Stop the agent."),
)


def commands_html(commands: SlashCommands) -> str:
    """All commands as a table, and what else can be typed."""
    width = theme.scaled(190)

    def rows(found: list[tuple[str, str]]) -> str:
        return "".join(
            f"<tr><td width='{width}' style='padding:3px 0'><code>{escape(name)}</code></td>"
            f"<td style='padding:3px 0'>{escape(words)}</td></tr>"
            for name, words in found
        )

    first = rows([(command.usage, command.sentence) for command in commands])
    return (
        f"<h3>Commands</h3><table>{first}</table>"
        f"<h3>Also in the message box</h3><table>{rows(list(MORE))}</table>"
    )


class CommandsPage(QDialog):
    """Shown by ``/help``."""

    def __init__(self, commands: SlashCommands, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Commands of the message box")
        text = QTextBrowser(self)
        text.setHtml(commands_html(commands))
        text.setAccessibleName("Commands and what they do")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(text)
        layout.addWidget(buttons)
        fit(self, 620, 560)
