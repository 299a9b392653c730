"""What a first walk through the window stumbled over."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from explorer.session.entries import UserMessage, text_content
from explorer.session.kinds import Flag, Kind
from tests.generated import write_session
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import choose_file, commit, draft, open_sample
from ui import theme
from ui.library.controller import AS_PI_3
from ui.library.search import WORDS_NEEDED
from ui.map.pane import Shown
from ui.shell.command_palette import CommandPalette


async def two_sessions(house: House, folder: Path) -> RunningWindow:
    """The bundled session is open, another one is in the library."""
    other = folder / "other.jsonl"
    write_session(other, 40)
    live = await house.start(session=other)
    await live.idle()
    live.window.library.import_requested.emit()
    await choose_file(live, sample_path())
    await live.until(lambda: len(live.document.tree) > 100, "the bundled session")
    await live.idle()
    return live


def other_key(live: RunningWindow) -> int:
    bench = live.session.state.bench
    assert bench is not None
    return next(row.key for row in bench.sessions() if row.key != live.document.key)


async def test_a_search_ends_with_its_session(house: House, tmp_path: Path) -> None:
    live = await two_sessions(house, tmp_path)
    live.keys("/")
    live.type("the")
    await live.until(lambda: " / " in live.window.header.search.count.text(), "hits")
    first = live.document
    live.session.sessions.open(other_key(live))
    await live.until(lambda: live.document is not first, "the other session")
    await live.idle()
    assert live.window.map.selected == live.document.leaf
    search = live.window.header.search
    assert (search.box.text(), search.count.text()) == ("", "")
    assert not live.window.map.model.hits and not search.results.isVisible()


async def test_hits_of_the_session_are_listed_and_errors_found_without_words(
    house: House,
) -> None:
    live = await house.start(sample_path())
    search = live.window.header.search
    before = search.geometry()
    live.keys("/")
    live.type("retry")
    await live.until(search.results.isVisible, "the list of hits")
    assert search.geometry() == before, "the counter does not move the header"
    rows = search.results.table.rows.rows
    assert search.results.table.current.entry == live.window.map.selected
    line = rows[0].line
    assert {line[start:end].lower() for start, end in rows[0].marks} == {"retry"}
    assert " 2026, " in rows[0].where and rows[0].where.endswith(f"#{rows[0].entry}")
    live.keys("Return")
    assert search.results.table.current.entry == live.window.map.selected
    place = search.results.table.rows.index(0, 0)
    search.results.table.scrollTo(place)
    table = search.results.table
    live.click(table.viewport(), table.visualRect(place).center())
    assert live.window.map.selected == rows[0].entry
    assert not search.results.isVisible()
    live.keys("/", "Delete")
    live.click(search.errors)
    await live.until(search.results.isVisible, "the errors")
    columns = live.document.tree.columns
    found = [one.entry for one in search.results.table.rows.rows]
    recorded = [at for at in range(len(columns.flags)) if columns.flags[at] & Flag.ERROR]
    # Piped through grep or tail, so that a failing run ended well.
    printed = [11, 12, 55, 91, 122, 210, 215, 220, 232, 233, 238, 243, 270]
    assert found == sorted({*recorded, *printed})
    live.type("wake", to=search.box)
    await live.until(lambda: 0 < len(search.results.table.rows.rows) < len(found), "fewer")
    with_words = {one.entry for one in search.results.table.rows.rows}
    assert 91 in with_words <= set(found)
    live.click(search.everywhere)
    rows = search.results.table.rows
    await live.until(lambda: rows.rows and all(one.session for one in rows.rows), "all sessions")
    await live.until(lambda: {one.entry for one in rows.rows} == with_words, "the same of them")
    live.keys("Ctrl+A", "Delete", to=search.box)
    caption = search.results.caption
    await live.until(lambda: caption.text() == WORDS_NEEDED, "what to do")
    assert search.results.isVisible() and not rows.rows


async def test_an_entry_is_found_by_its_number_and_a_result_by_the_title_of_its_row(
    house: House,
) -> None:
    live = await house.start(sample_path())
    search, view = live.window.header.search, live.window.map.view
    live.keys("/")
    live.type("#42")
    live.keys("Return")
    await live.until(lambda: live.window.map.selected == 42, "the entry of that number")
    shown = view.viewport().rect().contains
    await live.until(lambda: shown(view.row_rect(42).center().toPoint()), "its row in sight")
    live.keys("Ctrl+A")
    live.type("#99999")
    last = len(live.document.tree) - 1
    caption = search.results.caption
    await live.until(lambda: f"#0 to #{last}" in caption.text(), "what numbers there are")
    assert search.results.isVisible() and not search.results.table.rows.rows
    live.keys("Ctrl+A")
    live.type("retry.py")
    await live.until(lambda: bool(search.results.table.rows.rows), "the hits")
    await live.idle()
    columns = live.document.tree.columns
    results = [at for at in range(len(columns.kind)) if columns.kind[at] == Kind.TOOL_RESULT]
    titles = live.document.payloads.shown.previews(results)
    titled = {at for at, title in zip(results, titles, strict=True) if "retry.py" in title}
    assert titled and titled <= {one.entry for one in search.results.table.rows.rows}


async def test_the_hits_of_all_sessions_go_away_with_whoever_goes_elsewhere(
    house: House, tmp_path: Path
) -> None:
    live = await two_sessions(house, tmp_path)
    search = live.window.header.search
    live.click(search.everywhere)
    assert search.box.hasFocus(), "what to search can be typed at once"
    live.type("the")
    await live.until(search.results.isVisible, "the hits")
    live.click(live.window.map.view.viewport())
    assert not search.results.isVisible()
    live.keys("/")
    live.type("größer")  # a word of the other session
    await live.until(search.results.isVisible, "the hits")
    results = search.results.table
    keys = [hit.key for hit in results.rows.rows]
    first = live.document
    there = next(row for row, key in enumerate(keys) if key != first.key)
    entry, place = results.rows.rows[there].entry, results.rows.index(there, 0)
    results.scrollTo(place)
    live.click(results.viewport(), results.visualRect(place).center())
    await live.until(lambda: live.document is not first, "the session of the hit")
    await live.idle()
    assert live.window.map.selected == entry
    assert not search.results.isVisible(), "the list does not come back over what was asked for"


async def test_instructions_stay_with_their_session_and_over_the_end(
    house: House, tmp_path: Path
) -> None:
    live = await two_sessions(house, tmp_path)
    first, key = live.document, live.document.key
    box = live.window.compaction.setup.instructions
    live.keys("Ctrl+3")
    box.setFocus()
    live.type("Keep the rule about 409.")
    live.session.sessions.open(other_key(live))
    await live.until(lambda: live.document is not first, "the other session")
    await live.idle()
    assert box.toPlainText() == ""
    live.session.sessions.open(key)
    await live.until(lambda: live.document.key == key, "the first session")
    await live.idle()
    assert box.toPlainText() == "Keep the rule about 409."
    await live.close()
    again = await house.start()
    await again.until(lambda: again.has_document, "the session")
    await again.idle()
    assert again.window.compaction.setup.instructions.toPlainText() == "Keep the rule about 409."


async def test_what_was_done_to_a_version_1_file_is_exported_without_a_riddle(
    house: House, tmp_path: Path
) -> None:
    source = tmp_path / "old.jsonl"
    header = {"type": "session", "id": "s1", "timestamp": "2025-11-20T10:00:00.000Z", "cwd": "/x"}
    said = [
        {"type": "message", "timestamp": "2025-11-20T10:00:01.000Z",
         "message": {"role": "user", "content": "Port the themes", "timestamp": 1}},
    ]  # fmt: skip
    source.write_text("".join(json.dumps(line) + "\n" for line in [header, *said]))
    live = await house.start(session=source)
    await live.document.edits.set_label(0, "start")
    live.keys("Ctrl+S")
    dialog = await live.dialog(QFileDialog)
    assert dialog.selectedNameFilter() == AS_PI_3
    assert Path(dialog.selectedFiles()[0]).name == "port-the-themes.jsonl"
    dialog.reject()
    await live.back()
    target = tmp_path / "out.jsonl"
    await live.session.sessions.export_now(live.document.key, target, "original")
    assert "version 1" in live.notice and not target.exists()
    live.press_button("Export as pi version 3", live.window.notices)
    await live.until(target.exists, "the file")
    await live.idle()
    assert live.notice == "", "what went wrong is over"
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert lines[0]["version"] == 3 and lines[-1]["label"] == "start"


async def test_the_palette_lists_what_the_map_and_the_panel_can_do(house: House) -> None:
    live = await house.start()
    await open_sample(live)
    live.keys("Ctrl+Shift+P")
    palette = await live.dialog(CommandPalette)
    wanted = (
        "Zoom out", "Whole session", "Filter: User only", "Show map and list", "Show the cut",
        "Show the exact request", "Rules of the profile", "Fold what was summarized",
        "Choose folder…",
    )  # fmt: skip
    assert set(wanted) <= set(palette.titles())
    live.type("fold")
    live.keys("Return")
    await live.back()
    model = live.window.map.model
    assert model.folded == set(live.document.tree.columns.compactions)
    live.keys("Ctrl+Shift+P")
    await live.dialog(CommandPalette)
    live.type("show the cut")
    live.keys("Return")
    await live.back()
    shown = live.partition
    assert live.window.map.selected == shown.path[shown.cut]


async def test_what_is_told_of_a_compaction_goes_when_the_leaf_goes_on(house: House) -> None:
    live = await house.start()
    await open_sample(live)
    panel = live.window.compaction
    await draft(live)
    entry = await commit(live)
    notice = panel.notice.notice
    assert notice is not None and f"#{entry}" in notice.what
    live.keys("Ctrl+Z")
    await live.until(lambda: live.document.leaf != entry, "the undo")
    await live.idle()
    notice = panel.notice.notice
    assert notice is not None and "taken back" in notice.what
    live.session.navigation.go_to(entry)
    await live.until(lambda: live.document.leaf == entry, "the compaction again")
    await live.idle()
    assert panel.notice.notice is None


async def test_a_cut_by_hand_is_of_its_own_branch(house: House) -> None:
    live = await house.start()
    await open_sample(live)
    panel, automatic = live.window.compaction, live.partition.cut
    by_hand = next(cut for cut in live.partition.valid_cuts if cut > automatic)
    panel.set_cut(by_hand)
    await live.document.edits.rename("Another name")
    await live.idle()
    assert live.partition.cut == by_hand, "the path has only grown"
    plan = live.document.navigation.plan(live.document.tree.path(live.document.leaf)[by_hand + 8])
    await live.document.navigation.navigate(plan)
    await live.idle()
    preparation = live.partition.preparation
    assert "by hand" not in preparation.reason


async def test_a_link_in_an_entry_leads_on_and_keeps_the_keyboard_on_the_map(house: House) -> None:
    live = await house.start()
    await open_sample(live)
    compaction = max(live.document.tree.columns.compactions)
    kept = live.document.tree.index_of(
        live.document.tree.columns.compactions[compaction].first_kept_id
    )
    live.window.map.select(compaction)
    live.keys("Ctrl+1")
    await live.idle()
    link = live.button(f"#{kept}", live.window.entry)
    link.setFocus()
    QTest.keyClick(link, Qt.Key.Key_Space)
    await live.idle()
    assert live.window.map.selected == kept
    assert live.window.map.view.hasFocus()


async def test_new_entries_are_counted_like_the_old_ones(house: House) -> None:
    """One token metric: no estimates among the tokenizer's counts."""
    live = await house.start()
    await open_sample(live)
    document = live.document
    await live.until(lambda: document.tokens.weights is not None, "the counts")
    await live.idle()
    message = UserMessage(text_content("caution " * 400))
    entry = await document.writer.append(message, document.leaf)
    await live.until(lambda: document.tokens.weights[entry] > 0, "the new count")  # type: ignore[index]
    await live.idle()
    assert document.tokens.weights is not None
    assert document.tokens.weights[entry] != document.tree.columns.estimate[entry]
    assert live.window.map.model.sizes[entry] == document.tokens.weights[entry]
    at = live.partition.path.position(entry)
    assert live.partition.weight(at) == document.tokens.weights[entry]


async def test_what_the_map_shows_is_there_again_after_the_next_start(house: House) -> None:
    live = await house.start()
    await open_sample(live)
    live.window.map.fold_all()
    live.window.map.show_as(Shown.BOTH)
    folded = set(live.window.map.model.folded)
    assert folded
    await live.close()
    again = await house.start()
    await again.until(lambda: again.has_document, "the session")
    await again.idle()
    assert again.window.map.model.folded == folded
    assert again.window.map.outline.isVisible() and again.window.map.view.isVisible()


async def test_less_motion_is_remembered(house: House) -> None:
    live = await house.start()
    live.session.actions["less_motion"].trigger()
    assert theme.motion_ms(100) == 0
    await live.close()
    theme.set_motion(True)
    again = await house.start()
    assert theme.motion_ms(100) == 0
    assert again.session.actions["less_motion"].isChecked()


async def test_everything_grows_with_the_text(house: House) -> None:
    """Titles and lists too, and nothing lies over something else."""
    live = await house.start()
    await open_sample(live)
    window = live.window
    window.map.show_as(Shown.BOTH)
    small = window.header.title.font().pointSizeF()
    number = window.map.outline.model().index(0, 0)
    small_number = number.data(Qt.ItemDataRole.FontRole).pointSizeF()
    live.keys("/")
    live.type("failed")
    await live.until(lambda: " / " in window.header.search.count.text(), "hits")
    for _ in range(5):
        live.keys("Ctrl+Shift+=")
        await live.idle()
    assert window.header.title.font().pointSizeF() == 2 * small
    assert number.data(Qt.ItemDataRole.FontRole).pointSizeF() == 2 * small_number
    count = window.header.search.count
    assert window.header.search.box.rect().contains(count.geometry())
    composer = window.agent.composer
    assert composer.height() > composer.fontMetrics().lineSpacing() + 8
    assert not composer.verticalScrollBar().isVisible()
    assert "200 %" in live.said
    message = window.statusBar().currentMessage
    await live.until(lambda: window.saved.isVisible() != bool(message()), "labels or a message")
    current = window.map.outline.currentIndex()
    assert window.map.outline.viewport().rect().intersects(window.map.outline.visualRect(current))


async def test_files_are_asked_for_where_some_were_found_last(house: House, tmp_path: Path) -> None:
    live = await two_sessions(house, tmp_path)
    live.window.library.import_requested.emit()
    dialog = await live.dialog(QFileDialog)
    assert Path(dialog.directory().absolutePath()) == sample_path().parent
    live.keys("Escape")
    await live.back()
