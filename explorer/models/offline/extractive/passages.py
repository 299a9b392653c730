"""Passages: whole sentences of a text, each with the sentence that it leans on.

A sentence that cannot stand alone ("Never exceed it without approval.") forms one passage with the
one before it, a line that ends in a colon one with the list below it. Headings, tables and what is
no prose are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from explorer.facts.commands import fences
from explorer.facts.errors import is_failure
from explorer.facts.statements import kinds_of
from explorer.facts.text import Sentence, sentences, terms, word_set

LONGEST = 600
"""Characters of a passage."""
_LONGEST_LEANING = 350
"""Characters of a passage of sentences that lean on each other."""
_FEW_TERMS = 2
"""Telling words below which a sentence with a pronoun leans on the one before."""
_NO_LETTER = re.compile(r"[\W\d_]+")
_SENTENCE = 3
"""Words from which a list item that ends in a point is a sentence of its own."""
_LONG_LINE = 8
"""Words from which a line without a point is a sentence all the same."""
_JOINTS = word_set("but however and also btw so oh") | {"", "and also", "oh and also"}
_LONGEST_JOINT = 20
"""Characters between two parts of one sentence."""
_LEANS = re.compile(
    r"^\W*+(?:(?:and|but|so|also|or|then|otherwise|plus)\b\W*+)*(?:it|its|it's|they|them|their|"
    r"this|that|"
    r"that's|these|those|he|she|his|her|both|neither|either|the (?:former|latter|same|rest|"
    r"others?)|"
    r"otherwise|instead|therefore|same|such|which|because|except|unless|until then|that way)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(r"\b(?:it|them|they|this|that|these|those|one|there)\b", re.IGNORECASE)
# Quotes are in both classes: without possessive repeats, a line of them takes for ever.
_POINTS_EARLY = re.compile(r"^\W*+(?:[\w'’]++\W++){0,3}(?:it|them|they|he|she)\b", re.IGNORECASE)
_MARKUP = re.compile(r"^\W*(?:\*\*|__)|(?:\*\*|__)(?=\s|[:.,;!?)]|$)|\*\*")
_NO_PROSE = re.compile(
    r"^\S+\.\w+:\d+:|^={3,}|^\s*\d+→|^\s*[|+<>{}$➜/@=#]|^\s*\[\w+\]\s|^\s*\d+[→|]|[{};|]\s*$|\\n|✗"
)


def passages(text: str, *, by_user: bool = True) -> list[str]:
    """The passages of a text in order, each on one line. A list is one passage with the line above
    it; items of the user's that are sentences stand alone."""
    found: list[str] = []
    before: Sentence | None = None
    for sentence in _whole(text):
        line = _clean(sentence.text)
        if not line or sentence.text.startswith("|"):
            before = None
            continue
        if sentence.item and not (by_user and _is_sentence(line)):
            _add_item(found, line, sentence, before)
        elif found and before is not None and _follows(found[-1], line, before, sentence):
            found[-1] = f"{found[-1]} {line}"
        else:
            found.append(line)
        before = sentence
    return [one for one in found if one[-1] != ":" and is_prose(one)]


def _is_sentence(line: str) -> bool:
    return line[-1] in ".!?" and len(line.split()) >= _SENTENCE


def _add_item(found: list[str], line: str, item: Sentence, before: Sentence | None) -> None:
    """Adds an item to its list; one that has no room there is left out."""
    same = before is not None and before.section == item.section
    listed = before is not None and before.item and ": " in found[-1] if found else False
    if found and same and (found[-1][-1] == ":" or listed):
        joint = " " if found[-1][-1] == ":" else "; "
        if len(found[-1]) + len(line) < LONGEST:
            found[-1] = f"{found[-1].rstrip('.;')}{joint}{line.rstrip('.')}"
    elif item.section and not same:
        found.append(f"{_clean(item.section).rstrip(':')}: {line}")
    else:
        found.append(line)


def is_whole(passage: str) -> bool:
    """Whether a passage ends as a sentence does, or is a list with the line above it."""
    return passage[-1] in '.!?…)"”' or ": " in passage or len(passage.split()) >= _LONG_LINE


def shortened(passage: str, limit: int) -> str:
    """A passage with as many items of its list as fit into a number of characters."""
    parts = passage.split("; ")
    while len(parts) > 1 and len("; ".join(parts)) > limit:
        parts.pop()
    return "; ".join(parts)


def is_prose(line: str) -> bool:
    """Whether a line is somebody's words, and neither a log nor code."""
    if _NO_PROSE.search(line):
        return False
    if line[-1] not in ".!?" and len(line) < _LONGEST_LEANING and is_failure(line):
        return bool(kinds_of(line, by_user=True))
    letters = len(_NO_LETTER.sub("", line))
    return 3 * (letters + line.count(" ")) > len(line) and letters > 0


def leans(line: str) -> bool:
    """Whether a sentence needs the one before it to be understood."""
    if _LEANS.match(line) or _POINTS_EARLY.match(line):
        return True
    return len(terms(line)) <= _FEW_TERMS and _POINTS.search(line) is not None


def _follows(so_far: str, line: str, before: Sentence, now: Sentence) -> bool:
    """Whether a sentence belongs to the passage before it."""
    if now.item or before.item or now.section != before.section:
        return False
    if so_far[-1] == ":":
        return len(so_far) + len(line) < LONGEST
    return leans(line) and len(so_far) + len(line) < _LONGEST_LEANING


def _clean(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).split())


def _whole(text: str) -> Iterator[Sentence]:
    """The sentences outside of code; those that were split at a semicolon, a dash or a comma are
    put together again."""
    pending: Sentence | None = None
    for sentence in sentences(text, [(start, end) for start, end, _ in fences(text)]):
        if pending is not None:
            between = text[pending.end : sentence.start]
            if (
                pending.text[-1] not in ".!?…:"
                and "\n" not in between
                and between.strip(" ,;-–—\t") in _JOINTS
                and len(between) < _LONGEST_JOINT
            ):
                whole = text[pending.start : sentence.end]
                pending = pending._replace(text=whole, end=sentence.end)
                continue
            yield _ended(text, pending)
        pending = sentence
    if pending is not None:
        yield _ended(text, pending)


def _ended(text: str, sentence: Sentence) -> Sentence:
    """The sentence with the mark that closes it."""
    mark = text[sentence.end : sentence.end + 1]
    return sentence._replace(text=sentence.text + mark) if mark in (".", "!", "?") else sentence


def up_to(parts: Sequence[str], limit: int) -> list[str]:
    """As many passages from the first on as fit into a number of characters; at least one."""
    size, taken = 0, 0
    for part in parts:
        size += len(part) + 1
        if taken and size > limit:
            break
        taken += 1
    return list(parts[:taken])
