"""The items of a record: of an earlier summary, and of the turns of a conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from explorer.facts import EXACT_KINDS, FactKind, Mention
from explorer.facts.commands import fences
from explorer.facts.entry_texts import Speaker
from explorer.facts.errors import error_lines, is_failure
from explorer.facts.statements import is_question, kinds_of
from explorer.facts.text import terms, word_set
from explorer.models.offline.extractive.earlier_summary import summary_items, was_worked_on
from explorer.models.offline.extractive.items import (
    LONGEST,
    STANDING,
    STATEMENTS,
    Focus,
    Item,
    ItemKind,
    is_torn,
    is_whole,
    passages,
    read_facts,
    shortened,
    table_rows,
    up_to,
)
from explorer.models.offline.extractive.request import (
    CallText,
    RequestBlock,
    bare_notes,
    calls_of,
)
from explorer.models.offline.extractive.sections import ANSWER_TO
from explorer.session.file_tools import file_ops

ARROW = " → "
_FEW_TERMS = 2
_FEW_WORDS = 4
"""Telling words, and words, below which a sentence of the user's that states nothing else says
nothing that lasts."""
_LATEST_LIMIT = 1200
_REPORT = 1500
"""Characters of the newest report that are told; of an older one two passages are."""
_OLD_REPORT = 2
_OLD_PASSAGE = 300
"""Characters of a list in an older report."""
_LONG_MESSAGE = 12
"""Passages of a message from which it is a paste: those in the middle are worth little."""
_RULES = 0.4
"""Share of rules among them from which it is a list of rules."""
_SHORT_ANSWER = 4
"""Telling words below which the latest request is given with the question that it answers."""
_SHORT_OUTPUT = 3
"""Lines of an output that a tool which only reads may still report a failure in."""
_MOST_ERRORS = 3
_MOST_WANTED = 40
_LONGEST = 400
"""Characters of a line of output, or of a command."""

_ANNOUNCES = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|now|so|first|then|next|great|perfect|right|sure|yes|oh|wait|no|and|also|"
    r"tomorrow|until \w+|meanwhile|good|understood|noted|all ?right|will do|after that)\b\W*)*"
    r"(?:let me|let's|i['’]?ll|i (?:will|would|wait)|i(?:['’]m| am) (?:going|about) to|will do|"
    r"i (?:now )?(?:need|want|have) (?:you )?to|we (?:need|should)|time to|"
    r"(?:the )?next step(?:s)?(?: is| are)?)\b",
    re.IGNORECASE,
)
_CHOOSES = re.compile(
    r"\b(?:use|keep|go(?:ing)? with|stick|stay|choose|pick|take|drop|skip|leave|make|default|"
    r"postpone|defer|instead of|rather than)\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"^\W*+(?:now,? (?:update|add|fix|create|write|run|check|implement|remove|replace|wire|build|"
    r"commit|test|verify)\b|(?:now )?(?:scanning|beginning|starting|moving|updating|checking|"
    r"reading|running|looking|loading|analy[sz]ing|reviewing|searching|launching|spawning|"
    r"presenting|proceeding|continuing|sending|exploring|verifying|fetching|returning)\b)"
    r"(?!.*\b(?:is|are|was|were|has|have|shows?|fails?|passes|made|makes|gives?|takes?|took|"
    r"returns?|works?|needs?|means?)\b)",
    re.IGNORECASE,
)
"""Says what is begun, without a word on how it ended."""
_CHATS = re.compile(
    r"^\W*+(?:(?:hi|hey|hello|welcome|no worries|feel free|let me know|please (?:review|let me)|"
    r"would you like|i think you(?:['’]re| are) right|(?:that|this) (?:tracks|makes sense)|"
    r"if you(?:['’]d| would)? (?:want|like|prefer|need|wish))\b|"
    r"here(?:['’]s| is| are)\b(?!.*: \S))",
    re.IGNORECASE,
)
"""Speaks to the person, and of no work."""
_OPEN = re.compile(
    r"\b(?:not|n['’]t)\b[^.;]{0,40}\byet\b|\bstill (?:has|have|needs?|to|open|missing|"
    r"running|pending|in progress|waiting)\b|"
    r"\b(?:next|tomorrow|until monday),? (?:i|we|step)\b|\bi(?: would|['’]d| will|"
    r"['’]ll) .*\b(?:next|"
    r"tomorrow|after that|then)\b|\bi (?:need|wait for) \b|\bremains? (?:to|open)\b|"
    r"\bneeds? your\b|\byour call\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"\b(?:look(?:ing)?|read(?:ing)?|check(?:ing)?|see|explore|verify|search|inspect|find)\b", re.I
)
_GOES_ON = re.compile(  # possessive: "go on go on ..." can be split in one way only
    r"(?:\W*+\b(?:thank you|thanks?|go (?:on|ahead)|continue|carry on|keep going|okay|ok|"
    r"great|good|"
    r"nice|perfect|cool|please|proceed|and|then|now)\b\W*+)++|\W*",
    re.IGNORECASE,
)
_WAITS = re.compile(
    r"\b(?:look\w*|read|check|see|verify|search|inspect|wait\w*|monitor\w*|watch\w*|keep\w*|"
    r"take)\b",
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|crash\w*|cannot|can['’]t|timed? out|refus\w+|denied|forbidden|"
    r"stops? (?:with|at)|broken?|does(?:n['’]t| not) (?:build|work|compile))\b|"
    r"\b[45]\d\d (?:not found|bad|unauthorized|internal|service|gateway)\b",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(
    r"^(?!.*\bI(?:['’]m|['’]ll| am| will)\b).*\b(?:root cause|culprit|turn(?:s|ed) out|"
    r"because|due to|"
    r"caused by|bottleneck|committed|pushed|merged|released|published)\b",
    re.IGNORECASE,
)
_NODS = re.compile(
    r"^\W*(?:noted|understood|got it|all right|agreed|sure|will do|ok(?:ay)?|hm+|oops|wait|"
    r"oh|sorry|"
    r"interesting|(?:now )?i (?:now )?(?:have|see|understand|know)|thanks?|thank you|"
    r"sounds good|take your time|no response)\b",
    re.IGNORECASE,
)
_TITLE = re.compile(r"now [\w -]{1,20}: [^.]{0,40}\.?", re.IGNORECASE)
"""Names a piece of work and no more: "Now WP5: Model management."."""
_PRAISES = re.compile(
    r"^\W*(?:good|very good|perfect|great|excellent|you['’]?re (?:\w+ )?right|done|yes|no)\b", re.I
)
_DECISION_NAMED = re.compile(r"\bdecisions?\b(?!\W*:| (?:is|was) (?:to|that)\b)", re.IGNORECASE)
"""Speaks of a decision; "Decision: ..." makes one."""
_ASKS = re.compile(
    r"^\W*+(?:(?:and|but|also|so|wait|ok(?:ay)?|well|then)\b\W*+)*(?:(?:do|does|did|is|are|was|were|"
    r"should|shall|can|could) (?:we|i|it|they|there|this|that|the)\b|do you\b|(?:why|how)\b|"
    r"what (?:is|are|does|do|was|if)\b)",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"^(?!.*`)\W*+(?:(?:please )?(?:do not|don['’]t|never|always|ensure|make sure|avoid|treat)\b|"
    r".*\b(?:must|shall|should|shouldn['’]t|may not|(?:is|are) (?:forbidden|required))\b)",
    re.IGNORECASE,
)
"""A rule, in the midst of a paste, where other statements are mostly reports."""
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+(?=[\"“'(\[`*_\w/~.$])")
_REASONED = re.compile(
    r"(?:^|[.!] )(?:i|we)(?:['’]ll| will)\b.*\b(?:because|since)\b", re.IGNORECASE
)
"""A choice with its reason."""
_READING = word_set("read ls grep find glob cat view search list fetch open read_file webfetch")
_LOOKING = re.compile(
    r"^\s*(?:ls|cat|cd|pwd|echo|which|head|tail|wc|find|grep|rg|tree|less|stat|file|env|date|"
    r"sed -n|awk|jq|sleep|true|nl|git (?:status|diff|log|show|branch|blame|fetch))\b"
)
_POINTERS = terms("this that these those them it all both again")
_RUNNERS = word_set("make pytest cargo go npm pnpm yarn tsc mvn gradle ruff mypy just tox mise")
_CHANGE_OF_FOLDER = re.compile(r"^(?:cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;)\s*)+")
# A line's number as a tool shows it, and the marks of changed lines, of lists and headings.
_LEAD = re.compile(r"^(?:\s*(?:\d+→|[-+]?[-*•]\s|\d{1,3}[.)]\s|#{1,6}\s))+\s*")
_PIPE = re.compile(r"(?:\s*+(?:2>&1|\|.*+|&>.*+|>\s*+/dev/null.*+))++$")
_RULE_FILE = re.compile(r"(?:^|[/\\])(?:AGENTS?|CLAUDE|GEMINI|copilot-instructions)\.md$", re.I)
_MISUSE = re.compile(
    r"<tool_use_error>|File does not exist|No matches found|Failed to edit, 0 occurrences|"
    r"Task not found|Exit code:? \d+$|Request failed with status code \d+$"
)
"""Opens the answer to a call that was made wrongly, and is made again, or tells nothing of it."""
_SUCCESS = re.compile(
    r"^\[[\w./#-]+(?: \([\w -]+\))? [0-9a-f]{7,40}\] \S|\[new (?:tag|branch)\]|"
    r"^\W*(?!.*\b[1-9]\d* (?:failed|errors?|failures?)\b)(?:Tests?:?\s.*)?\b\d+ (?:tests? )?"
    r"pass(?:ed|ing)\b|^test result: ok|^OK \(\d+|\b\d+ Tests 0 Failures|"
    r"^Successfully (?:built|published|installed|deployed)"
)
_CUT_END = re.compile(r"\[\.\.\. [\d,]+ more characters truncated\]\s*")


class Operation(Struct):
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
        """Equal for two runs of one thing: the later one shows how it stands."""
        words = [word for word in self.command.split() if not word.startswith("-")]
        if not words:
            return f"{self.name} {self.path}"
        return words[0] if words[0] in _RUNNERS else " ".join(words[:2])


class Record:
    """Collects items in the order of time."""

    def __init__(self, focus: Focus) -> None:
        self.items: list[Item] = []
        self._focus = focus
        self._pending: list[Operation] = []
        self._asked: list[str] = []
        """What the earlier summary gives as the latest request."""
        self._runs: dict[str, list[tuple[str, Item]]] = {}
        """By family: what runs showed, failures and successes, each with its command."""

    def _add(self, text: str, kind: ItemKind, speaker: Speaker, age: float) -> Item:
        item = Item(" ".join(text.split()), kind, speaker, len(self.items), age)
        item.alive = bool(item.text)
        self.items.append(item)
        return item

    def add_summary(self, text: str, age: float = 1.0) -> None:
        """Add the items of an earlier summary, with the kinds that their sections give them."""
        listed = summary_items(bare_notes(text))
        for kind, words in listed:
            if kind is not ItemKind.LATEST:
                self._add(words, kind, Speaker.SUMMARY, age).inherited = True
        # What was asked last then is the newest of them.
        asked = [words for kind, words in listed if kind is ItemKind.LATEST]
        self._asked = asked or self._asked
        for words in asked:
            for part in passages(words.partition(f" ({ANSWER_TO}")[0]) or [words]:
                kind = _user_kind(part)
                if kind is not ItemKind.FACT or _lasts(part):
                    self._add(part, kind, Speaker.USER, age).inherited = True

    def add_blocks(self, blocks: Sequence[RequestBlock], cancelled: Callable[[], bool]) -> None:
        """Add a conversation."""
        latest = _latest_index(blocks)
        if latest < 0 and self._asked:
            # Nothing was asked since: it is the latest still.
            self._add(self._asked[-1], ItemKind.LATEST, Speaker.USER, 1.0)
        reports = _report_indices(blocks)
        newest = max(reports, default=-1)
        self._mark_outdated(blocks)
        for at, block in enumerate(blocks):
            if at % 8 == 0 and cancelled():
                return
            age = (len(blocks) - 1 - at) / max(1, len(blocks) - 1)
            if block.speaker is Speaker.COMMAND:
                self._add_calls(block.text, age)
                continue
            if block.speaker is Speaker.RESULT:
                operation = self._pending.pop(0) if self._pending else Operation("")
                self._add_result(block.text, operation, age)
                continue
            self._pending.clear()
            if block.speaker is Speaker.SUMMARY:
                before = len(self.items)
                self.add_summary(block.text, age)
                self._mark_outdated(blocks[at + 1 :], before)
            elif block.speaker is Speaker.USER:
                if at == latest:
                    request = _latest_text(blocks, at)
                    self._add(request, ItemKind.LATEST, Speaker.USER, age)
                self._add_message(block.text, age)
            elif block.speaker is Speaker.ASSISTANT:
                is_report = at in reports
                self._add_reply(block.text, age, is_report=is_report, is_newest=at == newest)
        self._read_exact_facts()

    def _mark_outdated(self, blocks: Sequence[RequestBlock], start: int = 0) -> None:
        """Mark the items of a summary that was worked on in the blocks after it."""
        if len(self.items) > start and was_worked_on(blocks, _GOES_ON):
            for item in self.items[start:]:
                item.outdated = item.inherited

    def _add_message(self, text: str, age: float) -> None:
        """What the user said; of a paste that is no list of rules its beginning and its end."""
        found = [(part, _user_kind(part)) for part in passages(text)]
        rules = sum(kind in STANDING for _, kind in found)
        is_paste = rules < _RULES * len(found)
        for number, (part, kind) in enumerate(found):
            inside = _LONG_MESSAGE // 2 <= number < len(found) - _LONG_MESSAGE // 2
            if inside and is_paste and (kind is not ItemKind.CONSTRAINT or not _ORDERS.match(part)):
                kind = ItemKind.FACT
            lasts = kind is not ItemKind.FACT or _lasts(part)
            if _asks_for_much(part) if kind is ItemKind.REQUEST else lasts:
                item = self._add(part, kind, Speaker.USER, age)
                item.minor = inside and is_paste and kind is ItemKind.FACT
        for line in _pasted_failures(text):
            self._add(line, ItemKind.ERROR, Speaker.USER, age)

    def _add_reply(self, text: str, age: float, *, is_report: bool, is_newest: bool) -> None:
        """The newest reply in full, of the reports that ended earlier turns the beginning and the
        choices, of what was said amid the work only what explains something exact."""
        found = [
            part
            for part in passages(text, by_user=False)
            if len(terms(part)) > 1 and is_whole(part)
        ]
        if is_newest:
            found = up_to(found, _REPORT)
        self._add_wanted_rows(text, age)
        reported = 0
        for part in map(_without_announcement, found):
            kind = _assistant_kind(part, is_newest=is_newest)
            lasts = is_newest or is_report or (_EXPLAINS.search(part) and kind is not None)
            if kind is None or not lasts or (fails(part) and not is_report):
                continue
            reported += kind is ItemKind.DONE
            text = part if is_newest else shortened(part, _OLD_PASSAGE)
            item = self._add(text, kind, Speaker.ASSISTANT, age)
            item.newest = is_newest
            beside = not is_report or reported > _OLD_REPORT
            item.minor = beside and not is_newest

    def _add_calls(self, text: str, age: float) -> None:
        for call in calls_of(text):
            operation = _operation(call)
            self._pending.append(operation)
            ops = file_ops(call.name, call.arguments, "")
            changes = any(op.kind != "read" for op in ops)
            if operation.command and not is_torn(operation.command) and not operation.reads:
                operation.item = self._add(
                    operation.command, ItemKind.COMMAND, Speaker.COMMAND, age
                )
            elif changes and operation.path:
                operation.item = self._add(operation.path, ItemKind.CHANGE, Speaker.COMMAND, age)

    def _add_result(self, text: str, operation: Operation, age: float) -> None:
        """What an output shows: failures, that something was done, rules, what is asked for."""
        text = _without_cut(text)
        lines = [line.strip() for line in text.split("\n")]
        if _RULE_FILE.search(operation.path):
            for part in passages(text):
                if FactKind.CONSTRAINT in kinds_of(part, by_user=True):
                    self._add(part, ItemKind.CONSTRAINT, Speaker.RESULT, age).minor = True
        self._add_wanted(lines, age)
        changes = operation.item is not None and operation.item.kind is ItemKind.CHANGE
        if (operation.reads or changes) and len(lines) > _SHORT_OUTPUT:
            return
        known = set(lines)
        failures = [line for _, line in error_lines(text) if line in known and _tells(line)]
        if len(failures) > _MOST_ERRORS:
            failures = [*failures[: _MOST_ERRORS - 1], failures[-1]]
        earlier = self._runs.setdefault(operation.family, [])
        for command, item in earlier:
            same = command == operation.command
            item.solved |= same or (not failures and item.kind is ItemKind.ERROR)
        ran = [self._add(line[:_LONGEST], ItemKind.ERROR, Speaker.RESULT, age) for line in failures]
        if not failures:
            ran = self._add_success(lines, operation, age)
            if operation.item is not None and operation.item.kind is ItemKind.COMMAND:
                operation.item.solved = True
        elif operation.item is not None and operation.item.kind is ItemKind.CHANGE:
            operation.item.alive = False
        earlier[:] = [(command, item) for command, item in earlier if not item.solved]
        earlier += [(operation.command, item) for item in ran]

    def _add_wanted(self, lines: Sequence[str], age: float) -> None:
        for line in [line for line in lines if self._focus.wants_line(line)][:_MOST_WANTED]:
            kind = ItemKind.ERROR if is_failure(line) else ItemKind.FACT
            self._add(_LEAD.sub("", line), kind, Speaker.RESULT, age).minor = True

    def _add_wanted_rows(self, reply: str, age: float) -> None:
        """Rows of the tables in a reply that are asked for: passages have none of them."""
        rows = table_rows(reply) if self._focus.wishes else []
        told: list[tuple[str, str]] = []
        for row, lead in rows:
            if not self._focus.wants_row(row, lead):
                continue
            if told and told[-1][1] == lead and len(told[-1][0]) + len(row) < LONGEST:
                told[-1] = (f"{told[-1][0]}; {row}", lead)
            else:
                told.append((f"{lead} {row}".strip(), lead))
        for text, _ in told:
            self._add(text, ItemKind.FACT, Speaker.ASSISTANT, age).minor = True

    def _add_success(self, lines: Sequence[str], operation: Operation, age: float) -> list[Item]:
        """A command with the line of its output which shows that it was done."""
        command = _PIPE.sub("", operation.command)
        shown = [line for line in lines if len(line) <= _LONGEST and _SUCCESS.search(line)]
        if not command or not shown or operation.item is None:
            return []
        operation.item.alive = False
        done = f"`{command}`{ARROW}{shown[-1].strip('= ')}"
        return [self._add(done, ItemKind.DONE, Speaker.RESULT, age)]

    def _read_exact_facts(self) -> None:
        """Finds the paths, addresses, figures and so on in the items."""
        for speaker in (Speaker.USER, Speaker.ASSISTANT, Speaker.SUMMARY):
            mine = [item for item in self.items if item.speaker is speaker and not item.facts]
            found = read_facts(speaker, [item.text for item in mine])
            for item, facts in zip(mine, found, strict=True):
                item.facts = tuple(one for one in facts.items if one.kind in EXACT_KINDS)
        kinds = {ItemKind.COMMAND: FactKind.COMMAND, ItemKind.CHANGE: FactKind.PATH}
        for item in self.items:
            if not item.facts and item.kind in (*kinds, ItemKind.ERROR):
                kind = kinds.get(item.kind, FactKind.ERROR)
                item.facts = (Mention(kind, item.text, item.text.lower(), 0, len(item.text)),)


def _user_kind(text: str) -> ItemKind:
    parts = {text, *_SENTENCE.split(text)}
    stated = [
        STATEMENTS[kind]
        for part in parts
        for kind in kinds_of(part, by_user=True)
        if STATEMENTS[kind] not in STANDING or not asks(part)
    ]
    if not stated:
        return ItemKind.REQUEST if asks(text) else ItemKind.FACT
    return min(stated, key=list(STATEMENTS.values()).index)


def asks(text: str) -> bool:
    """Whether a sentence of the user's is a question, with a question mark or without."""
    return is_question(text) or _ASKS.match(text) is not None


def _asks_for_much(text: str) -> bool:
    """Whether a request says what it is about, and does not only agree ("Go ahead and add all of
    those.")."""
    agrees = _GOES_ON.match(text)
    return len(terms(text[agrees.end() if agrees else 0 :]) - _POINTERS) >= _FEW_TERMS


def _lasts(text: str) -> bool:
    """Whether a plain sentence of the user's says something that is worth carrying on."""
    is_long = len(text.split()) >= _FEW_WORDS or any(one.isdigit() for one in text)
    return is_long and len(terms(text)) >= _FEW_TERMS


def _without_announcement(passage: str) -> str:
    """A passage from its first sentence on that tells more than what comes next; all of it where
    none does."""
    parts = _SENTENCE.split(passage)

    def is_announcement(part: str) -> bool:
        announces = _ANNOUNCES.match(part) is not None and not _decides(part)
        return announces or any(form.match(part) for form in (_CHATS, _BEGINS))

    while len(parts) > 1 and (is_announcement(parts[0]) or len(terms(parts[0])) < _FEW_TERMS):
        parts = parts[1:]
    return passage if is_announcement(parts[0]) else " ".join(parts)


def _assistant_kind(text: str, *, is_newest: bool) -> ItemKind | None:
    """What a passage of the assistant's is; None for one that only accompanies the work."""
    if _TITLE.fullmatch(text):
        return None
    if is_question(text):
        return ItemKind.NEXT if is_newest else None
    if _CHATS.match(text):
        return None
    announces = _ANNOUNCES.match(text) is not None
    decides = any(map(_decides, (text, *_SENTENCE.split(text))))
    if _REASONED.search(text) or (decides and not (announces and _WAITS.search(text))):
        return ItemKind.DECISION
    if _BEGINS.match(text):
        return ItemKind.DOING if is_newest else None
    if announces:
        if not is_newest:
            return None
        return ItemKind.DOING if _LOOKS.search(text) else ItemKind.NEXT
    if _NODS.match(text) or (_PRAISES.match(text) and len(terms(text)) <= _FEW_WORDS):
        return None
    if is_newest and _OPEN.search(text):
        return ItemKind.NEXT
    if not is_newest and _DECISION_NAMED.search(text):
        return None
    # "Let me verify that they fail" tells of no failure.
    told = (part for part in _SENTENCE.split(text) if not _ANNOUNCES.match(part))
    if is_newest and any(map(fails, told)):
        return ItemKind.BLOCKED
    return ItemKind.DONE


def _decides(part: str) -> bool:
    """Whether a sentence of the assistant's makes a decision; one that announces a step does where
    it chooses."""
    if FactKind.DECISION not in kinds_of(_DECISION_NAMED.sub("", part), by_user=False):
        return False
    return _ANNOUNCES.match(part) is None or _CHOOSES.search(part) is not None


def fails(text: str) -> bool:
    """Whether a passage reports that something does not work."""
    return _FAILS.search(text) is not None and not re.match(r"(?:if|when|should)\b", text, re.I)


def _operation(call: CallText) -> Operation:
    command = call.arguments.get("command") or call.arguments.get("cmd")
    if isinstance(command, str) and command.strip():
        line = command.strip().split("\n")[0].partition("<<")[0]
        return Operation(call.name, _CHANGE_OF_FOLDER.sub("", line).strip()[:_LONGEST])
    path = call.arguments.get("path") or call.arguments.get("file_path")
    return Operation(call.name, path=path.strip() if isinstance(path, str) else "")


def _without_cut(text: str) -> str:
    """An output without the line that a cut ends in: it says less than it did."""
    at = text.rfind("[... ")
    if at < 0 or not _CUT_END.fullmatch(text, at):
        return text
    return text[:at].rstrip().rpartition("\n")[0]


def _tells(line: str) -> bool:
    """Whether a failing line is whole and says what failed."""
    return not is_torn(line) and not _MISUSE.match(line) and len(terms(line)) > 1


def _pasted_failures(text: str) -> list[str]:
    lines = [line.strip() for line in text.split("\n")]
    return [line[:_LONGEST] for line in lines if len(lines) > 1 and is_failure(line)][:_MOST_ERRORS]


def _report_indices(blocks: Sequence[RequestBlock]) -> set[int]:
    """Indices of the replies that end a turn: the last before a message of the user's."""
    found: set[int] = set()
    last = -1
    for at, block in enumerate(blocks):
        if block.speaker is Speaker.ASSISTANT:
            last = at
        elif block.speaker is Speaker.USER and last >= 0:
            found.add(last)
            last = -1
    if last >= 0:
        found.add(last)
    return found


def _latest_index(blocks: Sequence[RequestBlock]) -> int:
    """Index of the last message of the user that says more than to go on; -1 without any."""
    asked = [at for at, block in enumerate(blocks) if block.speaker is Speaker.USER]
    return next((at for at in reversed(asked) if not _GOES_ON.fullmatch(blocks[at].text)), -1)


def _latest_text(blocks: Sequence[RequestBlock], index: int) -> str:
    """The latest request on one line; a few words that only agree come with what they agree to."""
    text = blocks[index].text
    for start, end, _ in reversed(fences(text)):
        text = f"{text[:start]} {text[end:]}"
    failures = " ".join(_pasted_failures(text))
    request = " ".join(passages(text)) or failures or " ".join(text.split())[:_LONGEST]
    before = next(
        (one for one in reversed(blocks[:index]) if one.speaker is Speaker.ASSISTANT), None
    )
    if before is not None and len(terms(request)) < _SHORT_ANSWER:
        asked = [part for part in passages(before.text) if is_question(part)]
        if asked and len(asked[-1]) <= _LONGEST:
            request = f"{request} ({ANSWER_TO}{asked[-1]})"
    return (
        request if len(request) <= _LATEST_LIMIT else " ".join(up_to(passages(text), _LATEST_LIMIT))
    )
