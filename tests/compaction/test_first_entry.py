"""A path that begins with a compaction, as that of a fork does."""

from __future__ import annotations

from tests.compaction.sessions import Session


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
