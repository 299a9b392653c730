"""Work that a pane waits for: it ends in an answer or in words, whatever happens."""

from __future__ import annotations

import logging

import pytest
from PySide6.QtWidgets import QApplication

from tests.ui.waiting import wait_for
from ui.inspector.gather import Loader


def test_what_nobody_expected_is_told_too(
    app: QApplication, caplog: pytest.LogCaptureFixture
) -> None:
    loader, told = Loader(), list[str]()
    loader.failed.connect(told.append)
    with caplog.at_level(logging.ERROR):
        loader.load(lambda: 1 / 0)
        wait_for(lambda: bool(told))
    assert told == ["ZeroDivisionError: division by zero"]
    assert "ZeroDivisionError" in caplog.text
