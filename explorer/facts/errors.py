"""Lines of output that report a failure: recognising them, whole or cut off by a tool.

A line reports a failure when it has a mark that tools print (``_MARKS``) or a phrase of a message
(``_PHRASES``), unless it counts no failures, or is a line of a program, a log of changes or a
stack (``is_failure``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

from explorer.facts.text import statement_key
from explorer.session.describe import describe
from explorer.session.entries import Entry, ToolResultMessage
from explorer.session.kinds import Flag
from explorer.session.late_pattern import late_pattern
from explorer.session.tool_actions import ActionKind, tool_actions

LONGEST = 600
"""Characters of a line that are kept; a longer one is data."""
MOST = 40
"""Failures of one output that are kept, half of them from its end."""

_LISTING = late_pattern(r"\s{0,12}([0-9]{1,9})(→|\t)")
_LISTING_STARTS = frozenset(" \t0123456789")
_PLACE_ALONE = late_pattern(r"\bpanicked at \S+:\d+:\d+:\s*$")
"""The first line of a failure whose message is the next."""


def error_lines(text: str, *, is_error: bool = False) -> list[tuple[int, str]]:
    """The lines of an output that report a failure, each stripped and cut at ``LONGEST``
    characters, with its offset in characters.

    ``is_error``: the output is that of a failed call; if no line reports a failure, its first and
    last lines are returned.
    """
    lines = text.split("\n")
    failing = _failing(lines)
    if not failing:
        return _ends(text) if is_error else []
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    return _first_and_last(zip(starts, lines, strict=False), failing)


_VERDICT = late_pattern(
    r"^\W{0,3}(?:E\s+|--- )?(?:FAIL(?:ED|URE)?\b|ERROR\b|[Ee]rror(?:\[\w+\])?:|fatal:|panic\b"
    r"|npm ERR!|[\w.]+(?:Error|Exception)\b)|(?:^|[\s=])[1-9][0-9]* failed\b"
)
"""A failure itself, in the words of tools, where a phrase may be said of one."""


def reports_failure(output: str) -> bool:
    """Whether the output of a command of which no failure is recorded says plainly that one
    happened: it ended well behind a pipe, or its exit code is not known."""
    return any(_VERDICT.search(line) for _, line in error_lines(output))


def has_failed(entry: Entry, reply: Entry | None = None) -> bool:
    """Whether an entry failed, by what is recorded or, of a command, by what it printed.
    ``reply``: whose call it answers."""
    body = entry.body
    if describe(entry).flags & Flag.ERROR:
        return True
    if not isinstance(body, ToolResultMessage) or reply is None:
        return False
    # What a command shows of a file is not what went wrong with it.
    calls = (call for call in reply.calls if call.id == body.call_id)
    works = [tool_actions(call.name, call.arguments)[0].kind for call in calls]
    return ActionKind.RUN in works and reports_failure(entry.text)


def error_lines_among(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The same for single lines, given with their offsets."""
    return _first_and_last(lines, _failing([line for _, line in lines]))


def _failing(lines: Sequence[str]) -> dict[str, str]:
    """The lines that report a failure, each with what is kept of it; after one that names only
    the place of a panic, the next line with its message."""
    listed = _numbered_lines(lines)
    failing = {line: bare for line in set(lines) - listed if (bare := _failure(line[:LONGEST]))}
    if any(map(_PLACE_ALONE.search, failing)):
        for line, after in pairwise(lines):
            if line in failing and _PLACE_ALONE.search(line) and (bare := after[:LONGEST].strip()):
                failing.setdefault(after, bare)
    return failing


def _numbered_lines(lines: Sequence[str]) -> set[str]:
    """The lines of files that a tool listed with their numbers: the text of a file is no output. A
    number and a tab may begin a row of a table too, where the next number is not the next row's."""
    found: set[str] = set()
    before, number_before = "", -2
    for line in lines:
        mark = _LISTING.match(line) if line[:1] in _LISTING_STARTS else None
        number = int(mark[1]) if mark is not None else -2
        if mark is not None and mark[2] == "→":
            found.add(line)
        elif number == number_before + 1:
            found |= {before, line}
        before, number_before = line, number
    return found


def _first_and_last(
    lines: Iterable[tuple[int, str]], failing: Mapping[str, str]
) -> list[tuple[int, str]]:
    """The failing lines with their offsets, each once; of more than ``MOST`` the first and the
    last."""
    found = [
        (start + line.find(failing[line]), failing[line])
        for start, line in lines
        if line in failing
    ]
    if len(found) > MOST:
        found = [*found[: MOST // 2], *found[-(MOST - MOST // 2) :]]
    first: dict[str, int] = {}
    for start, line in found:
        first.setdefault(line, start)
    return [(start, line) for line, start in first.items()]


@lru_cache(maxsize=8192)
def _failure(line: str) -> str:
    """The line without blanks around it when it reports a failure, else nothing. Cached: outputs
    repeat their lines."""
    low = line.lower()
    if not any(word in low for word in _WORDS) and not _SIGNS.match(line):
        return ""
    bare = line.strip()
    return bare if len(bare) >= 4 and is_failure(line) else ""


def _ends(text: str) -> list[tuple[int, str]]:
    if not text.strip():
        return []
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


NEAR = 2
"""Entries between a cut line and its whole one: a call stands between two results."""
_SHORTEST = 5
"""Characters that a cut line must have left to be matched."""
_LEAD = late_pattern(r"^\s*(?:E\s+|>\s+)?")
_LISTED = late_pattern(r"^(?:FAILED|ERROR)\s+(?P<test>\S.*?)\s+-\s+(?P<what>.*)$", re.DOTALL)
_CUT = late_pattern(r"\s*(?:\.\.\.|…)\s*$")


def is_cut(text: str) -> bool:
    """Whether a line ends where a tool cut it off."""
    return _CUT.search(text) is not None


def beginning(text: str) -> str:
    """The key of a line without the mark before it and the ellipsis after it."""
    return statement_key(_CUT.sub("", _LEAD.sub("", text, count=1)))


def listed_test(text: str) -> str:
    """The test that a line such as ``FAILED tests/x.py::y - why`` names; empty for other lines."""
    found = _LISTED.match(text)
    return found["test"] if found else ""


def whole_lines(lines: Mapping[str, tuple[str, Iterable[int]]]) -> dict[str, str]:
    """Maps the key of each cut line to that of the whole line in the same entry or near it.

    ``lines``: by key, the text of a line and the indices of its entries.
    """
    cut = {key: text for key, (text, _) in lines.items() if is_cut(text)}
    if not cut:
        return {}
    whole = sorted((beginning(text), key) for key, (text, _) in lines.items() if key not in cut)
    entries = {key: tuple(where) for key, (_, where) in lines.items()}
    found: dict[str, str] = {}
    for key, text in cut.items():
        listed = _LISTED.match(text)
        for left in (beginning(text), beginning(listed["what"]) if listed else ""):
            other = _whole_of(left, key, whole, entries) if len(left) >= _SHORTEST else ""
            if other:
                found[key] = other
                break
    return found


def _whole_of(
    left: str, key: str, whole: list[tuple[str, str]], entries: Mapping[str, tuple[int, ...]]
) -> str:
    for text, other in whole[bisect_left(whole, (left, "")) :]:
        if not text.startswith(left):
            return ""
        if any(abs(one - far) <= NEAR for one in entries[key] for far in entries[other]):
            return other
    return ""


_WORDS = (
    "err", "fail", "fatal", "panic", "exception", "denied", "refused", "not found", "no ",
    "expect", "timed out", "timeout", "abort", "out of memory", "undefined", "cannot", "unable to",
    "could", "conflict", "invalid", "mismatch", "crash", "exit", "violat", "problem", "does not",
    "is not", "exceeded", "duplicate", "missing", "exhausted", "declined", "already", "unknown",
    "unsupported", "unrecognized", "undeclared", ", want", "severe", "***", "http", "sigsegv",
    "offense", "halted", "went wrong", "status", "return", "connection", "backoff", "race",
    "evicted", "caused by", "locked", "not responding", "division by", "segfault", "segmentation",
    "core dumped", "deadlock", "broken pipe", "not permitted", "read-only", "too many", "bail out",
    "option::unwrap", "interrupt", "stopiteration", "quitting from", "has changed!", "rejected]",
    "timedout", "econn", "enoent", "eacces", "epipe", "eaddr", "eperm", "ebusy", "unhealthy",
    "_test.go:", "not known", "sigabrt", "killed", "curl: (",
)  # fmt: skip
"""A line with none of these in lower case, and without one of ``_SIGNS``, reports no failure."""
_SIGNS = late_pattern(
    r"\s*(?:[EX!]\s|[●✗✘×❌✕✖])|\W*e:\s|[a-z][\w-]*\[[a-z]|\s*[\w./\\-]+\.\w{1,6}:\d+:\d"
)
"""Marks of a failure at the beginning of a line, and the place that a linter names."""
_MARKS = late_pattern(
    r"""
    ^\W*(?:\[?(?:[Ee]rror|[Ff]atal|[Pp]anic|err!|[Ff]ail(?:ed|ure)?)\b[]:!([\s-])
    | \b[A-Z]\w*(?:Error|Exception|Failure|Fault)\b(?!\s*\()
    | \bE(?:CONN|NOENT|ACCES|PIPE|ADDR|PERM|TIMEDOUT|BUSY)\w* | \bEXCEPTION_\w+
    | \b(?:ERROR|FATAL|PANIC|SEVERE|FAILED|SIG(?:SEGV|ABRT))\b
    | (?:^|[\w)]:\s)(?:fatal|panic|error):? | \bpanicked\s+at\b
    | \b(?:[Ee]rrors?|[Ff]ailures?)\b\s*(?:[:,![]|\((?!\))|-?\d) | \b[Ee]rror\.\s*$
    | \b[A-Z]\w+\sError\b(?=\s(?:in|at|on)\b|[:!]) | ^\W*(?:[Ee]rror\sin|Caused\sby)\s
    | ^\s*(?:Runtime|Database|Compilation|Parsing|Dependency)\sError\b
    | \bEncountered\san\serror\b | ^=+\s[A-Z]?[\w\s]*\b[Ee]rror\sin\b
    | [{,]\s*"error":\s*(?:"[^"]|\{\s*["\w]|true) | \berr(?:or)?="(?!(?:nil|none|null|0)?")
    | \bFAIL\b(?!\s*[=:]?\s*0\b) | \bfailed\s*(?:$|[*:.!(]|\d) | ^\S+:\s.*\bfailed,\s
    | \*{3}\s?Failed | \((?:Failed|SEGFAULT|Timeout|Not\sRun|Subprocess\saborted)\)\s*$
    | ^E\s{2,} | ^\W*e:\s | ^!\s+\S | ^\s{0,4}X\s[\w"(] | ^\s*[✗✘×❌✕✖]\s | ^\s*●\s.*›
    | ^[\w.-]*:?\s*\*\*\*\s | ^\W*\(error\)\s | ^(?:FAILURES|ERRORS)! | \[rejected\]
    | \bexpect\(received\) | \bDATA\sRACE\b | \brace\sdetected\b | \bHAS\sCHANGED!
    | ^\s+\w+_test\.go:\d+:\s.*\b(?:expected|want|got|unexpected|differs?|wrong|should|not|nil)\b
    | \bnpm\s+ERR! | ^curl:\s\(\d+\) | \bNO\sMORE\sHOSTS\b | ^Bail\sout! | ^No\spages\sof\soutput
    | ^Quitting\sfrom\slines | ^[a-z][\w-]*\[[a-z][\w-]*\]:\s[A-Z] | \b[A-Z]{3,}_FAILED_[A-Z_]+\b
    | \b(?:CrashLoop|ImagePull)BackOff\b | \b(?:OOMKilled|Evicted|InvalidImageName)\b
    | \bErrImagePull\b | \bWarning\s+(?:Failed|BackOff|Unhealthy|Evicted)\w*
    | ^(?:\w+\.)*(?:StopIteration|KeyboardInterrupt|SystemExit|GeneratorExit)\b
    """,
    re.VERBOSE,
)
"""What tools print before or around a failure; case counts."""
_PHRASES = late_pattern(
    r"""
    \b(?:permission|access)\s+denied | \bno\s+such\s+\w+ | \bunable\s+to\s+\w+
    | \bcould(?:\s+not|n['’]t)\s+\w+ | \bcannot\s+(?:open|find|read|write|connect|resolve|allocate|
      import|access|remove|create|install|delete|load|start|locate|stat|execute|bind|apply|parse|
      assign|use|specify|lock|fork|determine|continue)
    | \bconnection\s+(?:refused|reset|closed) | \btimed\s?out
    | \btimeout\s*(?:$|[(:,]|expired|exceeded|after|reached)
    | \b(?:out\s+of\s+memory|segmentation\s+fault|core\s+dumped|deadlock\s+detected|broken\s+pipe|
      no\s+space\s+left|operation\s+not\s+permitted|too\s+many\s+open\s+files|already\s+in\s+use)
    | \bread-only\s+file\s?system | \bdatabase\s+is\s+locked | \bexecution\s+halted\b
    | \bundefined\s+(?:reference|variable|array\s+key|index|offset|property|method|function|class|
      constant|symbol) | \bis\s+undefined\b | \bis\s+not\s+(?:a\s+member\s+of|defined|recognized|
      assignable) | \bis\s+not\s+(?:expected|allowed|permitted|responding|a\s+char\s+boundary)\s*
      (?:here|in|on|at|for|by|to|[.;:,]|$)
    | \b(?:deadline|quota|limit|timeout|size|depth|capacity)\s+exceeded
    | \bexceeded\s+(?:its|the|quota|maximum|limit) | \b(?:mismatch(?:ed)?|exhausted|declined)\b
    | \balready\s+exists\b | \bnot\s+found\b | \bdoes\s+not\s+(?:exist|satisfy|compile)\b
    | (?<!-)\bduplicate\s+(?:key|entry|column|symbol|class|definition|declaration)
    | (?<!-)\bduplicate\s+(?:row|value|id|name|identifier)s?\b | \bviolates?\s | \bviolation\s+of\b
    | \bmissing\s+(?:required|argument|field|dependency|module|file|return|script|column|key|`)
    | \b(?:unknown|unrecognized|unsupported|invalid|undeclared)\s+(?:flag|option|command|arguments?|
      directive|name|property|value|identifier|parameter|subcommand|read|reference|class\s+file)\b
      (?=\s*[:'"`$(]|\s+(?:--|for|in|of|name|\S+$)|\s*$)
    | \bunexpected\s+(?:token|eof|end|keyword|indent) | \bsyntax\s+error | \bmerge\s+conflict
    | \bexpected\b.{1,60}\bactual\b | \bexpected\s+.{1,60}\s+(?:but\s+)?(?:got|found|received|
      to\s+(?:be|equal|match|contain|have))\b | \b\S+\s*=\s*.{1,60},\s+want\b
    | \b(?:got|was|received)\s+.{1,40},\s+(?:want|expected)\b | \bdivision\s+by\s+(?:zero|0)\b
    | \breturn(?:ed)?\s+(?:code|status)\s+[1-9] | \bnon-2xx\b.*[1-9]
    | `(?:option|result)::unwrap\(\)` | \bstatus(?:\s+code)?\s*[=:]?\s*(?:4\d\d|50\d)\b
    | \bhttp(?:/\d\S*)?\s+[45]\d\d\b | \bnpm\s+error
    | \bexit\s+(?:code|status):?\s+[1-9] | \bexited,?\s+(?:with\s+)?(?:code|status)[=:\s]+(?!0\b)
    | \berrors?\s+(?:occurred|while|during|detected)\b | \btreated\s+as\s+errors\b
    | \b(?:merge|build|job|step|task|upgrade|update|solving|compilation|verification|deployment|
      installation|request|command|migration|lint)\s+failed\b | \bfailures?\s+(?:while|in)\b
    | \bfailed\s+(?:to|with|in|for|at|because|due|after|while)\b | \bfailure\s*$
    | \b(?:failed|failures?|failing|unreachable|errors?)\s*[:=]\s*[1-9]
    | \b[1-9]\d*\s+(?:failed|failing|failures?|errors?)\b(?!\s*[:=]\s*0)
    | \b[1-9]\d*\s+(?:offenses?|violations?|problems?)\b | ^\s*problem\s+\d+\s*$
    | \btests?\s+(?:failed\s+out|(?:is|are|was|were)\s+failing\b) | \bfailing\s+tests\b
    | \bconfigured\s+to\s+fail\b | \babort(?:ing|\s+status) | \baborted!?\s*$ | \bwent\s+wrong\b
    | \bcrash(?:ed|ing|es)?\b(?!\s*(?:report|log|dump)) | \bname\s+or\s+service\s+not\s+known
    | \bwas\s+refused\b | \bnot\s+responding\b | \bno\s+module\s+named\b
    | \bno\s+(?!issues?|problems?|changes?|errors?|warnings?|vuln|conflicts?)[\w-]+(?:\s[\w-]+){0,2}
      \sfound\s+(?:at|in|for|matching|under)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What messages of failures say, in any case."""
_NO_FAILURES = late_pattern(
    r"\b(?:0|no|zero|without)\s+(?:\w+\s+)?(?:errors?|failures?|failed|warnings?|problems?|"
    r"conflicts?)\b"
    r"|\bfail(?:ed|ures?)?\s*[:=]\s*0\b|\berrors?\s*[:=]\s*0\b",
    re.IGNORECASE,
)
_SOME_FAILURES = late_pattern(
    r"\b[1-9]\d*\s+(?:fail|error|problem|violation)|(?-i:\bERROR\b)(?!\s*[=:]\s*0)|"
    r"\b(?:failed|failures?|unreachable|errors?)\s*[:=]\s*[1-9]",
    re.IGNORECASE,
)
"""Counts of failures that are not nought."""
_SOURCE = late_pattern(
    r"""
    \s*(?:\d+\s*[:|→\t-]\s*)?(?:
      (?:import|from|use|using|include|require|def|class|fn|func|function|const|let|var|return|
        raise|throw|except|catch|if|elif|else|for|while|public|private|protected|static|async|
        export|assert|try|with|struct|enum|interface|type|impl|match|case|package|namespace|pub|
        self\.|this\.|console\.|logger?\.|print\w*\()\b
      | [\w.]+\s*=\s(?!.*,\s+want\b) | -\s+\w+:\s | [-dlrwx]{10}[.+@]?\s | // | /\* | \*\s | \#+\s
      | <!-- | --\s(?!.*occurred) | "[\w-]+"\s*: | ["']{3} | For\s+more\s+information | @\w+ | \}
      | [+]\s* | -\s+\w+\s*[(=]
    )
    """,
    re.VERBOSE,
)
"""A line of a program, of a listing of files or of a difference."""
_COMMIT = late_pattern(
    r"^[\s*|]*(?:[0-9a-f]{7,40}\s+(?:\([^)]*\)\s+)?(?:fix|add|handle|test|merge|revert)\w*\b|"
    r"(?:fix|feat|chore|docs|refactor|test)(?:\([\w-]+\))?:\s)|^\s*[✓✔√]\s|"
    r"^\s*(?:If|When|Returns?|Raises?|Whether|Handles?)\s|"
    r"^\s*[-*]\s+[a-z][^:]*\s(?:must|should)\s",
    re.IGNORECASE,
)
"""A line of a history, a test that passed, a sentence of a manual, a point of a task."""
_DIAGNOSTIC = late_pattern(
    r"^\s*(?:\./)?[\w./\\-]+\.\w{1,6}:\d+:\d+:?\s+(?:[A-Z]{1,4}\d{2,4}\b.*|[CWEF]:\s.*|"
    r"\"?[a-z][\w.\"]*"
    r"(?:\s\S+){2,})(?<![;{(,])$"
)
"""What a linter says of a place, with its column: a search tells of lines alone."""
_REPORT = late_pattern(r"\b[A-Z]\w*(?:Error|Exception): |^\W*error\b|\b(?:ERROR|FATAL)\b|^E ")
_NPM_ASIDE = late_pattern(
    r"\bnpm\s+(?:ERR!|error)\s+(?:path|command|workspace|location|A\s+complete)\b"
)
_BESIDE = late_pattern(
    r"^\W*(?:at\s+[\w.$]+\(|[\d:., TZ-]{8,}\s+at\s)|^[^:]{0,24}:\s*$|"
    r"^(?:\S+\s\w+:)?\s*(?:(?:\d+\s)?\|(?!\s*ERROR)|=\s(?:note|help):)|"
    r"^\W*[\d:., TZ-]*\s*\[?(?:INFO|DEBUG|TRACE)\b(?!.*\bFAIL)|^=== (?:RUN|PAUSE|CONT|NAME)\b|"
    r"^[\w.-]*:?\s*\*\*\* Waiting for "
)
"""Frames of a stack, margins of a compiler's picture, headings, lines of a lower level."""
_HEADING = late_pattern(r"Error\b.*:\s*$|Exception:\s*$|^\W*(?:Caused by|Error in)\b")
"""Headings that are the failure themselves."""
_NUMBERED = late_pattern(r"^\s*[\w./\\-]+\.\w+[:-]\d+[:-](?:\d+:)?\s*")
"""The place before a line that a search found."""
_CODE_END = late_pattern(r"[{;(\[]\s*$|^\s*[\w.()]+\(.*\)[,;]?\s*$")
_PASSED = late_pattern(
    r"""
    ^(?!E\s)(?>.*?(?:::|\s>\s))\S.*\s(?:PASSED|SKIPPED(?:\s\(.*\))?|XFAIL(?:\s\(.*\))?|XPASS)
      (?:\s+\[\s*\d+%\])?\s*$
    | (?<!\.)\.{3,}\s*(?:ok|OK|Passed|skipped\b.*|ignored|expected\sfailure)
      (?:\s+[\d.]+\s*m?s(?:ec)?)?\s*$
    | ^\s*(?:\[[^\]]*\]\s*)*(?:PASS(?:ED)?|SKIP(?:PED)?|XFAIL|XPASS|---\s(?:PASS|SKIP):)\s+\S
    | ^\s*\[\s+(?:OK|PASSED|SKIPPED)\s+\] | ^\s*ok\s+(?:\d+\b|\S+\s+(?:\(cached\)|[\d.]+s\b))
    | ^\s*[✓✔√☑✅]\s | \s[✓✔√✅]\s*$
    """,
    re.VERBOSE,
)
"""A test that passed or was left out, as test runners say it; its name may speak of errors."""


def is_failure(line: str) -> bool:
    """Whether a line of output reports a failure, and is no line of a program."""
    if _NO_FAILURES.search(line) and not _SOME_FAILURES.search(line):
        return False
    if (_BESIDE.match(line) or _NPM_ASIDE.search(line)) and not _HEADING.search(line):
        return False
    if _COMMIT.match(line):
        return False
    if _DIAGNOSTIC.match(line):
        return True
    numbered = _NUMBERED.match(line)
    rest = line[numbered.end() :] if numbered else line
    if _SOURCE.match(rest):
        return False
    if _CODE_END.search(rest) and not _REPORT.search(line):
        return False
    is_named = _MARKS.search(line) is not None or _PHRASES.search(line) is not None
    return is_named and not _PASSED.search(line)
