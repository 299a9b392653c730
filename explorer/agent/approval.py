"""Permission: what a tool may do without asking, and the question to the person otherwise.

A pattern names what is allowed without a question: ``bash(pytest *)`` a command by its first
words, ``edit(src/**)`` the files below a folder. Only a person can allow, and a command that does
more than its patterns say is always asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from explorer.models.cancel import CancelToken
from explorer.models.request import ToolCall

ApprovalMode = Literal["ask", "read-only", "yes"]
"""``ask`` the person first; ``read-only`` offers no tool that changes things; ``yes`` to all."""
ApprovalKind = Literal["write", "edit", "command"]
ApprovalChoice = Literal["once", "session", "always", "deny"]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A question to the person: may this call do what it is about to do?"""

    call: ToolCall
    kind: ApprovalKind
    title: str
    """What is asked, as a sentence without a full stop."""
    path: str = ""
    """The file that changes, relative to the workspace; empty for a command."""
    diff: str = ""
    """What changes in it, as a unified diff; empty for a command."""
    command: str = ""
    """The command line; empty for a file."""
    folder: str = ""
    """The folder that a command starts in, and that a file lies below: the workspace."""
    pattern: str = ""
    """What ``session`` and ``always`` would allow from now on, as ``agent.allow`` spells it;
    empty where only this one call can be allowed."""
    notice: str = ""
    """What a person ought to know before answering, as sentences."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """What the person said. ``session`` and ``always`` allow ``pattern``, or the request's where
    that is empty; ``note`` tells the model why it was denied."""

    choice: ApprovalChoice
    pattern: str = ""
    note: str = ""


class Approver(Protocol):
    """Asks the person; questions come one after the other."""

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        """The answer. Raises Cancelled when the turn is stopped while it waits."""


class AllowList(Protocol):
    """Where patterns are kept that are always allowed."""

    def patterns(self) -> Sequence[str]:
        """Those that hold now."""

    def add(self, pattern: str) -> None:
        """Keep one more. Raises OSError when it cannot be kept."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a call may run; ``reason`` tells the model why not."""

    allowed: bool
    reason: str = ""
