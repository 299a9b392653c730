"""What people lay down: constraints, decisions, questions, requests, things to do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from explorer.audit.atoms.cues import (
    ASK_WORDS,
    ASKS,
    ASKS_FIRST,
    CONSIDERING,
    DECISION_HEAD,
    DECISIONS,
    GREETING,
    NEGATIVE,
    NEW_VALUE,
    NO_DECISION,
    NO_RULE,
    PLAIN_RULES,
    POLITE,
    RULE_HEAD,
    RULES,
    TODO,
    TODO_HEAD,
    TODO_WORDS,
)
from explorer.audit.atoms.model import AtomKind
from explorer.audit.atoms.sentences import Sentence


def statements(found: list[Sentence], *, by_user: bool) -> Iterator[tuple[AtomKind, Sentence]]:
    """The kinds of the sentences of one message; a sentence may be of several."""
    for sentence in found:
        text = sentence.text
        if GREETING.match(text) or sentence.box in ("x", "X"):
            continue
        if is_question(text):
            if by_user and ASKS.search(text) and not CONSIDERING.match(text):
                yield AtomKind.REQUEST, sentence
            elif len(text.split()) > 2:
                yield AtomKind.QUESTION, sentence
            continue
        if is_todo(sentence, by_user=by_user):
            yield AtomKind.TODO, sentence
            continue
        is_rule = by_user and is_constraint(sentence)
        if is_rule:
            yield AtomKind.CONSTRAINT, sentence
        is_choice = is_decision(sentence)
        if is_choice:
            yield AtomKind.DECISION, sentence
        if by_user and _asks(text, is_rule or (is_choice and not POLITE.search(text))):
            yield AtomKind.REQUEST, sentence


def statements_of_summary(found: list[Sentence]) -> Iterator[tuple[AtomKind, Sentence]]:
    """The kinds of the items of a summary, which its headings tell."""
    for sentence in found:
        if GREETING.match(sentence.text) or sentence.box in ("x", "X"):
            continue
        if RULE_HEAD.search(sentence.section):
            yield AtomKind.CONSTRAINT, sentence
        elif DECISION_HEAD.search(sentence.section):
            yield AtomKind.DECISION, sentence
        elif sentence.item and (TODO_HEAD.search(sentence.section) or is_todo(sentence)):
            yield AtomKind.TODO, sentence


def _asks(text: str, is_other: bool) -> bool:
    """A rule or a choice may begin like a request: "please don't", "keep", "let's use"."""
    if is_other:
        return ASKS_FIRST.match(text) is not None and not NEGATIVE.search(text)
    return not ASK_WORDS.isdisjoint(_words(text)) and ASKS.search(text) is not None


_EDGES = str.maketrans(dict.fromkeys('.,;:!?()[]*"`→', " ") | {"’": "'"})


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    """The words of a sentence, for a quick look before a slow pattern."""
    return frozenset(text.lower().translate(_EDGES).split())


def is_question(text: str) -> bool:
    """Whether a sentence asks."""
    return text.rstrip("\"'”’)*` :").endswith("?")


def is_constraint(sentence: Sentence) -> bool:
    """Whether a sentence of the user's forbids, demands or limits."""
    text = sentence.text
    if sentence.item and RULE_HEAD.search(sentence.under):
        return True
    words = _words(text)
    if not PLAIN_RULES.isdisjoint(words):
        return NO_RULE.search(text) is None
    if any(letter.isdigit() for letter in text) and NEW_VALUE.search(text):
        return True
    return RULES.found(text, words) and NO_RULE.search(text) is None


def is_decision(sentence: Sentence) -> bool:
    """Whether a sentence tells of a choice that was made."""
    if sentence.item and DECISION_HEAD.search(sentence.under):
        return True
    text = sentence.text
    words = _words(text)
    return DECISIONS.found(text, words) and NO_DECISION.search(text) is None


def is_todo(sentence: Sentence, *, by_user: bool = False) -> bool:
    """Whether a sentence tells of work that is left."""
    if sentence.box in (" ", "-", "~") and sentence.box:
        return True
    if sentence.item and TODO_HEAD.search(sentence.under) and not by_user:
        return True
    if by_user or sentence.text.endswith(":") or TODO_WORDS.isdisjoint(_words(sentence.text)):
        return False
    return TODO.search(sentence.text) is not None
