"""The values in a sentence: figures, also in words, and dates and times in any form."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from explorer.facts.figures import figure
from explorer.facts.text import word_set

_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_NUMBERS = {
    **{word: number for number, word in enumerate(_SMALL)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_WORD = "|".join((*_NUMBERS, *_SCALES))
_IN_WORDS = re.compile(
    rf"\b(?:(?:{_WORD})(?:[ -](?:and[ -])?(?:a[ -]half\b|(?:{_WORD})\b))*|a (?:hundred|"
    r"thousand))\b",
    re.IGNORECASE,
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}  # fmt: skip
_MONTH = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DATE = re.compile(
    rf"\b(?:(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<iso>\d\d)\b"
    rf"|(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH.format('after')}"
    rf"|(?P<part>(?:the )?(?:end|middle|beginning|start) of |mid[- ]|late |"
    rf"early ){_MONTH.format('of')}"
    rf"|{_MONTH.format('before')} (?P<us>\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"|(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow)\b)"
    r"(?:,? \d{4}\b)?",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"\b(?:(?P<h>\d{1,2}):(?P<m>\d\d)(?P<half> ?[ap]m)?"
    r"|(?P<hour>\d{1,2}) ?(?:[ap]m\b|o'clock)"
    r"|(?:a )?(?P<part>quarter|half|\d\d?)(?: minutes)? (?P<side>past|to) (?P<of>\d{1,2}))\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"(?<![\w.:/#@-])[$€£]?(?P<number>\d[\d.,]*\d|\d)"
    r"(?P<unit> ?(?:(?:a|an|per) (?P<per>[a-zµμ]+)|(?P<name>%|°C|[A-Za-zµμ]+(?:/[a-z]+)?)))?"
    r"(?![\w-])",
)
_NO_UNIT = word_set(
    "of is are was were now to and or at in on by for from with a an the per past max tops please "
    "instead minimum as it not than then if so but out all"
)
_NAMED = (
    r"\b(?:chapter|part|section|step|option|page|phase|question|point|number|level|line|shop|node|"
    r"column|row|figure|table|type|class|item|module|job|host|rack|ticket|issue|task)"
)
_NAMES = re.compile(rf"{_NAMED} $", re.IGNORECASE)
_NAME = re.compile(rf"({_NAMED}) (?=\d)", re.IGNORECASE)
"""Before a number that only tells one from another: "chapter three"."""
_BARE_SIZES = word_set("Ki Mi Gi Ti")
MEASURED = frozenset({"time", "size", "%", ""})


class Value(NamedTuple):
    """One value; ``family``: what it measures or counts, ``date`` or ``clock``."""

    family: str
    key: str
    text: str
    """As it is written in the sentence."""


@lru_cache(maxsize=8192)
def values_in(text: str) -> tuple[Value, ...]:
    """The values of a sentence."""
    found: list[Value] = []
    plain, places = _in_digits(text)
    taken = bytearray(len(plain) + 1)

    def take(match: re.Match[str], family: str, key: str) -> None:
        start, end = match.span()
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            found.append(Value(family, key, text[places[start] : places[end]].strip(" ,")))

    for match in _DATE.finditer(plain):
        take(match, "date", _date_key(match))
    for match in _CLOCK.finditer(plain):
        take(match, "clock", _clock_key(match))
    for match in _FIGURE.finditer(plain):
        if _NAMES.search(plain, max(0, match.start() - 12), match.start()):
            continue
        unit = match["name"] or ""
        if unit.lower() in _NO_UNIT:
            unit = ""
        unit = f"per{match['per']}" if match["per"] else unit
        unit = f"{unit}B" if unit in _BARE_SIZES else unit
        read = figure(f"{match['number'].replace(',', '')} {unit}")
        if read is not None:
            take(match, read.family, read.key)
    return tuple(found)


def _in_digits(text: str) -> tuple[str, list[int]]:
    """The text with numbers in words as digits, and where each character stands in the text."""
    parts: list[str] = []
    places: list[int] = []
    at = 0
    for match in _IN_WORDS.finditer(text):
        number = _number(match.group().lower())
        is_name = _NAMES.search(text, max(0, match.start() - 12), match.start())
        if match.group().lower() == "one" or number is None or is_name:
            continue
        parts += [text[at : match.start()], number]
        places += range(at, match.start())
        places += [match.start()] * len(number)
        at = match.end()
    parts.append(text[at:])
    places += range(at, len(text) + 1)
    return "".join(parts), places


def in_digits(text: str) -> str:
    """The text with numbers in words as digits, and those of names as part of the name."""
    return _NAME.sub(r"\1", _in_digits(text)[0])


def _number(words: str) -> str | None:
    total, current = 0.0, 0.0
    for word in re.split(
        r"[ -]+", words.replace("and a half", "and-half").replace("a half", "half")
    ):
        if word in _NUMBERS:
            current += _NUMBERS[word]
        elif word == "half":
            current += 0.5
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in _SCALES:
            total += (current or 1) * _SCALES[word]
            current = 0
        elif word not in ("and", "a"):
            return None
    return f"{total + current:g}" if total + current < 1e6 else f"{int(total + current)}"


def _date_key(match: re.Match[str]) -> str:
    if match["weekday"]:
        return match["weekday"].lower()
    if match["month"]:
        return f"{int(match['month'])}-{int(match['iso'])}"
    name = match["after"] or match["of"] or match["before"]
    month = _MONTHS[name[:3].lower()]
    day = match["day"] or match["us"]
    if day is None:
        part = match["part"].lower()
        day = "30" if "end" in part or "late" in part else "15" if "mid" in part else "1"
    return f"{month}-{int(day)}"


def _clock_key(match: re.Match[str]) -> str:
    if match["h"]:
        return f"{int(match['h'])}:{match['m']}"
    if match["hour"]:
        return f"{int(match['hour'])}:00"
    minutes = {"quarter": 15, "half": 30}.get(match["part"].lower()) or int(match["part"])
    hour = int(match["of"])
    return f"{hour}:{minutes:02d}" if match["side"] == "past" else f"{hour - 1}:{60 - minutes:02d}"
