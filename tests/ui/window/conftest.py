"""Tests of the window are coroutines: they run in the window's own loop."""

from __future__ import annotations

import gc
import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from explorer.models.provider import import_litellm
from explorer.settings.paths import ensure, preferences_path
from tests.models.server import Answer, ChatServer
from tests.models.summaries import GOOD
from tests.team.conftest import address, cluster, library_of, mortal, team_database
from tests.ui.window.automatic import AGENT, FULL, SUMMARIZER
from tests.ui.window.house import House
from ui import theme

__all__ = ["address", "cluster", "library_of", "mortal", "team_database"]

MODEL = "openai/gpt-4o-mini"


@pytest.fixture(autouse=True)
def house(app: QApplication, explorer_home: Path, shared_counting: None) -> Iterator[House]:
    """The loop of this test; fails when a window leaves or prints anything."""
    here = House(app)
    yield here
    here.shut()
    theme.set_text_scale(1)


@pytest.fixture(scope="session")
def provider_library() -> None:
    """litellm, imported: that takes seconds, which are not to count as a provider's silence."""
    import_litellm()
    # Its tables live on: no window of this run goes through them when it collects.
    gc.collect()
    gc.freeze()


@pytest.fixture
def server(
    explorer_home: Path, provider_library: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ChatServer]:
    """A provider on this machine, chosen as the model of everything."""
    with ChatServer() as running:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        ensure(preferences_path().parent)
        chosen = {"summary_model": MODEL, "agent_model": MODEL}
        preferences_path().write_text(json.dumps(chosen), encoding="utf-8")
        yield running


@pytest.fixture
def provider(
    explorer_home: Path, provider_library: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ChatServer]:
    """A provider on this machine with one model for the agent and another for summaries."""
    with ChatServer() as running:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        ensure(preferences_path().parent)
        chosen = {"summary_model": SUMMARIZER, "agent_model": AGENT}
        preferences_path().write_text(json.dumps(chosen), encoding="utf-8")
        running.plan(Answer(text=GOOD), model="gpt-4o")
        running.plan(Answer(text="Yes.", usage=FULL), model="gpt-4o-mini")
        yield running


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine in the loop of its house."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    pyfuncitem.funcargs["house"].run(pyfuncitem.obj(**arguments))
    return True
