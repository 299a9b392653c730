"""What is seen of secrets in the window, and what leaves it (Trust)."""

from __future__ import annotations

import json
import socket
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from explorer.services.privacy import AskedModels
from explorer.store import Store
from tests.models.server import Answer, ChatServer
from tests.models.summaries import GOOD
from tests.ui.window.automatic import answered, compactions, say, small
from tests.ui.window.house import House
from tests.ui.window.running import sample_path
from tests.ui.window.steps import prepared
from ui.conversation.view.selection import conversation_words
from ui.models.consent import ConsentDialog

KEY = "sk-ant-api03-Zq8Lw2Rt6Yp0Ks4Vn9Xc"
MASKED = "sk-ant-[masked]•"
HOST = "models.example"


def imported(folder: Path, replies: int = 1) -> Path:
    """A session of another program with a key in it, long enough to be compacted; ``replies`` in
    each of its turns."""
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "imported-1", "cwd": "/home/me/shop",
         "timestamp": "2026-01-01T00:00:00.000Z"}
    ]  # fmt: skip
    parent = None
    for at in range(40):
        role, text = (
            ("user", f"Use {KEY} here")
            if at % (replies + 1) == 0
            else ("assistant", "word " * 3000)
        )
        message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": text}]}
        if role == "assistant":
            message |= {"provider": "x", "model": "y", "stopReason": "stop"}
        lines.append({
            "type": "message", "id": f"{at:08x}", "parentId": parent, "message": message,
            "timestamp": f"2026-01-01T00:{at:02d}:00.000Z",
        })  # fmt: skip
        parent = f"{at:08x}"
    path = folder / "imported.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def far(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> ChatServer:
    """The provider on this machine under the name of another host."""
    real = socket.getaddrinfo

    def look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        return real("127.0.0.1" if host in (HOST, HOST.encode()) else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url.replace("127.0.0.1", HOST))
    server.plan(Answer(text=GOOD), model="gpt-4o-mini")
    return server


async def test_the_first_text_of_an_imported_session_leaves_after_a_question(
    house: House, far: ChatServer, tmp_path: Path
) -> None:
    live = await house.start(imported(tmp_path))
    panel = live.window.compaction
    await live.until(lambda: panel.partition, "the preview")
    live.keys("Ctrl+Shift+K")
    dialog = await live.dialog(ConsentDialog)
    words = live.words(dialog)
    assert HOST in words and "entries to be summarized" in words and "gpt-4o-mini" in words
    live.keys("Escape")
    await live.back()
    await live.until(lambda: "Nothing was sent" in live.words(panel), "the refusal")
    assert not far.requests

    live.keys("Ctrl+Shift+K")
    dialog = await live.dialog(ConsentDialog)
    live.mnemonic("Send", dialog)
    await live.until(lambda: panel.draft.drafts(), "the draft")
    await live.back()
    sent = json.dumps(far.requests, ensure_ascii=False)
    assert KEY not in sent and MASKED in sent

    before = len(far.requests)
    live.keys("Ctrl+Shift+K")
    await live.until(lambda: len(far.requests) > before, "a request without a question")
    await live.idle()


async def test_an_automatic_compaction_waits_for_the_answer_and_a_no_leaves_the_turn_alone(
    house: House, provider: ChatServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The agent's model is on this computer, that for summaries is not."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"https://{HOST}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    path = tmp_path / "imported.jsonl"  # the bundled session itself needs no consent
    path.write_bytes(sample_path().read_bytes())
    live = await small(house, session=path)
    live.session.state.choose_model("summary_model", "anthropic/claude-haiku-4-5")
    before = compactions(live)
    say(live, "Is it done?")
    dialog = await live.dialog(ConsentDialog)
    assert HOST in live.words(dialog)
    assert live.session.agent.running, "the turn waits for the answer"
    live.keys("Escape")
    await live.back()
    await answered(live)
    assert compactions(live) == before
    assert live.document.payloads.shown.entry(live.document.leaf).text == "Yes."
    assert "Nothing was sent" in f"{live.words()} {live.notice}"


async def test_secrets_are_shown_masked_unless_the_settings_say_otherwise(
    house: House, tmp_path: Path
) -> None:
    live = await house.start(imported(tmp_path))
    entry = live.window.entry
    live.click_entry(38)
    await live.until(lambda: MASKED in live.words(entry), "the masked key")
    entry.header.copy.click()
    assert MASKED in QApplication.clipboard().text()
    assert MASKED in live.window.windowTitle()
    assert MASKED in conversation_words(live.window.agent.conversation.view.flow)
    assert KEY not in live.words()
    live.session.state.live.set("privacy.maskShown", False)
    await live.idle()
    live.click_entry(38)
    await live.until(lambda: KEY in live.words(entry), "the key")
    assert KEY in conversation_words(live.window.agent.conversation.view.flow)


class Shown(QObject):
    """Counts how often a question is shown."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, ConsentDialog):
            self.count += 1
        return False


class LateStore:
    """A database in which whoever reads second whether text may go to a host waits for a while."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reads = count(1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def session_settings(self, key: int) -> Any:
        if next(self._reads) % 2 == 0:
            time.sleep(0.5)
        return self._store.session_settings(key)


async def test_two_requests_of_one_compaction_ask_one_question(
    house: House, far: ChatServer, tmp_path: Path
) -> None:
    """The turn is split. The answer to the first request comes before the second one asks."""
    live = await house.start(imported(tmp_path, replies=6))
    panel, document = live.window.compaction, live.document
    late: Any = LateStore(document.shared.store)
    document.models = AskedModels(
        document.shared.client, document.shared.privacy, late, document.row
    )
    await live.until(lambda: panel.partition, "the preview")
    assert prepared(live).is_split_turn
    shown = Shown()
    QApplication.instance().installEventFilter(shown)
    for rounds in (1, 2):
        live.keys("Ctrl+Shift+K")
        await live.dialog(ConsentDialog)
        live.keys("Escape")
        await live.back()
        await live.until(lambda: not live.session.compaction.running, "the end of the draft")
        await live.settle()
        assert shown.count == rounds, "each compaction asks once"
    QApplication.instance().removeEventFilter(shown)
    assert "Nothing was sent" in live.words(panel) and not far.requests
