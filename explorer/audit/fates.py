"""What became of each atom that was summarized."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from explorer.audit.atoms.keys import Figure, base_name, figure, statement_key, stem, terms
from explorer.audit.atoms.model import STATEMENT_KINDS, Atom, AtomKind, Atoms
from explorer.audit.atoms.shortened import beginning, is_cut, listed_test
from explorer.audit.atoms.table import AtomTable
from explorer.audit.findings import Fate, Finding, Place
from explorer.audit.rewording import Rewordings, Verdict
from explorer.audit.told import Line, Told

_CANCEL_EVERY = 512
_BY_KEY = frozenset({AtomKind.PATH, AtomKind.SYMBOL, AtomKind.VERSION, AtomKind.URL, AtomKind.HASH})
_SHORT_HASH = 7
_SLACK = 1e-9
"""The part of a value by which two spellings of it may differ."""
_LEFT = 8
"""Characters of a cut line from which it can be found again."""


class Kept:
    """What the kept tail says verbatim."""

    def __init__(self, table: AtomTable, kept: Sequence[int]) -> None:
        self._atoms = {(item.kind, item.key) for index in kept for item in table.entry(index).items}
        self._mentions = table.mentions(kept)

    def holds(self, atom: Atom) -> bool:
        """Whether an atom is in the tail."""
        if (atom.kind, atom.key) in self._atoms:
            return True
        return atom.kind in _BY_KEY and atom.key in self._mentions


class Fates:
    """Decides the fate of atoms against one summary."""

    def __init__(self, told: Told, kept: Kept, atoms: Atoms, transcript: str = "") -> None:
        self._told = told
        self.rewordings = Rewordings(told)
        """Where statements are said in other words."""
        self._kept = kept
        self._transcript = transcript if any(transcript in p for p in told.parts) else ""
        self._items: dict[AtomKind, list[tuple[str, Place]]] = {}
        for number, item in told.items:
            place = Place(number, item.start, item.end)
            self._items.setdefault(item.kind, []).append((item.key, place))
        self._keyed: dict[tuple[AtomKind, str], list[Place]] = {}
        for kind, found in self._items.items():
            for key, place in found:
                self._keyed.setdefault((kind, key), []).append(place)
        self._suffixes = _suffixes(atom.key for atom in atoms.of(AtomKind.PATH))
        self._figures = sorted(
            (
                (value, told.line_at(place), place)
                for item, place in told.of(AtomKind.NUMBER)
                if (value := figure(item.text))
            ),
            key=_value,
        )

    def findings(
        self, atoms: Iterable[Atom], cancelled: Callable[[], bool] = lambda: False
    ) -> list[Finding]:
        """One finding per atom; fewer only when ``cancelled`` says so."""
        out: list[Finding] = []
        for number, atom in enumerate(atoms):
            if number % _CANCEL_EVERY == 0 and cancelled():
                return out
            out.append(self.of(atom))
        return out

    def of(self, atom: Atom) -> Finding:
        """The fate of one atom."""
        exact = self._told.exact(atom.text)
        close = () if exact else self._normalized(atom)
        note = self._spelled(close) if close else ""
        if self._kept.holds(atom):
            return Finding(atom, Fate.KEPT, exact or close, note="The kept tail says it.")
        if not exact and not close and atom.kind in STATEMENT_KINDS:
            close, note = self._reworded(atom)
        if exact:
            return Finding(atom, Fate.EXACT, exact, note="The summary says it letter for letter.")
        if close:
            return Finding(atom, Fate.NORMALIZED, close, note=note)
        if self._transcript:
            note = f"Not in the summary, which names the transcript {self._transcript}."
            return Finding(atom, Fate.RECOVERABLE, note=note)
        return Finding(
            atom, Fate.LOST, note="Neither the summary nor the kept tail says it; the log does."
        )

    def _spelled(self, places: Sequence[Place]) -> str:
        return f"The summary says: {self._text(places[0])[:160]}"

    def _text(self, place: Place) -> str:
        part = self._told.parts[place.part].encode("utf-16-le")
        text = part[place.start * 2 : place.end * 2].decode("utf-16-le", "replace")
        return " ".join(text.split())

    def _normalized(self, atom: Atom) -> tuple[Place, ...]:
        if atom.kind in _BY_KEY:
            return self._by_key(atom)
        if atom.kind is AtomKind.NUMBER:
            return self._figure(atom)
        flat = self._told.flat(atom.key)
        if flat:
            return flat
        if atom.kind is AtomKind.ERROR:
            return self._failure(atom)
        return ()

    def _by_key(self, atom: Atom) -> tuple[Place, ...]:
        found = self._keyed.get((atom.kind, atom.key))
        if found:
            return tuple(found)
        if atom.kind is AtomKind.PATH:
            return self._path(atom.key)
        if atom.kind is AtomKind.HASH:
            return tuple(
                place
                for key, place in self._items.get(AtomKind.HASH, ())
                if min(len(key), len(atom.key)) >= _SHORT_HASH
                and (key.startswith(atom.key) or atom.key.startswith(key))
            )
        if atom.kind is AtomKind.SYMBOL:
            return self._told.flat(atom.key.lower())
        if atom.kind is AtomKind.VERSION:
            return self._told.flat(atom.key) or self._told.flat(f"v{atom.key}")
        return ()

    def _path(self, key: str) -> tuple[Place, ...]:
        found = []
        for other, place in self._items.get(AtomKind.PATH, ()):
            is_end = key.endswith("/" + other) and self._suffixes[other] == 1
            if is_end or (other.endswith("/" + key) and "/" in key):
                found.append(place)
        return tuple(found)

    def _figure(self, atom: Atom) -> tuple[Place, ...]:
        wanted = figure(atom.text)
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

    def _failure(self, atom: Atom) -> tuple[Place, ...]:
        if is_cut(atom.text):
            return self._cut_failure(atom.text)
        head = atom.key[:60].rstrip()
        if len(head) >= 40 and (found := self._told.flat(head)):
            return found
        wanted = terms(atom.text)
        for share, line in self._told.nearest(wanted, 0.8):
            if share >= 0.8:
                return (self._told.place(line),)
        return ()

    def _cut_failure(self, text: str) -> tuple[Place, ...]:
        """Where a line that a tool cut off is told as far as it goes, or the test that it names."""
        # The word that was cut is left out: it stands nowhere as it is.
        left = beginning(text).rpartition(" ")[0]
        for wanted in (left, statement_key(listed_test(text))):
            if len(wanted) >= _LEFT and (found := self._told.flat(wanted)):
                return found
        return ()

    def _reworded(self, atom: Atom) -> tuple[tuple[Place, ...], str]:
        """Where the summary says a statement in other words, and what tells that it does."""
        found = self.rewordings.of(atom.text, atom.kind)
        if found is None or found.verdict not in (Verdict.SAME, Verdict.DONE):
            return (), ""
        places = tuple(self._told.place(line) for line in found.lines)
        said = " / ".join(self._text(place) for place in places)[:240]
        words = ", ".join(found.words)
        how = "tells it as done" if found.verdict is Verdict.DONE else "says it in other words"
        return places, f"The summary {how}: {said} (shared: {words})."


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


def _value(of: tuple[Figure, Line | None, Place]) -> float:
    return of[0].value


def _says(wanted: Figure, value: Figure, line: Line | None) -> bool:
    """Whether a figure of the summary with the value that is wanted is the one, in another
    spelling."""
    if wanted.key == value.key:
        return True
    if not wanted.family or wanted.family == value.family:
        return True
    return line is not None and stem(wanted.family) in line.terms
