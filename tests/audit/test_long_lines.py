"""A line of one sign, however long, is read in a time that grows with its length.

The one place where seconds decide: of the processor, not of the clock, with bars far above what is
measured and far below what a rule takes whose time grows with the square of the length.
"""

from __future__ import annotations

import string
import time
from itertools import combinations

import pytest

from explorer.compaction.summary import Form, section_counts
from explorer.facts import FactKind, extract
from explorer.session.text import LINE_LIMIT, PROSE_LIMIT, as_prose
from tests.audit.readers import READERS
from tests.audit.texts import user

_SIZE = 12_000
_BAR = 2.0
"""Seconds for a text of ``_SIZE`` characters, most of which take some hundredths of one."""
_LARGE = 500_000
_LARGE_BAR = 10.0
"""Seconds for a text of ``_LARGE`` characters."""
_MORE = (
    "a ", "1 ", "a, ", "i ", "no ", "x/y ", "a_b ", "1.1 ", "--a ", "e.g ", "a\n", "-\n", "1.\n",
    "#\n", "> ", "```\n", "- [ ]", "</a>", "\t", "\r\n", "\u00a0", "\u2028", "é", "—", "…", "“",
    "İ", "１", "字", "。", "🚀", "🚀 ",
)  # fmt: skip


def _repeated(token: str, size: int = _SIZE) -> str:
    """A line that can be read whole, and one that cannot, of nothing but a token."""
    line = (token * size)[:size]
    return f"Never use {line[: LINE_LIMIT - 100]} only\n{line}"


def _slow(reader: str, tokens: list[str], size: int = _SIZE, bar: float = _BAR) -> list[str]:
    found = []
    for token in tokens:
        text = _repeated(token, size)
        started = time.process_time()
        READERS[reader](text)
        seconds = time.process_time() - started
        if seconds > bar:
            found.append(f"{token!r}: {seconds:.1f} s")
    return found


@pytest.mark.parametrize("reader", READERS)
def test_a_long_line_of_any_sign_stops_nothing(reader: str) -> None:
    assert _slow(reader, [*map(chr, range(32, 127)), *_MORE]) == []


@pytest.mark.slow
def test_a_long_line_of_any_two_signs_stops_no_audit() -> None:
    # A line of "-*" is one of "*-" but for its first sign.
    pairs = map("".join, combinations(string.punctuation, 2))
    assert _slow("the audit's extraction", list(pairs)) == []


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_half_a_megabyte_of_what_is_worst_is_read_in_seconds(reader: str) -> None:
    assert _slow(reader, [".", "1 "], _LARGE, _LARGE_BAR) == []


@pytest.mark.parametrize(
    "text",
    [
        "word " * 3_000,
        "x" * 50_000,
        f"Use 5 workers. {'=' * 9_000} Use 6.",
        "\n".join("y" * number for number in range(LINE_LIMIT - 3, LINE_LIMIT + 4)),
        "\n".join(("it " * LINE_LIMIT)[:number] for number in range(LINE_LIMIT, LINE_LIMIT + 5)),
        f"{'A sentence of some words. ' * 300}\nshort\n{' ' * 5_000}",
        "🚀 " * 4_000,
        f"first {'middle ' * PROSE_LIMIT}last",
    ],
)
def test_short_lines_leave_every_character_in_its_place(text: str) -> None:
    read = as_prose(text)
    assert len(read) == len(text)
    assert all(now in (was, "\n", " ") for was, now in zip(text, read, strict=True))
    assert all(len(line) <= LINE_LIMIT for line in read.split("\n") if line.strip())
    short = [word for word in text.split() if len(word) <= LINE_LIMIT]
    assert read.split()[:1] == short[:1]
    assert read.split()[-1:] == short[-1:]


def test_what_is_short_is_read_as_it_is() -> None:
    text = f"One line.\n{'many words ' * 100}\n\n\tand another\r\n" * 20
    assert as_prose(text) == text


def test_a_rule_beside_data_is_found_where_it_stands() -> None:
    text = f"{'=' * 30_000} Never touch the vendor folder. {'ab' * 15_000}"
    (rule,) = extract([user(text)]).of(FactKind.CONSTRAINT)
    assert rule.text == "Never touch the vendor folder."
    (span,) = rule.spans
    assert text[span.start : span.end] == rule.text


def test_sentences_of_a_long_line_are_not_cut() -> None:
    rules = [f"Never touch folder{number} or what is in it." for number in range(150)]
    found = extract([user(" ".join(rules))]).of(FactKind.CONSTRAINT)
    assert [one.text for one in found] == rules


def test_headings_are_counted_beside_thousands_of_unclosed_fences() -> None:
    form = Form(required=("Goal",))
    text = f"## Goal\n{'```a' + chr(10)}## Goal\n```\n{('~~~b' + chr(10)) * 100_000}"
    started = time.process_time()
    assert section_counts(text, form) == {"Goal": 1}
    assert time.process_time() - started < _BAR
