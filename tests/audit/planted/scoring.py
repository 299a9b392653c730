"""Compares what the extraction finds with what is marked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from explorer.facts import FactKind, Facts, extract
from explorer.facts.figures import figure
from explorer.facts.identifiers import path_key
from explorer.facts.text import statement_key
from tests.audit.planted.reading import MarkedSession, Planted

EXACT_BAR = (0.95, 0.90)
"""Recall and precision."""
BARS: dict[FactKind, tuple[float, float]] = {
    FactKind.PATH: EXACT_BAR,
    FactKind.COMMAND: EXACT_BAR,
    FactKind.NUMBER: EXACT_BAR,
    FactKind.URL: EXACT_BAR,
    FactKind.HASH: EXACT_BAR,
    FactKind.ERROR: EXACT_BAR,
}
_SPOKEN = (
    FactKind.CONSTRAINT,
    FactKind.DECISION,
    FactKind.QUESTION,
    FactKind.REQUEST,
    FactKind.TODO,
)
_COVERED = 0.5


@dataclass(frozen=True)
class Mention:
    """One thing found, at one place."""

    kind: FactKind
    text: str
    entry: int
    block: int
    argument: str
    start: int
    end: int


@dataclass
class Score:
    """Counts of one kind."""

    planted: int = 0
    hit: int = 0
    found: int = 0
    right: int = 0
    missed: list[str] = field(default_factory=list)
    made_up: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """The share of what is marked that was found, 0 to 1."""
        return self.hit / self.planted if self.planted else 1.0

    @property
    def precision(self) -> float:
        """The share of what was found that is marked, 0 to 1."""
        return self.right / self.found if self.found else 1.0


def mentions(facts: Facts) -> list[Mention]:
    """Every place of every fact."""
    return [
        Mention(fact.kind, fact.text, s.entry, s.block, s.argument, s.start, s.end)
        for fact in facts
        for s in fact.spans
    ]


def score(sessions: list[MarkedSession]) -> dict[FactKind, Score]:
    """Recall and precision per kind over all sessions."""
    scores: dict[FactKind, Score] = defaultdict(Score)
    for session in sessions:
        found = mentions(extract(session.entries))
        for mark in session.planted:
            one = scores[mark.kind]
            one.planted += 1
            if any(_is_it(mark, mention) for mention in found):
                one.hit += 1
            else:
                one.missed.append(f"{session.name} e{mark.entry}: {mark.text!r}")
        for mention in found:
            verdict = _judge(mention, session.planted)
            if verdict is None:
                continue
            one = scores[mention.kind]
            one.found += 1
            one.right += verdict
            if not verdict:
                one.made_up.append(f"{session.name} e{mention.entry}: {mention.text!r}")
    return scores


def score_stale(sessions: list[MarkedSession]) -> Score:
    """How many marked constraints are rightly told stale, and how many told so are."""
    total = Score()
    for session in sessions:
        facts = extract(session.entries)
        stale = mentions(Facts(tuple(a for a in facts.of(FactKind.CONSTRAINT) if a.stale)))
        for mark in session.planted:
            if mark.stale and mark.kind is FactKind.CONSTRAINT:
                total.planted += 1
                if any(_is_it(mark, mention) for mention in stale):
                    total.hit += 1
                else:
                    total.missed.append(f"{session.name} e{mark.entry}: {mark.text!r}")
        for mention in stale:
            total.found += 1
            marks = [m for m in session.planted if m.stale]
            good = any(_is_it(mark, mention) for mark in marks)
            total.right += good
            if not good:
                total.made_up.append(f"{session.name} e{mention.entry}: {mention.text!r}")
    return total


def _same_text(mark: Planted, mention: Mention) -> bool:
    return (mark.entry, mark.block, mark.argument) == (
        mention.entry,
        mention.block,
        mention.argument,
    )


def _overlap(mark: Planted, mention: Mention) -> int:
    return min(mark.end, mention.end) - max(mark.start, mention.start)


def _is_it(mark: Planted, mention: Mention) -> bool:
    """Whether a mention is the marked thing. An exact thing that is said twice in one text
    counts wherever it was found in it."""
    if mark.kind is not mention.kind or not _same_text(mark, mention):
        return False
    if mark.kind in _SPOKEN or mark.kind is FactKind.ERROR:
        return _overlap(mark, mention) >= _COVERED * (mark.end - mark.start)
    if mark.kind is FactKind.COMMAND:
        longer = max(len(mark.text), len(mention.text))
        return _overlap(mark, mention) >= 0.8 * longer
    if mark.kind is FactKind.NUMBER:
        one, other = figure(mark.text), figure(mention.text)
        same = one is not None and other is not None and one.value == other.value
        return same and _overlap(mark, mention) > 0
    if mark.kind is FactKind.VERSION:
        return _overlap(mark, mention) > 0
    if mark.kind is FactKind.PATH:
        return path_key(mark.text) == path_key(mention.text)
    return statement_key(mark.text) == statement_key(mention.text)


def _judge(mention: Mention, planted: tuple[Planted, ...]) -> bool | None:
    """Whether something found is marked; None where the guide leaves it open."""
    here = [mark for mark in planted if _same_text(mark, mention)]
    for mark in here:
        if mark.kind is not mention.kind:
            continue
        if _is_it(mark, mention):
            return True
        if mention.kind in (*_SPOKEN, FactKind.ERROR):
            shorter = min(mark.end - mark.start, mention.end - mention.start)
            if _overlap(mark, mention) >= _COVERED * shorter:
                return True
    if mention.kind is FactKind.SYMBOL:
        return None
    for mark in here:
        free = mark.kind in (FactKind.COMMAND, FactKind.ERROR)
        if free and _overlap(mark, mention) == mention.end - mention.start:
            return None
    return False
