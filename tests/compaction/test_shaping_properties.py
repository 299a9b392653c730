"""What must hold however a session is pinned, omitted, pruned and compacted."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.compaction.context_size import context_size, counted_size
from explorer.compaction.messages import entry_to_llm, with_notes
from explorer.compaction.partition import Partition, Verdict, partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import BASES, Profile
from explorer.compaction.requests import build_requests
from explorer.session.context import PathContext, context_at, sent_tokens
from explorer.session.edits import round_of, shape_at, shapes_on
from explorer.session.entries import AssistantMessage, ModelMessage, ToolResultMessage
from explorer.session.kinds import Kind
from explorer.settings.prompt_templates import load_templates
from explorer.tokens.estimate import estimate_entry
from tests.compaction.sessions import EXPLORER, Session, with_verdict

TEMPLATES = load_templates()
PROFILES = st.sampled_from([*BASES.values()])
KEEPS = st.sampled_from([1, 5, 20, 60, 200])
SIZES = st.sampled_from([0, 1, 7, 40])
AMOUNTS = st.integers(0, 30)
STEPS = st.one_of(
    st.tuples(st.just("user"), SIZES),
    st.tuples(st.just("reply"), SIZES),
    st.tuples(st.just("tools"), SIZES),
    st.tuples(st.just("bash"), SIZES),
    st.tuples(st.just("pin"), AMOUNTS),
    st.tuples(st.just("omit"), AMOUNTS),
    st.tuples(st.just("lift pin"), AMOUNTS),
    st.tuples(st.just("lift omission"), AMOUNTS),
    st.tuples(st.just("undo"), AMOUNTS),
    st.tuples(st.just("rule"), st.sampled_from([0, 30, 200])),
    st.tuples(st.just("prune"), AMOUNTS),
    st.tuples(st.just("compaction"), AMOUNTS),
    st.tuples(st.just("reset"), st.integers(0, 0)),
)


def custom(session: Session, kind: str, **data: Any) -> int:
    entry = {"type": "custom", "customType": f"session-explorer/{kind}", "data": data}
    return session.add(entry)


def build(steps: list[tuple[str, int]]) -> Session:
    session = Session()
    session.user(3)
    for name, size in steps:
        _take(session, name, size)
    return session


def _take(session: Session, name: str, size: int) -> None:
    back = max(0, len(session.entries) - 1 - size)
    if name == "user":
        session.user(size)
    elif name == "reply":
        session.reply(size)
    elif name == "bash":
        session.bash(size + 1)
    elif name == "tools":
        reply = session.reply(2, calls=[("read", "a.py"), ("edit", "b.py")])
        for at in range(2):
            session.result(size, call=f"c{reply}.{at}")
    elif name == "compaction":
        _compact(session, size)
    elif name == "reset":
        session.add({"type": "reset_boundary"})
    elif name == "rule":
        custom(session, "keep-user-messages", tokens=size)
    elif name == "undo":
        in_force = shapes_on(session.tree, session.tree.path(session.leaf))
        if in_force:
            at = in_force[size % len(in_force)]
            kind = session.tree.columns.shapes[at].kind
            custom(session, kind, undoes=f"e{at}")
    elif name == "prune":
        result = {"id": f"e{back}", "tokens": 40, "text": "[gone]"}
        custom(session, "prune", results=[result], saved=1)
    elif name.startswith("lift"):
        custom(session, "pin" if name == "lift pin" else "omit", lifts=[f"e{back}"])
    else:
        custom(session, name, entries=[{"id": f"e{back}"}])


def _compact(session: Session, size: int) -> None:
    """A compaction as it would be made, never between a call and its result."""
    parts = session.partition(size * 4)
    if isinstance(parts.preparation, Preparation):
        session.compaction(kept=parts.preparation.first_kept, summary="word" * 5)


SESSIONS = st.lists(STEPS, min_size=6, max_size=45).map(build)


def told(session: Session, context: PathContext) -> list[ModelMessage]:
    """The messages of a context as they are sent."""
    read = with_notes(session.read, context.pruned, context.again)
    found = (entry_to_llm(entry, TEMPLATES) for entry in read(context.messages))
    return [message for message in found if message is not None]


@settings(max_examples=300, deadline=None)
@given(SESSIONS)
def test_no_context_holds_an_orphan_or_an_entry_twice(session: Session) -> None:
    for leaf in range(len(session.entries)):
        if session.tree.kind(leaf) in (Kind.ASSISTANT, Kind.TOOL_RESULT):
            continue  # nobody speaks there: results are to come
        context = context_at(session.tree, leaf)
        assert len(set(context.messages)) == len(context.messages)
        calls: set[str] = set()
        results: set[str] = set()
        for message in told(session, context):
            if isinstance(message, AssistantMessage):
                calls |= {call.id for call in message.calls}
            elif isinstance(message, ToolResultMessage):
                results.add(message.call_id)
                assert message.call_id in calls
        assert results == calls


@settings(max_examples=200, deadline=None)
@given(SESSIONS)
def test_pins_are_told_and_omissions_are_not(session: Session) -> None:
    context = context_at(session.tree, session.leaf)
    shape = shape_at(session.tree, session.leaf)
    assert not set(shape.pinned) & set(shape.omitted)
    assert not set(context.messages) & set(shape.omitted)
    reset = max(
        (at for at in context.path if session.tree.kind(at) is Kind.RESET_BOUNDARY), default=-1
    )
    for entry, pin in shape.pinned.items():
        assert (entry in context.messages) == (entry > reset or pin.by > reset)
        assert entry not in context.pruned
    for entry in shape.omitted:
        assert set(round_of(session.tree, context.path, entry)) <= set(shape.omitted)


@settings(max_examples=200, deadline=None)
@given(SESSIONS)
def test_tokens_shown_are_those_of_what_is_sent(session: Session) -> None:
    """Summaries, commands and replies that are told again are worded: the rest adds up exactly."""
    context = context_at(session.tree, session.leaf)
    estimate = session.tree.columns.estimate
    rows = [sent_tokens(context, at, estimate[at]) for at in context.messages]
    assert sum(rows) == counted_size(session.tree, context, EXPLORER)
    assert context_size(session.tree, context, EXPLORER).tokens == sum(rows)
    read = with_notes(session.read, context.pruned, context.again)(context.messages)
    for at, row, entry in zip(context.messages, rows, read, strict=True):
        kind = session.tree.kind(at)
        if kind in (Kind.USER, Kind.TOOL_RESULT) or (
            kind is Kind.ASSISTANT and at not in context.again
        ):
            assert row == estimate_entry(entry)


@settings(max_examples=200, deadline=None)
@given(SESSIONS, KEEPS, st.booleans())
def test_the_partition_divides_what_the_context_counts(
    session: Session, keep: int, with_tokenizer: bool
) -> None:
    estimate = session.tree.columns.estimate
    weights = [2 * tokens for tokens in estimate] if with_tokenizer else None
    parts = session.partition(keep, weights=weights)
    context = context_at(session.tree, session.leaf)
    assert parts.context_estimate == counted_size(session.tree, context, EXPLORER, weights)


def _after(session: Session, parts: Partition, profile: Profile) -> int:
    """What the context counts with the compaction made and a summary of no size."""
    assert isinstance(parts.preparation, Preparation)
    entry: dict[str, Any] = {
        "type": "compaction", "summary": "", "tokensBefore": 1,
        "firstKeptEntryId": f"e{parts.preparation.first_kept}",
        "details": {"keepUserMessages": profile.keep_user_tokens},
    }  # fmt: skip
    compaction = session.add(entry)
    return counted_size(session.tree, context_at(session.tree, compaction), profile)


@settings(max_examples=300, deadline=None)
@given(SESSIONS, KEEPS, PROFILES, st.sampled_from([0, 25, 300]))
def test_what_a_preview_says_is_kept_is_what_the_context_holds_afterwards(
    session: Session, keep: int, base: Profile, user_tokens: int
) -> None:
    # Some of these rules count what is never sent, or not what is: only the others add up.
    profile = replace(base, keep_user_tokens=user_tokens, weights="sent")
    parts = session.partition(keep, profile)
    assert all(parts.reason(at).endswith(".") for at in range(len(parts.path)))
    assert all(tokens >= 0 for tokens in parts.tokens)
    if not isinstance(parts.preparation, Preparation):
        return
    omitted = set(shape_at(session.tree, session.leaf).omitted)
    assert not omitted & {*parts.preparation.history, *parts.preparation.turn_prefix}
    for request in build_requests(parts.preparation, session.read, "", "", TEMPLATES):
        assert not omitted & {span.entry for span in request.sources}
    again = set(parts.preparation.again)
    assert set(with_verdict(parts, Verdict.PINNED)) == again
    assert _after(session, parts, profile) == parts.tokens_kept
    assert set(context_at(session.tree, session.leaf).again) == again


@settings(max_examples=200, deadline=None)
@given(SESSIONS, st.lists(AMOUNTS, min_size=1, max_size=3), st.sampled_from(["pin", "omit"]))
def test_undo_restores_exactly(session: Session, back: list[int], kind: str) -> None:
    def state() -> tuple[Any, ...]:
        context = context_at(session.tree, session.leaf)
        return context.messages, context.again, context.omitted, context.pruned

    before = state()
    names = [{"id": f"e{max(0, len(session.entries) - 1 - at)}"} for at in back]
    made = custom(session, kind, entries=names)
    custom(session, kind, undoes=f"e{made}")
    assert state() == before


def test_partition_of_a_pinned_session_is_one_of_all_positions() -> None:
    session = Session()
    for _ in range(6):
        session.user(20)
        session.reply(20)
    custom(session, "pin", entries=[{"id": "e0"}])
    parts = partition(session.prepare(30))
    assert len(parts.verdicts) == len(parts.path) and parts.verdicts[0] == Verdict.PINNED
