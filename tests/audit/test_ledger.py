"""The ledger at any moment: verdicts, rules, generations, and how each is known."""

from __future__ import annotations

import pytest

from explorer.audit.generations import Boundary
from explorer.audit.ledger import Ledger, LedgerVerdict, ledger_at
from explorer.audit.overview import survival_strip
from explorer.audit.provenance import Provenance
from explorer.audit.replay import generations_of
from explorer.audit.rules import rule_of
from explorer.compaction.profile import BASES
from explorer.formats.pi.entries import read_entry
from explorer.session.edit_entries import OMIT_TYPE, PIN_TYPE, PRUNE_TYPE
from tests.compaction.sessions import Session

PI, OLD_PI = BASES["pi"], BASES["pi-0.58"]
V = LedgerVerdict


def twice() -> tuple[Session, int, int, int, int]:
    """Two compactions; the second keeps from after what the first one kept. Returns the session,
    an entry that the first told, one that it kept, and both compactions."""
    made = Session()
    old = made.user(50)
    made.reply(50)
    kept = made.user(40)
    made.reply(40)
    first = made.compaction(kept, "first")
    made.user(30)
    made.reply(30)
    newest = made.user(20)
    made.reply(20)
    second = made.compaction(newest, "second")
    made.user(10)
    return made, old, kept, first, second


def of(ledger: Ledger, entry: int) -> tuple[LedgerVerdict, str]:
    row = ledger.row(entry)
    return ledger.verdict(row), rule_of(ledger, row)


def test_the_moment_of_a_past_compaction_follows_what_it_recorded() -> None:
    made, old, kept, first, second = twice()
    then = ledger_at(made.tree, made.leaf, first, PI)
    assert len(then) == first + 1
    assert then.in_force == first
    verdict, rule = of(then, old)
    assert verdict is V.IN_THIS_SUMMARY
    assert f"kept the newest 80 tokens, from #{kept} on" in rule
    assert "keeps 20,000 tokens by default" in rule
    assert f"#{old} is older: it went to the summarizer" in rule
    assert of(then, kept)[0] is V.VERBATIM
    now = ledger_at(made.tree, made.leaf, None, PI)
    assert now.in_force == second
    assert of(now, old)[0] is V.IN_EARLIER_SUMMARY
    assert now.summaries(now.row(old)) == (first, second)
    assert of(now, kept)[0] is V.IN_THIS_SUMMARY
    assert of(now, first)[0] is V.IN_THIS_SUMMARY
    assert of(now, second)[1] == "The summary in force: the context starts with it."
    assert f"after compaction #{second}" in of(now, made.leaf)[1]


def test_what_the_older_rules_lose_is_lost_and_says_so() -> None:
    made, _, kept, first, second = twice()
    now = ledger_at(made.tree, made.leaf, None, OLD_PI)
    verdict, rule = of(now, kept)
    assert verdict is V.LOST
    assert rule.startswith(f"Lost at compaction #{second}: compaction #{first} had kept it")
    assert now.known(now.row(kept)).provenance is Provenance.INFERRED
    assert now.since(now.row(kept)) == second
    assert now.counts[V.LOST] == 2
    assert now.tokens[V.LOST] == 80


def test_a_recorded_request_decides_over_every_rule() -> None:
    made, _, kept, first, second = twice()
    inputs = {second: list(range(kept, second - 2))}
    now = ledger_at(made.tree, made.leaf, None, OLD_PI, recorded=inputs)
    assert of(now, kept)[0] is V.IN_THIS_SUMMARY
    assert now.known(now.row(kept)).provenance is Provenance.EXACT
    left = {second: [first, *range(first + 1, second - 2)]}
    now = ledger_at(made.tree, made.leaf, None, PI, recorded=left)
    assert of(now, kept)[0] is V.LOST


def test_a_reply_that_was_stopped_before_its_first_word_is_no_loss() -> None:
    made = Session()
    asked = made.user(10)
    stopped = made.reply(text="", stop="aborted")
    again = made.user(10)
    kept = made.user(10)
    second = made.compaction(kept)
    now = ledger_at(made.tree, second, None, PI, recorded={second: [asked, again]})
    assert of(now, stopped)[0] is not V.LOST
    now = ledger_at(made.tree, second, None, PI, recorded={second: [asked]})
    assert of(now, again)[0] is V.LOST


@pytest.mark.parametrize(("listed", "verdict"), [(True, V.IN_THIS_SUMMARY), (False, V.LOST)])
def test_the_file_lists_tell_what_was_given_to_the_summarizer(
    listed: bool, verdict: LedgerVerdict
) -> None:
    made = Session()
    made.user(10)
    made.reply(10)
    kept = made.user(10)
    made.called("read", "only-here.py")
    made.compaction(kept, "first")
    made.user(10)
    made.called("read", "newer.py")
    newest = made.user(10)
    made.reply(10)
    made.compaction(newest, "second", read=["newer.py", *(["only-here.py"] if listed else [])])
    now = ledger_at(made.tree, made.leaf, None, OLD_PI if listed else PI)
    assert of(now, kept)[0] is verdict
    assert "only-here.py" in now.known(now.row(kept)).basis


def test_a_summary_that_was_not_gone_on_with_loses_all_that_it_told() -> None:
    made, old, _, first, second = twice()
    made.entries[second]["summary"] = "No prior history.\n\n---\n\n**Turn Context**"

    def read(indices: object) -> list[dict[str, object]]:
        return [read_entry(made.entries[at]) for at in indices]  # type: ignore[attr-defined]

    now = ledger_at(made.tree, made.leaf, None, PI, read=read)
    verdict, rule = of(now, old)
    assert verdict is V.LOST
    assert f"the summary of #{first} covered it, and was dropped" in rule
    assert of(now, first)[0] is V.LOST


def test_a_boundary_that_is_nowhere_loses_what_was_to_be_kept() -> None:
    made = Session()
    for _ in range(6):
        made.user(6000)
        made.reply(6000)
    lost = made.leaf
    made.compaction(999, "first")
    made.user(10)
    now = ledger_at(made.tree, made.leaf, None, PI)
    assert now.generations.all[0].boundary is Boundary.MISSING
    verdict, rule = of(now, lost)
    assert verdict is V.LOST
    assert "nowhere in this session" in rule
    assert of(now, 0)[0] is V.IN_THIS_SUMMARY


def test_pruned_never_sent_and_what_came_before_a_new_start() -> None:
    made = Session()
    before = made.user(10)
    reset = made.add({"type": "reset_boundary"})
    made.user(10)
    made.reply(calls=[("read", "a")])
    result = made.result(500, call="c3.0")
    note = made.metadata()
    listed = [{"id": f"e{result}", "tokens": 500, "text": "gone"}]
    made.add({"type": "custom", "customType": PRUNE_TYPE, "data": {"results": listed}})
    now = ledger_at(made.tree, made.leaf, None, PI)
    assert of(now, before) == (
        V.NEVER_SENT, f"Before the new start at #{reset}: no longer in the context.",
    )  # fmt: skip
    verdict, rule = of(now, result)
    assert verdict is V.PRUNED
    assert "recorded 499 tokens saved" in rule
    assert of(now, note)[0] is V.NEVER_SENT


def test_a_branch_that_was_left_is_told_by_its_summary() -> None:
    made = Session()
    start = made.user(10)
    left = made.reply(10)
    end = made.user(10)
    made.leaf = start
    summary = made.add({"type": "branch_summary", "fromId": f"e{end}", "summary": "told"}, start)
    made.user(10)
    now = ledger_at(made.tree, made.leaf, None, PI)
    assert list(now.entries) == sorted(now.entries)
    verdict, rule = of(now, left)
    assert verdict is V.IN_BRANCH_SUMMARY
    assert f"branch summary #{summary} tells of" in rule and "this one among them" in rule
    assert now.summaries(now.row(left)) == (summary,)
    assert of(now, summary)[0] is V.VERBATIM


def test_kept_again_is_verbatim_and_told_twice() -> None:
    made, old, _, first, _ = twice()
    made.compaction(old, "third")
    now = ledger_at(made.tree, made.leaf, None, PI)
    verdict, rule = of(now, old)
    assert verdict is V.VERBATIM
    assert f"Compaction #{first} had summarized it already" in rule


def test_a_compaction_elsewhere_is_refused() -> None:
    made, old, _, _, second = twice()
    with pytest.raises(ValueError, match="no compaction on the path"):
        ledger_at(made.tree, old, second, PI)


def test_the_split_turn_is_told_apart() -> None:
    made = Session()
    start = made.user(10)
    prefix = made.reply(10)
    kept = made.reply(10)
    made.compaction(kept)
    now = ledger_at(made.tree, made.leaf, None, PI)
    assert f"splits the turn of #{start}" in of(now, prefix)[1]


def test_the_strip_tells_how_long_everything_stood() -> None:
    made, old, kept, first, second = twice()
    strip = survival_strip(generations_of(made.tree, made.leaf, PI))
    assert len(strip.lanes) == 3
    assert [strip.verbatim_until[at] for at in (old, kept, made.leaf)] == [1, 2, 0]
    assert [strip.summarized_in[at] for at in (old, kept, made.leaf)] == [1, 2, 0]
    assert [strip.lives_until[at] for at in (old, kept, made.leaf)] == [2, 2, 0]
    assert strip.words(old) == (
        f"#{old} stood word for word until compaction #{first} and lives on in 2 summaries, down "
        f"to that of #{second}."
    )
    dropped = survival_strip(generations_of(made.tree, made.leaf, OLD_PI))
    assert dropped.lost_at[kept] == 2
    assert dropped.words(kept).endswith(f"Lost since #{second}.")
    run = dropped.run(1, kept)
    assert run is not None
    assert run.state == 0, "before the second compaction it was there"


def test_the_strip_claims_nothing_of_a_summary_that_cannot_be_read() -> None:
    made, old, kept, first, second = twice()
    facts = made.tree.columns.compactions
    facts[second] = facts[second]._replace(certainty="unreadable")
    strip = survival_strip(generations_of(made.tree, made.leaf, PI))
    unknown = (
        f"The summary of #{second} is encrypted or was not recorded: it may or may not be in it."
    )
    assert strip.words(old) == f"#{old} stood word for word until compaction #{first}. {unknown}"
    assert strip.words(kept) == f"#{kept} stood word for word until compaction #{second}. {unknown}"
    assert strip.words(first) == f"#{first} is a summary. {unknown}"
    facts[first] = facts[first]._replace(certainty="unreadable")
    facts[second] = facts[second]._replace(certainty="exact")
    strip = survival_strip(generations_of(made.tree, made.leaf, PI))
    assert "lives on in 2 summaries" in strip.words(old), "the later one can be read"


def test_the_strip_claims_nothing_of_what_such_a_summary_tells_of_twice() -> None:
    made = Session()
    told = made.user(50)
    kept = made.user(40)
    first = made.compaction(kept)
    made.compaction(told)
    facts = made.tree.columns.compactions
    facts[first] = facts[first]._replace(certainty="unreadable")
    words = survival_strip(generations_of(made.tree, made.leaf, PI)).words(told)
    assert "tells of it" not in words
    assert words.endswith("it may or may not be in it.")


def test_a_pin_gives_back_what_was_lost_and_an_omission_is_told() -> None:
    made, old, kept, _, second = twice()
    pin = made.add(
        {"type": "custom", "customType": PIN_TYPE, "data": {"entries": [{"id": f"e{kept}"}]}}
    )
    omitted = second + 1
    out = made.add(
        {"type": "custom", "customType": OMIT_TYPE, "data": {"entries": [f"e{omitted}"]}}
    )
    now = ledger_at(made.tree, made.leaf, None, OLD_PI)
    verdict, rule = of(now, kept)
    assert verdict is V.PINNED
    assert rule.startswith(f"#{pin} pinned it")
    assert f"lost at compaction #{second}" in rule
    assert of(now, kept + 1)[0] is V.LOST
    assert of(now, omitted) == (
        V.OMITTED,
        f"Omitted by #{out}: its 10 tokens are left out of the context and of summaries.",
    )  # fmt: skip
    then = ledger_at(made.tree, made.leaf, second, OLD_PI)
    assert of(then, kept)[0] is V.LOST, "it was not pinned yet"
    assert of(now, old)[0] is V.IN_EARLIER_SUMMARY


def test_a_reply_that_was_stopped_is_never_sent() -> None:
    """A6: the context holds it no more than a request does."""
    made = Session()
    made.user(10)
    stopped = made.reply(20, stop="aborted")
    made.user(5)
    ledger = ledger_at(made.tree, made.leaf, None, PI)
    row = ledger.row(stopped)
    assert ledger.verdict(row) is LedgerVerdict.NEVER_SENT and ledger.weight(row) == 0
    assert "was stopped" in rule_of(ledger, row)
    assert sum(ledger.tokens) == 15
