"""What the person's own library and a team's do alike, on both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.formats.registry import open_source
from explorer.session.records import SessionHeader
from explorer.store import Store, StoreError
from explorer.store.entry_rows import sound_record
from explorer.store.library import LibraryCopy, SessionLibrary
from tests.conftest import ROOT
from tests.store.conftest import eventually
from tests.store.sources import FileSource, chain, message, write_file

SAMPLE = ROOT / "resources/samples/retry-that-flakes.jsonl"


@pytest.fixture(params=["own", "team"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SessionLibrary]:
    if request.param == "team":
        yield request.getfixturevalue("library_of")("ada")
    else:
        with Store.open(tmp_path / "library.db") as opened:
            yield opened


def taken(library: SessionLibrary, tmp_path: Path, entries: list[Any], name: str = "s-1") -> int:
    header = {"type": "session", "version": 3, "id": name, "cwd": "/w",
              "timestamp": "2026-01-02T03:04:05.000Z"}  # fmt: skip
    path = write_file(tmp_path / f"{name}.jsonl", entries, header)
    return library.take_copy(FileSource(path, batch=100)).key


def test_a_session_is_listed_and_read_as_it_was_taken(
    library: SessionLibrary, tmp_path: Path
) -> None:
    odd = [*chain(150), message(150, "e149", "NUL \0, half \ud83d, é and 漢字"), "no entry {"]
    key = taken(library, tmp_path, odd)
    row = library.session(key)
    assert (row.session_id, row.entries, row.leaf, row.cwd) == ("s-1", 151, 150, "/w")
    assert [one.key for one in library.sessions()] == [key]
    source = FileSource(tmp_path / "s-1.jsonl")
    whole = [sound_record(record) for batch in source.batches() for record in batch]
    assert library.records(key, 0, 150) == whole
    assert library.records(key, 70, 71) == whole[70:72]
    assert library.asides(key) == source.report.asides
    assert library.header(key).raw == source.header.raw


def test_a_copy_of_a_copy_is_the_same(library: SessionLibrary, store: Store) -> None:
    """A session of every kind of entry goes in and comes back."""
    own = store.import_session(open_source(SAMPLE))
    there = library.take_copy(LibraryCopy(store, own.key, masks=False)).key
    back = store.take_copy(LibraryCopy(library, there, masks=False)).key
    count = store.session(own.key).entries
    assert store.records(back, 0, count) == store.records(own.key, 0, count)
    assert list(store.lines(back)) == list(store.lines(own.key))
    same = {"key": 0, "path": "", "file_ms": 0.0, "branches": 0}
    assert replace(store.session(back), **same) == replace(store.session(own.key), **same)
    assert replace(library.session(there), **same) == replace(store.session(own.key), **same)


def test_a_title_that_no_entry_gives_goes_along(library: SessionLibrary, store: Store) -> None:
    """As agents have it that keep titles beside their entries."""
    header = SessionHeader("s-1", "claude-code", 0, "/w", 0.0, "", "", title="Mending the clock")
    key = store.create_session(header).result()
    there = library.take_copy(LibraryCopy(store, key, masks=False)).key
    back = store.take_copy(LibraryCopy(library, there, masks=False)).key
    assert library.session(there).title == store.session(back).title == "Mending the clock"


def test_nothing_of_a_copy_that_fails_is_there(library: SessionLibrary, tmp_path: Path) -> None:
    class Failing(FileSource):
        def batches(self) -> Iterator[Any]:
            yield next(super().batches())
            raise OSError("the disk is gone")

    path = write_file(tmp_path / "s.jsonl", chain(50))
    with pytest.raises(OSError, match="the disk is gone"):
        library.take_copy(Failing(path, batch=10))
    assert library.sessions() == []
    assert taken(library, tmp_path, chain(3))


def test_what_is_deleted_is_gone(library: SessionLibrary, tmp_path: Path) -> None:
    key = taken(library, tmp_path, chain(5))
    assert library.delete(key).result()
    assert library.sessions() == []
    assert not library.delete(key).result()
    with pytest.raises(StoreError, match=f"no session {key}"):
        library.session(key)


FOUND = {
    "wrench": ["e0"],
    "WRENCH hammer": ["e0"],
    "wren": ["e0"],
    '"wren"': [],
    "cafe": ["e1"],
    '"hammer and wrench"': [],
    '"wrench and hammer"': ["e0"],
    "src/main.py": ["e2"],
    "main.py src": ["e2"],
    "src/main.pyc": [],
    "世界": ["e3"],
    "o'neil & co": ["e4"],
    "': | ! <->": [],
    "::": ["e5"],
    "missing": [],
    "": [],
}


def test_the_same_is_found_in_both(library: SessionLibrary, tmp_path: Path) -> None:
    texts = ["wrench and hammer", "Café olé", "edit src/main.py now", "你好世界", "O'Neil & Co",
             "std::vector"]  # fmt: skip
    entries = [message(at, f"e{at - 1}" if at else None, one) for at, one in enumerate(texts)]
    key = taken(library, tmp_path, entries)
    if isinstance(library, Store):
        # What is not indexed yet is found by its signs alone.
        eventually(lambda: library.search_state().complete, "the index is complete")
    for query, wanted in FOUND.items():
        assert [f"e{hit.index}" for hit in library.search(query)] == wanted, query
    (hit,) = library.search("hammer", key)
    assert (hit.key, hit.snippet, hit.marks) == (key, "wrench and hammer", ((11, 17),))
    assert library.search("hammer", key + 1) == []


def test_the_newest_are_found_first_up_to_a_limit(library: SessionLibrary, tmp_path: Path) -> None:
    first = taken(library, tmp_path, chain(70), "s-1")
    second = taken(library, tmp_path, chain(3), "s-2")
    found = [(hit.key, hit.index) for hit in library.search("line number", limit=5)]
    assert found == [(second, 2), (second, 1), (second, 0), (first, 69), (first, 68)]
    assert library.search("line", cancelled=lambda: True) == []


def test_a_change_by_others_is_noticed(
    library: SessionLibrary, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    noticed = Event()
    stop = library.watch(noticed.set, 0.1)
    if isinstance(library, Store):
        with Store.open(library.path) as other:
            taken(other, tmp_path, chain(2))
            assert noticed.wait(5)
    else:
        taken(request.getfixturevalue("library_of")("ben"), tmp_path, chain(2))
        assert noticed.wait(1)
    stop()
