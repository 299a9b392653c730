"""The recall test in the window: questions, cost, answers, what stays, what cannot be done."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from explorer.session.kinds import Kind
from tests.models.server import Answer, ChatServer, HttpFailure, Stall
from tests.models.summaries import GOOD
from tests.services.test_recall import KEPT_WORD, LOST_WORD, knows, session_file, texts
from tests.ui.window.conftest import MODEL
from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import commit, draft
from ui.audit.compare.window import ASK_RECALL, RECALL, CompareDraftsWindow
from ui.audit.recall.window import RecallWindow
from ui.models.consent import ConsentDialog

HOST = "models.example"


async def opened(live: RunningWindow, keys: str = "Ctrl+Alt+Q") -> RecallWindow:
    """The window, with its questions."""
    live.keys(keys)
    window = await live.dialog(RecallWindow)
    await planned(live, window)
    return window


async def planned(live: RunningWindow, window: RecallWindow) -> None:
    """Wait until it is known what is asked, and what was asked before."""
    await live.until(lambda: "calls of" in window.plan.text(), "the plan")
    await live.settle()


async def answered(live: RunningWindow, window: RecallWindow) -> None:
    """Wait for the end of a run, and for its record."""
    await live.until(lambda: not window.busy.running and not live.busy(), "the end of the run")
    await planned(live, window)


def rows(window: RecallWindow) -> list[list[str]]:
    """The cells of the table."""
    model = window.results.table.rows
    return [[column.text(row) for column in model.columns] for row in model.rows]


async def test_a_compaction_is_tested_beside_its_control(
    house: House, server: ChatServer, tmp_path: Path
) -> None:
    server.plan(knows)
    live = await house.start(session_file(tmp_path))
    live.keys("Ctrl+Alt+L")
    await live.until(lambda: live.window.audit.findings.recall.isVisible(), "the page")
    live.press_button("Recall", live.window.audit.findings)
    window = await live.dialog(RecallWindow)
    await planned(live, window)
    assert window.title.text() == "Recall of compaction #7"
    assert "2 calls of openai/gpt-4o-mini" in window.plan.text() and "$" in window.ask.text()
    assert "Nothing leaves this computer." in window.plan.text()
    assert rows(window)[0][3] in KEPT_WORD
    assert not server.requests, "looking costs nothing"

    live.mnemonic("Ask", window)
    await live.until(lambda: server.requests, "a request")
    await answered(live, window)
    number = len(rows(window))
    words = f"Remembers 1 of {number}; with the full context {number} of {number}"
    assert window.title.text() == words and len(server.requests) == 2
    first, *lost = rows(window)
    assert first[1] in KEPT_WORD and first[4] == "right"
    assert lost and all(row[4] == "not known" and row[2] in LOST_WORD for row in lost)
    assert "it cost $" in window.facts.text()

    table = window.results.table
    at = table.rows.index(1, 0)
    live.click(table.viewport(), table.visualRect(at).center())
    assert live.window.map.selected == table.rows.rows[1].question.entry == 2
    table.setFocus()
    live.keys("Home", "Return", to=table)
    assert live.window.map.selected == 0
    assert "With everything" in window.results.part.words.text()
    live.keys("Esc", to=window)
    await live.back()


async def test_results_are_found_again(house: House, server: ChatServer, tmp_path: Path) -> None:
    server.plan(knows)
    live = await house.start(session_file(tmp_path))
    window = await opened(live)
    live.press_button("Ask,", window)
    await answered(live, window)
    found, title = rows(window), window.title.text()
    live.keys("Esc", to=window)
    await live.back()
    await live.close()

    again = await house.start()
    await again.until(lambda: again.has_document, "the session")
    window = await opened(again)
    assert (rows(window), window.title.text()) == (found, title)
    assert len(server.requests) == 2 and window.runs.count() == 2
    again.choose(window.runs, 0)
    window.runs.activated.emit(window.runs.currentIndex())
    assert window.title.text() == "Recall of compaction #7" and not rows(window)[0][4]
    again.keys("Esc", to=window)
    await again.back()


async def test_open_answers_are_graded_by_a_rubric_that_is_shown(
    house: House, server: ChatServer, tmp_path: Path
) -> None:
    said = Answer(text="files: src/a.py was written.\nrecall: A gateway.")
    grades = Answer(text="files: 2 One is missing.\nrecall: 3 All of it.")
    server.plan(knows, said, knows, said, grades, grades)
    live = await house.start(session_file(tmp_path))
    window = await opened(live)
    live.choose(window.judge, MODEL)
    window.judge.activated.emit(window.judge.currentIndex())
    await live.until(lambda: "6 calls" in window.plan.text(), "the plan with a judge")
    live.press_button("Ask,", window)
    await answered(live, window)
    files = next(row for row in rows(window) if "files were changed" in row[0])
    assert files[1] == "src/a.py was written." and files[4] == "2 of 3, with everything 2"
    table = window.results.table
    table.setFocus()
    live.keys("End", to=table)
    while "files were" not in table.current.question.text:
        live.keys("Up", to=table)
    part = window.results.part
    assert "One is missing." in part.words.text() and not part.rubric.isVisible()
    live.click(part.rubric_button)
    assert part.rubric.isVisible() and "3: everything" in part.rubric.text()
    live.keys("Esc", to=window)
    await live.back()


async def test_stopping_leaves_what_was_answered(
    house: House, server: ChatServer, tmp_path: Path
) -> None:
    server.plan(knows, Stall(after=1))
    live = await house.start(session_file(tmp_path))
    window = await opened(live)
    live.press_button("Ask,", window)
    await live.until(lambda: len(server.requests) == 2 and rows(window)[0][4], "the first reply")
    live.press_button("Cancel", window)
    await answered(live, window)
    assert "Stopped." in live.words(window)
    assert window.title.text().endswith("; the control was not asked")
    assert rows(window)[0][4] == "right" and not rows(window)[0][2]
    assert [row.status for row in live.document.shared.store.drafts(live.document.key)] == [
        "cancelled"
    ]
    live.keys("Esc", to=window)
    live.keys("Esc", to=window)
    await live.back()


async def test_a_failing_provider_is_reported(
    house: House, server: ChatServer, tmp_path: Path, quick_retries: None
) -> None:
    server.plan(knows, HttpFailure(500, "the engine is on fire"))
    live = await house.start(session_file(tmp_path))
    window = await opened(live)
    live.press_button("Ask,", window)
    await answered(live, window)
    assert "the engine is on fire" in live.words(window.notice)
    assert rows(window)[0][4] == "right" and not rows(window)[0][2]
    live.keys("Esc", to=window)
    live.keys("Esc", to=window)
    await live.back()


async def test_without_a_model_that_reads_nothing_is_offered(house: House, tmp_path: Path) -> None:
    live = await house.start(session_file(tmp_path))
    live.keys("Ctrl+Alt+Q")
    window = await live.dialog(RecallWindow)
    await live.until(lambda: "follow rules" in live.words(window.empty), "the sentence")
    assert not window.plan.isVisible(), "it is said once"
    assert not window.ask.isVisible() and not window.form.isVisible()
    assert window.empty.button.hasFocus()
    live.keys("Return")
    await live.until(lambda: live.session.models.dialog is not None, "the models")
    live.session.models.dialog.close()
    live.keys("Esc", to=window)
    await live.back()


async def test_an_imported_session_asks_before_its_text_leaves(
    house: House, server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo

    def look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        return real("127.0.0.1" if host in (HOST, HOST.encode()) else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url.replace("127.0.0.1", HOST))
    server.plan(knows)
    live = await house.start(session_file(tmp_path))
    window = await opened(live)
    assert f"The context goes to {HOST}." in window.plan.text()
    live.press_button("Ask,", window)
    dialog = await live.dialog(ConsentDialog)
    assert HOST in live.words(dialog) and "entries to be asked about" in live.words(dialog)
    live.keys("Escape")
    await answered(live, window)
    assert "Nothing was sent" in live.words(window.notice) and not server.requests
    live.press_button("Ask,", window)
    dialog = await live.dialog(ConsentDialog)
    live.mnemonic("Send", dialog)
    await answered(live, window)
    assert len(server.requests) == 2 and window.title.text().startswith("Remembers 1 of")
    live.keys("Esc", to=window)
    await live.back()


async def test_a_draft_is_tested_and_its_compaction_has_the_results(
    house: House, server: ChatServer
) -> None:
    server.plan(Answer(text=GOOD))
    live = await house.start(sample_path())
    await draft(live)
    server.plan(knows)
    live.press_button("Recall", live.window.compaction)
    window = await live.dialog(RecallWindow)
    await planned(live, window)
    assert window.title.text() == "Recall of the draft"
    live.window.compaction.draft.editor.setFocus()
    live.type("More. ", to=live.window.compaction.draft.editor)
    window.activateWindow()
    asked = len(server.requests)
    live.press_button("Ask,", window)
    assert "edited meanwhile" in live.words(window.notice) and len(server.requests) == asked
    await planned(live, window)
    live.press_button("Ask,", window)
    await answered(live, window)
    title, found = window.title.text(), rows(window)
    assert "Remembers" in title and "More. " in " ".join(texts(server.requests[-2]))
    live.keys("Esc", to=window)
    await live.back()
    entry = await commit(live)
    assert live.document.tree.kind(entry) is Kind.COMPACTION
    window = await opened(live)
    assert (window.title.text(), rows(window)) == (title, found)
    live.keys("Esc", to=window)
    await live.back()


async def recall_page(live: RunningWindow) -> CompareDraftsWindow:
    """The page Recall of the comparison of the drafts that there are."""
    live.press_button("Compare", live.window.compaction)
    window = await live.dialog(CompareDraftsWindow)
    await live.until(lambda: window.compared is not None, "the comparison")
    window.pages.setCurrentIndex(RECALL)
    await live.until(lambda: window.recall.found.sides, "the questions")
    return window


async def test_candidates_are_asked_the_same_and_only_what_is_missing(
    house: House, server: ChatServer
) -> None:
    server.plan(Answer(text=GOOD))
    live = await house.start(sample_path())
    await draft(live)
    live.press_button("Another", live.window.compaction)
    await live.settle()
    live.keys("Ctrl+Shift+K")
    await live.until(lambda: len(live.session.fidelity.drafts()) == 2, "the second draft")
    await live.idle()
    server.plan(knows)
    window = await recall_page(live)
    page = window.recall
    assert [one.name for one in page.found.sides] == ["draft 1", "draft 2"]
    assert page.button.text().startswith("Ask for 2 missing, ") and "2 calls" in page.message.text()
    before = len(server.requests)
    live.click(page.button)
    await live.until(lambda: not page.found.missing and not live.busy(), "the answers")
    assert len(server.requests) == before + 4 and not page.button.isVisible()
    assert page.headline.text().startswith("Right answers by draft 1: ")
    titles = [column.title for column in page.table.rows.columns]
    assert titles == ["Question", "Expected", "draft 1", "draft 2", "With everything", "Entry"]
    page.table.setFocus()
    live.keys("Home", "Return", to=page.table)
    assert live.window.map.selected == page.found.questions[0].entry
    window.list.rows.row_ticked.emit(None)
    await live.idle()
    assert len(server.requests) == before + 4, "what was asked is found again"
    live.keys("Esc", to=window)
    await live.back()


async def test_stopping_what_is_missing_keeps_the_rest(house: House, server: ChatServer) -> None:
    server.plan(Answer(text=GOOD))
    live = await house.start(sample_path())
    await draft(live)
    server.plan(knows, Stall(after=1))
    live.press_button("Compare", live.window.compaction)
    window = await live.dialog(CompareDraftsWindow)
    await live.until(lambda: window.recall.found.sides, "the questions")
    assert window.pages.currentIndex() == RECALL, "one alone has its recall"
    assert window.facts.text().startswith(ASK_RECALL)
    page, before = window.recall, len(server.requests)
    live.click(page.button)
    await live.until(lambda: len(server.requests) == before + 2, "the second call")
    live.press_button("Stop", page)
    await live.until(lambda: not page.is_running and not live.busy(), "the end")
    await live.until(lambda: page.found.sides and not page.found.missing, "what was answered")
    assert page.headline.text().startswith("Right answers by draft 1: ")
    live.keys("Esc", to=window)
    await live.back()
