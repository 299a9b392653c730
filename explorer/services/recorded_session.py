"""A recorded session, read once for what is done with it again: replayed, with its messages,
replies and tool results, and which entry of the replay stands for which of the recording; or walked
under other rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.simulation import (
    Assumptions,
    KnownRun,
    Past,
    Policy,
    Prices,
    RecordedPrompt,
    Tier,
    past_of,
)
from explorer.audit.simulation.policy import CACHE_MINUTES
from explorer.compaction.context_size import last_report
from explorer.compaction.profile import Profile
from explorer.models.catalogue import cache_hour_price
from explorer.models.client import ModelInfo
from explorer.services.document import Document
from explorer.session.edit_entries import ShapeFacts, shape_data
from explorer.session.entries import AssistantMessage, Body, ToolResultMessage
from explorer.session.kinds import Flag, Kind
from explorer.session.tree import SessionTree

COPIED = frozenset(
    {
        Kind.BASH_EXECUTION,
        Kind.CUSTOM_ROLE,
        Kind.SYSTEM,
        Kind.PYTHON_EXECUTION,
        Kind.FILE_MENTION,
        Kind.OTHER_ROLE,
        Kind.CUSTOM_MESSAGE,
        Kind.BRANCH_SUMMARY,
    }
)
"""Entries that the model sees and that neither a user nor a model wrote: they are copied."""
"""Fields that differ with the place of an entry."""

StepKind = Literal["prompt", "reply", "copy"]


class ReplayStep(Struct, frozen=True):
    """One message of the replay. ``entry`` is its index in the recorded session."""

    kind: StepKind
    entry: int


class RecordedSession(Struct, frozen=True):
    """The path to a leaf, in the order in which it is replayed.

    Compactions, prunes, changes of the model and replies that failed or were stopped are left out:
    a replay decides them anew. What a user pinned, omitted or kept is copied.
    """

    document: Document
    leaf: int
    """The entry that the path leads to."""
    steps: Sequence[ReplayStep]
    results: Mapping[int, Sequence[int]]
    """The tool results that follow a reply, by the reply's entry."""

    def __len__(self) -> int:
        return len(self.steps)

    def body(self, entry: int) -> Body:
        """What an entry of the recorded session says."""
        return self.document.payloads.stored.entry(entry).body

    def copied(self, entry: int) -> Body:
        """What an entry says, to be copied; a reply without its usage, which is of another
        context."""
        body = self.body(entry)
        return replace(body, usage=None) if isinstance(body, AssistantMessage) else body

    def replies(self, steps: Sequence[ReplayStep]) -> list[AssistantMessage]:
        """The replies of some steps."""
        bodies = (self.body(step.entry) for step in steps)
        return [body for body in bodies if isinstance(body, AssistantMessage)]

    def answers(self, reply: int) -> dict[str, ToolResultMessage]:
        """The results of a reply's calls by the id of the call."""
        bodies = (self.body(entry) for entry in self.results.get(reply, ()))
        return {body.call_id: body for body in bodies if isinstance(body, ToolResultMessage)}


def recorded_session(document: Document, leaf: int | None = None) -> RecordedSession:
    """The recording of the path to an entry, by default the session's leaf."""
    columns = document.tree.columns
    steps: list[ReplayStep] = []
    results: dict[int, list[int]] = {}
    last = -1
    leaf = document.leaf if leaf is None else leaf
    for entry in document.tree.path(leaf).indices():
        kind = Kind(columns.kind[entry])
        if kind is Kind.TOOL_RESULT:
            results.setdefault(last, []).append(entry)
        elif _is_shape(document, entry):
            steps.append(ReplayStep("copy", entry))
        elif step := _step(kind, columns.flags[entry], entry):
            last = entry if step.kind == "reply" else last
            steps.append(step)
    return RecordedSession(document, leaf, steps, results)


def _step(kind: Kind, flags: int, entry: int) -> ReplayStep | None:
    if kind is Kind.USER:
        return ReplayStep("prompt", entry)
    if kind is Kind.ASSISTANT:
        return None if flags & (Flag.ERROR | Flag.ABORTED) else ReplayStep("reply", entry)
    return ReplayStep("copy", entry) if kind in COPIED else None


def _is_shape(document: Document, entry: int) -> bool:
    return entry in document.tree.columns.shapes


class Scene(Struct, frozen=True):
    """What is replayed in one go: the message that opens it, and the replies that follow."""

    opening: ReplayStep | None
    replies: Sequence[ReplayStep]
    first: int
    """Position of its first step in the recording."""


def scenes(play: RecordedSession, start: int = 0) -> Iterator[Scene]:
    """The recording from a step on, cut before every message that is not a reply."""
    at = start
    while at < len(play.steps):
        first, opening = at, None
        if play.steps[at].kind != "reply":
            opening, at = play.steps[at], at + 1
        end = at
        while end < len(play.steps) and play.steps[end].kind == "reply":
            end += 1
        yield Scene(opening, play.steps[at:end], first)
        at = end


_PAIRED = (Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT)


class EntryMap:
    """Ids of the recording, with the ids of the entries that stand for them in the replay."""

    def __init__(self, recorded: SessionTree, played: SessionTree) -> None:
        self._recorded, self._played = recorded, played
        self._found: dict[str, str] = {}

    def copied(self, entry: int, twin: int) -> None:
        """Note that an entry was copied unchanged."""
        self._found[self._recorded.columns.ids[entry]] = self._played.columns.ids[twin]

    def played(self, entries: Sequence[int], made: Sequence[int]) -> None:
        """Messages of the recording were played, in order, and these entries came of it: paired
        kind by kind, as far as both go."""
        for kind in _PAIRED:
            ours = [at for at in entries if self._recorded.columns.kind[at] == kind]
            theirs = [at for at in made if self._played.columns.kind[at] == kind]
            for entry, twin in zip(ours, theirs, strict=False):
                self.copied(entry, twin)

    def shape(self, facts: ShapeFacts) -> dict[str, Any] | None:
        """The data of a pin, an omission or a rule of the replay that means the same; None where
        nothing of what it names was played."""
        known: Mapping[str, str] = self._found
        twin = facts._replace(
            entries=tuple((known[name], tokens) for name, tokens in facts.entries if name in known),
            lifts=tuple(known[name] for name in facts.lifts if name in known),
            undoes=known.get(facts.undoes, ""),
        )
        says = twin.entries or twin.lifts or twin.undoes or twin.tokens >= 0
        return shape_data(twin) if says else None


def read_past(
    document: Document, leaf: int, policy: Policy, assumptions: Assumptions | None = None
) -> Past:
    """The path to an entry as it was recorded. ``policy``: whose window and threshold the recorded
    line is shown with. Blocks for a moment with long sessions; reads no texts."""
    weights = document.tokens.weights_for(policy.profile)
    known = KnownRun(
        weights=None if weights is None else list(weights),
        prompts=dict(_prompts(document, leaf)) if document.usage.is_whole else {},
    )
    return past_of(document.tree, leaf, known=known, assumptions=assumptions, policy=policy)


def _prompts(document: Document, leaf: int) -> Iterator[tuple[int, RecordedPrompt]]:
    """By reply, the prompts that were reported."""
    tree = document.tree
    for entry in tree.path(leaf):
        if tree.columns.usage[entry] > 0 and not tree.columns.is_counted_here(entry):
            spent = document.usage.of(entry).replies
            whole = spent.input + spent.cache_read + spent.cache_write
            if whole:
                yield entry, RecordedPrompt(whole, spent.cache_read)


_MOSTLY, _HOUR = 0.5, 60.0


def assumptions_for(
    document: Document, profile: Profile, assumptions: Assumptions | None = None
) -> Assumptions:
    """What is assumed of a document: its orders to summarizers are counted as they are worded, and
    a cache lasts an hour where most of what its replies wrote into one went there for an hour."""
    taken = assumptions or Assumptions()
    if taken.cache_minutes == CACHE_MINUTES and hour_share(document) > _MOSTLY:
        taken = replace(taken, cache_minutes=_HOUR)
    if taken.order_tokens:
        return taken
    words = document.shared.templates
    asked = words.system + words.sections[profile.sections].history_update
    return replace(taken, order_tokens=document.tokens.count_text(asked, profile))


def hour_share(document: Document) -> float:
    """Which part of what the replies up to the leaf wrote into a cache went there for an hour, 0 to
    1; as long as they are not all read, of the last one that reports anything, which it reads."""
    if document.usage.is_whole:
        spent = document.usage.branch(document.leaf).replies
        return spent.cache_write_1h / spent.cache_write if spent.cache_write else 0.0
    reply = last_report(document.tree, document.tree.path(document.leaf), 1)
    usage = document.payloads.stored.entry(reply).usage if reply >= 0 else None
    if usage is None or not usage.cache_write:
        return 0.0
    return usage.cache_write_1h / usage.cache_write


def prices_of(info: ModelInfo, for_hour: float = 0.0) -> Prices | None:
    """A model's prices; None where they are not known. ``for_hour``: which part of what goes into a
    cache goes there for an hour."""
    into, out = info.input_price, info.output_price
    if into is None or out is None:
        return None
    cache = _CachePrices(info.cache_read_price, info.cache_write_price, info.cache_write_1h_price)
    base, tiers = cache.with_others(info.id, into, out, for_hour), []
    for tier in info.tiers:
        into = into if tier.input_price is None else tier.input_price
        out = out if tier.output_price is None else tier.output_price
        cache = _CachePrices(
            cache.read if tier.cache_read_price is None else tier.cache_read_price,
            cache.write if tier.cache_write_price is None else tier.cache_write_price,
            cache.write_1h if tier.cache_write_1h_price is None else tier.cache_write_1h_price,
        )
        tiers.append(Tier(tier.above, cache.with_others(info.id, into, out, for_hour)))
    return replace(base, tiers=tuple(tiers))


class _CachePrices(NamedTuple):
    """Of tokens from a cache, and of those that go there for minutes and for an hour; None where
    none is listed."""

    read: float | None
    write: float | None
    write_1h: float | None

    def with_others(self, model: str, into: float, out: float, for_hour: float) -> Prices:
        """Tokens from or into a cache cost what others do, where no separate price is known."""
        minutes = into if self.write is None else self.write
        hour = cache_hour_price(model, into, minutes, self.write_1h)
        return Prices(
            read=into,
            write=out,
            cached=into if self.read is None else self.read,
            into_cache=minutes if hour is None else minutes + for_hour * (hour - minutes),
        )
