"""The text side of the search: what is searched of an entry, the terms of a query, the pairs of
common words that the index has beside the words, and the line that is shown of a match."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from explorer.session.entries import Entry, all_texts
from explorer.session.late_pattern import late_pattern

TEXT_LIMIT = 1_000_000
"""Characters of one entry that are searched; what a tool printed beyond that is not."""

_TOKEN = late_pattern(r"[^\W_]+")
_QUERY_PART = late_pattern(r'"([^"]*)"?|(\S+)')
# Scripts without spaces between words: every character is a separate word.
_UNSPACED = late_pattern(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])"
)
_PHRASE_WORDS = 64
"""Words of a term that are asked of the index; the text itself is compared with all of it."""
_BEFORE, _AFTER, _LONGEST = 50, 110, 400
"""Characters of a snippet before the match, and from its start on: more, up to the last number,
where the match itself is longer."""
_BLANKS = r"[^\S\n]+"
_FOLDED_AT_ONCE = 1024

_MOST_COMMON, _COMMON_SHARE, _COMMON_LENGTH, _SAMPLED = 200, 5, 40, 20_000
"""So many words are common ones at most; they are in one of so many texts at least, and have so
many characters at most; of a text so many characters are looked at."""
_JOINT = "\uf8ff"
"""Is part of a word for the index, and of no word that is looked for."""
_SIGNS = str.maketrans({chr(at): " " for at in range(128) if not chr(at).isalnum()})


class Term(NamedTuple):
    """One part of a query: all its words must be in the entry."""

    text: str
    words: tuple[str, ...]
    quoted: bool

    @property
    def literal(self) -> bool:
        """Whether the text itself must stand in the entry, not only its words: for what is
        quoted and for what looks like code (paths, dots, dashes, underscores)."""
        return self.quoted or len(self.words) != 1 or len(self.words[0]) != len(self.text)

    @property
    def is_open(self) -> bool:
        """Whether the last word may go on: it is still being typed."""
        return not self.quoted and bool(self.words) and self.text.endswith(self.words[-1])


def entry_text(entry: Entry) -> str:
    """The texts of an entry that a person may look for, one per line."""
    parts: list[str] = []
    left = TEXT_LIMIT
    for text in all_texts(entry):
        if not text:
            continue
        parts.append(text[:left])
        left -= len(text)
        if left <= 0:
            break
    return "\n".join(parts)


def indexed(text: str) -> str:
    """The text as it goes into the index."""
    if text.isascii():
        return text
    plain = text.encode("utf-8", "replace").decode()
    return _UNSPACED.sub(r" \1 ", plain)


def parse_query(query: str) -> list[Term]:
    """The terms of what a person typed. Quotes hold words together; nothing is an error."""
    terms: list[Term] = []
    for part in _QUERY_PART.finditer(query):
        quoted = part[1] is not None
        text = (part[1] if quoted else part[2]).strip()
        if text:
            words = tuple(_TOKEN.findall(indexed(text).replace("\0", " ")))
            terms.append(Term(text, words, quoted))
    return terms


def match_expression(terms: Sequence[Term], common: Collection[str] = ()) -> str:
    """The index's expression for all terms, of each its words one after the other; the last word of
    a term that is not quoted may go on. Empty when there is no word.

    ``common``: the words whose pairs the index has, see ``pairs_of``. Pairs of a phrase are in far
    fewer entries than its words; where they make up all of it, the words are not asked for.
    """
    parts: list[str] = []
    for term in terms:
        words = term.words[:_PHRASE_WORDS]
        if words:
            is_open = term.is_open and words == term.words
            runs = _runs_of_pairs(term, len(words) - is_open, common)
            parts += [f'pairs : "{" ".join(run)}"' for run in runs]
            if is_open or not runs or len(runs[0]) != len(words) - 1:
                parts.append(f'"{" ".join(words)}"{" *" if is_open else ""}')
    return " AND ".join(dict.fromkeys(parts))


def _runs_of_pairs(term: Term, count: int, common: Collection[str]) -> list[list[str]]:
    """The pairs of common words among the first words of a term, those together that follow one
    another."""
    words = words_of(indexed(term.text).replace("\0", " "))
    if not common or len(words) != len(term.words):
        return []
    runs: list[list[str]] = [[]]
    for one, other in pairwise(words[:count]):
        if one in common and other in common:
            runs[-1].append(_pair(one, other))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def words_of(text: str) -> list[str]:
    """The words of a text, without case and accents."""
    plain = folded(text)
    return plain.translate(_SIGNS).split() if plain.isascii() else _TOKEN.findall(plain)


def common_words(texts: Iterable[str]) -> list[str]:
    """The words that are in the most of some texts, as far as several have them."""
    found = [set(words_of(text[:_SAMPLED])) for text in texts]
    counts = Counter(one for words in found for one in words if len(one) <= _COMMON_LENGTH)
    least = max(2, len(found) // _COMMON_SHARE)
    return [one for one, count in counts.most_common(_MOST_COMMON) if count >= least]


def pairs_of(text: str, common: Collection[str]) -> str:
    """Each two common words that follow one another in a text, as one word of the index. A phrase
    of words that nearly every entry has would otherwise be looked for in nearly every entry."""
    both = pairwise(words_of(text))
    pairs = [_pair(one, other) for one, other in both if one in common and other in common]
    return " ".join(pairs)


def _pair(one: str, other: str) -> str:
    return f"{_JOINT}{one}{_JOINT}{other}"


def folded(text: str) -> str:
    """The text without case and accents, to compare literally."""
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFD", text)
    return "".join(one for one in bare if not unicodedata.combining(one)).casefold()


def holds(text: str, terms: list[Term]) -> bool:
    """Whether a text found by its words holds the literal terms as they were typed."""
    wanted = [folded(term.text) for term in terms if term.literal]
    if not wanted:
        return True
    plain = folded(text)
    return all(one in plain for one in wanted)


def would_match(text: str, terms: list[Term]) -> bool:
    """Whether the index would find a text, which it does not have yet."""
    if not holds(text, terms):
        return False
    words = f" {' '.join(words_of(indexed(text)))} "
    for term in terms:
        phrase = " ".join(map(folded, term.words))
        if phrase and f" {phrase}{'' if term.is_open else ' '}" not in words:
            return False
    return True


def snippet(text: str, terms: Sequence[Term]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The line with the match, cut where it is long, and where in it the terms are. Of several
    lines the first of those that hold the most terms; of the first matches, to be quick."""
    plain = folded(text)
    found = [one for term in terms if (one := _first_match(plain, term)) is not None]
    if not found:
        return _cut(text.split("\n", 1)[0], 0, _BEFORE + _AFTER, [])
    best = max(found, key=lambda one: (_terms_beside(plain, one, found), -one.start()))
    start, end = _line_around(plain, best)
    number, breaks = plain.count("\n", 0, start), plain.count("\n", start, end)
    line = "\n".join(text.split("\n", number + breaks + 1)[number : number + breaks + 1])
    patterns = [one.re for one in found]
    inside = (place for pattern in patterns if (place := pattern.search(plain, start, end)))
    at = min(inside, key=lambda one: one.start())
    first = max(start, at.start() - _BEFORE)
    last = min(end, max(at.start() + _AFTER, min(at.end(), at.start() + _LONGEST)))
    marks = {place.span() for pattern in patterns for place in pattern.finditer(plain, first, last)}
    shown = [(_unfolded(line, one - start), _unfolded(line, other - start)) for one, other in marks]
    return _cut(line, _unfolded(line, first - start), _unfolded(line, last - start), sorted(shown))


def _first_match(plain: str, term: Term) -> re.Match[str] | None:
    """Where a folded text has a term: as whole words, as the index finds it, or at least its signs,
    as it is found where there is no index and in scripts without spaces."""
    parts = [re.escape(part) for part in folded(term.text).split()]
    if not parts:
        return None
    before = r"(?<![^\W_])" if _TOKEN.match(parts[0]) else ""
    after = "" if term.is_open or not _TOKEN.match(term.text[-1:]) else r"(?![^\W_])"
    whole = re.compile(f"{before}{_BLANKS.join(parts)}{after}")
    return whole.search(plain) or re.search(r"\s+".join(parts), plain)


def _line_around(plain: str, found: re.Match[str]) -> tuple[int, int]:
    end = plain.find("\n", found.end())
    return plain.rfind("\n", 0, found.start()) + 1, end if end >= 0 else len(plain)


def _terms_beside(plain: str, one: re.Match[str], found: Iterable[re.Match[str]]) -> int:
    """How many terms are in the line of a match."""
    start, end = _line_around(plain, one)
    return sum(other.re.search(plain, start, end) is not None for other in found)


def _unfolded(line: str, at: int) -> int:
    """Where a place in a folded line is in the line itself."""
    if line.isascii():
        return at
    place, passed = 0, 0
    while place < len(line):
        # Large steps first: each sign by itself would take long in a line of a megabyte.
        step = _FOLDED_AT_ONCE
        while step > 1 and passed + len(folded(line[place : place + step])) > at:
            step //= 2
        size = len(folded(line[place : place + step]))
        if passed + size > at:
            break
        place, passed = place + step, passed + size
    return min(place, len(line))


def _cut(
    line: str, start: int, end: int, marks: Sequence[tuple[int, int]]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A stretch of a line, its blanks made one each, and its marks' places in that."""
    stretch = line[start:end]
    sign = "…" if line[:start].strip() else ""

    def place(at: int) -> int:
        return len(sign) + len(" ".join(f"{stretch[: at - start]}|".split())) - 1

    out = sign + " ".join(stretch.split()) + ("…" if line[end:].strip() else "")
    return out, tuple((place(one), place(other)) for one, other in marks)
