"""Where a later compaction starts, and what counts (B1, B2, B6, A7)."""

from __future__ import annotations

from msgspec.structs import replace

from explorer.compaction.context_size import context_size, last_report
from explorer.compaction.partition import Verdict
from explorer.session.context import context_at
from tests.compaction.sessions import EXPLORER, PI, Session, with_verdict

LOSES = replace(PI, boundary="faithful-0.58")


def compacted_once() -> Session:
    """Six entries, the first four summarized, then four more."""
    session = Session()
    for _ in range(3):
        session.user(10)
        session.reply(10)
    session.compaction(kept=4, read=["read.py"], modified=["changed.py"])
    for _ in range(2):
        session.user(10)
        session.reply(10)
    return session


def test_b1_e1_the_kept_range_is_not_lost_at_the_second_compaction() -> None:
    session = compacted_once()
    for profile in (EXPLORER, PI):
        prepared = session.prepared(20, profile)
        assert prepared.boundary == 4
        assert prepared.history == [4, 5, 7, 8]
        assert prepared.previous_compaction == 6
        assert with_verdict(session.partition(20, profile), Verdict.LOST) == []


def test_b1_e1_pi_0_58_loses_it_and_the_partition_shows_it() -> None:
    session = compacted_once()
    assert session.prepared(20, LOSES).history == [7, 8]
    parts = session.partition(20, LOSES)
    assert with_verdict(parts, Verdict.LOST) == [4, 5]
    assert parts.tokens[Verdict.LOST] == 20
    assert parts.reason(4).startswith("Lost: compaction #6 kept it")


def test_b2_nothing_before_the_compaction_was_kept_when_the_kept_id_is_not_on_the_path() -> None:
    session = Session()
    session.user(10)
    session.reply(10)
    session.compaction(kept=99)
    session.user(10)
    session.reply(10)
    for profile in (EXPLORER, PI):
        assert session.prepared(10, profile).boundary == 3
        earlier = with_verdict(session.partition(10, profile), Verdict.SUMMARIZED_EARLIER)
        assert earlier == [0, 1]


def test_b2_older_compactions_in_the_kept_range_say_nothing() -> None:
    session = compacted_once()
    session.compaction(kept=5)
    session.user(10)
    session.reply(10)
    prepared = session.prepared(10)
    assert 6 not in prepared.history
    assert prepared.previous_compaction == 11
    parts = session.partition(10)
    assert Verdict(parts.verdicts[6]) is Verdict.SUMMARIZED_EARLIER
    assert Verdict(parts.verdicts[11]) is Verdict.TO_SUMMARIZE


def test_e8_a_fork_keeps_the_boundary_of_its_own_path() -> None:
    session = compacted_once()
    session.user(10, under=7)
    session.reply(10)
    assert session.prepared(10).boundary == 4
    # A fork from before the compaction has none.
    session.user(10, under=3)
    session.reply(10)
    assert session.prepared(10).boundary == 0
    assert session.prepared(10).previous_compaction == -1


def test_a_new_start_drops_what_came_before_it() -> None:
    session = compacted_once()
    session.add({"type": "reset_boundary"})
    session.user(10)
    session.reply(10)
    parts = session.partition(10)
    assert session.prepared(10).boundary == 12
    assert session.prepared(10).turn_prefix == [12]
    assert set(parts.verdicts[:6]) == {Verdict.NOT_SENT}
    assert "new start" in parts.reason(3)


def test_a28_files_of_the_previous_compaction_are_carried_unless_an_extension_made_it() -> None:
    session = compacted_once()
    session.called("read", "late.py")
    session.user(10)
    assert session.prepared(10).read_files == ("late.py", "read.py")
    assert session.prepared(10).modified_files == ("changed.py",)
    other = Session()
    other.user(10)
    other.compaction(kept=0, read=["theirs.py"], by_extension=True)
    other.reply(10)
    other.user(10)
    assert other.prepared(10).read_files == ()


def test_a28_read_files_exclude_modified_ones_and_the_turn_prefix_counts() -> None:
    session = Session()
    session.user(10)
    session.called("read", "b.py")
    session.called("read", "a.py")
    session.called("write", "a.py")
    session.called("edit", "c.py")
    session.reply(10)
    prepared = session.prepared(10)
    assert prepared.is_split_turn
    assert prepared.read_files == ("b.py",)
    assert prepared.modified_files == ("a.py", "c.py")


def test_a28_names_are_sorted_as_javascript_sorts_them() -> None:
    session = Session()
    session.user(10)
    for name in ("\uffff.py", "\U0001f680.py", "a.py"):
        session.called("read", name)
    session.user(10)
    assert session.prepared(10).read_files == ("a.py", "\U0001f680.py", "\uffff.py")


def test_b17_failed_calls_modify_nothing_and_are_listed_apart() -> None:
    session = Session()
    session.user(10)
    session.called("write", "denied.py", error=True)
    session.called("write", "twice.py", error=True)
    session.called("write", "twice.py")
    session.user(10)
    prepared = session.prepared(10)
    assert prepared.modified_files == ("twice.py",)
    assert prepared.failed_files == ("denied.py",)
    assert session.prepared(10, PI).modified_files == ("denied.py", "twice.py")


def test_b6_e6_custom_messages_count() -> None:
    session = Session()
    for _ in range(3):
        session.user(10)
        session.reply(10)
    note = session.note(10_000)
    session.reply(10)
    assert session.prepared(9_000).first_kept == note
    assert session.prepared(9_000, PI).history == []


def test_b6_images_of_the_user_count() -> None:
    session = Session()
    session.user(10)
    session.reply(10)
    image = {"type": "image", "data": "", "mimeType": "image/png"}
    shown = session.message(role="user", content=[image, image])
    session.reply(10)
    parts = session.partition(1000)
    assert parts.preparation.path[parts.cut] == shown
    assert parts.weight(shown) == 2400
    assert session.partition(1000, PI).preparation.cuts.view.weights[shown] == 0


def test_b6_commands_kept_out_of_the_context_do_not_count() -> None:
    session = Session()
    session.user(10)
    session.reply(10)
    user = session.user(10)
    session.bash(5000, excluded=True)
    session.reply(10)
    parts = session.partition(20)
    assert parts.preparation.path[parts.cut] == user
    assert parts.weight(user + 1) == 0
    assert "kept out of the context" in parts.reason(user + 1)
    assert session.prepared(20, PI).first_kept == user + 1


def test_b6_an_empty_branch_summary_and_a_hidden_command_are_not_summarized() -> None:
    session = Session()
    session.user(10)
    session.branch_summary("")
    session.bash(10, excluded=True)
    session.reply(10)
    session.user(10)
    assert session.prepared(10).history == [0, 3]
    assert session.prepared(10, PI).history == [0, 1, 2, 3]


def test_e7_usage_from_before_the_compaction_is_stale() -> None:
    session = Session()
    session.user(10)
    session.reply(10, usage=150_000)
    session.user(10)
    session.compaction(kept=1, summary="word" * 30)
    session.user(10)
    context = context_at(session.tree, session.leaf)
    corrected = context_size(session.tree, context, EXPLORER)
    assert (corrected.tokens, corrected.usage_tokens) == (30 + 10 + 10 + 10, 0)
    assert corrected.source == "estimate"
    assert context_size(session.tree, context, PI).tokens == 150_020


def test_a7_usage_since_the_compaction_counts_with_what_follows() -> None:
    session = compacted_once()
    session.reply(10, usage=5_000)
    session.user(25)
    size = context_size(session.tree, context_at(session.tree, session.leaf), EXPLORER)
    assert (size.tokens, size.usage_tokens, size.trailing_tokens) == (5_025, 5_000, 25)
    assert size.source == "provider + estimate of 1 newer"


def test_b9_failed_and_aborted_replies_do_not_report() -> None:
    session = Session()
    session.user(10)
    session.reply(10, usage=400)
    session.reply(10, usage=9_000, stop="aborted")
    session.reply(10, usage=8_000, stop="error")
    # They are never sent again, which pi does not heed where it counts (A6).
    for profile, tokens in ((EXPLORER, 400), (PI, 420)):
        size = context_size(session.tree, context_at(session.tree, session.leaf), profile)
        assert size.tokens == tokens


def test_e7_missing_usage_is_estimated_not_taken_for_nothing() -> None:
    session = Session()
    image = {"type": "image", "data": ""}
    session.message(role="user", content=[image])
    session.bash(100, excluded=True)
    session.reply(10)
    size = context_size(session.tree, context_at(session.tree, session.leaf), EXPLORER)
    assert size.tokens == 1210
    measured = [7] * len(session.tree)
    size = context_size(session.tree, context_at(session.tree, session.leaf), EXPLORER, measured)
    assert (size.tokens, size.source) == (14, "tokenizer")


def test_the_last_report_is_of_a_reply_that_did_not_fail_and_is_no_smaller_than_asked() -> None:
    session = Session()
    first = session.reply(usage=5)
    session.reply(usage=4)
    session.reply(usage=9, stop="error")
    path = session.tree.path(session.leaf)
    found = [last_report(session.tree, path, least) for least in (4, 5, 6)]
    assert found == [first + 1, first, -1]
    only = Session()
    only.reply(usage=5)
    whole = only.tree.path(only.leaf)
    assert [last_report(only.tree, whole, least) for least in (5, 6)] == [0, -1]
