"""Answers of a summarizer: checked, merged, and finished with the files (A20, A28, B12)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from explorer.compaction.prepare import Preparation
from explorer.compaction.profile import Profile
from explorer.tokens.estimate import estimate_text

SPLIT_HEADING = "**Turn Context (split turn):**"
EARLIER_HEADING = "**Earlier turn context:**"
"""What the heading becomes when a summary that holds one is carried into the next (E20)."""

_FILE_BLOCK = re.compile(
    r"\s*^<(read-files|modified-files|failed-files)>\n.*?^</\1>[ \t]*$", re.DOTALL | re.MULTILINE
)
_HEADING = re.compile(r"^#{1,3}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_CUT_SHORT = frozenset({"length", "max_tokens", "max_output_tokens", "MAX_TOKENS"})
_NOT_AN_ANSWER = {
    "error": "The summarizer reported an error.",
    "aborted": "The summarizer was stopped before it had finished.",
    "content_filter": "The provider's filter withheld the answer.",
    "refusal": "The model refused to answer.",
    "toolUse": "The model called a tool instead of answering.",
    "tool_calls": "The model called a tool instead of answering.",
}


class AnswerProblem(NamedTuple):
    """Why an answer must not be stored."""

    code: str
    """``empty``, ``cut-short``, ``failed``, ``too-large``, ``missing`` or ``repeated``."""
    message: str


def check_answer(
    text: str,
    stop_reason: str,
    *,
    profile: Profile | None = None,
    input_tokens: int | None = None,
    answer_tokens: int | None = None,
    required_sections: Sequence[str] = (),
) -> AnswerProblem | None:
    """What is wrong with an answer, or None (B12, E5, E16, E20).

    ``input_tokens``: what the summary replaces, on the same metric as ``answer_tokens`` (default:
    the estimate). ``required_sections``: headings that must appear, compared without case. A
    profile whose answers are stored as they come gets None always.
    """
    if profile is not None and profile.answers == "stored":
        return None
    if stop_reason in _NOT_AN_ANSWER:
        return AnswerProblem("failed", _NOT_AN_ANSWER[stop_reason])
    if not text.strip():
        return AnswerProblem("empty", "The summarizer's answer is empty.")
    if stop_reason in _CUT_SHORT:
        return AnswerProblem(
            "cut-short", "The answer was cut short at its length limit: its end is missing."
        )
    taken = estimate_text(text) if answer_tokens is None else answer_tokens
    if input_tokens is not None and taken >= input_tokens:
        return AnswerProblem(
            "too-large",
            f"The summary takes {taken} tokens and replaces {input_tokens}: nothing is gained.",
        )
    return _check_sections(text, required_sections)


def _check_sections(text: str, required: Sequence[str]) -> AnswerProblem | None:
    counts = Counter(heading.casefold() for heading in _HEADING.findall(text))
    missing = [name for name in required if name.casefold() not in counts]
    if missing:
        return AnswerProblem("missing", f"Sections are missing: {', '.join(missing)}.")
    repeated = [name for name in required if counts[name.casefold()] > 1]
    if repeated:
        return AnswerProblem("repeated", f"Sections appear more than once: {', '.join(repeated)}.")
    return None


def merge_summaries(history: str, prefix: str) -> str:
    """The summary of the history and that of a split turn's first part, as one (A20)."""
    if not prefix:
        return history
    turn = f"{SPLIT_HEADING}\n\n{prefix}"
    return f"{history}\n\n---\n\n{turn}" if history else turn


def footer(read: Sequence[str], modified: Sequence[str], failed: Sequence[str] = ()) -> str:
    """The file lists that end a summary (A28), with the blank line before them; empty for none.

    ``failed``: files that only failed calls named (B17).
    """
    blocks = [
        f"<{name}-files>\n{chr(10).join(files)}\n</{name}-files>"
        for name, files in (("read", read), ("modified", modified), ("failed", failed))
        if files
    ]
    return "".join(f"\n\n{block}" for block in blocks)


def strip_files(text: str) -> str:
    """A summary without its file lists."""
    return _FILE_BLOCK.sub("", text) if "-files>" in text else text


def finish(
    preparation: Preparation,
    history: str,
    prefix: str = "",
    previous_summary: str | None = None,
) -> str:
    """The summary as it is stored: the answers merged, the files at the end.

    An empty ``history`` means that none was asked for; in the corrected profile the previous
    summary then stands in its place, word for word (B7, E2).
    """
    profile = preparation.profile
    if profile.prefix_only == "carry":
        if not history and previous_summary:
            history = previous_summary
        history = strip_files(history).strip().replace(SPLIT_HEADING, EARLIER_HEADING)
        prefix = strip_files(prefix).strip()
    text = merge_summaries(history, prefix)
    return text + footer(
        preparation.read_files, preparation.modified_files, preparation.failed_files
    )


def details(
    read: Sequence[str], modified: Sequence[str], failed: Sequence[str] = ()
) -> dict[str, Any]:
    """The ``details`` of a stored summary (A1, A2)."""
    found: dict[str, Any] = {"readFiles": list(read), "modifiedFiles": list(modified)}
    if failed:
        found["failedFiles"] = list(failed)
    return found
