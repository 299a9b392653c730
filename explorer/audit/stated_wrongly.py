"""What a summary states otherwise than the record: figures, names, what the user forbade.

Reported is only what the record contradicts: a figure beside the same words with another value, a
name that is nowhere but for a slip, a rule turned round or long replaced. What the record does not
speak of is not reported: a summary may conclude.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import NamedTuple

from explorer.audit.findings import Finding, Group, SummaryPlace
from explorer.audit.summary_text import SummaryLine, SummaryText
from explorer.facts import Fact, FactKind, Facts, FactTable, Mention, Span
from explorer.facts.comparison import ABOUT, Agreement, compare, permits, wording
from explorer.facts.figures import Figure, figure, figures_in, value_key
from explorer.facts.text import stem, terms, word_set


class EntryMentions:
    """All that some entries mention and say, for one range of entries after the other.

    The compactions of a path know ever more of the same entries: those of the range before are
    not read again when the next one holds them all. The sets are those of the last range asked
    for. For one session, and one thread at a time.
    """

    __slots__ = ("_figures", "_read", "mentions", "newest", "paths")

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self.mentions: set[str] = set()
        """The keys of all that the entries mention anywhere."""
        self.paths: list[str] = []
        """Those of the keys that may be paths."""
        self.newest: dict[str, int] = {}
        """The last entry that mentions a value, by the key of the value."""
        self._figures: dict[int, list[tuple[Figure, Mention]]] = {}
        self._read: set[int] = set()

    def read(self, table: FactTable, indices: Collection[int]) -> None:
        """Gathers what exactly these entries say."""
        wanted = set(indices)
        if not self._read <= wanted:
            self._forget()
        mentions: set[str] = set()
        for index in wanted - self._read:
            if index in table:
                self._read.add(index)
                entry = table.entry(index)
                mentions.update(entry.mentions)
                for key in entry.mentions:
                    if key.startswith("#"):
                        self.newest[key] = max(index, self.newest.get(key, -1))
                figures = [
                    (value, item)
                    for item in entry.items
                    if item.kind is FactKind.NUMBER and (value := figure(item.text))
                ]
                if figures:
                    self._figures[index] = figures
        mentions -= self.mentions
        self.mentions |= mentions
        self.paths += [mention for mention in mentions if "/" in mention or "." in mention]

    def figures(self, indices: Sequence[int]) -> Iterator[tuple[Figure, Mention, int]]:
        """The figures of these entries, of those that were read, in their order, each with its
        mention and its entry."""
        for index in filter(self._figures.__contains__, indices):
            for value, item in self._figures[index]:
                yield value, item, index


_LIKE = 0.84
"""Characters that two names must have in common for one to be a slip of the other."""
_SLIPS = 300
"""Things that nothing mentions of which one summary is asked whether they are slips; each is
compared with all messages."""
_NAMES = (FactKind.PATH, FactKind.URL, FactKind.HASH, FactKind.VERSION)
_GENERIC = word_set(
    "readme index main mod lib __init__ package cargo makefile dockerfile config settings setup "
    "test tests utils types conftest changelog license app page layout plan notes agents claude"
)
"""Names of files that stand in many folders."""
_DERIVED = 20
"""Whole figures up to this are often counts that the summarizer made itself."""
_MEASURED = frozenset({"time", "size", "%"})
_SENTENCE_END = re.compile(r"[.;!?]\s|\n")
_NAMED = re.compile(r"`[^`]*(?:`|$)|\S*\w[./\\_]\w\S*")
"""Code and names: two lines that name one file need not measure one thing."""
_NO_NOUN = _MEASURED | {"of"}
_DIGIT_RUN = re.compile(r"\d[\d,_'.]*")
_COUNTED_ANEW = frozenset(
    map(
        stem,
        word_set(
            "files tests lines entries tokens messages times steps items points changes errors "
            "commits functions commands tasks issues parts words characters pages cases checks "
            "warnings failures calls tools sections modules components methods classes sessions"
        ),
    )
)
"""What a summarizer counts by itself."""
_LEAST_WHOLE = 20
"""A whole from which on its parts are no figures of speech."""
_PARTS = re.compile(r"(\d+)\s+of\s+(?:the\s+)?(\d+)$", re.IGNORECASE)
_PART_OF = re.compile(r"\bof\s+(?:the\s+)?(\d+)\b", re.IGNORECASE)
_ELLIPSIS = re.compile(r"^(?:\.{3}|…)[/\\]?")
_LEFT_OUT = re.compile(r"/(?:\.{3}|…)/")
_WORDS_OF_NAME = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
_PAST = re.compile(
    r"\b(?:was|were|previously|earlier|originally|initially|formerly|before|instead\s+of|"
    r"rather\s+than|no\s+longer|"
    r"changed|raised|lowered|relaxed|from|not|replaced|superseded|used\s+to|old|lifted|dropped)\b|→|->",
    re.IGNORECASE,
)


class Sources:
    """All that the summarizer can have known, and the facts that a slip can be recognised by."""

    def __init__(
        self, table: FactTable, facts: Facts, known: Sequence[int], gathered: EntryMentions
    ) -> None:
        gathered.read(table, known)
        self.facts = facts
        self._known = known
        self._gathered = gathered
        self._mentions = gathered.mentions
        self._paths = gathered.paths

    def knows(self, item: Mention) -> bool:
        """Whether anything of this name or value was ever mentioned."""
        if item.key in self._mentions:
            return True
        if item.kind is FactKind.PATH:
            return self._knows_path(item.key)
        if item.kind is FactKind.HASH:
            return f"\n{item.key}" in self._listed
        if item.kind is FactKind.VERSION:
            bare = re.sub(r"^[^\d]*", "", item.key)
            listed = bare and re.search(rf"(?<![\d.]){re.escape(bare)}", self._listed)
            return f"#{bare}" in self._mentions or bool(listed)
        return any(
            item.key in mention or mention in item.key
            for mention in self._mentions
            if "://" in mention
        )

    @cached_property
    def _listed(self) -> str:
        """All mentions, one per line: one search instead of one for each."""
        return "\n".join(["", *self._mentions, ""])

    @cached_property
    def _listed_paths(self) -> str:
        return "\n".join(["", *self._paths, ""])

    def _knows_path(self, key: str) -> bool:
        """Whether a path is an end or a beginning of one that was mentioned, or the other way."""
        # An ellipsis stands for folders that the summary leaves out.
        key = _ELLIPSIS.sub("", key)
        if _LEFT_OUT.search(key):
            ends = "/.*/".join(map(re.escape, _LEFT_OUT.split(key)))
            return re.search(rf"^(?:.*/)?{ends}$", self._listed_paths, re.MULTILINE) is not None
        end = "/" + key.removeprefix("/")
        stands = any(part in self._listed_paths for part in (f"{end}\n", f"{end}/", f"\n{key}/"))
        cuts = (at + 1 for at, letter in enumerate(key) if letter == "/")
        return stands or any(f"\n{key[at:]}\n" in self._listed_paths for at in cuts)

    def like(self, item: Mention) -> Fact | None:
        """The source fact that this is probably a slip of."""
        best, best_score = None, 0.0
        for fact in self.facts.of(item.kind):
            score = _likeness(item, fact)
            if score > best_score:
                best, best_score = fact, score
        return best if best_score >= _LIKE else None

    @cached_property
    def _stated(self) -> list[_StatedFigure]:
        """The figures of the record in order."""
        return [
            _StatedFigure(value, mention, index, _about(mention.text, mention.context))
            for value, mention, index in self._gathered.figures(self._known)
        ]

    @cached_property
    def _by_word(self) -> Mapping[str, Sequence[int]]:
        """Where in ``_stated`` the figures are that have a word beside them."""
        found: dict[str, list[int]] = {}
        for at, one in enumerate(self._stated):
            for word in one.about:
                found.setdefault(word, []).append(at)
        return found

    def contradict(
        self, item: Mention, value: Figure, beside: Collection[float] = ()
    ) -> Fact | None:
        """The figure that the record has beside the same words with another value; None where it
        has this value there too, or later, or where that is in doubt. ``beside``: the values that
        the line of the summary states besides."""
        about = _about(item.text, item.context)
        same = other = 0
        newest = -1
        near = far = 0.0
        found: Fact | None = None
        parts = _Parts(item.text)
        slip: Fact | None = None
        for at in sorted({at for word in about for at in self._by_word.get(word, ())}):
            stated, mention, index, around = self._stated[at]
            shared = len(about & around)
            parts.see(mention, index)
            if _is_rounded(value, item.text, stated):
                if _may_be(stated, value):
                    same, newest = max(same, shared), max(newest, index)
            elif item.text in mention.context:
                return None
            elif stated.family == value.family and shared >= other and stated.value not in beside:
                near, far = shared / len(about), shared / len(around)
                other, found = shared, _fact_of(mention, index)
            if stated.value not in beside and _is_slip(value, item.text, stated, mention.text):
                slip = _fact_of(mention, index)
        if (part := parts.other()) is not None:
            return part
        is_known = value_key(item.text) in self._mentions or _is_count(value)
        if not is_known and not same:
            slip = slip or self._only_other(value, about, beside)
            if slip is not None:
                return slip
        if is_known:
            enough = other >= same + 2 and other >= 3 and max(near, far) >= 0.6
        elif value.family and value.family not in _MEASURED:
            enough = other > same and other >= 3 and near >= 0.6
        else:
            enough = other > same and ((other >= 2 and near >= 0.5) or (other >= 3 and far >= 0.5))
        # A value that came up after it, be it in an output without a word beside it, may have
        # taken its place.
        newest = max(newest, self._gathered.newest.get(value_key(item.text), -1))
        return found if enough and found is not None and newest <= found.last else None

    def _only_other(
        self, value: Figure, about: frozenset[str], beside: Collection[float]
    ) -> Fact | None:
        """The one value that the record ever has of what a figure counts, where it is another."""
        if not value.family or value.family in _NO_NOUN or value.family in _COUNTED_ANEW:
            return None
        of_it = [one for one in self._stated if one.value.family == value.family]
        if len({one.value.value for one in of_it}) != 1 or of_it[0].value.value in beside:
            return None
        one = of_it[-1]
        return _fact_of(one.mention, one.entry) if about & one.about else None


class _StatedFigure(NamedTuple):
    """A figure of the record, its entry, and the telling words beside it."""

    value: Figure
    mention: Mention
    entry: int
    about: frozenset[str]


class _Parts:
    """What the record has of "8 of 41" beside a part of the same whole."""

    def __init__(self, text: str) -> None:
        self._stated = _part_of(text)
        self._values: dict[int, Fact] = {}

    def see(self, mention: Mention, index: int) -> None:
        """Add a figure of the record."""
        part = _part_of(mention.text) if self._stated else None
        if self._stated and part and part[1] == self._stated[1]:
            self._values[part[0]] = _fact_of(mention, index)

    def other(self) -> Fact | None:
        """The one other part of the same whole; None where there are several, or where one is what
        the other leaves."""
        if self._stated is None or len(self._values) != 1:
            return None
        value, whole = self._stated
        ((known, fact),) = self._values.items()
        return fact if whole >= _LEAST_WHOLE and known not in (value, whole - value) else None


@lru_cache(maxsize=4096)
def _part_of(text: str) -> tuple[int, int] | None:
    """The 8 and the 41 of "8 of 41"."""
    match = _PARTS.match(text)
    return (int(match[1]), int(match[2])) if match else None


@lru_cache(maxsize=16384)
def _about(text: str, context: str) -> frozenset[str]:
    """The telling words beside a figure in its sentence, and the whole that it is a part of."""
    before, _, after = context.partition("\n")
    before, after = _SENTENCE_END.split(before)[-1], _SENTENCE_END.split(after)[0]
    around = _NAMED.sub(" ", f"{before} | {after}")
    words = {word for word in terms(around) if not word[0].isdigit()}
    whole = _PART_OF.search(text)
    return frozenset(words | {f"of {whole[1]}"} if whole else words)


def _may_be(one: Figure, other: Figure) -> bool:
    return one.family == other.family or "" in (one.family, other.family)


def _is_count(value: Figure) -> bool:
    """Whether a figure is small and whole and measures nothing: perhaps a new count."""
    whole = value.value == int(value.value) and abs(value.value) <= _DERIVED
    return whole and value.family not in _MEASURED


def _digits_of(text: str) -> str:
    found = _DIGIT_RUN.search(text)
    return found.group() if found else ""


def _is_slip(value: Figure, text: str, stated: Figure, recorded: str) -> bool:
    """Whether a figure that the record never has is one of it with its digits mistaken: in another
    order, one of three or more exchanged, or the point at another place."""
    if value.family != stated.family:
        return False
    digits, known = (re.sub(r"\D", "", _digits_of(one)) for one in (text, recorded))
    if len(digits) == len(known) >= 2:
        wrong = sum(one != other for one, other in zip(digits, known, strict=True))
        return (wrong == 2 and sorted(digits) == sorted(known)) or (wrong == 1 and len(known) > 2)
    shifted = digits.strip("0") == known.strip("0") and "." in f"{text}{recorded}"
    return shifted and value.value != stated.value


def _is_rounded(value: Figure, text: str, exact: Figure) -> bool:
    """Whether a figure is another one, or that one rounded."""
    if value.value == exact.value:
        return True
    digits = re.search(r"\d[\d,_']*(?:\.(\d+))?", text)
    if digits is None or not exact.value:
        return False
    scale = abs(value.value / (float(re.sub(r"[,_']", "", digits.group())) or 1.0)) or 1.0
    half = 0.5 * scale * 10.0 ** -len(digits.group(1) or "")
    # Rounding a figure keeps two of its digits; 3 is not a rounded 2.6.
    return abs(value.value - exact.value) <= half and (
        abs(value.value) >= 10 * scale or "." in digits.group()
    )


def _fact_of(item: Mention, index: int) -> Fact:
    span = Span(index, item.start, item.end, item.block, item.argument)
    return Fact(item.kind, item.text, item.key, (index,), (span,))


def _likeness(item: Mention, fact: Fact) -> float:
    if item.kind is FactKind.PATH:
        return _path_likeness(item.key, fact.key)
    if item.kind is FactKind.HASH:
        same = len(_common(item.key, fact.key))
        return 1.0 if same >= 6 else 0.0
    if item.kind is FactKind.URL and item.key.split("/")[:3] != fact.key.split("/")[:3]:
        return 0.0
    if item.kind is FactKind.VERSION:
        name = re.split(r"[=@<>~ ]", item.key)[0]
        return 1.0 if name and not name[0].isdigit() and fact.key.startswith(name) else 0.0
    if abs(len(item.key) - len(fact.key)) > 4:
        return 0.0
    return SequenceMatcher(None, item.key, fact.key, autojunk=False).ratio()


def _path_likeness(one: str, other: str) -> float:
    """How far a path is a slip of another: the same name elsewhere, or nearly so beside it."""
    folder, _, name = one.rpartition("/")
    beside, _, known = other.rpartition("/")
    if name == known:
        is_file = "." in name[1:] and name.split(".")[0] not in _GENERIC
        return 1.0 if folder and beside and is_file else 0.0
    # A word more or less makes it another file, not a slip.
    words = [len(_WORDS_OF_NAME.findall(part)) for part in (name, known)]
    if folder != beside or other.startswith(one) or words[0] != words[1]:
        return 0.0
    return SequenceMatcher(None, name, known, autojunk=False).ratio()


def _common(one: str, other: str) -> str:
    length = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return one[: min(len(one), len(other)) if length is None else length]


def stated_wrongly(
    summary: SummaryText, sources: Sources, instructions: Sequence[Fact]
) -> list[Finding]:
    """Everything that the summary states otherwise than the record, in the order of its text.
    ``instructions``: the standing ones, those that were changed among them."""
    found = [
        *_names(summary, sources),
        *_figures(summary, sources),
        *_turned(summary, instructions),
        *_stale(summary, instructions),
    ]
    seen: set[tuple[int, int]] = set()
    out = []
    for one in sorted(found, key=lambda one: one.places):
        if (place := (one.places[0].part, one.places[0].start)) not in seen:
            seen.add(place)
            out.append(one)
    return out


def _names(summary: SummaryText, sources: Sources) -> Iterator[Finding]:
    seen: set[tuple[FactKind, str]] = set()
    for kind in _NAMES:
        for item, place in summary.of(kind):
            if (kind, item.key) in seen or sources.knows(item) or len(seen) > _SLIPS:
                continue
            seen.add((kind, item.key))
            source = sources.like(item)
            if source is not None:
                yield _wrong(source, item.text, place, source.text, item.text)


def _figures(summary: SummaryText, sources: Sources) -> Iterator[Finding]:
    stated_at_all: dict[str, set[float]] = {}
    for item, _ in summary.of(FactKind.NUMBER):
        if (known := figure(item.text)) is not None and known.family:
            stated_at_all.setdefault(known.family, set()).add(known.value)
    for item, place in summary.of(FactKind.NUMBER):
        value = figure(item.text)
        line = summary.line_at(place)
        beside = {one.value for one in line.figures} if line is not None else set()
        # Where a summary has the record's figure as well, this one counts something else: a total.
        if value is not None:
            beside |= stated_at_all.get(value.family, set())
        source = sources.contradict(item, value, beside) if value is not None else None
        if source is not None:
            stated = line.text if line is not None else item.text
            yield _wrong(source, stated, place, source.text, item.text)


def _wrong(source: Fact, stated: str, place: SummaryPlace, true: str, wrong: str) -> Finding:
    reason = f"The record has “{_short(true)}”, the summary “{_short(wrong)}”."
    return Finding(Group.WRONG, source, reason, stated, (place,))


def _short(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:160]}…"


def _turned(summary: SummaryText, instructions: Sequence[Fact]) -> Iterator[Finding]:
    """Instructions that the summary states without their negation, or as permitted."""
    live = [one for one in instructions if not one.stale]
    for fact in live:
        line = None if summary.exact(fact.text) else _opposite(summary, fact)
        if line is not None and not _is_stated(line, live):
            yield _wrong(fact, line.text, summary.place(line), fact.text, line.text)


def _opposite(summary: SummaryText, fact: Fact) -> SummaryLine | None:
    """The line that says the opposite of an instruction, where none says the instruction."""
    found = None
    for line in _lines_about(summary, fact, 0.5):
        agreement = compare(fact.text, line.text)
        if agreement is Agreement.SAME:
            return None
        turned = agreement is Agreement.OPPOSITE and not line.denies
        short = len(line.text) <= 2 * len(fact.text)
        if found is None and ((turned and short) or permits(line.text, fact.text)):
            found = line
    return found


def _lines_about(summary: SummaryText, fact: Fact, least: float = ABOUT) -> Iterator[SummaryLine]:
    """The lines that have most of a statement's telling words, the nearest first."""
    return (line for _, line in summary.nearest(frozenset(wording(fact.text).words), least))


def _is_stated(line: SummaryLine, live: Sequence[Fact]) -> bool:
    """Whether some instruction that holds says what the line says."""
    return any(compare(fact.text, line.text) is Agreement.SAME for fact in live)


def _stale(summary: SummaryText, instructions: Sequence[Fact]) -> Iterator[Finding]:
    """Lines that state as current what was changed later."""
    live = [one for one in instructions if not one.stale]
    for fact in instructions:
        line = _stated(summary, fact) if fact.stale else None
        if line is not None and not _is_stated(line, live):
            reason = f"Changed later: “{_short(fact.replaced_by)}”."
            yield Finding(Group.WRONG, fact, reason, line.text, (summary.place(line),))


def _stated(summary: SummaryText, fact: Fact) -> SummaryLine | None:
    old = {value.value for value in figures_in(fact.text)}
    new = {value.value for value in figures_in(fact.replaced_by)} - old
    for line in _lines_about(summary, fact):
        stated = {value.value for value in line.figures}
        if old and (not old & stated or new & stated):
            continue
        if not old and new & stated:
            continue
        if not _PAST.search(line.text.replace(fact.text, "")):
            return line
    return None
