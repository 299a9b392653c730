"""The terminal of a run without a window: questions for approval, and what is printed meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Literal, TextIO

from msgspec import Struct, field, to_builtins

from explorer.agent.approval import ApprovalAnswer, ApprovalRequest
from explorer.agent.tools.port import ToolOutcome
from explorer.agent.turn_interface import (
    RoundStarted,
    Steered,
    Stored,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEvent,
    TurnResult,
)
from explorer.commands.output import print_json
from explorer.models.client import (
    Cancelled,
    CancelToken,
    Silence,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallReady,
    UsageReport,
)
from explorer.models.retry import Retry
from explorer.services.changes import Change, CompactionEnded, CompactionStarted, PruneMade
from explorer.services.document import Document
from explorer.session.entries import Entry
from explorer.session.kinds import Kind
from explorer.session.visible_text import end_of, exact, folded, size_words, visible_line

CANNOT_ASK = (
    "nobody can be asked here; run again with --yes to allow changes and commands, or with"
    " --read-only to offer none"
)
CANNOT_ASK_FOR_THIS = "nobody can be asked here, and --yes does not allow this"
_CHOICES = "[y]es once, yes for this [s]ession, or [n]o? "
_MARGIN = 5
"""Columns that the mark of a line takes, and one that no terminal is sure of."""
_OTHER_LINES = 5
"""Lines of a question beside the command."""
_LONG_TEXT = 1000
"""Characters of which the end is shown again, however high the terminal is."""


class RefusingApprover:
    """Refuses, and says once for each reason what to do about it."""

    def __init__(self, print_line: Callable[[str], None]) -> None:
        self._print = print_line
        self._reported: set[str] = set()

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        """See ``Approver``."""
        why = CANNOT_ASK_FOR_THIS if request.protected else CANNOT_ASK
        if why not in self._reported:
            self._reported.add(why)
            self._print(f"{request.title}: refused, since {why}")
        return ApprovalAnswer("deny", note=why)


class TerminalApprover:
    """Shows what is to be done on standard error, and reads the answer from the terminal."""

    def __init__(self, print_line: Callable[[str], None], source: TextIO | None = None) -> None:
        self._print = print_line
        self._source = source or sys.stdin

    async def ask(self, request: ApprovalRequest, cancel: CancelToken) -> ApprovalAnswer:
        """See ``Approver``. Raises Cancelled."""
        for line in question_lines(request, _terminal_size()):
            self._print(line)
        allows = f" (allows {_on_one_line(request.pattern)})" if request.pattern else ""
        while True:
            sys.stderr.write(_CHOICES.replace("ession", f"ession{allows}"))
            sys.stderr.flush()
            match (await typed_line(self._source, cancel)).strip().lower():
                case "y" | "yes":
                    return ApprovalAnswer("once")
                case "s" | "session":
                    return ApprovalAnswer("session")
                case "n" | "no" | "":
                    return ApprovalAnswer("deny")
                case _:
                    self._print("Please answer y, s or n.")


async def typed_line(source: TextIO, cancel: CancelToken) -> str:
    """A line from the terminal. Raises Cancelled."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()

    def give_up() -> None:
        loop.call_soon_threadsafe(_resolve, answer, None)

    forget = cancel.add_callback(give_up)
    stop = _wait_for_line(loop, source, answer)
    try:
        return await answer
    finally:
        forget()
        stop()


def question_lines(request: ApprovalRequest, size: os.terminal_size) -> list[str]:
    """A question in lines for a terminal of that size: the whole command or diff, each line of it
    marked as such, and where it is long its size before and its end after it."""
    text = request.diff or f"$ {request.command}"
    shown = exact(text)
    body = [
        f"  {'┆' if number else '│'} {part}"
        for line in shown.split("\n")
        for number, part in enumerate(folded(line, max(20, size.columns - _MARGIN)))
    ]
    lines = [f"{_on_one_line(request.title)}?", *body]
    if request.notice:
        lines.append(f"  {_on_one_line(request.notice)}")
    if len(body) > size.lines - _OTHER_LINES or len(text) > _LONG_TEXT:
        lines.insert(1, f"  {size_words(text)}: all of it follows, then its end again.")
        lines.append(f"  It ends with: {end_of(shown)}")
    return lines


def _terminal_size() -> os.terminal_size:
    """The size of the terminal that the question is on."""
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
    except (OSError, ValueError):
        size = os.terminal_size((0, 0))
    return size if size.columns and size.lines else shutil.get_terminal_size()


def _on_one_line(text: str) -> str:
    return visible_line(exact(text))


def _wait_for_line(
    loop: asyncio.AbstractEventLoop, source: TextIO, answer: asyncio.Future[str]
) -> Callable[[], None]:
    """Begin to wait for a line; what is returned ends that."""
    try:
        loop.add_reader(source, lambda: _resolve(answer, source.readline()))
    except NotImplementedError:
        # A loop of Windows waits for no terminal; a thread does, and dies with the process.
        def wait() -> None:
            line = source.readline()
            loop.call_soon_threadsafe(_resolve, answer, line)

        threading.Thread(target=wait, daemon=True).start()
        return lambda: None

    def stop() -> None:
        loop.remove_reader(source)

    return stop


def _resolve(answer: asyncio.Future[str], line: str | None) -> None:
    """Give the line; None: the turn was stopped meanwhile."""
    if answer.done():
        return
    if line is None:
        answer.set_exception(Cancelled())
    else:
        answer.set_result(line)


OutputForm = Literal["text", "json", "events"]
"""``text`` for people, one ``json`` document at the end, or ``events`` as lines of JSON."""


class _RunSummary(Struct):
    """What is collected for the JSON document at the end."""

    rounds: int = 0
    tools: list[dict[str, Any]] = field(default_factory=list)
    compactions: list[int] = field(default_factory=list)


class RunOutput:
    """Prints one run: the answer to standard output, everything else to standard error."""

    def __init__(self, form: OutputForm, document: Document) -> None:
        self._form = form
        self._document = document
        self._out = sys.stdout
        self._summary = _RunSummary()
        self._waiting = ""
        self._open = False
        """A line of the answer has begun and not ended."""

    # while it runs -------------------------------------------------------------------------------

    def event(self, event: TurnEvent) -> None:
        """Print one event of the turn."""
        self._collect(event)
        if self._form == "events":
            if (line := self._as_line(event)) is not None:
                self._line(line)
        elif self._form == "text":
            self._as_text(event)
        elif isinstance(event, Retry | Silence):
            self.note(event.sentence)

    def changed(self, change: Change) -> None:
        """Print an automatic compaction or prune."""
        match change:
            case CompactionStarted(_, trigger, tokens, window):
                self._aside(f"compacting ({trigger}): {tokens:,} of {window:,} tokens are taken; "
                            f"{change.model} summarizes",
                            {"event": "compaction_started", "trigger": trigger, "tokens": tokens,
                             "window": window, "model": change.model})  # fmt: skip
            case CompactionEnded() if change.entry >= 0:
                self._summary.compactions.append(change.entry)
                before, after = change.tokens_before, change.tokens_after
                self._aside(self._compacted(change),
                            {"event": "compaction_ended", "entry": self._id(change.entry),
                             "tokens_before": before, "tokens_after": after})  # fmt: skip
            case CompactionEnded():
                problem = change.problem or "the compaction was given up"
                self._aside(problem, {"event": "compaction_ended", "entry": None,
                                      "problem": problem})  # fmt: skip
            case PruneMade(_, entry, results, saved):
                self._aside(f"pruned {results:,} old tool results, {saved:,} tokens",
                            {"event": "pruned", "entry": self._id(entry), "results": results,
                             "saved": saved})  # fmt: skip
            case _:
                return

    def _compacted(self, change: CompactionEnded) -> str:
        """What a compaction did, and how to read its summary."""
        document, entry = self._document, change.entry
        parent = document.tree.columns.parent[entry]
        messages = (len(document.context(at).messages) for at in (parent, entry))
        return (
            "compacted: {:,} messages before, {:,} after with the summary; ".format(*messages)
            + f"the entries took {change.tokens_before:,} tokens and take {change.tokens_after:,} "
            f"now. To see them: session-explorer context {document.key} --at {self._id(entry)}"
        )

    def waiting(self, words: str) -> None:
        """Print what the summarizer is waited for, once."""
        if words and words != self._waiting:
            self._aside(words, {"event": "waiting", "told": words})
        self._waiting = words

    def note(self, text: str) -> None:
        """Print a sentence about the run itself."""
        self._aside(text, None)

    def _collect(self, event: TurnEvent) -> None:
        match event:
            case RoundStarted():
                self._summary.rounds += 1
            case ToolEnded(call, outcome):
                self._summary.tools.append(
                    {"tool": call.name, "arguments": call.arguments, "failed": outcome.is_error}
                )
            case _:
                return

    def _as_text(self, event: TurnEvent) -> None:
        match event:
            case TextDelta(text):
                self._out.write(text)
                self._out.flush()
                self._open = not text.endswith("\n") if text else self._open
            case ToolStarted(call):
                self._aside(call_line(call), None)
            case ToolEnded(call, outcome) if outcome.is_error:
                self._aside(f"{call.name} failed: {_failure_text(outcome)}", None)
            case Retry() | Silence():
                self._aside(event.sentence, None)
            case Stored():
                self.end_line()
            case _:
                return

    def end_line(self) -> None:
        """End a line of the answer that stands open."""
        if self._open:
            self._out.write("\n")
            self._out.flush()
            self._open = False

    def _as_line(self, event: TurnEvent) -> dict[str, Any] | None:
        match event:
            case TextDelta(text):
                return {"event": "text", "text": text}
            case ThinkingDelta(text):
                return {"event": "thinking", "text": text}
            case ToolCallReady(call):
                return {"event": "tool_call", **_call_json(call), "arguments": call.arguments}
            case ToolStarted(call):
                return {"event": "tool_started", **_call_json(call)}
            case ToolOutput(call_id, text):
                return {"event": "tool_output", "call": call_id, "text": text}
            case ToolEnded(call, outcome):
                return {"event": "tool_ended", **_call_json(call), "failed": outcome.is_error,
                        "text": outcome.text}  # fmt: skip
            case RoundStarted(number):
                return {"event": "round", "number": number}
            case Stored(entry) | Steered(entry):
                return {"event": "stored", "entry": self._id(entry)}
            case UsageReport(usage):
                return {"event": "usage", **to_builtins(usage)}
            case Retry():
                return {"event": "retry", "told": event.sentence}
            case Silence(so_far, limit):
                return {"event": "silence", "seconds": so_far, "limit": limit}
            case _:
                return None

    def _aside(self, words: str, line: Mapping[str, Any] | None) -> None:
        if self._form == "events" and line is not None:
            self._line(line)
        else:
            if self._form == "text":
                self.end_line()
            print(visible_line(words), file=sys.stderr, flush=True)

    def _line(self, value: Mapping[str, Any]) -> None:
        text = json.dumps(value, separators=(",", ":"))
        self._out.write(f"{text}\n")
        self._out.flush()

    def _id(self, entry: int) -> str | None:
        return self._document.tree.columns.ids[entry] if entry >= 0 else None

    # at the end ----------------------------------------------------------------------------------

    def finish(self, results: list[TurnResult], facts: Mapping[str, Any]) -> None:
        """Print how it ended. ``facts``: what is known of the run besides, for programs."""
        self.end_line()
        if self._form == "text":
            return
        last = results[-1]
        document = {
            **facts,
            "end": last.end,
            "error": last.error,
            "text": self._answer(),
            "rounds": self._summary.rounds,
            "entries": [self._id(entry) for result in results for entry in result.entries],
            "leaf": self._id(self._document.leaf),
            "tools": self._summary.tools,
            "compactions": [self._id(entry) for entry in self._summary.compactions],
        }
        if self._form == "json":
            print_json(document)
        else:
            self._line({"event": "end", **document})

    def _answer(self) -> str:
        """The text of the last reply."""
        leaf = self._document.leaf
        entry = self._document.payloads.shown.entry(leaf) if leaf >= 0 else Entry.NONE
        return entry.text if entry.kind is Kind.ASSISTANT else ""


def call_line(call: ToolCall) -> str:
    """A call in a line: its tool and the argument that says the most."""
    for name in ("command", "path", "pattern"):
        if isinstance(value := call.arguments.get(name), str) and value:
            return f"{call.name} {_first_line(value)}"
    return call.name


def _call_json(call: ToolCall) -> dict[str, Any]:
    return {"call": call.id, "tool": call.name}


def _first_line(text: str) -> str:
    line, _, rest = exact(text.strip()).partition("\n")
    return line if len(line) <= 200 and not rest else f"{line[:199]}…"


def _failure_text(outcome: ToolOutcome) -> str:
    code = outcome.details.get("exitCode")
    return f"exit code {code}" if code else _first_line(outcome.text)
