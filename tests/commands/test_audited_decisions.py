"""What a user decided is counted by the audit among what a summary does not carry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands.processes import called
from tests.store.sources import message, write_file

DECISIONS = (
    "We decided to store the queue in SQLite.",
    "We settled on gzip for the archives.",
    "We agreed to ship the beta in March.",
    "Let's go with two worker threads for the upload.",
    "Use tabs instead of spaces in the Makefile.",
)
"""Each is told as a decision by another word."""
UNDECIDED = "Maybe we could store the queue in SQLite."


def audited(path: Path, said: str, summary: str) -> int:
    """How many decisions are not carried by the one compaction of a session."""
    reply = message(0, None, "", "assistant")
    reply["message"] |= {"content": [{"type": "text", "text": "Noted. " * 30}]}
    entries = [
        message(0, None, said),
        reply,
        message(0, None, "What is left?"),
        {"type": "compaction", "firstKeptEntryId": "e2", "tokensBefore": 900, "summary": summary},
        message(0, None, "Go on."),
    ]
    chain = [
        entry | {"id": f"e{at}", "parentId": f"e{at - 1}" if at else None}
        for at, entry in enumerate(entries)
    ]
    status, out, err = called("audit", str(write_file(path, chain)), "--json")
    assert status == 0, err
    (compaction,) = json.loads(out)["compactions"]
    counts: dict[str, Any] = compaction["not_carried"]
    return int(counts.get("decision", 0))


@pytest.mark.parametrize("said", DECISIONS)
def test_a_decision_that_a_summary_loses_is_counted(tmp_path: Path, said: str) -> None:
    assert audited(tmp_path / "lost.jsonl", said, "## Goal\nSomething else.\n") == 1
    assert audited(tmp_path / "kept.jsonl", said, f"## Decisions\n- {said}\n") == 0


def test_what_is_only_considered_is_no_decision(tmp_path: Path) -> None:
    assert audited(tmp_path / "open.jsonl", UNDECIDED, "## Goal\nSomething else.\n") == 0
