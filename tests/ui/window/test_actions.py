"""Every action: its name, its tip, where it is enabled, and that the palette lists it."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox

from tests.ui.window.house import House
from tests.ui.window.running import RunningWindow, sample_path
from tests.ui.window.steps import commit, draft, open_sample
from ui.library.pane import DETAIL_ROLE
from ui.shell.command_palette import CommandPalette, ShortcutsPage, key_sections
from ui.widgets.dialogs import help_html

WITHOUT_A_SESSION = {
    *("show_sessions", "show_conversation", "show_inspector"),
    "all_sessions", "less_motion",
    "new", "import", "find", "sample", "tour", "watch_run", "quit", "glossary", "guide",
    "lessons.open", "lessons.file",
    "theme_system", "theme_light", "theme_dark",
    "larger", "palette", "keys", "extensions", "settings",
    "models", "keys_of_models",
    "profiles", "workshop",
}  # fmt: skip


def enabled(live: RunningWindow) -> set[str]:
    registry = live.session.actions
    return {bound.spec.id for bound in registry.all() if bound.action.isEnabled()}


async def test_every_action_says_what_it_does(house: House) -> None:
    live = await house.start()
    bounds = live.session.actions.all()
    titles = [bound.action.text().replace("&", "") for bound in bounds]
    assert len(set(titles)) == len(titles)
    for bound in bounds:
        assert bound.spec.tip, bound.spec.id
        assert bound.action.statusTip() == (bound.why_not or bound.spec.tip)
        assert bound.spec.menu, "every action is in a menu"
    page = help_html(key_sections(live.session.actions))
    for bound in bounds:
        for shortcut in bound.action.shortcuts():
            assert (shortcut.toString() in page) is bound.exists


async def test_no_menu_is_longer_than_a_look(house: House) -> None:
    bar = (await house.start()).window.menuBar()
    menus = [action.menu() for action in bar.actions()]
    for menu in menus:
        shown = [action for action in menu.actions() if not action.isSeparator()]
        assert len(shown) <= 12, menu.title()
        menus += [action.menu() for action in shown if action.menu() is not None]
    last = menus[0].actions()[-1]
    assert last.text() == "&Quit", "it stands last in the first menu"
    keys = [menu.title().partition("&")[2][0].lower() for menu in menus[: len(bar.actions())]]
    assert len(set(keys)) == len(keys), "a letter opens one menu"


async def test_actions_are_enabled_where_they_can_do_something(house: House) -> None:
    live = await house.start()
    assert enabled(live) == WITHOUT_A_SESSION
    await open_sample(live)
    everything = {bound.spec.id for bound in live.session.actions.all()}
    assert everything - enabled(live) == {
        "child_session", "next_hit", "parent_session", "previous_hit", "smaller", "stop",
        "tab_prompt",
        "compact_not_now", "continue", "question", "redo", "undo_and_go_on",
    }  # fmt: skip
    live.keys("/")
    live.type("error")
    await live.until(lambda: live.session.search.has_hits, "the hits")
    assert {"next_hit", "previous_hit"} <= enabled(live)
    live.keys("Ctrl+A", "Del")
    await live.until(lambda: not live.session.search.has_hits, "no hits")
    assert not {"next_hit", "previous_hit"} & enabled(live)


def detail_of(live: RunningWindow) -> str:
    """The second line of the first session in the list."""
    model = live.window.library.list.model()
    lines = [str(model.index(row, 0).data(DETAIL_ROLE)) for row in range(model.rowCount())]
    return " ".join(lines)


async def _agree(live: RunningWindow, button: str = "Take it back") -> None:
    """Answer the question about a compaction of others, on which Enter changes nothing."""
    box = await live.dialog(QMessageBox)
    assert "not made in this window?" in box.text()
    if button == "Cancel":
        live.keys("Return")
    else:
        live.press_button("Take it back", box)
    await live.back()


async def test_undo_is_offered_where_there_is_a_compaction(house: House) -> None:
    """Taken back one after the other, until there is none on the path; those that were not made
    in this window only once the person agreed. What was taken back can be redone."""
    live = await house.start(sample_path())
    await draft(live)
    made = await commit(live)
    assert "redo" not in enabled(live)
    undone = 0
    while "undo" in enabled(live):
        leaf = live.document.leaf
        live.keys("F6", "Ctrl+Z")
        if undone:
            await _agree(live, "Cancel" if undone == 1 else "")
            if undone == 1:
                assert live.document.leaf == leaf
                live.keys("Ctrl+Z")
                await _agree(live)
        await live.until(lambda leaf=leaf: live.document.leaf != leaf, "the undo")
        await live.idle()
        if not undone:
            live.press_button("Redo", live.window.compaction.notice)
            await live.until(lambda: live.document.leaf == made, "the compaction again")
            await live.until(lambda: "redo" not in enabled(live), "the end of the redo")
            live.keys("Ctrl+Z")
            await live.until(lambda: live.document.leaf != made, "the second undo")
            await live.idle()
        undone += 1
    assert undone == 3, "the new one and the two that the session came with"
    live.keys("Ctrl+Shift+Z")
    await live.until(lambda: live.document.leaf == leaf, "the redo")
    live.keys("Ctrl+Z")
    await _agree(live)
    await live.until(lambda: live.document.leaf != leaf, "the undo after it")
    await live.idle()
    row = len(live.document.tree) - 1
    assert live.window.map.model.texts.compaction(row).split(" · ")[1] == "undone"
    await live.until(lambda: "2 compactions" in detail_of(live), "what the list counts")
    assert "summarize" in enabled(live)


async def test_summarize_is_offered_where_there_is_something_to_compact(house: House) -> None:
    live = await house.start(sample_path())
    await draft(live)
    await commit(live)
    assert "summarize" not in enabled(live), "right after a compaction there is nothing"


async def test_the_palette_lists_what_is_enabled_and_runs_it(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("Ctrl+Shift+P")
    palette = await live.dialog(CommandPalette)
    registry = live.session.actions
    listed = {bound.action.text().replace("&", "") for bound in registry.all()
              if bound.action.isEnabled()}  # fmt: skip
    assert set(palette.titles()) == listed
    live.type("context")
    assert palette.titles()[0] == "Inspector: Context"
    live.keys("Return")
    await live.back()
    assert live.tab == "context"


async def test_the_palette_says_when_nothing_matches(house: House) -> None:
    live = await house.start()
    live.keys("Ctrl+Shift+P")
    palette = await live.dialog(CommandPalette)
    live.type("kangaroo")
    await live.settle()
    assert palette.titles() == []
    assert "No command" in live.words(palette)
    live.keys("Return")
    assert palette.isVisible(), "there is nothing to run"
    live.keys("Esc")
    await live.back()


async def test_every_action_runs(house: House) -> None:
    """Each is triggered once; dialogs are left by Escape, and nothing breaks."""
    live = await house.start(sample_path())
    registry = live.session.actions
    for bound in registry.all():
        if bound.spec.id in ("quit", "close") or not bound.action.isEnabled():
            continue
        live.window.setFocus()
        bound.action.trigger()
        await live.settle(6)
        if bound.spec.id in ("sample", "summarize"):
            await live.idle()
        while live.active is not live.window:
            live.keys("Esc", to=live.active)
            await live.settle(3)
        await live.back()
    registry["theme_light"].trigger()
    registry["smaller"].trigger()
    await live.settle()


async def test_the_page_of_keys_opens_by_a_question_mark(house: House) -> None:
    live = await house.start(sample_path())
    live.keys("?")
    page = await live.dialog(ShortcutsPage)
    assert page.isVisible()
    live.keys("Esc")
    await live.back()


async def test_plain_letters_are_typed_and_not_taken_for_commands(house: House) -> None:
    """``/`` and ``?`` are commands on the map and letters in a text box."""
    live = await house.start(sample_path())
    live.keys("F7")
    live.type("Is src/retry.py the place?")
    assert live.window.agent.composer.toPlainText() == "Is src/retry.py the place?"
    live.keys("Ctrl+3")
    box = live.window.compaction.setup.instructions
    await live.tab_to(box)
    live.type("a/b?")
    assert box.toPlainText() == "a/b?"
    assert live.active is live.window
