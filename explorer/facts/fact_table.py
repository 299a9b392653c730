"""Extracting the facts of entries: each entry is read once, ranges of entries are merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.facts.announcements import announced_steps
from explorer.facts.commands import command_lines, fences
from explorer.facts.comparison import (
    RULES,
    Agreement,
    Rule,
    compare,
    mark_changed,
    old_value_mentions,
)
from explorer.facts.entry_texts import EntryText, Speaker, texts_of
from explorer.facts.errors import LONGEST, error_lines, error_lines_among, is_cut, whole_lines
from explorer.facts.fact import Fact, FactKind, Facts, Mention, Span
from explorer.facts.figures import Figure, figure, figures, named_versions, value_key
from explorer.facts.identifiers import WordPiece, exact_things, mention_keys, path_key
from explorer.facts.instructions import standing_instructions
from explorer.facts.statements import statements, statements_of_summary
from explorer.facts.summary_notes import without_notes
from explorer.facts.text import TextRanges, sentences, statement_key, units, wide_places
from explorer.session.entries import (
    AssistantMessage,
    Entry,
    ShellMessage,
    ToolCallBlock,
    ToolResultMessage,
)
from explorer.session.late_pattern import late_pattern
from explorer.session.text import PROSE_LIMIT, as_prose

ReadEntries = Callable[[Sequence[int]], Sequence[Entry]]
"""Reads entries by index, in the order asked for."""

AT_ONCE = 256
"""Entries that are read between two looks at ``cancelled``."""
_SHORT_OUTPUT = 8
"""Lines of an output that is so short that the identifiers in it are facts."""
_CONTEXT = 60
"""Characters before and after a figure that are kept as its context."""
_PROSE = frozenset({Speaker.USER, Speaker.ASSISTANT, Speaker.SUMMARY})
_OUTPUT = frozenset({Speaker.RESULT, Speaker.SHOWN, Speaker.ERROR})
_IN_PROSE = frozenset(
    {FactKind.PATH, FactKind.SYMBOL, FactKind.VERSION, FactKind.URL, FactKind.HASH}
)
_IN_OUTPUT = frozenset({FactKind.VERSION, FactKind.URL, FactKind.HASH})
_ASKING = (FactKind.REQUEST, FactKind.QUESTION)

_QUOTED_FAILURE = late_pattern(
    r"(?<![\w.])(?:(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)|Error|fatal|panic): [^\n]{4,160}?"
    r"(?=\n|$|[.!?]\s|[\"”`]|\s(?:from|in|on|when|while|at)\sthe\s)"
)
_QUOTE_MARKS = ("Error: ", "Exception: ", "fatal: ", "panic: ")
"""A text without any of these has no ``_QUOTED_FAILURE``."""
_LOG_MARKS = (
    "rror", "xception", "FAIL", "fatal", "panic", "Traceback", "] ", "ailed", "E/", "W/"
)  # fmt: skip
"""A text without any of these has no failures outside code blocks."""
_LOG_LINE = late_pattern(
    r"(?P<sure>^\W*(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|"
    r"Nov|Dec) +\d+ \d\d:|\[\s*\d+[.:]\d+|[A-Z]/\w+\(|at\s+[\w.$]+\(|\w+Error:|Error in \S+\(|"
    r"\S+\(\d+,\d+\):\s(?:error|warning)\b)|^\s*File \")|"
    r"^\W*(?:\d{4}-\d\d-\d\d|\d\d:\d\d|\[\s*\d|[A-Z]/|(?:error|fatal|panic|ERROR|FAIL|FAILED|"
    r"E)\b[\[: ]|[A-Z]\w+ [Ee]rror: |\w+(?:Error|Exception)\b|Traceback|Caused by)|"
    r"^[a-z]\w+ \w+: .*|^\S+:\d+:"
)
_LEADING_NOTES = late_pattern(r"\A(?:[ \t]*#(?!!)[^\n]*(?:\n\s*|\Z))+")
_VALUES = late_pattern(r'[{\[]"|":\s*"|","')
"""What stands between values that are written down for a program."""
_COPIED = late_pattern(r"\w+(?:Error|Exception)\b|:\d+|\]\s|0x|\bE\d{3,}|\b[A-Z]{4,}\b")


class ScanCancelled(Exception):
    """The scan was stopped; nothing of it is kept."""


class EntryFacts(Struct, frozen=True, gc=False):
    """What one entry states. Thousands are kept, and all work waits while Python's collector goes
    through them: it leaves out what has ``gc=False`` and tuples of texts, but no set."""

    items: tuple[Mention, ...] = ()
    mentions: tuple[str, ...] = ()
    """Different keys of all exact things anywhere in it, facts or not; of figures the bare value,
    ``#1500``. A summary that names one of these did not invent it."""
    words: tuple[str, ...] = ()
    """The different words of its prose in lower case, punctuation included."""
    speaker: Speaker | None = None
    """Who wrote its prose; None without prose."""
    instructions: tuple[Mention, ...] = ()
    """Of a message that a person typed: its standing instructions."""
    announced: tuple[Mention, ...] = ()
    """Of a reply: the steps that it says at its end to take next."""
    calls: bool = False
    """Whether it calls tools: its turn goes on."""
    failed: bool | None = None
    """Of the result of a call or command: whether it failed; None of any other entry."""


EMPTY = EntryFacts()


class FactTable:
    """The facts of each scanned entry. Immutable: ``scan`` returns a larger one."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[int, EntryFacts] | None = None) -> None:
        self._entries = dict(entries or {})

    def __contains__(self, index: object) -> bool:
        return index in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def entry(self, index: int) -> EntryFacts:
        """The facts of an entry; none for one that was not scanned."""
        return self._entries.get(index, EMPTY)

    def facts(self, indices: Iterable[int]) -> Facts:
        """The facts of these entries, each once; what was changed later is marked stale."""
        wanted = sorted(set(indices))
        merged: dict[tuple[FactKind, str], list[tuple[int, Mention]]] = {}
        for index in wanted:
            for mention in self.entry(index).items:
                merged.setdefault((mention.kind, mention.key), []).append((index, mention))
        _join_cut_lines(merged)
        stale = self._stale(wanted)
        items = tuple(_fact(mentions, stale) for mentions in merged.values())
        return Facts(items, self._request(wanted, items))

    def mentions(self, indices: Iterable[int]) -> set[str]:
        """The keys of all exact things that these entries mention."""
        return set().union(*(self.entry(index).mentions for index in indices))

    def _request(self, wanted: Sequence[int], items: Sequence[Fact]) -> Fact | None:
        """The request, or the question, in the last user message that has one."""
        for index in reversed(wanted):
            asked = [
                one
                for one in self.entry(index).items
                if one.speaker is Speaker.USER and one.kind in _ASKING
            ]
            if asked:
                last = max(asked, key=lambda one: (one.kind is FactKind.REQUEST, one.start))
                wanted_key = (last.kind, last.key)
                return next((fact for fact in items if (fact.kind, fact.key) == wanted_key), None)
        return None

    def instructions(self, indices: Iterable[int]) -> tuple[Fact, ...]:
        """The standing instructions of the user's in these entries, each once, in the order in
        which they were last given; one that was changed or lifted later is stale."""
        rules = self._rules(sorted(set(indices)))
        mark_changed(rules)
        standing = {
            (rule.entry, rule.mentions[0].key): rule
            for rule in rules
            if rule.mentions[0] in self.entry(rule.entry).instructions
        }
        newer = {rule.replaced_by for rule in standing.values() if rule.replaced_by}
        given: dict[str, list[Rule]] = {}
        for rule in rules:
            if (rule.entry, rule.mentions[0].key) in standing or rule.text in newer:
                key = next((one for one in given if _is_again(given[one][-1], rule)), rule.text)
                given[key] = [*given.pop(key, []), rule]
        return tuple(_instruction(same) for same in given.values())

    def _rules(self, wanted: Sequence[int]) -> list[Rule]:
        """What the user demanded, decided or laid down for good in these entries, in order."""
        rules: list[Rule] = []
        for index in wanted:
            one = self.entry(index)
            if one.speaker is not Speaker.USER:
                continue
            stated = [item for item in one.items if item.kind in RULES]
            for mention in sorted(
                [*one.instructions, *stated], key=lambda item: (item.block, item.start)
            ):
                last = rules[-1] if rules else None
                first = last.mentions[0] if last and last.entry == index else None
                if last and first and (first.block, first.start) == (mention.block, mention.start):
                    last.mentions.append(mention)
                else:
                    rules.append(Rule(index, [mention]))
        return rules

    def _stale(self, wanted: Sequence[int]) -> dict[tuple[int, Mention], str]:
        """The mentions that no longer hold, with the statement that holds instead."""
        rules = self._rules(wanted)
        mark_changed(rules)
        changed = [rule for rule in rules if rule.replaced_by]
        stale: dict[tuple[int, Mention], str] = {}
        for rule in changed:
            stated = rule.mentions[0]
            amounts = (
                one
                for one in self.entry(rule.entry).items
                if one.kind is FactKind.NUMBER
                and one.block == stated.block
                and stated.start <= one.start < stated.end
            )
            for mention in (*rule.mentions, *amounts):
                stale[rule.entry, mention] = rule.replaced_by
        for index, mention, text in old_value_mentions(changed, self._figures(wanted)):
            stale[index, mention] = text
        return stale

    def _figures(self, wanted: Sequence[int]) -> Iterator[tuple[int, Mention, Figure]]:
        for index in wanted:
            for mention in self.entry(index).items:
                if mention.kind is FactKind.NUMBER and (value := figure(mention.text)):
                    yield index, mention, value


NO_TABLE = FactTable()


def scan(
    indices: Iterable[int],
    read: ReadEntries,
    table: FactTable = NO_TABLE,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> FactTable:
    """A table with these entries; those that ``table`` has are taken over from it.

    ``progress`` is called with the number of entries done and in all. Raises ScanCancelled as
    soon as ``cancelled`` returns True.
    """
    missing = sorted({index for index in indices if index not in table})
    if not missing:
        return table
    entries = dict(table._entries)
    for at in range(0, len(missing), AT_ONCE):
        if cancelled():
            raise ScanCancelled
        part = missing[at : at + AT_ONCE]
        for index, entry in zip(part, read(part), strict=True):
            entries[index] = _facts_of(entry)
        progress(at + len(part), len(missing))
    return FactTable(entries)


def extract(entries: Sequence[Entry]) -> Facts:
    """The facts of entries given as JSON, in order; their indices count from 0."""
    table = scan(range(len(entries)), lambda wanted: [entries[index] for index in wanted])
    return table.facts(range(len(entries)))


def scan_text(text: str, speaker: Speaker) -> EntryFacts:
    """The facts of a text that is no entry, such as a draft of a summary."""
    return _read([EntryText(speaker, text)])


def _facts_of(entry: Entry) -> EntryFacts:
    """What one entry states, and what it is in its turn."""
    found, body = _read(texts_of(entry)), entry.body
    match body:
        case AssistantMessage():
            calls = any(isinstance(block, ToolCallBlock) for block in body.content)
            return replace(found, calls=True) if calls else found
        case ToolResultMessage():
            return replace(found, failed=bool(body.is_error))
        case ShellMessage():
            return replace(found, failed=bool(body.exit_code))
    return found


def _read(texts: Iterable[EntryText]) -> EntryFacts:
    """The facts of the texts of one entry."""
    items: list[Mention] = []
    instructions: list[Mention] = []
    announced: list[Mention] = []
    mentions: set[str] = set()
    words: set[str] = set()
    speaker: Speaker | None = None
    for text in texts:
        if text.speaker in _PROSE:
            if len(text.text) > PROSE_LIMIT:
                mentions |= mention_keys(exact_things(set(text.text.split())))
            if text.speaker is Speaker.SUMMARY:
                text = text._replace(text=without_notes(text.text))
            text = text._replace(text=as_prose(text.text))
            different = frozenset(text.text.split())
            words.update(map(str.lower, different))
            speaker = text.speaker
            found = _prose(text, different, mentions)
            if speaker is Speaker.USER:
                instructions += _in_utf16(text.text, _instructions(text))
            elif speaker is Speaker.ASSISTANT:
                announced = _in_utf16(text.text, _announced(text))
        elif text.speaker in _OUTPUT:
            found = _output(text, mentions)
        else:
            mentions |= mention_keys(exact_things(set(text.text.split())))
            found = _argument(text)
        items += _in_utf16(text.text, found)
    if not (items or mentions or speaker):
        return EMPTY
    return EntryFacts(
        tuple(items), tuple(mentions), tuple(words), speaker, tuple(instructions), tuple(announced)
    )


def _prose(text: EntryText, words: frozenset[str], mentions: set[str]) -> list[Mention]:
    """The facts of prose in order; offsets in characters. ``words``: its different words. Adds to
    ``mentions``."""
    body = text.text
    things = exact_things(words)
    mentions |= mention_keys(things)
    blocks = fences(body)
    skip = [(start, end) for start, end, _ in blocks]
    taken = TextRanges(skip)
    found: list[Mention] = []
    for start, end in command_lines(body, words, blocks):
        line = body[start:end]
        found.append(_mention(FactKind.COMMAND, text, start, line, statement_key(line)))
        taken.add(start, end)
    if text.speaker is not Speaker.SUMMARY:
        for start, line in _failures(body, skip):
            found.append(_mention(FactKind.ERROR, text, start, line, statement_key(line)))
            taken.add(start, start + len(line))
    exact = _exact(text, things, _IN_PROSE, taken)
    for one in exact:
        taken.add(one.start, one.end)
    found += exact
    found += _versions_and_figures(text, taken, mentions)
    found += _statements(text, skip)
    found.sort(key=lambda one: one.start)
    return found


def _instructions(text: EntryText) -> list[Mention]:
    """The standing instructions of a user's message; offsets in characters."""
    return [
        _mention(FactKind.CONSTRAINT, text, one.start, one.text, statement_key(one.text))
        for one in standing_instructions(text.text)
    ]


def _announced(text: EntryText) -> list[Mention]:
    """The steps that a reply says to take next; offsets in characters."""
    return [
        _mention(FactKind.TODO, text, one.start, one.text, statement_key(one.text))
        for one in announced_steps(text.text)
    ]


def _output(text: EntryText, mentions: set[str]) -> list[Mention]:
    """The failures that an output reports; of a short one also its exact things."""
    body = text.text
    things = exact_things(set(body.split()))
    mentions |= mention_keys(things)
    failures = (
        []
        if text.speaker is Speaker.SHOWN
        else error_lines(body, is_error=text.speaker is Speaker.ERROR)
    )
    found = [
        _mention(FactKind.ERROR, text, start, line, statement_key(line)) for start, line in failures
    ]
    if len(body) < 4000 and body.count("\n") <= _SHORT_OUTPUT:
        taken = TextRanges((one.start, one.end) for one in found)
        found += _exact(text, things, _IN_OUTPUT, taken)
    return found


def _argument(text: EntryText) -> list[Mention]:
    """The command, the path or the address that a call's argument is."""
    if text.speaker not in (Speaker.COMMAND, Speaker.PATH):
        return []
    body = text.text.strip()
    if text.speaker is Speaker.COMMAND:
        # Of a script the line that runs it, and not what is noted above it.
        body = _LEADING_NOTES.sub("", body).partition("\n")[0]
    if not body or (text.speaker is Speaker.PATH and (len(body) > 1000 or "\n" in body)):
        return []
    start = text.text.find(body)
    if text.speaker is Speaker.COMMAND:
        return [_mention(FactKind.COMMAND, text, start, body, statement_key(body))]
    if "://" in body:
        return _exact(text, exact_things(body.split()), {FactKind.URL}, TextRanges())
    return [_mention(FactKind.PATH, text, start, body, path_key(body))]


def _failures(body: str, blocks: list[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Failures pasted into a message, as whole lines or quoted inside one; with offsets."""
    if not blocks and not any(mark in body for mark in _LOG_MARKS):
        return
    whole = TextRanges()
    for start, line in error_lines_among(_pasted_lines(body, blocks)):
        whole.add(start, start + len(line))
        yield start, line
    if any(mark in body for mark in _QUOTE_MARKS):
        for match in _QUOTED_FAILURE.finditer(body):
            if match.start() not in whole:
                yield match.start(), match.group()


def _mention(
    kind: FactKind, text: EntryText, start: int, found: str, key: str, context: str = ""
) -> Mention:
    end = start + len(found)
    return Mention(kind, found, key, start, end, text.block, text.argument, text.speaker, context)


def _exact(
    text: EntryText,
    pieces: Mapping[str, tuple[WordPiece, ...]],
    kinds: Iterable[FactKind],
    taken: TextRanges,
) -> list[Mention]:
    """The first mention of each exact thing of these kinds outside ``taken``, in order.

    ``pieces``: the words of the text that contain exact things, with these.
    """
    body = text.text
    found = []
    for word, things in pieces.items():
        wanted = [piece for piece in things if piece.kind in kinds]
        at = _word_offset(body, word, taken) if wanted else -1
        if at < 0:
            continue
        for piece in wanted:
            start = at + piece.at
            if start not in taken:
                found.append(_mention(piece.kind, text, start, piece.text, piece.key))
    found.sort(key=lambda one: one.start)
    return found


def _word_offset(body: str, word: str, taken: TextRanges) -> int:
    """The first offset where a word stands between blanks and outside ``taken``; -1 for none."""
    at = body.find(word)
    while at >= 0:
        end = at + len(word)
        alone = (at == 0 or body[at - 1].isspace()) and (end == len(body) or body[end].isspace())
        if alone and at not in taken:
            return at
        at = body.find(word, at + 1)
    return -1


def _context(body: str, start: int, end: int) -> str:
    before = body[max(0, start - _CONTEXT) : start].rpartition("\n")[2]
    after = body[end : end + _CONTEXT].partition("\n")[0]
    return f"{before}\n{after}"


def _versions_and_figures(
    text: EntryText, taken: TextRanges, mentions: set[str]
) -> Iterator[Mention]:
    body = text.text
    for start, end, name in named_versions(body, taken):
        version = body[start:end]
        taken.add(name, end)
        mentions.add(version)
        yield _mention(FactKind.VERSION, text, start, version, version, body[name:end])
    for start, end in figures(body, taken, by_user=text.speaker is Speaker.USER):
        stated = body[start:end]
        value = figure(stated)
        if value is not None:
            mentions.add(value_key(stated))
            context = _context(body, start, end)
            yield _mention(FactKind.NUMBER, text, start, stated, value.key, context)


def _statements(text: EntryText, blocks: list[tuple[int, int]]) -> Iterator[Mention]:
    found = sentences(text.text, blocks)
    if text.speaker is Speaker.SUMMARY:
        kinds = statements_of_summary(found)
    else:
        kinds = statements(found, by_user=text.speaker is Speaker.USER)
    for kind, one in kinds:
        stated = text.text[one.start : one.end]
        if not _is_log_line(stated) and not _VALUES.search(stated):
            yield _mention(kind, text, one.start, stated, statement_key(stated))


def _pasted_lines(body: str, blocks: list[tuple[int, int]]) -> list[tuple[int, str]]:
    """The lines in code blocks and those that look like a log's, with their offsets."""
    found = []
    at = 0
    fenced = TextRanges(blocks)
    for line in body.split("\n"):
        bare = line[:LONGEST].strip()
        if bare and (at + line.find(bare) in fenced or _is_log_line(bare)):
            found.append((at, line))
        at += len(line) + 1
    return found


def _is_log_line(line: str) -> bool:
    """Whether a line in prose was pasted from an output."""
    match = _LOG_LINE.match(line)
    return match is not None and (match.lastgroup == "sure" or _COPIED.search(line) is not None)


def _in_utf16(body: str, found: list[Mention]) -> list[Mention]:
    """The mentions with offsets in UTF-16 units."""
    wide = wide_places(body) if found else ()
    if not wide:
        return found
    return [replace(one, start=units(one.start, wide), end=units(one.end, wide)) for one in found]


def _join_cut_lines(merged: dict[tuple[FactKind, str], list[tuple[int, Mention]]]) -> None:
    """Counts an error line that a tool cut off as a mention of the whole one near it."""
    lines = {
        key: (mentions[0][1].text, [index for index, _ in mentions])
        for (kind, key), mentions in merged.items()
        if kind is FactKind.ERROR
    }
    for cut, whole in whole_lines(lines).items():
        merged[FactKind.ERROR, whole] += merged.pop((FactKind.ERROR, cut))
        merged[FactKind.ERROR, whole].sort(
            key=lambda mention: (mention[0], is_cut(mention[1].text))
        )


def _is_again(before: Rule, rule: Rule) -> bool:
    """Whether an instruction is an earlier one given once more ("again: never ...")."""
    one, other = before.mentions[0].key, rule.mentions[0].key
    return (
        one.endswith(other)
        or other.endswith(one)
        or (compare(before.text, rule.text) is Agreement.SAME)
    )


def _instruction(given: Sequence[Rule]) -> Fact:
    """A standing instruction that was given once or several times."""
    last = given[-1]
    spans = tuple(
        Span(rule.entry, one.start, one.end, one.block)
        for rule in given
        for one in rule.mentions[:1]
    )
    sources = tuple(dict.fromkeys(rule.entry for rule in given))
    key = last.mentions[0].key
    return Fact(
        FactKind.CONSTRAINT, last.text, key, sources, spans, bool(last.replaced_by),
        last.replaced_by,
    )  # fmt: skip


def _fact(mentions: list[tuple[int, Mention]], stale: Mapping[tuple[int, Mention], str]) -> Fact:
    first = mentions[0][1]
    if first.kind is FactKind.ERROR and is_cut(first.text):
        first = next((one for _, one in mentions if not is_cut(one.text)), first)
    # Stated again after it was changed, it holds again.
    replaced = stale.get(mentions[-1])
    return Fact(
        first.kind,
        first.text,
        first.key,
        tuple(dict.fromkeys(index for index, _ in mentions)),
        tuple(Span(at, one.start, one.end, one.block, one.argument) for at, one in mentions),
        replaced is not None,
        replaced or "",
        first.context if first.kind is FactKind.VERSION and first.text.isdecimal() else "",
    )
