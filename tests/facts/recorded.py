"""Every fact of lines that were made for it, as a table: ``python -m tests.facts.recorded`` writes
it anew.

A rule of thumb has no specification besides what it finds. What a change of one makes come and go
is seen in the difference of the tables; the scores of ``test_measured`` say whether it is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from explorer.facts import Fact, extract
from explorer.facts.comparison import compare
from tests.audit.planted.reading import MarkedSession
from tests.audit.texts import assistant, call, result, user

PLACE = Path(__file__).parent / "data"


def sessions() -> list[MarkedSession]:
    """The lines as a person says them, as replies with commands, as outputs, and all in one."""
    found: list[MarkedSession] = []
    lines = (PLACE / "cases.txt").read_text(encoding="utf-8").splitlines()
    asked = [user(line) for line in lines]
    replied = [assistant(line, call("bash", command=line)) for line in lines]
    printed = [result(line, error=at % 3 == 0) for at, line in enumerate(lines)]
    for name, entries in (("asked", asked), ("replied", replied), ("printed", printed)):
        found.append(MarkedSession(f"cases_{name}", tuple(entries), ()))
    everything = "\n".join(lines)
    whole = (user(everything), assistant(everything), result(everything))
    return [*found, MarkedSession("cases_whole", whole, ())]


def table(session: MarkedSession) -> str:
    """A line for each fact: kind, key, text, what replaces it, and its places."""
    facts = extract(session.entries)
    last = f"request: {facts.request.text!r}" if facts.request else "no request"
    return "\n".join([*("\t".join(_cells(fact)) for fact in facts), last, ""])


def _cells(fact: Fact) -> Iterator[str]:
    yield fact.kind.value
    yield repr(fact.key)
    yield repr(fact.text) if fact.text != fact.key else "="
    yield repr(fact.replaced_by) if fact.stale else ""
    yield " ".join(
        f"{span.entry}.{span.block}{span.argument and '.' + span.argument}:{span.start}-{span.end}"
        for span in fact.spans
    )


def agreements() -> str:
    """What each case is to the others, taken for a statement and a line of a summary."""
    lines = (PLACE / "cases.txt").read_text(encoding="utf-8").splitlines()
    lines += [line.replace(" 5 ", " 7 ").replace("never", "always") for line in lines]
    lines += [line.rpartition(" ")[0] for line in lines[::2]]
    found = []
    for at, one in enumerate(lines):
        agree = [(number, compare(one, other).name) for number, other in enumerate(lines)]
        words = [f"{number} {name}" for number, name in agree if name != "DIFFERENT"]
        found.append(f"{at}\t" + "; ".join(words))
    return "\n".join([*found, ""])


if __name__ == "__main__":
    (PLACE / "agreements.tsv").write_text(agreements(), encoding="utf-8")
    for one in sessions():
        (PLACE / f"{one.name}.tsv").write_text(table(one), encoding="utf-8")
