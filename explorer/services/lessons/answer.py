"""The engine's answer to a prediction: the place that it is about, and whether the two agree."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.profile.rules import Pruning
from explorer.compaction.reasons import tokens_text
from explorer.compaction.triggers import fitted
from explorer.services.document import Document
from explorer.services.lessons.lesson import Kind, Step
from explorer.session.context import PathContext, context_at
from explorer.session.partly_compared import PartlyCompared
from explorer.session.tree import SessionTree


class Place(Struct, frozen=True):
    """Where in a session a lesson runs, and under which rules."""

    at: int
    """The entry at which a compaction is previewed."""
    profile: Profile
    settings: Settings
    sentence: str
    """Where that is, for the person."""
    target: int = -1
    """Where the branch that ends at ``at`` is left for; -1 where no branch is left."""
    instruction: int = -1
    """An entry with a standing instruction that would be summarized, or -1."""
    pruning: Pruning | None = None
    """The rules that old tool results are pruned by, where the lesson is about that."""


class Situation(Struct, frozen=True):
    """What the engine makes of a place. Nothing in it is changed."""

    document: Document
    place: Place
    shown: Partition
    context: PathContext

    def filled(self, words: str) -> str:
        """The words of a step with the figures of this place in them."""
        settings = fitted(self.place.profile, self.place.settings)
        figures = {
            "keep_recent": f"{settings.keep_recent_tokens:,}",
            "reserve": f"{settings.reserve_tokens:,}",
            "window": f"{settings.context_window:,}",
            "at": f"#{self.place.at}",
            "entries": f"{self.shown.context_estimate:,}",
        }
        for name, figure in figures.items():
            words = words.replace(f"{{{name}}}", figure)
        return words

    @property
    def tree(self) -> SessionTree:
        """The session's tree."""
        return self.document.tree

    @property
    def whole_cuts(self) -> list[int]:
        """Valid cuts at which no turn is split and something lies before. Raises NoAnswer."""
        made = self.made
        view, start = made.cuts.view, made.boundary
        return [
            at
            for at in self.shown.valid_cuts
            if view.weight(start, at) and not made.cuts.at(start, at).is_split_turn
        ]

    @property
    def made(self) -> Preparation:
        """The compaction that can be done here. Raises NoAnswer where none can."""
        prepared = self.shown.preparation
        if isinstance(prepared, Preparation):
            return prepared
        raise NoAnswer(prepared.reason)


class NoAnswer(Exception):
    """The engine has no answer to this here; the message says why."""


def situation_at(document: Document, place: Place) -> Situation:
    """The situation at a place; pure."""
    shown = document.compaction.preview(place.at, place.profile, place.settings)
    return Situation(document, place, shown, context_at(document.tree, place.at))


class Answer(PartlyCompared, frozen=True):
    """One of entries, cuts, options or a number is the answer, by the kind of the prediction."""

    UNCOMPARED = frozenset({"explain"})

    reason: str
    """Why, in sentences with the engine's figures."""
    entries: tuple[int, ...] = ()
    """Every entry that is right; the first one is shown."""
    cuts: tuple[int, ...] = ()
    """Positions of the path at which the cut is right."""
    number: int = 0
    unit: str = "tokens"
    chosen: frozenset[str] = frozenset()
    """The ids of the options that are right."""
    options: tuple[tuple[str, str], ...] = ()
    """Ids and words, where the session decides what can be chosen."""
    show: int = -1
    """An entry to select with the answer; -1: the first of ``entries``, if any."""
    settings: Settings | None = None
    """Sizes that are shown in the window with the answer; None: those of the place."""
    explain: Callable[[int], str] | None = None
    """Why an entry is, or is not, among them."""

    @property
    def selected(self) -> int:
        """The entry to select with the answer, or -1."""
        return self.show if self.show >= 0 else self.entries[0] if self.entries else -1

    @property
    def number_text(self) -> str:
        """The number with its unit."""
        return f"{self.number:,} {self.unit}"


class KnownAnswer(Struct, frozen=True):
    """An answer by its name."""

    find: Callable[[Situation], Answer]
    """Raises NoAnswer. May read entries: for a worker thread."""
    kinds: tuple[Kind, ...]
    """The kinds of prediction that it answers."""
    about: str
    """What it is the answer to, for who writes a lesson."""
    ids: tuple[str, ...] = ()
    """The options that it knows, where a lesson gives their words."""


def verdict_of(now: Situation, entry: int) -> str:
    """What becomes of an entry at the place of the lesson, in a sentence."""
    position = now.shown.path.position(entry)
    if position < 0:
        return f"#{entry} is on another branch: it is not on the path to #{now.place.at}."
    return now.shown.reason(position)


def size_of(now: Situation, entry: int) -> str:
    """The tokens of an entry, in words."""
    return f"{tokens_text(now.document.tokens.entry_tokens(entry, now.place.profile))} tokens"


class Prediction(Struct, frozen=True):
    """What was pointed at, chosen or typed; one of these, by the step's kind."""

    entry: int = -1
    cut: int = -1
    """A position on the path."""
    chosen: frozenset[str] = frozenset()
    number: int = -1


class Judged(Struct, frozen=True):
    """How a prediction compares."""

    is_right: bool
    difference: str
    """In a sentence or two."""


def options_of(step: Step, answer: Answer) -> tuple[tuple[str, str], ...]:
    """What can be chosen, with its words: the lesson's, else those of the session."""
    return tuple(step.options.items()) or answer.options


def judge(step: Step, answer: Answer, predicted: Prediction, now: Situation) -> Judged:
    """Compare a prediction with the answer. ``step.kind`` must not be None."""
    if step.kind == "entry":
        return _entry(answer, predicted.entry)
    if step.kind == "cut":
        return _cut(answer, predicted.cut, now)
    if step.kind == "number":
        return _number(step, answer, predicted.number)
    return _chosen(step, answer, predicted.chosen)


def _entry(answer: Answer, entry: int) -> Judged:
    why = answer.explain(entry) if answer.explain is not None else ""
    if entry in answer.entries:
        one_of = f", one of {len(answer.entries):,}" * (len(answer.entries) > 1)
        return Judged(True, f"You pointed at #{entry}{one_of}.")
    right = f"#{answer.entries[0]}"
    away = abs(entry - answer.entries[0])
    if len(answer.entries) > 1:
        why = f"{why} ".lstrip()
        return Judged(False, f"You pointed at #{entry}. {why}One that is right is {right}.")
    where = "further down" if entry > answer.entries[0] else "further up"
    difference = f"You pointed at #{entry}; the right one is {right}. Yours is {away:,} {where}."
    return Judged(False, f"{difference} {why}".strip())


def _cut(answer: Answer, cut: int, now: Situation) -> Judged:
    path = now.shown.path
    entry = path[cut]
    if cut in answer.cuts:
        return Judged(True, f"Your cut lies before #{entry}.")
    right = path[answer.cuts[0]]
    why = answer.explain(entry) if answer.explain is not None else ""
    return Judged(
        False,
        f"Your cut lies before #{entry}; one that is right lies before #{right}. {why}".strip(),
    )


def _number(step: Step, answer: Answer, number: int) -> Judged:
    away = abs(number - answer.number)
    allowed = answer.number * step.tolerance / 100
    if away == 0:
        return Judged(True, f"You predicted {number:,}, and that is it exactly.")
    share = f"{100 * away / answer.number:.0f} %" if answer.number else f"{away:,}"
    more = "more" if number > answer.number else "less"
    words = f"You predicted {number:,}; it is {answer.number_text}"
    if away <= allowed:
        return Judged(True, f"{words}. Close enough: {share} {more}.")
    return Judged(False, f"{words}. That is {share} {more}.")


def _chosen(step: Step, answer: Answer, chosen: frozenset[str]) -> Judged:
    right = _listed(step, answer, answer.chosen)
    if chosen == answer.chosen:
        return Judged(True, f"You chose {right}.")
    yours = _listed(step, answer, chosen)
    return Judged(False, f"You chose {yours}; the right choice is {right}.")


def _listed(step: Step, answer: Answer, ids: frozenset[str]) -> str:
    found = [f"“{text}”" for each, text in options_of(step, answer) if each in ids]
    return " and ".join(found) or "none of them"


def answer_words(step: Step, answer: Answer) -> str:
    """The answer alone in words, for where nothing was predicted."""
    if step.kind == "number":
        return f"{answer.number_text}."
    if step.kind == "choose":
        return f"{_listed(step, answer, answer.chosen)}."
    return f"#{answer.entries[0]}." if answer.entries else ""
