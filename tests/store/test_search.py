"""Full-text search: any text is a query, and what looks like code is found as it is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from explorer.formats.pi.entries import read_entry
from explorer.formats.pi.export import dumps
from explorer.session.entries import Entry
from explorer.store import SearchHit, Store
from explorer.store.search import (
    Search,
    SearchIndex,
    index_path,
)
from explorer.store.search_text import (
    common_words,
    entry_text,
    holds,
    indexed,
    match_expression,
    parse_query,
    snippet,
)
from tests.store.conftest import eventually
from tests.store.sources import FileSource, message, tool_entries, write_file

TEXTS = [
    "The quick brown fox jumps over explorer/store/schema.py today",
    "Never touch the explorer store; the schema is fine",
    "run it with --dry-run and a first_kept_id",
    "Ein Café in Zürich, naïve approach",
    "値段は高い",
    "C++ -> Rust, what about a->b?",
]


def filled(store: Store, tmp_path: Path, texts: list[str] = TEXTS) -> int:
    entries = [message(at, f"e{at - 1}" if at else None, text) for at, text in enumerate(texts)]
    return store.import_session(FileSource(write_file(tmp_path / "a.jsonl", entries))).key


def found(hits: list[SearchHit]) -> list[int]:
    return sorted(hit.index for hit in hits)


QUERIES = [
    ("fox", [0]),
    ("qui bro", [0]),
    ("ox uick", []),
    ("explorer store", [0, 1]),
    ("explorer/store", [0]),
    ("store/sch", [0]),
    ("schema.py", [0]),
    ('"the schema"', [1]),
    ('"schema the"', []),
    ("--dry-run", [2]),
    ("first_kept", [2]),
    ("dry_run", []),
    ("cafe zurich", [3]),
    ("NAÏVE", [3]),
    ("高い", [4]),
    ("高値", []),
    ("->", [5]),
    ("c++", [5]),
    ("a->b", [5]),
    ("nothing-like-this", []),
    ("", []),
    ("   ", []),
    ('"', []),
    ("AND OR NOT", []),
    ("fox NEAR(", []),
    ("text:fox", []),
    ("fox a\u19b0b", []),
    (" ".join(f"w{at}" for at in range(3000)), []),
]


@pytest.mark.parametrize("when", ["indexed", "not indexed yet"])
def test_queries_find_what_they_say(
    store: Store, tmp_path: Path, indexed: Callable[[], None], when: str
) -> None:
    filled(store, tmp_path)
    if when == "indexed":
        indexed()
    else:
        store._background._stopping.set()
        store._background.wake()
        store._background._thread.join()
        store._background._stopping.clear()
    for query, wanted in QUERIES:
        assert found(store.search(query)) == wanted, query


def test_a_snippet_shows_the_matched_line_alone_and_where_the_match_is(
    store: Store, tmp_path: Path, indexed: Callable[[], None]
) -> None:
    around = "word " * 400
    filled(store, tmp_path, [f"The beginning\n{around}the NEEDLE here {around}\nand on"])
    indexed()
    (hit,) = store.search("needle")
    assert len(hit.snippet) < 200 and "the NEEDLE here" in hit.snippet
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["NEEDLE"]
    assert hit.snippet.startswith("…") and hit.snippet.endswith("…")
    assert "and on" not in hit.snippet and "beginning" not in hit.snippet


LINES = "3 items here\n  the   CAFÉ\u0301 rests: error\nbathe in retry.py; the rest\n値段は高い"
SHOWN = [
    ("the", "the CAFÉ\u0301 rests: error", ["the"]),
    ("here", "3 items here", ["here"]),
    ("cafe", "the CAFÉ\u0301 rests: error", ["CAFÉ\u0301"]),
    ('"the rest"', "bathe in retry.py; the rest", ["the rest"]),
    ('"rest"', "bathe in retry.py; the rest", ["rest"]),
    ("y.py", "bathe in retry.py; the rest", ["y.py"]),
    ("retry.py", "bathe in retry.py; the rest", ["retry.py"]),
    ("items the error", "the CAFÉ\u0301 rests: error", ["the", "error"]),
    ("高い", "値段は高い", ["高い"]),
    ("ITEMS", "3 items here", ["items"]),
]


@pytest.mark.parametrize(("query", "line", "marked"), SHOWN)
def test_the_line_shown_is_the_one_in_which_the_words_are(
    query: str, line: str, marked: list[str]
) -> None:
    shown, marks = snippet(LINES, parse_query(query))
    assert shown == line
    assert [shown[start:end] for start, end in marks] == marked


def test_a_hit_in_a_call_or_result_shows_the_matched_line_and_not_its_beginning(
    store: Store, tmp_path: Path, indexed: Callable[[], None]
) -> None:
    call, result = tool_entries(
        "cd harbour\nmake bathe\n  ./deploy --to café-quay\nexit",
        "Reading bathe.log\n" + "started worker\n" * 300 + "  the quay   at CAFE\u0301 sank\nend",
    )
    path = write_file(tmp_path / "a.jsonl", [call, result])
    store.import_session(FileSource(path))
    indexed()
    for query, lines in (
        ("cafe", {0: "./deploy --to café-quay", 1: "the quay at CAFE\u0301 sank"}),
        ("the", {1: "the quay at CAFE\u0301 sank"}),
        ("café-quay", {0: "./deploy --to café-quay"}),
        ("make", {0: "make bathe"}),
    ):
        assert {hit.index: hit.snippet for hit in store.search(query)} == lines
        assert all(hit.marks for hit in store.search(query))


def test_a_long_line_with_accents_is_cut_around_its_match() -> None:
    far = "é\u0301ß " * 30_000
    shown, marks = snippet(f"first\n{far}the quay {far}\nlast", parse_query("quay"))
    assert [shown[start:end] for start, end in marks] == ["quay"]
    assert shown.startswith("…") and shown.endswith("…") and len(shown) < 400


def test_the_newest_come_first_and_the_limit_holds(
    store: Store, tmp_path: Path, indexed: Callable[[], None]
) -> None:
    filled(store, tmp_path, [f"same words {at}" for at in range(300)])
    indexed()
    assert [hit.index for hit in store.search("same", limit=3)] == [299, 298, 297]
    assert len(store.search("words same", limit=1000)) == 300


def test_what_is_appended_is_found_at_once_and_indexed_soon(
    store: Store, tmp_path: Path, indexed: Callable[[], None]
) -> None:
    key = filled(store, tmp_path)
    indexed()
    store.append(key, [(dumps(message(50, "e5", "a brand new zebra")), "e5")]).result()
    assert found(store.search("zebra")) == [6]
    indexed()
    assert found(store.search("zebra", key)) == [6]
    assert store.search("zebra", key + 1) == []
    assert store.search_state().total == 7


def test_tool_calls_results_and_summaries_are_searched_but_not_pictures() -> None:
    entry = message(0, None, "", "assistant")
    entry["message"]["content"] = [
        {"type": "thinking", "thinking": "ponder", "thinkingSignature": "sig"},
        {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "make all"}},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    ]
    assert entry_text(read_entry(entry)) == "ponder\nbash\nmake all"
    assert (
        entry_text(read_entry({"type": "compaction", "id": "x", "summary": "what was"}))
        == "what was"
    )
    deep: dict[str, object] = {"text": "rock bottom"}
    for _ in range(5000):
        deep = {"in": [deep]}
    assert entry_text(read_entry(deep)) == "rock bottom"


def test_what_is_not_understood_is_searched_for_its_words_and_not_for_its_names() -> None:
    odd = {"type": "weather", "id": "e7", "timestamp": "2026-01-01T00:00:00Z", "words": "it rains"}
    assert entry_text(read_entry(odd)) == "it rains"
    data = {"entries": [{"id": "e1", "tokens": 3}], "reason": "the port matters"}
    pin = {"type": "custom", "id": "e8", "customType": "session-explorer/pin", "data": data}
    assert entry_text(read_entry(pin)) == "session-explorer/pin\nthe port matters"
    block = {"type": "audio", "data": "UklGRg==", "caption": "a short beep"}
    spoken = {"type": "message", "message": {"role": "user", "content": [block]}}
    assert entry_text(read_entry(spoken)) == "a short beep"


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=st.text(max_size=30))
def test_no_query_is_an_error(store: Store, tmp_path: Path, query: str) -> None:
    if not store.sessions():
        filled(store, tmp_path)
        eventually(lambda: store.search_state().complete, "the index is complete")
    assert isinstance(store.search(query), list)
    assert isinstance(parse_query(query), list)


def test_a_deleted_session_is_neither_shown_nor_found_and_its_rows_go(
    store: Store, database: Path, tmp_path: Path, indexed: Callable[[], None]
) -> None:
    key = filled(store, tmp_path, [f"secret number {at}" for at in range(450)])
    indexed()
    assert len(store.search("secret", limit=1000)) == 450
    store.add_draft(key, {"summary": "s"}).result()
    assert store.delete(key).result() is True
    assert store.sessions() == [] and store.search("secret") == []
    assert store.delete(key).result() is False

    def rows() -> int:
        with store._readers.read() as db:
            tables = ("sessions", "entries", "payloads", "columns", "sources", "drafts")
            return sum(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables)

    eventually(lambda: rows() == 0, "all rows are gone")
    words = store._background.with_index(
        lambda index: [
            one
            for part in index.parts()
            for one in index.matches(part, parse_query("secret"), 0, 1 << 62, 9)
        ]
    )
    assert words == [], "nor does the index remember the words"
    assert filled(store, tmp_path, ["another"]) > key, "a key stands for one session for ever"


def opened_index(store: Store) -> SearchIndex:
    with store._readers.read() as db:
        (library,) = db.execute("SELECT value FROM library WHERE name = 'id'").fetchone()
    return SearchIndex(store.path, library)


def many(store: Store, tmp_path: Path, sessions: int) -> list[int]:
    """Sessions of which each has the words, and every third one of their two entries a phrase."""
    keys = []
    for at in range(sessions):
        said = "the state of the art" if at % 3 == 0 else "of the state, the art"
        texts = [message(0, None, f"{said} {at}"), message(1, "e0", f"art of state the {at}")]
        path = write_file(tmp_path / f"{at}.jsonl", texts)
        keys.append(store.import_session(FileSource(path)).key)
    return keys


def test_a_search_goes_on_in_steps_and_says_how_far_it_is(
    store: Store, tmp_path: Path, indexed: Callable[[], None]
) -> None:
    keys = many(store, tmp_path, 9)
    indexed()
    search = Search(store._readers, "the", None, 1000)
    steps = []
    with closing(opened_index(store)) as index:
        while not search.is_done:
            steps.append(search.step(index, 0.0, lambda: False))
    assert len(steps) > 1 and steps[-1].searched == steps[-1].sessions == 9
    assert [step.searched for step in steps] == sorted(step.searched for step in steps)
    hits = [(hit.key, hit.index) for step in steps for hit in step.hits]
    assert hits == sorted(hits, reverse=True) and len(hits) == 18
    assert [key for key, _ in hits[::2]] == keys[::-1]


def test_signs_without_a_word_are_looked_for_in_the_newest_sessions_and_that_is_said(
    store: Store, tmp_path: Path, indexed: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = []
    for at in range(5):
        texts = [message(0, None, f"of {at} => {{}}"), message(1, "e0", "no signs")]
        keys.append(store.import_session(FileSource(write_file(tmp_path / f"{at}.jsonl", texts))))
    indexed()
    numbers = [one.key for one in keys]

    def looked(query: str, only: list[int] | None = None) -> tuple[list[int], str]:
        steps = list(store.search_steps(query, only))
        assert len({step.note for step in steps}) == 1, "from the first step on"
        return [hit.key for step in steps for hit in step.hits], steps[0].note

    assert looked("=> {}") == (numbers[::-1], "")
    monkeypatch.setattr("explorer.store.search._SIGNS_IN", 5)
    note = (
        "Signs without a word are looked for in the newest 2 sessions of 5 only: add a word to"
        " search all."
    )
    assert looked("=>") == (numbers[:2:-1], note)
    assert looked("=> of") == (numbers[::-1], ""), "the index has the word"
    assert looked("=>", numbers[:2]) == (numbers[1::-1], ""), "what is chosen is all searched"
    monkeypatch.setattr("explorer.store.search._SIGNS_IN", 1)
    found, note = looked("=>")
    assert found == numbers[-1:] and "the newest session of 5" in note
    assert looked("=>", numbers[:1]) == (numbers[:1], "")


def test_a_phrase_of_common_words_is_found_by_the_index_alone(
    store: Store, tmp_path: Path, indexed: Callable[[], None]
) -> None:
    keys = many(store, tmp_path, 9)
    indexed()
    phrase = parse_query('"the state of the art"')
    with closing(opened_index(store)) as index:
        found = [
            one for part in index.parts() for one in index.matches(part, phrase, 0, 1 << 62, 99)
        ]
    assert [one >> 32 for one in found] == keys[::3][::-1]


def test_a_phrase_of_common_words_is_asked_for_by_its_pairs() -> None:
    common = common_words(["the state of the art", "of the Café state", "the odd one"])
    assert set(common) == {"the", "of", "state"}
    whole, open_end, rare = '"the state of"', "the/state/of", '"the state of art"'
    assert '"the' not in match_expression(parse_query(whole), common)
    for query in (open_end, rare):
        asked = match_expression(parse_query(query), common)
        assert asked.startswith("pairs : ") and " AND " in asked and '"the state of' in asked
    assert "pairs" not in match_expression(parse_query("the state of"), common)
    assert "pairs" not in match_expression(parse_query('"the odd state"'), common)


WORDS = st.sampled_from(["the", "THE", "of", "état", "e\u0301tat", "zebra", "値", "x1"])
SPACES = st.sampled_from([" ", "  ", "-", "_", ".\n", "\u200b", "\0"])


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    texts=st.lists(st.lists(st.tuples(WORDS, SPACES), max_size=12), min_size=1, max_size=6),
    first=st.integers(0, 4),
    count=st.integers(1, 6),
    common=st.sampled_from(["the of", "the of etat zebra 値 x1"]),
)
def test_pairs_of_common_words_change_nothing_in_what_is_found(
    tmp_path: Path, texts: list[list[tuple[str, str]]], first: int, count: int, common: str
) -> None:
    lines = [indexed("".join(word + space for word, space in text)) for text in texts]
    phrase = "".join(word + space for word, space in texts[0][first : first + count])
    terms = parse_query(f'"{phrase}"')
    assume(terms and terms[0].words)
    hits = []
    for name, sample in (("words", []), ("pairs", [common, common])):
        for place in tmp_path.glob(f"{name}*"):
            place.unlink()
        with closing(SearchIndex(tmp_path / name, name)) as index:
            with index.step(1):
                index.add(1, list(enumerate(lines)), len(lines), lambda sample=sample: sample)
            matched = [one & 0xFFFFFFFF for one in index.matches(0, terms, 0, 1 << 62, 99)]
            hits.append([at for at in matched if holds(lines[at], terms)])
            with index.step(1):
                index.remove(1, list(enumerate(lines)), 0)
            assert index.matches(0, terms, 0, 1 << 62, 99) == []
    assert hits[0] == hits[1]


def test_a_search_stays_in_its_sessions_and_ends_when_it_is_not_wanted(
    store: Store, tmp_path: Path, indexed: Callable[[], None]
) -> None:
    keys = many(store, tmp_path, 6)
    indexed()
    steps = list(store.search_steps("state", keys[1:3]))
    assert {hit.key for step in steps for hit in step.hits} == {*keys[1:3]}
    assert steps[-1].sessions == 2
    assert list(store.search_steps("state", cancelled=lambda: True)) == []
    assert list(store.search_steps("", None)) == []


def test_what_is_found_before_the_index_is_damaged_is_not_found_again(
    store: Store, tmp_path: Path, indexed: Callable[[], None]
) -> None:
    filled(store, tmp_path, [f"the same {at}" for at in range(1_040)])
    indexed()
    search = Search(store._readers, "the", None, 5_000)
    hits: list[SearchHit] = []
    with closing(opened_index(store)) as index:
        while len(hits) < 1_000:
            hits += search.step(index, 0.0, lambda: False).hits
    with pytest.raises(sqlite3.Error):
        search.step(index, 0.0, lambda: False)
    with closing(opened_index(store)) as again:
        while not search.is_done:
            hits += search.step(again, 0.0, lambda: False).hits
    assert len(hits) == len({hit.index for hit in hits}) == 1_040


def test_an_index_that_was_made_by_other_rules_is_made_anew(database: Path, tmp_path: Path) -> None:
    with Store.open(database) as store:
        filled(store, tmp_path)
        eventually(lambda: store.search_state().complete, "the index is complete")
    with closing(sqlite3.connect(index_path(database), isolation_level=None)) as db:
        db.execute("UPDATE mark SET value = '0:other rules'")
        db.execute("DELETE FROM done")
    with Store.open(database) as store:
        eventually(lambda: store.search_state().complete, "the index is complete again")
        assert found(store.search("fox")) == [0]


@pytest.mark.parametrize("harm", ["rubbish", "gone", "flipped"])
def test_a_damaged_index_is_made_anew(database: Path, tmp_path: Path, harm: str) -> None:
    with Store.open(database) as store:
        filled(store, tmp_path, [f"many words {at} {at * 7}" for at in range(400)])
        eventually(lambda: store.search_state().complete, "the index is complete")
    place = index_path(database)
    data = bytearray(place.read_bytes())
    if harm == "gone":
        place.unlink()
    elif harm == "rubbish":
        place.write_bytes(b"rubbish" * 1000)
    else:
        for at in range(5000, len(data), 97):
            data[at] ^= 0xFF
        place.write_bytes(data)
    with Store.open(database) as store:
        for word in ("many", "words", "399", "7"):
            store.search(word)
        eventually(lambda: store.search_state().complete, "the index is complete again")
        if harm != "flipped":
            assert found(store.search("399")) == [57, 399]


def test_a_rule_is_asked_with_the_reply_whose_call_a_result_answers(
    store: Store, tmp_path: Path
) -> None:
    lines = [*tool_entries("make all", "no rule"), message(2, "e1", "a rule")]
    store.import_session(FileSource(write_file(tmp_path / "a.jsonl", lines)))
    asked: list[tuple[str, list[str]]] = []

    def is_wanted(entry: Entry, reply: Entry | None) -> bool:
        asked.append((entry.text, [call.name for call in reply.calls] if reply else []))
        return reply is not None

    steps = store.search_steps("rule", is_wanted=is_wanted)
    assert found([hit for step in steps for hit in step.hits]) == [1]
    assert sorted(asked) == [("a rule", []), ("no rule", ["bash"])]
