"""How two statements relate: whether they say the same, and whether the later changes the earlier.

No synonyms and no grammar, only shared telling words, figures and negation. A rewording is
recognised when it keeps the words; most rewordings in other words are missed. A change is
recognised when the later statement shares telling words with the earlier one, or points back at
it, and gives another value of the same measure, lifts it in so many words, or permits what it
forbade.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from typing import NamedTuple

from explorer.facts.fact import FactKind, Mention
from explorer.facts.figures import Figure, figures_in
from explorer.facts.statements import denies_or_forbids
from explorer.facts.text import stem, terms, word_set
from explorer.session.late_pattern import late_pattern

ABOUT = 0.6
"""The share of a statement's telling words that a line about the same has."""
_LEAST_SHARED = 2
"""Telling words that must be shared, or one and a figure."""
_MOST_OTHER = 0.5
"""A line has fewer telling words of its own than this multiple of the shared ones."""
_LONGEST = 1000
"""Characters of a text that can be one statement."""
_WORD = late_pattern(r"[^\W\d_][\w'’]*")
_EMPHASIS = frozenset(
    map(stem, word_set("actually also really still now sure make rule important officially lets"))
)


class Agreement(Enum):
    """What a line is to a statement."""

    SAME = "same"
    OTHER_VALUE = "other value"
    """About the same, with another figure of the same measure."""
    OPPOSITE = "opposite"
    """The same words with a negation more or less."""
    DIFFERENT = "different"


class Wording(NamedTuple):
    """What the comparison sees of a text."""

    words: tuple[str, ...]
    """Stems of its telling words in order, each once, without figures."""
    figures: tuple[Figure, ...]
    denies: bool


@lru_cache(maxsize=8192)
def wording(text: str) -> Wording:
    """The telling words, figures and negation of a text; nothing of one that is too long."""
    if len(text) > _LONGEST:
        return Wording((), (), False)
    telling = terms(text) - _EMPHASIS
    stems = (stem(word) for word in _WORD.findall(text))
    words = tuple(dict.fromkeys(word for word in stems if word in telling))
    return Wording(words, figures_in(text), denies_or_forbids(text))


def compare(statement: str, line: str) -> Agreement:
    """What a line of a summary is to a statement."""
    stated, given = wording(statement), wording(line)
    shared = [word for word in given.words if word in stated.words]
    enough = len(shared) >= _LEAST_SHARED or (shared and stated.figures)
    if not enough or len(shared) < ABOUT * len(stated.words):
        return Agreement.DIFFERENT
    is_one_thing = len(shared) == len(stated.words) or len(shared) == len(given.words)
    if _differ(stated.figures, given.figures):
        # "the read timeout" and "the write timeout" are two things.
        return Agreement.OTHER_VALUE if is_one_thing else Agreement.DIFFERENT
    if {one.key for one in stated.figures} != {one.key for one in given.figures}:
        return Agreement.DIFFERENT
    # Words in another order may say the reverse: "replace A with B".
    has_all = tuple(shared) == stated.words
    if not has_all or len(given.words) - len(shared) >= _MOST_OTHER * len(shared):
        return Agreement.DIFFERENT
    return Agreement.SAME if stated.denies == given.denies else Agreement.OPPOSITE


def _differ(wanted: tuple[Figure, ...], given: tuple[Figure, ...]) -> bool:
    """Whether a figure has another value of the same measure, and none of them agrees."""
    if {one.key for one in wanted} & {one.key for one in given}:
        return False
    return any(one.family == other.family for one in wanted for other in given)


RULES = frozenset({FactKind.CONSTRAINT, FactKind.DECISION})
_LOOK_BACK = 40
"""Earlier statements that a statement is compared with."""
_FAR_APART = 50.0
"""Two times or sizes that differ by this factor measure different things."""
_LONGEST_POINTER = 3
"""Telling words of a statement that names no subject ("make that 8 then")."""

_CHANGES = late_pattern(
    r"\b(?:now|instead|actually|after all|any ?more|correction|final|from (?:now|here) on|"
    r"scratch that|let['’]?s say|moved|back to|no longer|rather|kinder|turns? out|forget|"
    r"(?:is|are) (?:fine|ok(?:ay)?|enough|plenty)|new (?:limit|cap|budget|deadline|value))\b|"
    r"\b(?:raise|lower|bump|increase|decrease|reduce|change|relax|tighten|extend|shorten)[sd]?\b",
    re.IGNORECASE,
)
_NUMBER_AS_NAME = late_pattern(
    r"\b(?:an?|https?|status|code|error|rule|issue)\s+(\d{1,9})\b", re.IGNORECASE
)
"""A number that names something ("a 409") has no other value."""
_POINTS_BACK = late_pattern(
    r"\b(?:make|set|raise|lower|bump|cut|change|relax|use|keep) (?:that|it|this|them|the (?:limit|"
    r"cap|budget|timeout|deadline|number))\b|\b(?:that|it)['’]?s? (?:is )?now\b|"
    r"\blet['’]?s say\b",
    re.IGNORECASE,
)
_LIFTS = late_pattern(
    r"\bno longer (?:need|have|required?|necessary|applies|matters?)\b|"
    r"\b(?:forget|ignore) (?:about )?(?:what|the|my|that|it)\b|"
    r"\b(?:drop|lift|scrap|scratch|forget) the (?:[\w.%-]+ ){0,3}(?:rule|limit|requirement|cap)\b|"
    r"\bdoesn['’]?t (?:matter|apply) any ?more\b|\bnever ?mind (?:the|that|what|my)\b|"
    r"\b(?:don['’]?t|doesn['’]?t|do not) (?:need|have) to .*\bany ?more\b",
    re.IGNORECASE,
)
_PERMITS = late_pattern(
    r"\b(?:you|we|they) (?:may|can|are (?:allowed|free) to)\b|\bfeel free\b|"
    r"\b(?:is|are) (?:allowed|permitted|fine|ok(?:ay)?)\b",
    re.IGNORECASE,
)
_LETS = late_pattern(
    r"\b(?:may|can|allowed|permitted|free to|fine|ok(?:ay)?|acceptable|welcome|as (?:long|"
    r"much|many|often) as (?:it|they|you|we) (?:likes?|wants?|needs?))\b",
    re.IGNORECASE,
)
_DAY = late_pattern(r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow)\b", re.IGNORECASE)
_OLD_VALUE = late_pattern(
    r"\b(?:not|from|was|were|instead of|rather than|than|over|previously)\s+\W*$", re.IGNORECASE
)
_NAMED_OLD = late_pattern(
    r"\b(?:not|from|instead of|rather than|previously) ([~$€£]?\d\S*(?: [A-Za-z%/]+)?)",
    re.IGNORECASE,
)
_MEASURED = frozenset({"time", "size", "%"})
_FILLER = frozenset(
    map(
        stem,
        word_set(
            """
            limit cap make set use change raise let bump most least max min at is now enough time
            value number within long longer short shorter more less high higher low lower wait take
            keep need go get run have must no not only forget ignore scratch scrap requirement rule
            said thing instead actually fine okay after allowed permitted want please say under
            over below above than exceed maximum minimum
            """
        ),
    )
)
"""Words of rules themselves: they do not tell what a rule is about."""
_UNITS = frozenset(
    map(stem, word_set("ms seconds second minutes minute hours hour kb mb gb percent per"))
)


@dataclass
class Rule:
    """A constraint or decision of the user's, with the mentions of its sentence."""

    entry: int
    mentions: list[Mention]
    replaced_by: str = ""
    """The later statement that changed it; empty while it holds."""

    @property
    def text(self) -> str:
        """The sentence."""
        return self.mentions[0].text

    @cached_property
    def about(self) -> frozenset[str]:
        """Its telling words without figures, what they count, and the words of rules."""
        words = terms(self.text) - _FILLER - _UNITS - {one.family for one in self.figures}
        return frozenset(word for word in words if not word[0].isdigit() and not _DAY.match(word))

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Its figures; days count as figures of the family ``day``."""
        days = (Figure(float(ord(day[0]) * 256 + ord(day[1])), "day")
                for day in map(str.lower, _DAY.findall(self.text)))  # fmt: skip
        return (*figures_in(self.text), *days)

    @cached_property
    def given(self) -> tuple[Figure, ...]:
        """Its figures without those it names as the old ones ("from 5 to 8")."""
        named = {one.key for one in figures_in(" ".join(_NAMED_OLD.findall(self.text)))}
        return tuple(one for one in self.figures if one.key not in named)


def mark_changed(rules: Sequence[Rule]) -> None:
    """Sets ``replaced_by`` of each rule that a later one changes; rules in order of time."""
    for number, new in enumerate(rules):
        earlier = rules[max(0, number - _LOOK_BACK) : number]
        valid = [one for one in earlier if not one.replaced_by and one.text != new.text]
        old = _changed_by(new, valid)
        if old is not None:
            old.replaced_by = new.text


def old_value_mentions(
    rules: Iterable[Rule], figures: Iterable[tuple[int, Mention, Figure]]
) -> Iterable[tuple[int, Mention, str]]:
    """Mentions of a changed value that only say what it was ("8, not 5"), each with its entry and
    the statement that holds. ``figures``: all figures with their entries."""
    values = {
        rule.figures[0].value: rule.replaced_by
        for rule in rules
        if rule.replaced_by and rule.figures
    }
    for entry, mention, value in figures:
        before = mention.context.partition("\n")[0]
        if value.value in values and _OLD_VALUE.search(before):
            yield entry, mention, values[value.value]


def _changed_by(new: Rule, valid: Sequence[Rule]) -> Rule | None:
    """The earlier rule that a statement changes: the one with most words in common, the later of
    equals."""
    best, most = None, -1
    for old in valid:
        shared = len(new.about & old.about)
        if shared >= most and (
            _lifts(new, old, shared) or _permits(new, old, shared) or _revalues(new, old, shared)
        ):
            best, most = old, shared
    return best


def permits(line: str, forbidding: str) -> bool:
    """Whether a line lets pass what an instruction forbids ("new dependencies are fine")."""
    if not denies_or_forbids(forbidding) or denies_or_forbids(line):
        return False
    wanted = set(wording(forbidding).words) - _FILLER
    shared = wanted & set(wording(line).words)
    return bool(_LETS.search(line)) and len(shared) >= 2 and 2 * len(shared) > len(wanted)


def _lifts(new: Rule, old: Rule, shared: int) -> bool:
    if not _LIFTS.search(new.text):
        return False
    same_value = any(one.key == other.key for one in new.figures for other in old.figures)
    return same_value or (shared >= 1 and 2 * shared >= min(len(new.about), len(old.about)))


def _permits(new: Rule, old: Rule, shared: int) -> bool:
    if not _PERMITS.search(new.text) or denies_or_forbids(new.text):
        return False
    return denies_or_forbids(old.text) and shared >= 1 and 2 * shared >= len(new.about)


def _revalues(new: Rule, old: Rule, shared: int) -> bool:
    """Whether it gives another value to what the earlier rule is about."""
    names = {float(one) for one in _NUMBER_AS_NAME.findall(old.text)}
    said = [one for one in old.figures if one.family or one.value not in names]
    pairs = [(one, other) for one in new.given for other in said]
    if any(one.key == other.key for one, other in pairs):
        return False
    measured = [one for one, other in pairs if _same_measure(one, other)]
    if not measured:
        return False
    shared += any(one.family and one.family not in _MEASURED for one in measured)
    # "the upload timeout" and "the login timeout" are two things.
    is_one_thing = new.about <= old.about or old.about <= new.about
    if _POINTS_BACK.search(new.text):
        return is_one_thing if shared else len(new.about) <= _LONGEST_POINTER
    if not is_one_thing:
        return False
    return shared >= (1 if _CHANGES.search(new.text) else 2)


def _same_measure(one: Figure, other: Figure) -> bool:
    """Whether a figure can take another's place: "8" that of "5 retries", but not of "5 s"."""
    if one.family == other.family:
        small, large = sorted((abs(one.value), abs(other.value)))
        return one.family not in _MEASURED or large <= small * _FAR_APART
    apart = {*_MEASURED, "day"}
    return not ({one.family, other.family} & apart) and "" in (one.family, other.family)
