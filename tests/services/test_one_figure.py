"""One thing has one figure, wherever it is shown and whichever rules are in force."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.audit.ledger import ledger_at
from explorer.audit.rules import rule_of
from explorer.audit.simulation import Policy, RequestMark
from explorer.compaction.context_size import message_tokens
from explorer.compaction.partition import Verdict
from explorer.compaction.path_view import EntrySizes
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import ModelClient
from explorer.services.agent import outgoing_of
from explorer.services.document import Document
from explorer.services.edits import CannotShape
from explorer.services.recorded_session import read_past
from explorer.services.sent_context import sent_context
from explorer.services.summary_audit import Auditor, entry_candidate
from explorer.session.kinds import Kind
from explorer.store import Store
from explorer.tokens.counters import TiktokenCounter
from explorer.workbench import Workbench
from tests.services.test_sent_context import MESSAGES, MODEL, lines_of

NAMES = [name for name in PROFILES if PROFILES[name].prompt_budget is None]


@pytest.fixture(scope="module")
def client() -> Iterator[ModelClient]:
    made = ModelClient()
    yield made
    made.close()


def shaped(document: Document, pins: list[int], omits: list[int]) -> None:
    """Pin and omit what can be."""
    for edit, wanted in ((document.edits.pin, pins), (document.edits.omit, omits)):
        for entry in wanted:
            if entry < len(document.tree):
                try:
                    asyncio.run(edit([entry]))
                except CannotShape:
                    continue


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(MESSAGES, max_size=14),
    name=st.sampled_from(NAMES),
    pins=st.lists(st.integers(0, 8), max_size=2),
    omits=st.lists(st.integers(0, 8), max_size=2),
    measured=st.booleans(),
)
def test_an_entry_has_one_figure(
    client: ModelClient,
    steps: list[tuple[Any, ...]],
    name: str,
    pins: list[int],
    omits: list[int],
    measured: bool,
) -> None:
    """On the map, on its page, in both ledgers, in the context and in what is sent."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines_of(steps)))
        bench = Workbench(Store.open(Path(folder) / "s.db"), client)
        try:
            document = bench.open_blocking(bench.import_blocking(path).key)
            shaped(document, pins, omits)
            if measured:
                asyncio.run(
                    document.tokens.count(TiktokenCounter(), lambda _a, _b: None, lambda: False)
                )
            check_entries(document, name)
        finally:
            bench.store.close()


def check_entries(document: Document, name: str) -> None:
    profile, tree, leaf = PROFILES[name], document.tree, document.leaf
    document.tokens.profile = profile
    weights = document.tokens.weights_for(profile)
    sizes = EntrySizes(tree, leaf, weights)
    shown = [sizes[entry] for entry in range(len(tree))]
    assert list(sizes.all()) == shown
    assert [document.tokens.shown_tokens(entry) for entry in range(len(tree))] == shown

    context = document.context()
    in_context = message_tokens(tree, context, weights)
    assert in_context == [shown[entry] for entry in context.messages]

    ledger = ledger_at(tree, leaf, None, profile, weights=weights)
    rows = {entry: ledger.weight(row) for row, entry in enumerate(ledger.entries)}
    assert rows == {entry: shown[entry] for entry in rows}
    assert sum(ledger.tokens) == sum(rows.values())

    preview = document.compaction.preview(leaf, profile, Settings.of(profile))
    assert [preview.weight(at) for at in range(len(preview.path))] == [
        shown[entry] for entry in preview.path
    ]
    assert preview.context_estimate == sum(in_context)

    sent = sent_context(document, profile, outgoing_of("", MODEL, None))
    unsent = sum(shown[entry] for entry in sent.unsent if entry in context.messages)
    assert sum(sent.tokens) + unsent == sum(in_context)


def test_a_context_is_its_entries_and_what_lies_beyond(document: Document) -> None:
    for profile in PROFILES.values():
        settings = Settings.of(profile)
        for leaf in (document.leaf, 90, 120):
            size = document.tokens.context_size(profile, leaf)
            tokens = message_tokens(document.tree, document.context(leaf))
            preview = document.compaction.preview(leaf, profile, settings)
            assert preview.tokens_beyond == size.beyond_of(sum(tokens))
            if size.usage_tokens:
                assert size.shown == sum(tokens) + size.beyond_of(sum(tokens)), profile.name


def test_the_rules_of_others_decide_by_their_own_count_and_show_the_one(
    document: Document,
) -> None:
    """What pi counts for its cut is no figure of an entry."""
    ours, theirs = (
        document.compaction.preview(document.leaf, profile, Settings.of(profile))
        for profile in (PROFILES["explorer"], PROFILES["pi"])
    )
    assert [ours.weight(at) for at in range(len(ours.path))] == [
        theirs.weight(at) for at in range(len(theirs.path))
    ]
    assert isinstance(theirs.preparation, Preparation)
    view = theirs.preparation.cuts.view
    assert list(view.weights) != list(view.sizes)
    kept = sum(theirs.weight(at) for at, one in enumerate(theirs.verdicts) if one == Verdict.KEPT)
    assert kept == theirs.tokens[Verdict.KEPT]


def test_a_compaction_has_one_pair_of_sizes(document: Document) -> None:
    for name in PROFILES:
        document.tokens.profile = PROFILES[name]
        for entry in document.tree.columns.compactions:
            assert document.tokens.sizes_around(entry) == asyncio.run(
                document.tokens.counted_around(entry)
            )
            _, after = document.tokens.sizes_around(entry)
            assert after == sum(message_tokens(document.tree, document.context(entry)))


def test_whoever_counts_otherwise_is_named(document: Document) -> None:
    tree = document.tree
    leaf = next(at for at, kind in enumerate(tree.columns.kind) if kind == Kind.USER)
    sources = {
        name: document.tokens.context_size(PROFILES[name], leaf).source
        for name in ("explorer", "pi")
    }
    title = PROFILES["pi"].title
    assert sources == {"explorer": "estimate", "pi": f"estimate as {title} counts"}


def test_what_was_summarized_already_is_said_alike_in_previews_and_ledger(
    document: Document,
) -> None:
    """Which compaction summarized it; the ledger says besides what the rules keep by default."""
    profile = document.tokens.profile
    preview = document.compaction.preview(document.leaf, profile, Settings.of(profile))
    ledger = ledger_at(document.tree, document.leaf, None, profile, weights=document.tokens.weights)
    rows = {entry: row for row, entry in enumerate(ledger.entries)}
    compared = 0
    for position, verdict in enumerate(preview.verdicts):
        entry = preview.path[position]
        is_summary = document.tree.columns.kind[entry] == Kind.COMPACTION
        if verdict == Verdict.SUMMARIZED_EARLIER and not is_summary:
            rule = re.sub(r" \((how much|the cut splits)[^)]*\)", "", rule_of(ledger, rows[entry]))
            assert preview.reason(position) == rule
            compared += 1
    assert compared > 100
    assert "#105 kept" in preview.reason(3) and "#197 then wrote that summary anew" in rule_of(
        ledger, rows[3]
    )


def test_what_was_sent_is_the_same_in_what_if_and_in_the_sums(document: Document) -> None:
    """The line of what was recorded has the prompts that the provider reported, none of its own."""
    asyncio.run(document.usage.follow())
    spent = document.usage.branch(document.leaf).replies
    found = read_past(document, document.leaf, Policy.of(PROFILES["explorer"])).recorded
    made, exact = found.requests, int(RequestMark.EXACT)
    known = [at for at, mark in enumerate(made.marks) if mark & exact]
    assert len(known) == spent.calls
    sent = spent.input + spent.cache_read + spent.cache_write
    assert sum(made.sent[at] for at in known) == sent > 0
    assert sum(made.cached[at] for at in known) == spent.cache_read > 0
    assert found.largest == max(made.sent)


def test_a_summary_has_the_size_that_its_page_says_where_it_is_compared(
    document: Document,
) -> None:
    counted = document.tokens.count(TiktokenCounter(), lambda _a, _b: None, lambda: False)
    assert asyncio.run(counted) and document.tokens.counted_by == "tokenizer"
    entry = max(document.tree.columns.compactions)
    audited = Auditor(document).compaction(entry)
    assert entry_candidate(document, entry, audited).tokens == audited.fidelity.tokens_after
