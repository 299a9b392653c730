"""What a call cost by listed prices has its mark in the conversation and in the status bar."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.audit.provenance import spending_known
from explorer.session.entries import AssistantMessage, TokenUsage, text_content
from explorer.session.usage_sums import Listed, PartUsage, UsageSum
from explorer.workbench import Workbench
from tests.services.conftest import bench, database
from tests.services.test_listed_cost import PRO, PRO_COST, opened
from ui.conversation.usage_label import label_of, tip_of
from ui.conversation.view.calls import CallStates
from ui.conversation.view.item_reader import footer, read_item

__all__ = ["bench", "database"]


def test_a_label_marks_what_is_worked_out(bench: Workbench, tmp_path: Path) -> None:
    document = opened(bench, tmp_path, [PRO, PRO])
    session = document.usage.session()
    assert label_of(session.total)[0].startswith("≈$0.0065")
    tip = tip_of(session, session, session, UsageSum())
    assert "2 calls, ≈$0.0065" in tip
    assert "Cost: inferred. Worked out from the tokens and the model's listed prices." in tip
    assert "without a known price" not in tip
    low = UsageSum(cache_write=12, cache_write_1h=9, calls=1, unpriced=1, listed=1,
                   listed_cost=0.25, low_priced=9)  # fmt: skip
    assert label_of(low)[0] == "≥$0.25 · 12 tokens"
    tip = tip_of(PartUsage(low), PartUsage(), PartUsage(), UsageSum())
    assert "12 tokens in 1 call, ≥$0.25" in tip
    assert "written to one: 12 (9 for an hour) of" in tip
    assert "for a cache of an hour, into which 9 tokens went" in tip
    both = session.total + UsageSum(input=1, cost=1.0, calls=1)
    assert label_of(both)[0].startswith("≈$1.01")
    assert "for 2 of 3 calls, recorded for 1." in spending_known(both).basis


def test_an_entry_marks_what_is_worked_out(bench: Workbench, tmp_path: Path) -> None:
    document = opened(bench, tmp_path, [PRO, "gemini-of-nobody"])
    shown = [read_item(document, at, (), CallStates()).listed.dollars for at in (1, 3)]
    assert shown == [pytest.approx(PRO_COST), 0]


def test_a_footer_marks_it_and_says_where_it_comes_from() -> None:
    reply = AssistantMessage(text_content("Ten."), "google", PRO, TokenUsage(1_000, 200))
    found = footer(reply, 1.8e12, False, Listed(0.00325))
    assert found.words.endswith(" · ≈$0.0033") or found.words.endswith(" · ≈$0.0032")
    assert "Cost: inferred. Worked out from the tokens and the model's listed prices." in found.tip
    least = footer(reply, 1.8e12, False, Listed(0.00325, low_priced=9))
    assert " · ≥$0.003" in least.words and "for a cache of an hour" in least.tip
    assert "cost not recorded" in footer(reply, 1.8e12, False).words


def test_a_count_from_before_the_answer_says_nothing_of_it() -> None:
    usage = TokenUsage(1_000, 1, cache_read=500, is_partial=True)
    reply = AssistantMessage(text_content("Ten."), "google", PRO, usage)
    words = footer(reply, 1.8e12, False).words
    assert " · 1.5k in · 500 cached · output not counted · " in words and "1 out" not in words
