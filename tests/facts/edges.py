"""Short texts at the edges of the rules, each read by itself in every voice: ``python -m
tests.facts.edges`` writes their table anew.

``recorded`` has what a whole session states; here is what a reader of one text finds, with the
instructions, the announced steps and what counts as mentioned besides.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from explorer.facts import extract, scan
from explorer.facts.entry_texts import Speaker
from explorer.facts.fact_table import EntryFacts, Mention, scan_text
from tests.audit.texts import user

PLACE = Path(__file__).parent / "data"
VOICES = (Speaker.USER, Speaker.ASSISTANT, Speaker.SUMMARY, Speaker.RESULT, Speaker.ERROR,
          Speaker.COMMAND, Speaker.PATH)  # fmt: skip


def texts() -> list[str]:
    """The texts, which a line of two per cent signs parts."""
    return (PLACE / "edges.txt").read_text(encoding="utf-8").rstrip("\n").split("\n%%\n")


def found(text: str) -> str:
    """What is found in a text, a voice a line; one that finds the same as the last is left out."""
    lines: list[str] = []
    for voice in VOICES:
        line = "; ".join(_found(scan_text(text, voice)))
        if not lines or lines[-1].partition(": ")[2] != line:
            lines.append(f"{voice.value}: {line}")
    return "\n".join(lines)


def _found(facts: EntryFacts) -> Iterator[str]:
    for name, mentions in (("", facts.items), ("must ", facts.instructions),
                           ("will ", facts.announced)):  # fmt: skip
        yield from (f"{name}{_cell(one)}" for one in mentions)
    yield f"names {' '.join(sorted(facts.mentions))}"


def _cell(one: Mention) -> str:
    return f"{one.kind.value} {one.start}-{one.end} {one.key!r}"


def dialogue(said: list[str]) -> str:
    """What holds when a user says these one after the other, and what was said before them."""
    entries = [user(text) for text in said]
    table = scan(range(len(said)), lambda wanted: [entries[at] for at in wanted])
    facts = extract(entries)
    lines = [f"{one.kind.value} {one.key!r} {one.sources} {one.replaced_by!r}" for one in facts]
    lines += [f"must {one.key!r} {one.sources} {one.replaced_by!r}"
              for one in table.instructions(range(len(said)))]  # fmt: skip
    return "\n".join([*lines, f"request {facts.request and facts.request.text!r}"])


def whole() -> str:
    """The table."""
    said = texts()
    parts = [f"== {text}\n{found(text)}" for text in said]
    return "\n".join([*parts, "== all of them", dialogue(said), ""])


if __name__ == "__main__":
    (PLACE / "edges.tsv").write_text(whole(), encoding="utf-8")
