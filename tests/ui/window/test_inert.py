"""A session of nothing but hostile texts, in every view: they are shown, and do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QDesktopServices, QHelpEvent
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox, QWidget

from tests.attacks.hostile_texts import MARK, all_shapes
from tests.models.server import ChatServer
from tests.store.sources import write_file
from tests.ui.window.house import House
from tests.ui.window.inert import Listener, Watch, has_image, paint
from tests.ui.window.running import RunningWindow
from ui.conversation.view.boxes import DocumentBox
from ui.library.page import LibraryPage
from ui.main_window import TABS
from ui.map.pane import Shown
from ui.models.dialog import ModelsDialog
from ui.widgets.notice import Notice

DIALOGS = (
    "rename", "label", "palette", "workshop", "profiles", "models", "settings", "extensions",
    "compare_branches", "compare_summaries", "compare_profiles", "what_if", "fidelity", "request",
    "prune", "fork", "side_by_side", "check_mend", "keys", "replay",
)  # fmt: skip
PAGES = ("fidelity",)
"""Those that are shown in the window itself."""
SHOWN = {
    "start", "entry", "context", "compaction", "audit", "prompt", "map, tip", "raw",
    "context, tip of a row", "compaction, tip of a row", "audit, tip of a row",
    "compare_branches", "compare_summaries", "fidelity", "request",
    "server", "notice", "question", "trash",
}  # fmt: skip
"""Where hostile words must have been seen for the test to say anything."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    here = Listener()
    yield here
    here.close()


def write_hostile(folder: Path, texts: list[str]) -> Path:
    """A session file with the texts in every place that one has."""
    found: list[dict[str, Any]] = []
    turn = iter(range(10_000))

    def text() -> str:
        return texts[next(turn) % len(texts)]

    def all_of(size: int = 8) -> str:
        return "\n\n".join(text() for _ in range(size))

    def add(entry_type: str, *, above: str = "", **fields: Any) -> str:
        name = f"{len(found)}{text()}"
        parent = above or (found[-1]["id"] if found else None)
        clock = f"2026-01-02T03:04:{len(found):02d}.000Z"
        found.append({"type": entry_type, "id": name, "parentId": parent, "timestamp": clock})
        found[-1].update(fields)
        return name

    def say(role: str, *blocks: dict[str, Any], above: str = "", **more: Any) -> str:
        return add("message", above=above, message={"role": role, "content": list(blocks), **more})

    def words() -> dict[str, Any]:
        return {"type": "text", "text": all_of()}

    start = say("user", words())
    for number in range(3):
        call = {"type": "toolCall", "id": f"c{number}", "name": text(),
                "arguments": {"path": text(), text(): text(), "command": text()}}  # fmt: skip
        thinking = {"type": "thinking", "thinking": all_of(), "thinkingSignature": text()}
        say("assistant", thinking, words(), call, provider=text(), model=text(), api=text(),
            usage={"input": 100, "output": 9, "totalTokens": 109},
            stopReason="toolUse")  # fmt: skip
        say("toolResult", words(), toolCallId=f"c{number}", toolName=text(), isError=number == 1)
        say("assistant", words(), provider=text(), model=text(), stopReason="error",
            errorMessage=text())  # fmt: skip
        say("user", {"type": "text", "text": f"Never open {text()}. {all_of(6)}"})
    add("model_change", provider=text(), modelId=text())
    add("thinking_level_change", thinkingLevel=text())
    add("custom_message", customType=text(), content=text(), display=True)
    add("custom", customType=text(), data={text(): text()})
    add(text(), content=text())
    side = say("assistant", words(), above=start, provider=text(), model=text())
    say("user", words(), above=side)
    add("branch_summary", above=found[-3]["id"], summary=all_of(), fromId=side)
    for _ in range(2):
        kept = say("user", words())
        say("assistant", words(), provider=text(), model=text())
        add("compaction", summary=f"## {text()}\n\n{all_of()}", firstKeptEntryId=kept,
            tokensBefore=5000,
            details={"readFiles": [text()], "modifiedFiles": [text()]})  # fmt: skip
        say("user", words())
        say("assistant", words(), provider=text(), model=text())
    add("label", targetId=start, label=text())
    add("session_info", name=text())
    header = {"type": "session", "version": 3, "id": "s-1", "cwd": text(),
              "timestamp": "2026-01-02T03:04:05.000Z"}  # fmt: skip
    return write_file(folder / "session <img src=x.png> ![].jsonl", found, header)


async def every_entry(live: RunningWindow, watch: Watch) -> None:
    """Each entry on the map with its tip, and in the inspector, rendered and raw."""
    view = live.window.map.view
    for entry in range(len(live.document.tree)):
        live.window.map.select(entry)
        view.reveal(entry, centre=True)
        await live.settle(2)
        place = view.row_rect(entry).center().toPoint()
        at = view.viewport().mapToGlobal(place)
        QApplication.sendEvent(view.viewport(), QHelpEvent(QEvent.Type.ToolTip, place, at))
        watch.tip("map, tip")
        watch.look(f"entry {entry}", tips=False)
    live.window.entry.header.raw.setChecked(True)
    await live.settle()
    watch.look("raw")
    live.window.entry.header.rendered.setChecked(True)


def other_windows(live: RunningWindow) -> list[QWidget]:
    tops = QApplication.topLevelWidgets()
    return [one for one in tops if one.isVisible() and one is not live.window]


async def every_dialog(live: RunningWindow, watch: Watch) -> None:
    """Whatever window a command opens."""
    for name in DIALOGS:
        live.session.actions[name].trigger()
        if name not in PAGES:
            await live.until(lambda: other_windows(live), f"the window of {name}")
        await live.settle(8)
        await live.idle()
        watch.look(name, *other_windows(live))
        for _ in range(100):
            if name not in SHOWN or name in watch.seen:
                break
            await live.settle(8)  # what it shows is worked out in a thread
            watch.look(name, *other_windows(live))
        for window in other_windows(live):
            if isinstance(window, QDialog):
                window.reject()
            else:
                window.close()
        await live.settle()


async def all_sessions(live: RunningWindow, watch: Watch) -> None:
    """The table of all sessions, hits in it, the way into the trash, and the question there."""
    live.session.actions["all_sessions"].trigger()
    page = await live.dialog(LibraryPage)
    await live.until(lambda: page.table.rows.rowCount(), "the sessions")
    watch.look("all_sessions", page)
    live.type(MARK, to=page.filters.line)
    live.press_button("Search texts", page)
    await live.until(page.hits.isVisible, "the hits")
    page.filters.project.click()
    await live.settle()
    watch.look("hits", *other_windows(live))
    if (popup := QApplication.activePopupWidget()) is not None:
        popup.close()
    page.filters.clear_filters()
    await live.until(lambda: page.table.rows.rowCount(), "the sessions")
    page.table.selectAll()
    page.delete_asked.emit(page.table.chosen)
    question = await live.dialog(QMessageBox)
    watch.look("question", question)
    question.reject()
    page.trash_action.trigger()
    await live.until(page.notice.isVisible, "the trash")
    watch.look("trash", page)
    live.press_button("Undo", page.notice)
    await live.until(lambda: live.has_document, "the session")
    page.close()
    await live.back()


async def a_server(live: RunningWindow, watch: Watch, server: ChatServer, texts: list[str]) -> None:
    """A server whose models have hostile names is found, and added."""
    server.pages["/v1/models"] = {"data": [{"id": text, "owned_by": text} for text in texts]}
    live.session.models.addresses = (server.root,)
    live.session.actions["models"].trigger()
    dialog = await live.dialog(ModelsDialog)
    dialog.show_page("servers")
    live.keys("Space", to=dialog.servers.look)
    await live.until(lambda: dialog.servers.list.rows.rowCount() == 1, "the server")
    await live.idle()
    watch.look("server", dialog)
    live.press_button("Add it", dialog.servers)
    await live.until(lambda: "is added" in dialog.servers.message.text(), "the server's models")
    await live.idle()
    dialog.show_page("models")
    await live.settle()
    watch.look("its models", dialog)
    dialog.reject()
    await live.back()


async def test_hostile_texts_are_shown_and_do_nothing(
    house: House,
    tmp_path: Path,
    listener: Listener,
    server: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    went: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: went.append(url.toString()))
    picture = paint(tmp_path / "picture.png")
    texts = [*all_shapes(picture), *all_shapes(listener.address)]
    live = await house.start(write_hostile(tmp_path, texts))
    window, watch = live.window, Watch(house.app, listener)
    await live.idle()
    assert MARK in window.windowTitle() and "\n" not in window.windowTitle()
    watch.look("start")
    window.map.show_as(Shown.BOTH)
    for number, tab in enumerate(TABS, 1):
        live.keys(f"Ctrl+{number}")
        await live.idle()
        watch.look(tab)
    live.keys("Ctrl+1")
    await every_entry(live, watch)
    flow = window.agent.conversation.view.flow
    documents = [
        box.document
        for item in range(flow.count)
        for part in range(len(flow.laid(item).parts))
        if isinstance(box := flow.laid(item).box(part, flow.pictures), DocumentBox)
    ]
    assert any(MARK in document.toPlainText() for document in documents)
    assert not any(map(has_image, documents))
    window.compaction.set_cut(live.partition.valid_cuts[-1])
    await live.idle()
    await every_dialog(live, watch)
    await a_server(live, watch, server, texts)
    window.notices.show_notice(Notice("error", texts[0], texts[1], texts[2], "\n".join(texts)))
    live.press_button("Details", window.notices)
    await live.settle()
    watch.look("notice", window.notices)
    await all_sessions(live, watch)
    assert went == []
    assert watch.seen >= SHOWN
