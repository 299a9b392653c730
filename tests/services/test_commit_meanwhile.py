"""A commit at another place is void when the session grows while an extension is asked about it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.services.document import Document
from explorer.services.draft_records import (
    Draft,
)
from explorer.session.kinds import Kind
from tests.services.extension_place import Place, order

SETTINGS = replace(Settings.of(PROFILES["explorer"]), keep_recent_tokens=1000)
ANSWERS_LATE = """
import pathlib
folder = pathlib.Path({folder!r})
(folder / "asked").touch()
while not (folder / "answer").exists():
    await asyncio.sleep(0.01)
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    made.handle("session_before_tree", ANSWERS_LATE.format(folder=str(tmp_path)), head="async def")
    yield made
    made.close()


async def draft_of(document: Document, entry: int) -> Draft:
    shown = document.compaction.preview(entry, PROFILES["explorer"], SETTINGS)
    assert isinstance(shown.preparation, Preparation)
    return await document.compaction.summarize(shown, order())


async def commit(document: Document, draft: Draft, folder: Path, *, grows: bool) -> int:
    """Commit a draft; while the extension is asked, the session grows or does not."""
    work = asyncio.ensure_future(document.compaction.commit(draft, leaving=document.leaf))
    while not (folder / "asked").exists():
        await asyncio.sleep(0.01)
    if grows:
        await document.edits.set_label(5, "meanwhile")
    (folder / "answer").touch()
    return await work


def test_a_leaf_that_moves_while_an_extension_is_asked_stops_the_commit(
    place: Place, tmp_path: Path
) -> None:
    document = place.document()
    at = document.tree.path(document.leaf)[-20]
    draft = asyncio.run(draft_of(document, at))
    with pytest.raises(ValueError, match="moved on"):
        asyncio.run(commit(document, draft, tmp_path, grows=True))
    assert document.tree.kind(document.leaf) is Kind.LABEL
    assert document.leaf == len(document.tree) - 1, "nothing was stored after the label"


def test_a_leaf_that_stays_does_not(place: Place, tmp_path: Path) -> None:
    document = place.document()
    at = document.tree.path(document.leaf)[-20]
    draft = asyncio.run(draft_of(document, at))
    index = asyncio.run(commit(document, draft, tmp_path, grows=False))
    assert document.leaf == index
    assert document.tree.columns.parent[index] == at
