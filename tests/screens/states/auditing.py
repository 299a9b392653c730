"""The audit: the ledger, losses with their causes, survival, branch summaries."""

from __future__ import annotations

from collections.abc import AsyncIterator

from explorer.audit.ledger import LedgerVerdict
from tests.screens.stage import Scene
from tests.screens.states.registry import state
from tests.ui.window.running import RunningWindow
from tests.ui.window.test_audit import losing
from ui.audit.tab import BRANCHES, LEDGER, LOSSES, SURVIVAL


async def audited(live: RunningWindow) -> None:
    """Open the tab and wait for the audit."""
    control = live.session.audit
    live.keys("Ctrl+4")
    await live.until(lambda: not control.busy and control.overview is not None, "the audit")
    await live.idle()


async def with_losses(scene: Scene) -> RunningWindow:
    """Open a session whose second compaction dropped what the first one had kept."""
    live = scene.live
    before = live.document.key
    live.drop(losing(scene.home))
    await live.until(lambda: live.document.key != before, "the session")
    await live.idle()
    await audited(live)
    return live


def turn(live: RunningWindow, title: str) -> None:
    """Turn to a page by its button."""
    tab = live.window.audit
    live.click(tab.bar.button(list(tab.titles()).index(title)))


def choose_summarized(live: RunningWindow) -> None:
    """Choose an entry that only a summary tells of."""
    ledger = live.window.audit.ledger.shown
    assert ledger is not None
    row = ledger.rows_of(LedgerVerdict.IN_THIS_SUMMARY)[0]
    live.window.map.select(ledger.entries[row])


@state("audit-needed-again", main=True, doubled=True)
async def needed_again(scene: Scene) -> AsyncIterator[None]:
    await audited(scene.live)
    page = scene.live.window.audit.needed
    await scene.live.until(lambda: page.model.rows, "what was needed again")
    page.table.selectRow(1)
    yield


@state("audit-ledger", main=True, doubled=True)
async def ledger(scene: Scene) -> AsyncIterator[None]:
    await audited(scene.live)
    turn(scene.live, LEDGER)
    choose_summarized(scene.live)
    yield


@state("audit-lost")
async def lost(scene: Scene) -> AsyncIterator[None]:
    live = await with_losses(scene)
    turn(live, LEDGER)
    live.click(live.window.audit.ledger.legend.item(str(int(LedgerVerdict.LOST))))
    await live.settle()
    live.window.audit.ledger.table.selectRow(0)
    yield


@state("audit-losses", main=True, doubled=True)
async def losses(scene: Scene) -> AsyncIterator[None]:
    turn(await with_losses(scene), LOSSES)
    yield


@state("audit-survival", main=True, doubled=True)
async def survival(scene: Scene) -> AsyncIterator[None]:
    live = await with_losses(scene)
    turn(live, SURVIVAL)
    live.window.audit.strip.canvas.setFocus()
    live.keys("Left", "Right")
    yield


@state("audit-branches", main=True)
async def branches(scene: Scene) -> AsyncIterator[None]:
    await audited(scene.live)
    turn(scene.live, BRANCHES)
    yield


@state("entry-verdict", dark=True)
async def verdict(scene: Scene) -> AsyncIterator[None]:
    live = scene.live
    await audited(live)
    choose_summarized(live)
    live.keys("Ctrl+1")
    yield
