"""Walks of sessions that a person shaped: every size is the one that the session itself would have
had, if it had been compacted and pruned as the walk says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from explorer.audit.simulation import KnownRun, Policy, Simulation, past_of, simulate
from explorer.compaction.context_size import counted_size, sizes_around
from explorer.compaction.preparation import Preparation, prepare
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import prune_note
from explorer.formats.pi.entries import read_entry
from explorer.session.context import context_at
from explorer.session.describe import describe
from explorer.session.edits import heading_of
from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree
from tests.audit.test_simulation import Checked, weights_of
from tests.compaction.sessions import Session
from tests.compaction.test_shaping_properties import SESSIONS, STEPS, build, custom

PLAIN = [profile for profile in PROFILES.values() if profile.prompt_budget is None]
EAGER = Pruning(
    protect_tokens=20, minimum_savings=10, superseded_first=True, useless=True,
    current_reads="kept", amount="needed", scope="context", protected_tools=(),
)  # fmt: skip
GREEDY = Pruning(protect_tokens=20, minimum_savings=10, protected_tools=())
PRUNINGS = st.sampled_from([None, EAGER, GREEDY])
PRUNED_ONLY = [("user", 0), ("user", 40), ("tools", 40), ("pin", 4), ("rule", 30), ("reply", 0)]
"""Too large for a small window, with a result to prune and nothing to summarize."""


class Twin(SessionTree):
    """A session with what a walk added to it. Entries keep the numbers that they had."""

    def __init__(self, session: Session, walk: Simulation) -> None:
        super().__init__()
        self._numbers: list[int] = []
        self.at: dict[int, int] = {}
        """Where each entry of the session is."""
        self.compactions: list[int] = []
        tokens = session.tree.columns.estimate
        for entry, said in enumerate(session.entries):
            if session.tree.kind(entry) is Kind.COMPACTION or entry in session.tree.columns.prunes:
                continue
            self.at[entry] = self._put(said["id"], said, tokens[entry], entry)
            for pruned in walk.prunes:
                if pruned.entry == entry:
                    self._prune(session, pruned.results, tokens)
            users = walk.policy.profile.keep_user_tokens
            for number, made in enumerate(walk.compactions):
                if made.entry == entry:
                    self._compact(number, users, made.first_kept, made.summary)

    def number(self, index: int) -> int:
        return self._numbers[index]

    def _put(self, name: str, entry: dict[str, Any], tokens: int, number: int = -1) -> int:
        self._numbers.append(number)
        return self.append(name, len(self) - 1, describe(read_entry(entry)), tokens)

    def _prune(self, session: Session, results: tuple[int, ...], tokens: Any) -> None:
        data = [
            {"id": f"e{at}", "tokens": tokens[at], "text": prune_note(tokens[at])} for at in results
        ]
        entry = {
            "type": "custom",
            "customType": "session-explorer/prune",
            "data": {"results": data},
        }
        self._put(f"p{len(self)}", entry, 0)

    def _compact(self, number: int, users: int, kept: int, summary: int) -> None:
        entry = {
            "type": "compaction", "summary": "said", "tokensBefore": 1,
            "firstKeptEntryId": f"e{kept}" if kept >= 0 else "",
            "details": {"keepUserMessages": users},
        }  # fmt: skip
        self.compactions.append(self._put(f"c{number}", entry, summary))


def policy_of(profile: Profile, window: int, keep: int, **more: Any) -> Policy:
    changed = replace(profile, **more)
    sizes = replace(
        Settings.of(changed), context_window=window, reserve_tokens=window // 4,
        keep_recent_tokens=keep,
    )  # fmt: skip
    return Policy(changed, sizes)


def hold_to_the_engine(session: Session, policy: Policy) -> Simulation:
    """Every prompt and every compaction of a walk, held to the session as it would have been."""
    walk = simulate(session.tree, session.leaf, policy)
    twin, profile = Twin(session, walk), policy.profile
    for reply, sent in zip(walk.requests.entries, walk.requests.sent, strict=True):
        leaf = twin.at[reply] - 1
        assert sent == counted_size(twin, context_at(twin, leaf), profile)
    for made, entry in zip(walk.compactions, twin.compactions, strict=True):
        assert made.before == counted_size(twin, context_at(twin, entry - 1), profile)
        assert made.after == counted_size(twin, context_at(twin, entry), profile)
        if profile.keep_recent_scale == "none":
            real = prepare(twin, entry - 1, profile, policy.settings)
            assert isinstance(real, Preparation)
            while real.first_kept not in twin.at.values():
                real = replace(real, first_kept=real.first_kept + 1)
            assert real.first_kept == twin.at[made.first_kept]
            assert made.messages == len(real.history) + len(real.turn_prefix)
    return walk


@settings(max_examples=150, deadline=None)
@given(
    SESSIONS,
    st.sampled_from(PLAIN),
    st.sampled_from([90, 200]),
    st.sampled_from([5, 20, 60]),
    PRUNINGS,
    st.sampled_from([0, 25, 300]),
)
@example(build(PRUNED_ONLY), PROFILES["pi"], 90, 60, GREEDY, 0)
def test_every_size_is_the_sessions_own(
    session: Session, base: Profile, window: int, keep: int, pruning: Pruning | None, users: int
) -> None:
    policy = policy_of(base, window, keep, pruning=pruning, keep_user_tokens=users)
    hold_to_the_engine(session, policy)
    Checked(past_of(session.tree, session.leaf), policy).done()


@pytest.mark.parametrize("replied", [False, True])
def test_a_pin_between_two_new_starts_takes_its_change_along(replied: bool) -> None:
    """What was told again is not after the second: a report from before counts as it did."""
    reply = [("reply", 0)] if replied else []
    starts = [("reset", 0), ("pin", 1), ("reset", 0)]
    session = build([("user", 0), *reply, *starts, ("user", 1), ("reply", 0)])
    policy = policy_of(PROFILES["omp"], 90, 5, pruning=None)
    Checked(past_of(session.tree, session.leaf), policy).done()


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=30, max_size=60).map(build), st.sampled_from([0, 300]))
def test_long_sessions_are_compacted_many_times(session: Session, users: int) -> None:
    policy = policy_of(PROFILES["explorer"], 80, 10, pruning=EAGER, keep_user_tokens=users)
    hold_to_the_engine(session, policy)


@settings(max_examples=100, deadline=None)
@given(SESSIONS, st.booleans())
def test_what_was_recorded_counts_what_was_shaped(session: Session, is_measured: bool) -> None:
    """The sizes around a compaction are those that are shown of it everywhere."""
    tree = session.tree
    weights = weights_of(tree) if is_measured else None
    for made in past_of(tree, session.leaf, known=KnownRun(weights=weights)).recorded.compactions:
        compaction = next(
            at for at in range(made.entry + 1, len(tree)) if tree.kind(at) is Kind.COMPACTION
        )
        assert (made.before, made.after) == sizes_around(tree, compaction, weights)


def talk(turns: int = 12) -> Session:
    session = Session()
    for _ in range(turns):
        session.user(10)
        session.reply(10)
    return session


def test_pins_and_omissions_hold_from_where_they_were_made() -> None:
    plain, policy = talk(), policy_of(PROFILES["explorer"], 100, 20)
    first = hold_to_the_engine(plain, policy).compactions[0]
    pinned, omitted, undone = talk(3), talk(3), talk(3)
    custom(pinned, "pin", entries=[{"id": "e0"}])
    custom(omitted, "omit", entries=["e0"])
    by = custom(undone, "pin", entries=[{"id": "e0"}])
    custom(undone, "pin", undoes=f"e{by}")
    sizes = {}
    for name, session in (("pin", pinned), ("omit", omitted), ("undone", undone)):
        for _ in range(9):
            session.user(10)
            session.reply(10)
        sizes[name] = hold_to_the_engine(session, policy).compactions[0]
    assert sizes["undone"].after == first.after
    assert sizes["pin"].after > first.after + 10
    assert sizes["omit"].request == first.request or sizes["omit"].entry > first.entry


def test_the_users_messages_are_kept_to_the_budget() -> None:
    session, policy = talk(3), policy_of(PROFILES["explorer"], 200, 20)
    rule = custom(session, "keep-user-messages", tokens=60)
    for _ in range(12):
        session.user(10)
        session.reply(10)
    kept = hold_to_the_engine(session, policy).compactions[0]
    custom(session, "keep-user-messages", undoes=f"e{rule}")
    plain = hold_to_the_engine(talk(15), policy).compactions[0]
    assert plain.after < kept.after <= plain.after + 60


@pytest.mark.parametrize("name", list(PROFILES))
def test_an_omission_leaves_what_was_before_it_in_the_cache(name: str) -> None:
    session = talk(6)
    for at in range(len(session.tree)):
        session.tree.columns.time[at] = 1_000 + at
    custom(session, "omit", entries=["e4"])
    session.user(10)
    session.reply(10)
    found = simulate(session.tree, session.leaf, policy_of(PROFILES[name], 100_000, 20)).requests
    assert list(found.cached[-2:]) == [found.sent[-3], 40]
    assert found.sent[-1] == found.sent[-2] + 20 - 10


def test_a_result_is_omitted_with_its_call_also_when_it_comes_later() -> None:
    session, policy = talk(2), policy_of(PROFILES["explorer"], 100_000, 20)
    call = session.reply(5, calls=[("read", "a.py")])
    custom(session, "omit", entries=[f"e{call}"])
    session.result(30, call=f"c{call}.0")
    session.reply(10)
    walk = hold_to_the_engine(session, policy)
    assert walk.requests.sent[-1] == 40


def test_what_is_told_again_is_told_by_its_own_number() -> None:
    """The compaction that was recorded is not in the walk; the entries after it keep their numbers,
    and a heading may be longer for that."""
    session = talk(4)
    session.user(10)
    session.compaction(kept=8)
    pinned = session.reply(10)
    heading = heading_of(session.tree, pinned, "pin")
    assert len(heading) > len(heading_of(session.tree, pinned - 3, "pin"))
    custom(session, "pin", entries=[{"id": f"e{pinned}"}])
    for _ in range(5):
        session.user(10)
        session.reply(10)
    walk = hold_to_the_engine(session, policy_of(PROFILES["explorer"], 240, 20))
    assert walk.compactions
