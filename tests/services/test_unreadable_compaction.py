"""A compaction whose text is encrypted: nothing of what it stands for counts as lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.audit.ledger import LedgerVerdict
from explorer.audit.overview import overview
from explorer.audit.provenance import Provenance, sizes_known
from explorer.audit.report import document as json_form
from explorer.audit.report import failures
from explorer.audit.report.model import Report, verdict_words
from explorer.audit.report.output import CHECKS
from explorer.audit.rules import rule_of
from explorer.audit.words import headline, unread_words
from explorer.compaction.partition import Partition, Verdict
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.services.audit_report import make_report, written
from explorer.services.document import Document
from explorer.services.draft_records import recorded_inputs
from explorer.services.effective_rules import recorded_rules
from explorer.services.summary_audit import Auditor, entry_candidate
from explorer.session.usage_sums import PartUsage
from explorer.workbench import Workbench
from tests.commands.processes import called
from tests.formats.codex_rollouts import Rollout
from tests.formats.test_codex import PREFIX, answer_item, user_item
from tests.services.test_document import order

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


def listing(folder: Path) -> Path:
    """A session of Codex with two encrypted compactions that list messages from before them."""
    made = Rollout(1).exchange(RULE, "I keep to it.").prompt("Read it.")
    made.call("c1", cmd="cat src/harbour/quay.py").result("c1", "stone " * 900)
    made.answer("It is of stone.").count(4_000, 10)
    items = [user_item(RULE), answer_item("I keep to it."), answer_item("It is of stone.")]
    made.add("compacted", message="", replacement_history=items).exchange("Go on.", "I go on.")
    made.add("compacted", message="", replacement_history=items[:2]).exchange(
        "And?", "A wall. " * 400
    )
    made.exchange("So?", "Done.")
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
    assert SENTENCE in verdict_words(report)
    assert "may or may not be in it" in verdict_words(report)
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
    same = recorded_rules(encrypted).profile
    judged = make_report(encrypted, encrypted.leaf, PartUsage(), profile=same)
    assert judged.rules_known == report.rules_known, "nobody chose them"
    text = written(report, "md")
    assert "in no profile" in text and "its own agent" not in text.lower()


def test_what_its_record_lists_is_word_for_word_and_the_rest_may_be_in_it(
    bench: Workbench, tmp_path: Path
) -> None:
    document = bench.open_blocking(bench.import_blocking(listing(tmp_path)).key)
    entries = document.payloads.shown.entries(range(len(document.tree)))
    at = {entry.text: index for index, entry in enumerate(entries) if entry.text}
    first, second = document.tree.columns.compactions
    rules = PROFILES["explorer"]
    found = overview(document.tree, document.leaf, rules, moment=first)
    verbatim = [RULE, "I keep to it.", "It is of stone."]
    held = [entry for entry in found.ledger.entries if entry < first]
    words = {entry: found.ledger.verdict(found.ledger.row(entry)) for entry in held}
    assert [each for each, one in words.items() if one is LedgerVerdict.VERBATIM] == [
        at[text] for text in verbatim
    ]
    row = found.ledger.row(at["I keep to it."])
    assert rule_of(found.ledger, row) == (
        f"Compaction #{first} lists the context that it began, and #{at['I keep to it.']} stands "
        "in it word for word (4 tokens)."
    )
    assert found.ledger.known(row).provenance is Provenance.EXACT
    row = found.ledger.row(at["Read it."])
    assert rule_of(found.ledger, row).endswith(
        f"#{at['Read it.']} is none of them: it went to the summarizer. What that summary says is "
        f"encrypted or not recorded: #{at['Read it.']} may or may not be in it."
    )
    now = found.now
    row = now.row(at["It is of stone."])
    assert now.verdict(row) is LedgerVerdict.IN_EARLIER_SUMMARY
    assert "kept 3 entries of what was before it word for word" in rule_of(now, row)
    assert f"the summary of #{second}, which went on from it, says is" in rule_of(now, row)
    assert "encrypted or not recorded" in rule_of(now, now.row(first))
    assert (found.losses, found.unread) == ((), [first, second])
    assert unread_words(found.unread) == (
        f"The summaries of #{first} and #{second} are encrypted or were not recorded: what went to "
        "their summarizers may or may not be in them."
    )
    audited = Auditor(document).compaction(second)
    assert "2 entries from before it are kept beside it, word for word" in headline(
        audited.fidelity
    )


def test_the_next_compaction_summarizes_what_the_record_of_the_last_one_lists(
    bench: Workbench, tmp_path: Path
) -> None:
    document = bench.open_blocking(bench.import_blocking(listing(tmp_path)).key)
    listed = [at for at, one in document.context().again.items() if one.why == "recorded"]
    assert len(listed) == 2
    rules = PROFILES["explorer"]
    refused = document.compaction.preview(None, rules, Settings.of(rules))
    assert {Verdict(refused.verdicts[refused.path.position(at)]) for at in listed} == {Verdict.KEPT}
    shown = document.compaction.preview(
        None, rules, replace(Settings.of(rules), keep_recent_tokens=1)
    )
    assert isinstance(shown.preparation, Preparation)
    assert shown.preparation.history[: len(listed)] == listed
    verdicts = {Verdict(shown.verdicts[shown.path.position(at)]) for at in listed}
    assert verdicts == {Verdict.TO_SUMMARIZE} and not shown.tokens_dropped
    assert shown.context_estimate == refused.context_estimate
    request = document.compaction.requests(shown)[0]
    assert RULE in request.prompt and "I keep to it." in request.prompt
    made = asyncio.run(committed(document, shown))
    inputs = recorded_inputs(document.tree, document.shared.store.drafts(document.key))
    assert inputs[made].issuperset(listed)
    found = overview(document.tree, document.leaf, rules, recorded=inputs)
    assert not found.losses, "what stands between was never asked to be in the request"


async def committed(document: Document, shown: Partition) -> int:
    draft = await document.compaction.summarize(shown, order())
    return await document.compaction.commit(draft)


def test_what_makes_the_agents_count_larger_is_said_as_far_as_it_is_known(
    bench: Workbench, tmp_path: Path
) -> None:
    made = Rollout(1).prompt("One?").answer("One.").count(9_000, 10)
    made.prompt("stone " * 800).answer("Of stone.").count(11_000, 10)
    secret = {"type": "compaction", "encrypted_content": "gAAA"}
    made.add("compacted", message="", replacement_history=[secret]).exchange("Two?", "Two.")
    document = bench.open_blocking(bench.import_blocking(made.write(tmp_path)).key)
    found = overview(document.tree, document.leaf, PROFILES["explorer"])
    (entry,) = document.tree.columns.compactions
    counted, _ = found.generations.sizes_around(entry)
    assert found.difference == (
        f"It has {11_010 - counted:,} tokens more than the entries counted here. With the first "
        "reply, #1, the provider counted 9,010 tokens where the entries take 2: the rest is not in "
        "the file. As the entries grew, its reports grew by 1.66 tokens for each one that is "
        "counted here: another tokenizer, and what is sent with them and not recorded."
    )
    known = sizes_known(11_010, made_here=False, difference=found.difference)
    assert "system prompt and the descriptions of its tools" in known.basis
    assert known.basis.endswith(found.difference)
    assert not overview(document.tree, entry - 1, PROFILES["explorer"]).difference
