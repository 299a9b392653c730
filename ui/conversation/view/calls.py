"""Tool calls: one line each, with its state; opened to arguments, output, diffs and pictures."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from enum import IntEnum

from msgspec import Struct, field
from msgspec.structs import replace

from explorer.audit.provenance import Known, elapsed_known
from explorer.session.entries import Entry, ToolResultMessage
from explorer.session.kinds import Flag
from explorer.session.result_text import output_of
from explorer.session.rows import output_lines
from explorer.session.tool_actions import tool_actions
from ui.audit.known import marked
from ui.conversation.view.parts import (
    Code,
    Diff,
    ItemPart,
    Note,
    PicturePart,
    Role,
    Row,
    plain_parts,
    rest_parts,
)
from ui.widgets.figures import count
from ui.widgets.message_blocks import NO_RESULT, CallBlock, DiffBlock, ResultBlock, result_block

LINES_SHOWN = 24
"""Lines of an output that are shown before the rest is asked for."""
MOST_STREAMED = 16_000
"""Characters of a running command's output that can be shown."""

_RECORDED = elapsed_known(made_here=True)


class CallState(IntEnum):
    """Where a call is."""

    ARRIVED = 0
    WAITING = 1
    """For the person's permission."""
    RUNNING = 2
    ENDED = 3


class LiveCall(Struct):
    """A call of the running turn."""

    state: CallState = CallState.ARRIVED
    since: float = 0.0
    """When it started, in seconds of the monotonic clock."""
    took: float = 0.0
    output: str = ""
    failed: bool = False


class CallStates(Struct):
    """The calls of the running turn by id; empty between turns."""

    calls: dict[str, LiveCall] = field(default_factory=dict)
    running: bool = False
    """Whether a turn is running, so that calls without a result may still get one."""
    shown: Callable[[str], str] = str
    """A text as it is shown."""

    def of(self, call_id: str) -> LiveCall:
        return self.calls.setdefault(call_id, LiveCall())

    def started(self, call_id: str) -> None:
        live = self.of(call_id)
        live.state, live.since = CallState.RUNNING, time.monotonic()

    def waits(self, call_id: str, waiting: bool) -> None:
        """The person is asked whether it may run, or has answered."""
        live = self.of(call_id)
        live.state = CallState.WAITING if waiting else CallState.RUNNING
        live.since = time.monotonic()

    def add_output(self, call_id: str, text: str) -> None:
        live = self.of(call_id)
        live.output = self.shown((live.output + text)[-MOST_STREAMED:])

    def ended(self, call_id: str, text: str, failed: bool) -> None:
        live = self.of(call_id)
        live.took = time.monotonic() - live.since if live.since else 0.0
        live.state, live.failed = CallState.ENDED, failed
        live.output = self.shown(text[-MOST_STREAMED:])


class CallAnswer(Struct, frozen=True):
    """A tool result of an entry."""

    entry: int
    call_id: str
    flags: int
    result: ResultBlock | None
    """None while it is too large to be read for one line."""
    preview: str = ""
    tool: str = "tool"
    took_s: float = 0.0
    took_known: Known = _RECORDED
    """How the time is known; that of a run in this window is measured."""

    @classmethod
    def of(cls, at: int, flags: int, entry: Entry | None, preview: str = "") -> CallAnswer:
        """From an entry as far as it was read."""
        if entry is None or not isinstance(entry.body, ToolResultMessage):
            return cls(at, "", flags, None, preview)
        result = result_block(entry.body, at)
        return cls(at, entry.body.call_id, flags, result, preview, result.tool)

    @property
    def text(self) -> str:
        """What the tool returned; its first line where that was not read."""
        return self.result.text.rstrip("\n") if self.result is not None else self.preview


def seconds(value: float, *, whole: bool = False) -> str:
    """``4.1 s``, ``2 min 5 s``; ``whole`` seconds do not flicker while they are counted."""
    if value < 60:
        return f"{value:.1f} s" if value < 10 and not whole else f"{value:.0f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def call_parts(
    key: str,
    block: CallBlock | None,
    answer: CallAnswer | None,
    states: CallStates,
    is_open: Callable[[str], bool],
) -> list[ItemPart]:
    """A call and its result; ``block`` is None for a result whose call is not on the path."""
    name = block.tool if block is not None else answer.tool if answer is not None else "tool"
    words = block.title.removeprefix(name).strip() if block is not None else "result"
    live = states.calls.get(block.call_id) if block is not None else None
    tail, tint = _tail(block, answer, live, states.running)
    opened = is_open(key)
    row = Row(
        key=key, role=Role(name, _icon(name), "lost" if tint == "lost" else "tool"),
        text=words, mono=True, tail=tail, tail_tint=tint, opens=key, is_open=opened,
        since=live.since if live is not None and _runs(live, answer) else 0.0,
        entry=answer.entry if answer is not None else -1,
    )  # fmt: skip
    found: list[ItemPart] = [row]
    if opened:
        found += _arguments(key, block, answer)
        found += _result(key, block, answer, live, is_open)
    elif live is not None and answer is None and live.state is CallState.RUNNING and live.output:
        found += _streamed(key, live.output)
    return found


def _runs(live: LiveCall, answer: CallAnswer | None) -> bool:
    return answer is None and live.state is CallState.RUNNING


_ICONS = {
    "bash": "shell", "read": "file", "write": "save", "edit": "edit", "grep": "search",
    "find": "search", "ls": "folder",
}  # fmt: skip


def _icon(name: str) -> str:
    return _ICONS.get(name, "tool")


def _tail(
    block: CallBlock | None, answer: CallAnswer | None, live: LiveCall | None, running: bool
) -> tuple[str, str]:
    """What came of it, in a few words, and their tint."""
    if answer is not None:
        return _outcome(block, answer, live)
    if live is None or live.state is CallState.ARRIVED:
        missing = NO_RESULT if block is None else block.missing
        return "arriving" if running and missing == NO_RESULT else missing, "dim"
    if live.state is CallState.WAITING:
        return "waiting for your approval", "comp"
    if live.state is CallState.RUNNING:
        return "running", "accent"
    return (f"failed · {seconds(live.took)}", "lost") if live.failed else ("done", "dim")


def _outcome(block: CallBlock | None, answer: CallAnswer, live: LiveCall | None) -> tuple[str, str]:
    result = answer.result
    if result is not None and result.missing:
        return result.missing, "comp"
    watched = live.took if live is not None else 0.0
    took = watched or answer.took_s
    time_words = seconds(took) if took >= 0.1 else ""
    if time_words and not watched:
        time_words = marked(time_words, answer.took_known)
    if answer.flags & Flag.ERROR:
        code = result.exit_code if result is not None else None
        first = f"exit code {code}" if code else _first(output_of(answer.text))
        words, tint = f"failed: {first}" if first else "failed", "lost"
    else:
        words, tint = _gist(block, answer), "dim"
    return " · ".join(word for word in (words, time_words) if word), tint


def _first(text: str, most: int = 60) -> str:
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _recorded_diff(answer: CallAnswer | None) -> DiffBlock | None:
    """The change as the tool recorded it, which says more than the call's arguments."""
    return answer.result.diff if answer is not None and answer.result is not None else None


def _gist(block: CallBlock | None, answer: CallAnswer) -> str:
    """The part of a result that says most: a change's size, a last line, a number of lines."""
    text, given = output_of(answer.text).rstrip("\n"), _recorded_diff(answer)
    diffs = (given,) if given is not None else block.diffs if block is not None else ()
    if diffs:
        return DiffBlock("", tuple(line for diff in diffs for line in diff.lines)).figures
    if block is not None and block.written:
        return count(block.written.rstrip("\n").count("\n") + 1, "line")
    if answer.result is None:
        return f"{_first(text)} … (large)"
    lines = _lines(block, answer)
    if not lines and not text.strip():
        return "no output"
    if lines <= 1:
        return _first(text)
    if block is not None and block.tool in ("bash", "shell"):
        return _first(text.rsplit("\n", 1)[-1]) or count(lines, "line")
    return count(lines, "line")


def _lines(block: CallBlock | None, answer: CallAnswer) -> int:
    """Of the output, as the result's row on the map counts them."""
    actions = tool_actions(block.tool, block.arguments) if block is not None else ()
    return output_lines(answer.text, actions)


def _arguments(key: str, block: CallBlock | None, answer: CallAnswer | None) -> list[ItemPart]:
    """What the call asked for, with the change that the tool recorded in place of its arguments."""
    found: list[ItemPart] = []
    given = _recorded_diff(answer)
    if given is not None:
        path = block.path if block is not None else ""
        found.append(_diff(f"{key}.rd", replace(given, path=path or "the file")))
    if block is None:
        return found
    if given is None:
        found += [_diff(f"{key}.d{at}", change) for at, change in enumerate(block.diffs)]
        if block.written:
            found += plain_parts(f"{key}.w", block.written, path=block.path)
    if block.command:
        found += plain_parts(f"{key}.c", block.command, language="bash")
    if words := block.more_words:
        found.append(Note(key=f"{key}.a", text=words, inset=True))
    elif block.more:
        text = json.dumps(block.more, ensure_ascii=False, indent=2)
        found += plain_parts(f"{key}.a", text, language="json")
    return found


def _diff(key: str, change: DiffBlock) -> Diff:
    return Diff(key=key, path=change.path, lines=change.lines, inset=True)


def _result(
    key: str,
    block: CallBlock | None,
    answer: CallAnswer | None,
    live: LiveCall | None,
    is_open: Callable[[str], bool],
) -> list[ItemPart]:
    if answer is None:
        return _streamed(key, live.output) if live is not None and live.output else []
    result = answer.result
    if result is None:
        words = "The result is large: shown in the inspector"
        return [Row(key=f"{key}.big", text=words, tint="accent", goes_to=answer.entry, inset=True)]
    found: list[ItemPart] = []
    if result.diff is not None and "\n" not in answer.text:
        found.append(Note(key=f"{key}.o", text=answer.text, inset=True))
    else:
        found += _output(key, _lines(block, answer), answer, is_open)
    for at, image in enumerate(result.images):
        found.append(PicturePart(key=f"{key}.i{at}", image=image, inset=True, entry=answer.entry))
    if full := result.full_output_path:
        words = f"Whole output: {full}"
        found.append(Row(key=f"{key}.full", text=words, tint="accent", address=full, inset=True))
    return found


def _output(
    key: str, whole_lines: int, answer: CallAnswer, is_open: Callable[[str], bool]
) -> list[ItemPart]:
    text = answer.text
    if not text.strip():
        return [Note(key=f"{key}.none", text="no output", inset=True)]
    lines = text.split("\n")
    opened, more = is_open(f"{key}.all"), len(lines) - LINES_SHOWN
    whole = opened or more <= 4
    found = plain_parts(f"{key}.o", text if whole else "\n".join(lines[:LINES_SHOWN]))
    if more > 4:
        words = "Show less" if opened else f"Show all {count(whole_lines, 'line')}"
        row = Row(
            key=f"{key}.all", text=words, tint="accent", opens=f"{key}.all", is_open=opened,
            inset=True,
        )  # fmt: skip
        found.append(row)
    return found + (rest_parts(f"{key}.big", text, answer.entry) if whole else [])


def _streamed(key: str, output: str) -> list[ItemPart]:
    """The end of what a running command has written."""
    lines = output.rstrip("\n").split("\n")[-8:]
    shown = "\n".join(line[:400] for line in lines)
    return [Code(key=f"{key}.live", text=shown, inset=True, fenced=False, coloured=False)]
