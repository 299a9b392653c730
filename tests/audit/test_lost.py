"""Marked losses in short sessions: most are found, and nothing else is reported."""

from __future__ import annotations

import pytest

from tests.audit.lost import Planted, read_set


@pytest.mark.parametrize("session", read_set("tuning"), ids=lambda session: session.name)
def test_nothing_but_what_was_lost_is_reported(session: Planted) -> None:
    wrong = [one.text for one in session.findings() if session.mark_of(one) is None]
    assert not wrong


@pytest.mark.parametrize(("kind", "least"), [("lost", 10), ("open", 8), ("wrong", 6)])
def test_so_many_of_the_losses_are_found(kind: str, least: int) -> None:
    found = {
        (session.name, mark)
        for session in read_set("tuning")
        for one in session.findings()
        if (mark := session.mark_of(one)) is not None and mark.kind == kind
    }
    assert len(found) >= least
