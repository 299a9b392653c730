"""What a person asks to be kept, and which statements that means (A23, A36, A39)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from explorer.models.offline.extractive.statement import (
    AtomKind,
    Kind,
    Statement,
    terms_of,
    word_set,
)

_CLAUSES = re.compile(r"[.;!?\n]+(?:\s|$)|,\s+|\s+(?:and|plus|but)\s+")
_QUOTED = re.compile(r"[`\"“]([^`\"“”\n]{2,120})[`\"”]")
_ASIDE = re.compile(
    r"^\W*(?:please\s+)?(?:ignore|skip|omit|drop|forget|leave\s+out|without|(?:do\s+not|don['’]?t)\s+"
    r"(?:mention|include|keep|list|repeat|bother))\b",
    re.IGNORECASE,
)
_ASKING = terms_of(
    """keep kept exact exactly precise word verbatim remember focus attention include mention
    important preserve note notes especially particularly special all everything about list detail
    details full fully whole summary summarize summarise write matter matters relevant concentrate
    emphasize emphasise highlight record capture care literally every each intact spelled name"""
)
_KINDS: tuple[tuple[frozenset[str], tuple[Kind, ...]], ...] = tuple(
    (terms_of(words), kinds)
    for words, kinds in (
        (
            "error errors failure failures exception exceptions warning warnings traceback",
            (Kind.ERROR, Kind.BLOCKED),
        ),
        ("decision decisions choice choices rationale", (Kind.DECISION,)),
        (
            "constraint constraints rule rules requirement requirements preference preferences",
            (Kind.CONSTRAINT, Kind.PREFERENCE),
        ),
        ("todo todos plan plans", (Kind.NEXT, Kind.DOING)),
        ("finding findings cause causes", (Kind.FINDING,)),
        ("request requests question questions", (Kind.REQUEST,)),
        ("file files path paths", (Kind.FILE,)),
        ("command commands", (Kind.COMMAND,)),
    )
)
_EXACT_WORDS: tuple[tuple[str, AtomKind], ...] = (
    ("url urls link links", "url"),
    ("file files path paths", "path"),
    ("command commands", "command"),
    ("host hosts port ports address addresses", "host"),
    ("version versions", "version"),
    ("hash hashes commit commits sha", "hash"),
    ("number numbers figure figures measurement measurements timing timings", "number"),
    ("ticket tickets issue issues", "ticket"),
    ("variable variables env", "env"),
    ("date dates deadline deadlines", "date"),
)
_EXACT = tuple((terms_of(words), kind) for words, kind in _EXACT_WORDS)
# A language is seldom named where it fails; its files and the names of its errors are.
_LANGUAGES = {
    "typescript": r"\bTS\d{3,5}\b|\.[cm]?tsx?[(:]\d",
    "ts": r"\bTS\d{3,5}\b|\.[cm]?tsx?[(:]\d",
    "javascript": r"\.[cm]?jsx?\b",
    "python": r"\.pyi?\b|\bTraceback\b",
    "rust": r"\berror\[E\d+\]|\.rs\b",
    "golang": r"\.go\b",
    "java": r"\.java\b",
    "sql": r"\bSQL\w*|\.sql\b",
    "test": r"\b\d+ (?:failed|passed)\b|\btests?\b|\bFAIL(?:ED)?\b",
    "css": r"\.s?css\b",
}
_LANGUAGE_TERMS = {next(iter(terms_of(word))): pattern for word, pattern in _LANGUAGES.items()}
_COMMON = 3
_LONG_TEXT = 40
"""Wishes beyond these are text that says something, not wishes."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing asked for: what sort of statement it means, and what it is about."""

    kinds: frozenset[Kind]
    exact: frozenset[AtomKind]
    about: frozenset[str]
    hint: re.Pattern[str] | None
    phrase: str = ""

    def meets(self, statement: Statement) -> int:
        """How well a statement is what is asked for: 0 not at all, 1 in part, 3 for sure."""
        if self.phrase:
            return 3 if self.phrase in statement.text.lower() else 0
        shared = len(self.about & statement.terms)
        told = shared >= (len(self.about) + 1) // 2 or self._hinted(statement.text)
        sort = statement.kind in self.kinds or any(a.kind in self.exact for a in statement.atoms)
        if not self.kinds and not self.exact:
            return 3 if told else min(shared, 1)
        if not self.about:
            return 3 if sort else 0
        return 3 if sort and told else int(sort or shared > 0)

    def in_line(self, line: str, failing: bool) -> bool:
        """Whether a line of output may be what is asked for."""
        if self.phrase:
            return self.phrase in line.lower()
        if Kind.ERROR in self.kinds and not failing:
            return False
        if not self.about:
            return Kind.ERROR in self.kinds
        if self._hinted(line):
            return bool(self.kinds)
        low = line.lower()
        return all(term in low for term in self.about)

    def sharpened(self, counts: Mapping[str, int]) -> Wish:
        """The wish without words that are much more common than its rarest one that was said."""
        said = [counts[term] for term in self.about if counts.get(term)]
        if not said or self.phrase:
            return self
        most = _COMMON * min(said)
        kept = frozenset(term for term in self.about if counts.get(term, 0) <= most)
        return replace(self, about=kept)

    def _hinted(self, text: str) -> bool:
        return self.hint is not None and self.hint.search(text) is not None


@dataclass(frozen=True, slots=True)
class Focus:
    """All that is asked for, and the words of what is asked to be left out."""

    wishes: tuple[Wish, ...] = ()
    unwanted: tuple[frozenset[str], ...] = ()

    def meets(self, statement: Statement) -> int:
        """How well a statement is what is asked for, 0 to 3."""
        return max((wish.meets(statement) for wish in self.wishes), default=0)

    def refuses(self, statement: Statement) -> bool:
        """Whether a statement speaks of what is asked to be left out."""
        return any(words <= statement.terms for words in self.unwanted)

    def told_apart(self, statements: Iterable[Statement]) -> Focus:
        """The same wishes by their rarer words: of "the audit service" only "audit" tells much
        where every service is spoken of."""
        asked = {term for wish in self.wishes for term in wish.about}
        counts = Counter(term for s in statements for term in s.terms & asked)
        return replace(self, wishes=tuple(wish.sharpened(counts) for wish in self.wishes))

    def in_line(self, line: str, failing: bool) -> bool:
        """Whether a line of output may be what is asked for."""
        return any(wish.in_line(line, failing) for wish in self.wishes)


def focus_of(text: str) -> Focus:
    """The wishes in the words of a person; there are none in an empty text."""
    wishes: list[Wish] = []
    unwanted: list[frozenset[str]] = []
    for phrase in _QUOTED.findall(text):
        wishes.append(Wish(frozenset(), frozenset(), frozenset(), None, phrase.strip().lower()))
    for clause in _CLAUSES.split(text):
        terms = terms_of(clause) - _ASKING
        if _ASIDE.match(clause):
            unwanted.append(terms - terms_of("ignore skip omit drop forget leave bother repeat"))
        elif terms:
            wishes.append(_wish(terms))
    found = tuple(words for words in unwanted if words)
    return Focus(tuple(dict.fromkeys(wishes))[:_LONG_TEXT], found)


def _wish(terms: frozenset[str]) -> Wish:
    sorts = [(words, kinds) for words, kinds in _KINDS if words & terms]
    exact = [(words, kind) for words, kind in _EXACT if words & terms]
    named = _union([words for words, _ in sorts] + [words for words, _ in exact])
    about = terms - named - word_set("result output messag text")
    hints = [_LANGUAGE_TERMS[term] for term in sorted(about) if term in _LANGUAGE_TERMS]
    return Wish(
        frozenset(kind for _, kinds in sorts for kind in kinds),
        frozenset(kind for _, kind in exact),
        about,
        re.compile("|".join(hints)) if hints else None,
    )


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)
