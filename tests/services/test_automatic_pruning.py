"""Old results that give way before a compaction is decided, over HTTP (A13)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import CancelToken
from explorer.services.changes import (
    CompactionEnded,
    CompactionStarted,
    PruneMade,
)
from explorer.session.kinds import Kind
from tests.models.server import OVERFLOW, Answer, ChatServer
from tests.pi_json import entry_body
from tests.services.automatic_rig import (
    MODEL,
    ROOM,
    SETTINGS,
    Desk,
    asked,
    client,
    desk,
    server,
    wait,
    workspace,
)

__all__ = ["client", "desk", "server", "workspace"]

# pruning ----------------------------------------------------------------------------------------


async def fill(desk: Desk, results: int) -> None:
    """Rounds of a command whose output takes about 10,000 tokens each."""
    document = desk.document
    for number in range(results):
        call = {"type": "toolCall", "id": f"run-{number}", "name": "bash", "arguments": {}}
        for message in (
            {"role": "user", "content": "Run it again."},
            {"role": "assistant", "content": [call], "stopReason": "toolUse"},
            {
                "role": "toolResult", "toolCallId": f"run-{number}", "toolName": "bash",
                "content": [{"type": "text", "text": f"run {number} " + "line\n" * 8_000}],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "Ran."}],
             "stopReason": "stop"},
        ):  # fmt: skip
            await document.writer.append(entry_body("message", message=message), document.leaf)


@pytest.mark.parametrize("name", ["omp", "explorer"])
def test_a13_old_results_give_way_before_it_is_decided_and_may_be_enough(
    desk: Desk, server: ChatServer, name: str
) -> None:
    """E7: the size is counted anew after a prune; what the provider said before is stale."""
    settings = Settings(context_window=150_000, reserve_tokens=20_000, keep_recent_tokens=2_000)
    profile = replace(PROFILES[name], auto_continue=False, short_summary=False)
    desk.change(profile=profile, settings=settings, auto_continue=False)
    wait(fill(desk, 9))
    full = {"prompt_tokens": 131_000, "completion_tokens": 9, "total_tokens": 131_009}
    server.plan(Answer(text="Yes.", usage=full), model="test-model")
    desk.change(enabled=False)
    wait(desk.say("Is it done?"))
    desk.change(enabled=True)
    wait(desk.automatic.before_message(MODEL, CancelToken()))
    (prune,) = [change for change in desk.told if isinstance(change, PruneMade)]
    assert prune.saved >= 20_000
    assert desk.document.tree.kind(prune.entry) is Kind.CUSTOM
    assert not desk.started, "pruning was enough"
    server.plan(Answer(text="On.", usage=ROOM), model="test-model")
    wait(desk.say("Go on."))
    assert "Output truncated" in str(asked(server, "test-model")[-1])


def test_a13_a_prune_that_is_not_enough_is_followed_by_a_compaction(
    desk: Desk, server: ChatServer
) -> None:
    settings = Settings(context_window=45_000, reserve_tokens=5_000, keep_recent_tokens=2_000)
    desk.change(profile=PROFILES["explorer"], settings=settings)
    wait(fill(desk, 9))
    wait(desk.say("Is it done?"))
    kinds = [type(change) for change in desk.told
             if isinstance(change, PruneMade | CompactionStarted)]  # fmt: skip
    assert kinds == [PruneMade, CompactionStarted]


def test_c3_a_prune_that_was_taken_back_is_not_made_again(desk: Desk) -> None:
    desk.change(profile=PROFILES["omp"], settings=replace(SETTINGS, context_window=1_000_000))
    wait(fill(desk, 9))
    wait(desk.say("Is it done?"))
    wait(desk.say("And now?"))
    assert len([change for change in desk.told if isinstance(change, PruneMade)]) == 1
    wait(desk.document.edits.undo_prune())
    wait(desk.say("And then?"))
    wait(desk.say("And now?"))
    assert len([change for change in desk.told if isinstance(change, PruneMade)]) == 1
    assert "taken back" in desk.automatic.resting


def test_e18_off_prunes_nothing_by_itself(desk: Desk) -> None:
    desk.change(profile=PROFILES["omp"], enabled=False)
    wait(fill(desk, 9))
    wait(desk.say("Is it done?"))
    assert not [change for change in desk.told if isinstance(change, PruneMade)]


def test_a10_a_recovery_prunes_before_it_compacts(desk: Desk, server: ChatServer) -> None:
    desk.change(profile=PROFILES["explorer"], settings=replace(SETTINGS, context_window=400_000))
    wait(fill(desk, 9))
    server.plan(OVERFLOW, Answer(text="Here.", usage=ROOM), model="test-model")
    result = wait(desk.say("Where?"))
    assert result.end == "done"
    assert [type(c) for c in desk.told if isinstance(c, PruneMade | CompactionEnded)] == [
        PruneMade,
        CompactionEnded,
    ]
