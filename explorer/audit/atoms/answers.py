"""Short answers: "the second one", "SQLite", "7", which settle what the other side asked.

Such a word or two is a decision only after a question that left a choice, so that both sides are
read apart and brought together where the entries of a path are.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from explorer.audit.atoms.keys import terms, terms_of_message
from explorer.audit.atoms.lists import word_set
from explorer.audit.atoms.phrasing import orders, phrase
from explorer.audit.atoms.verbs import FINITE, OPENERS

_OFFERS = re.compile(
    r"\bor\b|\bwhich\b|\bwhat (?:should|shall|happens|name|value|do you|would you|about)\b|"
    r"\bprefer(?:ence|red)?\b|"
    r"\b(?:should|shall|may|want|would you|do you want|keep|ok to|okay to|how (?:many|much|long|"
    r"often|big|far|"
    r"large|should|do you))\b|^\W*(?:with|any)\b"
)
_OF_THE_PAST = re.compile(r"\b(?:was|were|did|happened|happen)\b")
_ASKED = re.compile(r"[^.!?\n]+\?")
_STOP = re.compile(r"[.!?]+(?![^\s\"”')\]])|\n|$")
_PART = re.compile(r"[^,.!;:\n]+")
_NO_ANSWER = word_set(
    """
    idea sure know weekend morning coffee brb lol haha sorry thanks thx thank great perfect nice
    cool awesome what why how who when where hmm moment minute second sec later done legend amazing
    back hang wow ugh yikes oops catch question point absolutely exactly indeed interesting agreed
    understood noted
    """
)
_TAIL = 400
"""Characters at the end of a reply in which its question is looked for."""
_FIRST = 4
"""Sentences of a message that may answer."""
_LONG = 12
"""Words of a sentence that answers."""
_ASIDE = re.compile(
    r"^(?:thanks?|sorry|oh|lol|haha|good|great|ooh|i (?:asked|tried|talked|forgot)|no\b)|"
    r"\b(?:please|pls)\b",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"^(?:(?:ah|oh|yes|well|ok),? )*(?:that|this|such|what) (?!one\b|way\b|too\b)\w"
)
"""What speaks of the question and does not answer it: that old story."""
_DIGITS = {"one": "1", "two": "2", "three": "3", "four": "4", "first": "1", "second": "2"}
_LONGEST = 7
"""Words of a short answer."""


def offers(reply: str) -> frozenset[str]:
    """The telling words of the question that leaves a choice and ends a reply, with what stands
    before it; none where there is no such question."""
    tail = reply[-_TAIL:]
    at = tail.rfind("?")
    if at < 0:
        return frozenset()
    choice = any(
        _OFFERS.search(asked) is not None and not _OF_THE_PAST.search(asked)
        for asked in _ASKED.findall(tail[: at + 1].lower())
    )
    return terms_of_message(tail) if choice else frozenset()


class Answer(NamedTuple):
    """A sentence of the user's that may answer; offsets in characters."""

    start: int
    end: int
    about: frozenset[str]
    """Its telling words."""
    short: bool
    """It begins the message, and is a word or two that are nothing else than an answer."""

    def takes_up(self, offered: frozenset[str]) -> bool:
        """Whether it answers a question with these words."""
        return bool(offered) and (self.short or not offered.isdisjoint(self.about))


def answers(message: str) -> list[Answer]:
    """The sentences a message of the user's begins with that may each answer."""
    found = []
    short = _short_answer(message)
    if short is not None:
        found.append(Answer(*short, frozenset(), True))
    at = 0
    for _ in range(_FIRST):
        stop = _STOP.search(message, at)
        if stop is None or stop.end() <= at:
            break
        text = message[at : stop.end()]
        start = at + len(text) - len(text.lstrip())
        text = text.strip()
        if 0 < len(text.split()) <= _LONG and not text.endswith("?") and not _ASIDE.search(text):
            found.append(Answer(start, start + len(text), terms(text) | _numbers(text), False))
        at = stop.end()
    return found


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_DIGITS[word] for word in text.lower().split() if word in _DIGITS)


def _short_answer(message: str) -> tuple[int, int] | None:
    """Where a message of the user's begins with a short answer, to its full stop (characters)."""
    for part in _PART.finditer(message, 0, 300):
        said = phrase(part.group())
        words = [word for word in re.findall(r"[\w'%-]+", said.low) if word not in OPENERS]
        if not words or (len(words) == 1 and words[0] in _NO_ANSWER) or _REMARK.match(said.low):
            continue
        fits = (
            len(words) <= _LONGEST
            and said.words.isdisjoint(FINITE)
            and said.words.isdisjoint(_NO_ANSWER)
            and said.words.isdisjoint(("i", "we", "you", "it", "no", "not", "yes"))
            and message[part.end() : part.end() + 1] != "?"
            and next(orders(said.low), None) is None
        )
        if not fits:
            return None
        stop = _STOP.search(message, part.end())
        start = part.start() + len(part.group()) - len(part.group().lstrip())
        return start, len(message[: stop.end() if stop else None].rstrip())
    return None
