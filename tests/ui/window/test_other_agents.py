"""Sessions of agents whose files are only read, in the window: exports, costs, rules, summaries."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from tests.services.test_listed_cost import PRO, lines_of
from tests.services.test_unreadable_compaction import SENTENCE, rollout
from tests.ui.window.house import House
from tests.ui.window.running import sample_path, visible
from ui.library.controller import (
    AS_IT_WAS,
    AS_MARKDOWN,
    AS_PAGE,
    AS_PI_3,
    AS_WHOLE_MARKDOWN,
    AS_WHOLE_PAGE,
)
from ui.widgets.swatch import LegendItem

TRANSCRIPTS = [AS_PAGE, AS_WHOLE_PAGE, AS_MARKDOWN, AS_WHOLE_MARKDOWN]


async def test_a_file_of_lines_can_be_exported_as_it_was(house: House, tmp_path: Path) -> None:
    source = rollout(tmp_path)
    live = await house.start(session=source)
    live.keys("Ctrl+S")
    dialog = await live.dialog(QFileDialog)
    assert dialog.nameFilters() == [AS_IT_WAS, AS_PI_3, *TRANSCRIPTS]
    target = tmp_path / "copy.jsonl"
    dialog.fileSelected.emit(str(target))
    dialog.reject()
    await live.until(target.exists, "the file")
    await live.idle()
    assert target.read_bytes() == source.read_bytes()


async def test_what_is_wrong_in_a_file_of_messages_is_named_by_its_message(
    house: House, tmp_path: Path
) -> None:
    folder = tmp_path / "globalStorage/saoudrizwan.claude-dev/tasks/1795000000000"
    folder.mkdir(parents=True)
    said = [{"role": role, "content": role} for role in ("user", "assistant")] * 3
    file = folder / "api_conversation_history.json"
    file.write_text(json.dumps([*said, "what was that?"]), "utf-8")
    live = await house.start()
    live.drop(file)
    await live.until(lambda: live.has_document and live.notice, "the session and the notice")
    await live.idle()
    assert f"{file.name}, message 7: it is not a JSON object" in live.notice


async def test_what_is_no_file_of_lines_is_offered_in_other_forms(
    house: House, tmp_path: Path
) -> None:
    source = tmp_path / "session.json"
    source.write_text(lines_of([PRO, PRO]), "utf-8")
    live = await house.start(session=source)
    live.keys("Ctrl+S")
    dialog = await live.dialog(QFileDialog)
    assert dialog.nameFilters() == [AS_PI_3, *TRANSCRIPTS]
    dialog.selectNameFilter(AS_WHOLE_PAGE)
    dialog.filterSelected.emit(AS_WHOLE_PAGE)
    assert Path(dialog.selectedFiles()[0]).suffix == ".html"
    target = tmp_path / "page.html"
    dialog.fileSelected.emit(str(target))
    dialog.reject()
    await live.until(target.exists, "the page")
    await live.idle()
    assert "All branches: 4 of 4 entries" in target.read_text("utf-8")


async def test_a_cut_by_other_rules_than_the_agents_own_says_so(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(session=rollout(tmp_path))
    live.keys("Ctrl+K")
    setup = live.window.compaction.setup
    place = setup.following.place
    await live.until(lambda: setup.why.text(), "why nothing is cut")
    assert "No profile" not in place.text(), "where nothing is cut no other rule is missed"
    setup.keep.track.setFocus()
    live.keys("Home")
    words = "Explorer's rules, not its own"
    await live.until(lambda: words in place.accessibleName(), "that sentence")
    assert words in unescape(place.text()) and "Codex CLI" in place.toolTip()
    live.session.sessions.import_files([sample_path()])
    await live.until(lambda: "No profile" not in place.accessibleName(), "a session of pi's")


async def test_the_status_bar_marks_a_cost_that_is_worked_out(house: House, tmp_path: Path) -> None:
    source = tmp_path / "session.json"
    source.write_text(lines_of([PRO, PRO]), "utf-8")
    live = await house.start(session=source)
    await live.until(lambda: "≈$0.0065" in live.window.spent.text(), "the cost")
    assert "listed prices" in live.window.spent.toolTip()


async def test_a_summary_that_cannot_be_read_is_not_counted(house: House, tmp_path: Path) -> None:
    live = await house.start(session=rollout(tmp_path))
    live.keys("Ctrl+Alt+L")
    page = live.session.fidelity.page
    await live.until(lambda: SENTENCE in page.waiting.words.text(), "the sentence")
    assert page.shown is None
    (entry,) = live.document.tree.columns.compactions
    texts = live.window.map.model.texts
    assert "110 → 110" in texts.line(entry), "as its provider counted the whole"
    assert "tokens not recorded" in "\n".join(texts.tip(entry))
    figure = live.window.audit.figure
    await live.until(lambda: "its summary not recorded" in figure.text(), "the sizes")
    rules = live.window.audit.rules
    assert rules.currentText().endswith("(in place of its own agent's)")
    assert "are in no profile" in rules.toolTip()
    live.window.audit.show_ledger()
    ledger = live.window.audit.ledger
    legend = [item.text() for item in visible(ledger.legend, LegendItem)]
    assert any(title.startswith("summarized (") for title in legend), legend
    live.keys("Home", to=ledger.table)
    words = f": Summarized by #{entry}. Only the summary in force may"
    assert words in ledger.part.rule.accessibleName()
    assert "in this summary" not in live.words(live.window.audit), "nobody can look"
