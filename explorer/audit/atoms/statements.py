"""What people lay down: constraints, decisions, questions, requests, things to do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.audit.atoms.cues import (
    ASK_WORDS,
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
    asks,
)
from explorer.audit.atoms.model import AtomKind
from explorer.audit.atoms.sentences import Sentence

_ANY_HINT = TODO_WORDS | DECISIONS.words
_ANY_HINT_OF_USER = PLAIN_RULES | RULES.words | DECISIONS.words | ASK_WORDS
"""A sentence with none of these is a statement by its form or its place alone."""
_DIGIT = re.compile(r"\d")


def statements(
    found: list[Sentence], plain: str, *, by_user: bool
) -> Iterator[tuple[AtomKind, Sentence]]:
    """The kinds of the sentences of one message; a sentence may be of several.

    ``plain``: the ``plain_letters`` of the message.
    """
    hints = _ANY_HINT_OF_USER if by_user else _ANY_HINT
    for sentence in found:
        text = sentence.text
        listed = plain[sentence.start : sentence.end].split()
        # A new value for a limit needs no word that tells of it.
        by_form = sentence.item or "?" in text or (by_user and _DIGIT.search(text) is not None)
        if not by_form and hints.isdisjoint(listed):
            continue
        if GREETING.match(text) or sentence.box in ("x", "X"):
            continue
        words = frozenset(listed)
        if is_question(text):
            if by_user and asks(text) and not CONSIDERING.match(text):
                yield AtomKind.REQUEST, sentence
            elif len(text.split()) > 2:
                yield AtomKind.QUESTION, sentence
            continue
        if is_todo(sentence, words, by_user=by_user):
            yield AtomKind.TODO, sentence
            continue
        is_rule = by_user and is_constraint(sentence, words)
        if is_rule:
            yield AtomKind.CONSTRAINT, sentence
        is_choice = is_decision(sentence, words)
        if is_choice:
            yield AtomKind.DECISION, sentence
        if by_user and _asks(text, words, is_rule or (is_choice and not POLITE.search(text))):
            yield AtomKind.REQUEST, sentence


def statements_of_summary(found: list[Sentence], plain: str) -> Iterator[tuple[AtomKind, Sentence]]:
    """The kinds of the items of a summary, which its headings tell. ``plain``: as above."""
    for sentence in found:
        if GREETING.match(sentence.text) or sentence.box in ("x", "X"):
            continue
        if RULE_HEAD.search(sentence.section):
            yield AtomKind.CONSTRAINT, sentence
        elif DECISION_HEAD.search(sentence.section):
            yield AtomKind.DECISION, sentence
        elif sentence.item:
            words = frozenset(plain[sentence.start : sentence.end].split())
            if TODO_HEAD.search(sentence.section) or is_todo(sentence, words):
                yield AtomKind.TODO, sentence


def _asks(text: str, words: frozenset[str], is_other: bool) -> bool:
    """A rule or a choice may begin like a request: "please don't", "keep", "let's use"."""
    if is_other:
        return ASKS_FIRST.match(text) is not None and not NEGATIVE.search(text)
    return not ASK_WORDS.isdisjoint(words) and asks(text)


_PLAIN = dict.fromkeys('.,;:!?()[]*"`→', " ") | {"’": "'"}
_EACH_EDGE = tuple(_PLAIN.items())
_EDGES = str.maketrans(_PLAIN)


def plain_letters(low: str) -> str:
    """A message, given in lower case, its marks made blanks: its words are those between the
    blanks, and each stands where it did."""
    if low.isascii():
        return low.translate(_EDGES)
    for mark, plain in _EACH_EDGE:
        low = low.replace(mark, plain)
    return low


def is_question(text: str) -> bool:
    """Whether a sentence asks."""
    return text.rstrip("\"'”’)*` :").endswith("?")


def is_constraint(sentence: Sentence, words: frozenset[str]) -> bool:
    """Whether a sentence of the user's, given with its words, forbids, demands or limits."""
    text = sentence.text
    if sentence.item and RULE_HEAD.search(sentence.under):
        return True
    if not PLAIN_RULES.isdisjoint(words):
        return NO_RULE.search(text) is None
    if _DIGIT.search(text) and NEW_VALUE.search(text):
        return True
    return RULES.found(text, words) and NO_RULE.search(text) is None


def is_decision(sentence: Sentence, words: frozenset[str]) -> bool:
    """Whether a sentence, given with its words, tells of a choice that was made."""
    if sentence.item and DECISION_HEAD.search(sentence.under):
        return True
    text = sentence.text
    return DECISIONS.found(text, words) and NO_DECISION.search(text) is None


def is_todo(sentence: Sentence, words: frozenset[str], *, by_user: bool = False) -> bool:
    """Whether a sentence, given with its words, tells of work that is left."""
    if sentence.box in (" ", "-", "~") and sentence.box:
        return True
    if sentence.item and TODO_HEAD.search(sentence.under) and not by_user:
        return True
    if by_user or sentence.text.endswith(":") or TODO_WORDS.isdisjoint(words):
        return False
    return TODO.search(sentence.text) is not None
