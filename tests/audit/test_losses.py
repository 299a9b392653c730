"""Losses that other agents cause, each found where it happened, with its cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from explorer.audit.branch_audit import Origin, branch_audit
from explorer.audit.findings import Loss, LossKind, Repair, Severity
from explorer.audit.losses import find_losses, lost_line
from explorer.audit.provenance import Provenance
from explorer.compaction.profile import BASES, Profile, Settings
from explorer.formats.pi.entries import read_entry
from explorer.session.describe import Facts, describe
from explorer.session.edit_entries import PIN_TYPE
from tests.audit.test_ledger import twice
from tests.compaction.sessions import Session

PI, OLD_PI, EXPLORER = BASES["pi"], BASES["pi-0.58"], BASES["explorer"]
FORM = "\n".join(
    f"## {name}\nx."
    for name in (
        "Goal", "Constraints", "Progress", "Key Decisions", "Next Steps", "Critical Context",
    )
)  # fmt: skip


def losses(made: Session, profile: Profile = PI, **more: Any) -> dict[LossKind, Loss]:
    def read(indices: Sequence[int]) -> list[dict[str, Any]]:
        return [read_entry(made.entries[at]) for at in indices]

    return {
        one.kind: one
        for one in find_losses(made.tree, made.leaf, profile, read=read, **more)
        if one.kind is not LossKind.CUT_SHORT
    }


def test_a_kept_range_that_the_next_compaction_starts_after() -> None:
    """E1"""
    made, _, kept, first, second = twice()
    found = losses(made, OLD_PI)
    loss = found[LossKind.KEPT_RANGE_DROPPED]
    assert list(loss.entries) == [kept, kept + 1]
    assert (loss.at, loss.tokens, loss.severity) == (second, 80, Severity.LOST)
    assert f"Compaction #{first} kept 2 messages (80 tokens" in loss.cause
    assert loss.provenance is Provenance.INFERRED
    assert Repair.PIN in loss.repairs
    assert LossKind.KEPT_RANGE_DROPPED not in losses(made), "the corrected rules lose nothing"
    line = lost_line(found.values(), second)
    assert line.startswith("2 entries (80 tokens) neither kept nor summarized")
    assert not lost_line(found.values(), first)


def test_a_pass_of_a_split_turn_alone_drops_the_summary_before() -> None:
    """E2"""
    made = Session()
    old = made.user(10)
    made.reply(10)
    start = made.user(10)
    made.compaction(start, "first")
    made.reply(10)
    kept = made.reply(10)
    second = made.compaction(kept, "No prior history.\n\n---\n\nprefix")
    loss = losses(made)[LossKind.PREVIOUS_SUMMARY_DROPPED]
    assert (loss.at, list(loss.entries)) == (second, [old, old + 1])
    made.entries[second]["summary"] = "carried"
    assert LossKind.PREVIOUS_SUMMARY_DROPPED not in losses(made)
    without = find_losses(made.tree, made.leaf, PI)
    assert LossKind.PREVIOUS_SUMMARY_DROPPED in {one.kind for one in without}, "by the rules alone"


@pytest.mark.parametrize("where", ["missing", "elsewhere", "after"])
def test_a_boundary_that_points_nowhere(where: str) -> None:
    """E8"""
    made = Session()
    made.user(30_000)
    made.reply(10)
    fork = made.user(10)
    elsewhere = made.reply(10)
    made.leaf = fork
    made.user(10)
    kept = {"missing": 999, "elsewhere": elsewhere, "after": len(made.entries) + 2}[where]
    at = made.compaction(kept)
    made.user(10)
    made.user(10)
    loss = losses(made)[LossKind.BOUNDARY_LOST]
    assert loss.at == at
    assert loss.entries, "what the rules would have kept"
    words = {"missing": "nowhere", "elsewhere": "another branch", "after": "came after"}[where]
    assert words in loss.cause


def test_nothing_kept_on_purpose_is_no_loss() -> None:
    made = Session()
    made.user(1000)
    made.reply(10)
    made.compaction(len(made.entries), FORM)
    assert not losses(made)


@pytest.mark.parametrize(
    ("summary", "kind"),
    [
        ("", LossKind.EMPTY_SUMMARY),
        (f"{FORM}\n## Goal\nagain", LossKind.REPEATED_SECTIONS),
    ],
)
def test_a_summary_that_should_not_have_been_stored(summary: str, kind: LossKind) -> None:
    """E5, E20"""
    made = Session()
    made.user(100)
    kept = made.user(10)
    made.compaction(kept, summary)
    loss = losses(made)[kind]
    assert (loss.severity is Severity.LOST) == (kind is LossKind.EMPTY_SUMMARY)
    assert bool(loss.entries) == (kind is LossKind.EMPTY_SUMMARY)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (FORM, False),
        (FORM[: FORM.index("## Next Steps")], True),
        (f"{FORM}\n```\nmake", True),
        (f"{FORM}\nThe fence is written as ```out.", False),
        ("A few words of one's own.", False),
        ("# Checkpoint\n\n## Goal\nx\n\n## Progress\ny", False),
        ("## Branch\nx\n\n## Goal\ny\n\n### Progress of the week\nz", False),
        ("## Goal\nx\n\n## Progress\ny\n\n## Open Threads\nz\n\n## Pointers\na.py", False),
    ],
)
def test_a_summary_that_looks_cut_short(text: str, short: bool) -> None:
    """E5"""
    made = Session()
    made.user(2000)
    kept = made.user(10)
    at = made.compaction(kept, text)
    found = find_losses(
        made.tree, made.leaf, PI, read=lambda ix: [read_entry(made.entries[i]) for i in ix]
    )
    assert [one.kind for one in found] == ([LossKind.CUT_SHORT] if short else [])
    assert all(one.at == at and one.provenance is Provenance.INFERRED for one in found)


def test_a_failed_compaction_that_was_applied() -> None:
    """E14"""
    made = Session()
    made.user(2000)
    kept = made.user(10)
    at = made.compaction(kept, FORM)
    made.entries[at]["error"] = "overloaded"
    assert "overloaded" in losses(made)[LossKind.FAILED_APPLIED].cause


def test_a_summary_of_nothing_one_that_grew_and_one_in_a_row() -> None:
    """E4, E15, E16"""
    made = Session()
    first = made.user(10)
    made.reply(10)
    at = made.compaction(first, FORM)
    found = losses(made)
    assert found[LossKind.EMPTY_INPUT].at == found[LossKind.GREW].at == at
    made.compaction(len(made.entries), "x")
    assert LossKind.IN_A_ROW in losses(made)


def test_what_a_file_does_not_hold_was_not_nothing() -> None:
    made = Session()
    at = made.compaction(0, FORM)
    made.user(10)
    assert not {LossKind.EMPTY_INPUT, LossKind.GREW} & losses(made).keys(), "it begins with it"
    made = Session()
    first = made.user(10)
    made.reply(10)
    at = made.compaction(first, FORM)
    made.entries[at]["tokensBefore"] = 150_000
    assert LossKind.GREW not in losses(made), "most of it lay before the file begins"


def test_kept_again_after_it_was_summarized() -> None:
    made, old, _, _, _ = twice()
    made.compaction(old, "third")
    loss = losses(made)[LossKind.SUMMARIZED_AND_KEPT]
    assert loss.entries[0] == old
    assert loss.severity is Severity.WASTE


def test_notes_that_the_rules_count_for_nothing() -> None:
    """E6"""
    made = Session()
    made.user(100)
    kept = made.user(10)
    made.note(9_000)
    made.compaction(kept, "x")
    assert losses(made)[LossKind.NOTES_NOT_COUNTED].tokens == 9_000
    assert LossKind.NOTES_NOT_COUNTED not in losses(made, EXPLORER)


def test_a_result_parted_from_its_call_by_a_cut() -> None:
    made = Session()
    made.user(100)
    made.reply(calls=[("read", "a")])
    result = made.result(10, call="c1.0")
    at = made.compaction(result, "x")
    loss = losses(made)[LossKind.ORPHANED_RESULT]
    assert (loss.at, list(loss.entries), loss.repairs) == (at, [result], (Repair.CUT,))


def test_calls_without_results_are_told_with_why() -> None:
    made = Session()
    made.user(10)
    two = made.reply(calls=[("read", "a"), ("read", "b")])
    one = made.result(10, call="c1.0")
    made.result(10, call="c1.1")
    made.leaf = one
    made.user(10, under=one)
    assert "1 of its results" in losses(made)[LossKind.ORPHANED_CALL].cause
    made.reply(calls=[("read", "a")], stop="aborted")
    made.user(10)
    assert losses(made)[LossKind.ORPHANED_CALL].at == two, "what was stopped is not sent again"
    unanswered = made.reply(calls=[("read", "y")])
    made.user(10)
    last = losses(made)[LossKind.ORPHANED_CALL]
    assert (last.at, "has no answer" in last.cause) == (unanswered, True)
    made.reply(calls=[("read", "z")])
    found = losses(made).get(LossKind.ORPHANED_CALL)
    assert found is None or found.at == two, "a model answered the request; the leaf's is awaited"


def test_a_result_below_a_message_is_not_alone_and_what_a_compaction_broke_off_is_no_loss() -> None:
    made = Session()
    made.user(10)
    reply = made.reply(calls=[("read", "a"), ("read", "b")])
    made.result(10, call=f"c{reply}.0")
    made.user(10, text="what the call brought with it")
    made.result(10, call=f"c{reply}.1")
    made.user(10)
    assert LossKind.ORPHANED_RESULT not in losses(made)
    made.result(10, call="of no reply")
    made.user(10)
    assert LossKind.ORPHANED_RESULT in losses(made)
    made = Session()
    made.user(10)
    made.reply(calls=[("bash", "wait")])
    made.compaction(len(made.entries), FORM)
    made.user(10)
    assert LossKind.ORPHANED_CALL not in losses(made), "no request has it any more"


def left_branch(**more: Any) -> tuple[Session, int, int, int]:
    """A branch of 30 replies, one of them failed, left for its start; the summary below it."""
    made = Session()
    start = made.user(10)
    for _ in range(29):
        made.reply(2000)
    failed = made.reply(10, stop="error")
    summary = made.add(
        {"type": "branch_summary", "fromId": f"e{failed}", "summary": "told", **more}, start
    )
    return made, start, failed, summary


def test_what_a_branch_summary_leaves_out_and_tells_wrongly() -> None:
    """E10, A32"""
    made, start, failed, summary = left_branch()
    sizes = Settings(context_window=20_000 + PI.branch_reserve_tokens)
    found = losses(made, PI, settings=sizes)
    out = found[LossKind.BRANCH_LEFT_OUT]
    assert out.at == summary
    assert out.entries[0] == start + 1
    assert list(found[LossKind.FAILURES_INCLUDED].entries) == [failed]
    assert LossKind.FAILURES_INCLUDED not in losses(made, EXPLORER)
    audit = branch_audit(made.tree, summary, PI, sizes)
    assert (audit.ancestor, audit.left_at, audit.placed_below) == (start, failed, start)
    assert len(audit.included) + len(audit.left_out) == len(audit.left) == 30
    assert audit.seen == (start, summary)
    assert "knows nothing of them" in " ".join(audit.sentences)
    exact = branch_audit(made.tree, summary, PI, sizes, recorded=[failed])
    assert exact.known.provenance is Provenance.EXACT
    assert exact.included == (failed,)


def test_an_empty_branch_summary_and_one_that_names_no_branch() -> None:
    made, start, _, summary = left_branch(summary="")
    assert losses(made)[LossKind.BRANCH_EMPTY].severity is Severity.LOST
    made.entries.append({})
    at = made.tree.append("old", start, describe_branch(f"e{start}"), 1)
    made.leaf = at
    assert losses(made)[LossKind.BRANCH_ORIGIN_LOST].provenance is Provenance.UNREADABLE
    audit = branch_audit(made.tree, at, PI, Settings.of(PI))
    assert audit.origin is Origin.IS_TARGET
    with pytest.raises(ValueError, match="no branch summary"):
        branch_audit(made.tree, start, PI, Settings.of(PI))
    assert summary


def describe_branch(from_id: str) -> Facts:
    return describe(read_entry({"type": "branch_summary", "fromId": from_id, "summary": "x"}))


def test_what_is_pinned_is_lost_no_more() -> None:
    made, _, kept, _, _ = twice()
    for entry, left in ((kept, 1), (kept + 1, 0)):
        named = [{"id": f"e{entry}"}]
        made.add({"type": "custom", "customType": PIN_TYPE, "data": {"entries": named}})
        loss = losses(made, OLD_PI)[LossKind.KEPT_RANGE_DROPPED]
        assert loss.severity is (Severity.LOST if left else Severity.WASTE)
        assert "repeated since" in loss.cause
