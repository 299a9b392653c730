"""Cuts and weights of any path are those that a plain walk from entry to entry finds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.compaction.cut_point import Cut, Cuts, find_by_rounds, walk_back
from explorer.compaction.path_view import PathView, entry_tokens, view_of
from explorer.compaction.profile import Profile
from explorer.session.context import is_unsent_reply
from explorer.session.kinds import (
    CONTEXT_KINDS,
    MESSAGE_KINDS,
    METADATA_KINDS,
    TURN_START_KINDS,
    Flag,
    Kind,
)
from tests.compaction.sessions import EXPLORER, Session, words
from tests.compaction.test_properties import SESSIONS

NOT_IN_PI = {
    Kind.COMPACTION, Kind.CUSTOM_MESSAGE, Kind.BRANCH_SUMMARY, Kind.SYSTEM, Kind.PYTHON_EXECUTION,
    Kind.FILE_MENTION, Kind.OTHER_ROLE,
}  # fmt: skip
NEVER_CUT = {
    Kind.TOOL_RESULT,
    Kind.SYSTEM,
    Kind.PYTHON_EXECUTION,
    Kind.FILE_MENTION,
    Kind.OTHER_ROLE,
}
PROFILES = st.builds(
    replace, st.just(EXPLORER),
    valid_cuts=st.sampled_from(["messages", "user-and-assistant"]),
    oversized_tail=st.sampled_from(["last-cut", "first-cut"]),
    turn_judgement=st.sampled_from(["before-pull", "after-pull"]),
    pull_back=st.sampled_from(["metadata", "all-but-messages"]),
    cut_guard=st.sampled_from(["guarded", "by-kind"]),
    weights=st.sampled_from(["sent", "stored-messages"]),
)  # fmt: skip


def is_cut(kinds: list[Kind], at: int, profile: Profile) -> bool:
    if profile.valid_cuts == "messages":
        fine = kinds[at] in CONTEXT_KINDS - NEVER_CUT
    else:
        fine = kinds[at] in (Kind.USER, Kind.ASSISTANT)
    if not fine or profile.cut_guard == "by-kind" or kinds[at] is Kind.ASSISTANT:
        return fine
    # What stands between a call and its result, or between two results, belongs to the call.
    later = at
    while later < len(kinds) and kinds[later] not in (Kind.ASSISTANT, Kind.TOOL_RESULT):
        later += 1
    return later == len(kinds) or kinds[later] is Kind.ASSISTANT


def turn_before(kinds: list[Kind], start: int, at: int) -> int:
    while at >= start and kinds[at] not in TURN_START_KINDS:
        at -= 1
    return at if at >= start else -1


def expected_cut(
    view: PathView, profile: Profile, start: int, point: int, reached: int = -1
) -> Cut:
    kinds = [Kind(kind) for kind in view.kinds]
    if point < 0:
        return Cut(start, -1, -1, False, -1)
    whole = profile.pull_back == "all-but-messages"
    pulled = frozenset(Kind) - MESSAGE_KINDS - {Kind.COMPACTION} if whole else METADATA_KINDS
    first = point
    while first > start and kinds[first - 1] in pulled:
        first -= 1
    if profile.turn_judgement == "before-pull":
        begins, judged = kinds[point] in TURN_START_KINDS, point
    else:
        begins, judged = kinds[first] is Kind.USER, first
    turn = -1 if begins else turn_before(kinds, start, judged)
    return Cut(first, point, turn, turn >= 0, reached)


@settings(max_examples=60, deadline=None)
@given(SESSIONS, PROFILES, st.integers(0, 500), st.data())
def test_a_path_is_cut_where_a_plain_walk_cuts_it(
    session: Session, profile: Profile, keep: int, data: st.DataObject
) -> None:
    view = view_of(session.tree, session.leaf, profile)
    stop = data.draw(st.integers(0, len(view)))
    start = data.draw(st.integers(0, stop))
    cuts, kinds = Cuts(view, profile), [Kind(kind) for kind in view.kinds]
    valid = [at for at in range(len(kinds)) if is_cut(kinds, at, profile)]
    assert [at for at, mark in enumerate(cuts.mask) if mark] == valid
    within = [at for at in valid if start <= at < stop]
    assert cuts.between(start, stop) == within
    for at in range(start, stop):
        assert cuts.before(at, start) == max((x for x in within if x < at), default=-1)
        ahead = next((x for x in valid if x >= at), -1)
        is_fine = ahead >= 0 and all(kind in METADATA_KINDS for kind in kinds[at:ahead])
        hand = expected_cut(view, profile, start, ahead) if is_fine else None
        assert cuts.chosen(start, at) == hand
    assert cuts.chosen(start, start - 1) is None and cuts.chosen(0, len(view)) is None
    reached, total = -1, 0
    for at in reversed(range(start, stop)):
        total += view.weights[at]
        if total >= keep and (keep > 0 or kinds[at] in CONTEXT_KINDS):
            reached = at
            break
    assert walk_back(view, start, stop, keep) == reached
    point = within[0] if within else -1
    if within and reached >= 0:
        last = within[-1] if profile.oversized_tail == "last-cut" else within[0]
        point = next((at for at in within if at >= reached), last)
    assert cuts.find(start, stop, keep) == expected_cut(view, profile, start, point, reached)


@settings(max_examples=60, deadline=None)
@given(SESSIONS, PROFILES, st.integers(0, 6))
def test_the_newest_rounds_are_kept(session: Session, profile: Profile, rounds: int) -> None:
    view = view_of(session.tree, session.leaf, profile)
    cuts, kinds = Cuts(view, profile), [Kind(kind) for kind in view.kinds]
    # Where each round begins: a turn with its first reply, else the reply.
    begins: list[int] = []
    turn = -1
    for at, kind in enumerate(kinds):
        if kind in TURN_START_KINDS:
            turn = at
        elif kind is Kind.ASSISTANT:
            begins.append(at if turn < 0 else turn)
            turn = -1
    begins += [turn] if turn >= 0 else []
    first = cuts.mask.find(1)
    kept = max(1, rounds)
    if first < 0 or kept > len(begins):
        expected = expected_cut(view, profile, 0, first)
    else:
        reached = begins[-kept]
        valid = cuts.between(0, len(view))
        point = next((at for at in valid if at >= reached), valid[-1])
        expected = expected_cut(view, profile, 0, point, reached)
    assert find_by_rounds(cuts, 0, len(view), rounds) == expected


@settings(max_examples=50, deadline=None)
@given(SESSIONS, PROFILES, st.booleans())
def test_weights_and_sizes_are_those_of_the_entries(
    session: Session, profile: Profile, with_tokenizer: bool
) -> None:
    columns = session.tree.columns
    measured = [-1 if at % 3 else at * 2 for at in range(len(session.entries))]
    view = view_of(session.tree, session.leaf, profile, measured if with_tokenizer else None)
    for position, entry in enumerate(view.path):
        if entry in view.again:
            continue
        kind = Kind(columns.kind[entry])
        size = entry_tokens(columns, entry, measured if with_tokenizer else None)
        assert view.shown(position) == size
        size = 0 if kind is Kind.COMPACTION else size
        assert view.sizes[position] == view.size_in_place(position) == size
        if profile.weights == "sent":
            assert view.weights[position] == size
        else:
            known = measured[entry] if with_tokenizer else -1
            plain = columns.estimate[entry] if known < 0 else known
            assert view.weights[position] == (0 if kind in NOT_IN_PI else plain)
        hidden = columns.flags[entry] & (Flag.EXCLUDED | Flag.EMPTY_SUMMARY)
        assert view.sent[position] == (kind in CONTEXT_KINDS and not hidden)
        assert view.turn(position) == sum(view.turns[: position + 1])
    unsent = [at for at, entry in enumerate(view.path) if is_unsent_reply(columns, entry)]
    assert list(view.unsent) == unsent


def test_a_long_path_is_walked_as_a_short_one() -> None:
    session = Session()
    for _ in range(1_100):
        session.user(1, words(2))
    view = view_of(session.tree, session.leaf, EXPLORER)
    for keep in (1, 2, 3, 1_023, 1_024, 1_025, 1_026, 2_047, 2_048, 2_050, 2_199, 2_200):
        assert walk_back(view, 0, 1_100, keep) == 1_100 - (keep + 1) // 2
    assert walk_back(view, 0, 1_100, 2_201) == walk_back(view, 1_000, 1_100, 201) == -1
