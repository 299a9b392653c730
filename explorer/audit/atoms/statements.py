"""What people lay down: constraints, decisions, questions, requests, things to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from explorer.audit.atoms.constraints import RULE_WORDS, is_listed_rule, rule_weight, rules
from explorer.audit.atoms.cues import DECISION_HEAD, GREETING, RULE_HEAD, TODO_HEAD
from explorer.audit.atoms.decisions import (
    CHOICE_WORDS,
    choice_weight,
    decides,
    is_listed_decision,
    may_be_decision,
)
from explorer.audit.atoms.letters import Replaced
from explorer.audit.atoms.lists import word_set
from explorer.audit.atoms.model import AtomKind
from explorer.audit.atoms.phrasing import Phrase, phrase
from explorer.audit.atoms.requests import REQUEST_WORDS, asks, orders_work, reports
from explorer.audit.atoms.sentences import Sentence
from explorer.audit.atoms.todos import (
    TODO_WORDS,
    is_listed_todo,
    may_be_todo,
    tells_of_open_work,
)

_QUESTION_WORDS = word_set(
    "why how where when who what which is are does did do was were has have any no not i wonder "
    "wondering"
)
_ASKS_UNMARKED = re.compile(
    r"^(?:(?:and|but|so|ok|okay|hm+|wait|also),? )*(?:(?:why|how|where|when|who|what|which)(?:'s|"
    r" (?:is|are|do|does|did|can|should|was|were|about|would|will))\b|"
    r"(?:is|are|does|did|do|was|were|has|have) (?:it|there|this|that|they|we|you|the)\b|"
    r"(?:any idea|no idea|not sure|i wonder|i'm not sure|wondering|i don't (?:know|understand|get|"
    r"see)) (?:why|how|where|if|whether|what))"
)
_KNOWN = 8192
"""Sentences whose kinds are remembered: a session repeats itself."""
_GAP = 4
"""Characters between the parts of one sentence."""
_OFFERING = re.compile(r"(?:which|any|what|where|how|why|ok|keep|still|one|now)\b", re.IGNORECASE)
_SHORTEST = 3
"""Words of a question; what is shorter ("why?", "ok?") takes up what was said before it."""
_HINTS = TODO_WORDS | CHOICE_WORDS | RULE_WORDS | REQUEST_WORDS | _QUESTION_WORDS
"""A sentence of the user's with none of these is a statement by its form or its place alone."""


def statements(found: list[Sentence], *, by_user: bool) -> Iterator[tuple[AtomKind, Sentence]]:
    """The kinds of the sentences of one message; a sentence may be of several."""
    said = [one for one in found if one.box not in ("x", "X")]
    return _of_user(said) if by_user else _of_agent(said)


def _of_agent(found: list[Sentence]) -> Iterator[tuple[AtomKind, Sentence]]:
    for place, one in enumerate(found, 1):
        if one.item and (kind := _kind_by_place(one)) and not is_question(one.text):
            yield kind, one
            continue
        other = found[place] if place < len(found) and _goes_on(one, found[place]) else None
        told = _kind_of_agent(one.text, other.text if other is not None else "")
        if told is not None:
            kind, both = told
            yield kind, one._replace(end=other.end) if both and other is not None else one


def _kind_by_place(one: Sentence) -> AtomKind | None:
    if is_listed_todo(one):
        return AtomKind.TODO
    return AtomKind.DECISION if is_listed_decision(one) else None


def _goes_on(one: Sentence, other: Sentence) -> bool:
    """Whether a semicolon or a dash stands between two parts of one sentence."""
    return other.start - one.end <= _GAP and one.text[-1] not in ".!?…:"


@lru_cache(maxsize=_KNOWN)
def _kind_of_agent(text: str, after: str) -> tuple[AtomKind, bool] | None:
    """The kind of a sentence of the assistant's, and whether what goes on ``after`` it belongs to
    it: a way and why, which are a decision together and not by the second alone."""
    if is_question(text):
        is_long = len(text.split()) >= _SHORTEST or _OFFERING.match(text)
        return (AtomKind.QUESTION, False) if is_long else None
    whole = f"{text}; {after}" if after else text
    words = frozenset(plain_letters(whole.lower()).split())
    if not (may_be_decision(words) or may_be_todo(words)) or GREETING.match(text):
        return None
    if tells_of_open_work(text):
        return AtomKind.TODO, False
    if decides(text, by_user=False):
        return AtomKind.DECISION, False
    if not after or is_question(after) or decides(after, by_user=False):
        return None
    return (AtomKind.DECISION, True) if decides(whole, by_user=False) else None


def _of_user(found: list[Sentence]) -> Iterator[tuple[AtomKind, Sentence]]:
    is_wanted = False
    broken: Sentence | None = None
    for one in found:
        kinds = _kinds_of_user(
            one.text,
            is_todo=bool(one.box),
            is_rule=one.item and is_listed_rule(one),
            is_choice=one.item and is_listed_decision(one),
        )
        for kind in kinds:
            yield kind, one
        is_wanted = is_wanted or bool(kinds)
        if not kinds and broken is None and reports(phrase(one.text)):
            broken = one
    if broken is not None and not is_wanted:
        # Nothing else was said: what is broken wants repair.
        yield AtomKind.REQUEST, broken


@lru_cache(maxsize=_KNOWN)
def _kinds_of_user(
    text: str, *, is_todo: bool, is_rule: bool, is_choice: bool
) -> tuple[AtomKind, ...]:
    """The kinds of a sentence of the user's, with what its place in a list makes it."""
    words = frozenset(plain_letters(text.lower()).split())
    is_listed = is_todo or is_rule or is_choice
    if GREETING.match(text) or not (is_listed or "?" in text or not _HINTS.isdisjoint(words)):
        return ()
    said = phrase(text)
    if is_question(text):
        if asks(said, is_rule=False, is_choice=False, is_question=True):
            return (AtomKind.REQUEST,)
        is_long = len(text.split()) >= _SHORTEST or _OFFERING.match(text)
        return (AtomKind.QUESTION,) if is_long else ()
    is_todo = is_todo or tells_of_open_work(text, by_user=True)
    is_rule = is_rule or rules(text)
    is_choice = is_choice or decides(text, by_user=True)
    if is_rule and is_choice and rules_more(said):
        is_choice = False
    is_asked = (not is_todo or orders_work(said)) and asks(
        said, is_rule=is_rule, is_choice=is_choice, is_question=False
    )
    told = (
        (is_todo, AtomKind.TODO),
        (is_rule, AtomKind.CONSTRAINT),
        (is_choice, AtomKind.DECISION),
        (is_asked, AtomKind.REQUEST),
    )
    kinds = tuple(kind for is_one, kind in told if is_one)
    if not kinds and _ASKS_UNMARKED.match(said.low):
        return (AtomKind.QUESTION,)
    return kinds


def rules_more(said: Phrase) -> bool:
    """Whether a sentence of the user's that lays down a rule tells of a choice by the way."""
    return choice_weight(said, by_user=True) < rule_weight(said)


def statements_of_summary(found: list[Sentence]) -> Iterator[tuple[AtomKind, Sentence]]:
    """The kinds of the items of a summary, which its headings tell."""
    for sentence in found:
        if GREETING.match(sentence.text) or sentence.box in ("x", "X"):
            continue
        if RULE_HEAD.search(sentence.section):
            yield AtomKind.CONSTRAINT, sentence
        elif DECISION_HEAD.search(sentence.section):
            yield AtomKind.DECISION, sentence
        elif sentence.item and (
            TODO_HEAD.search(sentence.section)
            or is_listed_todo(sentence)
            or tells_of_open_work(sentence.text)
        ):
            yield AtomKind.TODO, sentence


def is_question(text: str) -> bool:
    """Whether a sentence asks."""
    return text.rstrip("\"'”’)*` :").endswith("?")


_EDGES = Replaced(dict.fromkeys('.,;:!?()[]*"`→', " ") | {"’": "'"})


def plain_letters(low: str) -> str:
    """A message, given in lower case, its marks made blanks: its words are those between the
    blanks, and each stands where it did."""
    return _EDGES.within(low)
