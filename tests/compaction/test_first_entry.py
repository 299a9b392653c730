"""Compactions that begin a path, as in a fork, or keep everything from its first entry on."""

from __future__ import annotations

from dataclasses import replace

from explorer.compaction.partition import Verdict
from explorer.compaction.profile import PROFILES
from tests.compaction.sessions import Session, with_verdict


def test_the_files_of_a_compaction_that_comes_first_are_taken_over() -> None:
    session = Session()
    session.compaction(kept=0, read=["read.py"], modified=["changed.py"])
    for _ in range(4):
        session.user(10)
        session.reply(10)
    prepared = session.prepared(keep=15)
    assert prepared.previous_compaction == 0
    assert prepared.read_files == ("read.py",)
    assert prepared.modified_files == ("changed.py",)


def test_b1_what_was_kept_from_the_first_entry_on_is_shown_as_lost_by_old_pi() -> None:
    session = Session()
    kept = [session.user(10), session.reply(10)]
    session.compaction(kept=0)
    for _ in range(4):
        session.user(10)
        session.reply(10)
    old = replace(PROFILES["pi"], boundary="faithful-0.58")
    parts = session.partition(15, old)
    assert with_verdict(parts, Verdict.LOST) == kept
