"""What was needed again, in the whole window: the audit's first page, both entries, threads."""

from __future__ import annotations

from pathlib import Path

from explorer.audit.needed_again import Need, NeededAfter, NeedGroup
from explorer.audit.repeats import NeedKind
from tests.audit.agent_work import FILE
from tests.ui.window.house import House
from tests.ui.window.running import sample_path
from tests.ui.window.steps import commit, draft
from tests.ui.window.test_audit import audited, compaction, reply, user, write
from ui.audit.compare.subjects import NOW, SummaryKey
from ui.audit.tab import LEDGER, NEEDED

RULE = "Always use Postgres for the jobs table, never the local sqlite file."


LINES = [f"value_{at} = compute_the_value_of({at}, with_care=True)\n" for at in range(60)]


def _read(number: int, text: str = FILE, **part: int) -> list[dict[str, object]]:
    given = {"path": "a.py", **part}
    asked = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": given}
    said = {"role": "assistant", "content": [asked], "stopReason": "toolUse"}
    told = {
        "role": "toolResult", "toolCallId": f"c{number}", "toolName": "read", "isError": False,
        "content": [{"type": "text", "text": text}],
    }  # fmt: skip
    return [{"type": "message", "message": said}, {"type": "message", "message": told}]


async def test_a_compaction_is_judged_by_what_was_needed_again(
    house: House, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "again.jsonl",
        [
            user(RULE),  # 0
            *_read(1),  # 2
            reply("It is read."),
            user("Go on."),  # 4
            compaction(4, "## Goal\nA queue."),  # 5
            *_read(2),  # 7
            user(RULE),  # 8
            reply("Sorry."),
        ],
    )
    live = await house.start(path)
    await audited(live)
    tab, page, shown = live.window.audit, live.window.audit.needed, live.window.map

    def threads() -> list[tuple[int, int]]:
        return list(shown.model.threads)

    await live.until(lambda: page.model.rows, "what was needed again")
    assert tab.page() == NEEDED, "it comes first"
    await live.until(
        lambda: tab.bar.button(1).text() == "Findings (1)", "the rule that the summary lacks"
    )
    assert "1 file read again" in page.summary.text()
    assert "asked for again by the user at #8" in page.summary.text()
    assert threads() == [(2, 7), (0, 8)], "all of #5, whose row is chosen"
    live.keys("Ctrl+1")
    await live.until(lambda: not threads(), "none while the page is not looked at")
    live.keys("Ctrl+4")
    page.table.setFocus()
    live.keys("Down", to=page.table)
    chosen = page.chosen()
    assert isinstance(chosen, Need) and chosen.kind is NeedKind.READ
    assert threads() == [(2, 7)], "those of the row alone"
    assert "Compaction #5 took it out of the context" in page.part.where.accessibleName()
    live.press_button("Show before", page.part)
    await live.until(lambda: shown.selected == 2, "the entry before")
    live.press_button("Show again", page.part)
    await live.until(lambda: shown.selected == 7, "the entry after")
    assert threads() == [(2, 7)]
    with_thread = shown.view.viewport().grab().toImage()
    tab.show_page(LEDGER)
    assert not threads(), "the page is left, and no compaction is selected"
    assert shown.view.viewport().grab().toImage() != with_thread
    shown.select(5)
    await live.until(lambda: threads() == [(2, 7), (0, 8)], "those of a compaction")


async def test_a_moment_after_which_nothing_was_needed_again_is_told(
    house: House, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "twice.jsonl",
        [
            user("Begin."),  # 0
            compaction(0, "## Goal\nNothing."),  # 1
            *_read(1),  # 3
            user("Go on."),  # 4
            compaction(4, "## Goal\nA queue."),  # 5
            *_read(2),  # 7
        ],
    )
    live = await house.start(path)
    await audited(live)
    tab, page = live.window.audit, live.window.audit.needed
    await live.until(lambda: page.model.rows, "what was needed again")
    assert page.summary.text().startswith("At least 1 file")

    async def look_at(entry: int, words: str) -> None:
        live.choose(tab.moment, SummaryKey("entry", entry).code)
        await live.until(lambda: page.part.title.text().startswith(words), words)

    await look_at(5, "At least 1 file read again")
    await look_at(1, "Nothing was found to be needed again")
    assert page.part.where.accessibleName().startswith("After compaction #1")
    assert [row.compaction for row in page.model.rows if isinstance(row, NeededAfter)] == [1, 5]
    assert page.summary.text().startswith("At least 1 file read again; ")
    live.keys("Ctrl+4")
    assert page.table.isVisible() and not page.summary.isVisible(), "the row of #5 says the same"


async def test_head_findings_and_rows_are_of_one_compaction(house: House, tmp_path: Path) -> None:
    path = write(
        tmp_path / "both.jsonl",
        [
            *_read(1),  # 1
            user("Go on."),  # 2
            compaction(2, "## Goal\nA queue."),  # 3
            *_read(2),  # 5
            user("Go on."),  # 6
            compaction(6, "## Goal\nA queue."),  # 7
            *_read(3),  # 9
            reply("Done."),
        ],
    )
    live = await house.start(path)
    await audited(live)
    tab, page, moments = live.window.audit, live.window.audit.needed, live.session.moments
    await live.until(lambda: page.model.rows, "what was needed again")
    rows = [row.repeat.after if isinstance(row, Need) else row.compaction
            for row in page.model.rows if not isinstance(row, NeedGroup)]  # fmt: skip
    assert rows == [3, 5, 7, 9]
    assert tab.moment.currentData() == NOW.code

    async def look(row: int, compaction: int) -> None:
        where = page.table.visualRect(page.model.index(row, 0)).center()
        live.click(page.table.viewport(), where)
        await live.until(
            lambda: tab.figure.text().startswith(f"In force: compaction #{compaction} "), "the head"
        )
        await live.idle()
        assert moments.summary == SummaryKey("entry", compaction)
        assert page.table.currentIndex().row() == row, "the row stays the chosen one"

    await look(1, 3)
    await look(3, 7)
    await look(0, 3)
    live.keys("Down", "Down", "Down", to=page.table)
    await live.until(lambda: moments.summary == SummaryKey("entry", 7), "by keys as well")
    await look(0, 3)
    live.choose(tab.moment, NOW.code)
    await live.until(lambda: page.table.currentIndex().row() == 2, "what is in force now")
    assert tab.moment.currentData() == NOW.code


async def test_the_row_of_the_compaction_in_force_is_chosen_first(
    house: House, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "two.jsonl",
        [
            user("Read it."),  # 0
            *_read(1),  # 2
            user("Go on."),  # 3
            compaction(3, "## Goal\nA queue."),  # 4
            *_read(2),  # 6
            user("Go on."),  # 7
            compaction(7, "## Goal\nA queue."),  # 8
            reply("Done."),
        ],
    )
    live = await house.start(path)
    await audited(live)
    live.keys("Ctrl+4")
    tab, page = live.window.audit, live.window.audit.needed
    await live.until(lambda: page.model.rows, "what was needed again")
    row = page.chosen()
    assert isinstance(row, NeededAfter) and row.compaction == 8
    assert "#8" in tab.figure.text() and page.part.where.accessibleName().startswith(
        "After compaction #8"
    )


async def test_right_after_a_compaction_nothing_is_judged(house: House) -> None:
    live = await house.start(sample_path())
    await draft(live)
    entry = await commit(live)
    live.keys("Ctrl+4")
    words = f"Nothing follows compaction #{entry} yet"
    await live.until(lambda: words in live.words(live.window.audit.needed), words)
    assert "Nothing was found" not in live.words(live.window.audit.needed)
    figure = live.window.audit.figure
    await live.until(lambda: f"#{entry}, made here · " in figure.text(), "who made it")
    assert "by the agent" not in figure.text()


async def test_a_file_that_was_needed_in_parts_is_one_row(house: House, tmp_path: Path) -> None:
    first, second = "".join(LINES[:30]), "".join(LINES[30:])
    path = write(
        tmp_path / "parts.jsonl",
        [
            user("Read it."),  # 0
            *_read(1, first, offset=1, limit=30),  # 2
            *_read(2, second, offset=31, limit=30),  # 4
            reply("It is read."),
            compaction(5, "## Goal\nA queue."),  # 6
            *_read(3, first, offset=1, limit=30),  # 8
            *_read(4, second, offset=31, limit=30),  # 10
            reply("Done."),
        ],
    )
    live = await house.start(path)
    await audited(live)
    page, shown = live.window.audit.needed, live.window.map
    await live.until(lambda: page.model.rows, "what was needed again")
    assert page.summary.text().startswith("At least 1 file read again (2 times); ")
    _, group = page.model.rows
    assert isinstance(group, NeedGroup) and len(group.needs) == 2
    live.keys("Ctrl+4")
    page.table.setFocus()
    live.keys("Down", to=page.table)
    assert page.part.title.text() == "a.py, 2 times"
    assert page.part.where.accessibleName() == (
        "Read again: at #8 (lines 1 to 30, before at #2), at #10 (lines 31 to 60, before at #4). "
        "Compaction #6 took it out of the context."
    )
    assert "tokens these times. Keeping the last" in page.part.note.text()
    assert list(shown.model.threads) == [(2, 8), (4, 10)]
    live.keys("Return", to=page.table)
    await live.until(lambda: shown.selected == 8, "the first time that it was needed again")
