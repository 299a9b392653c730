"""Standing instructions: what a user says that holds beyond the turn.

Rules of thumb, precision first. A sentence counts when it forbids or demands something for good
(*never*, *always*, *from now on*, *use X, not Y*), or when it stands in a list of rules. What
orders one thing now, asks, or speaks of this time only does not count, nor does text that the
user did not type: code, quoted lines, tagged blocks of hooks and editors, sections of a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.facts.commands import fences
from explorer.facts.statements import is_question
from explorer.facts.text import Sentence, sentences, terms

_TAGGED = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>.*?</\1\s*>", re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_RULES = re.compile(
    r"\b(?:rules?|constraints?|requirements?|conventions?|guidelines?|preferences|keep in mind|"
    r"(?:do|does)(?:n't| not) (?:ever )?do)\b[^.?]*:?\W*$",
    re.IGNORECASE,
)
_START = (
    r"^(?:(?:please|pls|also|and|but|so|ok|okay|yes|no|now|omfg|dude|remember|important|note|again|"
    r"oh|btw|then|plus|finally|still|just|well|right)\b[,:!]? *)*"
)
_STANDING = tuple(
    re.compile(form)
    for form in (
        # For good, in so many words.
        r"\b(?:from (?:now|here|today) on|going forward|in (?:the )?future|at all times|as a rule|"
        r"(?:until|unless) i (?:say|tell|ask)|under no circumstances|no matter what|"
        r"as long as i)\b|^(?:every time|each time|whenever) ",
        r"\bdon't ever\b|\bdo not ever\b",
        r"\b(?:must|may|should|shall|can) (?:never|always|only)\b",
        r"\bnever (?!mind\b|more\b|less\b|again\b|been\b|had\b|seen\b|heard\b|worked\b|tried\b|"
        r"got\b|done\b|did\b|was\b|were\b|happens?\b|happened\b|in\b|on\b|for\b|the\b|a\b|an\b|to\b|knew\b)"
        r"(?!\w+ed\b)[a-z]+",
        _START + r"always (?!the\b|a\b|been\b)[a-z]+|\b(?:you|we|please|and|,) always [a-z]+",
        r"\bmust(?:n't| not)\b",
        r"\b(?:all|any|every|each|no|nothing|nobody|only)\b.{0,60}\bmust\b|\bmust (?:be |stay "
        r"|remain |keep |always |still |pass |match |support )*(?:within|under|below|at (?:most|"
        r"least)|in sync|backwards?|compatible|unchanged|private|green|answer (?:within|in))\b",
        _START + r"avoid (?!it\b|that\b|this\b)[a-z]+",
        _START + r"(?:don't|dont|do not) (?:you )?(?:use|add|push|commit|touch|mock|install|delete|"
        r"remove|rename|write|break|mention|create|skip|disable|loosen|weaken|force|merge|include|"
        r"put|store|log|import|ask|guess|assume|hardcode|invent|sample|edit|deploy|publish|"
        r"introduce|change|rewrite|reformat|expose|leak|send|call|exceed)\b"
        r"(?! (?:it|that|this|them|those|these|so|one|any of)\b)",
        _START + r"no (?!(?:idea|problems?|worr\w*|need|rush|clue|way|reason|doubt|matter|wonder|"
        r"hurry|thanks?|luck|changes?|difference|one|big|such|longer|i|we|it|that|this|the|you|"
        r"please|let|just|errors?|results?|answer|output|news|sorry|wait|go|not|more)\b)"
        r"(?!\w+ (?:\w+ed|found)\b)[a-z'-]+ ?"
        r"[^,]{0,60}$",
        _START + r"use (?!case|of\b|it\b|that\b|this\b|them\b).{2,60}?(?:,| and| but) "
        r"(?:not|no|never) ",
        _START + r"use .{2,60} instead of .{2,60}|" + _START + r"only (?:use|touch|edit|write|"
        r"change|commit|run|read) ",
        r"\b(?:i|we) (?:(?:much|really|always|strongly|generally|actually|usually) )?prefer\b"
        r"|" + _START + r"prefer ",
        r"\b(?:i|we) (?:really |just )?(?:don't|do not|never) want (?:you|any|to (?:see|have|ship|"
        r"use|depend|add))\b",
        r"\bask (?:me |us )?(?:first|before)\b|\bwithout (?:asking|my (?:ok|approval|permission))",
        _START + r"keep (?:the|all|every|any|our|my|your|each|qq|[a-z-]+s) .*\b(?:unchanged|stable|"
        r"intact|untouched|short|small|simple|compatible|as (?:it|they) (?:is|are)|in sync|"
        r"green|sorted|private|minimal)\b",
        r"^(?:the|our|my|all|every|each) .{2,50}\b(?:stays?|remains?|keeps? its)\b(?! (?:the same "
        r"as|red|broken|empty|open|on\b))",
        _START + r"(?:at most|at least|no more than|no less than|not more than) \d+ [a-z]+",
        _START + r"(?:use|take|allow|spend|make|send|keep (?:it |them )?(?:to|under|below)|limit "
        r"\w+ to) (?:at most|at least|no more than|only|up to) ",
        _START + r"(?:limit|cap|restrict) .{2,40} to \d",
        r"\b(?:is|are) (?:off[- ]limits|forbidden|not allowed|out of bounds|mandatory|frozen|"
        r"never (?:to be )?\w+)\b",
        r"\brule (?:\d+|number \w+) is now\b",
        r"^(?:everything|all [a-z ]{2,30}|docs?|comments?|code|commits?|tests?) (?:goes|go|is|are|"
        r"stays?) in (?:english|german|french|spanish)\b",
    )
)
_THIS_TIME = re.compile(
    r"\b(?:for now|right now|this time|today|tonight|not yet|yet\W*$|until then|at the moment|"
    r"for the moment|just this once|in this (?:step|change|turn|round|commit|pr)|side question)\b"
)
_REPORT = re.compile(
    r"^(?:\w+[,!]? )?(?:i|it|he|she|they|which|who)(?:'s|'d| has| have| was| is| just| still|"
    r" also)? (?:never|always|can't|cannot|don't|doesn't|didn't|won't|must)\b(?! want\b)"
    r"|\b(?:that|this|it) (?:should|must|can|may|will|would)(?:n't| not)? (?:never|always|not)? ?"
    r"(?:happen|be|work|explode|fail|crash)\b"
    r"|\b(?:but|and|because|since|that|which|who|it|he|she|they) (?:never|always) [a-z]+s\b"
    r"|^(?:and |but |so |hm+,? )?(?:why|how|what|where|when|who|if you want)\b"
)
_EXAMPLE = re.compile(r"^\W*(?:(?:good|bad|wrong|right) )?examples?\b", re.IGNORECASE)
_QUOTED_WORDS = re.compile(r"``?[^`\n]+``?")
_LEAST = 2
"""Telling words of an instruction; one with fewer depends on what was said before it."""
_LONGEST = 400
"""Characters of an instruction."""
_DOCUMENT = 3_000
"""Characters of a message from which it was pasted, not typed."""


def standing_instructions(text: str) -> Iterator[Sentence]:
    """The sentences of a user's message that hold beyond its turn, in order; offsets in
    characters."""
    if len(text) > _DOCUMENT:
        return
    for one in sentences(text, _not_typed(text)):
        if one.section and not _RULES.search(one.section):
            continue
        if _holds(one):
            yield one


def _not_typed(text: str) -> list[tuple[int, int]]:
    """Ranges that the user did not type: code blocks, tagged blocks, quoted lines."""
    found = [(start, end) for start, end, _ in fences(text)]
    for pattern in (_TAGGED, _QUOTED):
        found += [match.span() for match in pattern.finditer(text)]
    return sorted(found)


def _holds(one: Sentence) -> bool:
    if len(one.text) > _LONGEST or is_question(one.text) or one.text.endswith(":"):
        return False
    if one.box or len(terms(one.text)) < _LEAST or _EXAMPLE.match(one.text):
        return False
    low = _QUOTED_WORDS.sub("qq", one.text.lower().replace("’", "'"))
    low = " ".join(low.replace("*", "").split())
    if _THIS_TIME.search(low):
        return False
    if one.item and _RULES.search(one.under or one.section):
        return True
    return any(form.search(low) for form in _STANDING) and not _REPORT.search(low)
