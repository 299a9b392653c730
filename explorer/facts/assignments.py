"""The rules of an assignment: what the leader of a team of agents lays down for the one it starts.

The message is long and most of it tells of the work, so only what is certain counts: its list of
rules, and the sentences of its opening, or marked as important, that forbid or allow only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.facts.commands import fences
from explorer.facts.statements import is_question
from explorer.facts.text import Sentence, sentences, terms
from explorer.session.late_pattern import late_pattern

_BEGIN = late_pattern(r"<teammate-message(?=[^<>]*\steammate_id=\"team-lead\")[^<>]*>(?!\s*\{)")
"""Before what the leader wrote; what its program writes for it is JSON."""
_END = "</teammate-message>"
_LIST = late_pattern(
    r"\W*(?:[a-z]+ ){0,2}(?:rules|constraints|restrictions|guardrails)\W*", re.IGNORECASE
)
"""A line that says nothing but that rules follow."""
_MARKED = late_pattern(r"\W*(?:important|critical|warning)\b", re.IGNORECASE)
_LIMITS = late_pattern(
    r"\W*(?:(?:important|critical|warning)\W+)?(?:please )?(?:you )?"
    r"(?:(?:do not|don['’]?t|never|must not|may not|may only|only) [a-z]"
    r"|(?:work|edit|write|change|modify|touch) (?:files )?only in\b)",
    re.IGNORECASE,
)
_LEAST = 2
"""Telling words of a rule."""
_LONGEST = 400
"""Characters of a rule."""


def assigned_rules(text: str) -> Iterator[Sentence]:
    """The rules in the assignments of a message, in order; offsets in characters."""
    begin = _BEGIN.search(text)
    while begin is not None and (end := text.find(_END, begin.end())) >= 0:
        yield from _rules(text, begin.end(), end)
        begin = _BEGIN.search(text, end)


def _rules(text: str, start: int, end: int) -> Iterator[Sentence]:
    blocks = [(first, last) for first, last, _ in fences(text)]
    is_opening = True
    for one in _whole_items(text, [(0, start), *blocks, (end, len(text) + 1)]):
        is_opening = is_opening and not (one.item or one.under or one.section)
        is_rule = (
            _LIST.fullmatch(one.under) is not None
            if one.item
            else (is_opening or _MARKED.match(one.text)) and _LIMITS.match(one.text)
        )
        if is_rule and _may_stand(one):
            yield one


def _whole_items(text: str, skip: list[tuple[int, int]]) -> Iterator[Sentence]:
    """Sentences, but list items as they are: "additive only" says nothing without the rest."""
    last: Sentence | None = None
    for one in sentences(text, skip):
        if last is not None and last.item and one.item and "\n" not in text[last.end : one.start]:
            last = last._replace(text=text[last.start : one.end], end=one.end)
            continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last


def _may_stand(one: Sentence) -> bool:
    """Whether a sentence is long enough to stand by itself, and no more than one."""
    if one.checkbox or one.text.endswith(":") or is_question(one.text):
        return False
    return len(one.text) <= _LONGEST and len(terms(one.text)) >= _LEAST
