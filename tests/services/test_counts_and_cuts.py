"""Token counts made bit by bit, compactions at a given cut, and what calls cost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import ModelInfo, ModelRequest
from explorer.models.events import Usage
from explorer.services.document import Document
from explorer.services.draft_records import Attempt
from explorer.services.summary_audit import calls_cost
from explorer.session.kinds import METADATA_KINDS, Kind
from explorer.workbench import Workbench
from tests.generated import write_session

EXPLORER = PROFILES["explorer"]
SETTINGS = Settings.of(EXPLORER)


class Letters:
    """Counts letters, and remembers what it was asked."""

    name, note = "letters", ""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        self.asked.append(text)
        return len(text)


def test_what_was_counted_is_not_counted_again(bench: Workbench, tmp_path: Path) -> None:
    file = write_session(tmp_path / "a.jsonl", 600, seed=1)
    document = bench.open_blocking(bench.import_blocking(file).key)
    tokens, count = document.tokens, len(document.tree)
    steps: list[tuple[int, int]] = []

    def counted(*, most: int = 1_000_000) -> tuple[bool, int]:
        """Whether all is counted after so many parts, and how many texts were looked at."""
        letters = Letters()
        steps.clear()
        done = asyncio.run(
            tokens.count(letters, lambda *at: steps.append(at), lambda: len(steps) >= most)
        )
        return done, len(letters.asked)

    whole, first = counted(most=1)
    assert not whole and first > 0 and tokens.weights is None and len(steps) == 1
    assert not asyncio.run(tokens.take_stored(Letters())), "not all is in the library"
    whole, rest = counted()
    assert whole and rest > first and steps[-1] == (count, count)
    assert tokens.counted_by == "tokenizer" and tokens.weights is not None
    before = list(tokens.weights)
    assert counted() == (True, 0), "all is known"
    texts = document.payloads.stored.entries(range(count))
    user = next(at for at in range(count) if document.tree.kind(at) is Kind.USER)
    assert tokens.entry_tokens(user) == before[user] == len(texts[user].body.content[0].text)
    tokens.forget([user, count + 5])
    assert tokens.weights[user] == -1
    assert tokens.entry_tokens(user) == document.tree.columns.estimate[user], "till it is counted"
    asyncio.run(tokens.count_new())
    assert list(tokens.weights) == before


def test_a_compaction_that_keeps_from_a_given_entry_on_does_or_is_refused(
    document: Document,
) -> None:
    tree, leaf = document.tree, document.leaf
    path, kept = tree.path(leaf), 0
    for position in range(0, len(path), 3):
        name = tree.columns.ids[path[position]]
        shown = document.compaction.preview_from(leaf, name, EXPLORER, SETTINGS)
        assert shown is not None and list(shown.path) == list(path)
        if isinstance(shown.preparation, Preparation):
            # Notes before it are kept with it.
            assert {tree.kind(at) for at in path[shown.cut : position]} <= METADATA_KINDS
            assert shown.cut <= position and shown.preparation.first_kept == path[shown.cut]
            kept += 1
    assert 0 < kept < len(path) // 3, "some entries are no place for a cut"
    elsewhere = next(at for at in range(len(tree)) if at not in path)
    for at, name in ((leaf, tree.columns.ids[elsewhere]), (leaf, "nowhere"), (-1, "nowhere")):
        assert document.compaction.preview_from(at, name, EXPLORER, SETTINGS) is None


@pytest.mark.parametrize(
    ("models", "dollars"),
    [
        ([], None),
        (["offline/extractive"], 0.0),
        (["priced/one"], 0.5),
        (["priced/one", "offline/extractive", "priced/one"], 1.0),
        (["priced/one", "free/one"], None),
        (["priced/one", "unused/one"], None),
    ],
)
def test_calls_cost_what_is_known_of_all_of_them(
    document: Document, models: list[str], dollars: float | None
) -> None:
    priced = ModelInfo("priced/one", "", None, None, input_price=1e-3, output_price=2e-3)
    forget = document.shared.client.serve(priced, lambda _request, _emit, _cancelled: None)
    usages = {"priced/one": Usage(100, 200), "free/one": Usage(1, 1)}
    calls = [Attempt("history", "first", ModelRequest(one, ()), usage=usages.get(one))
             for one in models]  # fmt: skip
    assert calls_cost(document, calls) == (None if dollars is None else pytest.approx(dollars))
    forget()
