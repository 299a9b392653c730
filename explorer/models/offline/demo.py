"""The demonstration agent: simple rules and the workspace tools, without a language model.

It reads, searches, creates, edits and runs what it is plainly asked to, obeys the limits that it
understands, and says what it is. It has no state: what it did is read from the conversation. The
work on a question is a generator that yields replies with tool calls and is sent their results.
Every request runs it from its beginning, feeds it the results that the conversation holds, and
answers with the first reply whose calls have no results yet.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Generator, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from msgspec import Struct

from explorer.models.events import ThinkingDelta, ToolCallReady
from explorer.models.offline.answer_stream import Emit, IsCancelled, send_end, send_text
from explorer.models.offline.demo_request import (
    Create,
    DemoRound,
    DemoSituation,
    Look,
    Replace,
    RunCommand,
    Step,
    WantedCall,
    recall_answer,
    situation_of,
    steps_in,
)
from explorer.models.request import ModelRequest, ToolCall

_EXIT = re.compile(r"\b(?:exit(?:ed)?|exit code|status)\b\D{0,20}(\d+)", re.IGNORECASE)
_REFUSED = re.compile(
    r"\bnothing was done\b|\bdid not allow\b|\b(?:denied|refused|declined|not allowed)\b", re.I
)
_FAILED = re.compile(
    r"no such file|outside the workspace|not found|cannot|could not|must be|failed|does not exist"
    r"|is a folder|is not a folder|there is no tool|not run|timed out",
    re.I,
)
_EMPTY = re.compile(r"^\W*(?:no\b.{0,40}|empty (?:file|folder|directory))\W*$", re.IGNORECASE)
"""What tools answer where there is nothing."""
_LONGEST_MESSAGE = 2_000
"""Characters; a longer result is content and not a message about a failure."""
_SHOWN_LINES = 40
_SHOWN_CHARACTERS = 4000


def exit_code(result: str) -> int:
    """The exit status that the end of a command's result names; 0 where it names none."""
    codes = _EXIT.findall(result[-400:])
    return int(codes[-1]) if codes else 0


def was_refused(result: str) -> bool:
    """Whether the person or the approval mode did not allow the call."""
    return len(result) < _LONGEST_MESSAGE and _REFUSED.search(result) is not None


def failed(result: str) -> bool:
    """Whether a tool reports that it was refused or did not do its work."""
    return was_refused(result) or (
        len(result) < _LONGEST_MESSAGE and _FAILED.search(result) is not None
    )


def report(want: WantedCall, result: str) -> str:
    """A sentence about what a tool found or did, and the first lines of its result."""
    lines = result.rstrip("\n").split("\n") if result.strip() else []
    if len(lines) == 1 and _EMPTY.match(lines[0]):
        lines = []
    if len(lines) == 1 and failed(result):
        return f"That did not work: {lines[0].strip()}"
    title = _title(want, len(lines))
    if not lines:
        return title
    shown = "\n".join(lines[:_SHOWN_LINES])[:_SHOWN_CHARACTERS]
    rest = len(lines) - _SHOWN_LINES
    more = f"\n\n{rest} more lines are not shown here." if rest > 0 else ""
    return f"{title}\n\n{fenced(shown)}{more}"


def fenced(text: str) -> str:
    """A text as a Markdown code block, with a fence longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def _title(want: WantedCall, count: int) -> str:
    lines = f"{count:,} line{'' if count == 1 else 's'}"
    path, what = want.arguments.get("path") or ".", want.arguments.get("pattern", "")
    match want.tool:
        case "ls":
            where = "The folder" if path in (".", "./") else path
            things = "1 file or folder" if count == 1 else f"{count:,} files and folders"
            return f"{where} holds {things}:" if count else f"{where} is empty."
        case "grep":
            verb = "matches" if count == 1 else "match"
            return f"{lines} {verb} {what}:" if count else f"Nothing matches {what}."
        case "find":
            paths = "1 path matches" if count == 1 else f"{count:,} paths match"
            return f"{paths} {what}:" if count else f"No path matches {what}."
        case "read":
            return f"{path}, {lines}:" if count else f"{path} is empty."
        case _:
            command = want.arguments.get("command", "")
            return f"`{command}` said:" if count else f"`{command}` ran and said nothing."


_HELP = (
    "I am the offline demonstration agent: I follow simple rules and use no language model, so "
    "nothing leaves this machine.\n\nI can{tools} answer from this conversation: what the "
    "constraints were, what was decided, what went wrong, what is done and what comes next. "
    "I cannot find and repair faults: Help > Watch a scripted run shows a whole repair. "
    "For anything else choose another model."
)
_ABILITIES = {
    "ls": "list files",
    "read": "read a file",
    "grep": "search in files",
    "write": "create a file F with `some text`",
    "edit": "replace `A` by `B` in a file",
    "bash": "run a command or the tests",
}
_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|thanks?|ok(?:ay)?|yes|no|great|nice|cool|perfect|good|fine|sure)\b"
    r"[\w\s,]{0,30}\W*$",
    re.IGNORECASE,
)
_FAILURE = "That did not work"
_STOPS = (_FAILURE, "I did not", "That needs")
"""Beginnings of reports after which the remaining steps are not tried."""
_SHOWN_OUTPUT = 4000
"""Characters of a failed command's output that are shown, from its end."""


class DemoReply(Struct, frozen=True):
    """Thinking, text, and the tools to call in parallel; without calls it ends the turn."""

    thinking: str
    text: str
    wants: tuple[WantedCall, ...] = ()


Work: TypeAlias = Generator[DemoReply, tuple[str, ...], str]
"""Yields replies, is sent the results of their calls in order, returns the final text."""


def answer(request: ModelRequest, emit: Emit, cancelled: IsCancelled) -> None:
    """Answer the last user message, or continue the work that it asked for."""
    situation = situation_of(request)
    reply = _next_reply(_work_on(situation, cancelled), situation)
    if cancelled():
        return
    if reply.thinking and request.thinking != "off":
        emit(ThinkingDelta(reply.thinking))
    if not send_text(reply.text, emit, cancelled):
        return
    calls = [
        ToolCall(f"demo_{secrets.token_hex(4)}", want.tool, dict(want.arguments))
        for want in reply.wants
    ]
    for call in calls:
        emit(ToolCallReady(call))
    output = reply.thinking + reply.text + "".join(str(call.arguments) for call in calls)
    send_end(request, output, "tool_calls" if calls else "stop", emit, "provider")


def _next_reply(work: Work, situation: DemoSituation) -> DemoReply:
    """The first reply whose calls were not made yet.

    Rounds before a compaction are no longer in the conversation, so each reply may match any
    later round.
    """
    start = 0
    try:
        reply = next(work)
        while (done := _round_of(reply.wants, situation.rounds, start)) >= 0:
            start = done + 1
            reply = work.send(situation.rounds[done].results)
    except StopIteration as end:
        return DemoReply("", "Nothing is left to do." if situation.is_over else str(end.value))
    return reply


def _round_of(wants: Sequence[WantedCall], rounds: Sequence[DemoRound], start: int) -> int:
    """The index of the first round from ``start`` that made these calls; -1 for none."""
    wanted = [(want.tool, dict(want.arguments)) for want in wants]
    for index in range(start, len(rounds)):
        if [(call.name, call.arguments) for call in rounds[index].calls] == wanted:
            return index
    return -1


def _work_on(situation: DemoSituation, cancelled: IsCancelled) -> Work:
    """All steps of a question, and the text about what came of them."""
    recalled = recall_answer(situation.question, situation.earlier, cancelled)
    if recalled is not None:
        return recalled
    steps = steps_in(situation.question)
    if not steps:
        return _help(situation)
    reports: list[str] = []
    left = len(steps)
    for group in _parallel(steps):
        result = yield from _do(group, situation)
        reports.append(result)
        left -= len(group)
        if result.startswith(_STOPS):
            break
    if left:
        reports.append(f"So I stopped, with {left} step{'' if left == 1 else 's'} left.")
    return "\n\n".join(reports)


def _help(situation: DemoSituation) -> str:
    if _GREETING.match(situation.question):
        return "Tell me what to look at: a file to read, a word to search for."
    can = [words for tool, words in _ABILITIES.items() if tool in situation.tools]
    return _HELP.format(tools=f" {', '.join(can)}, and" if can else "")


def _parallel(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Consecutive looks as one group, every other step alone."""
    for looks, group in groupby(steps, lambda step: isinstance(step, Look)):
        if looks:
            yield list(group)
        else:
            yield from ([step] for step in group)


def _do(group: Sequence[Step], situation: DemoSituation) -> Work:
    match group[0]:
        case Create() as step:
            return (yield from _create(step, situation))
        case Replace() as step:
            return (yield from _replace(step, situation))
        case RunCommand() as step:
            return (yield from _run(step, situation))
        case Look():
            looks = [step for step in group if isinstance(step, Look)]
            return (yield from _look(looks, situation))


def _objection(tool: str, path: str, situation: DemoSituation) -> str:
    """Why a tool must not be called, as a sentence; empty where nothing speaks against it."""
    if tool not in situation.tools:
        return f"That needs the tool {tool}, which is not offered in this conversation."
    limits = situation.limits
    if tool == "bash":
        sentence = limits.commands
    else:
        sentence = limits.against_change(path) if tool in ("write", "edit") else ""
    return f"I did not do that, since you said: “{sentence}”" if sentence else ""


def _look(looks: Sequence[Look], situation: DemoSituation) -> Work:
    for look in looks:
        if why := _objection(look.want.tool, "", situation):
            return why
    thinking = (
        f"They ask for something that {looks[0].want.tool} can tell."
        if len(looks) == 1
        else f"Nothing of this changes anything, so I look at {len(looks)} things at once."
    )
    text = " ".join(look.announcement for look in looks)
    results = yield DemoReply(thinking, text, tuple(look.want for look in looks))
    reports = (report(look.want, result) for look, result in zip(looks, results, strict=True))
    return "\n\n".join(reports)


def _create(step: Create, situation: DemoSituation) -> Work:
    if why := _objection("write", step.path, situation):
        return why
    lines = step.content.count("\n")
    size = f"{lines} line{'' if lines == 1 else 's'}"
    thinking = f"A whole file of {size}: that is what write is for."
    want = WantedCall("write", {"path": step.path, "content": step.content})
    (result,) = yield DemoReply(thinking, f"Writing {step.path}.", (want,))
    if failed(result):
        return f"{_FAILURE}: {result.strip()}"
    return f"{step.path} is written, {size}."


def _replace(step: Replace, situation: DemoSituation) -> Work:
    if why := _objection("edit", step.path, situation) or _objection("read", "", situation):
        return why
    (text,) = yield DemoReply(
        f"To replace something in {step.path} I need to know what is there.",
        f"Reading {step.path}.",
        (WantedCall("read", {"path": step.path}),),
    )
    if "\n" not in text.strip() and failed(text):
        return f"{_FAILURE}: {text.strip()}"
    places = _pattern_of(text, step.old)
    count = len(places.findall(text))
    edit = _unique_edit(text, places, step.new)
    if edit is None:
        return f"{_FAILURE}: {step.path} does not hold `{step.old}`."
    words = "one place" if count == 1 else f"{count} places"
    old, new = edit
    want = WantedCall("edit", {"path": step.path, "edits": [{"oldText": old, "newText": new}]})
    (result,) = yield DemoReply(
        f"`{step.old}` stands in {words}; the text that I replace must be there only once.",
        f"Replacing `{step.old}` by `{step.new}` in {step.path}, {words}.",
        (want,),
    )
    if failed(result):
        return f"{_FAILURE}: {result.strip()}"
    return f"`{step.old}` is now `{step.new}` in {step.path}, {words}."


def _pattern_of(text: str, old: str) -> re.Pattern[str]:
    """A pattern for the places of ``old``: whole words, where it is an identifier and some are."""
    word = re.compile(rf"\b{re.escape(old)}\b")
    return word if old.isidentifier() and word.search(text) else re.compile(re.escape(old))


def _unique_edit(text: str, places: re.Pattern[str], new: str) -> tuple[str, str] | None:
    """Old and new text that replace every place at once; the old text occurs only once.

    It is the span from the first place to the last, grown by whole lines until it is unique.
    """
    matches = list(places.finditer(text))
    if not matches:
        return None
    start, end = matches[0].start(), matches[-1].end()
    while text.count(text[start:end]) > 1:
        start = text.rfind("\n", 0, max(0, start - 1)) + 1
        after = text.find("\n", end + 1)
        end = after if after >= 0 else len(text)
    old = text[start:end]
    return old, places.sub(lambda _: new, old)


def _run(step: RunCommand, situation: DemoSituation) -> Work:
    if why := _objection("bash", "", situation):
        return why
    want = WantedCall("bash", {"command": step.command})
    (result,) = yield DemoReply(
        "They named the command, so I run it as it stands.", f"Running `{step.command}`.", (want,)
    )
    if was_refused(result):
        return f"{_FAILURE}: {result.strip()}"
    if code := exit_code(result):
        output = fenced(result.strip()[-_SHOWN_OUTPUT:])
        return f"`{step.command}` ended with status {code}:\n\n{output}"
    return report(want, result)
