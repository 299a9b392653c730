"""How a draft is written down and read back, and which entry it became."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.compaction.messages import SourceSpan
from explorer.compaction.requests import SummaryRequest
from explorer.facts.summary_notes import NOT_FOLLOWED
from explorer.models.client import CancelToken, ChatMessage, ModelRequest, Usage
from explorer.models.offline.extractive.sections import QUOTED_NEXT
from explorer.services.draft_records import (
    Attempt,
    Draft,
    DraftPart,
    SummaryOrder,
    attempts_of,
    draft_of,
    entry_of,
    fields_of,
    instructions_not_met,
    model_request,
    planned_fields,
    recorded_inputs,
)
from explorer.store.rows import DraftRow
from tests.compaction.sessions import Session


def call(model: str = "p/m", words: str = "Sum up.") -> ModelRequest:
    return ModelRequest(model, (ChatMessage("user", words),), max_output_tokens=9)


def attempt(
    purpose: str = "history", *, problem: str = "", sources: Any = (), **more: Any
) -> Attempt:
    return Attempt(
        purpose, "first", call(), tuple(sources), text=f"{purpose}!", problem=problem, **more
    )


ATTEMPTS = (
    Attempt("history", "first", call(), (SourceSpan(1, 5, 0), SourceSpan(5, 9, 3)), 2, "bad",
            "stop", Usage(10, 20), 30.5, 0.0, "It is empty.", "empty"),
    Attempt("history", "reminder", call("p/n"), (), 0, "good", "length", None, 1.5, 2.5),
)  # fmt: skip
DRAFT = Draft(
    4, "branch", "done", 3, (), "good", "p/n", "Be brief.", "e2", 900, ("r",), ("m",), ("f",),
    ("c",), ("d",), settings={"profile": {"title": "pi"}}, from_id="e7", short_summary="Short.",
    attempts=ATTEMPTS, facts={"trigger": "manual"},
)  # fmt: skip


def stored(draft: Draft, **changes: Any) -> DraftRow:
    fields = fields_of(draft)
    kept = {name: fields.get(name) for name in (
        "kind", "status", "leaf", "model", "instructions", "settings", "requests", "answers",
        "facts", "summary", "problem", "elapsed_ms",
    )}  # fmt: skip
    values = {"id": draft.id, "key": 1, "edited_text": None, "created_ms": 0.0, "changed_ms": 0.0}
    return DraftRow(**{**values, **kept, **changes})


def test_a_draft_comes_back_as_it_was_written() -> None:
    again = draft_of(stored(DRAFT))
    parts = (DraftPart("history", call("p/n"), "good", "length", None, 1.5),)
    assert again == Draft(**{
        name: getattr(DRAFT, name) for name in DRAFT.__struct_fields__
    } | {"parts": parts})  # fmt: skip
    assert (again.elapsed_ms, again.output_tokens) == (1.5, 20)
    odd = stored(DRAFT, kind="of tomorrow", facts=None, settings=[], status="committed")
    assert draft_of(odd) == Draft(4, "compaction", "done", 3, (), "good", "p/n", "Be brief.")


@pytest.mark.parametrize("endpoint", ["", "https://summaries.example/v1"])
def test_the_call_of_a_request_comes_back_as_it_was_written(endpoint: str) -> None:
    made = model_request(SummaryRequest("history", "Sum up.", "All of it.", 9), "p/m", endpoint)
    assert ModelRequest.from_json(made.to_json()) == made


def test_calls_are_read_only_where_all_of_them_are_there() -> None:
    row = stored(DRAFT)
    assert attempts_of(row) == ATTEMPTS
    unread = attempts_of(stored(DRAFT, requests=None))
    assert [one.request for one in unread] == [ModelRequest("p/m", ()), ModelRequest("p/n", ())]
    assert [one.sources for one in unread] == [(), ()]
    assert attempts_of(stored(DRAFT, requests=row.requests[:1])) == ()
    assert attempts_of(stored(DRAFT, answers=row.answers[:1])) == ()
    assert attempts_of(stored(DRAFT, answers=None)) == ()
    assert attempts_of(stored(DRAFT, facts=[])) == ()
    bare = stored(DRAFT, answers=[{}], requests=[{"request": {"model": "p/m", "messages": []}}],
                  facts={"attempts": [{"why": "because"}]})  # fmt: skip
    assert attempts_of(bare) == (Attempt("", "first", ModelRequest("p/m", ())),)


def test_what_is_planned_is_written_before_it_is_sent() -> None:
    order = SummaryOrder("", "p/m", lambda purpose, text: None, CancelToken(), endpoint="http://e")
    request = SummaryRequest("short", "system", "prompt", 7, [SourceSpan(0, 3, 5)])
    fields = planned_fields(
        Draft(0, "compaction", "streaming", 3, (), "", "", ""), [request], order
    )
    (planned,) = fields["requests"]
    assert (planned["purpose"], planned["sources"]) == ("short", [0, 3, 5])
    assert planned["request"]["endpoint"] == "http://e"
    assert planned["request"]["max_output_tokens"] == 7
    assert (fields["answers"], fields["facts"]["attempts"]) == ([], [])
    assert planned_fields(DRAFT, [request], order)["requests"] == fields_of(DRAFT)["requests"]
    assert (
        planned_fields(Draft(0, "compaction", "done", 3, (), "", "", ""), [request], None)[
            "requests"
        ]
        == []
    )


def test_tokens_and_time_are_those_of_all_calls_and_of_the_slowest() -> None:
    def part(elapsed: float, usage: Usage | None) -> DraftPart:
        return DraftPart("history", call(), "", "", usage, elapsed)

    parts = (part(5.0, Usage(1, 2)), part(9.0, None), part(3.0, Usage(1, 4)))
    draft = Draft(0, "compaction", "done", 3, parts, "", "", "")
    assert (draft.elapsed_ms, draft.output_tokens) == (9.0, 6)
    assert (DRAFT.elapsed_ms, DRAFT.output_tokens) == (0.0, 20)


def answer(text: str, asked: str = "Keep ports. Be brief.") -> DraftPart:
    return DraftPart("history", call(words=asked), text, "stop", None, 0)


def unmet(*quotes: str) -> str:
    return f"Text\n- {NOT_FOLLOWED}: “{QUOTED_NEXT.join(quotes)}”"


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([answer(unmet("Be brief."))], ("Be brief.",)),
        ([answer(unmet("Be brief.", "Keep ports."))], ("Be brief.", "Keep ports.")),
        ([answer("all was done")], ()),
        # What one of two answers says that it could not follow stands in the draft.
        ([answer(unmet("Be brief.")), answer("all was done")], ("Be brief.",)),
        ([answer(unmet("Be brief.")), answer("all", "another question")], ("Be brief.",)),
        # An answer that followed nothing quotes the instructions as a whole.
        ([answer(unmet("Keep ports. Be brief.")), answer(unmet("Be brief."))], ("Be brief.",)),
        ([], ()),
    ],
)
def test_instructions_that_an_answer_did_not_follow_are_named(
    answers: list[DraftPart], expected: tuple[str, ...]
) -> None:
    draft = Draft(0, "compaction", "done", 3, tuple(answers), "", "", "Keep ports. Be brief.")
    assert instructions_not_met(draft) == expected
    silent = Draft(0, "compaction", "done", 3, tuple(answers), "", "", "")
    assert instructions_not_met(silent) == ()


# the entry that it became -------------------------------------------------------------------------


def compacted() -> Session:
    """0 user, 1 reply; below it 2 a compaction that keeps e1, 3 one that keeps e0, 4 a message,
    5 a branch summary of e0."""
    session = Session()
    session.user()
    session.reply()
    session.compaction(1)
    session.leaf = 1
    session.compaction(0)
    session.leaf = 1
    session.user()
    session.branch_summary()
    return session


@pytest.mark.parametrize(
    ("kind", "leaf", "facts", "entry"),
    [
        ("compaction", 1, {"first_kept_id": "e1"}, 2),
        ("compaction", 1, {"first_kept_id": "e0"}, 3),
        ("compaction", 1, {"first_kept_id": "e9"}, -1),
        ("compaction", 1, {}, 2),
        ("compaction", 1, None, 2),
        ("compaction", 0, {}, -1),
        ("branch", 1, {"from_id": "e0"}, 5),
        ("branch", 1, {"from_id": "e1"}, -1),
        ("branch", 1, None, -1),
    ],
)
def test_the_entry_of_a_committed_draft(kind: str, leaf: int, facts: Any, entry: int) -> None:
    session = compacted()
    row = stored(DRAFT, kind=kind, leaf=leaf, facts=facts, status="committed")
    assert entry_of(session.tree, row) == entry


def test_what_a_summary_was_made_of_is_what_its_used_calls_were_sent() -> None:
    session = compacted()
    attempts = (
        attempt(sources=[SourceSpan(0, 1, 0), SourceSpan(1, 2, -1), SourceSpan(2, 3, 6)]),
        attempt("turn_prefix", sources=[SourceSpan(0, 1, 5)]),
        attempt("short", sources=[SourceSpan(0, 1, 1)]),
        attempt(problem="It is empty.", sources=[SourceSpan(0, 1, 2)]),
    )
    made = Draft(1, "compaction", "done", 1, (), "", "", "", first_kept_id="e1", attempts=attempts)
    row = stored(made, status="committed")
    assert recorded_inputs(session.tree, [row]) == {2: frozenset({0, 5})}
    assert recorded_inputs(session.tree, [stored(made, status="discarded")]) == {}
    assert recorded_inputs(session.tree, [stored(made, status="committed", leaf=0)]) == {}
    empty = Draft(1, "compaction", "done", 1, (), "", "", "", attempts=(attempt(),))
    assert recorded_inputs(session.tree, [stored(empty, status="committed"), row]) == {
        2: frozenset({0, 5})
    }
