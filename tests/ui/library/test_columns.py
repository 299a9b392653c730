"""What the columns of all sessions say of figures that are known, in part known, or not."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from explorer.services.library import LibraryRow, LibrarySums
from explorer.session.usage_sums import NOTHING, UsageSum
from explorer.store.rows import SessionRow
from ui.library.columns import PENDING, columns, cost_of, title_of, tokens_of
from ui.library.usage_bars import CHARTS, MOST_DAYS, Bar, bars_of, text_of

SESSION = SessionRow(1, "id", "pi", 3, "/w/quay", "", "Fix  it", 5, 1, 9, 0, 0, 4, "", branches=2)
ROW = LibraryRow(SESSION, "pi", "quay", "p/m", NOTHING, "")


def cell(title: str, row: LibraryRow) -> str:
    return next(each for each in columns() if each.title == title).text(row)


@pytest.mark.parametrize(
    ("spent", "tokens", "cost"),
    [
        (NOTHING, "0", "$0"),
        (UsageSum(input=1200, cost=2.5, calls=2), "1.2k", "$2.50"),
        (UsageSum(input=1200, cost=2.5, calls=2, unpriced=1), "1.2k", "≈$2.50"),
        (UsageSum(input=1200, calls=2, unpriced=2), "1.2k", "not recorded"),
        (UsageSum(input=1200, cost=2.5, calls=2, uncounted=1), "≥1.2k", "≥$2.50"),
        (UsageSum(input=1200, calls=1, unpriced=1, listed=1, listed_cost=2.5), "1.2k", "≈$2.50"),
        (
            UsageSum(input=1200, calls=1, unpriced=1, listed=1, listed_cost=2.5, low_priced=9),
            "1.2k",
            "≥$2.50",
        ),
        (UsageSum(input=1200, uncounted=2), "≥1.2k", "not recorded"),
        (UsageSum(uncounted=3), "not recorded", "not recorded"),
    ],
)
def test_a_sum_says_how_it_is_known(spent: UsageSum, tokens: str, cost: str) -> None:
    assert tokens_of(spent)[0] == tokens and cost_of(spent)[0] == cost
    row = replace(ROW, spent=spent)
    assert (cell("Tokens", row), cell("Cost", row)) == (tokens, cost)


def test_what_is_not_added_up_yet_is_no_figure() -> None:
    row = replace(ROW, session=replace(SESSION, branches=0))
    assert cell("Tokens", row) == cell("Cost", row) == cell("Branches", row) == PENDING


def test_what_is_not_known_comes_after_the_smallest() -> None:
    cost = next(each for each in columns() if each.title == "Cost")
    assert cost.sort_key is not None
    unknown, free, dear = (
        replace(ROW, spent=one)
        for one in (UsageSum(calls=1, unpriced=1), NOTHING, UsageSum(cost=1, calls=1))
    )
    assert cost.sort_key(unknown) < cost.sort_key(free) < cost.sort_key(dear)


def test_a_session_that_its_agent_writes_is_marked_for_a_minute() -> None:
    last = next(each for each in columns() if each.title == "Last used")
    assert last.detail is not None and last.spoken is not None
    now = time.time() * 1000
    for changes, marked in (
        ({"last_ms": now - 50_000}, True),
        ({"last_ms": now - 70_000, "file_ms": now}, False),
        ({"file_ms": now - 50_000}, True),
        ({"last_ms": now - 1_000, "path": ""}, False),
        ({"last_ms": now + 90_000}, False),
    ):
        row = replace(ROW, session=replace(SESSION, **{"path": "/x/a.jsonl", **changes}))
        assert last.text(row).startswith("●") is marked
        assert ("is writing it" in (last.detail(row) or "")) is marked
        assert ("being written" in last.spoken(row)) is marked


def test_a_title_is_one_line_with_its_note() -> None:
    assert title_of(ROW) == "Fix it"
    assert title_of(replace(ROW, session=replace(SESSION, note="a\nb"))) == "Fix it — a b"
    assert title_of(replace(ROW, session=replace(SESSION, title=""))) == "Untitled session"
    assert cell("Last used", ROW) == "not recorded"


def spent(tokens: int) -> UsageSum:
    return UsageSum(input=tokens, calls=1, cost=tokens / 100)


def test_days_stand_in_their_order_with_the_gaps_between_them() -> None:
    sums = LibrarySums(by_day={20_000: spent(5), 20_002: spent(7), 0: spent(1)})
    days, cost = CHARTS[0], CHARTS[3]
    assert [bar.value for bar in bars_of(sums, days)] == [5, 0, 7]
    assert [bar.words for bar in bars_of(sums, cost)] == ["$0.05", "$0", "$0.07"]
    assert bars_of(sums, days)[0].label == "4 Oct 2024"
    long = LibrarySums(by_day={day: spent(1) for day in range(1, 900)})
    bars = bars_of(long, days)
    assert len(bars) <= MOST_DAYS and sum(bar.value for bar in bars) == 899


def test_the_smallest_names_are_summed_up_as_others() -> None:
    sums = LibrarySums(by_model={f"m{size}": spent(size) for size in range(1, 9)})
    bars = bars_of(sums, CHARTS[2])
    assert [bar.label for bar in bars] == ["m8", "m7", "m6", "m5", "4 others"]
    assert bars[-1].value == 1 + 2 + 3 + 4


def test_a_chart_is_told_in_words() -> None:
    bars = [Bar("4 Oct", 5, "≈5"), Bar("5 Oct", 0, "0"), Bar("6 Oct", 7, "7")]
    assert text_of("Tokens over time", bars) == "Tokens over time: 4 Oct about 5; 6 Oct 7"
    assert text_of("Tokens over time", []) == "Tokens over time: nothing recorded"
