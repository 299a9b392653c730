"""What the calls of other agents cost, worked out and marked, wherever a cost is shown."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.audit.provenance import Provenance, spending_known
from explorer.audit.report import document as json_form
from explorer.audit.report.model import cost_words
from explorer.services.audit_report import make_report
from explorer.services.document import Document
from explorer.services.library import read_library
from explorer.session.branch_difference import compare_branches
from explorer.workbench import Workbench

IN, OUT = 1_000, 200
PRO = "gemini-2.5-pro"
PRO_COST = IN * 1.25e-6 + OUT * 1e-5
"""At what litellm's list has for it."""


def lines_of(models: list[str]) -> str:
    """A session of Gemini CLI's older form: a question and an answer for each model."""
    messages = []
    for at, model in enumerate(models):
        time_of = f"2026-04-29T21:{at:02}:00.000Z"
        messages.append(
            {"id": f"q{at}", "timestamp": time_of, "type": "user", "content": "How deep is it?"}
        )
        tokens = {"input": IN, "output": OUT, "cached": 0, "thoughts": 0, "tool": 0}
        messages.append(
            {"id": f"a{at}", "timestamp": time_of, "type": "gemini", "content": "Ten fathoms.",
             "model": model, "tokens": tokens | {"total": IN + OUT}}
        )  # fmt: skip
    return json.dumps(
        {"sessionId": "5d2b1c1e-0000-4000-8000-000000000000", "projectHash": "0" * 64,
         "startTime": "2026-04-29T21:00:00.000Z", "lastUpdated": "2026-04-29T21:00:00.000Z",
         "messages": messages}
    )  # fmt: skip


def opened(bench: Workbench, folder: Path, models: list[str]) -> Document:
    path = folder / "session.json"
    path.write_text(lines_of(models), "utf-8")
    document = bench.open_blocking(bench.import_blocking(path).key)
    asyncio.run(document.usage.follow())
    return document


def test_the_sums_tell_what_is_recorded_from_what_is_worked_out(
    bench: Workbench, tmp_path: Path
) -> None:
    document = opened(bench, tmp_path, [PRO, "gemini-of-nobody", PRO])
    spent = document.usage.session().total
    assert (spent.calls, spent.unpriced, spent.listed, spent.cost) == (3, 3, 2, 0)
    assert spent.listed_cost == pytest.approx(2 * PRO_COST)
    assert document.usage.of(1).total.listed_cost == pytest.approx(PRO_COST)
    known = spending_known(spent)
    assert known.provenance is Provenance.INFERRED
    assert known.basis == (
        "Worked out from the tokens and the model's listed prices for 2 of 3 calls, "
        "without 1 that has neither."
    )


def test_a_report_says_both(bench: Workbench, tmp_path: Path) -> None:
    document = opened(bench, tmp_path, [PRO, PRO])
    report = make_report(document, document.leaf, document.usage.branch(document.leaf))
    figure, known = cost_words(report)
    assert figure == "≈$0.0065" and known.startswith("inferred: Worked out")
    replies = replace(report.spending.replies, uncounted=1)
    least = replace(report, spending=replace(report.spending, replies=replies))
    assert cost_words(least)[0] == "≥$0.0065"
    replies = replace(report.spending.replies, low_priced=9)
    low = replace(report, spending=replace(report.spending, replies=replies))
    assert cost_words(low)[0] == "≥$0.0065"
    cost = json_form(report)["cost"]
    assert (cost["usd"], cost["usd_by_list"]) == (0, 0.0065)
    assert (cost["replies"]["by_list"], cost["provenance"]) == (2, "inferred")


def test_branches_are_compared_by_what_is_known(bench: Workbench, tmp_path: Path) -> None:
    document = opened(bench, tmp_path, [PRO, PRO])
    found = compare_branches(
        document.tree, document.payloads.shown, 1, 3, document.usage.listed_cost
    )
    assert "≈" not in str(found) and found.right.spent.listed == 1


def test_the_library_has_it_too(bench: Workbench, tmp_path: Path) -> None:
    opened(bench, tmp_path, [PRO, PRO, "gemini-of-nobody"])
    until = time.monotonic() + 30
    while not read_library(bench.store).rows[0].spent.calls:
        assert time.monotonic() < until, "the sessions are never summed up"
        time.sleep(0.01)
    (plain,) = read_library(bench.store).rows
    (row,) = read_library(bench.store, prices=bench.client.info).rows
    assert (plain.spent.listed, row.spent.listed, row.spent.unpriced) == (0, 2, 3)
    assert row.spent.listed_cost == pytest.approx(2 * PRO_COST)


def test_what_an_agent_records_itself_is_not_worked_out(
    document: Document,
) -> None:
    asyncio.run(document.usage.follow())
    assert document.usage.session().total.listed == 0
