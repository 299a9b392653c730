"""Tool calls: one line each, with its state; opened to arguments, output, diffs and pictures."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from explorer.audit.provenance import Known, elapsed_known
from explorer.session.describe import text_of
from explorer.session.kinds import Flag
from ui.agent.view.parts import Code, Diff, Note, Part, Picture, Role, Row, code_segments
from ui.audit.known import marked
from ui.inspector.blocks import CallBlock, ImageBlock, Json
from ui.inspector.content import result_call_id
from ui.inspector.diff_view import DiffLine, diff_lines
from ui.widgets.figures import count, size

LINES_SHOWN = 24
"""Lines of an output that are shown before the rest is asked for."""
MOST_OUTPUT = 200_000
"""Characters of an output that are shown; the rest is read in the inspector."""
TAIL_KEPT = 16_000
"""Characters of a running command's output that are kept for showing."""

_RECORDED = elapsed_known(made_here=True)
_EDITED = ("oldText", "newText", "old_string", "new_string", "edits")


class CallState(IntEnum):
    """Where a call is."""

    ARRIVED = 0
    WAITING = 1
    """For the person's permission."""
    RUNNING = 2
    ENDED = 3


@dataclass(slots=True)
class LiveCall:
    """A call of the running turn."""

    state: CallState = CallState.ARRIVED
    since: float = 0.0
    """When it started, in seconds of the monotonic clock."""
    took: float = 0.0
    output: str = ""
    failed: bool = False


@dataclass(slots=True)
class CallStates:
    """The calls of the running turn by id; empty between turns."""

    calls: dict[str, LiveCall] = field(default_factory=dict)
    running: bool = False
    """Whether a turn is running, so that calls without a result may still get one."""

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

    def said(self, call_id: str, text: str) -> None:
        live = self.of(call_id)
        live.output = (live.output + text)[-TAIL_KEPT:]

    def ended(self, call_id: str, text: str, failed: bool) -> None:
        live = self.of(call_id)
        live.took = time.monotonic() - live.since if live.since else 0.0
        live.state, live.failed, live.output = CallState.ENDED, failed, text[-TAIL_KEPT:]


@dataclass(frozen=True, slots=True)
class Answer:
    """A tool result. ``data`` is None while it is too large to be read for one line."""

    entry: int
    call_id: str
    flags: int
    data: Json | None
    preview: str = ""
    tool: str = ""
    took_s: float = 0.0
    took_known: Known = _RECORDED
    """How the time is known; a run that was watched here is told by its clock."""

    @classmethod
    def of(
        cls, entry: int, flags: int, data: Json | None, preview: str = "", time_ms: float = 0.0
    ) -> Answer:
        """From an entry's own data."""
        tool = str(_message(data).get("toolName") or "tool") if data else "tool"
        call_id = result_call_id(data) if data else ""
        return cls(entry, call_id, flags, data, preview, tool)


def _message(data: Json | None) -> Mapping[str, Any]:
    message = data.get("message") if data else None
    return message if isinstance(message, Mapping) else {}


def seconds(value: float, *, whole: bool = False) -> str:
    """``4.1 s``, ``2 min 5 s``; ``whole`` seconds do not flicker while they are counted."""
    if value < 60:
        return f"{value:.1f} s" if value < 10 and not whole else f"{value:.0f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def call_parts(
    key: str,
    block: CallBlock | None,
    answer: Answer | None,
    states: CallStates,
    is_open: Callable[[str], bool],
) -> list[Part]:
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
    found: list[Part] = [row]
    if opened:
        given = _given_diff(answer)
        if given:
            path = str(block.arguments.get("path") or "the file") if block is not None else ""
            found.append(Diff(key=f"{key}.rd", path=path, lines=given, inset=True))
        found += _arguments(key, block, told_by_result=bool(given))
        found += _result(key, answer, live, is_open, is_change=bool(given))
    elif live is not None and answer is None and live.state is CallState.RUNNING and live.output:
        found += _streamed(key, live.output)
    return found


def _runs(live: LiveCall, answer: Answer | None) -> bool:
    return answer is None and live.state is CallState.RUNNING


_ICONS = {
    "bash": "shell", "read": "file", "write": "save", "edit": "edit", "grep": "search",
    "find": "search", "ls": "folder",
}  # fmt: skip


def _icon(name: str) -> str:
    return _ICONS.get(name, "tool")


def _tail(
    block: CallBlock | None, answer: Answer | None, live: LiveCall | None, running: bool
) -> tuple[str, str]:
    """What came of it, in a few words, and their tint."""
    if answer is not None:
        return _outcome(block, answer, live)
    if live is None or live.state is CallState.ARRIVED:
        return ("arriving", "dim") if running else ("not run", "dim")
    if live.state is CallState.WAITING:
        return "waiting for your approval", "comp"
    if live.state is CallState.RUNNING:
        return "running", "accent"
    return (f"failed · {seconds(live.took)}", "lost") if live.failed else ("done", "dim")


def _outcome(block: CallBlock | None, answer: Answer, live: LiveCall | None) -> tuple[str, str]:
    message, known = _message(answer.data), _details(answer)
    text = text_of(message.get("content")).rstrip("\n") if answer.data else answer.preview
    watched = live.took if live is not None else 0.0
    took = watched or answer.took_s
    time_words = seconds(took) if took >= 0.1 else ""
    if time_words and not watched:
        time_words = marked(time_words, answer.took_known)
    if known.get("notRun") is True or known.get("noResult") is True:
        return ("not run" if known.get("notRun") is True else "broken off"), "comp"
    if answer.flags & Flag.ERROR:
        code = known.get("exitCode")
        first = f"exit code {code}" if isinstance(code, int) and code else _first(text)
        words = [f"failed: {first}" if first else "failed", time_words]
        return " · ".join(word for word in words if word), "lost"
    words = [_gist(block, text, answer), time_words]
    return " · ".join(word for word in words if word), "dim"


def _first(text: str, most: int = 60) -> str:
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _gist(block: CallBlock | None, text: str, answer: Answer) -> str:
    """The part of a result that says most: a change's size, a last line, a number of lines."""
    if given := _given_diff(answer):
        signs = [line.sign for line in given]
        return f"+{signs.count('+')} −{signs.count('-')}"
    if block is not None and block.diffs:
        changed = [line.sign for d in block.diffs for line in diff_lines(d.old, d.new, 0)]
        return f"+{changed.count('+')} −{changed.count('-')}"
    if block is not None and block.written is not None:
        return count(block.written.text.rstrip("\n").count("\n") + 1, "line")
    if answer.data is None:
        return f"{_first(text)} … (large)"
    lines = text.count("\n") + 1
    if not text.strip():
        return "no output"
    if lines == 1:
        return _first(text)
    if block is not None and block.tool in ("bash", "shell"):
        return _first(text.rsplit("\n", 1)[-1]) or count(lines, "line")
    return count(lines, "line")


def _arguments(key: str, block: CallBlock | None, *, told_by_result: bool) -> list[Part]:
    """What the call asked for; a change that the result tells better is left to it."""
    if block is None:
        return []
    found: list[Part] = []
    for at, change in enumerate(() if told_by_result else block.diffs):
        lines = tuple(diff_lines(change.old, change.new))
        found.append(Diff(key=f"{key}.d{at}", path=change.path, lines=lines, inset=True))
    if block.written is not None and not told_by_result:
        found += _pieces(f"{key}.w", block.written.text[:MOST_OUTPUT], path=block.written.path)
    command = block.arguments.get("command")
    if isinstance(command, str) and command:
        found += _pieces(f"{key}.c", command, language="bash")
    rest = {name: value for name, value in block.arguments.items() if not _is_shown(name, block)}
    simple = all(isinstance(value, str | int | float) for value in rest.values())
    words = "   ".join(f"{name}: {value}" for name, value in rest.items())
    if rest and simple and "\n" not in words and len(words) <= 160:
        found.append(Note(key=f"{key}.a", text=words, inset=True))
    elif rest:
        text = json.dumps(rest, ensure_ascii=False, indent=2)
        found += _pieces(f"{key}.a", text[:MOST_OUTPUT], language="json")
    return found


def _is_shown(name: str, block: CallBlock) -> bool:
    if name in _EDITED and block.diffs:
        return True
    if name == "content" and block.written is not None:
        return True
    value = block.arguments.get(name)
    return name == "command" or (isinstance(value, str) and block.title.endswith(value))


def _result(
    key: str,
    answer: Answer | None,
    live: LiveCall | None,
    is_open: Callable[[str], bool],
    *,
    is_change: bool,
) -> list[Part]:
    if answer is None:
        return _streamed(key, live.output) if live is not None and live.output else []
    if answer.data is None:
        words = "The result is large: shown in the inspector"
        return [Row(key=f"{key}.big", text=words, tint="accent", goes_to=answer.entry, inset=True)]
    message = _message(answer.data)
    found: list[Part] = []
    known = _details(answer)
    text = text_of(message.get("content")).rstrip("\n")
    if is_change and "\n" not in text:
        found.append(Note(key=f"{key}.o", text=text, inset=True))
    else:
        found += _output(key, answer, text, is_open)
    for at, image in enumerate(_images(message.get("content"))):
        found.append(Picture(key=f"{key}.i{at}", image=image, inset=True, entry=answer.entry))
    if isinstance(full := known.get("fullOutputPath"), str) and full:
        row = Row(
            key=f"{key}.full", text=f"Whole output: {full}", tint="accent", address=full,
            inset=True,
        )  # fmt: skip
        found.append(row)
    return found


def _details(answer: Answer | None) -> Mapping[str, Any]:
    details = _message(answer.data).get("details") if answer is not None else None
    return details if isinstance(details, Mapping) else {}


def _given_diff(answer: Answer | None) -> tuple[DiffLine, ...]:
    """The change that a tool itself told with its result, line by line."""
    diff = _details(answer).get("diff")
    if not isinstance(diff, str) or not diff:
        return ()
    lines = [line for line in diff[:MOST_OUTPUT].split("\n") if line[:4] not in ("--- ", "+++ ")]
    return tuple(
        DiffLine("@", "…") if line.startswith("@@") else DiffLine(line[:1] or " ", line[1:])
        for line in lines
    )


def _images(content: object) -> list[ImageBlock]:
    found = []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, Mapping) and block.get("type") == "image":
            mime = str(block.get("mimeType") or "image")
            found.append(ImageBlock(mime, str(block.get("data") or "")))
    return found


def _output(key: str, answer: Answer, text: str, is_open: Callable[[str], bool]) -> list[Part]:
    if not text.strip():
        return [Note(key=f"{key}.none", text="no output", inset=True)]
    lines = text.split("\n")
    whole, more = is_open(f"{key}.all"), len(lines) - LINES_SHOWN
    if more <= 4 or whole:
        found = _pieces(f"{key}.o", text[:MOST_OUTPUT])
    else:
        found = _pieces(f"{key}.o", "\n".join(lines[:LINES_SHOWN]))
    if more > 4:
        words = "Show less" if whole else f"Show {more:,} more lines"
        row = Row(
            key=f"{key}.all", text=words, tint="accent", opens=f"{key}.all", is_open=whole,
            inset=True,
        )  # fmt: skip
        found.append(row)
    if whole and len(text) > MOST_OUTPUT:
        words = f"{size(len(text) - MOST_OUTPUT)} more: shown whole in the inspector"
        found.append(
            Row(key=f"{key}.big", text=words, tint="accent", goes_to=answer.entry, inset=True)
        )
    return found


def _streamed(key: str, output: str) -> list[Part]:
    """The end of what a running command has said."""
    lines = output.rstrip("\n").split("\n")[-8:]
    shown = "\n".join(line[:400] for line in lines)
    return [Code(key=f"{key}.live", text=shown, inset=True, fenced=False, coloured=False)]


def _pieces(key: str, text: str, *, path: str = "", language: str = "") -> list[Part]:
    return [
        Code(
            key=f"{key}.{at}", text=piece.text, language=language, path=path, inset=True,
            opens=piece.opens, closes=piece.closes, fenced=False, coloured=bool(path or language),
        )
        for at, piece in enumerate(code_segments(text, language))
    ]  # fmt: skip
