"""Where the window may read a text as markup, load something or open an address."""

from __future__ import annotations

import ast

from tests.project.sources import ROOT, python_files, tree

LABELS = "ui/widgets/labels.py"
MARKDOWN = "ui/inspector/markdown_view.py"
PAGES = {"ui/widgets/dialogs.py", "ui/shell/help_pages.py"}
"""Pages of our own words, all of it escaped."""

ALLOWED = {
    # Labels and tips are made plain by the style sheet; this alone makes one rich again.
    "RichText": {LABELS},
    "AutoText": set[str](),
    "MarkdownText": set[str](),
    "setHtml": PAGES,
    "insertHtml": set[str](),
    "appendHtml": set[str](),
    "setMarkdown": {MARKDOWN},
    "insertMarkdown": set[str](),
    "QTextBrowser": {MARKDOWN, *PAGES},
    # Opened after a press that follows the address being shown, and a folder of our own.
    "openUrl": {"ui/inspector/entry.py", "ui/conversation/conversation.py", "ui/audit/report.py"},
    "QWhatsThis": set[str](),
    "setWhatsThis": set[str](),
    "QSystemTrayIcon": set[str](),
    "QtNetwork": set[str](),
    "QtWebEngineWidgets": set[str](),
}


def test_markup_and_addresses_are_read_in_few_places() -> None:
    found: dict[str, set[str]] = {name: set() for name in ALLOWED}
    for path in python_files("ui"):
        for node in ast.walk(tree(path)):
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            if name in found:
                found[name].add(str(path.relative_to(ROOT)))
            if isinstance(node, ast.ImportFrom) and node.module:
                for part in (*node.module.split("."), *(one.name for one in node.names)):
                    if part in found and part != "QTextBrowser":
                        found[part].add(str(path.relative_to(ROOT)))
    assert found == ALLOWED
