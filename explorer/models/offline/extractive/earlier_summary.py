"""The items of an earlier summary, with the kinds that its sections give them, and which of them
are over: what was in progress, next or failing then is not so any more once the work went on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from explorer.facts import FactKind
from explorer.facts.entry_texts import Speaker
from explorer.facts.errors import is_failure
from explorer.facts.statements import kinds_of
from explorer.facts.summary_notes import NOT_FOLLOWED
from explorer.facts.text import sentences, terms
from explorer.models.offline.extractive.items import LONGEST, Item, ItemKind
from explorer.models.offline.extractive.request import RequestBlock
from explorer.models.offline.extractive.sections import (
    KINDS_OF_LABELS,
    LISTED,
    SectionSubject,
    list_parts,
    named_subject,
)

_HEADING = re.compile(
    r"^\s{0,3}(?:(?P<level>#{1,6})\s+(?P<words>.+?)|\*\*(?P<bold>[^*]+?)\*\*:?|"
    r"\d{1,2}\.\s+\**(?P<numbered>[A-Z][^:*\n]{2,60}?)(?:\**:|:\**)"
    r"|<(?P<tag>[a-z]+(?:_[a-z]+)*)>)\s*$"
)
_CLOSING = re.compile(r"</[a-z_]+>")
_FILE_TAGS = re.compile(
    r"(?:<|&lt;)(read-files|modified-files)(?:>|&gt;)\n?(.*?)(?:<|&lt;)/\1(?:>|&gt;)", re.DOTALL
)
_EMPTY = re.compile(
    r"^\W*\(?(?:none(?: yet)?|n/?a|nothing(?: yet)?|empty|not applicable|tbd)\)?\W*$", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]")
_LONG_LINE = 800
"""Characters of a line of a summary from which its sentences are single items."""
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[(?P<box>[ xX~>-])\]\s+)?")
_NAME = re.compile(r"\*\*[^*]+\*\*|`[^`]+`")
"""A line in bold type, or a path: above a list it names what that is about."""
_FENCE = re.compile(r"\s*```(?P<language>[\w+-]*)")
_SHELLS = ("", "bash", "sh", "shell", "zsh", "console", "text", "txt")
"""Languages of the code of which every line may stand alone."""
_FEW_SECTIONS = 3
"""Numbered lines below which they are no sections where there is another heading."""
_SOLVES = re.compile(r"\b(?:solv\w+|resolution|resolved)\b", re.IGNORECASE)
_USER_MESSAGES = re.compile(r"\buser messages\b", re.IGNORECASE)
_ORDERS = re.compile(r"\b(?:never|always|must|not|don['’]t|should|only|avoid)\b", re.IGNORECASE)
_QUOTE = re.compile(
    r"(?:\([^)\n]*\):?\s*|\*\*[^*\n]+\*\*:?\s*)?[\"“](?P<words>[^\"“”]+)(?:[\"”]|$)"
)
"""A message in quotation marks, and before it which one it is."""
_CONTINUES = re.compile(r"\bcontinue the conversation from where\b", re.IGNORECASE)
"""What an agent asks itself after a compaction."""
_FEW_TERMS = 3
"""Telling words below which an earlier message of the user's says nothing that lasts."""

_KINDS: dict[SectionSubject, ItemKind] = {
    SectionSubject.RECENT: ItemKind.DONE,
    SectionSubject.GOAL: ItemKind.GOAL,
    SectionSubject.CONSTRAINTS: ItemKind.CONSTRAINT,
    SectionSubject.PROGRESS: ItemKind.DONE,
    SectionSubject.DONE: ItemKind.DONE,
    SectionSubject.DOING: ItemKind.DOING,
    SectionSubject.BLOCKED: ItemKind.BLOCKED,
    SectionSubject.DECISIONS: ItemKind.DECISION,
    SectionSubject.NEXT: ItemKind.NEXT,
    SectionSubject.FACTS: ItemKind.FACT,
    SectionSubject.FILES: ItemKind.FACT,
    SectionSubject.NOTES: ItemKind.FACT,
    SectionSubject.TITLE: ItemKind.DONE,
}


class _Section(Struct, frozen=True):
    """A section of a summary; ``level``: how deep its heading stands."""

    kind: ItemKind = ItemKind.FACT
    level: int = 0
    solves: bool = False
    """It tells of problems, and what became of them."""
    quotes: bool = False
    """It quotes the user's messages."""


class _Line(Struct, frozen=True):
    """A line of a list or of prose; without a text the beginning of code."""

    text: str
    indent: int
    box: str
    is_item: bool
    is_code: bool


def summary_items(text: str) -> list[tuple[ItemKind, str]]:
    """The items of a summary with their kinds, in order. A latest request keeps its kind; a line
    that ends in a colon is one with the list below it."""
    files = [
        (ItemKind.CHANGE if tag.group(1) == "modified-files" else ItemKind.FILE, path.strip())
        for tag in _FILE_TAGS.finditer(text)
        for path in tag.group(2).split("\n")
    ]
    items: list[tuple[ItemKind, str]] = []
    section = _Section()
    lead: _Line | None = None
    for one in _lines(_FILE_TAGS.sub("", text)):
        if isinstance(one, re.Match):
            section, lead = _opened(section, one), None
            continue
        if not one.text:
            # What is shown by code is said without it, where something is named.
            if lead is not None and "`" in items[-1][1]:
                items[-1] = (items[-1][0], items[-1][1].removesuffix(":"))
            continue
        bare = one.text.rstrip("*_ ")
        if lead is not None and _is_below(one, lead):
            kind, words = items[-1]
            if len(words) + len(one.text) < LONGEST:
                joint = " " if words[-1] == ":" else ": " if words == lead.text else "; "
                items[-1] = (kind, f"{words.rstrip('.;')}{joint}{one.text}")
                continue
        lead = None
        if bare[-1] != ":":
            items += _line_items(section, one)
            if items and _NAME.fullmatch(one.text) and items[-1][1] == one.text:
                lead = one
        elif bare.strip("*_ :").capitalize() not in KINDS_OF_LABELS:
            lead = one
            items.append((_kind_of(section, one), bare))
    items = [(kind, words) for kind, words in items if words[-1:] != ":"]
    return items + [(kind, path) for kind, path in files if path]


def _lines(text: str) -> Iterator[re.Match[str] | _Line]:
    """The headings and the lines that may be items; of code only what may stand alone."""
    raws = text.split("\n")
    marks = sum(1 for raw in raws if _FENCE.match(raw))
    language: str | None = None
    prose: list[tuple[str, bool]] = []
    for raw in raws:
        fence = _FENCE.match(raw)
        if fence is not None:
            marks -= 1
            # The last mark of an odd number opens nothing that is closed.
            language = fence["language"].lower() if language is None and marks > 0 else None
            if language is not None:
                prose.append(("", True))
        elif language is None or (language in _SHELLS and not raw.lstrip().startswith("#")):
            prose.append((raw, language is not None))
    headings = [None if is_code else _HEADING.match(raw) for raw, is_code in prose]
    numbered = sum(1 for one in headings if one and one["numbered"])
    titles = sum(1 for one in headings if one and one["level"])
    # Below other headings, numbers open the items of a list.
    is_list = titles > 1 or (titles == 1 and numbered < _FEW_SECTIONS)
    for (raw, is_code), heading in zip(prose, headings, strict=True):
        if heading is not None and not (is_list and heading["numbered"]):
            yield heading
        elif is_code and not raw:
            yield _Line("", 0, "", is_item=False, is_code=True)
        elif line := _line(raw, is_code=is_code):
            yield line


def _line(raw: str, *, is_code: bool) -> _Line | None:
    """A line that may be an item; None for one that says nothing."""
    bullet = _BULLET.match(raw)
    text = raw[bullet.end() if bullet else 0 :].strip()
    if not _WORD.search(text) or text.startswith(NOT_FOLLOWED) or "─" <= text[0] <= "╿":
        return None
    if _CLOSING.fullmatch(text) or _EMPTY.match(text):
        return None
    box = (bullet["box"] or "") if bullet else ""
    return _Line(text, len(raw) - len(raw.lstrip()), box, bullet is not None, is_code)


def _opened(before: _Section, heading: re.Match[str]) -> _Section:
    """The section that a heading opens; one below another that names nothing goes on with it."""
    words = next(heading[name] for name in ("words", "bold", "numbered", "tag") if heading[name])
    words = words.replace("_", " ").strip(" :*")
    level = len(heading["level"] or "") or (7 if heading["bold"] else 1)
    subject = named_subject(words)
    if subject is None and level > before.level > 0:
        return before
    kind = _KINDS[subject or SectionSubject.NOTES]
    solves = kind is ItemKind.BLOCKED and _SOLVES.search(words) is not None
    return _Section(kind, level, solves, _USER_MESSAGES.search(words) is not None)


def _is_below(line: _Line, lead: _Line) -> bool:
    """Whether a line stands in the list that another opens."""
    if line.is_code or line.text.rstrip("*_ ").endswith(":"):
        return False
    listed = line.is_item and not lead.is_item
    return line.indent > lead.indent or (listed and line.indent == lead.indent)


def _kind_of(section: _Section, line: _Line) -> ItemKind:
    """The kind of a line by its section, and by its box where that is ticked or not."""
    kind = section.kind
    if section.solves and not (is_failure(line.text) or _STILL.search(line.text)):
        return ItemKind.DONE
    if line.box in ("x", "X") and kind in _STATES:
        return ItemKind.DONE
    return ItemKind.DOING if line.box and line.box not in "xX" and kind is ItemKind.DONE else kind


def _line_items(section: _Section, line: _Line) -> list[tuple[ItemKind, str]]:
    text = line.text
    label, colon, rest = text.partition(":")
    labelled = KINDS_OF_LABELS.get(label.strip("*_ ").capitalize()) if colon else None
    rest = rest.strip().removeprefix("**").strip()
    if labelled is ItemKind.ERROR and is_failure(text):
        return [(labelled, text)]
    if labelled in LISTED:
        return [(labelled, part) for part in list_parts(rest)]
    if labelled is not None:
        return [(labelled, rest)]
    if section.quotes:
        return _quoted(text)
    kind = _kind_of(section, line)
    if kind is ItemKind.GOAL:
        return _goal_items(text)
    if len(text) <= _LONG_LINE:
        return [(kind, text)]
    return [(kind, sentence.text) for sentence in sentences(text, [])]


def _quoted(line: str) -> list[tuple[ItemKind, str]]:
    """A line on a message of the user's: what it orders for good, or wants, where it quotes it."""
    quote = _QUOTE.match(line)
    words = quote["words"].strip() if quote else line
    if "?" in words or (words[0], words[-1]) == ("(", ")") or _CONTINUES.search(words):
        return []
    if len(terms(words)) < _FEW_TERMS:
        return []
    if quote is None:
        return [(ItemKind.FACT, line)]
    rules = _ORDERS.search(words) and FactKind.CONSTRAINT in kinds_of(words, by_user=True)
    return [(ItemKind.CONSTRAINT if rules else ItemKind.REQUEST, words)]


def _goal_items(line: str) -> list[tuple[ItemKind, str]]:
    """The sentences of a goal; those that order something for good are constraints."""
    parts = [line] if len(line) <= _LONG_LINE else []
    items = [(ItemKind.GOAL, part) for part in parts]
    found = [match.strip() for match in _SENTENCE.split(line)]
    rules = [part for part in found if FactKind.CONSTRAINT in kinds_of(part, by_user=True)]
    if len(found) > 1 or not parts:
        rest = [part for part in found if part not in rules]
        whole = " ".join(rest)
        told = [whole] if len(whole) <= _LONG_LINE else rest
        items = [(ItemKind.GOAL, part) for part in told if part]
        items += [(ItemKind.CONSTRAINT, part) for part in rules]
    return items


_SENTENCE = re.compile(r"(?<=[.!?])(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+(?=[\"“'(\[`*A-Z])")

# what is over ------------------------------------------------------------------------------------

_STATES = (ItemKind.NEXT, ItemKind.DOING, ItemKind.BLOCKED)
"""Kinds that tell how things stand, and do so no more once the work went on."""
_TOLD = (ItemKind.DONE, ItemKind.FACT)
_MUCH_WORK = 12
"""Results after which a summary's state is an old one, whatever the user said."""
_STILL = re.compile(
    r"\bstill (?:needs?|(?:has|have) to|fail\w*|to|not|open|pending|missing|broken|running)\b|"
    r"\bneeds? (?:to be )?(?:updat|fix|test|implement|investigat|verif|commit|review)\w*|"
    r"\bnot yet\b|n['’]t\b[^.;]{0,40}\byet\b|\bun(?:resolved|committed|fixed)\b|"
    r"\bnot (?:addressed|fixed|done|run|tested|implemented|resolved|committed|pushed|merged|"
    r"deployed)\b|\bin progress\b|^\W*(?:todo|pending)\b|"
    r"\((?:current(?:ly)?|pending|ongoing|todo)\)|\b(?:is|are) (?:pending|ongoing)\b|"
    r"\bcurrently (?:fail|work|block|broke|run|debug|investigat)\w*|\bremains? to\b|"
    r"\bto be (?:removed|fixed|added|done|changed|renamed|implemented|verified|updated)\b",
    re.IGNORECASE,
)
"""Says how something stood then."""
_AS_OF_THEN = re.compile(
    r"\s*\((?:current(?:ly)?|most recent|not yet|in progress|pending|ongoing)\b[^()\n]*\)",
    re.IGNORECASE,
)
"""How far a goal was then."""
_COUNTS = re.compile(
    r"\b\d+(?:/\d+)? (?:(?:unit |new |existing )?tests? |are |is )?(?:pass(?:ed|ing|es)?|"
    r"fail(?:ed|ing|s|ures?)?)\b",
    re.IGNORECASE,
)
"""How a run ended: "2 failed, 76 passed"."""
_PART = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"])|(?<=;)\s+")


def was_worked_on(blocks: Sequence[RequestBlock], goes_on: re.Pattern[str]) -> bool:
    """Whether a turn of work with results is in blocks, or very much of one; ``goes_on``: what the
    user says so that a turn goes on."""
    results = 0
    for block in blocks:
        results += block.speaker is Speaker.RESULT
        if block.speaker is Speaker.USER and results and not goes_on.fullmatch(block.text):
            return True
    return results >= _MUCH_WORK


def drop_over(items: Sequence[Item]) -> None:
    """Of what a summary told that was worked on since: takes out what was in progress, next or
    failing, and how a run ended where a later one is told."""
    counted = any(not item.inherited and _COUNTS.search(item.text) for item in items)
    for item in items:
        if not item.outdated or item.speaker is not Speaker.SUMMARY:
            continue
        if item.kind in _STATES:
            # The words of a failure are worth knowing still; they stand among the facts then.
            failed = item.kind is ItemKind.BLOCKED and is_failure(item.text)
            item.alive &= failed and not _STILL.search(item.text)
        elif item.kind is ItemKind.GOAL:
            item.text = _AS_OF_THEN.sub("", item.text)
        elif item.kind in _TOLD:
            item.text = _standing(item.text, counted=counted)
            item.alive &= bool(item.text)
            item.facts = tuple(fact for fact in item.facts if fact.text in item.text)


def _standing(text: str, *, counted: bool) -> str:
    """A text without the sentences and the parts of a list that tell how things stood."""
    ends = [0, *(match.end() for match in _PART.finditer(text)), len(text)]
    parts = [text[start:end] for start, end in pairwise(ends)]
    rest = [
        part for part in parts if not (_STILL.search(part) or (counted and _COUNTS.search(part)))
    ]
    if len(rest) == len(parts):
        return text
    # What stands after the first leans on it.
    kept = "".join(rest).strip().rstrip(";") if rest and rest[0] is parts[0] else ""
    return "" if kept.endswith(":") else kept
