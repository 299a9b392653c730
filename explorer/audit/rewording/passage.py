"""The two sides of a comparison made ready: a statement, and a passage of a summary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from explorer.audit.atoms.model import AtomKind
from explorer.audit.rewording.clauses import DELETES, Clause, Reading, Word
from explorer.audit.rewording.cues import ASIDE, DIRECTS, RULES, STATES, bids, is_verb
from explorer.audit.rewording.lexicon import LIGHT, concept

CHANGES = frozenset(map(concept, ("change", "loosen", "rename", "move")))
_MAY_GO = CHANGES | {DELETES}
_LAID_DOWN = (AtomKind.CONSTRAINT, AtomKind.QUESTION)


class _Text:
    """A text that is asked for the same forms of words again and again."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[re.Pattern[str], bool] = {}

    def has(self, form: re.Pattern[str]) -> bool:
        """Whether a form of words stands in it."""
        found = self._found.get(form)
        if found is None:
            found = self._found[form] = form.search(self.text) is not None
        return found


class Statement(_Text):
    """What was said: its clauses, and those without which it is not said."""

    def __init__(self, reading: Reading, kind: AtomKind) -> None:
        super().__init__(reading.text)
        self.kind = kind
        self.asks = reading.asks
        self.words = reading.words
        self.clauses = reading.clauses
        self.core = _core(reading.clauses, kind)
        self.marks = frozenset(mark for one in self.clauses for mark in one.marks)
        self.solid = frozenset(k for k, word in self.words.items() if word.weight >= 1.0)
        self.things = frozenset(
            word.concept
            for one in self.core
            if not one.rejected
            for word in one.words.values()
            if word.weight >= 1.0 and word.concept not in _MAY_GO and not is_verb(word.text)
        )
        """The words of which none may be missing."""

    @cached_property
    def denies(self) -> bool:
        """Whether any of it forbids or denies."""
        return any(one.denies for one in self.clauses)

    @cached_property
    def directs(self) -> bool:
        """Whether it says what is to be, not what is."""
        if self.kind in (AtomKind.TODO, AtomKind.REQUEST):
            return True
        text = " ".join(one.text for one in self.clauses)
        return self.kind is AtomKind.CONSTRAINT and DIRECTS.search(text) is not None


class Passage(_Text):
    """A line of a summary, or two that belong together."""

    def __init__(
        self, clauses: Sequence[Clause], *, asks: bool = False, done: bool = False
    ) -> None:
        self.clauses = [one for one in clauses if one.words or one.amounts]
        super().__init__(" ".join(one.text for one in self.clauses))
        self.asks = asks
        self.words: dict[str, Word] = {}
        """The words of all its clauses."""
        self.whole: dict[str, Word] = {}
        """The same with those inside of names."""
        for one in self.clauses:
            self.words.update(one.words)
            self.whole.update(one.whole)
        self.done = done
        """Whether it is ticked off, or stands under what is done."""
        self.marks = frozenset(mark for one in self.clauses for mark in one.marks)

    @cached_property
    def denies(self) -> bool:
        """Whether any of it forbids or denies."""
        return any(one.denies for one in self.clauses)

    @cached_property
    def keeps(self) -> bool:
        """Whether it says of something that it stays."""
        return any("keep" in one.marks and not one.denies for one in self.clauses)

    @cached_property
    def states(self) -> bool:
        """Whether it only tells how things are."""
        first = self.clauses[0].text
        return bool(STATES.search(first)) and not self.has(DIRECTS) and not bids(first)


def _core(clauses: Sequence[Clause], kind: AtomKind) -> list[Clause]:
    told = [
        one
        for one in clauses
        if "topic" not in one.marks and (one.words.keys() - LIGHT or one.amounts)
    ]
    told = [one for one in told if not ASIDE.match(one.text)] or told
    main = [one for one in told if not one.reason and "may" not in one.marks]
    if kind in _LAID_DOWN:
        core = [one for one in main if _lays_down(one)]
    else:
        core = main[:1] + [one for one in main[1:] if {"not", "only", "keep"} & one.marks]
    chosen = set(map(id, core))
    # "A 409 is a conflict and is not retried": the figure is asked for with what points back.
    given = [each for one in core for each in one.given]
    core += [
        one
        for one in main
        if id(one) not in chosen
        and (bids(one.text) or _opens(one) or any(a not in given for a in one.amounts))
    ]
    return core or main[:1] or told[:1] or list(clauses[:1])


def _lays_down(one: Clause) -> bool:
    return one.denies or any(each.bound for each in one.amounts) or bool(RULES.search(one.text))


def _opens(one: Clause) -> bool:
    """Whether a sentence of its own begins with a clause, and does not tell how things are."""
    return one.contrasts or (
        one.opens and (STATES.search(one.text) is None or DIRECTS.search(one.text) is not None)
    )
