"""Lines of output that report a failure: recognising them, whole or cut off by a tool."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from explorer.facts.message import even_lower
from explorer.facts.words import any_of, statement_key

LONGEST = 600
"""Characters of a line that are kept; a longer one is data."""
MOST = 40
"""Failures of one output that are kept, half of them from its end."""
_KNOWN = 8192
"""Lines that are cached."""

_PLACE_ALONE = re.compile(r"\bpanicked at \S+:\d+:\d+:\s*$")
"""The first line of a failure whose message is the next."""


class FailureCache:
    """Which lines report a failure. One instance per scan: outputs repeat their lines."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def failing(self, lines: set[str]) -> dict[str, str]:
        """The lines that report a failure, each stripped and cut at 600 characters."""
        known = self._known
        fresh = lines.difference(known)
        found = {line: bare for line in lines - fresh if (bare := known[line])}
        if fresh:
            new = _failing(fresh)
            if len(known) + len(fresh) > _KNOWN:
                known.clear()
            for line in fresh:
                if len(line) <= LONGEST:
                    known[line] = new.get(line, "")
            found |= new
        return found


def error_lines(
    lines: Sequence[str], failing: Mapping[str, str], *, is_error: bool = False
) -> list[tuple[int, str]]:
    """The lines of an output that report a failure, each with its offset in characters.

    ``failing``: see ``FailureCache.failing``. ``is_error``: the output is that of a failed call;
    if no line reports a failure, its first and last lines are returned.
    """
    failing = _with_messages(lines, failing)
    if not failing:
        text = "\n".join(lines) if is_error else ""
        return _ends(text) if text.strip() else []
    found: list[tuple[int, str]] = []
    start = after = 0
    for number, bare in _first_and_last(
        [(number, failing[line]) for number, line in enumerate(lines) if line in failing]
    ):
        start += sum(map(len, lines[after:number])) + number - after
        after = number
        found.append((start + lines[number].find(bare), bare))
    return found


def error_lines_among(
    lines: Sequence[tuple[int, str]], known: FailureCache
) -> list[tuple[int, str]]:
    """The same for single lines, given with their offsets."""
    found_failing = known.failing({line for _, line in lines})
    failing = _with_messages([line for _, line in lines], found_failing)
    found = [
        (start + line.find(failing[line]), failing[line])
        for start, line in lines
        if line in failing
    ]
    return _first_and_last(found)


def _with_messages(lines: Sequence[str], failing: Mapping[str, str]) -> Mapping[str, str]:
    """Adds the message on the line after one that names only the place of a panic."""
    if not any(_PLACE_ALONE.search(line) for line in failing):
        return failing
    found_failing = dict(failing)
    for line, after in pairwise(lines):
        if line in failing and (bare := after[:LONGEST].strip()) and _PLACE_ALONE.search(line):
            found_failing.setdefault(after, bare)
    return found_failing


def _first_and_last(found: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Each line once; of more than ``MOST`` the first and the last."""
    if len(found) > MOST:
        found = [*found[: MOST // 2], *found[-(MOST - MOST // 2) :]]
    first: dict[str, int] = {}
    for start, line in found:
        first.setdefault(line, start)
    return [(start, line) for line, start in first.items()]


def _failing(lines: Iterable[str]) -> dict[str, str]:
    # A line break before the first line, so that a word may begin with one.
    text = "\n" + "\n".join(lines)
    low = even_lower(text)
    starts: set[int] = set()
    for word in _WORDS if not text.isascii() else _ASCII_WORDS:
        at = low.find(word)
        while at >= 0:
            inside = at + len(word) - 1
            starts.add(low.rfind("\n", 0, inside))
            # One hit is enough for a line; go on at the break before the next one.
            at = low.find("\n", inside)
            at = low.find(word, at) if at >= 0 else -1
    found = {}
    for start in starts:
        end = text.find("\n", start + 1)
        line = text[start + 1 : end if end >= 0 else len(text)]
        head = line[:LONGEST]
        bare = head.strip()
        if len(bare) >= 4 and is_failure(head):
            found[line] = bare
    return found


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


NEAR = 2
"""Entries between a cut line and its whole one: a call stands between two results."""
_SHORTEST = 5
"""Characters that a cut line must have left to be matched."""
_LEAD = re.compile(r"^\s*(?:E\s+|>\s+)?")
_LISTED = re.compile(r"^(?:FAILED|ERROR)\s+(?P<test>\S.*?)\s+-\s+(?P<what>.*)$", re.DOTALL)
_CUT = re.compile(r"\s*(?:\.\.\.|…)\s*$")


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
    "error", "fail", "fatal", "panic", "exception", "traceback", "denied", "refused", "not found",
    "no such", "timed out", "timeout", "abort", "segfault", "segmentation", "out of memory",
    "undefined", "cannot", "unable to", "unresolved", "killed", "conflict", "econn", "enoent",
    "expected", "unhandled", "\ne  ", "\ne: ", "\n! ", "***", "err!", "sqlstate", "back-off",
    ", want", "invalid", "mismatch", "deadlock", "severe", "crash", "exit code", "exit status",
    "oom", "http", "[rejected]", "could not", "couldn't", "exited", "offense", "violation",
    "problem", "halted", "connection closed", "does not", "no matching", "[emerg]",
    "sigsegv", "interrupt", "stopiteration", "went wrong", "imagepull", "evicted",
    "quitting from", "no rule to", "=[error", "level=", "\"level\"", "status=5", "rspec ./",
    "division by", ".py:", ".go:", ".rb:", ".ts:", ".js:", "has changed!", "(error)", "err_",
    "_test.go:", "not ok", "data race", "race detected", "no more hosts", "unauthorized",
    "forbidden", "unavailable", "too many", "bad gateway", "internal server", "bad request", "x509",
    "exceeded", "broken pipe", "no space", "insufficient", "duplicate", "missing", "overflow",
    "violat", "certificate", "unexpected", "no required", "bail out", "no pages", "\ne 0:", "✕",
    "✖",
    "unwrap()", "already exists", "return code", "curl: (", "non-2xx", "exhausted", "declined",
    "status 4", "status 5", "status: 4", "status: 5", "status=4", "status code 4", "status code 5",
    "signal:", "cancelled", "uncaught", "] 5", "expecting", "should return",
    "expect(", "●", "×", "✗", "✘", "in use", "not responding", "not permitted", "unknown", "locked",
    "no module", "unsupported", "incompatible", "undeclared", "not declared", "\nx ", "\n  x ",
    "err=\"", "]: use ", "assert", "read-only", "busy", "unrecognized", "disk full", "zsh: ",
    "would reformat", "template found",
)  # fmt: skip
"""A line with none of these, in lower case after a line break, reports no failure."""
_ASCII_WORDS = tuple(word for word in _WORDS if word.isascii())
"""The same for a text in ASCII."""
_STRONG = any_of(
    r"^\W*(?:\[?(?:[Ee]rror|[Ff]atal|[Pp]anic|err!|[Cc]ritical|[Ff]ail(?:ed|"
    r"ure)?)\b[\]:!(\[\s-])",
    r"^FAIL$",
    r"^E\s{2,}",
    r"\bFAILURE\b",
    r"\b[A-Z]\w*(?:Error|Exception|Failure|Fault)\b(?!\s*\()",
    r"\b(?:E(?:CONN|NOENT|ACCES|PIPE|ADDR|PERM|TIMEDOUT|BUSY)\w*)",
    r"\berror\s*(?:\[\w+\]|[A-Z]{1,4}\d+)?:\s",
    r"\b(?:ERROR|FATAL|PANIC|CRITICAL)\b",
    r"(?:^|[\w)]:\s)(?:fatal|panic|error):?",
    r"\bpanicked\s+at\b",
    r"\bFAILED\b",
    r"^\s*-{2,3}\s*FAIL\b",
    r"\b(?:[Ee]rrors?|[Ff]ailures?)\b\s*(?:[:,![]|\((?!\))|-?\d)",
    r"\bSEVERE\b",
    r"\bfailed\s*(?:$|[*:.!(]|\d)",
    r"^\W*e:\s",
    r"\b[Ss]egfault\b",
    r"^\s*●\s.*›",
    r"\bexpect\(received\)",
    r"\[rejected\]",
    r"\*{3}\s?Failed",
    r"^\s*[✗✘×❌✕✖]\s",
    r"^!\s+\S",
    r"\bSQLSTATE\b",
    r"^[\w.-]*:?\s*\*\*\*\s",
    r"\bnpm\s+ERR!",
    r"^\W*Failure/Error:",
    r"\bBUILD\s+FAILED\b",
    r"^FAIL\b",
    r"\bEXCEPTION_\w+",
    r"\bFAIL\b(?!\s*[=:]?\s*0\b)",
    r"^\s+\w+_test\.go:\d+:\s.*\b(?:expected|want|got|unexpected|differs?|wrong|should|not|nil)\b",
    r"^not\sok\s\d",
    r"\bDATA\sRACE\b|\brace\sdetected\b",
    r"\bEncountered\san\serror\b|^\s*(?:Runtime|Database|Compilation|Parsing|Dependency)\sError\b",
    r"\bNO\sMORE\sHOSTS\b|^Bail\sout!|^No\spages\sof\soutput",
    r"\b(?:4\d\d|50\d)\s(?:Bad|Unauthorized|Forbidden|Not\sFound|Method|Request|Conflict|Gone|"
    r"Payload|Too\sMany|Unprocessable|Internal|Not\sImplemented|Service|Gateway)",
    r"[{,]\s*\"error\":\s*(?:\"[^\"]|\{|true)",
    r"^E\s\d+:\d\d:",
    r"^curl:\s\(\d+\)",
    r"\bCANCELLED\b|\bDUE\sTO\sTIME\sLIMIT\b",
    r"\b\w+_exception:\s",
    r"\bUncaught\b",
    r"\(signal:\s\d+",
    r"^\s{1,4}\d+\s{2,}\S+\s.*\b(?:should\sreturn|expects|has\sno|not\sfound|cannot|does\snot)\b",
    r"\|\s+ERROR\s+\|",
    r"^(?:LaTeX|Package\s\w+)\sWarning:.*\bundefined\b",
    r"^(?:FAILURES|ERRORS)!",
    r"\b[Ee]rror\.\s*$",
    r"\((?:Failed|SEGFAULT|Timeout|Not\sRun|Subprocess\saborted)\)\s*$",
    r"\b[A-Z]\w+\sError\b(?=\s(?:in|at|on)\b|[:!])",
    r"^\W*(?:[Ee]rror\sin\s|Caused\sby\s)",
    r"\b(?:CrashLoopBackOff|ImagePullBackOff|ErrImagePull|OOMKilled|Evicted|InvalidImageName|"
    r"CreateContainer\w*Error)\b",
    r"\bWarning\s+(?:Failed|BackOff|Unhealthy|Evicted)\w*",
    r"\[(?:emerg|alert|crit)\]",
    r"^\W*\(error\)\s",
    r"\blevel=(?:error|fatal|panic|critical)\b",
    r"\"level\":\s?\"(?:error|fatal|panic|critical)\"",
    r"\bSIG(?:SEGV|ABRT|BUS|FPE|ILL)\b",
    r"^(?:\w+\.)*(?:StopIteration|KeyboardInterrupt|SystemExit|GeneratorExit)\b",
    r"^Killed\b",
    r"^\s*ERR_[A-Z_]+\b",
    r"^Quitting\sfrom\slines",
    r"^rspec\s\./\S+:\d+",
    r"\bHAS\sCHANGED!",
    r"\berr(?:or)?=\"(?!(?:nil|none|null|0)?\")",
    r"^\s{0,4}X\s[\w\"(]",
    r"^[a-z][\w-]*\[[a-z][\w-]*\]:\s[A-Z]",
    r"^\S+: .*\bfailed,\s",
    r"\s-\s(?:CRITICAL|ERROR|FATAL)\s-\s",
    r"^=+\s[A-Z]?[\w\s]*\b[Ee]rror\sin\b",
    r"^\s*[\w .-]+\.{8,}\s?Failed\s*$",
    r"^[\w./-]+\.\w+:\d+:\sFailure\s*$",
    r"^\w*sh:\s(?:\d+:\s)?killed\b",
    r"^would\sreformat\s\S",
    r"^==\d+==\s(?:Invalid|Conditional\sjump|Use\sof\suninit)",
    r"\b[A-Z]{3,}_FAILED_[A-Z_]+\b",
    r"\w\[\d+\]:\s(?:fatal|error|panic)\b",
)
_PHRASE = any_of(
    r"\bpermission\s+denied",
    r"\baccess\s+denied",
    r"\bno\s+such\s+\w+",
    r"\bcommand\s+not\s+found",
    r"\bcannot\s+(?:open|find|read|write|connect|resolve|allocate|import|access|remove|create|"
    r"install|delete|load|start|locate|stat|execute|bind|apply|parse|assign|use|specify|lock|fork|"
    r"determine)",
    r"\bconnection\s+(?:refused|reset|closed|timed\s+out)",
    r"\btimed\s?out",
    r"\btime-?out\s*(?:$|[(:,]|expired|exceeded|after|reached)",
    r"\bout\s+of\s+memory",
    r"\bsegmentation\s+fault",
    r"\bcore\s+dumped",
    r"\bundefined\s+reference",
    r"\bundeclared\s+identifier",
    r"\bunresolved\s+(?:reference|import|external)",
    r"\bassertion\s+.{0,30}failed",
    r"\bcould(?:\s+not|n['’]t)\s+\w+",
    r"\bundefined\s+(?:variable|array\s+key|index|offset|property|method|function|class|constant|"
    r"symbol)",
    r"\bfailures?\s+(?:while|in)\b",
    r"\bcertificate\s+(?:signed\s+by\s+unknown|verify|verification|has\s+expired|is\s+not)",
    r"\b(?:deadline|quota|limit|timeout|size|depth|capacity)\s+exceeded|\bexceeded\s+(?:its|the|"
    r"quota|"
    r"maximum|limit)",
    r"\bbroken\s+pipe|\bno\s+space\s+left|\bdeadly\s+signal|\bwith\s+overflow\b",
    r"\binsufficient\s+(?:privileges?|permissions?|cpu|memory|funds|space|rights)",
    r"\bduplicate\s+(?:key|entry|column|symbol|class|definition|declaration)",
    r"\bviolates?\s|\bviolation\s+of\b",
    r"\bmissing\s+(?:required|argument|field|dependency|module|file|return|script|column|key|`)",
    r"\b(?:was|were|is|are)\s+not\s+found\b|\bno\s+required\s+module\b",
    r"\bexpected\b.{1,60}\bactual\b",
    r"\bmismatch(?:ed)?\b|\balready\s+exists\b|\bexhausted\b|\bdeclined\b|\bnot\s+found\b",
    r"\b(?:seconds?|size|time|minutes)\s+exceeded\b|\bstack\s+overflow|\boverflowed\s+its\s+stack",
    r"\breturn(?:ed)?\s+(?:code|status)\s+[1-9]|\bnon-2xx\b.*[1-9]",
    r"\bstatus(?:\s+code)?\s*[=:]?\s*(?:4\d\d|50\d)\b",
    r"`option::unwrap\(\)`|`result::unwrap\(\)`",
    r"\bexecution\s+halted\b|\baborted!?\s*$|\bwent\s+wrong\b|\bcannot\s+continue\b",
    r"\bno\s+(?:rule\s+to\s+make|matching\s+(?:version|distribution|package|manifest|function))",
    r"\bdoes\s+not\s+(?:exist|satisfy|compile)\b",
    r"\bdivision\s+by\s+(?:zero|0)\b",
    r"\berrors?\s+(?:occurred|while|during|detected)\b",
    r"\btreated\s+as\s+errors\b",
    r"\b(?:merge|build|job|step|task|upgrade|update|solving|compilation|verification|deployment|"
    r"installation|request|command|migration|lint)\s+failed\b",
    r"\bfailed\s+(?:because|due|after|while)\b",
    r"\bundefined:\s\w",
    r"\bsymbol\(s\)\s+not\s+found|:\s+(?:command\s+)?not\s+found\b",
    r"\b(?:failed|failures?|failing|unreachable|errors?)\s*[:=]\s*[1-9]",
    r"\b[1-9]\d*\s+(?:offenses?|violations?|problems?)\b",
    r"^\s*problem\s+\d+\s*$",
    r"\brequires\s+.{2,60}\s(?:but|->)\s",
    r"\bstatus[=:]\s?5\d\d\b",
    r"\bunable\s+to\s+\w+",
    r"\bfailed\s+(?:to|with|in|for|at)\b",
    r"\bexited\s+with\s+(?:exit\s+)?(?:code|status|non-?zero\s+status)[:\s]+[1-9]",
    r"\bexit\s+(?:code|status):?\s+[1-9]",
    r"\bkilled\s+process",
    r"\bmerge\s+conflict",
    r"\bdeadlock\s+detected",
    r"\bbuild\s+stopped",
    r"\bunhandled\s+(?:rejection|exception|promise)",
    r"\b(?:\d+\s+)?(?:tests?|suites?|files?)\s+.{0,20}\b[1-9]\d*\s+fail(?:ed|ures?)",
    r"\b[1-9]\d*\s+(?:failed|failing|failures?|errors?)\b(?!\s*[:=]\s*0)",
    r"\babort(?:ing|\s+status)",
    r"\bis\s+not\s+(?:a\s+member\s+of|defined|recognized|assignable)",
    r"\bmismatched\s+types",
    r"\bwas\s+not\s+in\s+a\s+correct\s+format",
    r"\bunexpected\s+(?:token|eof|end|keyword|indent)",
    r"\binvalid\s+(?:syntax|argument|credentials)",
    r"\bsyntax\s+error",
    r"\bback-?off\s+restarting",
    r"\bis\s+undefined\b",
    r"\boom-?killed",
    r"\bhttp(?:/\d\S*)?\s+[45]\d\d\b",
    r"\bnpm\s+error",
    r"\bbuild\s+as\s+failure",
    r"\bcrash(?:ed|ing|es)?\b(?!\s*(?:report|log|dump))",
    r"\bfailed\s+asserting",
    r"\bfailures:\s*[1-9]",
    r"\btests?\s+failed\s+out",
    r"\bexited,?\s+(?:with\s+)?(?:code|status)[=:\s]+(?!0\b)",
    r"\bfailed\s*\(",
    r"\b\S+\s*=\s*.{1,60},\s+want\b",
    r"\b(?:got|was|received)\s+.{1,40},\s+(?:want|expected)\b",
    r"\bexpected\s+.{1,60}\s+(?:but\s+)?(?:got|found|to\s+(?:be|equal|match|contain|have)|"
    r"received)\b",
    r"\b(?:tests?\s+(?:is|are|was|were)\s+failing|failing\s+tests)\b|\bconfigured\s+to\s+fail\b",
    r"\bis\s+not\s+(?:expected|allowed|permitted|responding|a\s+char\s+boundary)\s*(?:here|in|on|"
    r"at|"
    r"for|by|to|[.;:,]|$)",
    r"\bduplicate\s+(?:row|value|id|name|definition|identifier)s?\b",
    r"\bno\s+(?!issues?|problems?|changes?|errors?|warnings?|vuln|"
    r"conflicts?)[\w-]+(?:\s[\w-]+){0,2}\s"
    r"found\s+(?:at|in|for|matching|under)\b",
    r"\b(?:address|port|resource|device|file|name)\s+(?:is\s+)?(?:already\s+in\s+use|"
    r"or\s+resource\s+"
    r"busy)\b|\bresource\s+busy\b",
    r"\boperation\s+not\s+permitted|\bread-only\s+file\s?system|\btoo\s+many\s+open\s+files|"
    r"\bargument\s+list\s+too\s+long|\bdisk\s+full\b",
    r"\b(?:unknown|unrecognized|unsupported|invalid|undeclared)\s+(?:flag|option|command|"
    r"arguments?|"
    r"directive|name|property|value|identifier|parameter|subcommand|read|reference|class\s+file)\b"
    r"(?=\s*[:'\"`$(]|\s+(?:--|for|in|of|name|\S+$)|\s*$)",
    r"\bname\s+or\s+service\s+not\s+known|\bwas\s+refused\b|\bnot\s+responding\b|"
    r"\bno\s+module\s+named\b|\bdatabase\s+is\s+locked|\bfailure\b\s*$",
    r"\bhas\s+not\s+been\s+declared\b|\bnot\s+declared\s+in\b|\bassert\s+failed:|"
    r"\boverflowed\s+by\b",
    flags=re.IGNORECASE,
)
_NO_FAILURES = re.compile(
    r"\b(?:0|no|zero|without)\s+(?:\w+\s+)?(?:errors?|failures?|failed|warnings?|problems?|"
    r"conflicts?)\b"
    r"|\bfail(?:ed|ures?)?\s*[:=]\s*0\b|\berrors?\s*[:=]\s*0\b",
    re.IGNORECASE,
)
_SOME_FAILURES = re.compile(
    r"\b[1-9]\d*\s+(?:fail|error|problem|violation)|(?-i:\bERROR\b)(?!\s*[=:]\s*0)|"
    r"\b(?:failed|failures?|unreachable|errors?)\s*[:=]\s*[1-9]",
    re.IGNORECASE,
)
"""Counts of failures that are not nought."""
_SOURCE = any_of(
    r"^\s*(?:\d+\s*[:|→\t-]\s*)?(?:(?:import|from|use|using|include|require|def|class|fn|"
    r"func|function|const|let|var|return|raise|throw|except|catch|if|elif|else|for|while|"
    r"public|private|protected|static|async|export|assert|try|with|struct|enum|interface|"
    r"type|impl|match|case|package|namespace|pub|self\.|this\.|console\.|logger?\.|"
    r"print\w*\()\b|[\w.]+\s*=\s(?!.*,\s+want\b)|-\s+\w+:\s|[-dlrwx]{10}[.+@]?\s|//|/\*|"
    r"\*\s|\#+\s|<!--|--\s(?!.*occurred)|\"[\w-]+\"\s*:|[\"']{3}|For\s+more\s+information|@\w+|\}|"
    r"[+]\s*|"
    r"-\s+\w+\s*[(=])",
)
_COMMIT = re.compile(
    r"^[\s*|]*(?:[0-9a-f]{7,40}\s+(?:\([^)]*\)\s+)?(?:fix|add|handle|test|merge|revert)\w*\b|"
    r"(?:fix|feat|chore|docs|refactor|test)(?:\([\w-]+\))?:\s)|^\s*[✓✔√]\s|"
    r"^\s*(?:If|When|Returns?|Raises?|Whether|Handles?)\s",
    re.IGNORECASE,
)
"""A line of a history, a test that passed, a sentence of a manual."""
_DIAGNOSTIC = re.compile(
    r"^\s*(?:\./)?[\w./\\-]+\.\w{1,6}:\d+:\d+:?\s+(?:[A-Z]{1,4}\d{2,4}\b.*|[CWEF]:\s.*|"
    r"\"?[a-z][\w.\"]*"
    r"(?:\s\S+){2,})(?<![;{(,])$"
)
"""What a linter says of a place, with its column: a search tells of lines alone."""
_REPORT = re.compile(r"\b[A-Z]\w*(?:Error|Exception): |^\W*error\b|\b(?:ERROR|FATAL)\b|^E ")
_NPM_ASIDE = re.compile(
    r"\bnpm\s+(?:ERR!|error)\s+(?:path|command|workspace|location|A\s+complete)\b"
)
_BESIDE = re.compile(
    r"^\W*(?:at\s+[\w.$]+\(|[\d:., TZ-]{8,}\s+at\s)|^\s*(?:\d+\s)?\|(?!\s*ERROR)|^[^:]{0,24}:\s*$|"
    r"^\W*[\d:., TZ-]*\s*\[?(?:INFO|DEBUG|TRACE)\b(?!.*\bFAIL)|^=== (?:RUN|PAUSE|CONT|NAME)\b|"
    r"^[\w.-]*:?\s*\*\*\* Waiting for "
)
"""Frames of a stack, margins of a compiler's picture, headings, lines of a lower level."""
_HEADING = re.compile(r"Error\b.*:\s*$|Exception:\s*$|^\W*(?:Caused by|Error in)\b")
"""Headings that are the failure themselves."""
_NUMBERED = re.compile(r"^\s*[\w./\\-]+\.\w+[:-]\d+[:-](?:\d+:)?\s*")
"""The place before a line that a search found."""
_CODE_END = re.compile(r"[{;(\[]\s*$|^\s*[\w.()]+\(.*\)[,;]?\s*$")


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
    said = line[numbered.end() :] if numbered else line
    if _SOURCE.match(said):
        return False
    if _CODE_END.search(said) and not _REPORT.search(line):
        return False
    return _STRONG.search(line) is not None or _PHRASE.search(line) is not None
