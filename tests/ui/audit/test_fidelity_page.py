"""The list of findings: groups that fold, one kind alone, as many as a long session has."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from explorer.audit.findings import Fate, Fidelity, Finding, KindRow
from explorer.audit.severity import grouped
from explorer.facts import Fact, FactKind
from ui.audit.fidelity.charts import (
    GenerationChart,
    KindTable,
    Point,
)
from ui.audit.fidelity.findings import (
    FindingsModel,
    GroupHeading,
)
from ui.audit.fidelity.words import headline, percent


def many(number: int) -> Fidelity:
    kinds, fates = tuple(FactKind), (Fate.LOST, Fate.EXACT, Fate.KEPT, Fate.MUTATED)
    return Fidelity(
        tuple(
            Finding(
                Fact(kinds[at % len(kinds)], f"thing {at}", f"thing {at}", (at,)),
                fates[at % len(fates)],
            )
            for at in range(number)
        ),
        kinds=(
            KindRow(FactKind.PATH, {Fate.LOST: 3, Fate.EXACT: 1}),
            KindRow(FactKind.NUMBER, {Fate.MUTATED: 2}),
        ),
    )


def test_groups_without_losses_are_folded_and_open_on_request(app: QApplication) -> None:
    model = FindingsModel()
    model.show_groups(grouped(many(20_000)))
    shown = [row for row in model.rows if isinstance(row, Finding)]
    assert {one.fate for one in shown} == {Fate.LOST, Fate.MUTATED}
    kept = next(
        at
        for at, row in enumerate(model.rows)
        if isinstance(row, GroupHeading) and row.group.title == "Kept verbatim"
    )
    model.turn(kept)
    assert sum(isinstance(row, Finding) for row in model.rows) == len(shown) + 5_000
    model.turn(kept)
    assert sum(isinstance(row, Finding) for row in model.rows) == len(shown)


def test_one_kind_alone_leaves_out_groups_that_have_none(app: QApplication) -> None:
    model = FindingsModel()
    model.show_groups(grouped(many(1_000)))
    model.set_kind(FactKind.CONSTRAINT)
    assert {row.fact.kind for row in model.rows if isinstance(row, Finding)} == {
        FactKind.CONSTRAINT
    }
    assert all(row.number for row in model.rows if isinstance(row, GroupHeading))
    assert model.first_finding() == 1
    model.show_groups(())
    assert model.first_finding() == -1 and model.rowCount() == 0


def test_kinds_are_told_in_words_and_one_at_a_time(app: QApplication) -> None:
    table = KindTable()
    chosen: list[FactKind | None] = []
    table.kind_chosen.connect(chosen.append)
    table.show_kinds(many(4))
    paths, figures = table.buttons[FactKind.PATH], table.buttons[FactKind.NUMBER]
    assert paths.accessibleName().startswith("Paths: 25 % survives; 1 exact")
    assert "2 mutated" in figures.accessibleName()
    paths.click()
    figures.click()
    assert not paths.isChecked() and figures.isChecked()
    figures.click()
    assert chosen == [FactKind.PATH, FactKind.NUMBER, None]
    table.deleteLater()


def test_a_chart_says_what_it_shows(app: QApplication) -> None:
    chart = GenerationChart("Survival")
    assert chart.accessibleName() == "Survival. Nothing to show."
    chart.show_points([Point("#1", 0.5, 10, "first, half."), Point("#2", 0.1, 10, "second.")])
    assert chart.accessibleName() == "Survival. first, half. second."
    chart.deleteLater()


@pytest.mark.parametrize(
    ("share", "words"),
    [(1.0, "100 %"), (0.999, "99 %"), (0.0, "0 %"), (0.001, "under 1 %"), (0.434, "43 %")],
)
def test_a_share_is_never_rounded_to_all_or_to_nothing(share: float, words: str) -> None:
    assert percent(share) == words


def test_the_headline_is_a_bound() -> None:
    assert headline(many(4)) == "At most 25 % of 4 things survive"
    assert headline(Fidelity()) == "Nothing that could be lost was summarized"
