"""A simulated walk prunes no result whose note takes as many tokens as the result does."""

from __future__ import annotations

from msgspec.structs import replace

from explorer.audit.simulation import Policy, simulate
from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.pruning import plan_pruning
from tests.compaction.pruned_sessions import used
from tests.compaction.sessions import Session

EVERYTHING = Pruning(
    protect_tokens=0, minimum_savings=0, protected_tools=(), smallest_result=1,
    amount="everything", scope="context",
)  # fmt: skip


def test_results_that_save_nothing_are_left_alone_as_in_the_live_session() -> None:
    session = Session()
    session.user(10)
    small = used(session, "bash", 2)
    large = used(session, "bash", 400)
    session.reply(10)
    session.user(10)
    session.reply(10)
    planned = plan_pruning(session.tree, session.leaf, EVERYTHING)
    assert [one.entry for one in planned.results] == [large]
    profile = replace(PROFILES["explorer"], pruning=EVERYTHING)
    sizes = replace(Settings.of(profile), context_window=500, reserve_tokens=120)
    walk = simulate(session.tree, session.leaf, Policy(profile, sizes))
    pruned = {entry for made in walk.prunes for entry in made.results}
    assert large in pruned
    assert small not in pruned
