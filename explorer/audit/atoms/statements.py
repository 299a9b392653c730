"""What people lay down: constraints, decisions, questions, requests, things to do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.audit.atoms.constraints import RULE_WORDS, is_constraint
from explorer.audit.atoms.cues import DECISION_HEAD, GREETING, RULE_HEAD, TODO_HEAD
from explorer.audit.atoms.decisions import CHOICE_WORDS, is_decision, may_be_decision
from explorer.audit.atoms.letters import Replaced
from explorer.audit.atoms.lists import word_set
from explorer.audit.atoms.model import AtomKind
from explorer.audit.atoms.phrasing import phrase
from explorer.audit.atoms.requests import REQUEST_WORDS, asks, reports
from explorer.audit.atoms.sentences import Sentence
from explorer.audit.atoms.todos import TODO_WORDS, is_todo, may_be_todo

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
_Said = list[tuple[Sentence, Sentence | None]]
"""Sentences, each with the one that goes on after a semicolon or a dash."""
_GAP = 4
"""Characters between the parts of one sentence."""
_OFFERING = re.compile(r"(?:which|any|what|where|how|why|ok|keep|still|one|now)\b", re.IGNORECASE)
_SHORTEST = 3
"""Words of a question; what is shorter ("why?", "ok?") takes up what was said before it."""
_HINTS_OF_USER = TODO_WORDS | CHOICE_WORDS | RULE_WORDS | REQUEST_WORDS | _QUESTION_WORDS
"""A sentence of the user's with none of these is a statement by its form or its place alone."""


def statements(
    found: list[Sentence], plain: str, *, by_user: bool
) -> Iterator[tuple[AtomKind, Sentence]]:
    """The kinds of the sentences of one message; a sentence may be of several.

    ``plain``: the ``plain_letters`` of the message.
    """
    may_be = may_be_of_user if by_user else may_be_of_agent
    said = []
    after: Sentence | None = None
    for one in reversed(found):
        other = after if after is not None and _goes_on(one, after) else None
        after = one
        telling = one.item or "?" in one.text
        words = plain[one.start : (other or one).end].split()
        if not telling and not may_be(frozenset(words)):
            continue
        if not (GREETING.match(one.text) or one.box in ("x", "X")):
            said.append((one, other))
    said.reverse()
    return _of_user(said) if by_user else _of_agent(said)


def _goes_on(one: Sentence, other: Sentence) -> bool:
    return other.start - one.end <= _GAP and one.text[-1] not in ".!?…:"


def may_be_of_user(words: frozenset[str]) -> bool:
    """Whether a sentence of the user's with these words may be a statement."""
    return not _HINTS_OF_USER.isdisjoint(words)


def may_be_of_agent(words: frozenset[str]) -> bool:
    """The same of the assistant's."""
    return may_be_decision(words) or may_be_todo(words)


def _of_agent(found: _Said) -> Iterator[tuple[AtomKind, Sentence]]:
    for sentence, other in found:
        if is_question(sentence.text):
            if len(sentence.text.split()) >= _SHORTEST or _OFFERING.match(sentence.text):
                yield AtomKind.QUESTION, sentence
        elif is_todo(sentence):
            yield AtomKind.TODO, sentence
        elif is_decision(sentence, by_user=False):
            yield AtomKind.DECISION, sentence
        elif other is not None and (both := _joined(sentence, other)):
            yield AtomKind.DECISION, both


def _joined(one: Sentence, other: Sentence) -> Sentence | None:
    """Two parts of a sentence with a semicolon or a dash between them, a way and why, which are a
    decision together and not by the second alone."""
    if is_question(other.text):
        return None
    text = f"{one.text}; {other.text}"
    both = one._replace(text=text, end=other.end)
    together = is_decision(both, by_user=False) and not is_decision(other, by_user=False)
    return both if together else None


def _of_user(found: _Said) -> Iterator[tuple[AtomKind, Sentence]]:
    wanted = False
    broken: Sentence | None = None
    for sentence, _ in found:
        said = phrase(sentence.text)
        kinds = _kinds_of_user(sentence)
        for kind in kinds:
            yield kind, sentence
        wanted = wanted or bool(kinds)
        if not kinds and broken is None and reports(said):
            broken = sentence
    if broken is not None and not wanted:
        # Nothing else was asked: what is broken wants repair.
        yield AtomKind.REQUEST, broken


def _kinds_of_user(sentence: Sentence) -> list[AtomKind]:
    said = phrase(sentence.text)
    if is_question(sentence.text):
        if asks(said, is_rule=False, is_choice=False, is_question=True):
            return [AtomKind.REQUEST]
        long = len(sentence.text.split()) >= _SHORTEST or _OFFERING.match(sentence.text)
        return [AtomKind.QUESTION] if long else []
    kinds = []
    if is_todo(sentence, by_user=True):
        kinds.append(AtomKind.TODO)
    is_rule = is_constraint(sentence)
    if is_rule:
        kinds.append(AtomKind.CONSTRAINT)
    is_choice = is_decision(sentence, by_user=True)
    if is_choice:
        kinds.append(AtomKind.DECISION)
    if kinds[:1] != [AtomKind.TODO] and asks(
        said, is_rule=is_rule, is_choice=is_choice, is_question=False
    ):
        kinds.append(AtomKind.REQUEST)
    if not kinds and _ASKS_UNMARKED.match(said.low):
        kinds.append(AtomKind.QUESTION)
    return kinds


def statements_of_summary(found: list[Sentence], plain: str) -> Iterator[tuple[AtomKind, Sentence]]:
    """The kinds of the items of a summary, which its headings tell. ``plain``: as above."""
    for sentence in found:
        if GREETING.match(sentence.text) or sentence.box in ("x", "X"):
            continue
        if RULE_HEAD.search(sentence.section):
            yield AtomKind.CONSTRAINT, sentence
        elif DECISION_HEAD.search(sentence.section):
            yield AtomKind.DECISION, sentence
        elif sentence.item and (TODO_HEAD.search(sentence.section) or is_todo(sentence)):
            yield AtomKind.TODO, sentence


def is_question(text: str) -> bool:
    """Whether a sentence asks."""
    return text.rstrip("\"'”’)*` :").endswith("?")


_EDGES = Replaced(dict.fromkeys('.,;:!?()[]*"`→', " ") | {"’": "'"})


def plain_letters(low: str) -> str:
    """A message, given in lower case, its marks made blanks: its words are those between the
    blanks, and each stands where it did."""
    return _EDGES.within(low)
