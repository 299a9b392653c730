"""Memory that a closed session leaves behind."""

from __future__ import annotations

import sys
import weakref

import pytest

from tests.ui.window.house import House
from tests.ui.window.running import sample_path
from ui.memory import share_arenas


@pytest.mark.skipif(sys.platform != "linux", reason="a setting of glibc")
def test_threads_share_what_they_take_memory_from() -> None:
    assert share_arenas()


async def test_nothing_holds_on_to_a_closed_session(house: House) -> None:
    live = await house.start(sample_path())
    await live.idle()
    document, key = weakref.ref(live.document), live.document.key
    tree = weakref.ref(live.document.tree)
    live.session.desk.show(None)
    live.session.desk.bench.close(key)
    await live.idle()
    assert document() is None
    assert tree() is None
