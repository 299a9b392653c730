"""Whether a passage of a summary says what a statement says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from explorer.audit.atoms.model import AtomKind
from explorer.audit.rewording.clauses import DELETES, Amount, Clause, Word, share, weight
from explorer.audit.rewording.objections import AS_DONE, TASKS, against, has, of_another, same_sign
from explorer.audit.rewording.passage import CHANGES, Passage, Statement

COVERED = 0.72
"""The share of a clause's weight that has to be told again."""
COVERED_BY_LITTLE = 0.62
"""That share where the passage says next to nothing else."""
COVERED_AT_ONCE = 0.5
"""The share of it that has to stand in one clause."""
SPARE = 0.42
"""The share of the telling clause's weight that has to be of what was said."""
SPARE_OF_LITTLE = 0.8
LEAST = 1.9
"""The weight that has to be shared at least."""
ALL_OF_LITTLE = 0.85
"""Where less is shared, the share of each that the other has: "now write the changelog"."""
_FIGURE_WEIGHT = 1.2
_SIGN_WEIGHT = 0.6
_MEASURED = ("time", "size", "%")


class Verdict(Enum):
    """What a passage is to a statement."""

    SAME = "same"
    OTHER_VALUE = "other value"
    """All but a figure is the same."""
    DONE = "done"
    """It tells as done what was asked for."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Match:
    """A verdict with the words that made it, as the statement has them."""

    verdict: Verdict
    words: tuple[str, ...] = ()
    why: str = ""
    """Of ``OTHER``: what stood against it, in a word or two."""


def compare(said: Statement, told: Passage) -> Match:
    """Whether a passage says a statement."""
    refused = _unlike(said, told) or against(said, told)
    is_done = told.done and refused in AS_DONE and said.kind in TASKS and _all_of(said, told)
    if refused and not is_done:
        return Match(Verdict.OTHER, why=refused)
    shared: dict[str, Word] = {}
    figures: list[str] = []
    least, verdict = 1.0, Verdict.DONE if is_done else Verdict.SAME
    for clause in said.core:
        if _passed_over(clause, told):
            continue
        best, why = _best(clause, said, told)
        if best is None:
            return Match(Verdict.OTHER, why=why)
        missing, found = _figures(clause, best, told)
        if missing:
            if not _rival(missing, best, told):
                return Match(Verdict.OTHER, why="figure")
            verdict = Verdict.OTHER_VALUE
        figures += found
        mine = clause.all_words
        least = min(least, share(mine, told.whole))
        shared |= {key: word for key, word in mine.items() if key in told.whole}
    signs = sum(1 for clause in said.core if clause.denies)
    if not _enough(shared, len(figures), signs):
        near = min(least, share(told.words, said.words))
        if near < ALL_OF_LITTLE or all(word.weight < 1.0 for word in shared.values()):
            return Match(Verdict.OTHER, why="little shared")
    return Match(verdict, tuple(dict.fromkeys([*(w.text for w in shared.values()), *figures])))


def _passed_over(clause: Clause, told: Passage) -> bool:
    """Whether a clause only names what was not taken, and the passage is silent on that."""
    return clause.rejected and not clause.words.keys() & told.whole.keys()


def _all_of(said: Statement, told: Passage) -> bool:
    """Whether no telling word of a request is missing: only then what is done is what was asked."""
    return all(
        word.weight < 1.0 or key in told.whole
        for one in said.core
        for key, word in one.words.items()
    )


def _unlike(said: Statement, told: Passage) -> str:
    """Why a passage need not be looked at any closer; empty where it must."""
    if not told.clauses or not said.clauses:
        return "empty"
    if told.asks != (said.kind is AtomKind.QUESTION) and not (said.asks and told.asks):
        return "question"
    for clause in said.core:
        if _passed_over(clause, told):
            continue
        wanted = _wanted(clause, told)
        for key, word in wanted.items():
            if word.firm and not has(key, told.whole):
                return f"without {word.text}"
        if share(wanted, told.whole) < COVERED_BY_LITTLE:
            return "little of it"
    return ""


def _enough(shared: Mapping[str, Word], figures: int, signs: int) -> bool:
    total = weight(shared.values()) + _FIGURE_WEIGHT * figures + _SIGN_WEIGHT * signs
    solid = sum(1 for word in shared.values() if word.weight >= 1.0)
    return total >= LEAST and solid + figures + signs >= 2


def _wanted(clause: Clause, told: Passage) -> Mapping[str, Word]:
    """The words that have to be told: where something stays, not those of changing it."""
    if not told.keeps:
        return clause.all_words
    spared = CHANGES if clause.denies else {DELETES}
    return {key: word for key, word in clause.all_words.items() if key not in spared}


def _best(clause: Clause, said: Statement, told: Passage) -> tuple[Clause | None, str]:
    """The clause of the passage that says a clause best; why none does."""
    wanted = _wanted(clause, told)
    cover = share(wanted, told.whole)
    ranked = sorted(
        ((share(wanted, one.whole), -at, one) for at, one in enumerate(told.clauses)),
        key=lambda each: each[:2],
        reverse=True,
    )
    why = "spread"
    for part, _, one in ranked:
        if part < COVERED_AT_ONCE:
            break
        if not same_sign(clause, one):
            if "topic" in one.marks:
                continue
            # The clause that has most of it says the opposite.
            return None, "opposite"
        spare = share(_further(one, said), said.words)
        if spare < (SPARE if cover >= COVERED else SPARE_OF_LITTLE):
            why = "says other things"
            continue
        why = of_another(clause, wanted, one, said, told)
        if not why:
            return one, ""
    return None, why


def _further(one: Clause, said: Statement) -> Mapping[str, Word]:
    """The words of a clause but for names that are made of what was said: test_retry.py."""
    if one.parts.keys().isdisjoint(said.words):
        return one.words
    return {key: word for key, word in one.words.items() if not word.firm or key in said.words}


def _figures(clause: Clause, best: Clause, told: Passage) -> tuple[list[Amount], list[str]]:
    """The figures that are not told, and those that are."""
    near = [*best.amounts, *best.given]
    far = [each for one in told.clauses for each in one.amounts]
    missing, found = [], []
    for own, each in (*((True, a) for a in clause.amounts), *((False, a) for a in clause.given)):
        pool = near if own and best.amounts else [*near, *far]
        if any(_equal(each, other) for other in pool):
            found.append(each.text)
        else:
            missing.append(each)
    return missing, found


def _equal(one: Amount, other: Amount) -> bool:
    if abs(one.value.value - other.value.value) > 1e-9 * max(1.0, abs(one.value.value)):
        return False
    if one.bound != other.bound:
        return False
    families = {one.value.family, other.value.family}
    return len(families) == 1 or families.isdisjoint(_MEASURED) or "" in families


def _rival(missing: Sequence[Amount], best: Clause, told: Passage) -> bool:
    """Whether the passage gives another figure in the place of a missing one."""
    others = best.amounts or [each for one in told.clauses for each in one.amounts]
    return any(
        each.bound == other.bound
        and each.value.family == other.value.family
        and each.value.value != other.value.value
        for each in missing
        for other in others
    )
