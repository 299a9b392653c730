"""A prediction beside the engine's answer: whether they agree, and how far apart they are."""

from __future__ import annotations

from msgspec import Struct

from explorer.services.lessons.answer import Answer
from explorer.services.lessons.lesson import Step
from explorer.services.lessons.situation import Situation


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
        return Judged(True, f"You pointed at #{entry}, which is right{one_of}.")
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
        return Judged(True, f"Your cut lies before #{entry}, which is right.")
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
        return Judged(True, f"You chose {right}, which is right.")
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
