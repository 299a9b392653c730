"""Sessions of agents whose rules are in no profile: what the command and the report say of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.audit.ledger import LedgerVerdict, ledger_at
from explorer.audit.provenance import Provenance
from explorer.compaction.profile import BASES
from explorer.services.audit_report import make_report, written
from explorer.services.document import Document
from explorer.session.usage_sums import PartUsage
from explorer.workbench import Workbench
from tests.commands.processes import called
from tests.formats import opencode_store as store
from tests.formats.claude_lines import Lines
from tests.formats.opencode_store import reply, session, tool, user
from tests.formats.test_copilot_cli import Events


def opencode(folder: Path) -> Path:
    """A session with a pruned result."""
    pruned = tool("c1", time={"start": 1, "end": 2, "compacted": 3})
    return store.write_export(
        folder / "ses.json", session("ses", user("u1", 0, "Look."), reply("a1", 1, pruned))
    )


def copilot_cli(folder: Path) -> Path:
    events = Events(folder)
    events.user("Look.")
    events.reply("I looked.")
    events.read()
    return events.path


@pytest.mark.parametrize("write", [opencode, copilot_cli])
def test_what_stands_for_the_rules_is_named(
    bench: Workbench, tmp_path: Path, write: Callable[[Path], Path]
) -> None:
    path = write(tmp_path)
    title = BASES["explorer"].title
    status, out, _ = called("audit", str(path))
    assert status == 0
    sentence = "the rules of the agent that wrote the file are in no profile"
    assert f"Judged by the rules of: {title} (Inferred: {sentence}; {title} stands for" in out
    document = bench.open_blocking(bench.import_blocking(path).key)
    report = make_report(document, document.leaf, PartUsage())
    for form in ("html", "md", "json"):
        assert sentence in written(report, form)  # type: ignore[arg-type]
    assert json.loads(called("audit", str(path), "--json")[1])["rules"] == title


def test_the_ledger_says_where_a_pruned_text_is(bench: Workbench, tmp_path: Path) -> None:
    document = bench.open_blocking(bench.import_blocking(opencode(tmp_path)).key)
    assert _known(document) == (Provenance.EXACT, True)


def test_a_microcompaction_leaves_the_text_where_it_was(bench: Workbench, tmp_path: Path) -> None:
    lines = Lines().user("u1", "read").reply("a1", "msg_1", ("c1", "Read"))
    lines.result("r1", "c1", "long " * 400).reply("a2", "msg_2", "Read.")
    facts = {"trigger": "auto", "preTokens": 9, "tokensSaved": 480, "compactedToolIds": ["c1"]}
    lines.node("system", "m1", subtype="microcompact_boundary", microcompactMetadata=facts)
    path = lines.user("u2", "next").write(tmp_path / "session.jsonl")
    document = bench.open_blocking(bench.import_blocking(path).key)
    assert _known(document) == (Provenance.EXACT, True)


def _known(document: Document) -> tuple[Provenance, bool]:
    """How the one pruned result is known, and whether its text is said to be in the record."""
    rules = BASES["explorer"]
    ledger = ledger_at(
        document.tree, document.leaf, None, rules, read=document.payloads.shown.entries
    )
    (row,) = ledger.rows_of(LedgerVerdict.PRUNED)
    known = ledger.known(row)
    return known.provenance, "record" in known.basis
