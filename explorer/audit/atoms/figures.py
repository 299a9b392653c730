"""Figures in prose with what they measure: ``250 ms``, ``5 retries``, ``port 8443``, ``70 %``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.audit.atoms.lists import any_of, word_set
from explorer.audit.atoms.message import Message
from explorer.audit.atoms.taken import Taken

_FIGURE = re.compile(
    r"(?<![\w.,/\\:;#@-])(?:[~≈<>≤≥±+-]|[$€£])?"
    r"(?:\d{1,3}(?:[,'_]\d{3})+(?!\d)|\d{1,3}(?: \d{3})+(?![\d.])|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
    r"(?::1(?!\d))?(?P<unit>%|[€$£]|°[CF]?|[A-Za-zµμ]{1,6}(?:/[A-Za-z]+)?)?(?![\w/\\@]|[.:,-]\w)"
)
_SIGNS = "~≈<>≤≥±+-$€£"
_UNIT = re.compile(
    r"[ \u00a0\u202f]*(?P<first>%|[€$£]|°[CF]?|[A-Za-zµμ][A-Za-zµμ-]*(?:/[A-Za-z]+)?)(?![\w(=/])"
)
_UNITS = word_set(
    """
    ns us µs μs ms s sec secs m min mins h hr hrs d b kb mb gb tb kib mib gib tib k fps hz khz
    mhz ghz mbit gbit kbit mbps gbps kbps px pt em rem cm mm km kg mg dpi bpm rpm rps qps tps
    iops v mv a ma w kw kwh pa hpa bar °c °f % gb/s mb/s kb/s gib/s mib/s req/s rows/s x usd
    eur gbp € $ £ inch inches ft sqm tokens percent bit bits byte bytes
    """
)
_NOT_UNITS = word_set(
    """
    is was has does as this its less plus minus times vs us yes always perhaps besides
    hours-long and or of in at on to by for from the a an per with so if when then but because
    which that now unless thus sometimes afterwards otherwise instead also not are were will
    would can could should must may might after before since until while than each every all
    fails passes works needs takes seems looks gives says means makes gets goes comes runs
    starts stops uses keeps lets
    """
)
_OF_MEASURE = any_of(
    r"\b(?:port|level|limit|max(?:imum)?|min(?:imum)?|most|least|timeout|size|threshold|budget|"
    r"workers?|retries|count|total|below|under|above|over|exceed|than|score|auc|accuracy|batch|"
    r"depth|width|height|seed|epochs?|ratio|rate|factor|cap|weight|drop\s+below|"
    r"(?:exit|status|response)\s+(?:code|status)|http|make\s+(?:that|it)|set\s+(?:that|it|to))\s*(?:to|is|of|=|:)?\s*[`*\"']?$",
    r"[=≤≥<>]\s*[`*\"']?$",
)
_OF_ANYTHING = any_of(
    r"\b(?:to|is|are|be|was|at|of|use|with|about|around|only|just|status|code)\s*[`*\"']?$",
    r":\s*$",
)
"""Words before a bare figure that a person who lays down a value says."""
_NOT_BEFORE = re.compile(
    r"\b(?:step|line|lines|page|chapter|section|figure|fig|table|item|option|number|no|day|"
    r"week|january|february|"
    r"march|april|may|june|july|august|september|october|november|december|phase|part|round|"
    r"version|v|"
    r"point|task|issue|pr|mr|ticket|rule|appendix|question|generation|"
    r"error)\.?\s*[`*\"'#]?$",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"^\s*(?:st|nd|rd|th)?\.?\s*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.I
)
_OF = re.compile(
    r"\s+of\s+(?:the\s+)?\d+\b(?!\s*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))", re.I
)
"""3 of 112."""
_LIST = re.compile(r"(?:^|\n)[ \t]*(?:[-*]\s+)?\d{1,3}$")
_MORE = re.compile(r"\s(\d+)\s?(ms|s|sec|seconds|min|minutes|h)\b")


def figures(message: Message, skip: Taken, *, by_user: bool = False) -> Iterator[tuple[int, int]]:
    """Where figures stand that say how much or how many (characters), those in ``skip`` aside."""
    text = message.text
    at = 0
    for match in _candidates(message):
        start, end = match.span()
        if start < at or start in skip:
            continue
        if text[start - 1 : start] == "[" and text[end : end + 1] == "]":
            continue  # the time of a line of a log
        before = text[max(0, start - 24) : start]
        if match["unit"] is None:
            stop = _with_word(text, start, end, before, by_user)
        else:
            known = match["unit"].lower() in _UNITS or match.group()[0] in "$€£"
            stop = end if known and not _is_figured_word(match.group()) else -1
        if stop < 0:
            continue
        more = _MORE.match(text, stop)
        # "2 min 10 s" is one figure; of two with one unit each is one.
        at = more.end() if more and more[2] not in text[start:stop] else stop
        if text[start] in "+-" and start and not text[start - 1].isspace():
            start += 1
        yield start, at


def _candidates(message: Message) -> Iterator[re.Match[str]]:
    """What the pattern finds, looked for where there are digits: it begins with them, or with a
    sign before them, and reads all of them."""
    text = message.text
    done = 0
    for at in message.digits:
        if at < done:
            continue
        match = None
        if at > done and text[at - 1] in _SIGNS:
            match = _FIGURE.match(text, at - 1)
        match = match or _FIGURE.match(text, at)
        if match:
            done = match.end()
            yield match


def _is_figured_word(word: str) -> bool:
    """``3d``, ``2a``: names, not amounts."""
    return re.fullmatch(r"\d{1,2}[ad]", word.lower()) is not None


def _with_word(text: str, start: int, end: int, before: str, by_user: bool) -> int:
    if text[start] in "$€£":
        return end
    unit = _UNIT.match(text, end)
    if unit is not None and unit["first"].lower() in _UNITS and not _MONTH.match(text, end):
        return unit.end()
    part = _OF.match(text, end)
    if part is not None:
        return part.end()
    if _MONTH.match(text, end) or _NOT_BEFORE.search(before):
        return -1
    if _LIST.search(text[max(0, start - 12) : end]) and text[end : end + 1] in (".", ")"):
        return -1
    if unit is not None:
        word = unit["first"]
        low = word.lower()
        if low in _UNITS:
            return unit.end()
        if low not in _NOT_UNITS and word[0].islower() and len(low) > 2:
            if low.endswith("s") or text[start:end] == "1":
                return unit.end() if text[unit.start() : unit.end()].count("\n") == 0 else -1
            second = re.match(r"\s+([a-z]{3,}s)\b", text[unit.end() :])
            if second and second.group(1) not in _NOT_UNITS:
                return unit.end() + second.end()
        elif word.isupper() and len(word) < 5:
            return unit.end()
    if re.search(r"\d{4}$", text[start:end]) and re.search(r"\b(?:in|since|of|by)\s*$", before):
        return -1  # a year
    if "." in text[start:end] or _OF_MEASURE.search(before):
        return end
    return end if by_user and _OF_ANYTHING.search(before) else -1
