"""What a question shows: nothing of a command or a change is out of reach or unseen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel

from explorer.agent.approval import ApprovalKind, ApprovalRequest
from explorer.models.request import ToolCall
from explorer.session.text_difference import file_diff
from tests.session.hidden import FORBIDDEN
from ui.conversation.approval_card import ApprovalCard
from ui.widgets.plain_text import PlainTextView

CALL = ToolCall("c", "bash", {})


@pytest.fixture
def card(app: QApplication) -> Iterator[ApprovalCard]:
    made = ApprovalCard()
    made.resize(600, 400)
    made.typed_outside.connect(lambda event: isinstance(event, QKeyEvent))
    yield made
    made.deleteLater()


def ask(card: ApprovalCard, command: str = "", diff: str = "") -> PlainTextView:
    """Ask, and return what shows the command or the change, with its end scrolled to."""
    kind: ApprovalKind = "command" if command else "edit"
    request = ApprovalRequest(
        CALL, kind, "Run \u202ea command", command=command, diff=diff, path="a\x1b.py",
        notice="It is\u2028long.",
    )  # fmt: skip
    card.show_request(request)
    for _ in range(1000):
        QApplication.processEvents()
        body = card.findChildren(PlainTextView)[-1]
        if not body.is_loading:
            break
    bar = body.verticalScrollBar()
    bar.setValue(bar.maximum())
    QApplication.processEvents()
    return body


def captions(card: ApprovalCard) -> str:
    return "\n".join(one.text() for one in card.findChildren(QLabel) if one.isVisible())


def last_seen(body: PlainTextView) -> str:
    """The last line of the text, when it lies in the view."""
    block = body.document().lastBlock()
    bottom = body.blockBoundingGeometry(block).translated(body.contentOffset()).bottom()
    assert bottom <= body.viewport().height() + 4, "the end can be scrolled to"
    return block.text()


def test_a_long_command_shows_its_end(card: ApprovalCard) -> None:
    command = "echo a" + " " * 5000 + "\n" * 3000 + "b\x1b[8m\n" * 90 + "x" * 5000 + "; rm \u202ez"
    body = ask(card, command)
    assert body.toPlainText().startswith("echo a·×5,000⏎×3,000\nb␛[8m\n")
    assert last_seen(body).endswith("; rm ⟨U+202E⟩z")
    shown = captions(card)
    assert f"{len(command):,} characters in 3,091 lines, ending with: …" in shown
    assert "; rm ⟨U+202E⟩z" in shown
    assert "Run ⟨U+202E⟩a command" in shown and "a⟨U+202E⟩" not in shown
    spoken = card.accessibleName() + card.accessibleDescription()
    assert not FORBIDDEN & set(shown + body.toPlainText() + spoken)


def test_a_short_command_is_shown_as_it_is(card: ApprovalCard) -> None:
    assert ask(card, "ls  -l | wc").toPlainText() == "ls  -l | wc"
    assert "characters" not in captions(card)


def test_no_part_of_a_change_is_left_out(card: ApprovalCard) -> None:
    """A line that is long, or that holds what ends a line in some programs but not in files."""
    new = (
        "a\n"
        + "y" * 3000
        + "; rm 1\nsafe\u2028; rm 2\x0c; rm 3\x85@@; rm 4"
        + " " * 900
        + "; rm 5\n"
    )
    body = ask(card, diff=file_diff("a.py", "a\n", new).unified)
    shown = body.toPlainText()
    for number in range(1, 6):
        assert f"; rm {number}" in shown
    assert "; rm 5" in last_seen(body)
    lines = shown.split("\n")
    assert all(line[:1] in ("+", " ") for line in lines)
    assert not FORBIDDEN & set(shown)
