"""The list of findings: three groups, what else is not carried folded, as many as there are."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from explorer.audit.findings import Fidelity, Finding, Group
from explorer.audit.words import NOTHING_FOUND, RULE_OF_THUMB, headline, none_sentence
from explorer.facts import Fact, FactKind
from ui.audit.fidelity.findings import (
    FindingsModel,
    GroupHeading,
    NoneFound,
    NotCarriedFact,
    NotCarriedHeading,
    NotCarriedKind,
)


def many(number: int) -> Fidelity:
    facts = [Fact(FactKind.COMMAND, f"make {at}", f"make {at}", (at,)) for at in range(number)]
    return Fidelity(
        tuple(Finding(Group.INSTRUCTION, fact, "Nothing says it.") for fact in facts[:2]),
        instructions=5,
        not_carried={FactKind.COMMAND: tuple(facts), FactKind.URL: tuple(facts[:1])},
    )


def test_groups_with_findings_are_shown_and_all_else_is_one_folded_row(app: QApplication) -> None:
    model = FindingsModel()
    model.show_findings(many(20_000))
    kinds = [type(row) for row in model.rows]
    assert kinds == [GroupHeading, Finding, Finding, NoneFound, NotCarriedHeading]
    assert model.first_finding() == 1
    folded = model.rows[-1]
    assert isinstance(folded, NotCarriedHeading)
    assert folded.title == "Not in these words: 20,000 commands, 1 address"
    model.turn(4)
    assert [type(row) for row in model.rows[-2:]] == [NotCarriedKind, NotCarriedKind]
    model.turn(6)
    (address,) = [row for row in model.rows if isinstance(row, NotCarriedFact)]
    kind = model.rows[6]
    assert isinstance(kind, NotCarriedKind) and kind.is_open and address.title in kind.note
    model.turn(5)
    assert 500 < len(model.rows) < 520, "a long list is cut"
    model.turn(5)
    model.turn(6)
    assert not any(isinstance(row, NotCarriedFact) for row in model.rows)
    model.turn(0)
    assert model.first_finding() == -1, "a group folds"


def test_one_row_says_of_what_there_is_nothing(app: QApplication) -> None:
    model = FindingsModel()
    model.show_findings(Fidelity())
    (row,) = model.rows
    assert isinstance(row, NoneFound)
    spoken = model.data(model.index(0, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == ("No instruction found missing. No open work unnamed, no contradiction")
    assert model.data(model.index(0, 0), Qt.ItemDataRole.ToolTipRole) == RULE_OF_THUMB
    assert none_sentence(many(3)) == "No open work unnamed, no contradiction."
    assert headline(many(3)).startswith("2 of 5 standing instructions not found in the summary")
    assert headline(Fidelity()) == NOTHING_FOUND
