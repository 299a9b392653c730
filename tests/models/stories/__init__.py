"""Hand-written conversations with marked facts.

In a story file `«kind|text»` marks a fact, `«kind>3|text»` one that generation 3 makes
stale. `@listing N`, `@code N` and `@log N` stand for 3 N dull lines of a tool result.
Generations are divided by a line of five `=`.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.models.planting import Planted, Story

_MARK = re.compile(r"«([a-z ]+)(?:>(\d))?\|([^»]+)»")
_DULL = re.compile(r"^(?:\[Tool result\]: )?@(listing|code|log) (\d+)$", re.MULTILINE)
_HERE = Path(__file__).parent


def tuning_stories() -> list[Story]:
    """Stories that the summarizer may be adjusted on."""
    return [read_story(path) for path in sorted(_HERE.glob("tuning-*.txt"))]


def held_out_stories() -> list[Story]:
    """Stories that it is only measured on."""
    return [read_story(path) for path in sorted(_HERE.glob("held-out-*.txt"))]


def read_story(path: Path) -> Story:
    """One story file."""
    chunks: list[str] = []
    facts: list[Planted] = []
    for number, raw in enumerate(path.read_text("utf-8").split("\n=====\n"), 1):
        for kind, changed, needle in _MARK.findall(raw):
            facts.append(Planted(kind, " ".join(needle.split()), number, int(changed or 0)))
        chunks.append(expand(_MARK.sub(lambda m: m.group(3), raw)).strip())
    return Story(path.stem, chunks, facts)


def expand(text: str) -> str:
    """The text with dull lines in the place of their marks."""
    return _DULL.sub(_dull, text)


def _dull(match: re.Match[str]) -> str:
    kind, count = match.group(1), 3 * int(match.group(2))
    return ("[Tool result]: " if match.group().startswith("[") else "") + _lines(kind, count)


def _lines(kind: str, count: int) -> str:
    if kind == "listing":
        return "\n".join(f"component_{index * 7 % 93}.tsx" for index in range(count))
    if kind == "code":
        return "\n".join(
            f"    values[{index}] = normalise(values[{index}], width={index % 9})"
            for index in range(count)
        )
    return "\n".join(
        f"12:0{index % 6}:{index % 60:02d} DEBUG worker-{index % 4} polled queue, empty"
        for index in range(count)
    )
