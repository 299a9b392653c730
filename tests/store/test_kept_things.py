"""Drafts, settings and token counts."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.store import Store, StoreError
from explorer.store.drafts import BROKEN_OFF
from tests.store.conftest import eventually
from tests.store.sources import HEADER, FileSource, chain, write_file


@pytest.fixture
def key(store: Store, tmp_path: Path) -> int:
    return store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(10)))).key


def test_a_draft_is_kept_with_request_answer_and_what_became_of_it(
    store: Store, database: Path, key: int
) -> None:
    requests = [{"purpose": "history", "request": {"messages": [{"role": "user"}]}}]
    draft = store.add_draft(
        key,
        {
            "kind": "compaction",
            "status": "streaming",
            "leaf": 9,
            "model": "m",
            "requests": requests,
            "facts": {"by": "hand"},
        },
    ).result()
    usage = {"input": 10, "output": 3}
    answers = [{"purpose": "history", "text": "short", "usage": usage}]
    store.update_draft(draft, {"status": "done", "answers": answers, "summary": "short"}).result()
    store.update_draft(draft, {"status": "committed", "edited_text": "shorter"}).result()
    other = store.add_draft(key, {"kind": "branch", "instructions": "be brief"}).result()
    store.close()
    with Store.open(database) as again:
        rows = again.drafts(key)
        without = again.drafts(key, with_requests=False)
    assert [replace(row, requests=None) for row in rows] == without
    assert [row.id for row in rows] == [draft, other]
    row = rows[0]
    assert (row.key, row.status, row.leaf, row.model) == (key, "committed", 9, "m")
    assert row.requests == requests and row.answers == answers
    assert (row.summary, row.edited_text) == ("short", "shorter")
    now = time.time() * 1000
    assert now - 60_000 < row.created_ms <= row.changed_ms <= now
    assert row.facts["by"] == "hand" and row.facts["claim"], "and who made it"
    assert rows[1].instructions == "be brief" and rows[1].requests is None


def test_a_draft_that_is_on_its_way_has_failed_once_its_maker_is_gone(
    database: Path, tmp_path: Path
) -> None:
    maker = Store.open(database)
    file = FileSource(write_file(tmp_path / "a.jsonl", chain(10)))
    key = maker.import_session(file).key
    maker.add_draft(key, {"kind": "compaction", "status": "streaming"}).result()
    with Store.open(database) as other:
        eventually(lambda: other.search_state().complete, "the other one has looked around")
        assert other.drafts(key)[0].status == "streaming"
    maker.close()
    with Store.open(database) as again:
        eventually(lambda: again.drafts(key)[0].status == "failed", "the draft is broken off")
        assert again.drafts(key)[0].problem == BROKEN_OFF


def test_the_session_that_was_used_last_is_listed_first(
    store: Store, key: int, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "b.jsonl", chain(2), HEADER | {"id": "s-2"})
    other = store.import_session(FileSource(file)).key
    assert [row.key for row in store.sessions()] == [other, key]
    time.sleep(0.002)  # the clock's own step
    store.set_leaf(key, 3).result()
    assert [row.key for row in store.sessions()] == [key, other]


def test_a_draft_of_no_session_or_with_an_unknown_field_is_refused(store: Store, key: int) -> None:
    with pytest.raises(StoreError):
        store.add_draft(key + 5, {"summary": "s"}).result()
    with pytest.raises(StoreError, match="no field colour"):
        store.add_draft(key, {"colour": "red"}).result()
    with pytest.raises(StoreError, match="no draft 77"):
        store.update_draft(77, {"status": "done"}).result()
    assert store.drafts(key) == []


def test_settings_are_kept_by_session(store: Store, key: int) -> None:
    store.set_session_setting(key, "profile", "pi").result()
    store.set_session_setting(key, "keep", {"tokens": 20000}).result()
    store.set_session_setting(key, "profile", "explorer").result()
    assert store.session_settings(key) == {"profile": "explorer", "keep": {"tokens": 20000}}
    for value in (0, -3, 20_000, 0.25, True, "7", [1], 1e300):
        store.set_session_setting(key, "number", value).result()
        read = store.session_settings(key)["number"]
        assert (read, type(read)) == (value, type(value))
    store.set_session_setting(key, "number", None).result()
    store.set_session_setting(key, "keep", None).result()
    assert store.session_settings(key) == {"profile": "explorer"}
    with pytest.raises(StoreError):
        store.set_session_setting(key + 9, "x", 1).result()


def test_token_counts_are_kept_by_counter_and_may_come_in_any_order(
    store: Store, tmp_path: Path
) -> None:
    head = {"type": "session", "version": 3, "id": "big", "timestamp": "", "cwd": "/w"}
    file = write_file(tmp_path / "b.jsonl", chain(9000), head)
    key = store.import_session(FileSource(file)).key
    store.set_token_counts(key, "o200k", 4000, list(range(4000, 8500))).result()
    store.set_token_counts(key, "o200k", 0, [5]).result()
    store.set_token_counts(key, "cl100k", 1, [7, 8]).result()
    counts = store.token_counts(key, "o200k")
    assert len(counts) == 9000 and counts[0] == 5 and set(counts[1:4000]) == {-1}
    assert list(counts[4000:8500]) == list(range(4000, 8500)) and set(counts[8500:]) == {-1}
    assert list(store.token_counts(key, "cl100k")[:4]) == [-1, 7, 8, -1]
    assert set(store.token_counts(key, "other")) == {-1}
