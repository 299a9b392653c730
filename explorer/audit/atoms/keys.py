"""What two mentions of one thing have in common: figures, paths, words and sentences evened out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from explorer.audit.atoms.lists import word_set

_NUMBER = re.compile(
    r"(?P<sign>[-−]?)[$€£]?(?P<digits>\d{1,3}(?:[,_' \u00a0\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:e(?P<power>[-+]?\d{1,3}))?\s*(?P<unit>%|°[CF]?|[A-Za-zµμ]+(?:/[A-Za-z]+)?)?",
    re.IGNORECASE,
)
_TIME = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3,
    "s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0,
    "h": 3600.0, "hr": 3600.0, "hour": 3600.0, "d": 86400.0, "day": 86400.0, "week": 604800.0,
}  # fmt: skip
_SIZE = {
    "b": 1.0, "byte": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
    "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30, "tib": 2.0**40,
    "kilobyte": 1e3, "megabyte": 1e6, "gigabyte": 1e9,
}  # fmt: skip
_SCALE = {"k": 1e3, "m": 1e6, "mio": 1e6, "bn": 1e9, "thousand": 1e3, "million": 1e6}
_PERCENT = frozenset({"%", "percent", "pct"})


class Figure(NamedTuple):
    """A figure with its unit evened: 1.5k is 1500, 250 ms is 0.25 of ``time``."""

    value: float
    family: str
    """``time`` (seconds), ``size`` (bytes), ``%``, else the counted thing's stem; may be empty."""

    @property
    def key(self) -> str:
        """Equal of figures that say the same."""
        return f"{self.value:.12g} {self.family}".strip()


@lru_cache(maxsize=32768)
def figure(text: str) -> Figure | None:
    """The figure that a text begins with; None when it holds none."""
    found = _NUMBER.search(text)
    if found is None:
        return None
    value = float(re.sub(r"[,_' \u00a0\u202f]", "", found["digits"]))
    if found["power"]:
        value *= 10.0 ** int(found["power"])
    if found["sign"]:
        value = -value
    return _with_unit(value, found["unit"] or "", text[found.end() :])


def _with_unit(value: float, unit: str, rest: str) -> Figure:
    low = unit.lower()
    if unit == "M" or (low in _SCALE and low != "m"):
        value *= _SCALE[low]
        word = re.match(r"\s*([A-Za-z]+)", rest)
        return _with_unit(value, word.group(1), "") if word else Figure(value, "")
    single = low.removesuffix("s") if len(low) > 2 else low
    if low in _PERCENT:
        return Figure(value, "%")
    if low in _TIME or single in _TIME:
        return Figure(value * _TIME.get(low, _TIME.get(single, 1.0)), "time")
    if low in _SIZE or single in _SIZE:
        return Figure(value * _SIZE.get(low, _SIZE.get(single, 1.0)), "size")
    return Figure(value, stem(low) if low else "")


def path_key(text: str) -> str:
    """A path with one kind of slash, without ``./``, a closing slash and a line number."""
    key = text.replace("\\", "/").removeprefix("./").rstrip("/")
    key = re.sub(r"(?::\d+){1,2}$", "", key)
    return re.sub(r"/{2,}", "/", key).lower() or "/"


def base_name(key: str) -> str:
    """The last part of a path key."""
    return key.rsplit("/", 1)[-1]


_STOP = word_set(
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
    """A word without its common English ending: retries, retried, retry."""
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
    """The stems of the telling words and figures of a sentence."""
    return terms_of_message(text)


def terms_of_message(text: str) -> frozenset[str]:
    """The same of a long text, which is not worth remembering."""
    return frozenset(
        stem(word)
        for word in _WORD.findall(text)
        if word.lower() not in _STOP and (len(word) > 1 or word.isdigit())
    )


_MARKS = re.compile(r"[`*_\"“”'‘’]+|(?<=\s)[-•]\s")


@lru_cache(maxsize=4096)
def statement_key(text: str) -> str:
    """A sentence without case, marks, quotes and its closing point; blanks made equal."""
    return " ".join(_MARKS.sub("", text).lower().split()).rstrip(".!?;:, ")
