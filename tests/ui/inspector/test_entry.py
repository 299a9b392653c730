"""The pane for one entry: what is seen, what is asked, what is never loaded."""

from __future__ import annotations

import base64
import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QBuffer, QPoint, Qt
from PySide6.QtGui import QColor, QDesktopServices, QImage, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from explorer.session.edit_entries import PRUNE_TYPE
from explorer.session.entries import Entry, ToolResultMessage
from explorer.session.rows import result_row
from tests.ui.sessions import MemoryDocument, Talk, call_block, load_file
from tests.ui.waiting import Heard, settle, shown_texts, wait_for
from ui import theme
from ui.inspector import EntryPane
from ui.inspector.block_views import CallView, CodeView, ResultView, ThinkingView
from ui.inspector.diff_view import DiffView
from ui.inspector.images import PictureView
from ui.inspector.markdown_view import InertDocument, MarkdownView
from ui.widgets.labels import LinkButton
from ui.widgets.plain_text import PlainTextView


@pytest.fixture
def pane(app: QApplication) -> EntryPane:
    widget = EntryPane()
    widget.resize(460, 800)
    widget.show()
    return widget


def _views(pane: EntryPane, kind: type[QWidget]) -> list[Any]:
    content = pane.area.widget()
    return [] if content is None else content.findChildren(kind)


def _texts(pane: EntryPane) -> str:
    plain = [view.toPlainText() for view in _views(pane, PlainTextView)]
    return "\n".join(plain + [view.toPlainText() for view in _views(pane, MarkdownView)])


def test_nothing_selected_says_what_to_do(pane: EntryPane) -> None:
    settle()
    assert "No entry selected" in shown_texts(pane)
    pane.show_entry(None, 3)
    assert pane.index == -1


def test_header_tells_kind_number_time_tokens_model_and_label(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.reply("Done.", usage={"totalTokens": 4321})
    talk.entry("label", targetId="e0000000", label="good one")
    pane.show_entry(talk.document, at)
    settle()
    words = shown_texts(pane)
    for part in ("Assistant", "#0", "tokens (estimate)", "4,321 (provider)", "anthropic/claude"):
        assert part in words
    assert "good one" in words
    assert "id e0000000" in words
    assert pane.header.title.text() == "Assistant"
    talk.document.count_by(2.0)
    pane.refresh_labels()
    assert "tokens (tokenizer)" in shown_texts(pane)


def test_an_id_longer_than_a_line_has_its_middle_in_the_tip(pane: EntryPane) -> None:
    long_id = "msg_01Ab" + "x" * 80 + "_last"
    talk = Talk()
    talk.user("Go.")
    at = talk.entry("message", id=long_id, message={"role": "user", "content": "On."})
    pane.show_entry(talk.document, at)
    facts = pane.header.facts
    for width in (460, 300):
        pane.resize(width, 800)
        settle()
        shown = facts.text().rpartition(" · ")[2]
        assert shown.startswith("id msg_01Ab") and shown.endswith("last") and "…" in shown
        assert facts.fontMetrics().horizontalAdvance(shown) <= facts.width()
        assert facts.toolTip() == long_id
    assert long_id in pane.header.accessibleName()
    lines = "9af7c113-14c6-4e4e-a1a7-0d9784d3a810/run_shell_command"
    pane.show_entry(talk.document, talk.entry("message", id=lines, message={"role": "user"}))
    assert f"id {lines}" in facts.text() and not facts.toolTip(), "it may end a line"


def test_a_pruned_result_has_its_tokens_as_sent_and_as_stored(pane: EntryPane) -> None:
    """Both counted here; what the prune recorded stands with the prune."""
    talk = Talk()
    talk.reply(call_block("c1", "read", path="a.py"))
    at = talk.result("c1", "line" * 300)
    listed = [{"id": "e0000001", "tokens": 250, "text": "gone"}]
    talk.entry("custom", customType=PRUNE_TYPE, data={"results": listed})
    pane.show_entry(talk.document, at)
    settle()
    assert "≈1 tokens as sent, 300 as stored (estimate)" in pane.header.facts.text()


def test_markdown_is_rendered_and_thinking_folded(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.reply({"type": "thinking", "thinking": "secret thought"}, "# Title\n\nsome **bold**")
    pane.show_entry(talk.document, at)
    settle()
    (thinking,) = _views(pane, ThinkingView)
    inside = thinking.fold.content
    assert not inside.isVisible()
    QTest.mouseClick(thinking.fold.header, Qt.MouseButton.LeftButton)
    assert inside.isVisible()
    title = next(v for v in _views(pane, MarkdownView) if "Title" in v.toPlainText())
    assert "#" not in title.toPlainText()
    assert "**" not in title.toPlainText()
    assert title.document().begin().blockFormat().headingLevel() == 1


def test_html_and_images_of_a_session_load_nothing(pane: EntryPane, tmp_path: Path) -> None:
    """Session text is untrusted: no local file, no network, no script."""
    secret = tmp_path / "secret.png"
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    assert image.save(str(secret))
    talk = Talk()
    at = talk.reply(
        f"![pic]({secret.as_uri()}) <img src='{secret.as_uri()}'>\n\n![ref][r]\n\n"
        f"[r]: {secret.as_uri()}\n\n<script>alert(1)</script>"
    )
    pane.show_entry(talk.document, at)
    settle()
    (view,) = _views(pane, MarkdownView)
    assert isinstance(view.document(), InertDocument)
    loaded = view.document().resource(2, view.document().baseUrl().resolved(secret.as_uri()))
    assert loaded.size().width() == 1
    shot = view.grab().toImage()
    red = sum(
        shot.pixelColor(x, y) == QColor("red")
        for x in range(0, shot.width(), 3)
        for y in range(0, shot.height(), 3)
    )
    assert red == 0
    assert "<script>" in view.toPlainText()


@pytest.mark.parametrize(
    "text",
    [
        "![pic](SRC)",
        "![pic][r]\n\n[r]: SRC",
        '![pic](<SRC> "a (title")',
        "![p*i*c](SRC)",
        "| a |\n|---|\n| ![pic](SRC) |",
        "[![pic](SRC)](https://example.org)",
    ],
)
def test_an_image_is_its_description_however_it_is_written(pane: EntryPane, text: str) -> None:
    talk = Talk()
    pane.show_entry(talk.document, talk.reply(text.replace("SRC", "file:///tmp/a.png")))
    settle()
    (view,) = _views(pane, MarkdownView)
    assert view.toPlainText().strip().removeprefix("a\n") == "image: pic"
    assert "<img" not in view.document().toHtml(), "what is copied has no image either"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`![pic](a.png)`", "![pic](a.png)"),
        ("```\n![](a.png)\n```", "![](a.png)"),
        ("![](a.png)", "image: no description"),
        ("---\nhidden: words\n---\nshown", "hidden: words\nshown"),
        ("<!-- hidden -->\nshown", "<!-- hidden -->\nshown"),
    ],
)
def test_rendering_leaves_no_words_out(pane: EntryPane, text: str, shown: str) -> None:
    talk = Talk()
    pane.show_entry(talk.document, talk.reply(text))
    settle()
    (view,) = _views(pane, MarkdownView)
    assert view.toPlainText().strip() == shown


def test_the_inert_document_gives_nothing_even_for_files_that_exist(app: QApplication) -> None:
    document = InertDocument()
    from PySide6.QtCore import QUrl

    style = document.resource(3, QUrl.fromLocalFile(__file__))
    assert not bytes(style or b"")


def test_a_link_shows_its_address_and_opens_only_on_a_second_press(
    pane: EntryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    talk = Talk()
    at = talk.reply("[harmless](https://example.org/elsewhere)")
    pane.show_entry(talk.document, at)
    settle()
    (view,) = _views(pane, MarkdownView)
    cursor = QTextCursor(view.document())
    cursor.setPosition(2)
    where = view.cursorRect(cursor).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(where.x(), where.y()))
    assert pane.address.isVisible()
    assert pane.address.address == "https://example.org/elsewhere"
    assert opened == []
    QTest.mouseClick(pane.address._open, Qt.MouseButton.LeftButton)
    assert opened == ["https://example.org/elsewhere"]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://\u0430pple.com/a", "https://xn--pple-43d.com/a"),
        ("https://example.org/\u202egpj.exe", "https://example.org/%E2%80%AEgpj.exe"),
        ("https://example.org/%E2%80%AEgpj.exe", "https://example.org/%E2%80%AEgpj.exe"),
        ("file:///tmp/\u202egpj.exe", "file:///tmp/\ufffdgpj.exe"),
    ],
)
def test_an_address_is_shown_as_it_is_sent(pane: EntryPane, address: str, shown: str) -> None:
    talk = Talk()
    pane.show_entry(talk.document, talk.reply("text"))
    (view,) = _views(pane, MarkdownView)
    view.link_asked.emit(address)
    settle()
    (words,) = pane.address.findChildren(PlainTextView)
    assert words.text() == shown == pane.address.address


@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:alert(1)", "smb://h/x"])
def test_links_that_are_not_of_the_web_are_never_opened(pane: EntryPane, address: str) -> None:
    talk = Talk()
    pane.show_entry(talk.document, talk.reply("text"))
    (view,) = _views(pane, MarkdownView)
    view.link_asked.emit(address)
    settle()
    assert pane.address.isVisible()
    assert not pane.address._open.isVisible()


def test_code_is_coloured_in_both_themes(pane: EntryPane, app: QApplication) -> None:
    talk = Talk()
    at = talk.reply("```python\ndef work():\n    return 1\n```")
    pane.show_entry(talk.document, at)

    def colour_of_keyword() -> QColor:
        (view,) = _views(pane, MarkdownView)
        formats = view.document().begin().layout().formats()
        return formats[0].format.foreground().color()

    assert colour_of_keyword() == theme.LIGHT.think
    theme.set_theme("dark", app)
    settle()
    assert colour_of_keyword() == theme.DARK.think


def test_a_call_shows_its_diff_and_its_result(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.reply(call_block("c", "edit", path="a.py", oldText="x = 1\n", newText="x = 2\n"))
    result = talk.result("c", "Replaced.", "edit")
    pane.show_entry(talk.document, at)
    settle()
    (diff,) = _views(pane, DiffView)
    assert diff.toPlainText() == "- x = 1\n+ x = 2"
    block = diff.document().begin()
    assert block.blockFormat().background().color() == theme.LIGHT.removed
    assert block.next().blockFormat().background().color() == theme.LIGHT.added
    assert "Replaced." in _texts(pane)
    spy = Heard(pane.entry_requested)
    (view,) = _views(pane, ResultView)
    link = next(b for b in view.findChildren(LinkButton) if b.text() == f"#{result}")
    QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert spy.at(0)[0] == result


def test_a_result_has_the_lines_that_its_row_counts(pane: EntryPane) -> None:
    talk = Talk()
    talk.reply(call_block("c", "exec_command", cmd="cat a.go"))
    head = "Chunk ID: 4f\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"
    at = talk.result("c", head + "\n".join(map(str, range(9))), "exec_command")
    body = talk.document.payloads.shown.entries([at])[0].body
    assert isinstance(body, ToolResultMessage) and result_row(body, None).endswith("9 lines")
    pane.show_entry(talk.document, at)
    settle()
    (view,) = _views(pane, ResultView)
    assert "9 lines" in shown_texts(view) and "13 lines" not in shown_texts(view)


def test_call_and_result_stand_side_by_side_where_there_is_room(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.reply(call_block("c", "bash", command="ls"))
    talk.result("c", "listing", "bash")
    pane.show_entry(talk.document, at)
    settle()
    (call,) = _views(pane, CallView)
    assert call.results[0].y() > call.call.y()
    pane.resize(1200, 700)
    settle()
    assert call.results[0].x() > call.call.x()


def test_compaction_facts_link_to_the_first_kept_entry(pane: EntryPane) -> None:
    talk = Talk()
    talk.user("one")
    kept = talk.user("two")
    at = talk.entry(
        "compaction", summary="## Goal\nx", tokensBefore=5000,
        firstKeptEntryId=talk.document.tree.columns.ids[kept],
    )  # fmt: skip
    pane.show_entry(talk.document, at)
    settle()
    assert "5,000" in shown_texts(pane)
    spy = Heard(pane.entry_requested)
    link = next(b for b in _views(pane, LinkButton) if b.text() == f"#{kept}")
    QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert spy.at(0)[0] == kept


def test_a_link_to_an_entry_that_is_not_there_says_so(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.entry("branch_summary", summary="x", fromId="gone")
    pane.show_entry(talk.document, at)
    settle()
    link = next(b for b in _views(pane, LinkButton) if b.text() == "gone")
    QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert "no entry gone" in shown_texts(pane.notice)


def test_raw_shows_the_json_coloured(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.entry("brand_new", value={"deep": [1, 2]})
    pane.show_entry(talk.document, at)
    QTest.mouseClick(pane.header.raw, Qt.MouseButton.LeftButton)
    settle()
    assert pane.raw.isVisible()
    assert '"deep": [' in pane.raw.toPlainText()
    QTest.mouseClick(pane.header.copy, Qt.MouseButton.LeftButton)
    assert '"brand_new"' in QApplication.clipboard().text()
    QTest.mouseClick(pane.header.rendered, Qt.MouseButton.LeftButton)
    assert pane.area.isVisible()


def test_copy_takes_the_words(pane: EntryPane) -> None:
    talk = Talk()
    pane.show_entry(talk.document, talk.user("copy **me**"))
    QTest.mouseClick(pane.header.copy, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "copy **me**"


class _Gate:
    """Payloads that wait until they are let through, as a slow disk would make them."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.open = threading.Event()
        self.threads: set[int] = set()

    def _wait(self) -> None:
        self.threads.add(threading.get_ident())
        assert self.open.wait(20)

    def raw(self, index: int) -> str:
        self._wait()
        return str(self.inner.raw(index))

    def entry(self, index: int) -> Entry:
        self._wait()
        return self.inner.entry(index)

    def entries(self, indices: Any) -> list[Entry]:
        self._wait()
        return list(self.inner.entries(indices))

    def previews(self, indices: Any) -> list[str]:
        return list(self.inner.previews(indices))

    def first_words(self, indices: Any) -> tuple[list[str], list[int]]:
        return self.previews(indices), []


def _large() -> tuple[MemoryDocument, int, str]:
    talk = Talk()
    talk.reply(call_block("c", "bash", command="cat big"))
    text = "\n".join(f"row {number} of a big file" for number in range(40_000)) + "\nTHE END"
    return talk.document, talk.result("c", text, "bash"), text


def test_a_large_result_answers_at_once_and_streams_in(pane: EntryPane) -> None:
    """The header is there before the payload has been read; reading is not the window's work."""
    document, at, text = _large()
    gate = _Gate(document.payloads.shown)
    document.payloads.shown = gate  # type: ignore[assignment]
    pane.show_entry(document, at)
    settle()
    assert pane.header.number.text() == f"#{at}"
    assert "Reading" in shown_texts(pane)
    gate.open.set()
    wait_for(lambda: bool(_views(pane, ResultView)), "the result")
    assert threading.get_ident() not in gate.threads
    (view,) = _views(pane, ResultView)
    assert view.body.is_loading
    assert view.body.toPlainText().startswith("row 0")
    wait_for(lambda: not view.body.is_loading, "the rest")
    assert view.body.toPlainText() == text


def test_another_selection_forgets_the_large_one(pane: EntryPane) -> None:
    document, at, _ = _large()
    gate = _Gate(document.payloads.shown)
    document.payloads.shown = gate  # type: ignore[assignment]
    pane.show_entry(document, at)
    settle(10)
    talk = Talk()
    pane.show_entry(talk.document, talk.user("small"))
    gate.open.set()
    for _ in range(50):
        settle(1)
        QTest.qWait(2)
    assert "small" in _texts(pane)
    assert not _views(pane, ResultView)


def test_unreadable_content_says_what_was_kept(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.user("x")

    class Broken(_Gate):
        def entry(self, index: int) -> Entry:
            raise OSError("disk gone")

    talk.document.payloads.shown = Broken(talk.document.payloads)  # type: ignore[assignment]
    pane.show_entry(talk.document, at)
    settle()
    words = shown_texts(pane)
    assert "could not be read" in words
    assert "are kept" in words


def _png(width: int, height: int) -> str:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return base64.b64encode(bytes(buffer.data().data())).decode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (_png(320, 200), "320 × 200"),
        ("blob:sha256:abc", "outside of the session"),
        (base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>").decode(), "not a picture"),
        ("????", "not a picture"),
    ],
)
def test_pictures_are_decoded_within_limits(pane: EntryPane, data: str, words: str) -> None:
    talk = Talk()
    block = {"type": "image", "mimeType": "image/png", "data": data}
    at = talk.message("user", [{"type": "text", "text": "look"}, block])
    pane.show_entry(talk.document, at)
    (picture,) = _views(pane, PictureView)
    wait_for(lambda: "Decoding" not in picture.caption.text(), "the picture")
    assert words in picture.caption.text()
    if "×" in words:
        settle()
        assert picture._picture.pixmap().width() > 0


def test_no_pane_is_wider_than_its_place(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.reply("word " * 100 + "x" * 300, call_block("c", "bash", command="z" * 500))
    talk.result("c", "y" * 3000, "bash")
    pane.resize(320, 600)
    pane.show_entry(talk.document, at)
    settle()
    assert pane.width() == 320
    assert pane.area.widget().width() <= pane.area.viewport().width()
    for view in _views(pane, CodeView):
        assert view.mapTo(pane, QPoint(view.width(), 0)).x() <= 320


def test_every_kind_of_real_sessions_can_be_shown(pane: EntryPane, conformance_dir: Path) -> None:
    for name in ("everything", "extras", "hard-values", "omp-compacted"):
        document = load_file(conformance_dir / f"{name}.jsonl")
        seen: set[tuple[int, int]] = set()
        columns = document.tree.columns
        for at in range(len(document.tree)):
            what = (columns.kind[at], columns.flags[at])
            if what in seen:
                continue
            seen.add(what)
            pane.show_entry(document, at)
            assert pane._gathered is not None
            assert pane._gathered.index == at
    settle()


def test_json_behind_a_long_line_is_still_coloured(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.entry("brand_new", first="x" * 3500, second={"key": 1})
    pane.show_entry(talk.document, at)
    QTest.mouseClick(pane.header.raw, Qt.MouseButton.LeftButton)
    settle()
    last = pane.raw.document().find('"key"').block()
    colours = {part.format.foreground().color().name() for part in last.layout().formats()}
    assert theme.LIGHT.user.name() in colours
    long = pane.raw.document().find("xxx").block()
    for _ in range(3):
        assert long.layout().formats()[-1].format.foreground().color() == theme.LIGHT.tool
        long = long.next()
