"""What the results of tools show: which call an output belongs to, and what came of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.models.offline.extractive import cues
from explorer.models.offline.extractive.blocks import CallText
from explorer.models.offline.extractive.sentences import is_torn
from explorer.models.offline.extractive.statement import Statement
from explorer.models.offline.extractive.words import word_set

ARROW = " → "
NO_ERROR = "no error"
_READING = word_set("read ls grep find glob cat view search list fetch open")
_DULL = re.compile(
    r"^\s*(?:ls|cat|cd|pwd|echo|which|head|tail|wc|find|grep|rg|tree|less|more|stat|file|env|date|"
    r"sed -n|awk|jq|sleep|true|git (?:status|diff|log|show|branch|blame)|code|open)\b"
)
_PREFIX = re.compile(r"^(?:cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;)\s*)+")
_HERE = re.compile(r"\s*<<-?\s*(['\"]?)\w+\1.*$")
"""A command's text that follows on further lines: what is written there is no command."""
_TAIL = re.compile(r"(?:\s*(?:2>&1|\|.*|&>.*|>\s*/dev/null.*))+$")
_RULES = re.compile(
    r"(?:^|[/\\])(?:AGENTS?|CLAUDE|GEMINI|CONVENTIONS|copilot-instructions|\.cursorrules|\.windsurfrules|"
    r"\.clinerules)(?:\.\w+)?$",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"^\[[\w./#-]+(?: \([\w -]+\))? [0-9a-f]{7,40}\] \S"  # git commit
    r"|^\W*(?:[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}|\[new (?:tag|branch)\])\s+\S+\s+->\s+\S+"
    r"|^=*\s*\d+ (?:tests? )?(?:passed|passing)\b|\b\d+ passed\b.*\bin [\d.]+ ?m?s\b"
    r"|^Tests?:?\s+.*\b\d+ passed"
    r"|^test result: ok|^ok\s+\S+\s+(?:[\d.]+s|\(cached\))|^Ran \d+ tests?\b|^OK \(\d+|^# pass \d+"
    r"|^All \d+ tests? pass|^Executed \d+ .*tests?\b.*PASS|^\+ @?[\w./-]+@\d\S*$"
    r"|^(?:Successfully (?:built|published|uploaded|installed|deployed|tagged))\b"
    r"|^(?:Published|Uploaded|Deployed)\b"
)
# What is worth telling even where its output only shows no failure.
_WEIGHTY = re.compile(
    r"\b(?:build|test|tests|pytest|check|lint|commit|push|tag|publish|install|migrat\w*|deploy|"
    r"release|version|merge|rebase|typecheck|tsc|clippy|mypy|ruff|make|compile|package)\b"
)
_SMALL = word_set("cp mv mkdir rm touch chmod sed ln code open")
_EXITED = re.compile(
    r"\b(?:exit(?:ed)?(?:\s+with)?\s+(?:code|status)):?\s+[1-9]\d*|\bELIFECYCLE\b", re.I
)
_MILD = re.compile(r"\bwarn(?:ing)?s?\b", re.IGNORECASE)
_CUT = re.compile(r"\[\.\.\. [\d,]+ (?:more )?characters")
_LONGEST = 240
_SHOWN_COMMAND = 110
_SHOWN_LINE = 150
_SHORT_RESULT = 3


@dataclass(slots=True)
class Operation:
    """A call of a tool, `told` being the statement that names it."""

    name: str
    command: str = ""
    path: str = ""
    told: Statement | None = None

    @property
    def reads(self) -> bool:
        """Whether its output is content that was there before, not what became of the call."""
        if self.command:
            return is_dull(self.command)
        return self.name.lower() in _READING

    @property
    def rules(self) -> bool:
        """Whether it reads a file of rules for agents."""
        return bool(self.reads and _RULES.search(self.path or self.command.strip("'\" ")))

    @property
    def family(self) -> str:
        """What its runs have in common: a later run of the same tells how it stands now."""
        if not self.command:
            return f"{self.name} {self.path}"
        bare = _TAIL.sub("", _PREFIX.sub("", self.command))
        words = [w for w in bare.split() if not w.startswith("-")]
        return words[0] if words[:1] and words[0] in _SMALL else " ".join(words[:3])


def operation_of(call: CallText) -> Operation:
    """The operation of a call read from a conversation."""
    command = call.arguments.get("command") or call.arguments.get("cmd")
    path = call.arguments.get("path") or call.arguments.get("file_path")
    if isinstance(command, str) and command.strip():
        return Operation(call.name, _HERE.sub("", command.strip().split("\n")[0][:_LONGEST]))
    if isinstance(path, str) and path.strip():
        return Operation(call.name, "", path.strip())
    return Operation(call.name)


def is_dull(command: str) -> bool:
    """Whether a command only looks."""
    return _DULL.match(_PREFIX.sub("", command)) is not None


def failing_lines(lines: list[str], operation: Operation | None) -> list[str]:
    """The lines that report a failure. What was only read reports none, unless it is so short
    that it must be the answer of the tool itself."""
    if operation is not None and operation.reads and len(lines) > _SHORT_RESULT:
        if operation.command:  # a log, or what a pipe lets through
            return [line for line in lines if cues.names_failure(line) and not _listed(line)]
        return []
    return [line for line in lines if cues.is_error_line(line)]


def _listed(line: str) -> bool:
    return line[:1] in "-*+#>|" or re.match(r"^[\w./-]+[:-]\d+[:-]", line) is not None


def failed(text: str, failing: list[str]) -> bool:
    """Whether an output tells of a failure and not only of warnings."""
    return _EXITED.search(text) is not None or any(not _MILD.search(line) for line in failing)


def result_told(operation: Operation, text: str, lines: list[str]) -> str:
    """A command with what shows that it was done; empty where the output shows nothing."""
    if operation.reads or not operation.command or is_torn(operation.command):
        return ""
    bare = _PREFIX.sub("", operation.command)
    command = _TAIL.sub("", bare)
    if len(command) > _SHOWN_COMMAND or "`" in command:
        return ""
    telling = [line for line in lines if _TELLING.search(line) and len(line) <= _SHOWN_LINE]
    if telling:
        return f"`{command}`{ARROW}{telling[-1].strip('= ')}"
    # The end of a long output was cut off, or went through a filter: that shows nothing.
    if _CUT.search(text) or "|" in bare:
        return ""
    return f"`{command}`{ARROW}{NO_ERROR}" if _WEIGHTY.search(operation.family) else ""


def is_telling(text: str) -> bool:
    """Whether a result says more than that nothing failed."""
    return not text.endswith(ARROW + NO_ERROR)
