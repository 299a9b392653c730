"""All sessions: what was needed again after their compactions, worked out, stopped, kept."""

from __future__ import annotations

from pathlib import Path

from explorer.services.bulk_audit import AgentNeeds
from tests.generated import write_session
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.library.needed import answer_of
from ui.library.page import LibraryPage

LONG_S = 240
"""Processes begin slowly where others are busy."""

ALL_DONE = "2 sessions with a compaction worked out, each on its active path"


async def opened(house: House, *files: Path) -> tuple[RunningWindow, LibraryPage]:
    """A window with sessions, and all of them in their own window, added up."""
    live = await house.start()
    live.drop(*files)
    await live.until(lambda: live.has_document, "the sessions")
    await live.idle()
    live.keys("Ctrl+Shift+O")
    page = await live.dialog(LibraryPage)
    await live.until(lambda: page.totals.needed.isEnabled(), "the sums")
    return live, page


def test_the_agent_after_whose_compactions_the_most_was_said_again_is_named() -> None:
    few, many = AgentNeeds("Codex CLI", 1, 2, 1, 1), AgentNeeds("Claude Code", 9, 12, 3, 12)
    assert answer_of([few, many]) == (
        "Said again most often: once after 2 compactions of Codex CLI."
        " Files read again most often: 12 times after 12 compactions of Claude Code."
    )
    assert answer_of([AgentNeeds("Cline", 1, 1)]) == (
        "Nobody said anything again. No file was read again."
    )
    assert answer_of([]) == ""


def words(page: LibraryPage) -> str:
    return page.needed.words.text()


async def test_what_was_needed_again_is_worked_out_by_agent_and_kept(
    house: House, tmp_path: Path
) -> None:
    long = write_session(tmp_path / "long.jsonl", 1500)
    live, page = await opened(
        house, long, write_session(tmp_path / "short.jsonl", 20), sample_path()
    )
    page.totals.needed.setFocus()
    live.keys("Return", to=page.totals.needed)
    await live.until(lambda: words(page) == ALL_DONE, "all of it", LONG_S)
    bench = live.session.state.bench
    assert bench is not None
    kept = bench.store.audits()
    figures = [figures for _, figures in kept.values()]
    assert len(figures) == 2 and all(one["status"] == "audited" for one in figures)
    (cells,) = page.needed.table.cells()
    compactions = sum(one["compactions"] for one in figures)
    said, read, every = (
        sum(one[name] for one in figures) for name in ("said_again", "read_again", "needed_again")
    )
    assert cells[:3] == ["pi", "2", str(compactions)]
    assert [cell.split(" ")[0] for cell in cells[3:6]] == [
        str(said), f"{read:,}", f"{every - said - read:,}"
    ]  # fmt: skip
    assert page.needed.go_on_link.isHidden() and page.needed.stop_link.isHidden()
    assert page.needed.answer.text().endswith(f"after {compactions} compactions of pi.")

    live.keys("Escape", to=page.needed.table)
    assert page.needed.isHidden() and page.totals.needed.hasFocus()
    live.keys("Return", to=page.totals.needed)
    await live.until(lambda: not page.needed.isHidden(), "the panel again")
    assert words(page) == ALL_DONE, "without working it out again"
    assert bench.store.audits() == kept

    page.filters.line.setFocus()
    live.type("no such session", to=page.filters.line)
    await live.until(lambda: words(page) == "None of these sessions has a compaction.", "none")
    assert page.needed.table.isHidden()


async def test_it_says_how_much_is_worked_out_when_it_is_stopped(
    house: House, tmp_path: Path
) -> None:
    long = write_session(tmp_path / "long.jsonl", 1500)
    live, page = await opened(house, long, sample_path())
    live.click(page.totals.needed)
    await live.until(lambda: page.needed.stop_link.isVisible(), "the work")
    live.click(page.needed.stop_link)
    await live.until(lambda: page.needed.go_on_link.isVisible(), "its end")
    assert words(page).endswith("of 2 sessions with a compaction worked out")
    await live.idle()
    live.click(page.needed.go_on_link)
    await live.until(lambda: words(page) == ALL_DONE, "the rest", LONG_S)
