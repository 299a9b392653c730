"""Lines of one token repeated, which stop what reads text by rules when a rule is not linear."""

from __future__ import annotations

import string
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.attacks.attack import Attack
from tests.audit.readers import READERS

_LETTERS = (
    f"{string.punctuation * 3}{string.ascii_letters}{string.digits}"
    "    \t\t\n\n\r\u00a0\u2028éßİ–—…“’»字。１🚀"
)
_WORDS = (
    "Never use ",
    "I was told: ",
    "Run the tests, ",
    "- [ ] ",
    "Error: ",
    "## Goal\n",
    "5 ms ",
    "",
)
_ENDS = ("", "\n", "\r\n", " only", ".\n", " must stay", "```", '"', " in src/a.py")
_SIZES = (3_000, 20_000, 60_000, 200_000)
_LEAST = 1.5
_PER_CHARACTER = 30e-6
"""Seconds of the processor that a text may take: these, and so many for each character. What is
linear takes a tenth of it; what is not takes minutes."""


def _text(random: Random) -> str:
    token = "".join(random.choice(_LETTERS) for _ in range(random.randint(1, 4)))
    size = random.choice(_SIZES)
    length = random.choice((size, random.randint(100, 2_500)))
    lines, left = [], size
    while left > 0:
        run = (token * (length // len(token) + 1))[: min(length, left)]
        lines.append(f"{random.choice(_WORDS)}{run}{random.choice(_ENDS)}")
        left -= len(run) + 20
    return random.choice(("\n", " ", "\n\n")).join(lines)


def _run(random: Random, folder: Path) -> Iterator[str]:
    text = _text(random)
    for name, read in READERS.items():
        started = time.process_time()
        read(text)
        seconds = time.process_time() - started
        if seconds > _LEAST + _PER_CHARACTER * len(text):
            yield f"{name} takes {seconds:.1f} s for {len(text):,} characters: {text[:80]!r}"


LONG_LINES = Attack("long-lines", _run, test_rounds=2)
