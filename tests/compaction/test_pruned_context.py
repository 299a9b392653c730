"""What a prune changes: the context, its size, the verdicts and the requests; never the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.compaction.context_size import context_size, counted_size
from explorer.compaction.messages import with_notes
from explorer.compaction.profile import PROFILES, Profile
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import plan_pruning, prune_note
from explorer.compaction.requests import build_requests
from explorer.session.context import context_at
from explorer.session.edit_entries import note_tokens
from explorer.session.entries import ToolResultMessage
from explorer.session.kinds import Kind
from explorer.settings.prompt_templates import load_templates
from tests.compaction.pruned_sessions import prune, take_back, used
from tests.compaction.sessions import EXPLORER, Session, Verdict, with_verdict

POLICY = Pruning(protect_tokens=100, minimum_savings=1, protected_tools=())
NOTE = note_tokens(prune_note(500))


def _worked() -> tuple[Session, list[int], int]:
    """A session with two old results, pruned, and a newer one."""
    session = Session()
    session.user()
    results = [used(session, "bash", 500), used(session, "bash", 500)]
    session.user()
    used(session, "bash", 120)
    session.reply(1, usage=9_000)
    entry = prune(session, plan_pruning(session.tree, session.leaf, POLICY))
    return session, results, entry


def test_the_context_has_the_note_in_place_of_the_result() -> None:
    session, results, entry = _worked()
    context = context_at(session.tree, session.leaf)
    assert list(context.pruned) == results and entry not in context.messages
    told = with_notes(session.read, context.pruned)(context.messages)
    texts = {
        index: entry.text
        for index, entry in zip(context.messages, told, strict=True)
        if entry.kind is Kind.TOOL_RESULT
    }
    assert [texts[at] for at in results] == [prune_note(500)] * 2
    body = told[context.messages.index(results[0])].body
    assert isinstance(body, ToolResultMessage) and body.call_id, "it answers its call"
    assert session.entries[results[0]]["message"]["content"][0]["text"] != prune_note(500)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)
def test_e7_a7_what_a_provider_reported_before_a_prune_is_not_the_size_after_it(
    profile: Profile,
) -> None:
    session, results, entry = _worked()
    before = session.tree.columns.parent[entry]
    old = context_size(session.tree, context_at(session.tree, before), profile)
    assert old.usage_tokens == 9_000
    counted_before = counted_size(session.tree, context_at(session.tree, before), profile)
    context = context_at(session.tree, session.leaf)
    size = context_size(session.tree, context, profile)
    assert size.usage_tokens == 0 and size.source.startswith("estimate")
    assert size.tokens == counted_size(session.tree, context, profile)
    assert size.tokens == counted_before - 2 * (500 - NOTE)
    session.user()
    session.reply(1, usage=700)
    newer = context_size(session.tree, context_at(session.tree, session.leaf), profile)
    assert newer.usage_tokens == 700, "a report from after the prune counts"
    take_back(session, entry)
    again = context_size(session.tree, context_at(session.tree, session.leaf), profile)
    assert again.usage_tokens == 0 and again.tokens > 1_000, "and taking it back ends that too"
    assert results


def test_e7_a_report_older_than_a_kept_range_counts_notes_among_what_follows() -> None:
    session, _results, _entry = _worked()
    session.reply(1, usage=700)
    used(session, "bash", 300)
    weights = [value * 2 for value in session.tree.columns.estimate]
    context = context_at(session.tree, session.leaf)
    measured = counted_size(session.tree, context, EXPLORER, weights)
    assert measured == sum(
        context.pruned[at].note_tokens if at in context.pruned else weights[at]
        for at in context.messages
    )


def test_every_pruned_result_that_is_told_has_its_verdict_and_what_it_saved() -> None:
    session, results, entry = _worked()
    parts = session.partition(100)
    assert with_verdict(parts, Verdict.PRUNED) == results
    assert parts.tokens[Verdict.PRUNED] == 2 * NOTE
    position = parts.path.position(results[0])
    reason = parts.reason(position)
    assert f"#{entry}" in reason and f"recorded {500 - NOTE} tokens saved" in reason
    assert parts.weight(position) == NOTE
    assert "summarizer" in reason
    kept = session.partition(1_000_000)
    assert "the model is sent the note" in kept.reason(position)


def test_the_summarizer_is_told_the_note_alone() -> None:
    session, _results, _entry = _worked()
    prepared = session.prepared(100)
    texts: list[str] = []

    def read(indices: Sequence[int]) -> list[dict[str, Any]]:
        return session.read(indices)

    for request in build_requests(prepared, read, None, "", load_templates()):
        texts.append(request.prompt)
    assert sum(text.count(prune_note(500)) for text in texts) == 2
    assert not any("word" * 400 in text for text in texts)


def test_what_was_pruned_and_then_summarized_is_summarized() -> None:
    session, results, _entry = _worked()
    session.compaction(session.user())
    parts = session.partition(10)
    assert not with_verdict(parts, Verdict.PRUNED)
    assert set(results) <= set(with_verdict(parts, Verdict.SUMMARIZED_EARLIER))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([5, 40, 200, 900]), min_size=1, max_size=12),
    st.sampled_from([0, 50, 300, 5_000]),
    st.sampled_from(sorted(PROFILES)),
    st.booleans(),
)
def test_the_parts_of_a_pruned_path_are_whole(
    sizes: list[int], keep: int, name: str, compacted: bool
) -> None:
    session, profile = Session(), PROFILES[name]
    session.user()
    for at, size in enumerate(sizes):
        used(session, "bash", size)
        if at % 3 == 0:
            session.user(3)
    if compacted:
        session.compaction(max(0, session.leaf - 6))
        session.user()
    prune(session, plan_pruning(session.tree, session.leaf, POLICY))
    parts = session.partition(keep, profile)
    context = context_at(session.tree, session.leaf)
    told = counted_size(session.tree, context, profile)
    if profile.boundary == "corrected" and profile.weights == "sent":
        assert parts.context_estimate == told
    assert 0 <= parts.tokens_kept <= parts.context_estimate
    assert parts.tokens_summarized + parts.tokens_kept + parts.tokens[Verdict.LOST] == (
        parts.context_estimate
    )
    for entry in with_verdict(parts, Verdict.PRUNED):
        assert entry in context.pruned
