"""Lines that tell of a failure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from explorer.audit.atoms.letters import even_lower
from explorer.audit.atoms.lists import any_of, any_of_cased

LONGEST = 600
"""Characters; a longer line is data, and only its beginning is kept."""
MOST = 40
"""Failures of one output that are kept: the first half of them and the last."""
_KNOWN = 8192
"""Lines that are remembered."""

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
    "expect(", "●", "×", "✗", "✘",
)  # fmt: skip
_ASCII_WORDS = tuple(word for word in _WORDS if word.isascii())
_STRONG = any_of_cased(
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
    r"\b(?:[Ee]rrors?|[Ff]ailures?)\b\s*(?:[:,!(\[]|-?\d)",
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
    r"\bexpected\s+.{1,60}\s+(?:but\s+)?(?:got|found|to\s+be|received)\b",
)
_NONE = re.compile(
    r"\b(?:0|no|zero|without)\s+(?:\w+\s+)?(?:errors?|failures?|failed|warnings?|problems?|"
    r"conflicts?)\b"
    r"|\bfail(?:ed|ures?)?\s*[:=]\s*0\b|\berrors?\s*[:=]\s*0\b",
    re.IGNORECASE,
)
_SOME = re.compile(
    r"\b[1-9]\d*\s+(?:fail|error|problem|violation)|(?-i:\bERROR\b)(?!\s*[=:]\s*0)|"
    r"\b(?:failed|failures?|unreachable|errors?)\s*[:=]\s*[1-9]",
    re.IGNORECASE,
)
"""Counts of failures that are not nought."""
_SOURCE = any_of_cased(
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
    r"^\W*[\d:., TZ-]*\s*\[?(?:INFO|DEBUG|TRACE)\b(?!.*\bFAIL)"
)
"""Frames of a stack, margins of a compiler's picture, headings, lines of a lower level."""
_HEADING = re.compile(r"Error\b.*:\s*$|Exception:\s*$|^\W*(?:Caused by|Error in)\b")
"""Headings that are the failure themselves."""
_NUMBERED = re.compile(r"^\s*[\w./\\-]+\.\w+[:-]\d+[:-](?:\d+:)?\s*")
"""The place before a line that a search found."""
_CODE_END = re.compile(r"[{;(\[]\s*$|^\s*[\w.()]+\(.*\)[,;]?\s*$")


class KnownLines:
    """Which lines tell of a failure; made for one scan: the outputs of a session repeat their
    lines."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def telling(self, lines: set[str]) -> dict[str, str]:
        """Those of these lines that tell of a failure, with what of them is kept."""
        known = self._known
        fresh = lines.difference(known)
        found = {line: bare for line in lines - fresh if (bare := known[line])}
        if fresh:
            told = _telling(fresh)
            if len(known) + len(fresh) > _KNOWN:
                known.clear()
            for line in fresh:
                if len(line) <= LONGEST:
                    known[line] = told.get(line, "")
            found |= told
        return found


def error_lines(
    lines: Sequence[str], telling: Mapping[str, str], *, is_error: bool = False
) -> list[tuple[int, str]]:
    """The lines of a text that tell of a failure, with where they begin (characters).

    ``telling``: what ``KnownLines`` says of the lines. ``is_error``: the text is the result of a
    call that failed; where no line of it tells so, its first and its last line are taken for it.
    """
    if not telling:
        text = "\n".join(lines) if is_error else ""
        return _ends(text) if text.strip() else []
    found: list[tuple[int, str]] = []
    start = after = 0
    for number, bare in _some(
        [(number, telling[line]) for number, line in enumerate(lines) if line in telling]
    ):
        start += sum(map(len, lines[after:number])) + number - after
        after = number
        found.append((start + lines[number].find(bare), bare))
    return found


def error_lines_among(lines: Sequence[tuple[int, str]], known: KnownLines) -> list[tuple[int, str]]:
    """Those of some lines, given with where they begin, that tell of a failure."""
    telling = known.telling({line for _, line in lines})
    found = [
        (start + line.find(telling[line]), telling[line])
        for start, line in lines
        if line in telling
    ]
    return _some(found)


def _some(found: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Each of them once; of very many the first and the last."""
    if len(found) > MOST:
        found = [*found[: MOST // 2], *found[-(MOST - MOST // 2) :]]
    first: dict[str, int] = {}
    for start, line in found:
        first.setdefault(line, start)
    return [(start, line) for line, start in first.items()]


def _telling(lines: Iterable[str]) -> dict[str, str]:
    # A line break before the first line, so that a word may begin with one.
    text = "\n" + "\n".join(lines)
    low = even_lower(text)
    starts: set[int] = set()
    for word in _WORDS if not text.isascii() else _ASCII_WORDS:
        at = low.find(word)
        while at >= 0:
            inside = at + len(word) - 1
            starts.add(low.rfind("\n", 0, inside))
            # One hit tells of the line; go on in the next, whose break a word may begin with.
            at = low.find("\n", inside)
            at = low.find(word, at) if at >= 0 else -1
    found = {}
    for start in starts:
        end = text.find("\n", start + 1)
        line = text[start + 1 : end if end >= 0 else len(text)]
        told = line[:LONGEST]
        bare = told.strip()
        if len(bare) >= 4 and is_failure(told):
            found[line] = bare
    return found


def is_failure(line: str) -> bool:
    """Whether a line of output reports a failure, and is no line of a program."""
    if _NONE.search(line) and not _SOME.search(line):
        return False
    if (_BESIDE.match(line) or _NPM_ASIDE.search(line)) and not _HEADING.search(line):
        return False
    if _COMMIT.match(line):
        return False
    if _DIAGNOSTIC.match(line):
        return True
    numbered = _NUMBERED.match(line)
    if _SOURCE.match(line[numbered.end() :] if numbered else line):
        return False
    if _CODE_END.search(line) and not _REPORT.search(line):
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
