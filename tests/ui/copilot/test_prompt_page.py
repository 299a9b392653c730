"""The page of a prompt that is kept within a budget, by keys and clicks (A44, A47, A52)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.agent.turn_interface import Outgoing
from explorer.compaction.background import Machine, Rendered, RunState, step
from explorer.compaction.profile import PROFILES
from explorer.compaction.profile.rules import Background
from explorer.models.client import ModelClient
from explorer.services.auto_compaction.prompt import CopilotWords, PreparedPrompt, prepare_prompt
from explorer.services.document import Document
from explorer.store import Store
from explorer.workbench import Workbench
from tests.ui.waiting import Heard, settle, shown_texts, wait_for
from tests.ui.window.running import sample_path
from ui import theme
from ui.copilot import PromptPage

OPUS = "anthropic/claude-opus-4-5"
WINDOW = 40_000


@pytest.fixture
def document(tmp_path: Path) -> Iterator[Document]:
    bench = Workbench(Store.open(tmp_path / "sessions.db"), ModelClient(), random=Random(7))
    yield bench.open_blocking(bench.import_blocking(Path(sample_path())).key)
    bench.client.close()
    bench.store.close()


@pytest.fixture
def page(app: QApplication, document: Document) -> PromptPage:
    def prepare() -> PreparedPrompt:
        outgoing = Outgoing(OPUS, "You are an agent.")
        return prepare_prompt(document, PROFILES["copilot"], outgoing, WINDOW, CopilotWords.load())

    shown = PromptPage()
    shown.resize(520, 900)
    shown.show()
    shown.show_prompt(prepare, OPUS)
    wait_for(lambda: shown.shown is not None, "the prompt")
    settle()
    return shown


def rows(page: PromptPage, parent: QModelIndex = QModelIndex()) -> list[list[str]]:  # noqa: B008
    model = page.model
    return [
        [str(model.index(at, column, parent).data() or "") for column in range(model.columnCount())]
        for at in range(model.rowCount(parent))
    ]


def budget(page: PromptPage, tokens: int) -> None:
    """Type a budget."""
    before = page.shown
    box = page.budget.box
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, str(tokens))
    QTest.keyClick(box, Qt.Key.Key_Return)
    wait_for(lambda: page.shown is not before, "the prompt at the new budget")


def test_a44_the_tree_shows_priorities_growth_and_budgets(page: PromptPage) -> None:
    top = {name: rest for name, *rest in rows(page)}
    assert top["instructions"][:2] == ["stays", ""]
    assert top["history"][:2] == ["700", "1"]
    assert top["current message"][:2] == ["900", "2"]
    assert top["tool calls"][:2] == ["899", "2"]
    assert "nothing dropped" in page.outcome.text()
    assert all(row[page.model.column("Budget")] for row in rows(page))


def test_a44_a_smaller_budget_shows_what_goes_first_and_why(page: PromptPage) -> None:
    page.cached.click()
    budget(page, 12_000)
    assert "dropped" in page.outcome.text()
    history = page.model.index(1, 0)
    inside = rows(page, history)
    gone = [row for row in inside if row[page.model.column("Gone")]]
    assert [row[page.model.column("Gone")] for row in gone[:3]] == ["1.", "2.", "3."]
    assert inside.index(gone[-1]) == len(gone) - 1
    page.tree.expand(history)
    first = page.model.index(0, 0, history)
    page.tree.setCurrentIndex(first)
    assert "priority" in page.outcome.text()
    assert "12,000" in page.outcome.text()
    told = str(first.data(Qt.ItemDataRole.AccessibleTextRole))
    assert "Dropped as number 1." in told


def test_a45_what_was_sent_stays_and_overflows_instead(page: PromptPage) -> None:
    budget(page, 12_000)
    assert "is summarized before it is sent" in page.outcome.text()
    assert not any(row[page.model.column("Gone")] for row in rows(page, page.model.index(1, 0)))
    before = page.shown
    page.window_budget.click()
    wait_for(lambda: page.shown is not before, "the prompt at its own budget")
    assert page.budget.box.value() == WINDOW
    assert not page.window_budget.isEnabled()


def test_return_on_a_row_goes_to_its_entry(page: PromptPage) -> None:
    heard = Heard(page.entry_requested)
    history = page.model.index(1, 0)
    page.tree.expand(history)
    page.tree.setFocus()
    page.tree.setCurrentIndex(page.model.index(2, 0, history))
    QTest.keyClick(page.tree, Qt.Key.Key_Return)
    node = page.model.node(page.model.index(2, 0, history))
    assert node is not None
    assert heard.at(0) == [node.sources(left=False)[0]]


def test_a47_the_machine_is_lit_and_says_what_happened(page: PromptPage) -> None:
    assert page.states.state_words == "Idle"
    assert not page.stop.isVisible()
    machine, _ = step(Machine(), Rendered(0.86, True), Background(), Random(2))
    page.show_machine(machine, Background())
    assert page.states.state_words == "In progress"
    assert "86 %" in page.note.text()
    heard = Heard(page.stop_requested)
    QTest.mouseClick(page.stop, Qt.MouseButton.LeftButton)
    assert heard.count() == 1
    assert "65 %" in page.gauge.accessibleDescription()
    assert "78 % to 82 %" in page.gauge.accessibleDescription()
    failed = Machine(RunState.FAILED, 1, 0.9, note="The provider asks to wait.")
    page.show_machine(failed, Background())
    assert page.states.state_words == "Failed"
    assert "The provider asks to wait." in shown_texts(page)


def test_a52_the_quirks_of_the_model_are_marked(page: PromptPage) -> None:
    page.needs.set_expanded(True)
    settle()
    words = shown_texts(page)
    assert "it must not call tools but only write" in words
    marks = {mark.accessibleName() for mark in page.quirks._marks}
    assert f"holds for {OPUS}" in marks
    assert "does not hold for the model of now" in marks


@pytest.mark.parametrize("name", ["light", "dark"])
def test_it_paints_in_both_themes_and_narrow(
    app: QApplication, page: PromptPage, name: theme.ThemeChoice
) -> None:
    theme.set_theme(name, app)
    page.resize(320, 700)
    settle()
    image = page.grab().toImage()
    assert image.pixelColor(2, 2) == theme.theme().paper
    assert not page.tree.isColumnHidden(page.model.column("Tokens"))
    assert page.tree.isColumnHidden(page.model.column("Budget"))
