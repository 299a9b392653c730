"""Memory that a closed session leaves behind."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import pytest

from tests.ui.window.house import House
from tests.ui.window.running import sample_path
from ui.event_loop import share_arenas
from ui.workshop.mend_window import MendWindow


@pytest.mark.skipif(sys.platform != "linux", reason="a setting of glibc")
def test_threads_share_what_they_take_memory_from() -> None:
    assert share_arenas()


def is_gone(what: weakref.ref[Any]) -> bool:
    """Whether nothing holds it. An idle window makes nothing new, so that no collection is due."""
    gc.collect()
    return what() is None


async def test_nothing_holds_on_to_a_closed_session(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    document, key = weakref.ref(live.document), live.document.key
    tree = weakref.ref(live.document.tree)
    live.session.state.show(None)
    live.session.state.bench.close(key)
    await live.until(lambda: is_gone(document) and is_gone(tree), "the end of its memory")


async def test_a_draft_and_its_check_let_go_of_a_closed_session(house: House) -> None:
    live = await house.start(sample_path())
    panel = live.window.compaction
    live.keys("Ctrl+3")
    panel.setup.summarize.setFocus()
    live.keys("Space")
    await live.until(lambda: panel.has_drafts, "the draft")
    live.press_button("Check and mend…")
    window = await live.dialog(MendWindow)
    await live.until(lambda: not live.session.summary_check.running, "the check")
    live.keys("Esc", to=window)
    document, key = weakref.ref(live.document), live.document.key
    live.session.state.show(None)
    live.session.state.bench.close(key)
    await live.until(lambda: is_gone(document), "the end of the session's memory")
