"""A text taken apart: clauses with their telling words, figures, sign and marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from explorer.audit.atoms.keys import Figure, figure, stem
from explorer.audit.atoms.lists import word_set
from explorer.audit.rewording.lexicon import LIGHT, concept, reversing
from explorer.audit.rewording.phrases import evened

_LIGHT_WEIGHT = 0.2
_NAME_WEIGHT = 1.5
_FIRM_WEIGHT = 2.0


class Word(NamedTuple):
    """A telling word; equal concepts say the same."""

    concept: str
    text: str
    weight: float
    firm: bool
    """Whether nothing else can stand for it: a name, a path, a symbol."""


class Amount(NamedTuple):
    """A figure, the way it bounds (``max``, ``min`` or nothing), and how it is written."""

    value: Figure
    bound: str
    text: str


@dataclass
class Clause:
    """One thing that a text says."""

    text: str
    words: dict[str, Word] = field(default_factory=dict)
    topic: dict[str, Word] = field(default_factory=dict)
    """Words of what it is about, said before it."""
    amounts: list[Amount] = field(default_factory=list)
    given: list[Amount] = field(default_factory=list)
    """Figures of what it points back to."""
    old: list[Amount] = field(default_factory=list)
    """Figures that held before."""
    marks: set[str] = field(default_factory=set)
    denies: bool = False
    opens: bool = False
    """Whether a sentence begins with it."""
    contrasts: bool = False
    """Whether it follows a "but"."""
    rejected: bool = False
    """Whether it only names what was not taken."""
    reason: bool = False
    """Whether it only tells why."""
    order: tuple[frozenset[str], frozenset[str]] | None = None
    """The words of what comes first and of what comes after it."""

    parts: dict[str, Word] = field(default_factory=dict)
    """The words inside of paths and names: ``retry`` of ``tests/test_retry.py``."""

    @cached_property
    def whole(self) -> dict[str, Word]:
        """All its words, those inside of names too."""
        return {**self.parts, **self.topic, **self.words}

    @cached_property
    def all_words(self) -> dict[str, Word]:
        """Its words and its topic's."""
        return {**self.topic, **self.words}


@dataclass(slots=True)
class Reading:
    """A text taken apart."""

    text: str
    clauses: tuple[Clause, ...]
    asks: bool
    words: dict[str, Word]
    """Those of all its clauses."""


_SPLIT = re.compile(
    r"(?P<paren>\((?!\))|(?<!\()\)|[\[\]])|(?P<colon>:(?=\s))|(?P<why>\b(?:because|since|so\s+that|as\s+otherwise)\b)"
    r"|(?P<hard>;|\s[-–—]+\s|(?<=[\w§)])[.!?](?=\s)|\bbut\b|\bhowever\b|\bwhile\b)|(?P<rival>,?\s*§rival)"
    r"|(?P<and>\band\s+(?=(?:is|are|must|should|may|can|will|does|do)\b|§not\b))|(?P<comma>,)",
    re.IGNORECASE,
)
_FINITE = re.compile(
    r"^\s*(?:and\s+|so\s+|then\s+|which\s+|it\s+|its\s+|they\s+|we\s+|you\s+|I\s+|§not\b|he\s+|she\s+|"
    r"whatever\b|regardless\b|even\s+(?:if|when)\b)"
    r"|§(?:keep|not|may|only)\b|\b(?:is|are|must|should|has|have|needs?|does|goes|took|broke|broken|want|wants|"
    r"convert|will|find|give|lists?|breaks?|calls?|fails?|dropped|depends?|uses?|works?|gets?|makes?|runs?|"
    r"stands?|comes?|nobody|everybody|everyone|add|leave)\b",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"^\s*(?:we|it|they|our|half|most|that|which|this|these|some|security|legal|otherwise|I)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(r"\b(?:it|its|they|them|their|that|this|these|those)\b", re.IGNORECASE)
_SENTENCE = re.compile(
    r"\b(?:is|are|was|has|have|do|does|must|should)\b|§(?:not|keep|may)", re.IGNORECASE
)
_GIVEN = 0.4
"""What a word weighs that is only pointed back to."""
_TOKEN = re.compile(
    r"§\w+"
    r"|`[^`\n]+`"
    r"|https?://\S+"
    r"|[~$€£]?\d[\d,_']*(?:\.\d+)*\s*(?:%|°[CF]?)|"
    r"\.?[\w@-]*[\w]+(?:[./\\:][\w*@-]+)+/?(?:\(\))?|[\w-]+/(?=\W|$)|\w+\(\)|\.\w+|--?[a-z][\w-]+"
    r"|\w+(?:['-]\w+)*"
)
_UNITS = re.compile(r"\s*(?:%|°[CF]?|[A-Za-zµμ]+)")
_STARTS_FIGURE = re.compile(r"\d|[~$€£].")
_NO_FIGURE = re.compile(r"\d+[A-Za-z]+\d|\d+\.\d+\.\d")
_CODE = re.compile(r"[_./\\@]|\(\)|[a-z][A-Z]|^--?[a-z]|[A-Za-z]\d|\d[A-Za-z]+\d")
_STOP = word_set(
    """
    a an the of to in on at by for from with and or as is are be been being was were this that
    these those it its they them their he she his her we us our you your i me my mine do does did
    so than too very there here if then also am 's s t d ll re ve don isn aren who whom whose which
    what when where how while into onto off out up about between both against via et al etc e.g i.e
    behind must should shall can could will would has have had not no let lets must've because
    since after across using among one ones yet anything something
    """
)
_BOUNDS = {"§max": "max", "§min": "min"}
_OF_A_THING = re.compile(
    r"\s+(?:command|key|button|flag|endpoint|method|request|operation|call|function|option|action)s?\b"
)
_PIECE = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_KINDS = {".": "stop", "!": "stop", "?": "stop", ";": "stop", "but": "but", "however": "but"}
DELETES = concept("delete")
_LIMITS = frozenset(map(concept, ("limit", "cap", "budget", "ceiling")))


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """A statement, or a line of a summary, taken apart."""
    clauses: list[Clause] = []
    topic: dict[str, Word] = {}
    first = 0
    for part, before in _parts(evened(text)):
        one = _clause(part)
        if before == "topic" and _SENTENCE.search(part) is None:
            topic = {**topic, **one.all_words}
            one.marks.add("topic")
            clauses.append(one)
            continue
        if not one.words and not one.amounts and not one.marks:
            continue
        reason = before == "why" or (before == "comma" and _WHY.match(part) is not None)
        one.reason = reason or before == "paren"
        one.opens, one.contrasts = before == "stop", before == "but"
        one.rejected = before == "rival"
        aside = before == "paren"
        if topic and not aside:
            one.topic = dict(topic)
            if _LIMITS & topic.keys():
                one.amounts = [each._replace(bound=each.bound or "max") for each in one.amounts]
        elif clauses and (before == "and" or _POINTS.search(part)) and not aside:
            above = clauses[first]
            one.given = [*above.amounts, *above.given]
            one.topic = {
                k: w._replace(weight=w.weight * _GIVEN) for k, w in above.all_words.items()
            }
        if before == "stop":
            topic, first = {}, len(clauses)
        clauses.append(one)
    words: dict[str, Word] = {}
    for one in clauses:
        words.update(one.words)
    return Reading(text, tuple(clauses), text.rstrip("\"'”’)*` ").endswith("?"), words)


def _parts(text: str) -> list[tuple[str, str]]:
    """The stretches of an evened text, with what parts each from the one before."""
    parts: list[tuple[str, str]] = []
    at, kind = 0, ""
    for found in _SPLIT.finditer(text):
        group = found.lastgroup or ""
        stretch = text[at : found.start()]
        if group == "comma":
            rest = re.split(r"[,;:()]", text[found.end() :], maxsplit=1)[0]
            if kind != "rival" and not _FINITE.search(rest):
                continue
        if group == "colon":
            if stretch.strip():
                parts.append((stretch, "topic"))
            at, kind = found.end(), "colon"
            continue
        if stretch.strip(" .!?"):
            parts.append((stretch, kind))
        at = found.end()
        kind = _KINDS.get(found.group().lower(), group)
        if group == "paren" and found.group() in ")]":
            kind = "hard"
    if text[at:].strip(" .!?"):
        parts.append((text[at:], kind))
    return parts


def _clause(text: str) -> Clause:
    return _Taking(text).apart()


class _Taking:
    """Takes one clause apart, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._one = Clause(" ".join(text.split()))
        self._denies = self._turned = self._above = self._old = False
        self._bound = ""
        self._first: frozenset[str] | None = None
        """The words before a mark of order."""
        self._last = -1
        """Where the last figure ends."""

    def apart(self) -> Clause:
        """The clause."""
        one = self._one
        for found in _TOKEN.finditer(self._text):
            if found.start() < self._last:
                continue
            if found.group().startswith("§"):
                self._mark(found)
            elif not self._figure(found):
                self._words(found)
        if self._first is not None:
            one.order = (self._first, frozenset(one.words) - self._first)
        _bound(one, denies=self._denies, above=self._above, trailing=self._bound)
        one.denies = (self._denies and not (self._above and one.amounts)) != self._turned
        if not one.denies and DELETES in one.words:
            one.words[DELETES] = one.words[DELETES]._replace(weight=1.0)
        return one

    def _mark(self, found: re.Match[str]) -> None:
        one, token = self._one, found.group()
        one.marks.add(token[1:])
        self._denies = self._denies or token == "§not"
        self._above = self._above or token == "§above"
        if token in _BOUNDS and one.amounts and not self._text[self._last : found.start()].strip():
            one.amounts[-1] = one.amounts[-1]._replace(bound=_BOUNDS[token])
            return
        self._bound = _BOUNDS.get(token, self._bound)
        self._old = token == "§old" or (self._old and token != "§to")
        if token in ("§before", "§to") and one.words:
            self._first = frozenset(one.words)

    def _figure(self, found: re.Match[str]) -> bool:
        """Takes up a figure; False where a token is none."""
        token, end = found.group(), found.end()
        if not _STARTS_FIGURE.match(token) or _NO_FIGURE.match(token):
            return False
        unit = _UNITS.match(self._text, end)
        whole = self._text[found.start() : unit.end() if unit else end]
        value = figure(whole)
        if value is None:
            return False
        measured = unit is not None and value.family in ("time", "size", "%")
        amount = Amount(value, self._bound, (whole if measured else token).strip())
        (self._one.old if self._old else self._one.amounts).append(amount)
        self._bound, self._old = "", False
        self._last = unit.end() if unit is not None and measured else end
        return True

    def _words(self, found: re.Match[str]) -> None:
        one = self._one
        at_start = not self._text[: found.start()].strip()
        for word in _words(found.group(), at_start=at_start):
            low = stem(word.text)
            if low in reversing() and not _OF_A_THING.match(self._text, found.end()):
                self._turned = True
                denied = reversing()[low]
                if not denied:
                    continue
                word = Word(denied, word.text, _LIGHT_WEIGHT, False)
            one.words.setdefault(word.concept, word)
            if word.firm:
                for piece in _PIECE.findall(word.text):
                    key = concept(piece.lower())
                    one.parts.setdefault(key, Word(key, piece, _LIGHT_WEIGHT, False))


def _bound(one: Clause, *, denies: bool, above: bool, trailing: str) -> None:
    """Gives the figures the bound that stands after them or lies in a word."""
    implied = trailing
    if above:
        implied = "max" if denies else "above"
    elif not implied and _LIMITS & one.words.keys():
        implied = "max"
    one.amounts = [each._replace(bound=each.bound or implied) for each in one.amounts]


def _words(token: str, *, at_start: bool) -> list[Word]:
    if token[0] == "`":
        inner = token.strip("`").strip()
        if re.fullmatch(r"[A-Za-z][a-z-]*(?:\s+[a-z-]+)*", inner):
            words = [each for part in inner.split() for each in _words(part, at_start=True)]
            if " " not in inner:
                key = concept(inner)
                return [Word(key, inner, _FIRM_WEIGHT, True)]
            return words
        if " " in inner:
            return [
                each
                for part in _TOKEN.findall(inner)
                if part[0] not in "`§"
                for each in _words(part, at_start=True)
            ]
        token = inner
    low = token.lower().rstrip("'")
    if low.endswith("'s"):
        token, low = token[:-2], low[:-2]
    if not low or low in _STOP:
        return []
    if _CODE.search(token):
        key = low.replace("\\", "/").removeprefix("./").removesuffix("()").rstrip("/") or low
        return [Word(key, token, _FIRM_WEIGHT, True)]
    if "-" in token and not token.startswith("-"):
        evened_word = concept(low)
        if evened_word == stem(low) or "-" in evened_word:
            parts = [each for part in token.split("-") for each in _words(part, at_start=True)]
            return parts
        return [Word(evened_word, token, 1.0, False)]
    key = concept(low)
    if stem(low) in LIGHT or key in LIGHT:
        return [Word(key, token, _LIGHT_WEIGHT, False)]
    is_name = token[0].isupper() and not at_start
    return [Word(key, token, _NAME_WEIGHT if is_name else 1.0, is_name and not token.isupper())]


def weight(words: Iterable[Word]) -> float:
    """What words weigh together."""
    return sum(word.weight for word in words)


def share(part: Mapping[str, Word], whole: Mapping[str, Word]) -> float:
    """The share of the weight of some words that others have too, 0 to 1; 1 where there is none."""
    total = found = 0.0
    for key, word in part.items():
        total += word.weight
        if key in whole:
            found += word.weight
    return found / total if total else 1.0
