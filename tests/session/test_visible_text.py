"""Texts in which nothing hides."""

from __future__ import annotations

import json

import pytest

from explorer.session.visible_text import (
    code,
    end_of,
    escaped,
    exact,
    folded,
    size_words,
    visible,
    visible_line,
    width_of,
)
from tests.session.hidden import FORBIDDEN


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, Grüße, 漢字, 🙂", "plain, Grüße, 漢字, 🙂"),
        ("\x1b[2J\x07\r\x7f", "␛[2J␇␍␡"),
        ("a\x9bb", "a⟨U+009B⟩b"),
        ("a\u202eb\u2066c\u200ed", "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200E⟩d"),
        ("a\u2028b\u200bc\ufeffd\u00ade", "a⟨U+2028⟩b⟨U+200B⟩c⟨U+FEFF⟩d⟨U+00AD⟩e"),
        ("half \ud83d", "half ⟨U+D83D⟩"),
        ("tag \U000e0041", "tag ⟨U+E0041⟩"),
        ("👩‍🚀 ❤️ می‌خواهم", "👩‍🚀 ❤️ می‌خواهم"),
        ("one\r\ntwo\tthree\n", "one\ntwo\tthree\n"),
    ],
)
def test_what_hides_has_a_mark(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown, "what has been shown can be shown again"
    assert visible_line(text) == shown.replace("\n", "⏎").replace("\t", " ")


def test_every_forbidden_character_has_a_mark() -> None:
    assert not FORBIDDEN & set(visible("".join(FORBIDDEN)))
    assert not (FORBIDDEN | {"\n", "\t"}) & set(visible_line("\n\t" + "".join(FORBIDDEN)))


def test_escaped_json_is_the_same_value() -> None:
    value = {"a\u202e": ["".join(sorted(FORBIDDEN, reverse=True)), "ü🙂", "\U000e0041"]}
    text = escaped(json.dumps(value, ensure_ascii=False))
    assert not FORBIDDEN & set(text)
    assert json.loads(text) == value
    assert "ü🙂" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b\n c", "`a¦b c`"),
        ("", "``  ``"),
        ("a `b` c", "``a `b` c``"),
        ("`a``", "``` `a`` ```"),
        ("x" * 300, f"`{'x' * 300}`"),
        ("x" * 301, f"`{'x' * 300}…`"),
    ],
)
def test_code_stays_code_on_one_line(text: str, shown: str) -> None:
    assert code(text) == shown


def test_blanks_of_a_question_can_be_counted() -> None:
    assert exact("echo hi" + " " * 5000 + "; rm -rf x") == "echo hi·×5,000; rm -rf x"
    assert exact("a" + "\n" * 3000 + "b") == "a⏎×3,000\nb"
    assert exact("a" + "\t" * 100 + "b" + "\u00a0" + "c") == "a␉×100b⟨U+00A0⟩c"
    assert exact("if x:\n        y()\r\n\tz") == "if x:\n        y()␍\n␉   z"
    assert len(exact(" \t" * 5000)) > 5000, "what is no run stays, and every tab has a mark"


def test_long_lines_are_folded_to_columns() -> None:
    assert list(folded("abcdef", 4)) == ["abcd", "ef"]
    assert list(folded("", 4)) == [""]
    assert list(folded("漢字漢", 4)) == ["漢字", "漢"]
    assert list(folded("漢字", 1)) == ["漢", "字"], "each piece has one character at least"
    pieces = list(folded("a" + "\u0301" * 1000, 10))
    assert "".join(pieces) == "a" + "\u0301" * 1000 and max(map(len, pieces)) <= 20
    assert width_of("e\u0301漢🙂‍") == 5


def test_a_size_and_an_end_are_told() -> None:
    assert size_words("abc") == "3 characters in 1 line"
    assert size_words("a\n" * 2000) == "4,000 characters in 2,001 lines"
    assert end_of("a\nb  \n") == "a ⏎ b"
    assert end_of("x" * 500 + "; rm", 10) == "…xxxxxx; rm"
