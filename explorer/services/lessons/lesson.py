"""What a lesson is made of, as its file has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

Kind = Literal["entry", "cut", "choose", "number"]
KINDS: tuple[Kind, ...] = ("entry", "cut", "choose", "number")
"""How a prediction is made: an entry pointed at, the cut moved, options chosen, a number typed."""

CutShown = Literal["hidden", "after", "line", "shown"]
CUTS: tuple[CutShown, ...] = ("hidden", "after", "line", "shown")

PARTS = (
    "map", "context", "gauge", "compaction", "budget", "sizes", "ledger", "instructions",
    "request", "findings", "entry", "conversation", "profile",
)  # fmt: skip
"""Parts of the window that a step can light."""

FIGURES = ("keep_recent", "reserve", "window", "at", "entries")
"""What stands for a figure of the place in a step's words, between braces: sizes in tokens, the
entry at which a compaction is previewed, and the tokens of all entries in the context."""

DEFAULT_TOLERANCE = 10
"""Per cent that a typed number may be away from the answer."""


class Step(Struct, frozen=True):
    """One thing to look at, and mostly one prediction."""

    title: str
    text: str
    """One or two sentences, with ``[[terms]]``, **strong** words, `code` and ``FIGURES``."""
    after: str = ""
    """Said once the answer is shown."""
    light: str = "map"
    """One of ``PARTS``."""
    then: str = ""
    """What is lit with the answer; empty: the same."""
    kind: Kind | None = None
    """None: there is nothing to predict."""
    answer: str = ""
    """The name of the answer, in ``answers.ANSWERS``."""
    options: Mapping[str, str] = field(default_factory=dict)
    """What can be chosen, by the ids that the answer knows; empty: the answer names them."""
    several: bool = False
    """Whether more than one option may be chosen."""
    tolerance: int = DEFAULT_TOLERANCE
    """Per cent."""
    place: str = ""
    """A place of its own, in ``places.PLACES``; empty: the lesson's."""
    cut: CutShown = "hidden"
    """When the cut is on the map: never, with the answer, all the time but without what becomes of
    the entries, or all the time."""
    sums: bool = False
    """Whether each row of the map has the sum of tokens from it to the newest entry."""
    line: int = 0
    """Where it starts in its file."""


class Lesson(Struct, frozen=True):
    """A few steps on one subject."""

    id: str
    title: str
    about: str
    """One sentence for the list."""
    minutes: int
    place: str
    """Where it can be run, in ``places.PLACES``."""
    steps: tuple[Step, ...]
    number: int = 0
    """Its place in the list; 0: after all that have one."""
    profile: str = ""
    """The rules that it is run under; empty: those of the session."""
    keep_recent: int = 0
    """Tokens; 0: as they are set."""
    source: str = ""
    """Its text, to be put into a bundle."""


class LessonMistake(Struct, frozen=True):
    """What is wrong in a lesson file."""

    line: int
    reason: str
