"""What a summary states wrongly: invented, mutated, or no longer true."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from explorer.audit.atoms.items import Item
from explorer.audit.atoms.keys import Figure, base_name, figure, terms
from explorer.audit.atoms.model import Atom, AtomKind, Atoms, Span
from explorer.audit.atoms.table import AtomTable
from explorer.audit.atoms.tokens import value_key
from explorer.audit.findings import Fate, Finding, Place
from explorer.audit.gathered import Gathered
from explorer.audit.rewording import Rewordings, Verdict
from explorer.audit.told import Line, Told, denies, figures_of

_DERIVED = 20
"""Whole figures up to this are often counts that the summarizer made itself."""
_LIKE = 0.84
"""Letters that two names must have in common for one to be a slip of the other."""
_ABOUT = 0.6
"""The share of a statement's words that a line must have to speak of the same."""
_SAID = 0.85
"""The share of a rule's words that a line has that says it."""
_SLIPS = 300
"""Things that nothing mentions of which one summary is asked whether they are slips; each is
compared with all that was said. Of more the rest is invented."""
_KNOWN = 0.34
"""A rule is invented when no more of its words than this were ever said."""
_RULES = (AtomKind.CONSTRAINT, AtomKind.DECISION)
_STATED = (
    AtomKind.PATH, AtomKind.URL, AtomKind.HASH, AtomKind.VERSION, AtomKind.NUMBER,
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
    """All that the summarizer can have known, and the atoms that a slip can be told by."""

    def __init__(
        self, table: AtomTable, atoms: Atoms, known: Sequence[int], gathered: Gathered
    ) -> None:
        gathered.read(table, known)
        self.atoms = atoms
        self.words = gathered.stems
        self._known = known
        self._gathered = gathered
        self._mentions = gathered.mentions
        self._values = gathered.values
        self._paths = gathered.paths

    def knows(self, item: Item) -> bool:
        """Whether anything of this name or value was ever mentioned."""
        if item.kind is AtomKind.NUMBER:
            return self._knows_figure(item)
        if item.key in self._mentions:
            return True
        if item.kind is AtomKind.PATH:
            return self._knows_path(item.key)
        if item.kind is AtomKind.HASH:
            return f"\n{item.key}" in self._listed
        if item.kind is AtomKind.VERSION:
            bare = re.sub(r"^[^\d]*", "", item.key)
            said = bare and re.search(rf"(?<![\d.]){re.escape(bare)}", self._listed)
            return f"#{bare}" in self._mentions or bool(said)
        return any(item.key in one or one in item.key for one in self._mentions if "://" in one)

    @cached_property
    def _listed(self) -> str:
        """All mentions, each in a line of its own: one search instead of one for each."""
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

    def _knows_figure(self, item: Item) -> bool:
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

    def _is_rounded(self, item: Item, value: Figure) -> bool:
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

    def like(self, item: Item, about: frozenset[str]) -> Atom | None:
        """The source atom that this is probably a slip of."""
        if item.kind is AtomKind.NUMBER:
            return self._figure_like(item, about)
        best, best_score = None, 0.0
        for atom in self.atoms.of(item.kind):
            score = _likeness(item, atom)
            if score > best_score:
                best, best_score = atom, score
        return best if best_score >= _LIKE else None

    def _figure_like(self, item: Item, about: frozenset[str]) -> Atom | None:
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
                best, best_score = _atom_of(mention, index), score
        return best

    def _figures(self) -> Iterator[tuple[Figure, Item, int]]:
        return self._gathered.figures(self._known)


def _atom_of(item: Item, index: int) -> Atom:
    span = Span(index, item.start, item.end, item.block, item.argument)
    return Atom(item.kind, item.text, item.key, (index,), (span,))


def _likeness(item: Item, atom: Atom) -> float:
    if item.kind is AtomKind.PATH and base_name(item.key) == base_name(atom.key):
        return 1.0 if "/" in item.key and "/" in atom.key else 0.0
    if item.kind is AtomKind.HASH:
        same = len(_common(item.key, atom.key))
        return 1.0 if same >= 6 else 0.0
    if item.kind is AtomKind.URL and item.key.split("/")[:3] != atom.key.split("/")[:3]:
        return 0.0
    if item.kind is AtomKind.VERSION:
        name = re.split(r"[=@<>~ ]", item.key)[0]
        return 1.0 if name and not name[0].isdigit() and atom.key.startswith(name) else 0.0
    if abs(len(item.key) - len(atom.key)) > 4:
        return 0.0
    return SequenceMatcher(None, item.key, atom.key, autojunk=False).ratio()


def _common(one: str, other: str) -> str:
    length = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return one[: min(len(one), len(other)) if length is None else length]


def wrong_claims(
    told: Told, sources: Sources, summarized: Atoms, rewordings: Rewordings
) -> list[Finding]:
    """Everything that the summary states wrongly, in the order of its text."""
    found = [*_things(told, sources), *_rules(told, sources, summarized, rewordings)]
    found += _stale(told, summarized)
    return sorted(found, key=lambda one: one.places)


def _things(told: Told, sources: Sources) -> Iterator[Finding]:
    seen: dict[tuple[AtomKind, str], None] = {}
    for kind in _STATED:
        for item, place in told.of(kind):
            if (kind, item.key) in seen or sources.knows(item):
                continue
            seen[kind, item.key] = None
            line = told.line_at(place)
            looks = len(seen) <= _SLIPS
            source = sources.like(item, line.terms if line else frozenset()) if looks else None
            yield _claim(item.text, kind, item.key, place, source)


def _claim(text: str, kind: AtomKind, key: str, place: Place, source: Atom | None) -> Finding:
    if source is None:
        atom = Atom(kind, text, key)
        note = f"Nothing that was summarized says “{text[:120]}”."
        return Finding(atom, Fate.INVENTED, (place,), note=note)
    atom = Atom(kind, text, key, source.sources, source.spans)
    note = f"The source says “{source.text[:120]}”, the summary “{text[:120]}”."
    return Finding(atom, Fate.MUTATED, (place,), source, note)


def _rules(
    told: Told, sources: Sources, summarized: Atoms, rewordings: Rewordings
) -> Iterator[Finding]:
    """Rules that lost their "not", or whose figure changed; rules that nobody laid down."""
    used: set[tuple[int, int]] = set()
    live = [one for one in summarized if one.kind in _RULES and not one.stale]
    for atom in summarized:
        if atom.kind not in _RULES or atom.stale or told.exact(atom.text):
            continue
        again = rewordings.of(atom.text, atom.kind)
        if again is not None and again.verdict is Verdict.SAME:
            continue
        line = _turned(told, atom)
        if line is None and again is not None and again.verdict is Verdict.OTHER_VALUE:
            line = again.lines[0]
        if line is not None and (_said_so(line, live) or _reworded_so(line, live, rewordings)):
            continue
        if line is not None and (line.part, line.start) not in used:
            used.add((line.part, line.start))
            yield _claim(line.text, atom.kind, atom.key, told.place(line), atom)
    for line in told.lines:
        if not _RULE_HEADING.search(line.under) or (line.part, line.start) in used:
            continue
        if len(line.terms) < 3 or _NONE.match(line.text):
            continue
        known = len(line.terms & sources.words) / len(line.terms)
        if known <= _KNOWN:
            yield _claim(line.text, AtomKind.CONSTRAINT, line.text, told.place(line), None)


def _turned(told: Told, atom: Atom) -> Line | None:
    """The line that says the opposite of a rule, or gives it another value."""
    wanted = terms(atom.text)
    words = frozenset(term for term in wanted if not term[0].isdigit())
    values = figures_of(atom.text)
    denied = denies(atom.text)
    near = [line for share, line in told.nearest(words, _ABOUT) if share >= _ABOUT]
    if len(words) < 3 or any(_agrees(line, denied, values) for line in near):
        return None
    for line in near:
        if len(line.terms) > 3 * len(wanted):
            continue
        is_rule = atom.kind is AtomKind.CONSTRAINT and len(line.text) <= 2 * len(atom.text)
        if is_rule and denied and not line.denies and len(words & line.terms) >= 3:
            return line
        if values and line.figures and _other_value(values, line.figures):
            return line
    return None


def _said_so(line: Line, live: Sequence[Atom]) -> bool:
    """Whether some rule that holds says what the line says, so that it is no slip of another."""
    said = {value.value for value in line.figures}
    for atom in live:
        words = terms(atom.text)
        values = {value.value for value in figures_of(atom.text)}
        denied = denies(atom.text)
        same = values == said and denied == line.denies
        if same and words and len(words & line.terms) >= _SAID * len(words):
            return True
    return False


def _reworded_so(line: Line, live: Sequence[Atom], rewordings: Rewordings) -> bool:
    """Whether some rule that holds says in other words what the line says."""
    said = (rewordings.of(atom.text, atom.kind) for atom in live)
    return any(
        one is not None and one.verdict is Verdict.SAME and line in one.lines for one in said
    )


def _agrees(line: Line, denied: bool, values: Sequence[Figure]) -> bool:
    said = {value.value for value in line.figures}
    return line.denies == denied and all(value.value in said for value in values)


def _other_value(values: Sequence[Figure], said: Sequence[Figure]) -> bool:
    return any(
        one.family == other.family and one.value != other.value for one in values for other in said
    ) and not any(one.value == other.value for one in values for other in said)


def _stale(told: Told, summarized: Atoms) -> Iterator[Finding]:
    """Lines that state as current what was changed later."""
    seen: set[tuple[int, int]] = set()
    live = [one for one in summarized if one.kind in _RULES and not one.stale]
    for atom in summarized:
        if not atom.stale or atom.kind not in _RULES:
            continue
        line = _stated(told, atom)
        if line is None or (line.part, line.start) in seen or _said_so(line, live):
            continue
        seen.add((line.part, line.start))
        said = Atom(
            atom.kind, line.text, atom.key, atom.sources, atom.spans, True, atom.replaced_by
        )
        note = f"Changed later: “{atom.replaced_by[:160]}”."
        yield Finding(said, Fate.STALE, (told.place(line),), atom, note)


def _stated(told: Told, atom: Atom) -> Line | None:
    words = frozenset(term for term in terms(atom.text) if not term[0].isdigit())
    old = {value.value for value in figures_of(atom.text)}
    new = {value.value for value in figures_of(atom.replaced_by)} - old
    for _, line in told.nearest(words, _ABOUT):
        said = {value.value for value in line.figures}
        if old and (not old & said or new & said):
            continue
        if not old and new & said:
            continue
        if not _PAST.search(line.text.replace(atom.text, "")):
            return line
    return None
