"""Words: stems, telling words, and the key that equal sentences share."""

from __future__ import annotations

import re
from functools import lru_cache


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def any_of(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    """One pattern that matches where any of these does."""
    return re.compile("|".join(patterns), flags)


STOP = word_set(
    """
    a about after again all also an and any are as at be because been before but by can could
    did do does done for from had has have here how i if in into is it its just let like make
    may me my now of off on one or our out please should so some such than that the their them
    then there these they this to too up us use used using very was we were what when where
    which while who will with would yes you your ok okay thanks not no never don't dont must
    only always
    """
)
_WORD = re.compile(r"[^\W\d_][\w'’]*|\d+(?:[.,]\d+)*", re.UNICODE)
_ENDINGS = ("ations", "ation", "ings", "ing", "ied", "ies", "ed", "es", "s")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word in lower case without its common English ending: retries, retried, retry."""
    low = word.lower().replace("’", "'").removesuffix("'s")
    if len(low) <= 3 or not low.isalpha():
        return low
    for ending in _ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) >= 3 and not low.endswith("ss"):
            base = low[: -len(ending)]
            if ending in ("ied", "ies"):
                return base + "y"
            if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            return base.removesuffix("e") if len(base) > 3 else base
    return low.removesuffix("e") if len(low) > 4 else low


@lru_cache(maxsize=16384)
def terms(text: str) -> frozenset[str]:
    """The stems of a sentence's telling words, stop words left out, and its numbers."""
    return terms_of_message(text)


def terms_of_message(text: str) -> frozenset[str]:
    """The same for a long text; not cached."""
    return frozenset(
        stem(word)
        for word in _WORD.findall(text)
        if word.lower() not in STOP and (len(word) > 1 or word.isdigit())
    )


_MARKS = re.compile(r"[`*_\"“”'‘’]+|(?<=\s)[-•]\s")


@lru_cache(maxsize=4096)
def statement_key(text: str) -> str:
    """A sentence in lower case without emphasis, quotes and final punctuation, blanks collapsed."""
    return " ".join(_MARKS.sub("", text).lower().split()).rstrip(".!?;:, ")
