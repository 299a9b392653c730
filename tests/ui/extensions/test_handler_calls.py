"""What extensions did, as it is shown below a draft."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from explorer.extensions.answers import HookRecord
from ui.compaction.draft_record import HandlerCallsView, line_of, summary_of

BEFORE = "session_before_compact"


def test_calls_are_told_in_words(app: QApplication) -> None:
    records = [
        HookRecord("a", BEFORE, "nothing", 1.4),
        HookRecord("b", "session_request", "changed", 12.0, "the history request"),
        HookRecord("c", BEFORE, "error", 3.0, "KeyError: 'x'", "/x/c.py", 7),
    ]
    shown = HandlerCallsView()
    assert shown.isHidden()
    shown.show_records(records[:2])
    assert not shown.isHidden() and not shown.section.expanded
    assert summary_of(records[:1]) == "Extensions: 1 call, nothing done"
    assert summary_of(records) == "Extensions: 3 calls, 1 failed, 1 acted"
    shown.show_records(records)
    assert shown.section.expanded
    assert line_of(records[1]) == "b, on the request: changed the text: the history request (12 ms)"
    assert shown.lines()[2].endswith("failed: KeyError: 'x': /x/c.py, line 7 (3 ms)")
    shown.show_records(())
    assert shown.isHidden()
    shown.deleteLater()
