"""What the services tell of the bundled session and of made ones, as tables:
``python -m tests.services.recorded`` writes them anew.

Most of it has tests of its own that say why it is so. The tables say the whole of it: every verdict
and its reason, every answer of a lesson, every message of a request, under every profile. After a
change that is meant, look at their difference.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import fields, replace

from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.services.document import Document
from explorer.services.lessons.answers import ANSWERS
from explorer.services.lessons.lesson import Step
from explorer.services.lessons.places import PLACES, find_place
from explorer.services.lessons.prediction import Prediction, answer_words, judge
from explorer.services.lessons.situation import NoAnswer, situation_at
from explorer.services.skeleton import skeleton
from explorer.session.kinds import Kind
from tests.generated import write_session
from tests.services.clock import SAMPLE
from tests.services.conftest import close_bench, open_bench
from tests.tables import short, shown

PLACE = Path(__file__).parent / "data"


def lessons(document: Document) -> Iterator[str]:
    """Every answer at every place, what is said of some entries, and how a guess is judged."""
    profile = PROFILES["explorer"]
    known = ""
    for name in PLACES:
        place = find_place(document, name, profile, Settings.of(profile))
        yield f"== {name}: {place and place.sentence}"
        if place is None or place.sentence == known:
            continue
        known = place.sentence
        now = situation_at(document, place)
        yield now.filled("{keep_recent} {reserve} {window} {at}")
        for answer_name, answer in ANSWERS.items():
            try:
                found = answer.find(now)
            except NoAnswer as error:
                yield f"{answer_name}: no answer, {error}"
                continue
            step = Step("", "", kind=answer.kinds[0])
            telling = [found.entries, found.cuts, found.number_text, found.chosen, found.options]
            yield f"{answer_name}: {found.reason}"
            yield f"  {answer_words(step, found)} {shown(telling)} selects {found.selected}"
            for entry in range(0, len(now.tree), 91):
                if found.explain is not None and (said := found.explain(entry)):
                    yield f"  #{entry} {said}"
            if found.entries or answer.kinds[0] != "entry":
                guess = Prediction(3, 4, frozenset(["yes"]), 7)
                yield f"  {judge(step, found, guess, now).difference}"


def previews(document: Document) -> Iterator[str]:
    """What each profile would do at the leaf and before each compaction, entry by entry, and what
    the summarizer would be sent."""
    columns = document.tree.columns
    ends = [document.leaf, *(columns.parent[at] for at in columns.compactions)]
    ends += document.tree.leaves()[:3]
    for name, profile in PROFILES.items():
        for size in (1_000, 8_000, profile.keep_recent_tokens):
            settings = replace(Settings.of(profile), keep_recent_tokens=size)
            for at in dict.fromkeys(ends):
                parts = document.compaction.preview(at, profile, settings)
                yield f"== {name} at #{at}, {size} tokens to keep"
                facts = {
                    one.name: getattr(parts, one.name)
                    for one in fields(parts)
                    if one.name not in ("path", "preparation")
                }
                yield shown(facts)
                yield shown([
                    parts.context_estimate, parts.tokens_summarized, parts.tokens_beyond,
                    parts.whole_before, parts.whole_after, parts.counted_by,
                ])  # fmt: skip
                yield shown(_reasons(parts.reason, len(parts.path)))
                made = parts.preparation
                if not isinstance(made, Preparation):
                    yield shown(_plain(made))
                    continue
                yield shown(_plain(made))
                yield shown([made.reason, made.keep, made.size, made.history, made.turn_prefix])
                for request in document.compaction.requests(parts):
                    yield shown(_plain(request))
        yield f"== the profiles at #{document.leaf}"
    for outcome in document.compaction.compare(document.leaf, PROFILES.values(), 100_000):
        yield shown(_plain(outcome))


def _reasons(reason: Callable[[int], str], length: int) -> list[str]:
    """What is said of each position, once for those next to each other."""
    said = [reason(at) for at in range(length)]
    return ["; ".join(said), *dict.fromkeys(said[:: max(1, length // 3)])]


def _plain(value: Struct) -> dict[str, Any]:
    """The fields that hold values, not the session."""
    left_out = ("cuts", "path", "tree", "view", "profile", "shown", "preparation")
    return {one.name: getattr(value, one.name) for one in fields(value) if one.name not in left_out}


def columns(document: Document) -> Iterator[str]:
    """Each entry as the tree has it, and the graph of the tree."""
    tree = document.tree
    found = tree.columns
    for at in range(len(tree)):
        yield (
            f"{at} {found.ids[at]} {Kind(found.kind[at]).name} under {found.parent[at]} "
            f"{found.flags[at]:x} {found.estimate[at]} tokens, number {tree.number(at)}, "
            f"{len(tree.path(at))} deep, {tree.children(at)}"
        )
    yield shown([tree.roots(), tree.leaves(), tree.branch_points(), tree.name(), tree.labels()])
    graph = skeleton(tree, document.leaf)
    yield from (f"{at} {shown(facts)}" for at, facts in graph.nodes(data=True))
    yield from (f"{one} to {other} {shown(facts)}" for one, other, facts in graph.edges(data=True))


TABLES: Mapping[str, Callable[[Document], Iterator[str]]] = {
    "lessons": lessons, "previews": previews, "columns": columns,
}  # fmt: skip


NAMES = [f"{table}_{session}" for session in ("bundled", "made") for table in TABLES]


def table(name: str, folder: Path) -> str:
    """One of ``NAMES``; ``folder`` takes the database."""
    told, _, session = name.partition("_")
    made = folder / "made.jsonl"
    file = SAMPLE if session == "bundled" else write_session(made, 120, seed=2)
    bench = open_bench(folder / "sessions.db")
    try:
        document = bench.open_blocking(bench.import_blocking(file).key)
        return "\n".join([*map(short, TABLES[told](document)), ""])
    finally:
        close_bench(bench)


if __name__ == "__main__":
    PLACE.mkdir(exist_ok=True)
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            (PLACE / f"{name}.txt").write_text(table(name, Path(folder)), encoding="utf-8")
