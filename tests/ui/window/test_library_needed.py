"""All sessions: what was needed again after their compactions, worked out, stopped, kept, by all
that it can be seen by, and out of a folder of audits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QLineEdit

from explorer.services.bulk_report import Cost, ManyAudits, Settings
from tests.generated import write_session
from tests.services.test_bulk_report import audit, compaction, written
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from ui.library.needed import SETTINGS, WORST, answer_of
from ui.library.page import LibraryPage

LONG_S = 240
"""Processes begin slowly where others are busy."""

FOLDER = "8 sessions in audits, whatever is listed"
ONE_DONE = "1 session with a compaction worked out, each on its active path"
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
    few = Cost("Codex CLI", 1, 2, said_again=1, read_again=1)
    many = Cost("Claude Code", 9, 12, said_again=3, read_again=12)
    assert answer_of(audits(few, many)) == (
        "Said again most often: once after 2 compactions of Codex CLI. Files read again or "
        "back most often: 12 times after 12 compactions of Claude Code."
    )
    assert answer_of(audits(Cost("Cline", 1, 1))) == (
        "Nothing was found that was said again. No file was found that was read again or back."
    )
    assert answer_of(audits(many)).startswith("Said again: 3 times after 12"), "of one, no most"
    assert answer_of(audits()) == ""
    rules = [Settings("pi", "40k to 80k", "10k to 20k", Cost("", 3, 6, tokens=6_000)),
             Settings("omp", "40k to 80k", "nothing", Cost("", 3, 6, tokens=60_000))]  # fmt: skip
    assert answer_of(audits(few, settings=rules)).endswith(
        " Least was needed again with pi, 40k to 80k before and 10k to 20k kept: 1k tokens for"
        " each compaction."
    )


def audits(*agents: Cost, settings: Sequence[Settings] = ()) -> ManyAudits:
    return ManyAudits(
        9, 0, [], [], Cost(), list(settings), 0, list(agents), [], [], [], [], []
    )  # fmt: skip


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
    rows = [one["row"] for one in figures]
    assert len(rows) == 2 and all(one["status"] == "audited" for one in rows)
    (cells,) = page.needed.table.cells()
    compactions = sum(one["compactions"] for one in rows)
    sums = [sum(one[name] for one in rows) for name in ("needed_again", "said_again", "read_again")]
    assert cells[:3] == ["pi", "2", str(compactions)]
    assert [cell.split(" ")[0] for cell in cells[3:6]] == [f"{one:,}" for one in sums]
    assert page.needed.go_on_link.isHidden() and page.needed.stop_link.isHidden()
    assert f"after {compactions} compactions of pi." in page.needed.answer.text()

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


async def test_each_view_has_its_rows_and_the_costliest_open_at_their_compaction(
    house: House,
) -> None:
    live, page = await opened(house, sample_path())
    live.click(page.totals.needed)
    await live.until(lambda: words(page) == ONE_DONE, "all of it", LONG_S)
    panel = page.needed
    for view in ("models", "profiles", "projects", "weeks"):
        live.choose(panel.view, view)
        cells = panel.table.cells()
        assert sum(int(one[2]) for one in cells) == 2 and all(one[0] for one in cells), view
    assert [one[0] for one in cells] == sorted(one[0] for one in cells)
    live.choose(panel.view, SETTINGS)
    assert "5 compactions yet" in panel.meaning.text() and panel.settings.isHidden()
    live.choose(panel.view, WORST)
    await live.settle()
    assert panel.worst.isVisible() and panel.table.isHidden()
    wanted = panel.worst.rows.at(0).row["compaction"]
    assert panel.worst.cells()[0][0] == live.document.row.title
    panel.worst.setFocus()
    live.keys("Home", "Return", to=panel.worst)
    await live.until(lambda: not page.isVisible(), "the window")
    await live.until(lambda: live.window.map.selected == wanted, "the compaction")


async def choose_folder(live: RunningWindow, folder: Path) -> None:
    dialog = await live.dialog(QFileDialog)
    line = dialog.findChild(QLineEdit, "fileNameEdit")
    assert line is not None
    line.selectAll()
    live.type(str(folder), to=line)
    live.keys("Return", to=line)


async def test_the_audits_of_a_folder_are_shown_in_place_of_what_is_listed(
    house: House, tmp_path: Path
) -> None:
    live, page = await opened(house, sample_path())
    session_id = live.document.row.session_id
    many = written(
        tmp_path / "audits",
        # Another database, where the session has another number.
        audit(71, compaction(71, 188, 5_000, agent="Aider"), id=session_id, agent="Aider"),
        audit(72, compaction(72, 40, 300, needed_again_usd=None), compaction(72, 90, 0)),
        *(audit(n, compaction(n, 40, 10)) for n in range(80, 86)),
    )
    live.click(page.totals.needed)
    live.click(page.needed.folder_link)
    await choose_folder(live, many)
    panel = page.needed
    await live.until(
        lambda: words(page) == "8 sessions in audits, whatever is listed", "the folder"
    )
    named = {cells[0]: cells for cells in panel.table.cells()}
    assert named["Aider"][1:4] == ["1", "1", "1 (1.00)"] and named["Aider"][7] == "≈$0.0050"
    assert named["pi"][1:4] == ["7", "8", "7 (0.88)"] and named["pi"][7] == "≥$0.0001"
    by_compactions = panel.table.rows.column("Compactions")
    panel.table.sort_by(by_compactions)
    assert [cells[0] for cells in panel.table.cells()] == ["pi", "Aider"]
    live.choose(panel.view, SETTINGS)
    assert [cells[:4] for cells in panel.settings.cells()] == [
        ["pi 0.73", "80k to 160k", "10k to 20k", "9"]
    ]
    live.choose(panel.view, WORST)
    panel.worst.setFocus()
    live.keys("Down", "Return", to=panel.worst)
    await live.until(lambda: page.notice.notice is not None, "that it is not here")
    assert page.notice.notice is not None
    assert "session-explorer open 72" in page.notice.notice.safe
    live.keys("Home", "Return", to=panel.worst)
    await live.until(lambda: live.window.map.selected == 188, "the session of that id")

    live.keys("Ctrl+Shift+O")
    await live.until(page.isVisible, "all sessions")
    live.click(panel.folder_link)
    await live.until(lambda: words(page) == ONE_DONE, "what is listed", LONG_S)

    empty = tmp_path / "nothing"
    empty.mkdir()
    live.click(panel.folder_link)
    await choose_folder(live, empty)
    await live.until(lambda: "holds no audits" in live.words(page), "the reason")
    assert words(page) == ONE_DONE
