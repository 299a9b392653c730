"""What a walk under other rules needs to know of a session and of a model."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.audit.simulation import Assumptions, Prices, Tier
from explorer.compaction.profile import PROFILES
from explorer.models.catalogue import PriceTier, cost_of
from explorer.models.client import ModelInfo
from explorer.models.events import Usage
from explorer.services.document import Document
from explorer.services.recorded_session import (
    assumptions_for,
    hour_share,
    prices_of,
    recorded_session,
)
from explorer.workbench import Workbench
from tests.formats.claude_lines import SESSION, USAGE, Lines
from tests.store.sources import HEADER, message, write_file

DEAR = ModelInfo(
    "m", "M", None, None, input_price=2.0, output_price=8.0, cache_read_price=0.5,
    tiers=(
        PriceTier(1_000, input_price=4.0),
        PriceTier(2_000, output_price=16.0, cache_read_price=1.0, cache_write_price=5.0),
    ),
)  # fmt: skip


def test_what_a_tier_does_not_say_is_as_below_it() -> None:
    assert prices_of(DEAR) == Prices(
        2.0, 8.0, 0.5, 2.0,
        tiers=(Tier(1_000, Prices(4.0, 8.0, 0.5, 4.0)), Tier(2_000, Prices(4.0, 16.0, 1.0, 5.0))),
    )  # fmt: skip
    assert prices_of(replace(DEAR, input_price=None)) is None
    assert prices_of(replace(DEAR, output_price=None)) is None


def test_a_cache_of_an_hour_costs_and_lasts_what_it_does(bench: Workbench, tmp_path: Path) -> None:
    lines = Lines().user("u1", "Build it")
    for at, hour in enumerate((50, 100)):
        parts = {"ephemeral_1h_input_tokens": hour, "ephemeral_5m_input_tokens": 100 - hour}
        usage = {**USAGE, "cache_creation_input_tokens": 100, "cache_creation": parts}
        lines.reply(f"r{at}", f"m{at}", "done", model="claude-sonnet-4-5", usage=usage)
    path = lines.write(tmp_path / f"{SESSION}.jsonl")
    document = bench.open_blocking(bench.import_blocking(path).key)
    assert hour_share(document) == 1, "of the last reply, as long as not all are read"
    asyncio.run(document.usage.follow())
    assert hour_share(document) == 0.75
    assert assumptions_for(document, PROFILES["pi"]).cache_minutes == 60
    info = bench.client.info("anthropic/claude-sonnet-4-5")
    minutes, prices = prices_of(info), prices_of(info, 0.75)
    assert minutes is not None and prices is not None
    written = Usage(0, 0, 0, 100)
    for sent in (100, 300_000):
        counted = replace(written, cache_write=sent)
        paid = prices.of_all([sent], [0], [0])
        assert paid == pytest.approx(cost_of(counted, info, for_hour=sent * 3 // 4).total)
        assert paid > minutes.of_all([sent], [0], [0])


def test_a_result_before_any_reply_answers_none(bench: Workbench, tmp_path: Path) -> None:
    result = message(1, "e0", "out", "toolResult")
    result["message"] |= {"toolCallId": "c", "toolName": "bash", "isError": False}
    for role, answered in (("assistant", ["c"]), ("user", [])):
        lines = [message(0, None, "Yes.", role), result]
        path = write_file(tmp_path / f"{role}.jsonl", lines, {**HEADER, "id": role})
        document = bench.open_blocking(bench.import_blocking(path).key)
        assert list(recorded_session(document).answers(0)) == answered


def test_an_order_takes_what_its_words_take_unless_it_is_said(document: Document) -> None:
    words = document.shared.templates
    for name in ("explorer", "omp"):
        profile = PROFILES[name]
        asked = words.system + words.sections[profile.sections].history_update
        counted = assumptions_for(document, profile).order_tokens
        assert counted == document.tokens.count_text(asked, profile) > 0
    said = Assumptions(order_tokens=7)
    assert assumptions_for(document, PROFILES["pi"], said) is said
