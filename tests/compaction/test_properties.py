"""What must hold for every session, searched for with generated trees."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.compaction.branch_summaries import prepare_branch
from explorer.compaction.context_size import counted_size
from explorer.compaction.cut_point import walk_back
from explorer.compaction.partition import Verdict, partition
from explorer.compaction.preparation import Preparation, PreparationRefusal, prepare
from explorer.compaction.profile import BASES, Profile, Settings
from explorer.compaction.requests import build_requests
from explorer.session.context import context_at, is_unsent_reply
from explorer.session.entries import RepeatedEntry
from explorer.session.kinds import Kind
from explorer.settings.prompt_templates import load_templates
from tests.compaction.sessions import EXPLORER, PI, Session, with_verdict

TEMPLATES = load_templates()
LOSES = replace(PI, boundary="faithful-0.58")
PROFILES = st.sampled_from([*BASES.values()])
CORRECTED = st.sampled_from([BASES["explorer"], BASES["pyagent"], BASES["copilot"]])
ROUNDS = st.integers(1, 8)

SIZES = st.sampled_from([0, 1, 3, 10, 60, 400])
STEPS = st.one_of(
    st.tuples(st.just("user"), SIZES),
    st.tuples(st.just("reply"), SIZES),
    st.tuples(st.just("reported reply"), SIZES, st.integers(1, 3_000)),
    st.tuples(st.just("tools"), SIZES, st.integers(1, 3), st.sampled_from(["", "note", "bash"])),
    st.tuples(st.just("tools"), SIZES, st.integers(1, 3), st.just("")),
    st.tuples(st.just("note"), SIZES),
    st.tuples(st.just("bash"), SIZES),
    st.tuples(st.just("hidden bash"), SIZES),
    st.tuples(st.just("image"), st.just(0)),
    st.tuples(st.just("metadata"), st.just(0)),
    st.tuples(st.just("branch summary"), SIZES),
    st.tuples(st.just("compaction"), st.integers(0, 40)),
    st.tuples(st.just("reset"), st.just(0)),
    st.tuples(st.just("go back"), st.integers(0, 12)),
)


def build(steps: list[tuple[Any, ...]]) -> Session:
    session = Session()
    for step in steps:
        _take(session, step)
    return session


def _take(session: Session, step: tuple[Any, ...]) -> None:
    name, size = step[0], step[1]
    if name == "user":
        session.user(size)
    elif name == "reply":
        session.reply(size)
    elif name == "reported reply":
        session.reply(size, usage=step[2])
    elif name == "tools":
        _tools(session, size, step[2], step[3])
    elif name == "note":
        session.note(size)
    elif name in ("bash", "hidden bash"):
        session.bash(max(1, size), excluded=name == "hidden bash")
    elif name == "image":
        session.message(role="user", content=[{"type": "image", "data": ""}])
    elif name == "metadata":
        session.metadata()
    elif name == "branch summary":
        session.branch_summary("word" * size)
    elif name == "compaction":
        # Sometimes an id that is on another branch, or not there at all.
        session.compaction(kept=len(session.entries) - size, summary="word" * 5)
    elif name == "reset":
        session.add({"type": "reset_boundary"})
    elif name == "go back":
        # Nobody goes to a place between a call and its results.
        target = max(-1, session.leaf - size)
        while target >= 0 and session.tree.kind(target) in (Kind.TOOL_RESULT, Kind.ASSISTANT):
            target -= 1
        session.leaf = target


def _tools(session: Session, size: int, count: int, between: str) -> None:
    reply = session.reply(1, calls=[("edit", f"f{at}.py") for at in range(count)])
    if between == "note":
        session.note(2)
    elif between == "bash":
        session.bash(2)
    for at in range(count):
        session.result(size, call=f"c{reply}.{at}", error=size == 3)


SESSIONS = st.lists(STEPS, min_size=4, max_size=40).map(build)
KEEPS = st.sampled_from([0, 1, 5, 20, 60, 200, 1000, 20_000])


@settings(max_examples=150, deadline=None)
@given(SESSIONS, KEEPS, PROFILES)
def test_every_position_has_one_verdict_that_agrees_with_the_preparation(
    session: Session, keep: int, profile: Profile
) -> None:
    prepared = session.prepare(keep, profile)
    parts = partition(prepared)
    view = prepared.cuts.view
    assert len(parts.verdicts) == len(parts.path) == len(view.sent)
    assert sum(parts.tokens) == sum(parts.weight(at) for at in range(len(parts.path)))
    assert all(parts.reason(at).endswith(".") for at in range(len(parts.path)))
    if not isinstance(prepared, Preparation):
        assert not with_verdict(parts, Verdict.TO_SUMMARIZE)
        return
    sent = set(view.entries(0, len(view), view.sent))
    told = set(with_verdict(parts, Verdict.TO_SUMMARIZE)) - {prepared.previous_compaction}
    assert told == set(prepared.history) & sent
    assert set(with_verdict(parts, Verdict.TURN_PREFIX)) == set(prepared.turn_prefix) & sent
    kept = set(with_verdict(parts, Verdict.KEPT))
    columns = session.tree.columns
    assert kept == {
        entry
        for entry in prepared.path[prepared.cut :]
        if entry in sent and not is_unsent_reply(columns, entry)
    }
    # However a path is cut, it is never cut before a tool result (A16).
    assert prepared.cut_point < 0 or view.kinds[prepared.cut_point] != Kind.TOOL_RESULT


@settings(max_examples=150, deadline=None)
@given(SESSIONS, KEEPS, st.booleans())
def test_the_partition_divides_what_the_context_counts(
    session: Session, keep: int, with_tokenizer: bool
) -> None:
    """Before and after are one metric: what the entries of the context count, by one counter."""
    estimate = session.tree.columns.estimate
    weights = [2 * tokens for tokens in estimate] if with_tokenizer else None
    parts = session.partition(keep, weights=weights)
    context = context_at(session.tree, session.leaf)
    counted = counted_size(session.tree, context, EXPLORER, weights)
    assert parts.context_estimate == counted
    assert parts.tokens_beyond >= max(0, parts.tokens_before - counted)
    assert parts.whole_before == counted + parts.tokens_beyond
    assert parts.beyond_with(7) >= 0
    assert parts.whole_with(7) == parts.tokens_kept + 7 + parts.beyond_with(7)
    assert parts.counted_by == ("tokenizer" if with_tokenizer else "estimate")


@settings(max_examples=150, deadline=None)
@given(SESSIONS, KEEPS, ROUNDS, CORRECTED)
def test_the_whole_context_is_told_or_kept(
    session: Session, keep: int, rounds: int, profile: Profile
) -> None:
    """E1, B1: in the corrected profiles nothing that the model sees is lost."""
    parts = session.partition(keep, profile, settings={"keep_rounds": rounds})
    assert with_verdict(parts, Verdict.LOST) == []
    now = set(context_at(session.tree, session.leaf).messages)
    stays = (Verdict.TO_SUMMARIZE, Verdict.TURN_PREFIX, Verdict.KEPT, Verdict.NOT_SENT)
    for position, entry in enumerate(parts.path):
        assert (entry in now) <= (Verdict(parts.verdicts[position]) in stays)


@settings(max_examples=150, deadline=None)
@given(SESSIONS, KEEPS, ROUNDS, CORRECTED)
def test_a16_no_kept_result_without_its_call(
    session: Session, keep: int, rounds: int, profile: Profile
) -> None:
    prepared = session.prepare(keep, profile, settings={"keep_rounds": rounds})
    if not isinstance(prepared, Preparation):
        return
    calls: set[str] = set()
    for entry in prepared.path[prepared.cut :]:
        message = session.entries[entry].get("message", {})
        if message.get("role") == "assistant":
            calls |= {block["id"] for block in message["content"] if block["type"] == "toolCall"}
        elif message.get("role") == "toolResult":
            assert message["toolCallId"] in calls


@settings(max_examples=200, deadline=None)
@given(SESSIONS, KEEPS, KEEPS, PROFILES)
def test_a15_more_to_keep_never_keeps_less(
    session: Session, one: int, other: int, profile: Profile
) -> None:
    """Under every profile; but where newest tool results fill all that is kept, those that then
    take the first cut keep everything (B4)."""
    less, more = (session.partition(keep, profile) for keep in sorted((one, other)))
    for parts in (less, more):
        prepared = parts.preparation
        if profile.oversized_tail == "first-cut" and _past_every_cut(prepared):
            return
    assert less.tokens_kept <= more.tokens_kept
    assert set(with_verdict(less, Verdict.KEPT)) <= set(with_verdict(more, Verdict.KEPT))


def _past_every_cut(prepared: Preparation | PreparationRefusal) -> bool:
    """Whether no valid cut follows where enough was kept."""
    cuts = prepared.cuts
    keep = kept_tokens_of(prepared)
    reached = walk_back(cuts.view, cuts.view.boundary, len(cuts.view), keep)
    return reached >= 0 and cuts.mask.find(1, reached) < 0


def kept_tokens_of(prepared: Preparation | PreparationRefusal) -> int:
    if isinstance(prepared, Preparation):
        return prepared.keep.tokens
    return prepared.settings.keep_recent_tokens


@settings(max_examples=150, deadline=None)
@given(SESSIONS, ROUNDS, ROUNDS)
def test_a49_more_rounds_to_keep_never_keep_less(session: Session, one: int, other: int) -> None:
    less, more = (
        session.partition(1, BASES["copilot"], settings={"keep_rounds": rounds})
        for rounds in sorted((one, other))
    )
    assert set(with_verdict(less, Verdict.KEPT)) <= set(with_verdict(more, Verdict.KEPT))


@settings(max_examples=100, deadline=None)
@given(SESSIONS, KEEPS, PROFILES)
def test_the_same_session_is_always_divided_alike(
    session: Session, keep: int, profile: Profile
) -> None:
    again = Session()
    for index, entry in enumerate(session.entries):
        again.add(entry, under=session.tree.columns.parent[index])
    again.leaf = session.leaf
    one, other = session.partition(keep, profile), again.partition(keep, profile)
    assert (one.verdicts, one.tokens, one.cut) == (other.verdicts, other.tokens, other.cut)
    assert one.preparation.reason == other.preparation.reason


@settings(max_examples=100, deadline=None)
@given(SESSIONS, KEEPS, st.lists(STEPS, min_size=1, max_size=15), KEEPS)
def test_e1_a_second_compaction_loses_nothing_of_what_the_first_kept(
    session: Session, keep: int, more: list[tuple[Any, ...]], later: int
) -> None:
    """Compact, go on, compact again: all that the first kept is told or kept by the second."""
    first = session.prepare(keep)
    if not isinstance(first, Preparation):
        return
    columns = session.tree.columns
    kept = {
        entry
        for entry in first.cuts.view.entries(first.cut, len(first.path), first.cuts.view.sent)
        if not is_unsent_reply(columns, entry)
    }
    session.compaction(kept=first.first_kept)
    for step in more:
        if step[0] not in ("go back", "compaction", "reset"):
            _take(session, step)
    second = session.partition(later)
    told = set(with_verdict(second, Verdict.TO_SUMMARIZE))
    told |= set(with_verdict(second, Verdict.TURN_PREFIX))
    assert kept <= told | set(with_verdict(second, Verdict.KEPT))
    faithful = prepare(session.tree, session.leaf, LOSES, Settings(keep_recent_tokens=1))
    if isinstance(faithful, Preparation):
        lost = with_verdict(partition(faithful), Verdict.LOST)
        assert kept <= set(lost)


@settings(max_examples=100, deadline=None)
@given(SESSIONS, KEEPS)
def test_every_valid_cut_can_be_chosen(session: Session, keep: int) -> None:
    for cut in session.partition(keep).valid_cuts:
        chosen = session.prepare(keep, cut=cut)
        if isinstance(chosen, Preparation):
            assert chosen.cut <= chosen.cut_point == cut
        else:
            assert chosen.code in ("nothing-before", "just-compacted")


@settings(max_examples=60, deadline=None)
@given(SESSIONS, KEEPS, PROFILES)
def test_requests_trace_every_entry_they_tell(
    session: Session, keep: int, profile: Profile
) -> None:
    prepared = session.prepare(keep, profile)
    if not isinstance(prepared, Preparation):
        return
    for request in build_requests(prepared, session.read, "before", "focus", TEMPLATES):
        position = 0
        for span in request.sources:
            assert position <= span.start < span.end <= len(request.prompt)
            position = span.end
        wanted = {*prepared.history, *prepared.turn_prefix, prepared.previous_compaction}
        if request.purpose == "short":
            # It tells of what is recent, and that is kept.
            wanted |= set(prepared.path[prepared.cut :])
        assert {span.entry for span in request.sources} <= wanted


@settings(max_examples=100, deadline=None)
@given(SESSIONS, st.data(), st.sampled_from([0, 5, 50, 5000]), PROFILES)
def test_a_branch_is_left_behind_whole_and_told_within_its_budget(
    session: Session, data: st.DataObject, budget: int, profile: Profile
) -> None:
    tree = session.tree
    place = st.integers(-1, len(tree) - 1)
    old, target = data.draw(place), data.draw(place)
    left = prepare_branch(tree, old, target, profile, Settings(), budget=budget)
    path, goal = tree.path(old).indices(), set(tree.path(target))
    assert left.entries == [entry for entry in path if entry not in goal]
    assert set(left.messages) <= set(left.entries)
    assert all(tree.kind(entry) != Kind.TOOL_RESULT for entry in left.messages)
    if budget and left.total_tokens > budget:
        # Only a summary near the edge may go over.
        assert tree.kind(left.messages[0]) in (Kind.COMPACTION, Kind.BRANCH_SUMMARY)


@settings(max_examples=50, deadline=None)
@given(SESSIONS, KEEPS, PROFILES, st.integers(1, 4))
def test_the_tokens_of_each_verdict_are_those_of_its_entries(
    session: Session, keep: int, profile: Profile, step: int
) -> None:
    """Also of what the record of a compaction holds again, which is in the context as what was said
    since is."""
    columns = session.tree.columns
    for at, facts in columns.compactions.items():
        again = tuple(
            RepeatedEntry(columns.ids[one])
            for one in list(session.tree.path(at))[:-1:step]
            if columns.kind[one] in (Kind.USER, Kind.ASSISTANT)
        )
        columns.compactions[at] = facts._replace(repeated_entries=again)
    parts = partition(session.prepare(keep, profile))
    for verdict in Verdict:
        places = (at for at, one in enumerate(parts.verdicts) if one == verdict)
        assert parts.tokens[verdict] == sum(map(parts.weight, places)), verdict.name
    for entry, copy in context_at(session.tree, session.leaf).again.items():
        verdict = parts.verdicts[parts.path.position(entry)]
        if copy.why == "recorded":
            assert verdict in (Verdict.KEPT, Verdict.TO_SUMMARIZE, Verdict.PINNED)
