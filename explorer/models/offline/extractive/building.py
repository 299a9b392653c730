"""Turns blocks and earlier items into statements, each with the kind that its words show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from explorer.models.offline.extractive import cues
from explorer.models.offline.extractive.atoms import Atom, atoms_of
from explorer.models.offline.extractive.blocks import Block, calls_of
from explorer.models.offline.extractive.previous import atoms_of_item, summary_items
from explorer.models.offline.extractive.sentences import Piece, is_torn, pieces_of
from explorer.models.offline.extractive.statement import Kind, Speaker, Statement
from explorer.models.offline.extractive.words import lower_words, terms_of, word_set

_READING = word_set(
    """
    read ls grep find glob cat view search list fetch open
    """
)
_DULL_COMMAND = re.compile(
    r"^\s*(?:ls|cat|cd|pwd|echo|which|head|tail|wc|find|grep|rg|tree|"
    r"git (?:status|diff|log|show))\b"
)
_CODE_LINE = re.compile(
    r"[{(,;}\[:\\]$|^(?:def|class|import|from|return|if|for|while|const|let|var|function|export|"
    r"public|private|static|async|await|use|package|fn|pub|type|interface|#include|//|/\*|\*|#|<)\b|^[/#*<]"
)
_STATEMENT = re.compile(r"^(?:raise|return|def|class|with|if|for|while|import|from|assert)\s")
"""What a line of Python begins with."""
_HERE = re.compile(r"\s*<<-?\s*(['\"]?)\w+\1.*$")
"""A command's text that follows on further lines: what is written there is no command."""
_SHAPE = re.compile(r"[A-Za-z]+|\d+")
_RESULT_LINES = 4
_ERROR_LINES = 3
_COMMON = 2
_ASSIGNED = re.compile(r"^\s*[\w .()/-]{2,40}(?::|=|\bis\b|\bare\b)\s*\S")
_LATEST_LIMIT = 1200


class Builder:
    """Collects statements in the order of time."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self._shapes: Counter[str] = Counter()
        self._count = 0

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
                for piece in pieces_of(item):
                    self._user_piece(piece, age, inherited=True)
                continue
            if kind in (Kind.FACT, Kind.BLOCKED) and cues.names_failure(item):
                kind = Kind.ERROR
            if kind is Kind.GOAL:
                kind = _goal_kind(item)
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
        self._shapes = _shape_counts(blocks)
        last = max(1, len(blocks) - 1)
        latest = _latest_user_block(blocks)
        for index, block in enumerate(blocks):
            if cancelled():
                return
            age = (len(blocks) - 1 - index) / last
            if index == latest:
                self.add(_condensed(block.text), Kind.LATEST, Speaker.USER, age)
            self._add_block(block, age)

    def _add_block(self, block: Block, age: float) -> None:
        match block.speaker:
            case Speaker.SUMMARY:
                self.add_summary(block.text, age)
            case Speaker.USER:
                for piece in pieces_of(block.text):
                    self._user_piece(piece, age)
            case Speaker.ASSISTANT | Speaker.THINKING:
                for piece in pieces_of(block.text):
                    self._assistant_piece(piece, block.speaker, age)
            case Speaker.CALL:
                self._calls(block.text, age)
            case Speaker.RESULT:
                self._result(block.text, age)

    def _user_piece(self, piece: Piece, age: float, inherited: bool = False) -> None:
        text = piece.text
        if not piece.code and (len(text) < 4 or cues.SMALL_TALK.match(text)):
            return
        words = lower_words(text)
        kind = _error_or_fact(text) if piece.code else user_kind(text, words)
        statement = self.add(text, kind, Speaker.USER, age)
        statement.firm = kind is Kind.CONSTRAINT and cues.FIRM.found(text, words)
        statement.noted = cues.NOTED.found(text, words) or (
            kind is Kind.FACT and bool(_SETTING.search(text))
        )
        statement.inherited = inherited

    def _assistant_piece(self, piece: Piece, speaker: Speaker, age: float) -> None:
        text = piece.text
        if len(text) < 8 or piece.title or cues.SMALL_TALK.match(text):
            return
        if _STATEMENT.match(text) and is_torn(text):
            return
        if text.endswith("?"):
            if atoms_of(text):
                self.add(text, Kind.FACT, speaker, age)
            return
        words = lower_words(text)
        if piece.code:
            if cues.is_error_line(text) and not _is_code(text):
                self.add(text, Kind.ERROR, speaker, age)
            return
        kind = assistant_kind(piece, words, age)
        statement = self.add(text, kind, speaker, age)
        statement.noted = cues.NOTED.found(text, words)

    def _calls(self, text: str, age: float) -> None:
        for call in calls_of(text):
            command = call.arguments.get("command") or call.arguments.get("cmd")
            path = call.arguments.get("path") or call.arguments.get("file_path")
            if isinstance(command, str) and command.strip():
                line = _HERE.sub("", command.strip().split("\n")[0][:240])
                if is_torn(line) or line.endswith(" -"):
                    continue
                atom = Atom("command", line, 0, len(line))
                statement = self.add(line, Kind.COMMAND, Speaker.CALL, age, (atom,))
                statement.firm = not _DULL_COMMAND.match(line)
            elif isinstance(path, str) and path.strip():
                statement = self.add(path.strip(), Kind.FILE, Speaker.CALL, age)
                statement.firm = call.name.lower() not in _READING

    def _result(self, text: str, age: float) -> None:
        """The failures of an output, and its few lines that look like no other line."""
        lines = [line.strip() for line in text.split("\n")]
        lines = [line for line in lines if 6 <= len(line) <= 400 and line[0] != "|"]
        errors = [line for line in lines if cues.is_error_line(line) and not _is_code(line)]
        for line in dict.fromkeys(errors[:_ERROR_LINES] + errors[-1:]):
            self.add(line, Kind.ERROR, Speaker.RESULT, age)
        failing = set(errors)
        rare = [
            (self._shapes[_shape(line)], index, line)
            for index, line in enumerate(lines)
            if line not in failing and len(line) <= 200 and self._shapes[_shape(line)] <= _COMMON
        ]
        rare.sort(key=lambda entry: (entry[0], not _ASSIGNED.match(entry[2]), entry[1]))
        for _, _, line in sorted(rare[:_RESULT_LINES], key=lambda entry: entry[1]):
            if _CODE_LINE.search(line) or is_torn(line):
                continue
            atoms = atoms_of(line)
            if atoms:
                statement = self.add(line, Kind.OUTPUT, Speaker.RESULT, age, atoms)
                statement.firm = _ASSIGNED.match(line) is not None or len(lines) <= 3


def _is_code(line: str) -> bool:
    """Whether a line that speaks of a failure is torn out of a program or a listing of one."""
    if cues.names_failure(line):
        return False
    return is_torn(line) or _CODE_LINE.search(line) is not None


def _goal_kind(item: str) -> Kind:
    """A rule or choice that came in with the first request belongs to its own section."""
    kind = user_kind(item, lower_words(item))
    return kind if kind in (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION) else Kind.GOAL


def user_kind(text: str, words: frozenset[str]) -> Kind:
    """What a sentence of the user is."""
    asks = text.rstrip().endswith("?")
    if asks and not cues.QUESTION_ASKS.search(text):
        return Kind.REQUEST
    if cues.names_failure(text) and not cues.FIRM.found(text, words):
        return Kind.ERROR
    decided = cues.DECISION.found(text, words)
    if (
        decided
        and not asks
        and re.search(r"\b(?:decid|decision|go(?:ing)?\s+with|chose|settled|agreed)", text, re.I)
    ):
        return Kind.DECISION
    if not asks and _SETTING.search(text) and atoms_of(text) and not cues.FIRM.found(text, words):
        return Kind.FACT
    if cues.RULE.found(text, words):
        return Kind.CONSTRAINT
    if not asks and (decided or _WILL_DO.search(text) or _REASONED.search(text)):
        return Kind.DECISION
    if cues.PREFERENCE.found(text, words):
        return Kind.PREFERENCE
    if not asks and _only_points(text):
        return Kind.FACT
    if asks or _imperative(text):
        return Kind.REQUEST
    return Kind.FACT if cues.NOTED.found(text, words) or atoms_of(text) else Kind.REQUEST


_SETTING = re.compile(
    r"^\W*(?:\w+\W+){0,5}?(?:set|raise|lower|bump|increase|decrease|reduce|change|make|extend|cut|cap|"
    r"move|rename|pin|upgrade|downgrade)\b",
    re.IGNORECASE,
)
_WILL_DO = re.compile(r"\b(?:we['’]ll|we\s+will|we['’]re\s+going|let['’]?s)\s+\w+", re.IGNORECASE)
_BINDING = re.compile(
    r"\b(?:must(?:n['’]t)?|never(?!\s+(?:used|called|set|read|reached|runs?|fires?|happens?))|"
    r"always(?!\s+uses?)|not allowed|required|forbidden|ha(?:s|ve) to)\b"
    r"|^\W*(?:keep|don['’]t|do not|avoid|ensure|make sure|only|leave|stay|no)\b",
    re.IGNORECASE,
)
_NEXT_MOVE = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|now|so|first|then|next)\W+)*let\s+me\b", re.IGNORECASE
)
_BARE_PAST = re.compile(r"^\W*(?:successfully\s+|also\s+)?[A-Z][a-z]+ed\b")
_POINTS_AT = re.compile(
    r"^\W*(?:please\s+|also\s+|and\s+)*(?:see|check|cf|refer\s+to|look\s+(?:at|in|into)|have\s+a\s+look|"
    r"you(?:['’]ll|\s+will|\s+can)\s+find|find|docs?|details|more\s+in|compare)\b",
    re.IGNORECASE,
)
_REASONED = re.compile(r"^\W*(?:so\W+)?(?:we|let['’]s)\b.{8,}\b(?:because|since)\b", re.IGNORECASE)
_NARRATES = re.compile(
    r"^\W*(?:(?:right|ok(?:ay)?|well|hm+|ah|oh|so|yes|no|good|great|nice|and|but|because|since)\b\W+)*"
    r"(?:that|this|it|its|i|we|they|he|she|there|those|these|which)\b",
    re.IGNORECASE,
)
_NAMES_A_THING = re.compile(
    r"^\W*(?:the|our|my|your|his|her|their|all|each|every|most|some|both)\s", re.IGNORECASE
)
_WISHES = re.compile(
    r"\b(?:need|want|like\s+to|please|should|have\s+to|got\s+to|hope|wish|trying\s+to|goal|love\s+to)\b",
    re.IGNORECASE,
)
_DESCRIBES = re.compile(
    r"^\W*(?:the|this|that|these|those|our|my|we|i|it|there|he|she|they|you|all|each|every|currently|"
    r"right\s+now|today|yesterday|[A-Z][a-z]+(?:['’]s)?)\s+(?:\S+\s+){0,5}?(?:is|are|was|were|has|have|had|"
    r"lives?|runs?|listens?|uses?|takes?|gets?|got|seems?|fails?|shows?|says?|owns?|returns?|sits?|will|should|can|gives?|allows?|expects?|costs?|needs?|contains?|"
    r"wants?|says?|means?|points?|goes|ends?|comes?|starts?|keeps?|holds?|wrote|made|sent|saw)\b",
    re.IGNORECASE,
)


def _only_points(text: str) -> bool:
    """Whether a sentence is an exact thing with hardly a word around it ("ref https://...")."""
    atoms = atoms_of(text)
    if not atoms:
        return False
    rest = text
    for atom in reversed(atoms):
        rest = rest[: atom.start] + " " + rest[atom.end :]
    return len(rest.split()) <= 3


def _imperative(text: str) -> bool:
    if _NAMES_A_THING.match(text):
        return False
    if _NARRATES.match(text) and not _WISHES.search(text):
        return False
    return not (_DESCRIBES.match(text) or _POINTS_AT.match(text))


def assistant_kind(piece: Piece, words: frozenset[str], age: float) -> Kind:
    """What a sentence of the assistant is; open work counts only near the end."""
    text = piece.text
    if piece.box:
        return {"x": Kind.DONE, " ": Kind.NEXT}.get(piece.box, Kind.DOING)
    hypothetical = re.search(r"\b(?:could|might|would|maybe|perhaps|if you)\b", text, re.IGNORECASE)
    if _NEXT_MOVE.match(text):
        return Kind.DOING
    if _BARE_PAST.match(text) and cues.DONE.found(text, words):
        return Kind.DONE
    if cues.DECISION.found(text, words) and not hypothetical:
        return Kind.DECISION
    if cues.names_failure(text) and not cues.DONE.found(text, words):
        return Kind.ERROR
    if cues.FINDING.found(text, words):
        return Kind.FINDING
    if cues.NEXT.found(text, words):
        return Kind.NEXT
    if cues.DONE.found(text, words):
        return Kind.DONE
    if cues.BLOCKED.found(text, words):
        return Kind.BLOCKED if age <= 0.15 else Kind.FINDING
    if cues.DOING.found(text, words):
        return Kind.DOING
    if _BINDING.search(text):
        return Kind.CONSTRAINT
    return Kind.FACT


def _error_or_fact(text: str) -> Kind:
    return Kind.ERROR if cues.is_error_line(text) else Kind.FACT


def _latest_user_block(blocks: list[Block]) -> int:
    """The last message of the user that asks for something; -1 when there is none."""
    fallback = -1
    for index in range(len(blocks) - 1, -1, -1):
        if blocks[index].speaker is Speaker.USER:
            if not cues.SMALL_TALK.match(blocks[index].text):
                return index
            fallback = index if fallback < 0 else fallback
    return fallback


def _condensed(text: str) -> str:
    """A message on one line, without its pasted blocks, at most 1,200 characters."""
    kept: list[str] = []
    size = 0
    for piece in pieces_of(text):
        if piece.code:
            continue
        if size + len(piece.text) > _LATEST_LIMIT:
            break
        kept.append(piece.text)
        size += len(piece.text) + 1
    return " ".join(kept) or " ".join(text.split())[:_LATEST_LIMIT]


def _shape(line: str) -> str:
    return _SHAPE.sub(lambda m: "9" if m.group()[0].isdigit() else "a", line[:120])


def _shape_counts(blocks: list[Block]) -> Counter[str]:
    return Counter(_result_shapes(blocks))


def _result_shapes(blocks: list[Block]) -> Iterator[str]:
    for block in blocks:
        if block.speaker is Speaker.RESULT:
            for line in block.text.split("\n"):
                stripped = line.strip()
                if 6 <= len(stripped) <= 400:
                    yield _shape(stripped)
