"""Questions about the conversation itself, answered out of it."""

from __future__ import annotations

import re
from collections.abc import Callable

from explorer.models.offline.demo.looking import path_in
from explorer.models.offline.extractive.statement import Kind
from explorer.models.offline.extractive.summarize import recall
from explorer.models.request import ChatMessage

_ABOUT: tuple[tuple[re.Pattern[str], tuple[Kind, ...], str], ...] = (
    (
        re.compile(
            r"\b(?:constraints?|rules?|requirements?|preferences?|not\s+allowed|limits?)\b", re.I
        ),
        (Kind.CONSTRAINT, Kind.PREFERENCE),
        "What you asked me to keep to",
    ),
    (
        re.compile(r"\b(?:decid\w*|decisions?|cho(?:o)?se\w*|chosen|choices?|agreed?)\b", re.I),
        (Kind.DECISION,),
        "What was decided",
    ),
    (
        re.compile(r"\b(?:errors?|fail\w*|went\s+wrong|problems?|broken|blocked)\b", re.I),
        (Kind.ERROR, Kind.BLOCKED, Kind.FINDING),
        "What went wrong",
    ),
    (
        re.compile(
            r"\b(?:next|left|remaining|todo|open\s+(?:tasks?|work)|still\s+to\s+do)\b", re.I
        ),
        (Kind.NEXT, Kind.DOING),
        "What lies ahead",
    ),
    (
        re.compile(r"\b(?:done|finished|completed|progress|changed|so\s+far)\b", re.I),
        (Kind.DONE,),
        "What was reported as done",
    ),
    (
        re.compile(r"\b(?:goal|task|ask(?:ed)?|request|working\s+on|trying\s+to)\b", re.I),
        (Kind.GOAL, Kind.REQUEST),
        "What you asked for",
    ),
)
_TALKS_OF_TALK = re.compile(
    r"\b(?:we|you|i|our|my|us)\b.*\?|\b(?:remind|recap|summari[sz]e|remember|recall)\b"
    r"|^\W*(?:what|which|list)\b.*\b(?:constraints?|rules?|decisions?|requirements?|steps?)\b",
    re.IGNORECASE,
)


def from_conversation(
    question: str, earlier: tuple[ChatMessage, ...], cancelled: Callable[[], bool]
) -> str | None:
    """An answer out of the messages before; None when the question is about something else."""
    if not _TALKS_OF_TALK.search(question) or path_in(question):
        return None
    for pattern, kinds, title in _ABOUT:
        if pattern.search(question):
            found = recall(earlier, kinds, cancelled)
            if not found:
                return f"{title}: nothing in this conversation says."
            return "\n".join([f"{title}:", "", *(f"- {line}" for line in found[:20])])
    return None
