"""Reads a serialized conversation back into who said what (A21, both spellings)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from explorer.models.offline.extractive.statement import Speaker
from explorer.session.text import as_prose

_NAMES = (
    "Assistant thinking|Assistant tool calls?|Assistant|User|Human|Thinking|Tool calls?"
    "|Tool results?|System|Developer|Custom|Bash|Shell|Summary"
    "|ASSISTANT[_ ]THINKING|ASSISTANT[_ ]TOOL[_ ]CALLS?|ASSISTANT|USER|HUMAN|THINKING"
    "|TOOL[_ ]CALLS?|TOOL[_ ]USE|TOOL[_ ]RESULTS?|SYSTEM|CUSTOM|BASH|SUMMARY"
)
_MARK = re.compile(rf"^\[(?P<name>{_NAMES})(?:[:(][^\]\n]{{0,80}})?\]:?[ \t]*", re.MULTILINE)
_RULE = re.compile(r"^\s*(?:-{3,}|={3,}|\*{3,}|_{3,}|─{3,})\s*$", re.MULTILINE)
_CALL = re.compile(r"([A-Za-z_][\w.-]*)\(")
_LONGEST = 40_000
"""Characters of one block that are read, half of them from its end."""
_DECODER = json.JSONDecoder()
# An earlier summary told to the model; its tags are escaped where the text was escaped.
_FRAMED = re.compile(
    r"(?:<|&lt;)(?P<tag>[a-z-]*summary)(?:>|&gt;)(?P<inner>.*)(?:<|&lt;)/(?P=tag)(?:>|&gt;)",
    re.DOTALL,
)
_SHELL = re.compile(r"^Ran `(?P<command>[^\n]+)`\n(?:```\w*\n)?(?P<output>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One message, or one part of it."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class CallText:
    """A tool call read from a block. Values that are not JSON stay text."""

    name: str
    arguments: dict[str, Any]


def blocks_of(text: str, cancelled: Callable[[], bool]) -> list[Block]:
    """The blocks in order. Text before the first mark, or without any mark, is the user's."""
    # Plain tuples: hundreds of thousands of matches would keep the collector of garbage busy.
    marks = [
        (m.start(), m.end(), _speaker(m.group("name")))
        for m in _marks(text, cancelled)
        if _stands_free(text, m)
    ]
    blocks: list[Block] = []
    first = marks[0][0] if marks else len(text)
    lead = _ends(text, 0, first).strip()
    if lead:
        blocks.extend(speech_blocks(Speaker.USER, lead))
    for index, (_, start, speaker) in enumerate(marks):
        if cancelled():
            return blocks
        end = marks[index + 1][0] if index + 1 < len(marks) else len(text)
        body = _trimmed(text, start, end)
        if body:
            blocks.extend(speech_blocks(speaker, body))
    return blocks


def _marks(text: str, cancelled: Callable[[], bool]) -> Iterator[re.Match[str]]:
    """The role marks, looked for only where a line begins with a bracket."""
    place = 0 if text.startswith("[") else text.find("\n[") + 1
    while (place or text.startswith("[")) and not cancelled():
        mark = _MARK.match(text, place)
        if mark is not None:
            yield mark
        place = text.find("\n[", place) + 1
        if not place:
            return


def bounded(text: str) -> str:
    """A message or a summary as it is read: of a very long one its both ends, in short lines."""
    return as_prose(_ends(text, 0, len(text)))


def _ends(text: str, start: int, end: int) -> str:
    """A stretch of a text; of a very long one its both ends."""
    if end - start <= _LONGEST:
        return text[start:end]
    half = _LONGEST // 2
    return f"{text[start : start + half]}\n{text[end - half : end]}"


def _stands_free(text: str, mark: re.Match[str]) -> bool:
    """A role mark opens a block: after a blank line or a divider, never inside a paragraph."""
    start = mark.start()
    if start == 0 or text[max(0, start - 2) : start] == "\n\n":
        return True
    before = text[max(0, start - 120) : start]
    lines = before.split("\n")
    previous = lines[-2].strip() if len(lines) >= 2 else ""
    return not previous or _RULE.match(previous) is not None


def _trimmed(text: str, start: int, end: int) -> str:
    """A stretch of a text without the dividers at its end."""
    lines = _ends(text, start, end).strip().split("\n")
    while lines and (not lines[-1].strip() or _RULE.match(lines[-1])):
        lines.pop()
    return "\n".join(lines).rstrip()


@lru_cache(maxsize=64)
def _speaker(name: str) -> Speaker:
    low = name.lower().replace("_", " ")
    if "result" in low:
        return Speaker.RESULT
    if "call" in low or "use" in low.split():
        return Speaker.CALL
    if "thinking" in low:
        return Speaker.THINKING
    if low in ("assistant",):
        return Speaker.ASSISTANT
    if low in ("bash", "shell"):
        return Speaker.RESULT
    if low == "summary":
        return Speaker.SUMMARY
    return Speaker.USER


def speech_blocks(speaker: Speaker, body: str) -> list[Block]:
    """Splits what only looks like the user's words: shell runs and embedded summaries."""
    if speaker is Speaker.CALL:
        return [Block(speaker, body)]
    if speaker is Speaker.RESULT:
        return [Block(speaker, _ends(body, 0, len(body)))]
    body = bounded(body)
    if speaker is not Speaker.USER:
        return [Block(speaker, body)]
    shell = _SHELL.match(body)
    if shell:
        call = Block(Speaker.CALL, f"bash(command={json.dumps(shell.group('command'))})")
        return [call, Block(Speaker.RESULT, shell.group("output").rstrip("` \n"))]
    framed = _FRAMED.search(body)
    if framed:
        inner = Block(Speaker.SUMMARY, framed.group("inner").strip())
        rest = body[framed.end() :].strip()
        return [inner, Block(Speaker.USER, rest)] if rest else [inner]
    if re.match(r"^#{1,3} \w+", body) and len(re.findall(r"^#{2,3} \w", body, re.MULTILINE)) >= 3:
        return [Block(Speaker.SUMMARY, body)]
    return [Block(speaker, body)]


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
