"""What is found in the lines is what the tables say, which ``recorded`` writes anew."""

from __future__ import annotations

import pytest

from tests.audit.planted.reading import MarkedSession
from tests.facts import edges
from tests.facts.recorded import PLACE, agreements, sessions, table


@pytest.mark.parametrize("session", sessions(), ids=lambda one: one.name)
def test_the_facts_of_a_text_are_those_recorded(session: MarkedSession) -> None:
    recorded = (PLACE / f"{session.name}.tsv").read_text(encoding="utf-8")
    assert table(session).split("\n") == recorded.split("\n")


def test_what_statements_are_to_each_other_is_what_was_recorded() -> None:
    recorded = (PLACE / "agreements.tsv").read_text(encoding="utf-8")
    assert agreements().split("\n") == recorded.split("\n")


def test_what_is_found_at_the_edges_is_what_was_recorded() -> None:
    recorded = (PLACE / "edges.tsv").read_text(encoding="utf-8")
    assert edges.whole().split("\n") == recorded.split("\n")
