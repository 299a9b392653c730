"""What a search makes of queries and texts, as a table: ``python -m tests.store.recorded`` writes
it anew. After a change that is meant, look at its difference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from explorer.store.search_text import (
    common_words,
    folded,
    holds,
    indexed,
    match_expression,
    pairs_of,
    parse_query,
    snippet,
    words_of,
)
from tests.tables import short, shown

PLACE = Path(__file__).parent / "data" / "search_text.txt"
_LINE = 150
WORD = "wörd "
TEXTS = (
    "", "the fox", "The quick brown fox jumps over explorer/store/schema.py today",
    "3 items here\n  the   CAFÉ\u0301 rests: error\nbathe in retry.py; the rest\n値段は高い",
    "the error of the retry\nan error\nthe retry has the error of the café\nthe end",
    f"{'the '}{'x' * 49} fox {'y' * 109} end", f"{WORD * 60}fox {WORD * 60}", "fox" + "o" * 500,
    "a\tb  c\u00a0d\n\n  fox\u2028the fox", "Straße STRASSE strasse ﬁx ǅ İx",
    "foxes fox_1 fox-2 FOX", "値段は高い the 高 い", "C++ -> Rust, what about a->b? the\nfox",
    f"{'é' * 2000} fox {'é' * 90}", "the\nfox jumps", "quick brown", "fox the the fox the fox",
    "e\u0301 fox \ud800 fox",
)  # fmt: skip
QUERIES = (
    "", '"', "fox", "the fox", '"the fox"', '"the fox" error', "fo", "caf", "café rest",
    "the rest", '"the retry"', "y.py", "schema.py today", "store/sch", "->", "c++", "a->b", "高い",
    '"高い the"', "STRASSE", "ﬁx", "fox_1", "fox-2", "error the retry", '"fox jumps"', "the the",
    "é fox", "wörd", "over explorer", '"quick brown fox jumps over the"', "x\0y", "İx", "o" * 450,
    '"b c" d', "e\u0301", "3 items", '""', '"fox', "of the error of the",
    " ".join(f"w{at}" for at in range(70)),
)  # fmt: skip


def told() -> Iterator[str]:
    """Queries by themselves, texts by themselves, and each query in each text."""
    common = common_words(TEXTS)
    yield shown(sorted(common))
    yield shown(sorted(common_words([*TEXTS, "fox y " * 4_000 + "late", "late " + "z" * 41] * 2)))
    yield shown(sorted(common_words([f"w{at % 9} the" for at in range(40)])))
    for text in TEXTS:
        yield f"{shown(text)}: {shown([folded(text), indexed(text), words_of(text)])}"
        yield f"  {pairs_of(text, common)}"
    for query in QUERIES:
        terms = parse_query(query)
        yield f"== {shown(query)} {shown(terms)} {[one.literal for one in terms]}"
        yield f"  {match_expression(terms)}"
        yield f"  {match_expression(terms, common)}"
        for at, text in enumerate(TEXTS):
            line, marks = snippet(text, terms)
            if marks or holds(text, terms):
                yield f"  {at} {holds(text, terms)} {marks} {line!r}"


def table() -> str:
    """All of it."""
    lines = (short(line.replace("\n", "⏎"), _LINE) for line in told())
    return "\n".join([*lines, ""]).encode("utf-8", "backslashreplace").decode()


if __name__ == "__main__":
    PLACE.write_text(table(), encoding="utf-8")
