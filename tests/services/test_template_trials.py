"""Two versions of a text on saved sessions: what survives with each, and at what cost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import (
    Cancelled,
    CancelToken,
    ModelClient,
    ModelClientConfig,
    ModelInfo,
)
from explorer.services.document import Document
from explorer.services.draft_records import SummaryOrder
from explorer.services.template_trials import (
    NOT_USED,
    Trial,
    TrialResult,
    can_be_tried,
    changes,
    points_of,
)
from explorer.settings.prompt_templates import shipped_prompt
from explorer.store import Store
from explorer.workbench import Workbench
from tests.models.server import ChatServer, HttpFailure, Stall
from tests.services.conftest import SAMPLE, Clock

EXPLORER = PROFILES["explorer"]
SETTINGS = Settings.of(EXPLORER)
NAME = "history-update"
OTHER = "Only this:\n\n## Goal\n[the goal]\n\n## Next Steps\n1. [one]"


def trial_of(document: Document, text: str = OTHER, name: str = NAME) -> Trial:
    texts = (shipped_prompt(name), text)
    return Trial(lambda _key: document, document.shared.client, name, texts, EXPLORER, SETTINGS)


def order(model: str = "offline/extractive", cancel: CancelToken | None = None) -> SummaryOrder:
    return SummaryOrder("", model, lambda _purpose, _text: None, cancel or CancelToken())


def test_the_places_are_where_it_was_compacted_and_where_it_would_be(document: Document) -> None:
    titles = [point.title for point in points_of(document, EXPLORER, SETTINGS)]
    assert titles == ["before compaction #105", "before compaction #197", "at the leaf"]
    assert can_be_tried(NAME) and can_be_tried("system") and not can_be_tried("agent")
    with pytest.raises(ValueError, match="can be tried"):
        trial_of(document, name="short")


@pytest.mark.parametrize(
    ("into", "out", "is_known"), [(1e-6, 3e-6, True), (None, 3e-6, False), (1e-6, None, False)]
)
def test_a_trial_costs_what_its_requests_and_answers_cost_at_most(
    document: Document, into: float | None, out: float | None, is_known: bool
) -> None:
    model = ModelInfo("x/y", "", None, 700, input_price=into, output_price=out)
    forget = document.shared.client.serve(model, lambda _request, _emit, _cancelled: None)
    points = points_of(document, EXPLORER, SETTINGS)
    cost = trial_of(document).cost(points, "x/y")
    assert cost.output_tokens == 700 * cost.calls > 0
    whole = cost.input_tokens * 1e-6 + cost.output_tokens * 3e-6
    assert cost.dollars == (pytest.approx(whole) if is_known else None)
    assert trial_of(document).cost(points[:1], "x/y").calls == 0, "no earlier summary there"
    forget()


def test_findings_of_either_version_are_summed_and_nothing_is_stored(
    document: Document,
) -> None:
    points, told, steps = points_of(document, EXPLORER, SETTINGS), [], []
    trial = trial_of(document)
    cost = trial.cost(points, "offline/extractive")
    assert cost.calls >= 4 and cost.input_tokens > 1000 and cost.dollars == 0
    before = len(document.tree)
    results = asyncio.run(
        trial.run(points, order(), told.append, lambda done, total: steps.append((done, total)))
    )
    assert list(results) == told and steps[-1] == (6, 6)
    assert [one.problem for one in results[:2]] == [NOT_USED, NOT_USED], "no earlier summary there"
    sums = changes(results)
    assert list(sums) == ["instructions missing", "open work not named", "stated wrongly", "tokens"]
    assert sums["tokens"][0] > sums["tokens"][1] > 0
    assert len(document.tree) == before and not document.shared.store.drafts(document.key)


def test_the_same_text_twice_is_no_change(document: Document) -> None:
    points = points_of(document, EXPLORER, SETTINGS)[-1:]
    trial = trial_of(document, shipped_prompt(NAME))
    results = asyncio.run(trial.run(points, order(), lambda _result: None))
    assert all(one == other for one, other in changes(results).values())


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[tuple[ChatServer, Document]]:
    with ChatServer() as server:
        client = ModelClient(ModelClientConfig(api_base=server.url))
        bench = Workbench(Store.open(tmp_path / "s.db"), client, clock_ms=Clock())
        yield server, bench.open_blocking(bench.import_blocking(SAMPLE).key)
        client.close()
        bench.store.close()


def test_a_call_that_fails_is_told_and_the_others_go_on(
    remote: tuple[ChatServer, Document],
) -> None:
    server, document = remote
    server.plan(HttpFailure(401, "who are you"))
    points = points_of(document, EXPLORER, SETTINGS)[-1:]
    results = asyncio.run(
        trial_of(document).run(points, order("openai/test-model"), lambda _result: None)
    )
    assert len(results) == 2 and all("who are you" in one.problem for one in results)
    assert not changes(results)


def test_cancelled_it_ends_with_what_it_has(remote: tuple[ChatServer, Document]) -> None:
    server, document = remote
    server.plan(Stall(after=1))
    cancel, told = CancelToken(), list[TrialResult]()
    points = points_of(document, EXPLORER, SETTINGS)

    async def work() -> None:
        asyncio.get_running_loop().call_later(0.5, cancel.cancel)
        await trial_of(document).run(points, order("openai/test-model", cancel), told.append)

    with pytest.raises(Cancelled):
        asyncio.run(work())
    assert [one.problem for one in told] == [NOT_USED, NOT_USED]
