"""A session that its own agent is writing grows in the window."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from explorer.formats import registry
from tests.formats.files import write_session
from tests.services.test_growing_entries import ANSWER, FIRST, GREW, write
from tests.services.test_new_format import Parley
from tests.ui.window.house import House


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def line(**fields: Any) -> str:
    return json.dumps(fields) + "\n"


async def test_lines_that_are_written_come_into_the_window(house: House, tmp_path: Path) -> None:
    path = write_session(tmp_path / "live.jsonl", "s-1", ["Look at the quay.", "And the pier."])
    live = await house.start(path)
    await live.until(lambda: len(live.document.tree) == 2, "the session")
    said = line(type="message", id="00000002", parentId="00000001",
                message={"role": "user", "content": "The tide comes."})  # fmt: skip
    append(path, said[:30])
    await live.settle(60)
    assert len(live.document.tree) == 2, "half a line is waited for"
    append(path, said[30:])
    await live.until(lambda: len(live.document.tree) == 3, "the new entry")
    assert live.document.leaf == 2 and live.window.map.selected == 2, "who looks at the end follows"
    view = live.window.agent.conversation.view
    await live.until(lambda: view.flow.count == 3, "the conversation")


async def test_who_has_moved_the_leaf_stays_there(house: House, tmp_path: Path) -> None:
    path = write_session(tmp_path / "live.jsonl", "s-1", ["one", "two", "three"])
    live = await house.start(path)
    await live.until(lambda: len(live.document.tree) == 3, "the session")
    await live.document.writer.move_leaf(0)
    append(path, line(type="message", id="00000003", parentId="00000002",
                      message={"role": "user", "content": "four"}))  # fmt: skip
    await live.until(lambda: len(live.document.tree) == 4, "the new entry")
    assert live.document.leaf == 0


async def test_a_compaction_of_its_agent_is_said_at_once(house: House, tmp_path: Path) -> None:
    path = write_session(tmp_path / "live.jsonl", "s-1", ["one " * 400, "two", "three"])
    live = await house.start(path)
    await live.until(lambda: len(live.document.tree) == 3, "the session")
    append(
        path,
        line(
            type="compaction",
            id="00000003",
            parentId="00000002",
            summary="Three numbers.",
            firstKeptEntryId="00000002",
            tokensBefore=9000,
        ),
    )
    await live.until(lambda: "compacted" in live.notice, "the notice")
    assert "2 entries left its context (≈ 402 tokens)" in live.notice
    assert "It recorded 9k tokens before" in live.words(live.window.notices)
    live.press_button("See what was lost")
    await live.until(lambda: live.tab == "audit", "the audit")
    assert live.window.map.selected == 3


async def test_an_entry_that_grows_is_shown_as_it_is_now(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.ADAPTERS, "parley", Parley())
    path = write(tmp_path / "quay.parley", FIRST)
    live = await house.start(path)
    await live.until(lambda: len(live.document.tree) == 2, "the session")
    live.keys("Ctrl+1")
    await live.until(lambda: "I look." in live.words(live.window.entry), "the reply")
    write(path, [*FIRST, GREW])
    await live.until(lambda: bool(live.document.payloads.shown.entry(1).calls), "the call")
    await live.until(
        lambda: "quay.py" in live.words(live.window.entry), "the call in the inspector"
    )
    write(path, [*FIRST, GREW, ANSWER])
    await live.until(lambda: len(live.document.tree) == 3, "the result")


async def test_a_file_that_is_replaced_by_a_shorter_one_loses_nothing(
    house: House, tmp_path: Path
) -> None:
    path = write_session(tmp_path / "live.jsonl", "s-1", ["one", "two", "three"])
    live = await house.start(path)
    await live.until(lambda: len(live.document.tree) == 3, "the session")
    write_session(path, "s-1", ["one"])
    append(path, line(type="message", id="0000000a", parentId="00000000",
                      message={"role": "user", "content": "another way"}))  # fmt: skip
    await live.until(lambda: len(live.document.tree) == 4, "the new entry")
    assert live.document.tree.columns.parent[3] == 0
