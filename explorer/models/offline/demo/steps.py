"""What a request asks for, step by step: things to look at, to create, to change and to run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.models.offline.demo.looking import wanted_call
from explorer.models.offline.demo.move import Wanted


@dataclass(frozen=True, slots=True)
class Look:
    """Read, list, find or search."""

    want: Wanted
    saying: str


@dataclass(frozen=True, slots=True)
class Create:
    """Write a file."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Put a text in the place of another, in one file."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Run:
    """Run a command line."""

    command: str


@dataclass(frozen=True, slots=True)
class Tests:
    """Run the tests, and repair what fails where ``repairs``. ``command``: how, where named."""

    command: str = ""
    repairs: bool = False


Step = Look | Create | Replace | Run | Tests

_TEXT = (
    r"(?:```\w*\n(?P<{0}f>.*?)\n?```|`(?P<{0}b>[^`\n]+)`|\"(?P<{0}d>[^\"\n]*)\""
    r"|'(?P<{0}s>[^'\n]*)'|(?P<{0}w>{1}))"
)
_PATH = r"[`\"']?(?P<path>[\w@+-]*+[/.][\w@.+/-]*\w)[`\"']?"


def _text(name: str, bare: str = r"\S+") -> str:
    """A quoted text, or a bare one: groups whose names begin with ``name``."""
    return _TEXT.format(name, bare)


_WORD = r"[^\s.,;]+"
_WITH = r"(?:\s+(?:with|containing|that\s+(?:says|contains|holds|reads)|saying)|\s*:)"
_WHAT_IS = r"(?:\s+(?:the|these|this)?\s*(?:contents?|texts?|words?|lines?|code)\b)?"
_CREATE = re.compile(
    rf"\b(?:create|make|write|add|start)\s+(?:me\s+)?(?:a\s+|an\s+|the\s+)?(?:new\s+|empty\s+|text\s+)*"
    rf"(?:file\s+)?(?:named\s+|called\s+)?{_PATH}"
    rf"(?:{_WITH}{_WHAT_IS}\s*:?\s*{_text('c', '.+')})?",
    re.IGNORECASE | re.DOTALL,
)
_WRITE_TO = re.compile(
    rf"\b(?:write|put|save)\s+{_text('c', '(?!)')}\s+(?:in|into|to|as)\s+(?:a\s+|the\s+)?"
    rf"(?:new\s+)?(?:file\s+)?(?:named\s+|called\s+)?{_PATH}",
    re.IGNORECASE | re.DOTALL,
)
_REPLACE = re.compile(
    rf"\b(?:replace|change|rename|turn|substitute)\s+(?:every\s+|all\s+|the\s+(?:word|text)\s+)?"
    rf"{_text('o')}\s+(?:by|with|to|into|for)\s+{_text('n')}\s+(?:in|inside)\s+(?:the\s+file\s+)?{_PATH}",
    re.IGNORECASE | re.DOTALL,
)
_IN_REPLACE = re.compile(
    rf"\bin\s+{_PATH},?\s+(?:please\s+)?(?:replace|change|rename|turn)\s+{_text('o')}\s+"
    rf"(?:by|with|to|into)\s+{_text('n', _WORD)}",
    re.IGNORECASE | re.DOTALL,
)
_PROGRAMS = (
    r"(?:pytest|python3?|npm|npx|pnpm|yarn|node|make|cargo|go|git|pip|ruff|mypy|ls|cat|echo|pwd|"
    r"uname|wc|grep|find|sh|bash|date|env|tox|deno|bun)"
)
_RUN = re.compile(
    r"\b(?:run|execute|call|start)\s+(?:the\s+)?(?:command\s+|shell\s+command\s+)?:?\s*"
    rf"(?:```\w*\n(?P<f>.*?)\n?```|`(?P<b>[^`\n]+)`|(?P<w>{_PROGRAMS}\b[^\n]*?))\s*[.!?]*$",
    re.IGNORECASE | re.DOTALL,
)
_TESTS = re.compile(
    r"\brun\s+(?:all\s+|me\s+)?(?:of\s+)?(?:the\s+|my\s+|its\s+|our\s+)?(?:unit\s+|whole\s+)?"
    r"(?:tests?|test\s+suite|suite)\b"
    r"|\b(?:do|does|are|is)\s+(?:all\s+)?(?:the\s+|my\s+)?tests?\b.{0,300}\b(?:pass|green|work|run|fail)"
    r"|\bwhy\s+(?:do|does|is|are)\b.{0,100}\btests?\b.{0,100}\bfail",
    re.IGNORECASE,
)
_FIX = re.compile(
    r"\b(?:fix|repair|correct|mend|solve)\b.{0,300}\b(?:tests?|bugs?|failures?|failing|errors?|fails?|"
    r"breaks?|it)\b"
    r"|\b(?:make|get|let)\b.{0,100}\btests?\b.{0,100}\b(?:pass|green|work|succeed)"
    r"|\btests?\b.{0,100}\bfail\w*\b.{0,100}\b(?:fix|repair|correct|mend)\b",
    re.IGNORECASE | re.DOTALL,
)
_BETWEEN = re.compile(
    r"(?<!\s)[^\S\n]*+\n\s*+(?:[-*]|\d++[.)])\s+|;\s+|[.!]\s+(?=[A-Z])|(?:,|(?<!\s))\s++(?:and\s+then|and\s+after\s+that|then|and)\s+"
    r"(?=(?:then\s+|please\s+|also\s+)*(?:read|show|open|list|find|search|grep|look|create|make|write|"
    r"put|save|replace|change|rename|run|execute|fix|repair)\b)|,\s+(?=(?:then|finally)\b)",
    re.IGNORECASE,
)
_OPAQUE = re.compile(r"```.*?```|`[^`\n]*`|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'", re.DOTALL)

LONGEST = 100_000
"""Characters of a request that the rules read."""


def steps_in(question: str) -> list[Step]:
    """The steps that a request asks for, in order; empty when no rule understands it, or it is
    longer than ``LONGEST``: cut off, it would ask for something else."""
    if len(question) > LONGEST:
        return []
    whole = _step(question)
    if isinstance(whole, Tests) and whole.repairs:
        # Reading the failure, the file and running again are part of it.
        return [whole]
    parts = _parts(question)
    steps = [step for part in parts if (step := _step(part)) is not None]
    if len(steps) > 1 or whole is None:
        return steps
    return [whole]


def _parts(question: str) -> list[str]:
    """A request cut where it says "and then"; what stands in quotes or fences stays whole."""
    hidden = _OPAQUE.sub(lambda found: "\0" * len(found[0]), question)
    parts, start = [], 0
    for gap in _BETWEEN.finditer(hidden):
        parts.append(question[start : gap.start()])
        start = gap.end()
    parts.append(question[start:])
    return [part.strip() for part in parts if part.strip()]


def _step(part: str) -> Step | None:
    """The one step that a text asks for."""
    command = _command(part)
    if _FIX.search(part):
        return Tests(command, repairs=True)
    if (found := _IN_REPLACE.search(part) or _REPLACE.search(part)) is not None:
        return Replace(found["path"], _said(found, "o"), _said(found, "n"))
    if (found := _WRITE_TO.search(part)) is not None:
        return Create(found["path"], _ended(_said(found, "c")))
    if _TESTS.search(part):
        return Tests(command)
    if command:
        return Run(command)
    if (found := _CREATE.search(part)) is not None:
        return Create(found["path"], _ended(_said(found, "c")))
    look = wanted_call(part)
    return None if look is None else Look(Wanted(look[0], look[1]), look[2])


def _command(part: str) -> str:
    found = _RUN.search(part)
    if found is None:
        return ""
    return (found["f"] or found["b"] or found["w"] or "").strip()


def _said(found: re.Match[str], name: str) -> str:
    groups = found.groupdict()
    return next((text for end in "fbdsw" if (text := groups[name + end]) is not None), "")


def _ended(content: str) -> str:
    """The content of a file, its last line ended."""
    content = content.replace("\\n", "\n")
    return f"{content}\n" if content and not content.endswith("\n") else content
