"""Permission: what a tool may do without asking, and the question to the person otherwise.

A pattern names what is allowed without a question: ``bash(pytest *)`` a command by its first
words, ``edit(src/**)`` the files below a folder. Only a person can allow, and a command that does
more than its patterns say is always asked about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from explorer.agent.allow_patterns import Pattern, allows_command, allows_file, pattern_of
from explorer.models.events import Cancelled, CancelToken
from explorer.models.request import ToolCall

ApprovalMode = Literal["ask", "read-only", "yes"]
"""``ask`` the person first; ``read-only`` offers no tool that changes things; ``yes`` to all but
the files of ``is_protected``. A command may change those too where ``yes`` or a pattern lets it
run: commands are not confined to any path."""
ApprovalKind = Literal["write", "edit", "command"]
ApprovalChoice = Literal["once", "session", "always", "deny"]


class ApprovalRequest(Struct, frozen=True):
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
    """Warnings to show before the user decides, as sentences."""
    protected: bool = False
    """Whether only an answer about this very file allows it: no mode and no pattern does."""


class ApprovalAnswer(Struct, frozen=True):
    """The user's decision. ``session`` and ``always`` allow ``pattern``, or the request's where
    that is empty; one that ``pattern_of`` does not understand allows this one call. ``note`` tells
    the model why it was denied."""

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
        """The patterns that apply now."""

    def add(self, pattern: str) -> None:
        """Keep one more. Who keeps it tells the person when that fails; nothing is raised, and
        it holds for this session all the same."""


class ApprovalVerdict(Struct, frozen=True):
    """Whether a call may run; ``reason`` tells the model why not."""

    allowed: bool
    reason: str = ""


class NoAllowList:
    """An allow list that is empty and stores nothing."""

    def patterns(self) -> Sequence[str]:
        return ()

    def add(self, pattern: str) -> None:
        return None


class Approvals:
    """Decides what may run: by the mode, by what was allowed, by asking. Lives as long as the
    session is open, so that ``this session`` means it. Used on one loop."""

    def __init__(
        self,
        mode: ApprovalMode = "ask",
        granted: Iterable[str] = (),
        always: AllowList | None = None,
        approver: Approver | None = None,
    ) -> None:
        """``granted``: patterns for this session alone. Raises ValueError for one that is none."""
        self.mode: ApprovalMode = mode
        self.approver = approver
        self._granted = [pattern_of(text) for text in granted]
        self._always: AllowList = always or NoAllowList()
        self._same: set[tuple[str, str]] = set()
        self._asking = asyncio.Lock()

    @property
    def granted(self) -> tuple[str, ...]:
        """The patterns that are allowed in this session."""
        return tuple(str(pattern) for pattern in self._granted)

    async def decide(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalVerdict:
        """Whether it may run. Asks where nothing else decides, one question at a time."""
        if verdict := self._known(request):
            return verdict
        async with self._asking:
            # The answer to the question before may have settled this one.
            if verdict := self._known(request):
                return verdict
            if cancel.cancelled:
                return ApprovalVerdict(False, "stopped by the person before it ran")
            if self.approver is None:
                return ApprovalVerdict(
                    False, f"nobody is there to allow it; nothing was done{_why(request)}"
                )
            try:
                answer = await self.approver.ask(request, cancel)
            except Cancelled:
                return ApprovalVerdict(False, "stopped by the person before it ran")
            return self._taken(request, answer)

    def _known(self, request: ApprovalRequest) -> ApprovalVerdict | None:
        if self.mode == "read-only":
            return ApprovalVerdict(False, "only tools that look may be used now; nothing was done")
        if _sameness(request) in self._same:
            return ApprovalVerdict(True)
        if not request.protected and (self.mode == "yes" or self._is_allowed(request)):
            return ApprovalVerdict(True)
        return None

    def _is_allowed(self, request: ApprovalRequest) -> bool:
        patterns = [*self._granted, *_understood(self._always.patterns())]
        if request.kind == "command":
            return allows_command(patterns, request.command)
        return allows_file(patterns, request.path)

    def _taken(self, request: ApprovalRequest, answer: ApprovalAnswer) -> ApprovalVerdict:
        if answer.choice == "deny":
            reason = f"the person did not allow it; nothing was done{_why(request)}"
            return ApprovalVerdict(
                False, f"{reason}. They say: {answer.note}" if answer.note else reason
            )
        text = (answer.pattern or request.pattern).strip()
        known = _understood([text])
        if answer.choice in ("session", "always") and known:
            self._granted += known
            if answer.choice == "always":
                self._always.add(text)
        elif answer.choice == "session" and not text:
            self._same.add(_sameness(request))
        return ApprovalVerdict(True)


def _why(request: ApprovalRequest) -> str:
    """Why it was asked about although everything else is allowed; empty where it is as usual."""
    if not request.protected:
        return ""
    return f". {request.path} is changed only when a person allows just that, in every mode"


def _sameness(request: ApprovalRequest) -> tuple[str, str]:
    """What makes a request the same as another where no pattern speaks of it."""
    if request.kind == "command":
        return ("command", request.command)
    return ("file", request.path)


def _understood(patterns: Iterable[str]) -> list[Pattern]:
    """Kept patterns that are some; one that was spoiled by hand allows nothing."""
    found = []
    for text in patterns:
        try:
            found.append(pattern_of(text))
        except ValueError:
            continue
    return found
