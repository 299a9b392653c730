"""The page of keys, made from the registry and from what the map itself answers to."""

from __future__ import annotations

from html import escape

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from ui import theme
from ui.actions import ActionRegistry, shown_keys
from ui.agent.view import keyboard
from ui.map.keyboard import KEY_HELP
from ui.widgets.dialogs import fit


def keys_html(registry: ActionRegistry) -> str:
    """All keys as a table, grouped by menu."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for bound in registry.all():
        if keys := shown_keys(bound.action):
            title = bound.spec.menu.replace("&", "") or "Window"
            groups.setdefault(title, []).append((keys, bound.spec.tip))
    groups["On the map"] = list(KEY_HELP)
    groups["In the conversation"] = list(keyboard.KEY_HELP)
    parts, width = [], theme.scaled(170)
    for title, rows in groups.items():
        cells = "".join(
            f"<tr><td width='{width}' style='padding:3px 0'><code>{escape(keys)}</code></td>"
            f"<td style='padding:3px 0'>{escape(tip)}</td></tr>"
            for keys, tip in rows
        )
        parts.append(f"<h3>{escape(title)}</h3><table>{cells}</table>")
    return "".join(parts)


class KeysPage(QDialog):
    """Shown by ``?``."""

    def __init__(self, registry: ActionRegistry, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        text = QTextBrowser(self)
        text.setHtml(keys_html(registry))
        text.setAccessibleName("Keys and what they do")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(text)
        layout.addWidget(buttons)
        fit(self, 600, 640)
