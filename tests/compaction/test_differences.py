"""What differs between the five systems on two real pieces of work, and why, by their documents.

Each cut is found again here in a few plain lines over the entries' JSON, as the system's document
tells it, and not by the functions under test.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from explorer.compaction.profile import PROFILES
from explorer.compaction.profile_comparison import ProfileOutcome, causes, compare_profiles
from explorer.formats.pi.entries import read_entry, read_usage
from explorer.settings import paths
from explorer.tokens.estimate import estimate_entry
from tests.conformance.vectors import Vector, load_session

SAMPLE = paths.resource_path("samples", "retry-that-flakes.jsonl")
EXPLORER = PROFILES["explorer"]


@lru_cache(maxsize=2)
def _session(path: Path) -> Vector:
    return load_session(path)


def _sessions() -> list[Any]:
    found = [pytest.param(SAMPLE, id="sample")]
    named = os.environ.get("EXPLORER_CONFORMANCE_DIR")
    real = Path(named) / "real-session-a.jsonl" if named else None
    if real is not None and real.exists():
        return [*found, pytest.param(real, id="real-session-a")]
    why = "EXPLORER_CONFORMANCE_DIR names no directory with real-session-a.jsonl"
    return [*found, pytest.param(None, id="real-session-a", marks=pytest.mark.skip(why))]


@pytest.fixture(params=_sessions())
def told(request: pytest.FixtureRequest) -> Told:
    return Told(_session(request.param))


class Told:
    """The entries of the active path as plain JSON, and the five outcomes at its leaf."""

    def __init__(self, session: Vector) -> None:
        tree = session.tree
        self.session, self.leaf = session, session.leaf
        self.path = tree.path(self.leaf).indices()
        self.entries = [session.entries[at] for at in self.path]
        found = compare_profiles(tree, self.leaf, PROFILES.values(), prompt_of=session.prompt_of)
        self.outcomes: dict[str, ProfileOutcome] = {one.profile.name: one for one in found}

    def first_kept(self, name: str) -> int:
        """The position of the first kept entry under a profile."""
        return self.path.index(self.outcomes[name].first_kept)

    def causes(self, name: str) -> set[str]:
        tree, profile = self.session.tree, PROFILES[name]
        found = causes(tree, self.leaf, profile, EXPLORER, prompt_of=self.session.prompt_of)
        return {cause.key for cause in found}

    def role(self, at: int) -> str:
        entry = self.entries[at]
        return str(entry["message"]["role"]) if entry["type"] == "message" else entry["type"]

    def last(self, entry_type: str) -> int:
        return max(
            (at for at, entry in enumerate(self.entries) if entry["type"] == entry_type), default=-1
        )

    def walked(self, keep: int) -> int:
        """Back from the newest message until enough is kept, then on to where a cut is valid."""
        total = 0
        for at in range(len(self.entries) - 1, -1, -1):
            if self.entries[at]["type"] != "message":
                continue
            total += estimate_entry(read_entry(self.entries[at]))
            if total >= keep:
                while self.role(at) not in ("user", "assistant", "bashExecution"):
                    at += 1
                return at
        return -1


def test_explorer_and_pi_keep_the_last_20_000_tokens(told: Told) -> None:
    """A15: at least so many, and the cut at the next message that is no tool result."""
    cut = told.walked(20_000)
    assert told.first_kept("explorer") == told.first_kept("pi") == cut
    # None of the faults that pi keeps shows on these two: both are told and kept alike.
    one, other = told.outcomes["explorer"], told.outcomes["pi"]
    assert one.shown.verdicts == other.shown.verdicts
    assert told.causes("pi") == set()


def test_pyagent_keeps_less_because_its_document_says_16_384(told: Told) -> None:
    assert told.first_kept("pyagent") == told.walked(16_384)
    assert told.causes("pyagent") == {"keep_recent_tokens"}
    # Its reserve is half of the others', so it starts later.
    assert told.outcomes["pyagent"].limit == 200_000 - 8_192


def test_omp_keeps_less_because_the_provider_counted_more_than_the_estimate(told: Told) -> None:
    """B18: what was said since the last compaction, estimated, against the last prompt."""
    since = told.last("compaction") + 1
    estimated = sum(
        estimate_entry(read_entry(entry))
        for entry in told.entries[since:]
        if entry["type"] in ("message", "branch_summary")
    )
    usage = next(
        entry["message"]["usage"]
        for entry in reversed(told.entries)
        if entry["type"] == "message" and entry["message"].get("usage")
        and entry["message"]["stopReason"] not in ("error", "aborted")
    )  # fmt: skip
    read = read_usage(usage)
    assert read is not None
    ratio = read.prompt / estimated
    assert ratio > 1
    assert told.first_kept("omp") == told.walked(int(20_000 / ratio))
    assert told.first_kept("omp") > told.first_kept("explorer")
    assert "keep_recent_scale" in told.causes("omp")


def test_omp_starts_after_the_last_compaction_and_loses_what_that_kept(told: Told) -> None:
    """B1: told by its documents; on a session without a compaction nothing is lost."""
    last = told.last("compaction")
    omp = told.outcomes["omp"]
    if last < 0:
        assert omp.lost == 0
        # Replies that were stopped are in this one: it counts them among what is sent.
        assert told.causes("omp") == {"keep_recent_scale", "weights"}
        return
    kept_from = told.session.index(told.entries[last]["firstKeptEntryId"])
    messages = ("message", "custom_message", "branch_summary")
    kept = [at for at in range(told.path.index(kept_from), last)
            if told.entries[at]["type"] in messages]  # fmt: skip
    # And the summary itself: only a split turn's beginning is left to summarize (B7).
    assert omp.messages == omp.turn_prefix
    assert omp.lost == len(kept) + 1
    assert told.outcomes["explorer"].lost == 0
    assert told.causes("omp") == {"keep_recent_scale", "boundary", "prefix_only"}


def test_omp_is_due_earlier_because_its_reserve_is_a_share_of_the_window(told: Told) -> None:
    omp, pi = told.outcomes["omp"], told.outcomes["pi"]
    assert (omp.limit, pi.limit) == (170_000, 183_616)
    assert omp.is_due == (omp.tokens_before > 170_000)


def test_copilot_keeps_the_last_round_alone_however_small_it_is(told: Told) -> None:
    """A49: the newest reply; its turn has others before it, so it is left out of the summary."""
    newest = max(at for at in range(len(told.entries)) if told.role(at) == "assistant")
    turn = max(at for at in range(newest) if told.role(at) == "user")
    assert any(told.role(at) == "assistant" for at in range(turn, newest))
    assert told.first_kept("copilot") == newest
    copilot = told.outcomes["copilot"]
    assert copilot.tokens_after < told.outcomes["pyagent"].tokens_after
    assert told.causes("copilot") == {"cut_unit", "split"}


def test_copilot_alone_summarizes_a_split_turn_in_one(told: Told) -> None:
    """A20 against A49: all five cut inside a turn here."""
    prefixes = {name: one.turn_prefix for name, one in told.outcomes.items()}
    assert all(one.is_split_turn for one in told.outcomes.values())
    assert prefixes.pop("copilot") == 0
    assert all(prefixes.values())


def test_all_look_at_the_same_report_and_the_corrected_ones_count_alike(told: Told) -> None:
    """A7: the last reply is the newest entry that was counted, so nothing is left to estimate."""
    sent = [told.outcomes[name].context_tokens for name in ("explorer", "pyagent", "copilot")]
    assert len(set(sent)) == 1
    assert sent[0] <= told.outcomes["pi"].context_tokens
    assert {one.tokens_before for one in told.outcomes.values()} == {
        told.outcomes["omp"].tokens_before
    }
