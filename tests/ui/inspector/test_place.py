"""A place of an entry's text: found in what is shown of it, whatever that is."""

from __future__ import annotations

import json

import pytest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextEdit, QWidget

from explorer.audit.findings import QuotedText, quoted
from explorer.facts import Span
from tests.ui.sessions import Talk, call_block
from tests.ui.waiting import settle, wait_for
from ui.inspector import EntryPane
from ui.inspector.place import place_in_json, rendered_place
from ui.widgets.labels import ElidedLabel
from ui.widgets.marked import marked
from ui.widgets.panels import CollapsibleSection
from ui.widgets.plain_text import displayed_at, split_lines


@pytest.fixture
def pane(app: QApplication) -> EntryPane:
    widget = EntryPane()
    widget.resize(460, 500)
    widget.show()
    return widget


def span_of(talk: Talk, entry: int, text: str, block: int = 0, argument: str = "") -> Span:
    """The first place of a text in one of an entry's texts."""
    whole = quoted(talk.document.payloads.shown.entry(entry), Span(entry, 0, 0, block, argument))
    assert whole is not None
    before = whole.whole[: whole.whole.index(text)]
    start, end = (len(part.encode("utf-16-le")) // 2 for part in (before, before + text))
    return Span(entry, start, end, block, argument)


def show(pane: EntryPane, talk: Talk, span: Span) -> None:
    pane.show_entry(talk.document, span.entry)
    pane.show_place(span, "a thing")
    settle()


def marks(pane: EntryPane) -> list[str]:
    return [text for view in views(pane) for text in marked(view)]


def views(pane: EntryPane) -> list[QTextEdit | QPlainTextEdit]:
    return [*pane.findChildren(QTextEdit), *pane.findChildren(QPlainTextEdit)]


def in_sight(pane: EntryPane, view: QWidget) -> bool:
    at = view.mapTo(pane.area.viewport(), view.rect().topLeft())
    if isinstance(view, QTextEdit | QPlainTextEdit):
        at = view.viewport().mapTo(
            pane.area.viewport(), view.cursorRect(view.textCursor()).topLeft()
        )
    return pane.area.viewport().rect().contains(at)


def test_the_second_time_in_rendered_text_below_much_else(pane: EntryPane) -> None:
    """Markup, an emoji of two units and an earlier mention do not lead astray."""
    talk = Talk()
    long = "\n\n".join(f"Paragraph {number} 🎉 with **words** in it." for number in range(60))
    text = f"Never touch `main.py`.\n\n{long}\n\n- **Never** touch `main.py`, I said."
    at = talk.reply(text)
    units = text[: text.rindex("main.py")].encode("utf-16-le")
    span = Span(at, len(units) // 2, len(units) // 2 + len("main.py"))
    show(pane, talk, span)
    assert marks(pane) == ["main.py"]
    (view,) = (view for view in views(pane) if marked(view))
    cursor = view.textCursor()
    assert cursor.block().text() == "Never touch main.py, I said."
    assert in_sight(pane, view)
    assert pane.place.isVisible() and "a thing" in pane.place.accessibleName()


def test_thinking_that_is_folded_is_opened(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.reply({"type": "thinking", "thinking": "The port is 8431, I think."}, "Done.")
    show(pane, talk, span_of(talk, at, "8431"))
    assert marks(pane) == ["8431"]
    (fold,) = pane.findChildren(CollapsibleSection)
    assert fold.expanded


def test_a_path_of_a_call_is_marked_in_its_title(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.reply(call_block("c1", "read", path="src/deep/sync.py"))
    show(pane, talk, span_of(talk, at, "src/deep/sync.py", argument="path"))
    assert [one.marked for one in pane.findChildren(ElidedLabel) if one.marked] == [
        "src/deep/sync.py"
    ]


def test_what_no_view_shows_is_marked_in_the_json_and_the_view_comes_back(pane: EntryPane) -> None:
    talk = Talk()
    at = talk.reply("See [the log](https://example.org/log/7) for it.")
    other = talk.reply("Else.")
    show(pane, talk, span_of(talk, at, "https://example.org/log/7"))
    assert pane.header.raw.isChecked()
    assert marks(pane) == ["https://example.org/log/7"]
    pane.show_entry(talk.document, other)
    settle()
    assert pane.header.rendered.isChecked() and marks(pane) == []
    assert not pane.place.isVisible()


def test_a_text_that_streams_in_is_marked_when_it_is_there(pane: EntryPane) -> None:
    talk = Talk()
    text = "a line of words\n" * 30_000 + "exit code 137\n"
    at = talk.document.add(
        {"type": "message", "id": "r1", "parentId": None,
         "message": {"role": "toolResult", "toolCallId": "x", "toolName": "bash",
                     "content": [{"type": "text", "text": text}]}}
    )  # fmt: skip
    pane.show_entry(talk.document, at)
    pane.show_place(span_of(talk, at, "exit code 137"), "a failure")
    wait_for(lambda: marks(pane) == ["exit code 137"])


@pytest.mark.parametrize(
    ("source", "wanted", "shown", "found"),
    [
        ("a **b** a", 8, "a b a", "a"),
        ("| `x.py` | y |", 3, "\ufdd0x.py\u2029y\ufdd1", "x.py"),
        ("1. one\n2. two", 10, "one\u2029two", "two"),
    ],
)
def test_where_markdown_is_rendered(source: str, wanted: int, shown: str, found: str) -> None:
    place = rendered_place(source, shown, wanted, wanted + len(found))
    assert place is not None
    assert shown[slice(*place)] == found
    assert (source.count(found) > 1) == (place[0] > shown.index(found))


def test_an_address_is_not_in_what_is_rendered() -> None:
    assert rendered_place("[a](http://x.y)", "a", 4, 14) is None


def test_a_place_in_json_is_that_of_the_escaped_text() -> None:
    text = 'say "no"\nnever 5 ms'
    pretty = json.dumps({"first": "never 5 ms", "content": text}, indent=2)
    place = place_in_json(pretty, QuotedText(text, text.index("5 ms"), len(text)))
    assert place is not None and pretty[slice(*place)] == "5 ms"
    assert place[0] > pretty.index("content")


def test_a_place_in_a_text_whose_long_lines_are_broken_for_display() -> None:
    text = "x" * 2500 + "🎉\n" + "y" * 1000 + "z"
    shown = split_lines(text)[0].encode("utf-16-le")
    for letter in "🎉z":
        at = displayed_at(text, text.index(letter) + 1) * 2
        size = len(letter.encode("utf-16-le"))
        assert shown[at - size : at].decode("utf-16-le") == letter
