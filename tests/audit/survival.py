"""What of a session is still told after five summaries of summaries, by the audit's own measure.

    python -m tests.audit.survival            budgets are shares of all the text so far
    python -m tests.audit.survival --chunk    budgets are shares of the text since the last summary
    python -m tests.audit.survival --lost     and names what was planted and lost, and what is wrong

Sessions are those of ``tests.models``: made up from a seed, and written by hand. Two tables: every
fact that the audit extracts, by kind, and the facts that were planted. What was changed later is
not counted as lost; told as if it still held, it is counted as stale.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass, field

from explorer.audit.fidelity import fidelity
from explorer.audit.findings import Group
from explorer.audit.summary_text import SummaryText
from explorer.compaction.summary import footer
from explorer.facts import FactKind, scan
from explorer.facts.text import statement_key
from explorer.models.offline.extractive import summarize
from explorer.session.entries import Entry
from explorer.session.file_tools import file_ops
from explorer.tokens.estimate import estimate_text
from tests.audit.texts import assistant, call, result, user
from tests.models.planting import Story
from tests.models.survival import SHARES, story_sets, summary_request

_TURN = re.compile(
    r"^\[(User|Assistant thinking|Assistant tool calls|Assistant|Tool result)\]: ", re.M
)
_HEAD = re.compile(r"^\[(USER|ASSISTANT|TOOL_RESULT|TOOL_CALL)\]\n", re.M)
_RULE = re.compile(r"\n---\n")
_VOICES = {"USER": "User", "ASSISTANT": "Assistant", "TOOL_RESULT": "Tool result"}
_CALL = re.compile(r"(\w+)\((.*?)\)(?=; \w+\(|$)", re.DOTALL)
_ARGUMENT = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass
class Tally:
    """Counts over stories at one budget. Keys are kinds; values (told still, in all)."""

    facts: Counter[FactKind] = field(default_factory=Counter)
    told: Counter[FactKind] = field(default_factory=Counter)
    planted: int = 0
    alive: int = 0
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def share(self, kind: FactKind) -> str:
        """``told/all`` of a kind."""
        return f"{self.told[kind]}/{self.facts[kind]}"


def entries_of(chunk: str) -> list[Entry]:
    """The entries that a serialized stretch of conversation was made from."""
    if _HEAD.match(chunk):
        chunk = _HEAD.sub(
            lambda head: f"[{_VOICES.get(head[1], 'Assistant')}]: ", _RULE.sub("\n", chunk)
        )
    parts = _TURN.split(chunk)[1:]
    entries: list[Entry] = []
    for head, raw in zip(parts[::2], parts[1::2], strict=True):
        text = raw.strip("\n")
        if head == "User":
            entries.append(user(text))
        elif head == "Assistant":
            entries.append(assistant(text))
        elif head == "Tool result":
            entries.append(result(text))
        elif head == "Assistant tool calls":
            calls = [
                call(name, **dict(_ARGUMENT.findall(arguments)))
                for name, arguments in _CALL.findall(text)
            ]
            entries.append(assistant("", *calls))
    return entries


def run(story: Story, share: float, *, whole: bool, tally: Tally) -> None:
    """Summarizes generation after generation, and judges the last summary against all that was
    said."""
    previous, so_far = "", 0
    everything: list[Entry] = []
    for chunk in story.chunks:
        tokens = estimate_text(chunk)
        so_far += tokens
        limit = int((so_far if whole else tokens) * share)
        previous = summarize(summary_request(chunk, previous, limit), lambda: False)
        everything += entries_of(chunk)
    previous += footer(*_files(everything))
    table = scan(range(len(everything)), lambda wanted: [everything[at] for at in wanted])
    found = fidelity(previous, range(len(everything)), (), table)
    for one in found.of(Group.WRONG):
        tally.wrong.append(f"{story.name}: {one.stated!r}. {one.reason}")
    for fact in table.facts(range(len(everything))):
        if not fact.stale:
            tally.facts[fact.kind] += 1
            tally.told[fact.kind] += fact not in found.not_carried.get(fact.kind, ())
    _count_planted(story, previous, tally)


def _files(entries: list[Entry]) -> tuple[list[str], list[str]]:
    """The files that calls read and changed, which end every summary that is stored."""
    ops = [
        op
        for entry in entries
        for call in entry.calls
        for op in file_ops(call.name, call.named_arguments, "")
    ]
    changed = {op.path for op in ops if op.kind != "read"}
    return sorted({op.path for op in ops} - changed), sorted(changed)


def _count_planted(story: Story, summary: str, tally: Tally) -> None:
    told = SummaryText([summary])
    for fact in story.facts:
        if fact.changed_in:
            continue
        if fact.kind == "latest request" and fact.generation != len(story.chunks):
            continue
        tally.planted += 1
        if told.exact(fact.needle) or told.flat(statement_key(fact.needle)):
            tally.alive += 1
        else:
            tally.lost.append(f"{story.name} g{fact.generation} {fact.kind}: {fact.needle}")


def measure(stories: list[Story], share: float, *, whole: bool = True) -> Tally:
    """All stories together."""
    tally = Tally()
    for story in stories:
        run(story, share, whole=whole, tally=tally)
    return tally


def main() -> None:
    """Print the tables."""
    whole = "--chunk" not in sys.argv
    sets = story_sets()
    for name, stories in {**sets, "all": [one for part in sets.values() for one in part]}.items():
        print(f"\n{name} ({len(stories)} sessions, five generations)")
        tallies = [measure(stories, share, whole=whole) for share in SHARES]
        print(f"  {'':<12}" + "".join(f"{share:>12.0%}" for share in SHARES))
        for kind in FactKind:
            if any(tally.facts[kind] for tally in tallies):
                row = "".join(f"{tally.share(kind):>12}" for tally in tallies)
                print(f"  {kind:<12}{row}")
        row = "".join(f"{f'{tally.alive}/{tally.planted}':>12}" for tally in tallies)
        print(f"  {'planted':<12}{row}")
        row = "".join(f"{len(tally.wrong):>12}" for tally in tallies)
        print(f"  {'wrong':<12}{row}")
        if "--lost" in sys.argv:
            for share, tally in zip(SHARES, tallies, strict=True):
                for line in (*tally.lost, *tally.wrong):
                    print(f"      {share:.0%} {line}")


if __name__ == "__main__":
    main()
