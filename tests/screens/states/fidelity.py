"""What a summary lost, and summaries side by side."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tests.screens.stage import Scene
from tests.screens.states.registry import state
from tests.ui.window.steps import draft
from ui.audit.compare.window import DRIFT, FIGURES, SIDES, CompareDraftsWindow
from ui.audit.compare.window import FINDINGS as ALONE
from ui.audit.fidelity.page import FINDINGS, SUMMARY


@state("fidelity-findings", main=True, doubled=True)
async def findings(scene: Scene) -> AsyncIterator[None]:
    await _fidelity(scene, FINDINGS)
    yield


@state("fidelity-source", dark=True, doubled=True)
async def at_the_source(scene: Scene) -> AsyncIterator[None]:
    """The place of a finding in its entry."""
    await _fidelity(scene, FINDINGS)
    live = scene.live
    page = live.session.fidelity.page
    live.click(page.detail.links[0])
    await live.until(live.window.entry.place.isVisible, "the place")
    await live.settle()
    yield


@state("fidelity-summary", dark=True)
async def in_the_summary(scene: Scene) -> AsyncIterator[None]:
    await _fidelity(scene, SUMMARY)
    yield


async def _fidelity(scene: Scene, page: int) -> None:
    live = scene.live
    live.session.fidelity.look_at_entry(105)
    shown = live.session.fidelity.page
    await live.until(lambda: shown.isVisible() and shown.shown is not None, "the audit")
    shown.pages.setCurrentIndex(page)
    await live.until(lambda: page != FINDINGS or shown.detail.excerpt.isVisible(), "the source")
    await live.settle()


@state("summaries-compared", main=True, doubled=True)
async def side_by_side(scene: Scene) -> AsyncIterator[None]:
    await _compare(scene, SIDES)
    yield
    scene.live.keys("Esc")


@state("summaries-findings", doubled=True)
async def findings_of_one(scene: Scene) -> AsyncIterator[None]:
    await _compare(scene, ALONE)
    yield
    scene.live.keys("Esc")


@state("summaries-figures", dark=True, doubled=True)
async def figures(scene: Scene) -> AsyncIterator[None]:
    await _compare(scene, FIGURES)
    yield
    scene.live.keys("Esc")


@state("summaries-generations", doubled=True)
async def generations(scene: Scene) -> AsyncIterator[None]:
    await _compare(scene, DRIFT)
    yield
    scene.live.keys("Esc")


async def _compare(scene: Scene, page: int) -> None:
    live = scene.live
    await draft(live)
    live.press_button("Compare", live.window.compaction)
    window = await live.dialog(CompareDraftsWindow)
    window.trying.instructions.setFocus()
    live.type("Keep every constraint of the user word for word.")
    live.click(window.trying.button)
    await live.until(lambda: len(live.session.fidelity.drafts()) == 2, "the second draft")
    await live.until(
        lambda: (
            window.compared is not None
            and len(window.compared.keys) == 2
            and window.progress.isHidden()
            and window.sections.is_whole
        ),
        "the comparison",
    )
    window.pages.setCurrentIndex(page)
    await live.idle()
