"""Words as they are compared: without endings, without those that carry no subject."""

from __future__ import annotations

import re
from functools import lru_cache

WORD = re.compile(r"[A-Za-z][A-Za-z0-9_'’-]*|\d+(?:\.\d+)*")


def word_set(text: str) -> frozenset[str]:
    """A set of words written as running text, which is how a list of words stays readable."""
    return frozenset(text.split())


STOP = word_set(
    """
    a about above actually after again all almost already also although am an and any anyway
    are around as at away back be because been before being below between both but by came
    can cannot come could did do does doing don done down during each either else even ever
    every few first for from further get gets getting give go goes going good got great had
    has have having he hello her here hey hi him his how however i if im in indeed instead into is
    isn it its itself just kind know last later least less let lets like look looks lot made
    make makes many maybe me might mine more most much my myself need needs next nice no nor
    not nothing now of off oh ok okay on once one only onto or other our ours out over own
    part perhaps please point pretty probably put quite rather really right said same say
    see seem seems she should since so some something soon still such sure take tell than
    thank thanks that the their them then there these they thing things think this those
    though through thus till to together too two under until up upon us use used uses using
    very via want wants was way we well went were what whatever when where whether which
    while who whole whose why will with within without won would yeah yes yet you your yours
    yourself aren couldn didn doesn hadn hasn haven mustn shan shouldn wasn weren wouldn ll
    ve re isn't don't doesn't didn't can't won't i'm i'll i've i'd we'll we've we're we'd
    let's it's that's there's you're you'll you've here's what's shouldn't wouldn't couldn't
    """
)

_SUFFIXES = ("ingly", "edly", "ations", "ation", "ings", "ing", "ies", "ied", "ers", "ely")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without its common English endings, so that "retries" meets "retry"."""
    low = word.lower().replace("’", "'")
    low = low.removesuffix("'s").strip("'-")
    if len(low) <= 3 or not low.isalpha():
        return low
    for suffix in _SUFFIXES:
        if low.endswith(suffix) and len(low) - len(suffix) >= 3:
            base = low[: -len(suffix)]
            if suffix in ("ies", "ied"):
                return base + "y"
            return _undouble(base)
    if low.endswith("es") and len(low) > 4 and low[-3] in "sxzh":
        return low[:-2]
    if low.endswith("ed") and len(low) > 4:
        return _undouble(low[:-2])
    if low.endswith("s") and not low.endswith("ss") and not low.endswith("us"):
        low = low[:-1]
    return low[:-1] if low.endswith("e") and len(low) > 4 else low


def _undouble(base: str) -> str:
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
        return base[:-1]
    return base[:-1] if base.endswith("e") and len(base) > 4 else base


def terms_of(text: str) -> frozenset[str]:
    """The stems of the words of a text that carry meaning."""
    return frozenset(
        stem(word) for word in WORD.findall(text) if word.lower() not in STOP and len(word) > 1
    )


@lru_cache(maxsize=32768)
def _lower_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+(?:'[a-z]+)?", text))


def lower_words(text: str) -> frozenset[str]:
    """The plain lower-case words of a text, for a quick look before a slow pattern."""
    return _lower_words(text.lower().replace("’", "'"))
