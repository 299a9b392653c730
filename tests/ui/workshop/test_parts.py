"""The editor's marks, the list's words, and the table of a trial."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCharFormat
from PySide6.QtWidgets import QApplication

from explorer.settings.prompt_templates import TemplateState, shipped_prompt
from explorer.settings.template_catalogue import TEMPLATES, check_template
from ui.theme import set_theme, theme
from ui.workshop.dialog import WorkshopDialog
from ui.workshop.pages import TemplateEditor
from ui.workshop.trial_page import TrialPage


def formats(editor: TemplateEditor) -> dict[str, QTextCharFormat]:
    """The formats of the first line, by the text that they are of."""
    block = editor.text.document().firstBlock()
    layout = block.layout()
    assert layout is not None
    return {
        # A copy: the range that it is of goes with the list.
        block.text()[one.start : one.start + one.length]: QTextCharFormat(one.format)
        for one in layout.formats()
    }


def test_known_variables_and_others_are_marked_apart_and_in_both_themes(app: QApplication) -> None:
    editor = TemplateEditor()
    editor.show_template(TEMPLATES["reminder"], "{{problems}} and {{else}}")
    wave = QTextCharFormat.UnderlineStyle.WaveUnderline
    for name in ("light", "dark"):
        set_theme(name, app)  # type: ignore[arg-type]
        marked = formats(editor)
        assert marked["{{problems}}"].foreground().color() == theme().accent
        assert marked["{{problems}}"].underlineStyle() != wave
        assert marked["{{else}}"].underlineStyle() == wave, "not by colour alone"


def test_problems_are_said_by_sign_and_words(app: QApplication) -> None:
    editor = TemplateEditor()
    editor.show()
    editor.show_problems(check_template("reminder", "{{else}}"))
    lines = editor.problems.text().split("\n")
    assert lines[0].startswith("✕ ") and lines[-1] == "It cannot be saved like this."
    editor.show_problems(check_template("history-first", "## Goal"))
    assert editor.problems.text().startswith("! It does not ask for: Constraints")
    editor.show_problems(check_template("short", shipped_prompt("short")))
    assert not editor.problems.isVisible()


def test_the_list_says_in_words_what_its_signs_mean(app: QApplication) -> None:
    dialog = WorkshopDialog()
    shown = dialog.list
    states = [
        TemplateState(info, name == "short", "It is empty." if name == "system" else "")
        for name, info in TEMPLATES.items()
    ]
    dialog.show_states(states, {"short"}, {"system"})
    shown.select("short")
    assert shown.currentIndex().data() == "●✎ Sentences for display"
    spoken = shown.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Sentences for display — yours, not saved"
    shown.select("system")
    assert shown.currentIndex().data().startswith("✕ ")
    assert "The profile in force uses it." in shown.currentIndex().data(Qt.ItemDataRole.ToolTipRole)
    dialog.show_states(states, set(), set())
    assert shown.name == "system", "the chosen text stays"


def test_what_was_found_with_either_version_stands_side_by_side(app: QApplication) -> None:
    page = TrialPage()
    page.show_changes({"open work not named": (2, 2), "tokens": (900, 700)}, 2)
    assert page.table.cells() == [
        ["open work not named", "2", "2", "same"],
        ["tokens", "900", "700", "-200"],
    ]
    assert page.bound.text().startswith("At 2 places.")
