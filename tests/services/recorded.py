"""What the services tell of the bundled session and of made ones, as tables:
``python -m tests.services.recorded`` writes them anew.

Most of it has tests of its own that say why it is so. The tables say the whole of it: every verdict
and its reason, every answer of a lesson, every message of a request, under every profile. After a
change that is meant, look at their difference.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import fields, replace

from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.models.client import ModelInfo
from explorer.services.agent import outgoing_of
from explorer.services.document import Document
from explorer.services.edits import CannotShape
from explorer.services.lessons.answer import NoAnswer, Prediction, answer_words, judge, situation_at
from explorer.services.lessons.answers import ANSWERS
from explorer.services.lessons.lesson import Step
from explorer.services.lessons.places import PLACES, find_place
from explorer.services.recall import (
    RecallOrder,
    RecallRefused,
    compaction_context,
    draft_context,
    plan_tests,
)
from explorer.services.sent_context import sent_context
from explorer.services.session_audit import audit_session, begun_row
from explorer.services.session_files import transcripts_of
from explorer.services.session_forks import plan_fork
from explorer.services.skeleton import skeleton
from explorer.services.summary_audit import Auditor, entry_candidate
from explorer.services.template_trials import Where, preview_prompt
from explorer.services.transcript import Numbered, turns
from explorer.services.verification import check, request_for
from explorer.session.kinds import Kind
from explorer.settings.prompt_templates import shipped_prompt
from explorer.settings.template_catalogue import TEMPLATES
from tests.compaction.mixed_sessions import session_of
from tests.formats.files import header, write
from tests.generated import write_session
from tests.services.clock import SAMPLE
from tests.services.conftest import close_bench, open_bench
from tests.tables import short, shown

PLACE = Path(__file__).parent / "data"
_RARE = 2
"""The seed of the session of rare things."""


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


def sent(document: Document) -> Iterator[str]:
    """What a request at some entries is made of, and what is not sent of their context."""
    columns = document.tree.columns
    ends = [document.leaf, *(columns.parent[at] for at in columns.compactions)]
    for name, profile in PROFILES.items():
        for at in dict.fromkeys(ends):
            outgoing = outgoing_of(document.shared.agent_prompt, "p/m", None)
            found = sent_context(document, profile, replace(outgoing, pictures=at % 2 == 0), at)
            yield f"== {name} at #{at}: {found.sent_tokens} tokens"
            yield shown(found.tokens)
            yield shown([(one.role, one.source, one.text) for one in found.messages])
            yield shown([found.unsent, found.changed])
    for at in range(0, len(document.tree), 7):
        opens = [call.id for call in document.agent.open_calls(at)]
        yield f"#{at}: {document.tokens.shown_tokens(at)} tokens, open {opens}"


def moves(document: Document) -> Iterator[str]:
    """Where going to an entry, summarizing from it on, and forking there leads."""
    for at in range(-1, len(document.tree), 3):
        yield shown(document.navigation.plan(at, anew=at % 2 == 0))
        for name in ("explorer", "pi", "pyagent"):
            try:
                yield f"  {name}: {shown(document.navigation.plan_from(at, PROFILES[name]))}"
            except CannotShape as error:
                yield f"  {name}: {error}"
        if at >= 0:
            plan = plan_fork(document.tree, at, whole=at % 4 == 0)
            yield f"  fork: {shown(plan)} {plan.notes()}"


def audits(document: Document) -> Iterator[str]:
    """What the audit finds, in rows; what a draft lacks, and how stored summaries were made."""
    asyncio.run(document.usage.follow())
    row = replace(begun_row(document.row, "position", "rules"), program="", file="")
    found = audit_session(document, document.usage.branch(document.leaf), row)
    yield shown(found.row)
    for rows in (found.compactions, found.findings, found.needed):
        yield from map(shown, rows)
    auditor = Auditor(document)
    columns = document.tree.columns
    profile = PROFILES["explorer"]
    settings = replace(Settings.of(profile), keep_recent_tokens=100)
    for entry in [*columns.compactions, *columns.branches]:
        yield shown(entry_candidate(document, entry))
    for entry in columns.compactions:
        yield shown(document.tokens.sizes_around(entry))
        parts = document.compaction.preview(columns.parent[entry], profile, settings)
        text = document.payloads.shown.entry(entry).summary
        try:
            checked = check(document, auditor, parts, text.replace("5", "7"))
            yield from (f"  {shown(one)}" for one in checked.lacks)
            yield f"  {shown(request_for(document, checked, 'p/m').request.prompt)}"
        except ValueError as error:
            yield f"  {error}"


def recalled(document: Document) -> Iterator[str]:
    """What would be asked about each compaction, of models with windows of several sizes."""
    columns = document.tree.columns
    for window in (None, 30_000, 14_000, 900):
        model = ModelInfo("x/y", "", window, 2_500, input_price=1e-6, output_price=3e-6)
        forget = document.shared.client.serve(model, lambda _request, _emit, _cancelled: None)
        for entry in [*columns.compactions, 0]:
            for by in ("", "x/y"):
                yield f"== #{entry}, a window of {window}, judged by {by!r}"
                try:
                    context = compaction_context(document, entry)
                    (test,) = plan_tests(document, [context], RecallOrder("x/y", by))
                except RecallRefused as error:
                    yield str(error)
                    continue
                yield f"{test.cost_sentence} {shown(test.questions)}"
                yield from (one.sentence for one in test.views.values())
                for name, request in test.requests.items():
                    sent = [message.text for message in request.messages]
                    yield f"  {name} {shown([sent, request.max_output_tokens, request.tools])}"
        pairs = [
            compaction_context(document, at) for at in columns.compactions if _told(document, at)
        ]
        for at in (document.leaf, *(columns.parent[entry] for entry in columns.compactions)):
            profile = PROFILES["explorer"]
            sizes = replace(Settings.of(profile), keep_recent_tokens=window or 100)
            parts = document.compaction.preview(at, profile, sizes)
            try:
                made = draft_context(document, parts, "## Goal\nkept", 3)
                sources = [entry for entry, _ in made.after]
                yield shown([made.subject, made.leaf, sources, made.summarized])
            except RecallRefused as error:
                yield str(error)
        for one, other in pairwise(pairs):
            try:
                tests = plan_tests(document, [one, other], RecallOrder("x/y", questions=3, seed=2))
                yield shown([[each.questions, each.cost_sentence] for each in tests])
            except RecallRefused as error:
                yield str(error)
        forget()


def _told(document: Document, compaction: int) -> bool:
    return bool(document.payloads.shown.entry(compaction).summary.strip())


def read(document: Document) -> Iterator[str]:
    """The session as it is read from top to bottom, and each template in its request."""
    entries = range(len(document.tree))
    read = document.payloads.stored.entries(entries)
    for turn in turns(map(Numbered, entries, read)):
        yield f"== turn {turn.number}"
        yield from map(shown, turn.items)
    written = transcripts_of(document).write(document.tree, document.payloads.stored, document.leaf)
    yield f"== {written.lines} lines in {written.path.name}"
    yield from map(shown, written.path.read_text(encoding="utf-8").split("\n=== "))
    profile = PROFILES["explorer"]
    sizes = replace(Settings.of(profile), keep_recent_tokens=2_000)
    for at in (document.leaf, document.leaf // 2):
        where = Where(document, document.compaction.preview(at, profile, sizes), date="1 May")
        for name in TEMPLATES:
            found = preview_prompt(name, f"{shipped_prompt(name)}\n\nMore.", where)
            yield f"{name} at #{at}: {shown(found)}"


TABLES: Mapping[str, Callable[[Document], Iterator[str]]] = {
    "lessons": lessons, "previews": previews, "columns": columns, "sent": sent, "moves": moves,
    "audits": audits, "recalled": recalled, "read": read,
}  # fmt: skip


NAMES = [f"{table}_{session}" for session in ("bundled", "made", "rare") for table in TABLES]


def _rare(path: Path) -> Path:
    """A session in which rare things meet."""
    session = session_of(_RARE, steps=80)
    parents = session.tree.columns.parent

    def moment(at: int) -> str:
        return f"2026-01-05T{9 + at // 60:02}:{at % 60:02}:00.000Z"

    lines = [
        {**entry, "parentId": f"e{parent}" if parent >= 0 else None, "timestamp": moment(at)}
        for at, (entry, parent) in enumerate(zip(session.entries, parents, strict=True))
    ]
    return write(path, [header(), *lines])


def table(name: str, folder: Path) -> str:
    """One of ``NAMES``; ``folder`` takes the database."""
    told, _, session = name.partition("_")
    made = folder / "made.jsonl"
    file = SAMPLE
    if session != "bundled":
        file = _rare(made) if session == "rare" else write_session(made, 120, seed=2)
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
