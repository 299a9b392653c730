"""The items of a record: of an earlier summary, and of the blocks of a conversation."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from explorer.facts import EXACT_KINDS, FactKind, Mention
from explorer.facts.commands import fences
from explorer.facts.entry_texts import Speaker
from explorer.facts.errors import is_failure
from explorer.facts.fact_table import EntryFacts
from explorer.facts.statements import is_question, kinds_of
from explorer.facts.text import Sentence, sentences, terms, units, wide_places, word_set
from explorer.models.offline.extractive.items import (
    STATEMENTS,
    Focus,
    Item,
    ItemKind,
    exact_facts,
    is_torn,
    read_facts,
)
from explorer.models.offline.extractive.request import CallText, RequestBlock, calls_of
from explorer.models.offline.extractive.sections import ANSWER_TO, LISTED, summary_items
from explorer.session.file_tools import file_ops

ARROW = " → "
_JOINTS = word_set("but however and also btw so oh") | {"", "and also", "oh and also"}
_LONGEST_JOINT = 20
"""Words between two parts of one sentence, and characters there."""
_AT_ONCE = 8
"""Blocks that are read between two looks at ``cancelled``."""
_LATE = 0.25
"""Age up to which announced work may still be open."""
_FEW_WORDS = 3
"""Telling words below which a sentence without exact facts says nothing that lasts."""
_LONGEST = 400
"""Characters of an item."""
_LATEST_LIMIT = 1200
_SHORT_ANSWER = 4
"""Telling words below which the latest request is given with the question that it answers."""
_SHORT_OUTPUT = 3
"""Lines of an output that a tool which only reads may still report a failure in."""
_TABLE = "|"
"""In the place of a row's section: the row of a table."""
_MOST_ERRORS = 4
_MOST_WANTED = 40

_STANDING = {FactKind.CONSTRAINT, FactKind.DECISION}
_ANNOUNCES = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|now|so|first|then|next|great|perfect|right|sure|yes|oh|wait|no|and|also)"
    r"\b\W*)*(?:let me|let's|i['’]?ll|i will|i['’]m (?:going|about) to|"
    r"i (?:now )?(?:need|want|have) to|we (?:need|should)|time to)\b",
    re.IGNORECASE,
)
_REASONED = re.compile(r"^\W*(?:i|we)(?:['’]ll| will)\b.*\b(?:because|since)\b", re.IGNORECASE)
"""A choice with its reason."""
_REPORTS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|done|i|we|i['’]ve|we['’]ve|have|has|also|then|now|just|successfully)\b\W*)*"
    r"(?!need|indeed|based|supposed|speed)(?:[a-z]{2,}ed|wrote|written|built|made|put|done)\b|"
    r"\b(?:tests?|suite|build|everything|all) (?:now )?pass",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(
    r"\b(?:root cause|culprit|turn(?:s|ed) out|because|due to|caused by|reason|"
    r"bottleneck|only when)\b",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^\W*(?:perfect|great|excellent|good|hm+|oh|oops|wait|sorry|interesting|"
    r"you['’]?re (?:\w+ )?right|thanks?|thank you|sounds good|take your time)\b",
    re.IGNORECASE,
)
_READING = word_set("read ls grep find glob cat view search list fetch open")
_LOOKING = re.compile(
    r"^\s*(?:ls|cat|cd|pwd|echo|which|head|tail|wc|find|grep|rg|tree|less|stat|file|env|date|"
    r"sed -n|awk|jq|sleep|true|git (?:status|diff|log|show|branch|blame))\b"
)
_CHANGE_OF_FOLDER = re.compile(r"^(?:cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;)\s*)+")
_PIPE = re.compile(r"(?:\s*(?:2>&1|\|.*|&>.*|>\s*/dev/null.*))+$")
_RULE_FILE = re.compile(r"(?:^|[/\\])(?:AGENTS?|CLAUDE|GEMINI|copilot-instructions)\.md$", re.I)
_SUCCESS = re.compile(
    r"^\[[\w./#-]+(?: \([\w -]+\))? [0-9a-f]{7,40}\] \S|\[new (?:tag|branch)\]|"
    r"^\W*(?!.*\b[1-9]\d* (?:failed|errors?)\b)(?:Tests?:?\s.*)?\b\d+ (?:tests? )?pass(?:ed|ing)\b|"
    r"^test result: ok|^OK \(\d+|^Successfully (?:built|published|installed|deployed)"
)
_CUT_END = re.compile(r"\[\.\.\. [\d,]+ more characters truncated\]\s*")


@dataclass(slots=True)
class Operation:
    """A call of a tool with the item that names it."""

    name: str
    command: str = ""
    path: str = ""
    item: Item | None = None

    @property
    def reads(self) -> bool:
        """Whether its output is content that was there before."""
        if self.command:
            return _LOOKING.match(self.command) is not None
        return self.name.lower() in _READING

    @property
    def family(self) -> str:
        """Equal for two runs of one command: the later one shows how things stand."""
        words = [word for word in self.command.split() if not word.startswith("-")]
        return " ".join(words[:3]) or f"{self.name} {self.path}"


class Record:
    """Collects items in the order of time."""

    def __init__(self, focus: Focus) -> None:
        self.items: list[Item] = []
        self._focus = focus
        self._pending: list[Operation] = []
        self._failures: dict[str, list[Item]] = {}

    def _add(
        self, text: str, kind: ItemKind, speaker: Speaker, age: float, facts: Sequence[Mention] = ()
    ) -> Item:
        item = Item(" ".join(text.split()), kind, speaker, len(self.items), age, tuple(facts))
        item.alive = bool(item.text)
        self.items.append(item)
        return item

    def add_summary(self, text: str, age: float = 1.0) -> None:
        """Add the items of an earlier summary, with the kinds that their sections give them."""
        listed = summary_items(text)
        found = read_facts(Speaker.SUMMARY, [item for _, item in listed])
        for (kind, words), facts in zip(listed, found, strict=True):
            if kind is ItemKind.LATEST:
                self._add_request(words.partition(f" ({ANSWER_TO}")[0], age)
                continue
            if kind in (ItemKind.FACT, ItemKind.BLOCKED) and is_failure(words):
                kind = ItemKind.ERROR
            exact = exact_facts(facts)
            if kind in (*LISTED, ItemKind.ERROR):
                exact = (_whole(words, kind),)
            item = self._add(words, kind, Speaker.SUMMARY, age, exact)
            item.inherited, item.minor = True, kind is ItemKind.FILE

    def _add_request(self, text: str, age: float) -> None:
        """The sentences of what was the latest request before, each with the kind of its words."""
        parts = [sentence.text for sentence in sentences(text, [])]
        for part, found in zip(parts, read_facts(Speaker.USER, parts), strict=True):
            kinds = [STATEMENTS[kind] for kind in kinds_of(part, by_user=True)]
            kind = kinds[0] if kinds else ItemKind.FACT
            self._add(part, kind, Speaker.USER, age, exact_facts(found)).inherited = True

    def add_blocks(self, blocks: Sequence[RequestBlock], cancelled: Callable[[], bool]) -> None:
        """Add a conversation."""
        latest = _latest_index(blocks)
        spoken = [at for at, block in enumerate(blocks) if block.speaker is Speaker.ASSISTANT]
        last = spoken[-1] if spoken else -1
        for start in range(0, len(blocks), _AT_ONCE):
            if cancelled():
                return
            part = blocks[start : start + _AT_ONCE]
            for at, (block, found) in enumerate(zip(part, _facts_of(part), strict=True)):
                index = start + at
                age = (len(blocks) - 1 - index) / max(1, len(blocks) - 1)
                if index == latest:
                    self._add(_latest_text(blocks, index), ItemKind.LATEST, Speaker.USER, age)
                self._add_block(block, found, age, is_last=index == last)

    def _add_block(
        self, block: RequestBlock, facts: EntryFacts, age: float, *, is_last: bool
    ) -> None:
        if block.speaker is Speaker.COMMAND:
            self._add_calls(block.text, age)
            return
        if block.speaker is Speaker.RESULT:
            operation = self._pending.pop(0) if self._pending else Operation("")
            self._add_result(block.text, facts, operation, age)
            return
        self._pending.clear()
        if block.speaker is Speaker.SUMMARY:
            self.add_summary(block.text, age)
        elif block.speaker in (Speaker.USER, Speaker.ASSISTANT):
            self._add_prose(block, facts, age, is_last=is_last)

    def _add_prose(
        self, block: RequestBlock, found: EntryFacts, age: float, *, is_last: bool
    ) -> None:
        """Sentences that state something, failures that were pasted, commands in code blocks."""
        errors = [item for item in found.items if item.kind is FactKind.ERROR]
        for error in errors[:_MOST_ERRORS]:
            self._add(error.text[:_LONGEST], ItemKind.ERROR, block.speaker, age, (error,))
        for command in _commands_in_code(block.text, found):
            self._add(command.text, ItemKind.COMMAND, block.speaker, age, (command,))
        for sentence, mentions in _stated(block.text, found):
            facts = [mention for mention in mentions if mention.kind in EXACT_KINDS]
            stated = [
                STATEMENTS[mention.kind] for mention in mentions if mention.kind in STATEMENTS
            ]
            if block.speaker is Speaker.USER:
                kind = _user_kind(sentence, stated, facts)
            else:
                kind = _assistant_kind(sentence, stated, facts, age, is_last=is_last)
            if kind is not None:
                self._add(sentence.text, kind, block.speaker, age, facts)

    def _add_calls(self, text: str, age: float) -> None:
        for call in calls_of(text):
            operation = _operation(call)
            self._pending.append(operation)
            kind, named = ItemKind.COMMAND, operation.command
            if not named:
                ops = file_ops(call.name, call.arguments, "")
                kind = ItemKind.CHANGE if any(op.kind != "read" for op in ops) else ItemKind.FILE
                named = operation.path
            if named and not is_torn(named):
                fact = _whole(named, kind)
                operation.item = self._add(named, kind, Speaker.COMMAND, age, (fact,))
                operation.item.minor = operation.reads

    def _add_result(self, text: str, found: EntryFacts, operation: Operation, age: float) -> None:
        """What an output shows: failures, that something was done, rules, and exact facts."""
        lines = [line.strip() for line in _without_cut(text).split("\n")]
        known = set(lines)
        reads = operation.reads and len(lines) > _SHORT_OUTPUT
        errors = [
            one
            for one in found.items
            if one.kind is FactKind.ERROR and one.text in known and not is_torn(one.text)
        ]
        shown = [] if reads else [*errors[: _MOST_ERRORS - 1], *errors[_MOST_ERRORS - 1 :][-1:]]
        failures = [
            self._add(one.text[:_LONGEST], ItemKind.ERROR, Speaker.RESULT, age, (one,))
            for one in shown
        ]
        for line in [line for line in lines if self._focus.wants_line(line)][:_MOST_WANTED]:
            if all(line != one.text for one in shown):
                kind = ItemKind.ERROR if is_failure(line) else ItemKind.FACT
                self._add(line, kind, Speaker.RESULT, age)
        if _RULE_FILE.search(operation.path):
            self._add_rules(text, age)
        if not reads:
            for item in self._failures.pop(operation.family, ()):
                item.solved = True
            self._failures[operation.family] = failures
        if failures:
            if operation.item is not None and operation.item.kind is ItemKind.CHANGE:
                operation.item.kind = ItemKind.FILE
            return
        done = self._add_success(lines, operation, age)
        exact = [fact for fact in exact_facts(found) if fact.kind is not FactKind.ERROR]
        for line in dict.fromkeys(_line_at(text, one) for one in exact):
            if len(line) <= _LONGEST and line not in done and not is_torn(line):
                facts = [one for one in exact if one.text in line]
                self._add(line, ItemKind.FACT, Speaker.RESULT, age, facts)

    def _add_success(self, lines: Sequence[str], operation: Operation, age: float) -> str:
        """A command with the line of its output which shows that it was done."""
        command = _PIPE.sub("", operation.command)
        shown = [line for line in lines if len(line) <= _LONGEST and _SUCCESS.search(line)]
        if not command or not shown or operation.reads or operation.item is None:
            return ""
        operation.item.alive = False
        done = f"`{command}`{ARROW}{shown[-1].strip('= ')}"
        self._add(done, ItemKind.DONE, Speaker.RESULT, age, operation.item.facts)
        return done

    def _add_rules(self, text: str, age: float) -> None:
        """The rules in a file that was written for agents."""
        for item in read_facts(Speaker.USER, [text])[0].items:
            if item.kind is FactKind.CONSTRAINT:
                self._add(item.text, ItemKind.CONSTRAINT, Speaker.RESULT, age)


def _whole_sentences(text: str, skip: list[tuple[int, int]]) -> list[Sentence]:
    """The sentences of a text, those that were split at a semicolon, a dash or a comma as one."""
    found: list[Sentence] = []
    for sentence in sentences(text, skip):
        before = found[-1] if found else None
        if before and before.end - before.start < _LONGEST and before.text[-1] not in ".!?…:":
            between = text[before.end : sentence.start]
            if between.strip(" ,;-–—\t") in _JOINTS and len(between) < _LONGEST_JOINT:
                found[-1] = before._replace(
                    text=text[before.start : sentence.end], end=sentence.end
                )
                continue
        found.append(sentence)
    return found


def _stated(text: str, facts: EntryFacts) -> Iterator[tuple[Sentence, list[Mention]]]:
    """The sentences of a text outside its code and its failures, each with what it states; the
    rows of a table as words, each cell after the head of its column."""
    wide = wide_places(text)
    mentions = sorted(facts.items, key=lambda item: item.start)
    starts = [mention.start for mention in mentions]
    errors = [mention for mention in mentions if mention.kind is FactKind.ERROR]
    heads: list[str] = []
    for sentence in _whole_sentences(text, [(start, end) for start, end, _ in fences(text)]):
        start, end = units(sentence.start, wide), units(sentence.end, wide)
        if any(error.start <= start and end <= error.end for error in errors):
            continue
        stated = mentions[bisect_left(starts, start) : bisect_left(starts, end)]
        if not sentence.text.startswith("|"):
            heads = []
            yield sentence, stated
            continue
        row = [cell.strip(" *") for cell in sentence.text.strip("| ").split("|")]
        if heads and any(letter.isalnum() for letter in sentence.text):
            cells = zip([*heads, *[""] * len(row)], row, strict=False)
            words = ", ".join(f"{head} {cell}".strip() for head, cell in cells)
            yield sentence._replace(text=words, section=_TABLE), stated
        heads = heads or row


def _commands_in_code(text: str, facts: EntryFacts) -> list[Mention]:
    """The commands in the code blocks of a text."""
    wide = wide_places(text)
    code = [(units(start, wide), units(end, wide)) for start, end, _ in fences(text)]
    commands = [item for item in facts.items if item.kind is FactKind.COMMAND]
    return [
        command for command in commands if any(start <= command.start < end for start, end in code)
    ]


def _facts_of(blocks: Sequence[RequestBlock]) -> list[EntryFacts]:
    """What each block states; nothing of calls, thinking and earlier summaries."""
    found = [EntryFacts()] * len(blocks)
    for speaker in (Speaker.USER, Speaker.ASSISTANT, Speaker.RESULT):
        places = [at for at, block in enumerate(blocks) if block.speaker is speaker]
        texts = [blocks[at].text for at in places]
        for at, facts in zip(places, read_facts(speaker, texts), strict=True):
            found[at] = facts
    return found


def _user_kind(
    sentence: Sentence, stated: Sequence[ItemKind], facts: Sequence[Mention]
) -> ItemKind | None:
    if stated:
        return min(stated, key=list(STATEMENTS.values()).index)
    if facts:
        return ItemKind.FACT
    is_fact = len(terms(sentence.text)) >= _FEW_WORDS and not _FILLER.match(sentence.text)
    return ItemKind.FACT if is_fact else None


def _assistant_kind(
    sentence: Sentence,
    stated: Sequence[ItemKind],
    facts: Sequence[Mention],
    age: float,
    *,
    is_last: bool,
) -> ItemKind | None:
    """What a sentence of the assistant is; None for one that only accompanies the work."""
    text = sentence.text
    if sentence.box in ("x", "X"):
        return ItemKind.DONE
    if is_question(text):
        return ItemKind.NEXT if is_last and len(terms(text)) > 1 else None
    if ItemKind.DECISION in stated or _REASONED.match(text):
        return ItemKind.DECISION
    if text.lower().startswith("next") and _ANNOUNCES.match(text):
        return ItemKind.NEXT if age <= _LATE else None
    if _ANNOUNCES.match(text):
        return ItemKind.DOING if is_last and text[-1] != ":" else None
    if ItemKind.NEXT in stated:
        return ItemKind.NEXT if age <= _LATE else None
    if not facts and (_FILLER.match(text) or text.endswith(":")):
        return None
    if _REPORTS.search(text):
        return ItemKind.DONE
    is_rule = not _STANDING.isdisjoint(kinds_of(text, by_user=True))
    lasts = facts or is_rule or sentence.section == _TABLE or _EXPLAINS.search(text)
    return ItemKind.FACT if lasts else None


def _operation(call: CallText) -> Operation:
    command = call.arguments.get("command") or call.arguments.get("cmd")
    if isinstance(command, str) and command.strip():
        line = command.strip().split("\n")[0].partition("<<")[0]
        return Operation(call.name, _CHANGE_OF_FOLDER.sub("", line).strip()[:_LONGEST])
    path = call.arguments.get("path") or call.arguments.get("file_path")
    return Operation(call.name, path=path.strip() if isinstance(path, str) else "")


def _whole(text: str, kind: ItemKind) -> Mention:
    """The fact of an item that is one exact thing."""
    kinds = {ItemKind.COMMAND: FactKind.COMMAND, ItemKind.ERROR: FactKind.ERROR}
    return Mention(kinds.get(kind, FactKind.PATH), text, text.lower(), 0, len(text))


def _without_cut(text: str) -> str:
    """An output without the line that a cut ends in: it says less than it did."""
    at = text.rfind("[... ")
    if at < 0 or not _CUT_END.fullmatch(text, at):
        return text
    return text[:at].rstrip().rpartition("\n")[0]


def _line_at(text: str, fact: Mention) -> str:
    at = text.find(fact.text)
    return text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0].strip()


def _latest_index(blocks: Sequence[RequestBlock]) -> int:
    """Index of the last message of the user that says something; -1 without any."""
    asked = [at for at, block in enumerate(blocks) if block.speaker is Speaker.USER]
    telling = [at for at in asked if terms(blocks[at].text)]
    return (telling or asked or [-1])[-1]


def _latest_text(blocks: Sequence[RequestBlock], index: int) -> str:
    """The latest request on one line; a few words that only agree come with what they agree to."""
    text = blocks[index].text
    for start, end, _ in reversed(fences(text)):
        text = f"{text[:start]} {text[end:]}"
    parts = [sentence.text for sentence in sentences(text, []) if not is_failure(sentence.text)]
    request = " ".join(" ".join(parts).split()) or " ".join(text.split())
    before = blocks[index - 1] if index else blocks[index]
    if len(terms(request)) < _SHORT_ANSWER and before.speaker is Speaker.ASSISTANT:
        asked = [
            sentence.text for sentence in sentences(before.text, []) if is_question(sentence.text)
        ]
        if asked and len(asked[-1]) <= _LONGEST:
            request = f"{request} ({ANSWER_TO}{asked[-1]})"
    return request[:_LATEST_LIMIT]
