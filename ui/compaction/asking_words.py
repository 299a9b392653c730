"""How a compaction that asks first is put into words."""

from __future__ import annotations

from typing import NamedTuple

from explorer.work.auto_compaction.confirmation import Question
from ui.widgets.figures import round_short, short


class Asked(NamedTuple):
    """Sentences and names of buttons for one question."""

    short: str
    """For one line."""
    what: str
    then: str
    compact: str
    compact_tip: str
    review: str
    review_tip: str
    not_now_tip: str
    until: str


_REVIEW = "Compact with &changes…"
_REVIEW_TIP = (
    "Change cut, rules or instructions, summarize, read and edit the summary; Commit lets the turn"
    " go on"
)
_WAITS = "The turn waits, and nothing is sent meanwhile. Cut and instructions below count."


def asked_words(question: Question) -> Asked:
    """What is asked for one question."""
    if question.trigger == "background":
        return _ready(question)
    figures = f"{short(question.tokens)} of {round_short(question.window)} tokens"
    tip = "Compact with the cut and the instructions as they are, and let the turn go on"
    if question.trigger == "overflow":
        return Asked(
            "Larger than the model's window: compact?",
            f"The model refused the request: it is larger than its window. ({figures})", _WAITS,
            "&Compact", tip, _REVIEW, _REVIEW_TIP,
            "Leave it; the turn fails, since its request does not fit", "at the next message",
        )  # fmt: skip
    if question.trigger == "prompt":
        return Asked(
            "Larger than the prompt's budget: compact?",
            f"The prompt does not fit its budget: {figures}.",
            "The turn waits, and nothing is sent meanwhile.",
            "&Compact", "Summarize the older rounds, and let the turn go on", _REVIEW, _REVIEW_TIP,
            "Leave it; the oldest history is left out of the prompt instead", "at the next message",
        )  # fmt: skip
    over = f"{figures}, compaction is due above {round_short(question.threshold)}"
    return Asked(
        f"Too full ({short(question.tokens)} of {round_short(question.window)}): compact?",
        f"The context is too full: {over}.", _WAITS, "&Compact", tip, _REVIEW, _REVIEW_TIP,
        "Leave it for now, and let the turn go on with all of the context", "at the next message",
    )  # fmt: skip


def _ready(question: Question) -> Asked:
    """A summary that was made ahead."""
    figures = f"{short(question.tokens)} of {round_short(question.window)} tokens"
    return Asked(
        "The summary made ahead is ready: apply it?",
        f"A summary that was made ahead is ready ({figures} are taken).",
        "The turn waits. The summary takes the place of the older rounds once it is applied.",
        "&Apply", "Put the summary in the place of what it tells, and let the turn go on",
        "Read and &edit…", "Read the summary, change it, and commit it; that lets the turn go on",
        "Throw the summary away, and let the turn go on with all of the context",
        "at the next message",
    )  # fmt: skip
