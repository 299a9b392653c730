"""One thing that was said, with what the ranking needs to know of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from explorer.models.offline.extractive.atoms import Atom


class Kind(Enum):
    """What a statement is for the one who goes on working."""

    GOAL = "goal"
    REQUEST = "request"
    LATEST = "latest request"
    CONSTRAINT = "constraint"
    PREFERENCE = "preference"
    DECISION = "decision"
    DONE = "done"
    DOING = "in progress"
    BLOCKED = "blocked"
    ERROR = "error"
    NEXT = "next"
    FINDING = "finding"
    FACT = "fact"
    COMMAND = "command"
    FILE = "file"
    OUTPUT = "output"


class Speaker(Enum):
    """Whose words they are."""

    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    CALL = "call"
    RESULT = "result"
    SUMMARY = "summary"


@dataclass(slots=True)
class Statement:
    """A sentence, line or list item. `order` rises with time over the whole session.

    `age` is 0 at the end of the conversation and 1 at its beginning, and before it for what comes
    from an earlier summary. `firm`: a rule that binds, a request that names a goal, a file that
    was changed, a command that did something. `solved`: a failure that a later run of the same
    did not show. `wanted`: the person asked to keep such things word for word. `fresh`: said in
    the last messages of the person. `worth` is set by the ranking. `dropped` says why it no
    longer counts, empty while it does.
    """

    text: str
    kind: Kind
    speaker: Speaker
    order: int
    age: float = 0.0
    atoms: tuple[Atom, ...] = ()
    terms: frozenset[str] = frozenset()
    firm: bool = False
    noted: bool = False
    inherited: bool = False
    solved: bool = False
    wanted: bool = False
    fresh: bool = False
    worth: float = 0.0
    dropped: str = ""
    keys: frozenset[str] = field(default_factory=frozenset)

    @property
    def alive(self) -> bool:
        """Whether it still holds."""
        return not self.dropped
