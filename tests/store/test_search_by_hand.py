"""A search finds what a person finds who reads every line: random words, asked for at random."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.formats.pi.export import dumps
from explorer.store import Store
from tests.store.conftest import eventually
from tests.store.sources import FileSource, message, write_file

WORDS = ("the", "fox", "jumps", "over", "and", "lazy", "dog", "café", "x9", "he", "azy")
"""None begins another: a word may go on where it is looked for."""
Library = tuple[Store, dict[int, list[str]]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Sessions of random words, and their texts by key. One came in pieces, another is gone."""
    place, chance = tmp_path_factory.mktemp("library"), random.Random(4)
    with Store.open(place / "sessions.db") as store:
        texts: dict[int, list[str]] = {}
        for number, count in enumerate((40, 1, 7, 90, 3)):
            said = [" ".join(chance.choices(WORDS, k=chance.randint(1, 6))) for _ in range(count)]
            entries = [
                message(at, f"e{at - 1}" if at else None, one) for at, one in enumerate(said)
            ]
            file = write_file(place / f"{number}.jsonl", entries[: count // 2 + 1])
            key = store.import_session(FileSource(file)).key
            for entry in entries[count // 2 + 1 :]:
                store.append(key, [(dumps(entry), entry["parentId"])]).result()
            texts[key] = said
        store.delete(max(texts)).result()
        del texts[max(texts)]
        yield store, texts


def read_by_hand(texts: dict[int, list[str]], asked: list[list[str]]) -> list[tuple[int, int]]:
    """Key and index of the texts that have each of the runs of words, the newest first."""

    def has(said: list[str], run: list[str]) -> bool:
        return any(said[at : at + len(run)] == run for at in range(len(said)))

    return [
        (key, at)
        for key in sorted(texts, reverse=True)
        for at in reversed(range(len(texts[key])))
        if all(has(texts[key][at].split(), run) for run in asked)
    ]


RUNS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), min_size=1, max_size=3)


def check(library: Library, asked: list[list[str]], only: int, limit: int, ordered: bool) -> None:
    store, texts = library
    query = " ".join(run[0] if len(run) == 1 else f'"{" ".join(run)}"' for run in asked)
    chosen = None if only < 0 else sorted(texts)[only:]
    expected = read_by_hand({key: texts[key] for key in chosen or texts}, asked)
    steps = list(store.search_steps(query, chosen, limit))
    found = [(hit.key, hit.index) for step in steps for hit in step.hits]
    if ordered:
        assert found == expected[:limit]
    else:
        assert len(found) == len(set(found)) == min(limit, len(expected))
        assert set(found) <= set(expected)
    assert all(step.sessions == len(chosen or texts) for step in steps)
    for hit in (hit for step in steps for hit in step.hits):
        marked = {hit.snippet[start:end] for start, end in hit.marks}
        assert marked and all(word in query for one in marked for word in one.split())


@settings(max_examples=25, deadline=None)
@given(RUNS, st.integers(-1, 3), st.sampled_from([1, 5, 1_000]))
def test_words_and_phrases_are_found_where_they_stand(
    library: Library, asked: list[list[str]], only: int, limit: int
) -> None:
    """Whether they are indexed by now or not: what is not is looked at first."""
    check(library, asked, only, limit, ordered=False)


@settings(max_examples=25, deadline=None)
@given(RUNS, st.integers(-1, 3), st.sampled_from([1, 5, 1_000]))
def test_the_index_finds_the_same(
    library: Library, asked: list[list[str]], only: int, limit: int
) -> None:
    eventually(lambda: library[0].search_state().complete, "it is indexed")
    check(library, asked, only, limit, ordered=True)
