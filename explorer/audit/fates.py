"""What became of each fact that was summarized."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from explorer.audit.findings import Fate, Finding, SummaryPlace
from explorer.audit.summary_text import SummaryLine, SummaryText
from explorer.facts import STATEMENT_KINDS, Fact, FactKind, Facts, FactTable
from explorer.facts.comparison import ABOUT, Agreement, compare, shared_words, wording
from explorer.facts.errors import beginning, is_cut, listed_test
from explorer.facts.figures import Figure, figure
from explorer.facts.paths import base_name
from explorer.facts.text import statement_key, stem, terms

_CANCEL_EVERY = 512
_BY_KEY = frozenset({FactKind.PATH, FactKind.SYMBOL, FactKind.VERSION, FactKind.URL, FactKind.HASH})
_SHORT_HASH = 7
_SLACK = 1e-9
"""The part of a value by which two spellings of it may differ."""
_LEFT = 8
"""Characters of a cut line from which it can be found again."""
_CLOSEST = 6
"""Lines that are compared with one statement."""


class Kept:
    """The facts in the kept tail."""

    def __init__(self, table: FactTable, kept: Sequence[int]) -> None:
        self._facts = {(item.kind, item.key) for index in kept for item in table.entry(index).items}
        self._mentions = table.mentions(kept)

    def holds(self, fact: Fact) -> bool:
        """Whether an fact is in the tail."""
        if (fact.kind, fact.key) in self._facts:
            return True
        return fact.kind in _BY_KEY and fact.key in self._mentions


class Fates:
    """Decides the fate of facts against one summary."""

    def __init__(
        self, summary: SummaryText, kept: Kept, facts: Facts, transcript: str = ""
    ) -> None:
        self._summary = summary
        self._kept = kept
        self._transcript = transcript if any(transcript in p for p in summary.parts) else ""
        self._items: dict[FactKind, list[tuple[str, SummaryPlace]]] = {}
        for number, item in summary.items:
            place = SummaryPlace(number, item.start, item.end)
            self._items.setdefault(item.kind, []).append((item.key, place))
        self._keyed: dict[tuple[FactKind, str], list[SummaryPlace]] = {}
        for kind, found in self._items.items():
            for key, place in found:
                self._keyed.setdefault((kind, key), []).append(place)
        self._suffixes = _suffixes(fact.key for fact in facts.of(FactKind.PATH))
        self._figures = sorted(
            (
                (value, summary.line_at(place), place)
                for item, place in summary.of(FactKind.NUMBER)
                if (value := figure(item.text))
            ),
            key=_value,
        )

    def findings(
        self, facts: Iterable[Fact], cancelled: Callable[[], bool] = lambda: False
    ) -> list[Finding]:
        """One finding per fact; fewer only when ``cancelled`` returns True."""
        out: list[Finding] = []
        for number, fact in enumerate(facts):
            if number % _CANCEL_EVERY == 0 and cancelled():
                return out
            out.append(self.of(fact))
        return out

    def of(self, fact: Fact) -> Finding:
        """The fate of one fact."""
        exact = self._summary.exact(fact.text)
        close = () if exact else self._normalized(fact)
        note = self._spelled(close) if close else ""
        if self._kept.holds(fact):
            return Finding(fact, Fate.KEPT, exact or close, note="The kept tail says it.")
        if not exact and not close and fact.kind in STATEMENT_KINDS:
            close, note = self._reworded(fact)
        if exact:
            return Finding(fact, Fate.EXACT, exact, note="The summary says it letter for letter.")
        if close:
            return Finding(fact, Fate.NORMALIZED, close, note=note)
        if self._transcript:
            note = f"Not in the summary, which names the transcript {self._transcript}."
            return Finding(fact, Fate.RECOVERABLE, note=note)
        return Finding(
            fact, Fate.LOST, note="Neither the summary nor the kept tail says it; the log does."
        )

    def _spelled(self, places: Sequence[SummaryPlace]) -> str:
        return f"The summary says: {self._text(places[0])[:160]}"

    def _text(self, place: SummaryPlace) -> str:
        part = self._summary.parts[place.part].encode("utf-16-le")
        text = part[place.start * 2 : place.end * 2].decode("utf-16-le", "replace")
        return " ".join(text.split())

    def _normalized(self, fact: Fact) -> tuple[SummaryPlace, ...]:
        if fact.kind in _BY_KEY:
            return self._by_key(fact)
        if fact.kind is FactKind.NUMBER:
            return self._figure(fact)
        flat = self._summary.flat(fact.key)
        if flat:
            return flat
        if fact.kind is FactKind.ERROR:
            return self._failure(fact)
        return ()

    def _by_key(self, fact: Fact) -> tuple[SummaryPlace, ...]:
        facts = self._keyed.get((fact.kind, fact.key))
        if facts:
            return tuple(facts)
        if fact.kind is FactKind.PATH:
            return self._path(fact.key)
        if fact.kind is FactKind.HASH:
            return tuple(
                place
                for key, place in self._items.get(FactKind.HASH, ())
                if min(len(key), len(fact.key)) >= _SHORT_HASH
                and (key.startswith(fact.key) or fact.key.startswith(key))
            )
        if fact.kind is FactKind.SYMBOL:
            return self._summary.flat(fact.key.lower())
        if fact.kind is FactKind.VERSION:
            return self._summary.flat(fact.key) or self._summary.flat(f"v{fact.key}")
        return ()

    def _path(self, key: str) -> tuple[SummaryPlace, ...]:
        found = []
        for other, place in self._items.get(FactKind.PATH, ()):
            is_end = key.endswith("/" + other) and self._suffixes[other] == 1
            if is_end or (other.endswith("/" + key) and "/" in key):
                found.append(place)
        return tuple(found)

    def _figure(self, fact: Fact) -> tuple[SummaryPlace, ...]:
        wanted = figure(fact.text)
        if wanted is None:
            return ()
        slack = _SLACK * max(1.0, abs(wanted.value))
        first = bisect_left(self._figures, wanted.value - slack, key=_value)
        last = bisect_right(self._figures, wanted.value + slack, key=_value)
        return tuple(
            sorted(
                place
                for value, line, place in self._figures[first:last]
                if _says(wanted, value, line)
            )
        )

    def _failure(self, fact: Fact) -> tuple[SummaryPlace, ...]:
        if is_cut(fact.text):
            return self._cut_failure(fact.text)
        head = fact.key[:60].rstrip()
        if len(head) >= 40 and (place := self._summary.flat(head)):
            return place
        wanted = terms(fact.text)
        for share, line in self._summary.nearest(wanted, 0.8):
            if share >= 0.8:
                return (self._summary.place(line),)
        return ()

    def _cut_failure(self, text: str) -> tuple[SummaryPlace, ...]:
        """Where a line that a tool cut off is quoted as far as it goes, or the test that it
        names."""
        # The word that was cut is left out: it stands nowhere as it is.
        left = beginning(text).rpartition(" ")[0]
        for wanted in (left, statement_key(listed_test(text))):
            if len(wanted) >= _LEFT and (place := self._summary.flat(wanted)):
                return place
        return ()

    def _reworded(self, fact: Fact) -> tuple[tuple[SummaryPlace, ...], str]:
        """The line that says a statement in much the same words, and a note on it."""
        for _, line in self._summary.nearest(frozenset(wording(fact.text).words), ABOUT)[:_CLOSEST]:
            if compare(fact.text, line.text) is Agreement.SAME:
                place = self._summary.place(line)
                words = ", ".join(shared_words(fact.text, line.text))
                excerpt = self._text(place)[:240]
                note = f"The summary says it in other words: {excerpt} (shared: {words})."
                return (place,), note
        return (), ""


def _suffixes(keys: Iterable[str]) -> Counter[str]:
    """How many of the paths end with each of their ends."""
    counts: Counter[str] = Counter()
    for key in set(keys):
        parts = key.split("/")
        counts.update("/".join(parts[at:]) for at in range(len(parts)))
        if parts[0]:
            continue
        counts[base_name(key)] += 0
    return counts


def _value(of: tuple[Figure, SummaryLine | None, SummaryPlace]) -> float:
    return of[0].value


def _says(wanted: Figure, value: Figure, line: SummaryLine | None) -> bool:
    """Whether a figure of the summary with the value that is wanted is the one, in another
    spelling."""
    if wanted.key == value.key:
        return True
    if not wanted.family or wanted.family == value.family:
        return True
    return line is not None and stem(wanted.family) in line.terms
