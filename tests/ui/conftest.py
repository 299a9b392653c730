"""One application for all window tests, in the light theme and without motion."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QWidget

from tests.ui.counting import counting_process, shared_counting
from ui import theme
from ui.app import leave_sources_unread
from ui.imports import make_types

__all__ = ["counting_process", "shared_counting"]

# As the program does it; before litellm, which a test without a window may import first.
leave_sources_unread()


@pytest.fixture(scope="session")
def qapp() -> QApplication:
    """The one application of this process."""
    application = QApplication.instance() or QApplication(["session-explorer-tests"])
    assert isinstance(application, QApplication)
    for _ in make_types():  # as the program does it
        pass
    return application


@pytest.fixture
def app(qapp: QApplication) -> Iterator[QApplication]:
    """The application as every test finds it; closes and deletes what the test left open.

    Python collects nothing meanwhile but where the window does it itself: see ``ui.app.main``.
    """
    gc.disable()
    before = set(map(id, qapp.topLevelWidgets()))
    theme.set_theme("light", qapp)
    theme.set_motion(False)
    yield qapp
    left: list[QWidget] = [w for w in qapp.topLevelWidgets() if id(w) not in before]
    for widget in left:
        widget.close()
        widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    theme.set_motion(True)
    gc.enable()
