"""What a summary states wrongly: invented, mutated, or no longer true."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from explorer.audit.entry_mentions import EntryMentions
from explorer.audit.findings import Fate, Finding, SummaryPlace
from explorer.audit.summary_text import SummaryLine, SummaryText
from explorer.facts import Fact, FactKind, Facts, FactTable, Mention, Span
from explorer.facts.comparison import ABOUT, Agreement, compare, wording
from explorer.facts.figures import Figure, figure, figures_in, value_key
from explorer.facts.paths import base_name
from explorer.facts.text import terms

_DERIVED = 20
"""Whole figures up to this are often counts that the summarizer made itself."""
_LIKE = 0.84
"""Characters that two names must have in common for one to be a slip of the other."""
_SLIPS = 300
"""Things that nothing mentions of which one summary is asked whether they are slips; each is
compared with all messages. Of more the rest is invented."""
_KNOWN = 0.34
"""A rule is invented when at most this share of its words occurs in the source."""
_RULES = (FactKind.CONSTRAINT, FactKind.DECISION)
_STATED = (
    FactKind.PATH, FactKind.URL, FactKind.HASH, FactKind.VERSION, FactKind.NUMBER,
)  # fmt: skip
_PAST = re.compile(
    r"\b(?:was|were|previously|earlier|originally|initially|formerly|before|instead\s+of|"
    r"rather\s+than|no\s+longer|"
    r"changed|raised|lowered|relaxed|from|not|replaced|superseded|used\s+to|old|lifted|dropped)\b|→|->",
    re.IGNORECASE,
)
_RULE_HEADING = re.compile(r"constraint|requirement|preference|\brules?\b", re.IGNORECASE)
_NONE = re.compile(
    r"^\W*(?:\(?none|n/a|no\s+(?:constraints?|preferences?|explicit))\b", re.IGNORECASE
)


class Sources:
    """All that the summarizer can have known, and the facts that a slip can be recognised by."""

    def __init__(
        self, table: FactTable, facts: Facts, known: Sequence[int], gathered: EntryMentions
    ) -> None:
        gathered.read(table, known)
        self.facts = facts
        self.words = gathered.stems
        self._known = known
        self._gathered = gathered
        self._mentions = gathered.mentions
        self._values = gathered.values
        self._paths = gathered.paths

    def knows(self, item: Mention) -> bool:
        """Whether anything of this name or value was ever mentioned."""
        if item.kind is FactKind.NUMBER:
            return self._knows_figure(item)
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
        end = "/" + key.removeprefix("/")
        stands = any(part in self._listed_paths for part in (f"{end}\n", f"{end}/", f"\n{key}/"))
        cuts = (at + 1 for at, letter in enumerate(key) if letter == "/")
        return stands or any(f"\n{key[at:]}\n" in self._listed_paths for at in cuts)

    def _knows_figure(self, item: Mention) -> bool:
        value = figure(item.text)
        if value is None or value_key(item.text) in self._mentions:
            return True
        if f"#{value.value:.12g}" in self._mentions:
            return True
        if any(one.key == value.key for one, _, _ in self._figures()):
            return True
        whole = value.value == int(value.value) and abs(value.value) <= _DERIVED
        if whole and value.family not in ("time", "size", "%"):
            return True
        return self._is_rounded(item, value)

    def _is_rounded(self, item: Mention, value: Figure) -> bool:
        """Whether some figure of the sources gives this one when it is rounded."""
        digits = re.search(r"\d[\d,_']*(?:\.(\d+))?", item.text)
        if digits is None:
            return False
        bare = float(re.sub(r"[,_']", "", digits.group().rstrip(".,")) or 0)
        half = 0.5 * 10.0 ** -len(digits.group(1) or "")
        for scale in (1.0, 1e-3, 1e-6, 1e3, 1.0 / 60, 1.0 / 1024, 1.0 / 1048576, 100.0):
            if any(abs(one * scale - bare) <= half for one in self._values if one != bare):
                # Rounding a figure keeps two of its digits; 3 is not a rounded 2.6.
                return bare >= 10 or "." in digits.group()
        return value.value in self._values

    def like(self, item: Mention, about: frozenset[str]) -> Fact | None:
        """The source fact that this is probably a slip of."""
        if item.kind is FactKind.NUMBER:
            return self._figure_like(item, about)
        best, best_score = None, 0.0
        for fact in self.facts.of(item.kind):
            score = _likeness(item, fact)
            if score > best_score:
                best, best_score = fact, score
        return best if best_score >= _LIKE else None

    def _figure_like(self, item: Mention, about: frozenset[str]) -> Fact | None:
        value = figure(item.text)
        if value is None:
            return None
        best, best_score = None, 1
        for other, mention, index in self._figures():
            if other.family != value.family or other.value == value.value:
                continue
            around = terms(mention.context)
            score = len({word for word in around & about if not word[0].isdigit()})
            if score > best_score:
                best, best_score = _fact_of(mention, index), score
        return best

    def _figures(self) -> Iterator[tuple[Figure, Mention, int]]:
        return self._gathered.figures(self._known)


def _fact_of(item: Mention, index: int) -> Fact:
    span = Span(index, item.start, item.end, item.block, item.argument)
    return Fact(item.kind, item.text, item.key, (index,), (span,))


def _likeness(item: Mention, fact: Fact) -> float:
    if item.kind is FactKind.PATH and base_name(item.key) == base_name(fact.key):
        return 1.0 if "/" in item.key and "/" in fact.key else 0.0
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


def _common(one: str, other: str) -> str:
    length = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return one[: min(len(one), len(other)) if length is None else length]


def wrong_claims(summary: SummaryText, sources: Sources, summarized: Facts) -> list[Finding]:
    """Everything that the summary states wrongly, in the order of its text."""
    found = [
        *_things(summary, sources),
        *_rules(summary, sources, summarized),
        *_stale(summary, summarized),
    ]
    return sorted(found, key=lambda one: one.places)


def _things(summary: SummaryText, sources: Sources) -> Iterator[Finding]:
    seen: dict[tuple[FactKind, str], None] = {}
    for kind in _STATED:
        for item, place in summary.of(kind):
            if (kind, item.key) in seen or sources.knows(item):
                continue
            seen[kind, item.key] = None
            line = summary.line_at(place)
            looks = len(seen) <= _SLIPS
            source = sources.like(item, line.terms if line else frozenset()) if looks else None
            yield _claim(item.text, kind, item.key, place, source)


def _claim(
    text: str, kind: FactKind, key: str, place: SummaryPlace, source: Fact | None
) -> Finding:
    if source is None:
        fact = Fact(kind, text, key)
        note = f"Nothing that was summarized says “{text[:120]}”."
        return Finding(fact, Fate.INVENTED, (place,), note=note)
    fact = Fact(kind, text, key, source.sources, source.spans)
    note = f"The source says “{source.text[:120]}”, the summary “{text[:120]}”."
    return Finding(fact, Fate.MUTATED, (place,), source, note)


def _rules(summary: SummaryText, sources: Sources, summarized: Facts) -> Iterator[Finding]:
    """Rules that lost their negation or whose figure changed, and rules without a source."""
    used: set[tuple[int, int]] = set()
    live = [one for one in summarized if one.kind in _RULES and not one.stale]
    for fact in live:
        if summary.exact(fact.text):
            continue
        line = _contradiction(summary, fact)
        if line is None or (line.part, line.start) in used or _states_live_fact(line, live):
            continue
        used.add((line.part, line.start))
        yield _claim(line.text, fact.kind, fact.key, summary.place(line), fact)
    for line in summary.lines:
        if not _RULE_HEADING.search(line.under) or (line.part, line.start) in used:
            continue
        if len(line.terms) < 3 or _NONE.match(line.text):
            continue
        known = len(line.terms & sources.words) / len(line.terms)
        if known <= _KNOWN:
            yield _claim(line.text, FactKind.CONSTRAINT, line.text, summary.place(line), None)


def _contradiction(summary: SummaryText, fact: Fact) -> SummaryLine | None:
    """The line that says the opposite of a rule or gives it another value, where none says it."""
    other = None
    for line in _about(summary, fact):
        agreement = compare(fact.text, line.text)
        if agreement is Agreement.SAME:
            return None
        # A line that denies what the rule does not may be another rule.
        turned = agreement is Agreement.OPPOSITE and not line.denies
        is_rule = fact.kind is FactKind.CONSTRAINT and len(line.text) <= 2 * len(fact.text)
        if other is None and (agreement is Agreement.OTHER_VALUE or (turned and is_rule)):
            other = line
    return other


def _about(summary: SummaryText, fact: Fact) -> Iterator[SummaryLine]:
    """The lines that have most of a statement's telling words, the nearest first."""
    return (line for _, line in summary.nearest(frozenset(wording(fact.text).words), ABOUT))


def _states_live_fact(line: SummaryLine, live: Sequence[Fact]) -> bool:
    """Whether some rule that holds says what the line says, so that it is no slip of another."""
    return any(compare(fact.text, line.text) is Agreement.SAME for fact in live)


def _stale(summary: SummaryText, summarized: Facts) -> Iterator[Finding]:
    """Lines that state as current what was changed later."""
    seen: set[tuple[int, int]] = set()
    live = [one for one in summarized if one.kind in _RULES and not one.stale]
    for fact in summarized:
        if not fact.stale or fact.kind not in _RULES:
            continue
        line = _stated(summary, fact)
        if line is None or (line.part, line.start) in seen or _states_live_fact(line, live):
            continue
        seen.add((line.part, line.start))
        fact_stated = Fact(
            fact.kind, line.text, fact.key, fact.sources, fact.spans, True, fact.replaced_by
        )
        note = f"Changed later: “{fact.replaced_by[:160]}”."
        yield Finding(fact_stated, Fate.STALE, (summary.place(line),), fact, note)


def _stated(summary: SummaryText, fact: Fact) -> SummaryLine | None:
    old = {value.value for value in figures_in(fact.text)}
    new = {value.value for value in figures_in(fact.replaced_by)} - old
    for line in _about(summary, fact):
        stated = {value.value for value in line.figures}
        if old and (not old & stated or new & stated):
            continue
        if not old and new & stated:
            continue
        if not _PAST.search(line.text.replace(fact.text, "")):
            return line
    return None
