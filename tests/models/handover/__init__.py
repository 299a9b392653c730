"""Sessions that say what a successor must still know after five summaries of summaries.

A file holds five stretches of conversation, divided by a line of five ``=``, and after ``#####``
what must be told in the last summary (``told:``, wordings divided by ``|``) and what must not,
because it was changed or solved (``gone:``). They were written before the summarizer that they
measure, and without looking at the one before it. ``@listing N``, ``@code N`` and ``@log N``:
see ``tests.models.stories``. Blank lines between the messages are put in when a file is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from explorer.models.offline.extractive import summarize
from explorer.tokens.estimate import estimate_text
from tests.models.stories import expand
from tests.models.survival import flatten, holds, summary_request

HELD_OUT = ("infra", "research")
"""Sessions that nobody reads for the rules of the summarizer."""
_MARK = re.compile(r"\n(?=\[(?:User|Assistant|Tool)[a-z ]*\]: )")
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Handover:
    """One session: stretches of conversation, and what its last summary tells and does not."""

    name: str
    chunks: tuple[str, ...]
    told: tuple[tuple[str, ...], ...]
    gone: tuple[str, ...]


@dataclass
class Score:
    """What the last summaries tell, of one session or several."""

    told: int = 0
    wanted: int = 0
    lost: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    oversize: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)


def read_all() -> list[Handover]:
    """Every session, those held out last."""
    names = sorted(_HERE.glob("*.txt"), key=lambda path: (path.stem in HELD_OUT, path.stem))
    return [read(path) for path in names]


def read(path: Path) -> Handover:
    """One session of a file."""
    body, _, expected = path.read_text("utf-8").partition("\n#####\n")
    told: list[tuple[str, ...]] = []
    gone: list[str] = []
    for line in expected.splitlines():
        kind, _, needle = line.partition(": ")
        if kind == "told":
            told.append(tuple(part.strip() for part in needle.split("|")))
        elif kind == "gone":
            gone.append(needle)
    chunks = tuple(_MARK.sub("\n\n", expand(chunk).strip()) for chunk in body.split("\n=====\n"))
    return Handover(path.stem, chunks, tuple(told), tuple(gone))


def measure(sessions: list[Handover], share: float) -> Score:
    """Summarize stretch after stretch, within a share of all the text so far; judge the last."""
    score = Score()
    for session in sessions:
        previous, so_far = "", 0
        for chunk in session.chunks:
            so_far += estimate_text(chunk)
            limit = int(so_far * share)
            previous = summarize(summary_request(chunk, previous, limit), lambda: False)
            if estimate_text(previous) > limit:
                score.oversize.append(f"{session.name}: {estimate_text(previous)} of {limit}")
        score.summaries.append(previous)
        flat = flatten(previous)
        score.wanted += len(session.told)
        for needles in session.told:
            if any(holds(flat, needle) for needle in needles):
                score.told += 1
            else:
                score.lost.append(f"{session.name}: {needles[0]}")
        score.stale += [f"{session.name}: {one}" for one in session.gone if holds(flat, one)]
    return score
