"""Tests of the window are coroutines: they run in the window's own loop."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from tests.ui.window.house import House


@pytest.fixture(autouse=True)
def house(app: QApplication, explorer_home: Path) -> Iterator[House]:
    """The loop of this test; fails when a window leaves or prints anything."""
    here = House(app)
    yield here
    here.shut()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine in the loop of its house."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    pyfuncitem.funcargs["house"].run(pyfuncitem.obj(**arguments))
    return True
