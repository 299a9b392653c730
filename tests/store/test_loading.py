"""The packed columns say what the rows say, whatever happens to them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from explorer.formats.pi.export import dumps
from explorer.session.columns import SessionColumns
from explorer.session.describe import WORDS_VERSION
from explorer.session.kinds import Kind
from explorer.store import Store
from explorer.store.stored_columns import pack, unpack
from tests.store.conftest import eventually
from tests.store.sources import FileSource, chain, message, write_file


def varied() -> list[dict[str, Any]]:
    """Entries of every kind that has facts of its own."""
    call = {"type": "toolCall", "id": "c1", "name": "edit", "arguments": {"path": "a.py"}}
    reply = message(1, "e0", "", "assistant")
    reply["message"] |= {"content": [call], "provider": "p", "model": "m", "usage": {"input": 7}}
    result = message(2, "e1", "no such file", "toolResult")
    result["message"] |= {"toolCallId": "c1", "isError": True}
    image = message(3, "e2", "")
    image["message"]["content"] = [{"type": "image", "data": "", "mimeType": "image/png"}]
    files = {"readFiles": ["r.py"], "modifiedFiles": ["m.py"]}
    base = {"timestamp": "2026-01-02T03:04:06.000Z"}
    return [
        message(0, None, "hello"),
        reply,
        result,
        image,
        base | {"type": "compaction", "id": "e4", "parentId": "e3", "summary": "S",
                "firstKeptEntryId": "e3", "tokensBefore": 9, "details": files},
        base | {"type": "branch_summary", "id": "e5", "parentId": "e4", "summary": "B",
                "fromId": "e2"},
        base | {"type": "label", "id": "e6", "parentId": "e5", "targetId": "e0", "label": "L"},
        base | {"type": "session_info", "id": "e7", "parentId": "e6", "name": "N"},
        base | {"type": "thinking_level_change", "id": "e8", "parentId": "e7",
                "thinkingLevel": "high"},
        base | {"type": "something_new", "id": "e\n9", "parentId": "e8"},
    ]  # fmt: skip


def facts(columns: SessionColumns) -> list[Any]:
    return [getattr(columns, name) for name in SessionColumns.__struct_fields__]


def check_varied(columns: SessionColumns) -> None:
    assert columns.ids[-1] == "e\n9"
    assert columns.user_images == {3: 1} and columns.usage[1] == 7
    assert columns.models[columns.model[1]] == "p/m"
    assert columns.compactions[4].modified_files == ("m.py",)
    assert columns.branches[5].from_id == "e2" and columns.thinking == {8: "high"}
    assert columns.labels == {6: ("e0", "L")} and columns.names == {7: "N"}
    assert columns.ops.paths == ["a.py"] and list(columns.ops.failed) == [1]


def test_packed_and_unpacked_columns_are_equal() -> None:
    columns = SessionColumns()
    assert facts(unpack(pack(columns)) or SessionColumns()) == facts(columns)


def test_columns_are_the_same_packed_from_rows_or_appended(store: Store, tmp_path: Path) -> None:
    entries = varied()
    whole = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", entries))).key
    head = {"type": "session", "version": 3, "id": "s-2", "timestamp": "", "cwd": "/w"}
    part = store.import_session(FileSource(write_file(tmp_path / "b.jsonl", entries[:2], head))).key
    for entry in entries[2:]:
        store.append(part, [(dumps(entry), entry["parentId"])]).result()
    packed = store.load(whole).tree.columns
    check_varied(packed)
    assert facts(store.load(part).tree.columns) == facts(packed)


@pytest.mark.parametrize("harm", ["gone", "flipped", "cut"])
def test_damaged_packed_columns_are_made_again_from_the_rows(
    database: Path, tmp_path: Path, harm: str
) -> None:
    with Store.open(database) as store:
        file = write_file(tmp_path / "a.jsonl", varied())
        key = store.import_session(FileSource(file)).key
    with sqlite3.connect(database) as db:
        (data,) = db.execute("SELECT data FROM columns").fetchone()
        if harm == "gone":
            db.execute("DELETE FROM columns")
        else:
            middle = len(data) // 2
            flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
            bad = flipped if harm == "flipped" else data[:middle]
            db.execute("UPDATE columns SET data = ?", (bad,))
    db.close()
    with Store.open(database) as store:
        check_varied(store.load(key).tree.columns)


def test_the_library_shows_name_first_words_and_counts(store: Store, tmp_path: Path) -> None:
    store.import_session(FileSource(write_file(tmp_path / "a.jsonl", varied())))
    row = store.sessions()[0]
    assert (row.title, row.entries, row.compactions, row.cwd) == ("N", 10, 1, "/w")
    assert row.last_ms == 1767323046000 and row.path == str(tmp_path / "a.jsonl")
    assert store.labels() == [(row.key, "e0", "L")]
    cleared = {"type": "label", "id": "e10", "parentId": "e8", "targetId": "e0"}
    store.append(row.key, [(dumps(cleared), "e8")]).result()
    assert store.labels(row.key) == []


def test_a_session_without_a_name_is_called_by_the_first_words_that_there_are(
    store: Store, tmp_path: Path
) -> None:
    texts = ["", "one", "two"]
    lines = [message(at, f"e{at - 1}" if at else None, text) for at, text in enumerate(texts)]
    report = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", lines)))
    assert report.title == store.sessions()[0].title == "one"


def test_previews_of_entries_appended_after_the_first_look_are_seen(
    store: Store, tmp_path: Path
) -> None:
    key = store.import_session(
        FileSource(write_file(tmp_path / "a.jsonl", [message(0, None, "zero")]))
    ).key
    payloads = store.load(key).payloads
    assert payloads.previews([0, 1]) == ["zero", ""]
    store.append(key, [(dumps(message(1, "e0", "one")), "e0")]).result()
    assert payloads.previews([1, 0]) == ["one", "zero"]


def test_many_appended_rows_are_packed_when_a_session_is_opened(
    store: Store, database: Path, tmp_path: Path
) -> None:
    key = store.import_session(
        FileSource(write_file(tmp_path / "a.jsonl", [message(0, None, "zero")]))
    ).key
    added = [(dumps(message(at, f"e{at - 1}", "x")), f"e{at - 1}") for at in range(1, 1501)]
    assert store.append(key, added).result()[-1] == 1500
    before = facts(store.load(key).tree.columns)
    store.set_leaf(key, 1500).result()
    with sqlite3.connect(database) as db:
        assert db.execute("SELECT entries FROM columns").fetchone() == (1501,)
    db.close()
    assert facts(store.load(key).tree.columns) == before


def test_the_row_of_a_result_names_the_target_of_its_call(store: Store, tmp_path: Path) -> None:
    """Also where other results stand between, and after the first look."""
    calls = [
        {"type": "toolCall", "id": f"c{at}", "name": "read", "arguments": {"path": f"{at}.py"}}
        for at in range(2)
    ]
    reply = message(1, "e0", "") | {
        "message": {
            "role": "assistant", "content": calls, "provider": "p", "model": "m",
            "stopReason": "toolUse", "timestamp": 0, "usage": {"totalTokens": 5},
        }
    }  # fmt: skip
    results = [
        message(at, f"e{at - 1}", "") | {
            "message": {
                "role": "toolResult", "toolCallId": f"c{at - 2}", "toolName": "read",
                "content": [{"type": "text", "text": "a\nb\n"}], "timestamp": 0,
            }
        }
        for at in (2, 3)
    ]  # fmt: skip
    lines = [message(0, None, "**go** on"), reply, *results]
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", lines))).key
    payloads = store.load(key).payloads
    said = ["go on", "read 0.py · read 1.py", "read 0.py, 2 lines", "read 1.py, 2 lines"]
    assert payloads.first_words(range(4)) == ([*said[:2], "a", "a"], [2, 3])
    assert payloads.previews(range(4)) == said == payloads.previews(range(4))
    assert payloads.first_words(range(4)) == (said, [])
    payloads.forget([2])
    assert payloads.first_words([2, 9]) == (["a", ""], [2])
    assert payloads.previews([3, 2, 9]) == [said[3], said[2], ""]


def made_old(database: Path, key: int) -> list[object]:
    """Let the rows of a session be those of an earlier version; returns its lines."""
    with closing(sqlite3.connect(database)) as db:
        db.execute("UPDATE entries SET preview = 'old words' WHERE id >> 32 = ?", (key,))
        compaction = json.dumps({"compaction": ["e0", 1, [], [], False]})
        db.execute(
            "UPDATE entries SET rare = ? WHERE id >> 32 = ? AND kind = ?",
            (compaction, key, int(Kind.COMPACTION)),
        )
        db.execute("DELETE FROM library WHERE name = 'words'")
        db.execute("DELETE FROM columns")
        db.commit()
        return db.execute("SELECT id, raw FROM payloads ORDER BY id").fetchall()


def test_words_of_earlier_rules_are_made_anew_when_shown_and_then_stored(
    database: Path, tmp_path: Path
) -> None:
    short = {
        "type": "compaction", "id": "e2", "parentId": "e1", "summary": "## Goal\nShip it",
        "firstKeptEntryId": "e0", "tokensBefore": 7, "timestamp": message(0, None, "")["timestamp"],
        "details": {"readFiles": ["a.py"], "modifiedFiles": []},
    }  # fmt: skip
    lines = [message(0, None, "**go** on"), message(1, "e0", "well"), short]
    with Store.open(database) as store:
        first, second = (
            store.import_session(FileSource(write_file(tmp_path / f"{name}.jsonl", lines))).key
            for name in "ab"
        )
        said = store.load(first).payloads.previews(range(3))
        facts = store.load(first).tree.columns.compactions
    assert said[0] == "go on" and facts[2].tokens_before == 7
    raw = made_old(database, first)
    # Nobody works in the background here: what is shown is made of the lines.
    with Store.open(database, maintained=False) as store:
        payloads = store.load(first).payloads
        assert payloads.first_words([0, 1])[1] == [0, 1]
        assert payloads.previews(range(3)) == said
    with Store.open(database) as store, closing(sqlite3.connect(database)) as db:
        mark = "SELECT value FROM library WHERE name = 'words'"
        eventually(lambda: db.execute(mark).fetchone() == (f"{WORDS_VERSION} 0 0",), "all of them")
        loaded = store.load(first)
        assert loaded.payloads.first_words(range(3)) == (said, [])
        assert loaded.tree.columns.compactions == facts
        assert store.load(second).payloads.first_words(range(3)) == (said, [])
        assert db.execute("SELECT id, raw FROM payloads ORDER BY id").fetchall() == raw


def test_the_last_rows_are_read_again_only_for_one_that_was_not_there(
    store: Store, tmp_path: Path
) -> None:
    key = store.import_session(FileSource(write_file(tmp_path / "a.jsonl", chain(3)))).key
    payloads = store.load(key).payloads
    said = payloads.first_words([0, 1, 2])
    changed = store._writer.submit(lambda db: db.execute("UPDATE entries SET preview = 'other'"))
    changed.result().close()
    assert payloads.first_words([0, 1, 2]) == said
    store.append(key, [(dumps(message(0, "e2", "new") | {"id": "e3"}), "e2")], "e3").result()
    assert payloads.first_words([3])[0] == ["new"]
    payloads.forget([0])
    assert payloads.first_words([0])[0] == ["other"]
