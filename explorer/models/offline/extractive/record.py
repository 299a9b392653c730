"""Turns a conversation into statements: what was said, done, read and shown by results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from explorer.models.offline.extractive import cues
from explorer.models.offline.extractive.cues import (
    announces,
    asks_change,
    assistant_kind,
    breaks_off,
    goal_kind,
    is_chatter,
    is_goal,
    is_prompt,
    is_reaction,
    split_pasted,
    user_kind,
)
from explorer.models.offline.extractive.focus import Focus
from explorer.models.offline.extractive.request import Block, CallText, calls_of, stoppable
from explorer.models.offline.extractive.sections import ANSWER_TO, atoms_of_item, summary_items
from explorer.models.offline.extractive.statement import (
    Atom,
    Kind,
    Piece,
    Speaker,
    Statement,
    atoms_of,
    is_torn,
    lower_words,
    pieces_of,
    terms_of,
    word_set,
)

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


_CODE_LINE = re.compile(
    r"[{(,;}\[:\\]$|^(?:def|class|import|from|return|if|for|while|const|let|var|function|export|"
    r"public|private|static|async|await|use|package|fn|pub|type|interface|#include|//|/\*|\*|#|<)\b|^[/#*<]"
)
_LETTERS = re.compile(r"[A-Za-z]+")
_DIGITS = re.compile(r"[0-9]+")
_ASSIGNED = re.compile(r"^\s*[\w .()/-]{2,40}(?::|=|\bis\b|\bare\b)\s*\S")
_CUT_END = re.compile(r"(?<!\s)\s*+\[\.\.\. [\d,]+ more characters truncated\]\s*\Z")
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
    cut = _CUT_END.search(text)
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


_STATEMENT = re.compile(r"^(?:raise|return|def|class|with|if|for|while|import|from|assert)\s")
"""What a line of Python begins with."""
_TO_THE_PERSON = re.compile(r"\b(?:you|your|should\s+i|shall\s+(?:i|we)|want)\b", re.IGNORECASE)
_BULLET = re.compile(r"^[-*+#>\s]*(?:\d{1,3}[.)]\s+)?")
_ERROR_LINES = 3
_WANTED_LINES = 40
_RULE_LINES = 24
_LATEST_LIMIT = 1200
_FRESH_MESSAGES = 3
_SHORT_ANSWER = 4
_QUESTION_LIMIT = 240


class Builder:
    """Collects statements in the order of time."""

    def __init__(self, focus: Focus | None = None) -> None:
        self.statements: list[Statement] = []
        self._focus = focus or Focus()
        self._shapes: dict[str, int] = {}
        self._count = 0
        self._pending: list[Operation] = []
        self._done: dict[str, Statement] = {}
        self._failures: dict[str, list[Statement]] = {}
        self._fresh_from = 0
        self._cancelled: Callable[[], bool] = lambda: False
        self._last_speech = -1

    def add(
        self,
        text: str,
        kind: Kind,
        speaker: Speaker,
        age: float,
        atoms: tuple[Atom, ...] | None = None,
    ) -> Statement:
        """Append one statement."""
        found = atoms_of(text) if atoms is None else atoms
        statement = Statement(
            text=text,
            kind=kind,
            speaker=speaker,
            order=self._count,
            age=age,
            atoms=found,
            terms=terms_of(text),
            keys=frozenset(atom.key for atom in found),
        )
        self._count += 1
        self.statements.append(statement)
        return statement

    def add_summary(self, text: str, age: float) -> None:
        """Add the items of an earlier summary, with the kinds that their sections gave them."""
        for kind, item in summary_items(text):
            if kind is Kind.LATEST:
                for piece in pieces_of(item.partition(f" ({ANSWER_TO}")[0]):
                    self._user_piece(piece, age, inherited=True)
                continue
            if kind in (Kind.FACT, Kind.BLOCKED) and cues.names_failure(item):
                kind = Kind.ERROR
            if kind is Kind.GOAL:
                kind = goal_kind(item)
            statement = self.add(item, kind, Speaker.SUMMARY, age, atoms_of_item(kind, item))
            statement.inherited = True
            statement.firm = kind in (Kind.FILE, Kind.COMMAND)
            words = lower_words(item)
            if kind is Kind.CONSTRAINT:
                statement.firm = cues.FIRM.found(item, words)
                if not statement.firm and cues.PREFERENCE.found(item, words):
                    statement.kind = Kind.PREFERENCE
            statement.noted = cues.NOTED.found(item, words)

    def add_blocks(self, blocks: list[Block], cancelled: Callable[[], bool]) -> None:
        """Add a conversation."""
        self._cancelled = cancelled
        self._shapes = shape_counts(blocks, cancelled)
        last = max(1, len(blocks) - 1)
        latest = _latest_user_block(blocks)
        spoken = [i for i, b in enumerate(blocks) if b.speaker is Speaker.USER]
        self._fresh_from = spoken[-_FRESH_MESSAGES:][0] if spoken else 0
        told = [i for i, b in enumerate(blocks) if b.speaker is Speaker.ASSISTANT]
        self._last_speech = told[-1] if told else -1
        for index, block in enumerate(blocks):
            if cancelled():
                return
            age = (len(blocks) - 1 - index) / last
            if index == latest:
                self.add(_latest_text(blocks, index), Kind.LATEST, Speaker.USER, age)
            self._add_block(block, index, age)

    def _add_block(self, block: Block, index: int, age: float) -> None:
        if block.speaker not in (Speaker.CALL, Speaker.RESULT):
            self._pending.clear()
        match block.speaker:
            case Speaker.SUMMARY:
                self.add_summary(block.text, age)
            case Speaker.USER:
                self._user_block(block.text, age, fresh=index >= self._fresh_from)
            case Speaker.ASSISTANT | Speaker.THINKING:
                for piece in stoppable(pieces_of(block.text), self._cancelled):
                    self._assistant_piece(piece, block.speaker, age, index == self._last_speech)
            case Speaker.CALL:
                self._calls(block.text, age)
            case Speaker.RESULT:
                self._result(block.text, age, self._pending.pop(0) if self._pending else None)

    def _user_block(self, text: str, age: float, *, fresh: bool) -> None:
        said, pasted = split_pasted(text)
        for piece in stoppable(pieces_of(said), self._cancelled):
            statement = self._user_piece(piece, age)
            if statement is not None:
                statement.fresh = fresh
        pasted = [line for line in pasted if not is_prompt(line)]
        failing = [line for line in pasted if cues.is_error_line(line) and not is_code(line)]
        for line in dict.fromkeys(failing[:_ERROR_LINES]):
            self.add(line, Kind.ERROR, Speaker.RESULT, age)
        for line in self._wanted(pasted, failing):
            self.add(line, Kind.OUTPUT, Speaker.RESULT, age)

    def _user_piece(self, piece: Piece, age: float, inherited: bool = False) -> Statement | None:
        text = piece.text
        if not piece.code and (len(text) < 4 or is_reaction(text)):
            return None
        words = lower_words(text)
        failing = piece.code and cues.is_error_line(text)
        kind = (Kind.ERROR if failing else Kind.FACT) if piece.code else user_kind(text, words)
        statement = self.add(text, kind, Speaker.USER, age)
        statement.firm = kind is Kind.CONSTRAINT and cues.FIRM.found(text, words)
        if kind is Kind.REQUEST:
            statement.firm = is_goal(text)
        statement.noted = cues.NOTED.found(text, words) or (kind is Kind.FACT and asks_change(text))
        statement.inherited = inherited
        return statement

    def _assistant_piece(self, piece: Piece, speaker: Speaker, age: float, last: bool) -> None:
        text = piece.text
        if len(text) < 8 or piece.title or cues.SMALL_TALK.match(text):
            return
        if _STATEMENT.match(text) and is_torn(text):
            return
        if piece.code:
            if cues.is_error_line(text) and not is_code(text):
                self.add(text, Kind.ERROR, speaker, age)
            return
        if text.endswith("?"):
            self._question(text, speaker, age, last)
            return
        words = lower_words(text)
        if not piece.box and announces(text):
            # What was begun last is told in full; what was begun before has results by now.
            self.add(text, assistant_kind(piece, words, age), speaker, age)
            return
        atoms = atoms_of(text)
        aside = not piece.box and (is_chatter(piece) or breaks_off(piece))
        if aside and not atoms:
            return
        kind = assistant_kind(piece, words, age)
        if aside and kind in (Kind.DONE, Kind.NEXT, Kind.DOING, Kind.BLOCKED, Kind.CONSTRAINT):
            kind = Kind.FACT
        statement = self.add(text, kind, speaker, age, atoms)
        statement.noted = cues.NOTED.found(text, words)

    def _question(self, text: str, speaker: Speaker, age: float, last: bool) -> None:
        """A question that ends the conversation waits for its answer; others were answered."""
        if last and speaker is Speaker.ASSISTANT and len(terms_of(text)) >= 2:
            self.add(text, Kind.NEXT, speaker, age)
        elif not _TO_THE_PERSON.search(text) and atoms_of(text):
            self.add(text, Kind.FACT, speaker, age)

    def _calls(self, text: str, age: float) -> None:
        for call in calls_of(text):
            operation = operation_of(call)
            self._pending.append(operation)
            line = operation.command
            if line and not is_torn(line) and not line.endswith(" -"):
                atom = Atom("command", line, 0, len(line))
                operation.told = self.add(line, Kind.COMMAND, Speaker.CALL, age, (atom,))
                operation.told.firm = not is_dull(line)
            elif operation.path:
                operation.told = self.add(operation.path, Kind.FILE, Speaker.CALL, age)
                operation.told.firm = not operation.reads

    def _result(self, text: str, age: float, operation: Operation | None) -> None:
        """What an output shows: failures, that something was done, rules, and its few lines that
        look like no other line."""
        lines = result_lines(text)
        failing = [line for line in failing_lines(lines, operation) if not is_code(line)]
        shown = failing[:_ERROR_LINES] + failing[-1:]
        wanted = self._wanted(lines, failing)
        broken = failed(text, failing)
        told: list[Statement] = []
        for line in dict.fromkeys(shown + [line for line in wanted if line in set(failing)]):
            told.append(self.add(line, Kind.ERROR, Speaker.RESULT, age))
        if operation is not None:
            self._came_of(operation, text, lines, age, told, broken=broken)
            if operation.rules:
                self._rules(lines, age)
                return
        done = operation.told.text if operation and operation.told else ""
        for rare in rare_lines(lines, set(failing), self._shapes):
            atoms = atoms_of(rare.text) if rare.text not in done else ()
            if atoms:
                statement = self.add(rare.text, Kind.OUTPUT, Speaker.RESULT, age, atoms)
                statement.firm = rare.assigned or len(lines) <= 3
        for text in dict.fromkeys(line for line in wanted if line not in set(failing)):
            self.add(text, Kind.OUTPUT, Speaker.RESULT, age)

    def _came_of(
        self,
        operation: Operation,
        text: str,
        lines: list[str],
        age: float,
        told: list[Statement],
        *,
        broken: bool,
    ) -> None:
        """Whether the operation was done; a later run of the same settles earlier failures."""
        if operation.reads:
            for error in told:
                error.solved = True  # it was looked at, and says nothing of how things stand
            return
        for error in self._failures.pop(operation.family, []):
            error.solved = True
        if broken:
            self._failures[operation.family] = told
            if operation.told is not None and operation.path:
                operation.told.firm = False
            return
        shown = result_told(operation, text, lines)
        if shown and operation.told is not None:
            operation.told.dropped = "told with its result"
            operation.told = self.add(shown, Kind.DONE, Speaker.RESULT, age)
            command = shown.partition(ARROW)[0]
            if command in self._done:
                self._done[command].dropped = "done again later"
            self._done[command] = operation.told

    def _rules(self, lines: list[str], age: float) -> None:
        """The rules in a file that was written for agents."""
        kept = 0
        for line in lines:
            text = _BULLET.sub("", line)
            if kept < _RULE_LINES and cues.FIRM.found(text, lower_words(text)):
                statement = self.add(text, Kind.CONSTRAINT, Speaker.RESULT, age)
                statement.firm = True
                kept += 1

    def _wanted(self, lines: list[str], failing: list[str]) -> list[str]:
        if not self._focus.wishes:
            return []
        bad = set(failing)
        found = (line for line in lines if self._focus.in_line(line, line in bad))
        return list(dict.fromkeys(found))[:_WANTED_LINES]


def _latest_user_block(blocks: list[Block]) -> int:
    """The last message of the user that asks for something; -1 when there is none."""
    fallback = -1
    for index in range(len(blocks) - 1, -1, -1):
        if blocks[index].speaker is Speaker.USER:
            if not cues.SMALL_TALK.match(blocks[index].text):
                return index
            fallback = index if fallback < 0 else fallback
    return fallback


def _latest_text(blocks: list[Block], index: int) -> str:
    """The latest request; a few words that only agree come with what they agree to."""
    text = _condensed(blocks[index].text)
    if len(terms_of(text)) >= _SHORT_ANSWER:
        return text
    for block in reversed(blocks[:index]):
        if block.speaker is Speaker.USER:
            return text
        if block.speaker is Speaker.ASSISTANT:
            asked = [p.text for p in pieces_of(block.text) if p.text.endswith("?")]
            if asked and len(asked[-1]) <= _QUESTION_LIMIT:
                return f"{text} ({ANSWER_TO}{asked[-1]})"
            return text
    return text


def _condensed(text: str) -> str:
    """A message on one line, without its pasted blocks, at most 1,200 characters."""
    kept: list[str] = []
    size = 0
    said, _ = split_pasted(text)
    for piece in pieces_of(said):
        if piece.code:
            continue
        if size + len(piece.text) > _LATEST_LIMIT:
            break
        kept.append(piece.text)
        size += len(piece.text) + 1
    return " ".join(kept) or " ".join(text.split())[:_LATEST_LIMIT]
