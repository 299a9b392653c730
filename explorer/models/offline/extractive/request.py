"""Takes a summary request apart: conversation, earlier summary, instructions (A21, A22)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from explorer.facts.entry_texts import Speaker
from explorer.models.request import ChatMessage, ModelRequest
from explorer.session.text import as_prose
from explorer.tokens.estimate import estimate_text

_NAMES = (
    "Assistant thinking|Assistant tool calls?|Assistant|User|Human|Thinking|Tool calls?"
    "|Tool results?|System|Developer|Note|Custom|Bash|Shell|Summary"
    "|ASSISTANT[_ ]THINKING|ASSISTANT[_ ]TOOL[_ ]CALLS?|ASSISTANT|USER|HUMAN|THINKING"
    "|TOOL[_ ]CALLS?|TOOL[_ ]USE|TOOL[_ ]RESULTS?|SYSTEM|NOTE|CUSTOM|BASH|SUMMARY"
)
_SPEAKERS = (
    ("result", Speaker.RESULT),
    ("tool call", Speaker.COMMAND),
    ("tool use", Speaker.COMMAND),
    ("thinking", Speaker.ASIDE),
    ("assistant", Speaker.ASSISTANT),
    ("bash", Speaker.RESULT),
    ("shell", Speaker.RESULT),
    ("summary", Speaker.SUMMARY),
    ("note", Speaker.ASIDE),
)
_MARK = re.compile(rf"^\[(?P<name>{_NAMES})(?:[:(][^\]\n]{{0,80}})?\]:?[ \t]*", re.MULTILINE)
_RULE = re.compile(r"^\s*(?:-{3,}|={3,}|\*{3,}|_{3,}|─{3,})\s*$", re.MULTILINE)
_CALL = re.compile(r"([A-Za-z_][\w.-]*)\(")
_LONGEST = 40_000
"""Characters of one block that are read, half of them from its end."""
_DECODER = json.JSONDecoder()
# An earlier summary in a message; its tags are escaped where the text was escaped.
_FRAMED = re.compile(
    r"(?:<|&lt;)(?P<tag>[a-z-]*summary)(?:>|&gt;)(?P<inner>.*)(?:<|&lt;)/(?P=tag)(?:>|&gt;)",
    re.DOTALL,
)
_SHELL = re.compile(r"^Ran `(?P<command>[^\n]+)`\n(?:```\w*\n)?(?P<output>.*)", re.DOTALL)


class RequestBlock(Struct, frozen=True):
    """One message, or one part of it."""

    speaker: Speaker
    text: str


class CallText(Struct, frozen=True):
    """A tool call read from a block. Values that are not JSON stay text."""

    name: str
    arguments: dict[str, Any]


def blocks_of(text: str, cancelled: Callable[[], bool]) -> list[RequestBlock]:
    """The blocks in order. Text before the first mark, or without any mark, is the user's."""
    # Plain tuples: hundreds of thousands of matches would keep the collector of garbage busy.
    marks = [(0, 0, Speaker.USER)]
    marks += [(m.start(), m.end(), _speaker(m.group("name"))) for m in _marks(text, cancelled)]
    blocks: list[RequestBlock] = []
    for index, (_, start, speaker) in enumerate(marks):
        if cancelled():
            return blocks
        end = marks[index + 1][0] if index + 1 < len(marks) else len(text)
        lines = ends_of(text[start:end], _LONGEST).strip().split("\n")
        while lines and (not lines[-1].strip() or _RULE.match(lines[-1])):
            lines.pop()
        if lines:
            blocks.extend(speech_blocks(speaker, "\n".join(lines).rstrip()))
    return blocks


def _marks(text: str, cancelled: Callable[[], bool]) -> Iterator[re.Match[str]]:
    """The role marks that open a block, looked for only where a line begins with a bracket."""
    place = 0 if text.startswith("[") else text.find("\n[") + 1
    while (place or text.startswith("[")) and not cancelled():
        mark = _MARK.match(text, place)
        if mark is not None and _stands_free(text, mark):
            yield mark
        place = text.find("\n[", place) + 1
        if not place:
            return


def bounded(text: str) -> str:
    """A message or a summary as it is read: of a very long one its both ends, in short lines."""
    return as_prose(ends_of(text, _LONGEST))


def _stands_free(text: str, mark: re.Match[str]) -> bool:
    """A role mark opens a block: after a blank line or a divider, never within a paragraph."""
    start = mark.start()
    if start == 0 or text[max(0, start - 2) : start] == "\n\n":
        return True
    before = text[max(0, start - 120) : start]
    lines = before.split("\n")
    previous = lines[-2].strip() if len(lines) >= 2 else ""
    return not previous or _RULE.match(previous) is not None


def _speaker(name: str) -> Speaker:
    low = name.lower().replace("_", " ")
    return next((speaker for word, speaker in _SPEAKERS if word in low), Speaker.USER)


def speech_blocks(speaker: Speaker, body: str) -> list[RequestBlock]:
    """Splits what only looks like the user's words: shell runs and embedded summaries."""
    if speaker in (Speaker.COMMAND, Speaker.RESULT):
        return [RequestBlock(speaker, ends_of(body, _LONGEST))]
    body = bounded(body)
    if speaker is not Speaker.USER:
        return [RequestBlock(speaker, body)]
    body = typed(body)
    if not body:
        return []
    shell = _SHELL.match(body)
    if shell:
        call = RequestBlock(Speaker.COMMAND, f"bash(command={json.dumps(shell.group('command'))})")
        return [call, RequestBlock(Speaker.RESULT, shell.group("output").rstrip("` \n"))]
    framed = _FRAMED.search(body)
    if framed:
        inner = RequestBlock(Speaker.SUMMARY, framed.group("inner").strip())
        rest = body[framed.end() :].strip()
        return [inner, RequestBlock(Speaker.USER, rest)] if rest else [inner]
    if body.startswith(_CARRIED_ON):
        return [RequestBlock(Speaker.SUMMARY, body)]
    if re.match(r"^#{1,3} \w+", body) and len(re.findall(r"^#{2,3} \w", body, re.MULTILINE)) >= 3:
        return [RequestBlock(Speaker.SUMMARY, body)]
    return [RequestBlock(speaker, body)]


_ELEMENT = re.compile(
    r"<(?P<tag>skill|[a-zA-Z]+(?:[-_ ][a-zA-Z]+)+|"
    r"INSTRUCTIONS)(?: [^<>\n]{0,200})?>.*?(?:</(?P=tag)>|\Z)",
    re.DOTALL,
)
_ADDED = re.compile(
    r"\s*(?:# AGENTS\.md instructions|Base directory for this skill:|File \S.*:\n```|Caveat: The "
    r"messages below|\[Request interrupted|\[Image: |Stop hook feedback|\w+ hook (?:feedback|"
    r"error))"
)
# What Claude Code adds to a plan that is carried out.
_PLAN_ADDED = re.compile(
    r"^(?:If you need specific details from before exiting plan mode|"
    r"If this plan can be broken down into multiple independent tasks).*$\n?",
    re.MULTILINE,
)
# What Claude Code puts around the summary that it goes on from.
_DRAFT = re.compile(r"\A(?:.*?^Summary:[ \t]*$|[^\n]*\n)", re.DOTALL | re.MULTILINE)
_TRAILER = re.compile(
    r"^(?:If you need specific details from before compaction|"
    r"(?:Please )?continue the conversation from "
    r"where).*\Z",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_CARRIED_ON = "This session is being continued from a previous conversation"


def typed(body: str) -> str:
    """What a person typed of a user's message: agents put reminders, instructions, files and the
    state of the editor into elements of their own, or into messages with a known beginning."""
    if _ADDED.match(body):
        return ""
    if "plan" in body:
        body = _PLAN_ADDED.sub("", body)
    if "<" not in body:
        return body
    return _ELEMENT.sub(_text_of_summary, body).strip()


def bare_notes(text: str) -> str:
    """A summary without what an agent puts around it, and the draft before it."""
    notes = _DRAFT.sub("", text) if text.lstrip().startswith(_CARRIED_ON) else text
    return _TRAILER.sub("", notes).strip()


def _text_of_summary(element: re.Match[str]) -> str:
    return element.group() if element["tag"].endswith("summary") else ""


def calls_of(text: str) -> list[CallText]:
    """The calls of a tool-calls block: `name(key=<json>, ...); name(...)`."""
    calls: list[CallText] = []
    position = 0
    while True:
        match = _CALL.search(text, position)
        if match is None:
            return calls
        arguments, position = _arguments(text, match.end())
        calls.append(CallText(match.group(1), arguments))


_KEY = re.compile(r"\s*,?\s*([A-Za-z_]\w*)\s*=\s*")


def _arguments(text: str, position: int) -> tuple[dict[str, Any], int]:
    arguments: dict[str, Any] = {}
    while True:
        key = _KEY.match(text, position)
        if key is None:
            close = text.find(")", position)
            if close < 0:
                return arguments, len(text)
            return arguments, close + 1
        try:
            value, position = _DECODER.raw_decode(text, key.end())
        except json.JSONDecodeError:
            # A shortened value: what is there up to the end of the line is kept as text.
            end = text.find("\n", key.end())
            end = len(text) if end < 0 else end
            value, position = text[key.end() : end].strip('"'), end
        arguments[key.group(1)] = value


DEPTH = 1_500_000
"""Characters of a conversation that are read."""
_LEAST = 240
"""Characters of an older block, from both its ends, that say something."""


def thin(blocks: list[RequestBlock], depth: int = DEPTH) -> list[RequestBlock]:
    """The blocks with about `depth` characters left in them: the newest whole, of older ones both
    ends, and where they are very many only some, of the user's twice as many."""
    if sum(len(block.text) for block in blocks) <= depth:
        return blocks
    room, newest = depth // 2, len(blocks)
    while newest and room >= len(blocks[newest - 1].text):
        newest -= 1
        room -= len(blocks[newest].text)
    share = max(_LEAST, depth // 2 // newest)
    every = -(-share * newest // (depth // 2))
    older = [
        replace(block, text=ends_of(block.text, share))
        for index, block in enumerate(blocks[:newest])
        if index % every == 0 or (block.speaker is Speaker.USER and index % (every // 2 or 1) == 0)
    ]
    return older + blocks[newest:]


def ends_of(text: str, most: int) -> str:
    """The beginning and the end of a text, cut at its lines where that is possible."""
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[len(text) - most // 2 :]
    line = head.rfind("\n")
    head = head[:line] if line > most // 4 else head
    line = tail.find("\n")
    tail = tail[line + 1 :] if 0 <= line < most // 4 else tail
    return f"{head}\n{tail}"


# "Additional focus: ...", "Pay special attention to this:" and what follows to the end; the same
# between tags; "Focus on ...".
_FOCUS = (
    re.compile(
        r"^[^\n:]*\b(?:focus|attention|instructions?|guidance|emphasi[sz]e|concentrate)\b"
        r"[^\n:]{0,60}:[ \t*_]*\n?(?P<text>\S.*)\Z",
        re.IGNORECASE | re.MULTILINE | re.DOTALL,
    ),
    re.compile(r"<((?:custom-|user-)?instructions|focus)>(?P<text>.*?)</\1>", re.DOTALL),
    re.compile(r"^[ \t]*(?:please\s+)?focus\s+on\s+(?P<text>.+)$", re.I | re.MULTILINE),
)


class RequestParts(Struct, frozen=True):
    """The parts of a request. `spoken` holds a conversation given as messages, not as text."""

    conversation: str
    previous: str
    instructions: str
    focus: str
    spoken: tuple[RequestBlock, ...] = ()

    @property
    def tokens(self) -> int:
        """An estimate of all the text that the summary stands for."""
        parts = (self.conversation, self.previous, *(block.text for block in self.spoken))
        return sum(map(estimate_text, parts))


def read_request(request: ModelRequest) -> RequestParts:
    """The material of a request; a request without tags is read message by message."""
    texts = [m.text for m in request.messages if m.role == "user"]
    whole = texts[-1] if texts else ""
    tagged = next((t for t in texts if "<conversation>" in t), None)
    if tagged is not None:
        whole = "\n\n".join(texts) if len(texts) > 1 else tagged
        conversation, rest = _cut(whole, "conversation")
        spoken: tuple[RequestBlock, ...] = ()
    else:
        conversation, rest = "", whole
        spoken = tuple(_spoken(request.messages))
    previous, rest = _cut(rest, "previous-summary")
    context, rest = _cut(rest, "additional-context")
    return RequestParts(conversation, previous, rest, _focus(rest, context), spoken)


def _cut(text: str, tag: str) -> tuple[str, str]:
    """What stands in the first `<tag>` element at the start of a line, and the text without it."""
    opening = re.compile(rf"<{tag}>[ \t]*\n?")
    start = 0 if text.startswith(f"<{tag}>") else text.find(f"\n<{tag}>") + 1
    match = opening.match(text, start)
    if match is None:
        return "", text
    # From the end: what closes it stands near there, and a long text is not searched through.
    end = text.rfind(f"\n</{tag}>", match.end() - 1)
    if end < 0:
        loose = text.find(f"</{tag}>", match.end())
        if loose < 0:
            return text[match.end() :], text[:start]
        return text[match.end() : loose], text[:start] + text[loose + len(tag) + 3 :]
    body = text[match.end() : end]
    return body.strip("\n"), text[:start] + text[end + len(tag) + 4 :]


def _spoken(messages: tuple[ChatMessage, ...]) -> list[RequestBlock]:
    speakers = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT, "tool": Speaker.RESULT}
    last_user = max((i for i, m in enumerate(messages) if m.role == "user"), default=-1)
    blocks: list[RequestBlock] = []
    for index, message in enumerate(messages):
        if index == last_user or message.role not in speakers:
            continue
        if message.text.strip():
            blocks.extend(speech_blocks(speakers[message.role], message.text))
        for call in message.tool_calls:
            values = ((key, json.dumps(value)) for key, value in call.arguments.items())
            arguments = ", ".join(f"{key}={value}" for key, value in values)
            blocks.append(RequestBlock(Speaker.COMMAND, f"{call.name}({arguments})"))
    return blocks


def _focus(instructions: str, context: str) -> str:
    focus_texts = [one["text"] for form in _FOCUS for one in form.finditer(instructions)]
    return "\n".join(part for part in (context, *focus_texts) if part.strip())
