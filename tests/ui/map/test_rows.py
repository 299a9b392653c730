"""Which rows are shown, what a compaction folds, and what samples tell."""

from __future__ import annotations

from array import array

import pytest

from explorer.audit.ledger import LedgerVerdict, ledger_at
from explorer.compaction.profile import PROFILES
from explorer.session.context import context_at
from explorer.session.edit_entries import REPEATED_USER_TOKENS
from tests.ui.map.conftest import Branchy
from tests.ui.sessions import Talk, call_block
from ui.map.folds import PathPlaces, branch_links, find_above, fold_of, hidden_by
from ui.map.layout import BLOCK, Samples, Skeleton, arrange, bucket_rows, composition
from ui.map.rows import RowCategory, RowFilter, Rows, categories, filter_mask


def test_replies_that_only_call_tools_count_as_tools() -> None:
    talk = Talk()
    talk.user("go")
    talk.reply(call_block("c1", "read", path="a.py"))
    talk.result("c1", "text")
    talk.reply({"type": "thinking", "thinking": "hm"})
    talk.reply("done", call_block("c2", "read", path="b.py"))
    found = categories(talk.document.tree.columns)
    assert list(found) == [
        RowCategory.USER, RowCategory.CALL, RowCategory.RESULT, RowCategory.THINKING,
        RowCategory.ASSISTANT,
    ]  # fmt: skip


def test_what_a_program_put_in_the_users_place_begins_no_turn() -> None:
    talk = Talk()
    talk.user("go")
    talk.message("user", "<task-notification>", synthetic=True)
    talk.reply("done")
    talk.user("more")
    rows = Rows(categories(talk.document.tree.columns), lambda: array("i", [1] * 4))
    assert list(rows.categories) == [
        RowCategory.USER, RowCategory.INSERTED, RowCategory.ASSISTANT, RowCategory.USER,
    ]  # fmt: skip
    assert rows.next_turn(0) == 3 and rows.previous_turn(3) == 0
    mask = filter_mask(RowFilter.USER_ONLY, rows.categories, ())
    assert mask is not None and list(mask) == [1, 0, 0, 1]
    assert composition(rows, 0, 2) == [(RowCategory.USER, 1), (RowCategory.INSERTED, 1)]


def test_rows_without_a_mask_are_the_entries() -> None:
    rows = Rows(bytearray(range(5)), lambda: array("i", [10, 20, 30, 40, 50]))
    assert [rows.entry(row) for row in range(rows.count)] == [0, 1, 2, 3, 4]
    assert rows.row(3) == 3 and rows.row(9) == -1 and rows.row(-1) == -1
    assert list(rows.sums) == [0, 10, 30, 60, 100, 150]


def test_masked_rows_map_both_ways() -> None:
    sizes = array("i", [1, 2, 3, 4, 5])
    rows = Rows(bytearray(range(5)), lambda: sizes, bytearray([0, 1, 0, 1, 1]))
    assert [rows.entry(row) for row in range(rows.count)] == [1, 3, 4]
    assert [rows.row(entry) for entry in range(5)] == [-1, 0, -1, 1, 2]
    assert rows.floor(2) == 1
    assert list(rows.sums) == [0, 2, 6, 11]


@pytest.mark.parametrize(
    ("choice", "shown"),
    [
        (RowFilter.NO_TOOLS, [0, 3, 4]),
        (RowFilter.USER_ONLY, [0]),
        (RowFilter.LABELLED, [2]),
        (RowFilter.COMPACTIONS, [4]),
    ],
)
def test_filters(choice: RowFilter, shown: list[int]) -> None:
    groups = bytearray(
        [
            RowCategory.USER, RowCategory.CALL, RowCategory.RESULT, RowCategory.ASSISTANT,
            RowCategory.COMPACTION,
        ]
    )  # fmt: skip
    mask = filter_mask(choice, groups, [2])
    assert mask is not None
    assert [at for at, value in enumerate(mask) if value] == shown


def test_a_compaction_folds_what_it_summarized_not_what_it_kept(branchy: Branchy) -> None:
    fold = fold_of(branchy.document.tree, branchy.compaction)
    assert fold.folded.indices() == list(range(branchy.first_kept))
    columns = branchy.document.tree.columns
    kept = sum(columns.estimate[branchy.first_kept : branchy.compaction])
    # Both by one metric: the file says 184,200 before, which counts more than the entries.
    assert fold.sizes.before == sum(columns.estimate[: branchy.compaction])
    assert fold.sizes.after == columns.estimate[branchy.compaction] + kept
    doubled = [2 * tokens for tokens in columns.estimate]
    measured = fold_of(branchy.document.tree, branchy.compaction, doubled)
    assert measured.sizes.before == 2 * fold.sizes.before
    assert measured.sizes.after == 2 * fold.sizes.after


def test_a_second_compaction_folds_from_what_the_first_kept() -> None:
    talk = Talk()
    talk.turns(3)
    ids = talk.document.tree.columns.ids
    talk.entry("compaction", summary="a", firstKeptEntryId=ids[8], tokensBefore=10)
    talk.turns(2)
    second = talk.entry("compaction", summary="b", firstKeptEntryId=ids[17], tokensBefore=10)
    assert fold_of(talk.document.tree, second).folded.indices() == list(range(8, 17))


def test_a_compaction_says_how_many_entries_its_summary_took_as_the_ledger_does() -> None:
    talk = Talk()
    talk.turns(2)
    notes = [talk.entry("custom", customType="note", data={}) for _ in range(3)]
    talk.turns(1)
    tree = talk.document.tree
    at = talk.entry("compaction", summary="a", firstKeptEntryId=tree.columns.ids[-2],
                    tokensBefore=10)  # fmt: skip
    ledger = ledger_at(tree, at, at, PROFILES["explorer"])
    fold = fold_of(tree, at)
    assert fold.summarized == ledger.counts[LedgerVerdict.IN_THIS_SUMMARY]
    assert fold.summarized == len(fold.folded) - len(notes)
    talk.turns(1)
    at = talk.entry("compaction", summary="b", firstKeptEntryId=tree.columns.ids[-2],
                    tokensBefore=10)  # fmt: skip
    again = ledger_at(tree, at, at, PROFILES["explorer"]).counts[LedgerVerdict.IN_THIS_SUMMARY]
    assert fold_of(tree, at).summarized == again, "the summary before it is one of them"
    talk.turns(1)
    at = talk.entry("compaction", summary="c", firstKeptEntryId=tree.columns.ids[-2],
                    tokensBefore=10, details={REPEATED_USER_TOKENS: 9_999})  # fmt: skip
    counts = ledger_at(tree, at, at, PROFILES["explorer"]).counts
    assert len(context_at(tree, at).again) > 1
    assert fold_of(tree, at).summarized == counts[LedgerVerdict.IN_THIS_SUMMARY]


def test_a_kept_id_that_is_nowhere_folds_all_before(branchy: Branchy) -> None:
    """B2: nothing before the compaction is kept then."""
    talk = Talk()
    talk.turns(2)
    lost = talk.entry("compaction", summary="a", firstKeptEntryId="nowhere", tokensBefore=10)
    assert fold_of(talk.document.tree, lost).folded.indices() == list(range(lost))


def test_folding_takes_the_branches_inside_along_but_not_the_active_path(
    branchy: Branchy,
) -> None:
    tree = branchy.document.tree
    talk = Talk()
    talk.document, talk.last = branchy.document, tree.columns.ids[2]
    aside = talk.user("a branch from inside the fold")
    lanes = arrange(Skeleton(tree.columns.parent), branchy.leaf)
    hidden = hidden_by(tree, lanes, {branchy.compaction})
    assert hidden is not None
    gone = {at for at, value in enumerate(hidden) if value}
    assert gone == {*range(branchy.first_kept), aside}
    on_branch = arrange(Skeleton(tree.columns.parent), aside)
    hidden = hidden_by(tree, on_branch, {branchy.compaction})
    assert hidden is not None and not any(hidden[at] for at in (0, 1, 2, aside))


def test_samples_are_the_same_wherever_they_are_asked_for() -> None:
    count = 3 * BLOCK + 17
    groups = bytearray(1 + at % 3 for at in range(count))
    rows = Rows(groups, lambda: array("i", range(count)))
    samples = Samples(rows, arrange(Skeleton(array("i", range(-1, count - 1))), count - 1))
    whole = samples.between(0, count, 3)
    assert [part.row for part in whole] == list(range(0, count, 3))
    assert samples.between(300, 390, 3) == whole[100:130]
    assert whole[5].tokens == 16 and not whole[5].aside


def test_a_compaction_is_never_lost_in_a_sample() -> None:
    groups = bytearray([RowCategory.RESULT] * 40)
    groups[33] = RowCategory.COMPACTION
    rows = Rows(groups, lambda: array("i", [1] * 40))
    samples = Samples(rows, arrange(Skeleton(array("i", range(-1, 39))), 39))
    assert [part.category for part in samples.between(0, 40, 20)] == [
        RowCategory.RESULT, RowCategory.COMPACTION
    ]  # fmt: skip


def test_bucket_sizes_are_few() -> None:
    assert bucket_rows(0.3) == 1
    assert len({bucket_rows(size / 10) for size in range(10, 2_700)}) < 20
    assert all(bucket_rows(size) >= size for size in (1, 2, 7, 100, 268.5))


def test_composition_adds_up() -> None:
    rows = Rows(bytearray([1, 2, 2, 4]), lambda: array("i", [5, 10, 20, 40]))
    assert dict(composition(rows, 0, 4)) == {1: 5, 2: 30, 4: 40}


def test_ids_are_found_from_below() -> None:
    ids = [f"id{at}" for at in range(10_000)]
    assert find_above(ids, "id42", 0, 10_000) == 42
    assert find_above(ids, "id42", 43, 10_000) == -1


def test_branch_links_name_where_a_branch_was_abandoned(branchy: Branchy) -> None:
    """A35: fromId is the abandoned leaf."""
    links = branch_links(branchy.document.tree.columns)
    assert links == [(branchy.summary, branchy.abandoned[-1])]


def test_positions_on_a_path_with_gaps(branchy: Branchy) -> None:
    path = branchy.document.tree.path(branchy.leaf)
    places = PathPlaces(path)
    for position, entry in enumerate(path):
        assert places.floor(entry) == position
    assert places.floor(branchy.abandoned[1]) == path.position(branchy.fork)
