"""A compaction whose text is encrypted: nothing of what it stands for counts as lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.audit.report import document as json_form
from explorer.audit.report import failures
from explorer.audit.report.checks import CHECKS
from explorer.audit.report.model import Report, verdict_words
from explorer.services.audit_report import make_report, written
from explorer.services.document import Document
from explorer.services.summary_audit import Auditor
from explorer.services.summary_candidates import entry_candidate
from explorer.session.usage_sums import PartUsage
from explorer.workbench import Workbench
from tests.commands.processes import called
from tests.formats.codex_rollouts import Rollout
from tests.formats.test_codex import PREFIX

RULE = "Never use port 8000, and keep src/harbour/berth.py as it is."
SENTENCE = (
    "Its summary is encrypted by the provider or was not recorded: what it says cannot be read."
)


def rollout(folder: Path, *, also_readable: bool = False) -> Path:
    """A session of Codex with an encrypted compaction, and perhaps one that can be read."""
    made = Rollout(1).exchange(RULE, "I keep to it, and read src/harbour/quay.py.")
    secret = {"type": "compaction", "encrypted_content": "gAAA"}
    made.add("compacted", message="", replacement_history=[secret])
    made.exchange("Write src/harbour/mole.py within 250 ms.", "Done in src/harbour/mole.py.")
    if also_readable:
        made.add("compacted", message=PREFIX + "All was asked.", replacement_history=[])
        made.exchange("Go on.", "I go on.")
    return made.write(folder)


@pytest.fixture
def encrypted(bench: Workbench, tmp_path: Path) -> Document:
    return bench.open_blocking(bench.import_blocking(rollout(tmp_path)).key)


def reported(document: Document) -> Report:
    return make_report(document, document.leaf, PartUsage())


def test_nothing_is_counted_and_nothing_fails(encrypted: Document) -> None:
    report = reported(encrypted)
    (part,) = report.compactions
    assert not part.fidelity.is_readable and part.known.provenance.value == "unreadable"
    assert (part.fidelity.findings, part.fidelity.not_carried, report.losses) == ((), {}, ())
    assert not [run for lane in report.strip for run in lane.runs if run.state == "lost"]
    assert failures(report, CHECKS) == ()


def test_the_audit_is_of_the_summary_alone(encrypted: Document) -> None:
    (entry,) = encrypted.tree.columns.compactions
    audited = Auditor(encrypted).compaction(entry)
    assert (audited.summary, audited.fidelity.is_readable) == ("", False)
    assert audited.fidelity.tokens_before > 0


def test_no_figure_of_it_is_compared(encrypted: Document) -> None:
    (entry,) = encrypted.tree.columns.compactions
    found = entry_candidate(encrypted, entry, Auditor(encrypted).compaction(entry))
    assert found.tokens == -1 and found.settings["Keeps from"] == "not recorded"


def test_every_form_of_the_report_says_so(encrypted: Document) -> None:
    report = reported(encrypted)
    assert verdict_words(report).endswith(SENTENCE)
    for form in ("html", "md"):
        text = written(report, form)  # type: ignore[arg-type]
        assert SENTENCE in text and "Encrypted by the provider" in text
        assert "100 %" not in text
    found = json_form(report)
    (part,) = found["compactions"]
    assert part["readable"] is False and "cannot be read" in part["headline"]
    assert part["findings"] == [] and found["losses"] == []


def test_what_it_left_is_not_given_a_size(encrypted: Document) -> None:
    report = reported(encrypted)
    (part,) = report.compactions
    (entry,) = encrypted.tree.columns.compactions
    before, after = encrypted.tokens.sizes_around(entry)
    assert before > 0 and after is None and part.counted_after is None
    tokens = json_form(report)["compactions"][0]["tokens"]
    assert (tokens["counted_after"], tokens["summary"], tokens["ratio"]) == (None, None, None)
    for form in ("html", "md"):
        assert "not recorded" in written(report, form)  # type: ignore[arg-type]


def test_commands_give_it_no_size(tmp_path: Path) -> None:
    path = str(rollout(tmp_path))
    _, out, _ = called("audit", path)
    (row,) = [line for line in out.splitlines() if line.startswith("#")]
    assert row.split("  ")[-1].strip() == "–" and "not recorded" in row
    _, out, _ = called("tree", path, "--json")
    (node,) = [one for one in json.loads(out)["nodes"] if one["kind"] == "compaction"]
    assert node["tokens"] is None
    _, out, _ = called("context", path)
    (line,) = [line for line in out.splitlines() if "encrypted" in line]
    assert " – " in line
    _, out, _ = called("preview", path, "--json", "--keep-recent", "10")
    (row,) = [one for one in json.loads(out)["ledger"] if one["kind"] == "compaction"]
    assert row["tokens"] is None
    _, out, _ = called("preview", path, "--keep-recent", "10")
    (line,) = [line for line in out.splitlines() if "encrypted" in line]
    assert " – " in line


def test_another_one_that_can_be_read_is_counted(bench: Workbench, tmp_path: Path) -> None:
    path = rollout(tmp_path, also_readable=True)
    report = reported(bench.open_blocking(bench.import_blocking(path).key))
    first, second = report.compactions
    assert (first.fidelity.is_readable, second.fidelity.is_readable) == (False, True)
    assert verdict_words(report).startswith(f"Compaction #{second.entry.index}: ")
    assert "cannot be read" not in verdict_words(report)


def test_the_command_says_so_and_does_not_fail(tmp_path: Path) -> None:
    path = str(rollout(tmp_path))
    status, out, _ = called("audit", path, "--fail-on", "standing-instruction,open-state")
    assert status == 0 and SENTENCE in out
    status, out, _ = called("audit", path, "--json")
    assert json.loads(out)["compactions"][0]["readable"] is False


def test_the_rules_of_another_agent_are_said_to_be_unknown(encrypted: Document) -> None:
    report = reported(encrypted)
    assert report.rules_known.startswith("Inferred: the rules of the agent that wrote the file are")
    text = written(report, "md")
    assert "in no profile" in text and "its own agent" not in text.lower()
