"""What a run of the agent prints while it goes on, and the document at its end."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TextIO

from explorer.agent.events import (
    RoundStarted,
    Steered,
    Stored,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    TurnEvent,
    TurnResult,
)
from explorer.agent.tools.port import ToolOutcome
from explorer.commands.output import print_json
from explorer.models.client import (
    Silence,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallReady,
    UsageReport,
)
from explorer.models.retry import Retry
from explorer.session.describe import text_of
from explorer.session.visible_text import exact, visible_line
from explorer.work.changes import Change, CompactionEnded, CompactionStarted, PruneMade
from explorer.work.document import Document

Form = Literal["text", "json", "events"]
"""``text`` for people, one ``json`` document at the end, or ``events`` as lines of JSON."""


@dataclass(slots=True)
class Told:
    """What the document at the end is made of."""

    rounds: int = 0
    tools: list[dict[str, Any]] = field(default_factory=list)
    compactions: list[int] = field(default_factory=list)


class Teller:
    """Tells one run. Everything that is no answer goes to standard error."""

    def __init__(self, form: Form, document: Document, out: TextIO | None = None) -> None:
        self._form = form
        self._document = document
        self._out = out or sys.stdout
        self._told = Told()
        self._open = False
        """A line of the answer has begun and not ended."""

    # while it runs -------------------------------------------------------------------------------

    def event(self, event: TurnEvent) -> None:
        """Tell one event of the turn."""
        self._keep(event)
        if self._form == "events":
            if (line := self._as_line(event)) is not None:
                self._line(line)
        elif self._form == "text":
            self._as_text(event)

    def changed(self, change: Change) -> None:
        """Tell of a compaction or a prune that happens by itself."""
        match change:
            case CompactionStarted(_, trigger, tokens, window):
                self._aside(f"compacting ({trigger}): {tokens:,} of {window:,} tokens are taken",
                            {"event": "compaction_started", "trigger": trigger, "tokens": tokens,
                             "window": window})  # fmt: skip
            case CompactionEnded() if change.entry >= 0:
                self._told.compactions.append(change.entry)
                before, after = change.tokens_before, change.tokens_after
                self._aside(f"compacted: {before:,} -> {after:,} tokens",
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

    def note(self, text: str) -> None:
        """A sentence about the run itself."""
        self._aside(text, None)

    def _keep(self, event: TurnEvent) -> None:
        match event:
            case RoundStarted():
                self._told.rounds += 1
            case ToolEnded(call, outcome):
                self._told.tools.append(
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
                self._aside(f"{call.name} failed: {_why(outcome)}", None)
            case Retry() | Silence():
                self._aside(event.told, None)
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
                return {"event": "tool_call", **_call(call), "arguments": call.arguments}
            case ToolStarted(call):
                return {"event": "tool_started", **_call(call)}
            case ToolOutput(call_id, text):
                return {"event": "tool_output", "call": call_id, "text": text}
            case ToolEnded(call, outcome):
                return {"event": "tool_ended", **_call(call), "failed": outcome.is_error,
                        "text": outcome.text}  # fmt: skip
            case RoundStarted(number):
                return {"event": "round", "number": number}
            case Stored(entry) | Steered(entry):
                return {"event": "stored", "entry": self._id(entry)}
            case UsageReport(usage):
                return {"event": "usage", **asdict(usage)}
            case Retry():
                return {"event": "retry", "told": event.told}
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
        """Tell how it ended. ``facts``: what is known of the run besides, for programs."""
        self.end_line()
        if self._form == "text":
            return
        last = results[-1]
        document = {
            **facts,
            "end": last.end,
            "error": last.error,
            "text": self._answer(),
            "rounds": self._told.rounds,
            "entries": [self._id(entry) for result in results for entry in result.entries],
            "leaf": self._id(self._document.leaf),
            "tools": self._told.tools,
            "compactions": [self._id(entry) for entry in self._told.compactions],
        }
        if self._form == "json":
            print_json(document)
        else:
            self._line({"event": "end", **document})

    def _answer(self) -> str:
        """The text of the last reply."""
        leaf = self._document.leaf
        message = self._document.entry(leaf).get("message") if leaf >= 0 else None
        if not isinstance(message, Mapping) or message.get("role") != "assistant":
            return ""
        return text_of(message.get("content"))


def call_line(call: ToolCall) -> str:
    """A call in a line: its tool and the argument that says the most."""
    for name in ("command", "path", "pattern"):
        if isinstance(value := call.arguments.get(name), str) and value:
            return f"{call.name} {_first_line(value)}"
    return call.name


def _call(call: ToolCall) -> dict[str, Any]:
    return {"call": call.id, "tool": call.name}


def _first_line(text: str) -> str:
    line, _, rest = exact(text.strip()).partition("\n")
    return line if len(line) <= 200 and not rest else f"{line[:199]}…"


def _why(outcome: ToolOutcome) -> str:
    code = outcome.details.get("exitCode")
    return f"exit code {code}" if code else _first_line(outcome.text)
