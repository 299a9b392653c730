"""How many planted facts live through five summaries of summaries, at three budgets.

    python -m tests.models.survival            prints the table
    python -m tests.models.survival --lost     and names what was lost
    python -m tests.models.survival --whole    budgets are shares of all the text so far

A fact counts as alive when its exact text (blanks made equal) is in the summary. That is
an upper bound of what a reader would find.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field

from explorer.models.offline.extractive import summarize
from explorer.models.request import ChatMessage, ModelRequest
from explorer.tokens.estimate import estimate_text
from tests.models.planting import GENERATIONS, Story, make_story
from tests.models.stories import held_out_stories, tuning_stories

SHARES = (0.10, 0.20, 0.30)
TEMPLATE = """Write a summary of the conversation above in this shape:

## Goal
[what the user wants]

## Constraints & Preferences
- [rules]

## Progress
### Done
- [x] [finished]

### In Progress
- [ ] [current]

### Blocked
- [problems]

## Key Decisions
- [decision and reason]

## Next Steps
1. [ordered]

## Critical Context
- [what is needed to go on]
"""


def summary_request(
    conversation: str, previous: str = "", limit: int | None = None, template: str = TEMPLATE
) -> ModelRequest:
    """The request that a summary pass makes."""
    text = f"<conversation>\n{conversation}\n</conversation>\n\n"
    if previous:
        text += f"<previous-summary>\n{previous}\n</previous-summary>\n\n"
    messages = (
        ChatMessage("system", "You summarize conversations between a user and a coding agent."),
        ChatMessage("user", text + template),
    )
    return ModelRequest("offline/extractive", messages, max_output_tokens=limit)


@dataclass
class Outcome:
    """What was found after each generation. Keys of the counters are kinds of facts."""

    alive: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    planted: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    lost: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    oversize: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)

    def merge(self, other: Outcome) -> None:
        """Add another story's outcome."""
        for kind, count in other.planted.items():
            self.planted[kind] += count
            self.alive[kind] += other.alive[kind]
        self.lost += other.lost
        self.stale += other.stale
        self.oversize += other.oversize

    @property
    def rate(self) -> float:
        """Alive facts among all, 0 to 1."""
        return sum(self.alive.values()) / max(1, sum(self.planted.values()))


def measure(story: Story, share: float, whole_text: bool = False) -> Outcome:
    """Summarize generation after generation; count in the last summary.

    The budget is `share` of the tokens of one chunk, or of all text so far.
    """
    outcome = Outcome()
    previous = ""
    so_far = 0
    for number, chunk in enumerate(story.chunks, 1):
        tokens = estimate_text(chunk)
        so_far += tokens
        limit = int((so_far if whole_text else tokens) * share)
        previous = summarize(summary_request(chunk, previous, limit), lambda: False)
        if estimate_text(previous) > limit:
            outcome.oversize.append(f"{story.name} generation {number}")
        outcome.summaries.append(previous)
        _check_stale(story, number, previous, outcome)
    flat = flatten(previous)
    for fact in story.facts:
        if fact.changed_in:
            continue
        if fact.kind == "latest request" and fact.generation != len(story.chunks):
            continue
        outcome.planted[fact.kind] += 1
        if holds(flat, fact.needle):
            outcome.alive[fact.kind] += 1
        else:
            outcome.lost.append(
                f"{story.name} {share:.0%} g{fact.generation} {fact.kind}: {fact.needle}"
            )
    return outcome


def _check_stale(story: Story, generation: int, summary: str, outcome: Outcome) -> None:
    flat = flatten(summary)
    for fact in story.facts:
        if fact.changed_in and generation >= fact.changed_in and holds(flat, fact.needle):
            outcome.stale.append(f"{story.name} g{generation} {fact.kind}: {fact.needle}")


def flatten(text: str) -> str:
    """Blanks made equal, backticks and emphasis taken out."""
    return " ".join(re.sub(r"[`*]", "", text).split()).lower()


def holds(flat: str, needle: str) -> bool:
    """Whether a text holds a needle, a number not as part of a longer one."""
    wanted = flatten(needle).rstrip(".?!")
    return re.search(rf"(?<![\w.]){re.escape(wanted)}(?![\w]|-\w)", flat) is not None


def measure_all(stories: list[Story], share: float, whole_text: bool = False) -> Outcome:
    """All stories together."""
    total = Outcome()
    for story in stories:
        total.merge(measure(story, share, whole_text))
    return total


def story_sets() -> dict[str, list[Story]]:
    """The four sets by name."""
    return {
        "generated, tuning": [make_story(seed, held_out=False) for seed in range(6)],
        "generated, held out": [make_story(seed, held_out=True) for seed in range(6)],
        "written, tuning": tuning_stories(),
        "written, held out": held_out_stories(),
    }


def main() -> None:
    """Print the table."""
    show_lost = "--lost" in sys.argv
    for name, stories in story_sets().items():
        print(f"\n{name} ({len(stories)} stories, {GENERATIONS} generations)")
        for share in SHARES:
            total = measure_all(stories, share, "--whole" in sys.argv)
            kinds = ", ".join(
                f"{kind} {total.alive[kind]}/{count}"
                for kind, count in sorted(total.planted.items())
            )
            print(f"  {share:.0%}: {total.rate:.1%}  stale {len(total.stale)}  {kinds}")
            if show_lost:
                for line in (*total.lost, *(f"STALE {s}" for s in total.stale), *total.oversize):
                    print(f"      {line}")


if __name__ == "__main__":
    main()
