"""Lines that tell of a failure."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 600
"""Characters; a longer line is data, and only its beginning is kept."""
MOST = 40
"""Failures of one output that are kept: the first half of them and the last."""

_WORDS = (
    "error", "fail", "fatal", "panic", "exception", "traceback", "denied", "refused", "not found",
    "no such", "timed out", "timeout", "abort", "segfault", "segmentation", "out of memory",
    "undefined", "cannot", "unable to", "unresolved", "killed", "conflict", "econn", "enoent",
    "unexpected", "unhandled", "invalid", "mismatch", "deadlock", "[e0", "×", "✗", "✘",
)  # fmt: skip
_STRONG = re.compile(
    r"""^\W*(?:\[?(?:error|fatal|panic|err!|critical|fail(?:ed|ure)?)\b[\]:!(\[\s-]) | ^FAIL$ |
        ^E\s{2,}
    | \b[A-Z]\w*(?:Error|Exception|Failure|Fault)\b(?!\s*\() | \b(?:E(?:CONN|NOENT|ACCES|PIPE|
        ADDR|PERM|
      TIMEDOUT|BUSY)\w*)
    | ^\s*Traceback\b | \berror\s*(?:\[\w+\]|[A-Z]{1,4}\d+)?:\s | \b(?:ERROR|FATAL|PANIC|
        CRITICAL)\b
    | (?:^|[\w)]:\s)(?:fatal|panic|error):? | \bpanicked\s+at\b | \bFAILED\b |
        ^-{2,3}\s*FAIL\b | ^npm\s+ERR!
    | \bBUILD\s+FAILED\b | \bEXCEPTION_\w+
    """,
    re.VERBOSE,
)
_PHRASE = re.compile(
    r"""\b(?:permission\s+denied|access\s+denied|no\s+such\s+(?:file|module|host|table|column)|
        command\s+not\s+
    found|cannot\s+(?:open|find|read|write|connect|resolve|allocate|import|access)|
        connection\s+(?:refused|reset|
    closed|timed\s+out)|timed?\s?out|out\s+of\s+memory|segmentation\s+fault|core\s+dumped|
        undefined\s+
    reference|undeclared\s+identifier|unresolved\s+(?:reference|import|external)|
        assertion\s+.{0,30}failed|
    could\s+not\s+(?:compile|connect|find|resolve|open|read|load)|unable\s+to\s+\w+|
        failed\s+(?:to|with|in|
    for|at)\b|exited\s+with\s+code\s+[1-9]|exit\s+(?:code|status):?\s+[1-9]|killed\s+process|
        merge\s+conflict|
    deadlock\s+detected|build\s+stopped|unhandled\s+(?:rejection|exception|promise)|
    (?:\d+\s+)?(?:tests?|suites?|files?)\s+.{0,20}\b[1-9]\d*\s+fail(?:ed|ures?)|
    [1-9]\d*\s+(?:failed|failures?|errors?)\b(?!\s*[:=]\s*0)|abort(?:ing|\s+status)|
        is\s+not\s+(?:a\s+member\s+of|
    defined|recognized|assignable)|mismatched\s+types|was\s+not\s+in\s+a\s+correct\s+format|
        unexpected\s+
    (?:token|eof|end|keyword|indent)|invalid\s+(?:syntax|argument|credentials)|syntax\s+error|
    (?:got|was|received)\s+.{1,40},\s+(?:want|expected)\b|
        expected\s+.{1,60}\s+(?:but\s+)?(?:got|found|to\s+be|
    received)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_NONE = re.compile(
    r"\b(?:0|no|zero|without)\s+(?:\w+\s+)?(?:errors?|failures?|failed|warnings?|problems?|"
    r"conflicts?)\b"
    r"|\bfail(?:ed|ures?)?\s*[:=]\s*0\b|\berrors?\s*[:=]\s*0\b",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"""^\s*(?:\d+\s*[:|→\t-]\s*)?(?:
    (?:import|from|use|using|include|require|def|class|fn|func|function|const|let|var|return|
        raise|throw|
      except|catch|if|elif|else|for|while|public|private|protected|static|async|export|assert|
        try|with|struct|
      enum|interface|type|impl|match|case|package|namespace|pub|self\.|this\.|console\.|
        logger?\.|print\w*\()\b
    | [\w.]+\s*=\s | //|/\*|\*\s|\#\s|<!--|--\s|"[\w-]+"\s*:|@\w+ | \} | [+]\s* | -\s+\w+\s*[(=]
    )""",
    re.VERBOSE,
)
_CODE_END = re.compile(r"[{;(\[]\s*$|^\s*[\w.]+\(.*\)[,;]?\s*$")


def error_lines(text: str, *, is_error: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of a text that tell of a failure, with where they begin (characters).

    ``is_error``: the text is the result of a call that failed; where no line of it tells so, its
    first and its last line are taken for it.
    """
    low = text.lower()
    if not is_error and not any(word in low for word in _WORDS):
        return
    found = list(_telling_lines(text, low))
    if is_error and not found and text.strip():
        found = _ends(text)
    if len(found) > MOST:
        found = [*found[: MOST // 2], *found[-(MOST - MOST // 2) :]]
    seen = set()
    for start, line in found:
        if line not in seen:
            seen.add(line)
            yield start, line


def _telling_lines(text: str, low: str) -> Iterator[tuple[int, str]]:
    at = 0
    same_length = len(low) == len(text)
    for line in text.split("\n"):
        start = at
        at += len(line) + 1
        if len(line) < 4:
            continue
        small = low[start : start + len(line)] if same_length else line.lower()
        if not any(word in small for word in _WORDS):
            continue
        shown = line[:LONGEST]
        if is_failure(shown):
            bare = shown.strip()
            yield start + shown.find(bare), bare


def is_failure(line: str) -> bool:
    """Whether a line of output reports a failure, and is no line of a program."""
    if _NONE.search(line) and not re.search(r"[1-9]\d*\s+fail|\bERROR\b", line):
        return False
    if _SOURCE.match(line) or (
        _CODE_END.search(line) and not line.lstrip().startswith(("error", "E "))
    ):
        return False
    return _STRONG.search(line) is not None or _PHRASE.search(line) is not None


def _ends(text: str) -> list[tuple[int, str]]:
    first = text.lstrip()
    start = len(text) - len(first)
    head = first.split("\n", 1)[0][:LONGEST].rstrip()
    tail = text.rstrip()
    last_at = tail.rfind("\n") + 1
    last = tail[last_at:][:LONGEST]
    bare = last.strip()
    ends = [(start, head)]
    if last_at > start and bare and bare != head:
        ends.append((last_at + last.find(bare), bare))
    return ends
