"""How a draft was made, in words: every call, why it was made, and what became of its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from explorer.models.catalogue import REMOTE
from ui.widgets.figures import count, full

PURPOSES = {
    "history": "History",
    "turn_prefix": "Split turn",
    "branch": "Branch",
    "short": "Short summary",
    "verify": "Check and mend",
}
WHY = {
    "first": "asked",
    "retry": "asked again",
    "next-model": "asked another model",
    "reminder": "reminded of what was missing",
    "window": "asked about a part",
    "halved": "asked about a smaller part",
}
TRIGGERS = {
    "manual": "A person asked for it.",
    "requested": "A person asked for it while the agent was answering.",
    "threshold": "The context had grown beyond its limit.",
    "overflow": "The model had refused a context that was too large.",
    "background": "It was made ahead, while the agent worked on.",
    "foreground": "The prompt did not fit its budget any more.",
}


class Usage(Protocol):
    """Tokens as a provider reported them."""

    @property
    def input(self) -> int:
        """Read."""

    @property
    def output(self) -> int:
        """Written."""


class MadeBy(Protocol):
    """One call to a summarizer."""

    @property
    def purpose(self) -> str:
        """What was asked for."""

    @property
    def why(self) -> str:
        """Why the call was made."""

    @property
    def model(self) -> str:
        """Who was asked."""

    @property
    def window(self) -> int:
        """Which part of a long conversation, from 1; 0 for all of it."""

    @property
    def usage(self) -> Usage | None:
        """Tokens, where they were reported."""

    @property
    def elapsed_ms(self) -> float:
        """How long it took."""

    @property
    def waited_s(self) -> float:
        """How long was waited before it."""

    @property
    def problem(self) -> str:
        """Why the answer was not taken; empty when it was."""


class Step(NamedTuple):
    """A call as it is shown."""

    what: str
    by: str
    took: str
    problem: str


def asker(model: str) -> str:
    """Who was asked, for people."""
    return "the service of your own" if model == REMOTE else model


def step(made: MadeBy) -> Step:
    """A call in words."""
    part = f", part {made.window}" if made.window else ""
    waited = f" after {made.waited_s:.1f} s" if made.waited_s >= 0.05 else ""
    what = f"{PURPOSES.get(made.purpose, made.purpose)}{part}: {WHY.get(made.why, made.why)}"
    took = [f"{made.elapsed_ms / 1000:.1f} s"]
    if made.usage is not None:
        took.append(f"{full(made.usage.input)} in, {full(made.usage.output)} out")
    return Step(what + waited, asker(made.model), " · ".join(took), made.problem)


def headline(attempts: Sequence[MadeBy], asked_of_extensions: int = 0) -> str:
    """All of it in a line, for where it is folded."""
    parts = [count(len(attempts), "call")] if attempts else []
    again = sum(each.why == "retry" for each in attempts)
    reminded = sum(each.why == "reminder" for each in attempts)
    models = len({each.model for each in attempts})
    windows = max((each.window for each in attempts), default=0)
    if again:
        parts.append(f"{full(again)} again")
    if reminded:
        parts.append(f"{full(reminded)} reminded")
    if models > 1:
        parts.append(count(models, "model"))
    if windows > 1:
        parts.append(f"in {full(windows)} parts")
    if asked_of_extensions:
        parts.append("extensions asked")
    return "How it was made" + (f": {', '.join(parts)}" if parts else "")


def origin(facts: Mapping[str, Any]) -> str:
    """What set it off, and who wrote it when no model did; empty when nothing is recorded."""
    words = [TRIGGERS.get(str(facts.get("trigger", "")), "")]
    if by := facts.get("from_extension"):
        words.append(f"The extension {by} wrote it; no model was asked.")
    return " ".join(word for word in words if word)
