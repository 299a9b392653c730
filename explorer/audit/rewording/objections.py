"""What speaks against a passage that shares the words of a statement."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from explorer.audit.atoms.model import AtomKind
from explorer.audit.rewording.clauses import DELETES, Clause, Word, share
from explorer.audit.rewording.cues import (
    DEMANDS,
    ENDS,
    EVERY,
    NEEDS,
    SINGLE,
    SOLVED,
    TELLS,
    UNTIL,
    USES,
    first_word,
    is_verb,
    told_as_done,
)
from explorer.audit.rewording.lexicon import antonyms, concept
from explorer.audit.rewording.passage import CHANGES, Passage, Statement

TASKS = (AtomKind.TODO, AtomKind.REQUEST)
AS_DONE = ("past", "done")
"""Objections that only say that a thing is told as done."""
_UNDOES = frozenset(map(concept, ("revert", "rename", "redo")))
_SETTING_APART = frozenset(
    map(concept, ("next", "last", "first", "second", "own", "other", "another", "half", "former"))
)
_LIST = re.compile(
    r"(?:[\w./-]+(?:\(\))?,\s+)*[\w./-]+(?:\(\))?,?\s+(?:and|or|as\s+well\s+as|plus)\s+[\w./-]+"
    r"|(?<=:)\s+\w+(?:,\s+\w+)+",
    re.IGNORECASE,
)
_JOINS = re.compile(r",?\s+(?:and|or|as\s+well\s+as|plus)\s+|,\s+", re.IGNORECASE)
_TOGETHER = 0.8
"""The share of a clause's telling words that have to stand together."""


def against(said: Statement, told: Passage) -> str:
    """What in the manner of a passage speaks against it, in a word; empty where nothing does."""
    return _by_marks(said, told) or _by_mood(said, told) or _by_scope(said, told)


def _by_marks(said: Statement, told: Passage) -> str:
    mine, theirs = said.marks, told.marks
    if "unsure" in theirs - mine:
        return "unsure"
    for mark in ("free", "except"):
        if (mark in theirs) != (mark in mine):
            return mark
    if "may" in theirs - mine and not told.denies:
        return "may"
    if "only" in mine and "only" not in theirs and not told.denies:
        return "only"
    if "only" in theirs - mine and not said.denies:
        return "only"
    return "order" if "before" in mine - theirs else ""


def _by_mood(said: Statement, told: Passage) -> str:
    """Whether it tells of something done, or how things are, where something is demanded."""
    kind, first = said.kind, told.clauses[0]
    if kind is AtomKind.DECISION:
        return "need" if told.has(NEEDS) and not said.has(NEEDS) else ""
    if told.done or ("past" in first.marks and "past" not in said.marks):
        return "past"
    if not told.has(DEMANDS) and any(_done(said, one) for one in told.clauses):
        return "past"
    if said.directs and told.states and not (told.denies and kind is AtomKind.CONSTRAINT):
        return "states"
    is_task = kind in TASKS
    if is_task and told.has(SOLVED) and not said.has(SOLVED):
        return "done"
    tells = is_task and TELLS.search(first.text) and not said.has(TELLS)
    return "done" if tells else ""


def _done(said: Statement, one: Clause) -> bool:
    """Whether a clause tells as done what a statement demands: stopped for stop."""
    for word in told_as_done(one.text):
        wanted = said.words.get(concept(word))
        if wanted is not None and not wanted.text.lower().endswith("ed"):
            return True
    return False


def _by_scope(said: Statement, told: Passage) -> str:
    """Whether it holds for less, for another time, or undoes the thing."""
    first = told.clauses[0]
    begins = concept(first_word(first.text))
    undoes = begins in _UNDOES and not first.denies and not said.denies
    if undoes and concept(first_word(said.clauses[0].text)) != begins:
        return "undoes"
    if said.has(ENDS) and not told.has(UNTIL):
        return "until"
    if told.has(SINGLE) and not said.has(SINGLE) and said.has(EVERY):
        return "one of all"
    core = set(map(id, said.core))
    if any(_crossed(one, told, in_core=id(one) in core) for one in said.clauses):
        return "crossed"
    return "half" if _half(said, told) else ""


def _crossed(clause: Clause, told: Passage, *, in_core: bool) -> bool:
    """Whether the words of a clause stand in the passage, but in things said of others."""
    solid = {key: word for key, word in clause.words.items() if word.weight >= 1.0}
    if len(solid) < 2 or share(solid, told.words) < _TOGETHER:
        return False
    return all(
        share(solid, one.all_words if in_core else one.words) < _TOGETHER for one in told.clauses
    )


def _half(said: Statement, told: Passage) -> bool:
    """Whether a passage names some things of a list and leaves out others."""
    for one in said.core:
        for found in _LIST.finditer(f": {one.text}" if one.topic else one.text):
            keys = {concept(part.lower()) for part in _JOINS.split(found.group().strip())}
            solid = [k for k in keys if k in said.words and said.words[k].weight >= 1.0]
            named = sum(key in told.words for key in solid)
            if len(solid) > 1 and 0 < named < len(solid):
                return True
    return False


def of_another(
    clause: Clause, wanted: Mapping[str, Word], one: Clause, said: Statement, told: Passage
) -> str:
    """Whether a clause of a passage, for all it shares, is of another thing or another act."""
    lacks = [
        (key, word.text)
        for key, word in wanted.items()
        if said.words.get(key, word).weight >= 1.0 and not has(key, told.whole)
    ]
    gone = [text for _, text in lacks]
    come = [w.text for key, w in one.words.items() if w.weight >= 1.0 and key not in said.words]
    if come and said.has(EVERY) and not EVERY.search(one.text):
        return f"only of {come}"
    if (DELETES in wanted) != (DELETES in one.words):
        if DELETES in wanted and USES.search(one.text):
            return "uses"
        if not one.denies and "keep" not in one.marks:
            return "deletes"
    # What a clause only points back to may be left out where nothing else takes its place.
    things = [text for key, text in lacks if key in clause.words and not is_verb(text)]
    if things or (gone and come):
        return f"without {things or gone}"
    if one.words.keys() & _SETTING_APART - said.words.keys():
        return "set apart"
    if (one.words.keys() - said.words.keys()) & _UNDOES and not one.denies:
        return "undoes"
    return "contrary" if _contrary(clause, one) or _turned(clause, one) else ""


def has(key: str, words: Collection[str]) -> bool:
    """Whether a word is among these, or a path by its end."""
    return key in words or ("/" in key and any(key.endswith("/" + other) for other in words))


def _contrary(clause: Clause, one: Clause) -> bool:
    table = antonyms()
    theirs, mine = one.all_words, clause.all_words
    extra = theirs.keys() - mine.keys()
    return any(not extra.isdisjoint(table.get(key, ())) for key in clause.words.keys() - theirs)


def _turned(clause: Clause, one: Clause) -> bool:
    """Whether what comes first comes last."""
    if clause.order is None or one.order is None:
        return False
    return bool(clause.order[0] & one.order[1] or clause.order[1] & one.order[0])


def same_sign(clause: Clause, one: Clause) -> bool:
    """Whether both forbid or both do not; that a thing stays forbids to change it."""
    if clause.denies == one.denies:
        return not any(
            "keep" in keeps.marks and not keeps.denies and other.words.keys() & CHANGES
            for keeps, other in ((clause, one), (one, clause))
        )
    keeps, other = (clause, one) if "keep" in clause.marks else (one, clause)
    changes = not other.words.keys().isdisjoint(CHANGES)
    return "keep" in keeps.marks and not keeps.denies and other.denies and changes
