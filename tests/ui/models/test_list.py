"""The list of all models: what words leave of it, and what a row says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from explorer.models.client import ModelClient
from tests.ui.waiting import Heard, settle
from ui.models.model_table import ModelRow, ModelsTable, ProviderHeading, rows_of, sift


@pytest.fixture(scope="module")
def all_rows() -> Iterator[list[ModelRow]]:
    client = ModelClient()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", "none")
        patch.delenv("OPENAI_API_KEY", raising=False)
        yield rows_of(client)
    client.close()


@pytest.fixture
def table(app: QApplication, all_rows: list[ModelRow]) -> Iterator[ModelsTable]:
    place = QWidget()
    made = ModelsTable(place)
    made.resize(640, 480)
    place.resize(640, 480)
    made.models.set_rows(all_rows)
    place.show()
    settle()
    yield made


def test_every_word_must_fit_and_each_provider_has_a_heading(all_rows: list[ModelRow]) -> None:
    assert len(all_rows) > 2_000
    lines = sift(all_rows, "sonnet IMAGES 4-5", False)
    models = [line for line in lines if isinstance(line, ModelRow)]
    headings = [line for line in lines if isinstance(line, ProviderHeading)]
    assert all("sonnet" in row.info.id and row.info.images for row in models)
    assert len(headings) == len({row.provider for row in models}) > 3
    assert headings[0].provider == "anthropic", "those that can be called come first"
    assert sum(heading.count for heading in headings) == len(models)
    only = sift(all_rows, "", True)
    assert {line.provider for line in only} == {"anthropic", "offline"}
    assert sift(all_rows, "kangaroo", False) == []


def test_a_row_says_in_words_what_it_shows_in_signs(table: ModelsTable) -> None:
    rows = table.models
    rows.set_filter("claude-sonnet-4-5", False)
    rows.set_surroundings(500_000, {"anthropic/claude-sonnet-4-5": "answers"})
    at = rows.row_of_model("anthropic/claude-sonnet-4-5")
    words = rows.index(at, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    for part in ("window 200k", "$3.00 in", "reasoning", "images", "tools", "answers",
                 "smaller than this context"):  # fmt: skip
        assert part in words
    row = rows.at(rows.row_of_model("openrouter/anthropic/claude-sonnet-4.5"))
    assert row is None, "another spelling is another word"
    assert rows.index(at, rows.column("$ in")).data() == "3.00"
    assert rows.index(at, rows.column("$ cache")).data() == "0.30"
    heading = rows.index(at - 1, 0)
    assert heading.data(Qt.ItemDataRole.AccessibleTextRole).startswith("anthropic: ")
    assert rows.flags(heading) == Qt.ItemFlag.NoItemFlags


def test_keys_step_over_headings_and_return_chooses(table: ModelsTable) -> None:
    table.models.set_filter("", False)
    table.mark("")
    chosen = Heard(table.chosen)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_PageDown, Qt.Key.Key_PageDown, Qt.Key.Key_Up):
        QTest.keyClick(table, key)
        assert table.row is not None
    QTest.keyClick(table, Qt.Key.Key_End)
    assert table.currentIndex().row() == table.models.rowCount() - 1
    QTest.keyClick(table, Qt.Key.Key_Home)
    assert table.currentIndex().row() == 1
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert chosen.count() == 1
