"""Whether a summary, or the tail that was kept beside it, still says something."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple

from explorer.audit.summary_text import SummaryLine, SummaryText
from explorer.facts import STATEMENT_KINDS, Fact, FactKind, Facts, FactTable
from explorer.facts.comparison import wording
from explorer.facts.errors import beginning, is_cut, listed_test
from explorer.facts.figures import Figure, figure, figures_in
from explorer.facts.statements import denies_or_forbids
from explorer.facts.text import STOP, statement_key, stem, terms, terms_of_message, word_set

_BY_KEY = frozenset({FactKind.PATH, FactKind.SYMBOL, FactKind.VERSION, FactKind.URL, FactKind.HASH})
_SHORT_HASH = 7
_SLACK = 1e-9
"""The part of a value by which two spellings of it may differ."""
_LEFT = 8
"""Characters of a cut line from which it can be found again."""
_IN_ONE = 0.4
"""The share of a statement's telling words in one line of a summary that may be a rewording."""
_SHORT = 3
"""Telling words of a statement of which one in a list of rules may be a rewording."""
_RULES = re.compile(r"constraint|preference|requirement|\brules?\b", re.IGNORECASE)
_IN_TWO = 0.6
"""The same in two lines after each other."""
_IN_ENTRY = 0.7
"""The same in a whole message of the kept tail."""
_PART = 0.3
"""The share of a statement's telling words and figures in a line that says a part of it."""
_NOISE = frozenset(
    map(
        stem,
        word_set(
            """
            omfg fucking fuck dude man wtf shit shitty damn hmm please think important sure want
            many much way anything else supposed exactly
            """
        ),
    )
)


_ALIKE = {
    stem(word): stem(words.split()[0])
    for words in (
        "crash explode break fail throw abort",
        "broken invalid malformed bad corrupt",
        "remove delete drop erase",
        "add introduce install",
        "dependency package library",
        "change modify edit touch alter",
        "width wide wider",
        "log print output",
        "write store save persist",
        "approval permission consent ok",
        "idea option proposal propose suggestion suggest",
        "folder directory dir",
        "word wordy verbose concise brief terse short",
        "config configuration settings",
        "comment docstring",
        "colour color",
        "longer over exceed above",
        "user customer client",
        "database db",
        "repository repo",
        "fast quick speed",
        "network internet offline online connection",
        "allow permit accept",
        "forbid prohibit ban",
        "test spec",
        "error exception",
        "run execute launch start",
    )
    for word in words.split()
}
"""By stem: the word that stands for all that are used alike in summaries of such sessions."""
_ALWAYS = 4
"""Shared telling words from which on a line may be a rewording of a long statement."""
_SURE = 0.75
"""The share of a statement's telling words in a sentence of a summary, or in two of one item, that
does say it."""
_FEW = 5
"""Telling words of a statement of which none may be missing then."""
_BRIEF = 6
"""Telling words of a sentence that is about nothing else than a statement of one or two words."""
_SENTENCE = re.compile(r"[\"“]((?:[^\s\"“”]+ ){3,40}[^\s\"“”]+)[\"”]")
"""A quotation that is a rule, not a name."""
_DONE = re.compile(
    r"\W*(?!(?:need|requir|request|ask|instruct|insist|want|prefer|agre|decid|stat)\w*\b)"
    r"(?:[a-z]{3,}ed|wrote|built|made|ran|found|kept|got|set up)\b(?!:)",
    re.IGNORECASE,
)
"""The beginning of a sentence that tells what was done, not what holds."""
_NAME = re.compile(
    r"`([^`\n]+)`|[\"“]([^\"“”\n]+)[\"”]"
    r"|(?<![\w/.-])((?:[./~]*/)?(?=[\w./-]*"
    r"(?:[a-z\d][A-Z]|\w_\w|\w\.\w|[A-Za-z]\d|\w/(?!\w)|/[\w.-]+/\w|\w\(\)))[\w-][\w./-]*)"
    r"|(?<!\w)([A-Z]{2,}\d*)(?!\w)"
)
"""What is named in a statement: it is quoted, or spelt as words are not."""
_NAMES_IN = 1_000
"""Characters of a statement in which names are looked for."""
_SHOUTED = STOP | word_set("important exactly ever nothing none without avoid note rule all")
"""Words that are written in capitals to be heard."""
_FAILURE = re.compile(r"\b(?:errors?|fail\w*|broken?|crash\w*|exception)\b", re.IGNORECASE)
_JOINED = 6
"""Letters of a word from which it is looked for written apart."""
_TYPO = 0.8
"""Letters that a word that the summary lacks shares with one that it has where it is a typing
error."""


def telling_words(text: str) -> frozenset[str]:
    """The stems by which a statement is found again in other words."""
    return (frozenset(wording(text).words) or terms(text)) - _NOISE


def _alike(words: Iterable[str]) -> frozenset[str]:
    """Words with those that are used alike as one, and "file" as the stem of "files" is."""
    return frozenset(
        _ALIKE.get(word, word[:-1] if len(word) == 4 and word[-1] == "e" else word)
        for word in words
    )


class Carried:
    """Looks things up in one summary and the tail that was kept with it.

    Statements count as missing when no line may be a rewording, with enough of their telling
    words; they count as found when a line says them beyond doubt. Between the two is what is not
    clear.
    """

    def __init__(
        self, summary: SummaryText, table: FactTable, kept: Sequence[int], facts: Facts
    ) -> None:
        self._summary = summary
        self._entries = [table.entry(index) for index in kept]
        self._kept = {(item.kind, item.key) for entry in self._entries for item in entry.items}
        self._mentions = table.mentions(kept)
        self._tail: list[frozenset[str]] | None = None
        self._keyed: dict[FactKind, set[str]] = {}
        for _, item in summary.items:
            self._keyed.setdefault(item.kind, set()).add(item.key)
        self._suffixes = _suffixes(fact.key for fact in facts.of(FactKind.PATH))
        self._figures = sorted(
            (
                (value, summary.line_at(place))
                for item, place in summary.of(FactKind.NUMBER)
                if (value := figure(item.text))
            ),
            key=_value,
        )

    def has(self, fact: Fact) -> bool:
        """Whether a fact is carried."""
        if (fact.kind, fact.key) in self._kept:
            return True
        if fact.kind in _BY_KEY and fact.key in self._mentions:
            return True
        if self._summary.exact(fact.text):
            return True
        if fact.kind in STATEMENT_KINDS:
            # There may be thousands: typing errors and the tail's other words are left aside.
            words = _alike(telling_words(fact.text))
            return not words or bool(self._summary.flat(fact.key)) or self._rewords(words)
        return self._spells(fact)

    def says(self, statement: str) -> bool:
        """Whether a statement may be carried, in these or in other words."""
        if self._summary.flat(statement_key(statement)):
            return True
        wanted = self._corrected(_alike(telling_words(statement)))
        if not wanted:
            return True
        if self._rewords(wanted):
            return True
        return any(_share(wanted, words) >= _IN_ENTRY for words in self._tail_words())

    def line_of(self, statement: str) -> str:
        """The sentence or item of the summary that says a statement beyond doubt; empty for none.

        It has the statement's words as they are, or all its names and figures, most of its telling
        words, and a negation where the statement has one.
        """
        keys = [statement_key(statement)]
        if not denies_or_forbids(statement):
            # What it lays down may be what it quotes.
            keys += map(statement_key, _SENTENCE.findall(statement))
        for place in (place for key in keys for place in self._summary.flat(key)):
            line = self._summary.line_at(place)
            return line.text if line is not None else statement
        wanted = frozenset(map(self._spelt, _alike(telling_words(statement))))
        if not wanted:
            return ""
        names = tuple(_as_named(name, wanted) for name in _names(statement))
        denies = denies_or_forbids(statement)
        wish = _Wish(statement, wanted, names, figures_in(statement), denies)
        near = {at for word in wanted for at in self._with_word.get(word, ())}
        best, most = "", 0.0
        for at in sorted(near | {at - 1 for at in near if at}):
            for text, words in self._sentences(at):
                share = wish.share_in(text, words)
                if share > most and wish.is_in(self._summary.lines[at], text, words, share):
                    best, most = text, share
        return best

    def _sentences(self, at: int) -> Iterator[tuple[str, frozenset[str]]]:
        """A line, and it with the next of the same item."""
        line = self._summary.lines[at]
        yield line.text, self._words[at]
        if at + 1 == len(self._summary.lines):
            return
        after = self._summary.lines[at + 1]
        if self._summary.is_one_item(line, after):
            yield f"{line.text} {after.text}", self._words[at] | self._words[at + 1]

    def _rewords(self, wanted: frozenset[str]) -> bool:
        """Whether a line, or two after each other, may be a rewording of what has these words."""
        lines = self._summary.lines
        for at in {at for word in wanted for at in self._with_word.get(word, ())}:
            line, words = lines[at], self._words[at]
            if _may_reword(wanted, line.under, words):
                return True
            if at + 1 < len(lines) and lines[at + 1].part == line.part:
                words = words | self._words[at + 1]
                if _share(wanted, words) >= _IN_TWO:
                    return True
        return False

    @cached_property
    def _with_word(self) -> dict[str, list[int]]:
        """By telling word: the lines that have it."""
        found: dict[str, list[int]] = {}
        for at, words in enumerate(self._words):
            for word in words:
                found.setdefault(word, []).append(at)
        return found

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        """Per line of the summary: its telling words, those that are used alike as one."""
        return [_alike(line.terms) for line in self._summary.lines]

    def _corrected(self, wanted: frozenset[str]) -> frozenset[str]:
        """Words with typing errors as the summary has them; one that it writes apart is left
        out, as said."""
        known = self._with_word
        return frozenset(
            self._spelt(word)
            for word in wanted
            if word in known or len(word) < _JOINED or word not in self._letters
        )

    def _spelt(self, word: str) -> str:
        """A word without a typing error that the summary does not have."""
        known = self._with_word
        if word in known or len(word) < 5:
            return word
        return (*get_close_matches(word, known, 1, _TYPO), word)[0]

    @cached_property
    def _letters(self) -> str:
        """The letters of the summary without what is between them: "em-dashes" as "emdashes"."""
        text = "".join(self._summary.parts).lower()
        return "".join(filter(str.isalpha, text))

    def part_of(self, statement: str) -> str:
        """The line that says a part of a statement that is not carried; empty for none."""
        wanted = telling_words(statement) | _figures_of(statement)
        for share, line in self._summary.nearest(wanted, _PART):
            if share * len(wanted) >= 2:
                return line.text
        return ""

    def names(self, path_key: str) -> bool:
        """Whether a file is named by its path, by the end of it or by its name."""
        name = path_key.rpartition("/")[2]
        return bool(self._summary.flat(statement_key(name))) or any(
            mention == name or mention.endswith("/" + name) for mention in self._mentions
        )

    def tells_of_failure(self, files: Collection[str]) -> bool:
        """Whether a line of the summary speaks of an error in one of these files."""
        return any(
            _FAILURE.search(line.text) and any(name in line.text for name in files)
            for line in self._summary.lines
        )

    def _tail_words(self) -> list[frozenset[str]]:
        if self._tail is None:
            self._tail = [
                _alike(terms_of_message(" ".join(entry.words)))
                for entry in self._entries
                if entry.words
            ]
        return self._tail

    def _spells(self, fact: Fact) -> bool:
        """Whether the summary has an exact thing in another spelling."""
        match fact.kind:
            case FactKind.PATH | FactKind.SYMBOL | FactKind.VERSION | FactKind.URL | FactKind.HASH:
                return self._by_key(fact)
            case FactKind.NUMBER:
                return self._figure(fact)
            case FactKind.ERROR:
                return bool(self._summary.flat(fact.key)) or self._failure(fact)
        return bool(self._summary.flat(fact.key))

    def _by_key(self, fact: Fact) -> bool:
        found = self._keyed.get(fact.kind, set())
        if fact.key in found:
            return True
        if fact.kind is FactKind.PATH:
            return any(self._is_same_file(fact.key, other) for other in (*found, *self._mentions))
        if fact.kind is FactKind.HASH:
            return any(
                min(len(key), len(fact.key)) >= _SHORT_HASH
                and (key.startswith(fact.key) or fact.key.startswith(key))
                for key in found
            )
        if fact.kind is FactKind.SYMBOL:
            return bool(self._summary.flat(fact.key.lower()))
        if fact.kind is FactKind.VERSION:
            return bool(self._summary.flat(fact.key) or self._summary.flat(f"v{fact.key}"))
        return False

    def _is_same_file(self, key: str, other: str) -> bool:
        """Whether two paths name one file, one of them by the end of the other: by folders too, or
        where no other file of the record ends so."""
        shorter, longer = sorted((key, other), key=len)
        if not longer.endswith("/" + shorter):
            return False
        return self._suffixes[shorter] == 1 or (shorter == key and "/" in key)

    def _figure(self, fact: Fact) -> bool:
        wanted = figure(fact.text)
        if wanted is None:
            return False
        slack = _SLACK * max(1.0, abs(wanted.value))
        first = bisect_left(self._figures, wanted.value - slack, key=_value)
        last = bisect_right(self._figures, wanted.value + slack, key=_value)
        return any(_measures(wanted, value, line) for value, line in self._figures[first:last])

    def _failure(self, fact: Fact) -> bool:
        """Whether an error line is quoted as far as it goes, or told in its words."""
        if is_cut(fact.text):
            # The word that was cut is left out: it stands nowhere as it is.
            left = beginning(fact.text).rpartition(" ")[0]
            named = (left, statement_key(listed_test(fact.text)))
            return any(len(part) >= _LEFT and bool(self._summary.flat(part)) for part in named)
        head = fact.key[:60].rstrip()
        if len(head) >= 40 and self._summary.flat(head):
            return True
        return bool(self._summary.nearest(terms(fact.text), 0.8))


def _figures_of(text: str) -> frozenset[str]:
    return frozenset(word for word in terms(text) if word[0].isdigit())


class _Name(NamedTuple):
    """Something that a statement names."""

    text: str
    form: re.Pattern[str]
    """Finds it in a line; a path by its last two parts too, a file by its own name."""
    words: frozenset[str]


class _Wish(NamedTuple):
    """What a sentence must have to say a statement beyond doubt."""

    statement: str
    wanted: frozenset[str]
    names: tuple[_Name, ...]
    figures: tuple[Figure, ...]
    denies: bool

    def share_in(self, text: str, words: frozenset[str]) -> float:
        """The share of the telling words that a text has; of a path that it names by its end it
        has all."""
        shared = self.wanted & words
        if len(shared) < _IN_ONE * len(self.wanted):
            return 0.0
        for name in self.names:
            if not name.words <= shared and name.form.search(text):
                shared |= name.words
        return _share(self.wanted, shared)

    def is_in(self, line: SummaryLine, text: str, words: frozenset[str], share: float) -> bool:
        """Whether a text, which begins with a line of a summary, says it."""
        if share < (1 if len(self.wanted) <= _FEW else _SURE) or _DONE.match(text):
            return False
        denies = denies_or_forbids(text)
        if self.denies and not denies:
            return False
        # A line that says no more than this says it in the same order, and denies as it does.
        if len(words) <= 2 * len(self.wanted):
            mine, others = (wording(each).words for each in (self.statement, text))
            order = [word for word in mine if word in others]
            is_turned = order != [word for word in others if word in mine]
            if self.denies != denies or (
                is_turned and all(name.text.isupper() for name in self.names)
            ):
                return False
        is_elsewhere = len(words) > _BRIEF and not _RULES.search(line.under)
        if len(self.wanted) < _SHORT and is_elsewhere:
            return False
        given = {one.key for one in figures_in(text)}
        return all(one.key in given for one in self.figures) and all(
            name.form.search(text) for name in self.names
        )


def _names(statement: str) -> tuple[str, ...]:
    """What is named in a statement: in quotes, or spelt as words are not."""
    found = ("".join(filter(None, name.groups())) for name in _NAME.finditer(statement[:_NAMES_IN]))
    named = (name.strip(" ./") for name in found)
    return tuple(name for name in named if name and name.lower() not in _SHOUTED)


def _as_named(name: str, wanted: frozenset[str]) -> _Name:
    ends = {name}
    *folders, last = name.split("/")
    if folders:
        ends.add(f"{folders[-1]}/{last}")
    if "." in last:
        ends.add(last)
    forms = "|".join(map(re.escape, sorted(filter(None, ends))))
    form = re.compile(rf"(?<!\w)(?:{forms})(?!\w)", re.IGNORECASE)
    return _Name(name, form, wanted & _alike(telling_words(name)))


def _may_reword(wanted: frozenset[str], under: str, words: frozenset[str]) -> bool:
    """Whether a line below a heading may be a rewording of what has these telling words."""
    shared, share = len(wanted & words), _share(wanted, words)
    if share == 1 or shared >= _ALWAYS or (shared >= 2 and share >= _IN_ONE):
        return True
    return shared > 0 and len(wanted) <= _SHORT and _RULES.search(under) is not None


def _share(wanted: frozenset[str], given: frozenset[str]) -> float:
    return len(wanted & given) / len(wanted)


def _suffixes(keys: Iterable[str]) -> Counter[str]:
    """How many files end with each of the ends of their paths; a path that is the end of another
    is the same file."""
    ends = {key: list(_ends(key)) for key in keys}
    counts = Counter(end for all_of in ends.values() for end in all_of)
    return Counter(end for key, all_of in ends.items() if counts[key] == 1 for end in all_of)


def _ends(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[at:]) for at in range(len(parts)))


def _value(of: tuple[Figure, SummaryLine | None]) -> float:
    return of[0].value


def _measures(wanted: Figure, value: Figure, line: SummaryLine | None) -> bool:
    """Whether a figure of the summary with the value that is wanted is the one, in another
    spelling."""
    if wanted.key == value.key or not wanted.family or wanted.family == value.family:
        return True
    return line is not None and stem(wanted.family) in line.terms
