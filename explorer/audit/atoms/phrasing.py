"""A sentence as its cues see it: in lower case, quotations taken out, its clauses found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from explorer.audit.atoms.letters import Replaced
from explorer.audit.atoms.lists import word_set
from explorer.audit.atoms.verbs import (
    ALONE,
    BARE,
    FINITE,
    NOUN_VERBS,
    OBJECTS,
    OPENERS,
    PARTICLES,
    VERBS,
)

DIGIT = "#"
"""What the words of a sentence with a figure have among them."""
_HAS_DIGIT = re.compile(r"\d")
QUOTED = "qq"
"""What stands for code, a path or words in quotes: their words are not the speaker's."""
_CODE = re.compile(r"``?[^`\d]+``?|\"[^\"]{3,80}\"|“[^”]{3,80}”")
_PATH = re.compile(r"(?<!\S)[(\[]?(?:[~.]?/\S|[a-z]:\\|\S+[/\\]\S+[._/\\]|\S*_\S)[^\s,;:)]*")
_EDGES = Replaced(dict.fromkeys('.,;:!?()[]*"`→“”', " "))
_EMPHASIS = Replaced({"*": "", "’": "'", "`": "", "_": "-"})
_TOKEN = re.compile(r"(?:[#@§$€£°+~<>=/.-]*+[\w'%]++)++|[,;:()!?…—–→]|-+")
_DRAWN = re.compile(r"([a-z])\1{2,}")
"""Letters that are drawn out: yesss."""
_NOT_DRAWN: set[str] = set()
"""Words that were seen to have none."""
_MOST_WORDS = 16_384
_STOPS = frozenset(",;:()!?…—–→-")
_JOINERS = frozenset({"and", "then", "but", "so", "or", "plus", "&", "n"})
_SUBORDINATE = word_set(
    """
    that which who where if when because so and but while since as until unless once
    """
)
_START = re.compile(
    r"^(?:(?:for\s+(?:now|the\s+moment|today|starters|a\s+start)|in\s+the\s+mean\s?time|"
    r"(?:after|before)\s+(?:that|this|it)|this\s+time|once\s+(?:more|again|that's\s+done)|"
    r"at\s+the\s+end|when\s+(?:done|ready|finished)|while\s+(?:you're|you\s+are|we're|we\s+are|ur)"
    r"\s+(?:at\s+it|there|here)|as\s+a\s+(?:first|next|last|second)\s+step|by\s+the\s+way|"
    r"one\s+(?:more|last|other)\s+thing|next\s+(?:step|thing|task|up)|first\s+(?:step|thing|task)|"
    r"to\s+(?:start|begin|finish)(?:\s+with)?|step\s+\d|thank\s+you|many\s+thanks|of\s+course|"
    r"in\s+that\s+case|all\s+right|good\s+(?:morning|idea|point|catch|job|work)|makes\s+sense|"
    r"sounds\s+good|if\s+(?:you\s+can|possible))\b[\s,:.;!-]*)+"
)


class Phrase(NamedTuple):
    """A sentence as its cues see it."""

    low: str
    """In lower case, without marks of emphasis, blanks made single, quotations as ``qq``."""
    words: frozenset[str]
    """Its different words."""

    @property
    def is_fragment(self) -> bool:
        """Whether it is short and has no verb that makes a sentence of it."""
        return len(self.low.split()) <= 9 and self.words.isdisjoint(FINITE)


@lru_cache(maxsize=512)
def phrase(text: str) -> Phrase:
    """Reads a sentence."""
    low = text.lower()
    if "`" in low or '"' in low or "“" in low:
        low = _CODE.sub(QUOTED, low)
    if "/" in low or "_" in low or "\\" in low:
        low = _PATH.sub(QUOTED, low)
    low = " ".join(_EMPHASIS.within(low).split())
    words = _EDGES.within(low).split()
    if not _NOT_DRAWN.issuperset(words):
        low = _DRAWN.sub(r"\1", low)
        words = _EDGES.within(low).split()
        if len(_NOT_DRAWN) > _MOST_WORDS:
            _NOT_DRAWN.clear()
        _NOT_DRAWN.update(words)
    if _HAS_DIGIT.search(low):
        words.append(DIGIT)
    return Phrase(low, frozenset(words))


_SHORT = 3
"""Words of a clause that has no verb and so no subject for what "and" adds to it."""


_LEADING = frozenset(
    {"if", "when", "while", "once", "since", "as", "before", "after", "because", "for", "in", "on"}
)
"""What begins a clause that an order follows: "when it is green, merge it"."""
_PLEASE = frozenset({"please", "pls", "plz"})


class Head(NamedTuple):
    """A verb at the head of a clause, in the form of an order."""

    verb: str
    rest: tuple[str, ...]
    """What follows it in the sentence, marks among it."""
    at: int
    """The place of its clause, 0 for the first of the sentence."""


def orders(low: str) -> Iterator[Head]:
    """The verbs of a sentence that stand where an order has its verb: at the head of a clause,
    please, then and the like before it left aside. ``low`` is that of a phrase."""
    tokens = _TOKEN.findall(_START.sub("", low))
    head, ordered = True, False
    clause = begun = 0
    led = bool(tokens) and tokens[0] in _LEADING
    led_here = True
    for place, token in enumerate(tokens):
        if token in _STOPS:
            led_here = True
            clause += not head
            head = True
        elif token in _JOINERS and not head:
            led_here = led or ordered or token not in ("and", "or") or place - begun <= _SHORT
            clause += 1
            head = True
        elif token in OPENERS and (head or token in _PLEASE):
            led_here = led_here or token in _PLEASE or token in ("so", "then", "now")
            head = True
        elif head:
            if led_here and is_order(token, tokens[place + 1 :], alone=not clause or ordered):
                ordered = True
                yield Head(token, tuple(tokens[place + 1 :]), clause)
            head, begun = False, place


_NO_ORDERS = frozenset(
    {
        ("use", "case"),
        ("use", "cases"),
        ("try", "as"),
        ("add", "to"),
        ("see", "you"),
        ("look", ","),
        ("do", "you"),
        ("do", "we"),
        ("do", "i"),
        ("have", "we"),
        ("have", "you"),
        ("wait", "what"),
        ("give", "up"),
    }
)


def is_order(verb: str, rest: list[str], *, alone: bool = True) -> bool:
    """Whether a word at the head of a clause orders something, by what follows it; ``alone``: no
    statement goes before it in the sentence."""
    after = rest[0] if rest else ""
    if after == ":" or after in FINITE or (verb, after) in _NO_ORDERS:
        return False
    if verb in VERBS and verb not in NOUN_VERBS:
        if after in OBJECTS or QUOTED in after:
            return True
        if not after:
            return alone and verb in ALONE
        return (alone or after in PARTICLES) and FINITE.isdisjoint(rest[1:2])
    if verb not in NOUN_VERBS:
        return False
    if after in OBJECTS or QUOTED in after:
        return True
    if not alone:
        return False
    if not after or after in _STOPS:
        return verb in ALONE
    is_manner = after.endswith("ly") and after != "only"
    if not (is_manner or after in PARTICLES or after in _JOINERS or verb in BARE):
        return False
    for place, token in enumerate(rest):
        if token in _STOPS or (token in _SUBORDINATE and place):
            return token != ":" or place > 3
        if token in FINITE:
            return False
    return True
