"""The search box in the window: which hit Return goes to, and what is said of the hits."""

from __future__ import annotations

from tests.ui.window.house import House
from tests.ui.window.running import sample_path
from tests.ui.window.steps import commit, draft


async def test_the_first_return_goes_to_the_hit_that_is_shown_first(house: House) -> None:
    live = await house.start(sample_path())
    bar, shown = live.window.header.search, live.window.map
    live.keys("/")
    live.type("retry")
    await live.until(lambda: bar.count.text().startswith("1 / "), "the first hit")
    first = shown.selected
    live.keys("Return")
    assert shown.selected == first and bar.count.text().startswith("1 / ")
    live.keys("Return")
    assert shown.selected > first and bar.count.text().startswith("2 / ")
    live.keys("Shift+Return")
    assert shown.selected == first
    live.type("x")
    live.keys("Backspace", "Return")
    await live.idle()
    assert bar.count.text().startswith("1 / "), "Return before the search went on"


async def test_errors_with_words_that_none_has_say_so(house: House) -> None:
    live = await house.start(sample_path())
    bar = live.window.header.search
    live.keys("/")
    live.type("kangaroo")
    await live.until(lambda: bar.count.text() == "no hit", "the end of the search")
    live.click(bar.errors)
    await live.until(bar.results.isVisible, "why")
    assert "No error has the words “kangaroo”" in bar.results.caption.text()
    bar.everywhere.click()
    await live.idle()
    assert "No error has the words “kangaroo”" in bar.results.caption.text()


async def test_an_undone_compaction_is_found_as_one(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+3")
    await draft(live)
    made = await commit(live)
    bar = live.window.header.search

    def words() -> list[str]:
        shown = bar.results.table.rows.rows if bar.results.isVisible() else ()
        return [one.where for one in shown if one.entry == made]

    async def find() -> None:
        live.window.map.setFocus()
        live.keys("/")
        bar.everywhere.setChecked(True)
        live.type("Goal")
        await live.until(words, "the compaction among the hits")
        await live.idle()

    await find()
    assert "undone" not in words()[0]
    live.keys("Esc")
    assert not words()
    live.keys("Ctrl+Z")
    await live.until(lambda: live.document.leaf != made, "the undo")
    await find()
    assert "undone" in words()[0]
    assert bar.results.table.rows.rows[0].entry != made, "others come before it"
