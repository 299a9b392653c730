"""Every profile at one place: figures, strips, reasons, and the way back to the map."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint

from explorer.compaction.profile import PROFILES
from explorer.compaction.profile_comparison import compare_profiles
from tests.generated import write_session
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.profiles.compare_window import CompareWindow
from ui.widgets.figures import short


async def compared(live: RunningWindow) -> CompareWindow:
    """The comparison, its reasons found."""
    live.keys("Ctrl+Shift+M")
    window = await live.dialog(CompareWindow)
    await live.until(
        lambda: (
            len(window.cards) >= len(PROFILES)
            and all(c.why.text() and "Looking" not in c.why.text() for c in window.cards.values())
        ),
        "the reasons",
    )
    return window


async def test_every_profile_shows_what_it_would_do(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    window = await compared(live)
    document = live.document
    measured = document.tokens.weights_for(PROFILES["explorer"])
    expected = compare_profiles(
        document.tree, document.leaf, PROFILES.values(), context_window=200_000,
        weights_of=lambda p: measured if p.weights == "sent" else None,
        prompt_of=document.usage.prompt_of,
    )  # fmt: skip
    assert list(window.cards) == list(PROFILES)
    cuts = set()
    for found in expected:
        card = window.cards[found.profile.name]
        assert card.first_kept.text() == f"keeps from #{found.first_kept}"
        assert short(found.whole_before) in card.cells["context"].figure.text()
        assert short(found.whole_after) in card.cells["afterwards"].figure.text()
        assert card.strip._shown is not None
        assert card.strip._shown.verdicts == found.shown.verdicts
        cuts.add(round(card.strip.cut_x()))
    gauge = live.window.header.gauge.text().split(" / ")[0]
    assert window.cards[document.tokens.profile.name].cells["context"].figure.text() == gauge
    assert len(cuts) >= 3, "differences are seen at once"
    assert window.cards["explorer"].in_force.isVisible()
    live.keys("Esc", to=window)
    await live.back()


async def test_why_two_differ_is_said_and_follows_the_reference(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    window = await compared(live)
    assert "Where the next compaction starts" in window.cards["omp"].why.accessibleName()
    assert "silently lost" in window.cards["omp"].why.accessibleName()
    live.choose(window.reference, "omp")
    window.reference.activated.emit(window.reference.currentIndex())
    await live.until(
        lambda: "Where the next compaction starts" in window.cards["explorer"].why.accessibleName(),
        "the reasons against the other",
    )
    assert "Counted back" in window.cards["omp"].why.accessibleName(), "its own reason"
    live.keys("Esc", to=window)
    await live.back()


async def test_a_click_selects_on_the_map_and_a_profile_is_taken(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    window = await compared(live)
    card = window.cards["pi"]
    assert card.outcome is not None
    live.click(card.first_kept)
    assert live.window.map.selected == card.outcome.first_kept
    strip = card.strip
    at = card.outcome.shown.path.position(card.outcome.first_kept) - 3
    x = (strip._scale.starts[at] + strip._scale.starts[at + 1]) / 2 * (strip.width() - 2) + 1
    live.click(strip, QPoint(round(x), strip.height() // 2))
    assert live.window.map.selected == card.outcome.shown.path[at]
    assert "turn prefix" in strip.words_at(at) or "to summarize" in strip.words_at(at)
    strip.setFocus()
    live.keys("Left", "Return", to=strip)
    assert live.window.map.selected != card.outcome.shown.path[at]
    live.click(card.use)
    await live.settle()
    assert live.session.state.profile.name == "pi"
    assert card.in_force.isVisible() and not card.use.isVisible()
    live.keys("Esc", to=window)
    await live.back()


async def test_it_compares_at_the_selected_entry(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    live.click_entry(150)
    window = await compared(live)
    assert "#150," in window.title.text() and "leaf" not in window.title.text()
    live.keys("Esc", to=window)
    await live.back()


async def test_the_profile_in_use_is_compared_with_the_sizes_in_force(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    live.keys("Ctrl+3")
    track = live.window.compaction.setup.keep.track
    before = live.partition.path[live.partition.cut]
    track.setFocus()
    for _ in range(30):
        live.keys("Left", to=track)
    await live.idle()
    cut = live.partition.path[live.partition.cut]
    assert cut != before
    window = await compared(live)
    assert window.cards["explorer"].first_kept.text() == f"keeps from #{cut}"
    assert window.cards["pi"].first_kept.text() != f"keeps from #{cut}", "its own size"
    live.keys("Esc", to=window)
    await live.back()


async def test_a_path_of_ten_thousand_entries_is_compared(house: House, tmp_path: Path) -> None:
    """The counting is done in a thread: the window answers meanwhile."""
    file = tmp_path / "long.jsonl"
    write_session(file, 10_000, branches=False)
    live = await house.start(file)
    await live.idle()
    live.keys("Ctrl+Shift+M")
    window = await live.dialog(CompareWindow)
    live.keys("Esc", to=window)
    await live.back()
    window = await compared(live)
    assert all(card.outcome is not None for card in window.cards.values())
    live.keys("Esc", to=window)
    await live.back()


async def test_an_entry_before_anything_was_said_is_compared_too(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    live.click_entry(0)
    window = await compared(live)
    assert "#0," in window.title.text()
    live.keys("Esc", to=window)
    await live.back()
