"""Which lines of an output are worth a look: those that look like no other line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from explorer.models.offline.extractive import cues
from explorer.models.offline.extractive.blocks import Block
from explorer.models.offline.extractive.sentences import is_torn
from explorer.models.offline.extractive.statement import Speaker

_CODE_LINE = re.compile(
    r"[{(,;}\[:\\]$|^(?:def|class|import|from|return|if|for|while|const|let|var|function|export|"
    r"public|private|static|async|await|use|package|fn|pub|type|interface|#include|//|/\*|\*|#|<)\b|^[/#*<]"
)
_LETTERS = re.compile(r"[A-Za-z]+")
_DIGITS = re.compile(r"[0-9]+")
_ASSIGNED = re.compile(r"^\s*[\w .()/-]{2,40}(?::|=|\bis\b|\bare\b)\s*\S")
_CUT = re.compile(r"(?<!\s)\s*+\[\.\.\. [\d,]+ more characters truncated\]\s*\Z")
_RESULT_LINES = 4
_COMMON = 2
_MOST_LINES = 4_000
"""Lines of one output that are looked at, from both of its ends."""


@dataclass(frozen=True, slots=True)
class RareLine:
    """A line and whether it gives a value to a name."""

    text: str
    assigned: bool


def result_lines(text: str) -> list[str]:
    """The lines of an output that can say something, without blanks around them."""
    cut = _CUT.search(text)
    if cut is not None:  # the line that was cut off says less than it did
        text = text[: max(0, text.rfind("\n", 0, cut.start()))]
    found = text.split("\n")
    if len(found) > _MOST_LINES:
        half = _MOST_LINES // 2
        found = found[:half] + found[-half:]
    lines = [line.strip() for line in found]
    return [line for line in lines if 6 <= len(line) <= 400 and line[0] != "|"]


def shape_counts(blocks: list[Block], cancelled: Callable[[], bool]) -> dict[str, int]:
    """How often each shape of line stands in the outputs; letters and digits are made equal."""
    counts: Counter[str] = Counter()
    for block in blocks:
        if cancelled():
            break
        if block.speaker is Speaker.RESULT:
            counts.update(map(shape, result_lines(block.text)))
    return counts


def shape(line: str) -> str:
    """A line with every word made "a" and every number made "9"."""
    return _DIGITS.sub("9", _LETTERS.sub("a", line[:120]))


def rare_lines(lines: list[str], failing: set[str], shapes: Mapping[str, int]) -> list[RareLine]:
    """The few lines of an output with the rarest shapes, in their order."""
    rare = []
    for index, line in enumerate(lines):
        if line not in failing and len(line) <= 200:
            count = shapes.get(shape(line), 0)
            if count <= _COMMON:
                rare.append((count, _ASSIGNED.match(line) is None, index, line))
    rare.sort()
    chosen = sorted(rare[:_RESULT_LINES], key=lambda entry: entry[2])
    return [
        RareLine(line, not plain)
        for _, plain, _, line in chosen
        if not _CODE_LINE.search(line) and not is_torn(line)
    ]


def is_code(line: str) -> bool:
    """Whether a line that speaks of a failure is torn out of a program or a listing of one."""
    if cues.names_failure(line):
        return False
    return is_torn(line) or _CODE_LINE.search(line) is not None
