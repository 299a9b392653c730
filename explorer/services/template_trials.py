"""Two versions of a template tried on saved sessions: what is found of either.

Nothing is stored in any session, and no draft is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.findings import Fidelity, Group
from explorer.audit.recorded_compaction import compactions_on_path
from explorer.audit.words import GROUP_TITLES
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest, build_requests
from explorer.compaction.summary import finish
from explorer.compaction.templates import Templates
from explorer.models.client import ModelClient, Models
from explorer.services.document import Document
from explorer.services.extension_review import review_of, with_review
from explorer.services.summary_audit import Auditor
from explorer.services.summary_call import SummaryCall
from explorer.services.summary_request import DraftFailed, SummaryOrder
from explorer.session.text import well_formed
from explorer.settings.prompt_templates import load_templates
from explorer.settings.template_catalogue import TEMPLATES
from explorer.tokens.estimate import estimate_text

_TRIED = frozenset({"system", "turn-prefix", "continued"})
NOT_USED = "This text is not used here."


class TrialPoint(Struct, frozen=True):
    """A place where a compaction was made, or would be."""

    key: int
    """The session."""
    leaf: int
    """The entry at which it is prepared."""
    title: str


class TrialCost(Struct, frozen=True):
    """What a trial would take at most."""

    calls: int
    input_tokens: int
    """By the estimate."""
    output_tokens: int
    """What the answers may take at most."""
    dollars: float | None
    """None where the model's prices are not known; 0 of a model without a price."""


class TrialResult(Struct, frozen=True):
    """One version at one place."""

    point: TrialPoint
    which: int
    """0 of the first version, 1 of the second."""
    summary: str = ""
    fidelity: Fidelity | None = None
    problem: str = ""
    """Why there is no summary, in a sentence."""


def can_be_tried(name: str) -> bool:
    """Whether a template has a part in a compaction's summary."""
    return name in _TRIED or TEMPLATES[name].form in ("history", "turn_prefix")


def points_of(document: Document, profile: Profile, settings: Settings) -> tuple[TrialPoint, ...]:
    """Where a session was compacted on its active path, and where it would be now."""
    tree, found = document.tree, []
    for entry in compactions_on_path(tree, document.leaf) if document.leaf >= 0 else ():
        above = tree.columns.parent[entry]
        if above >= 0:
            found.append(TrialPoint(document.key, above, f"before compaction #{entry}"))
    shown = document.compaction.preview(None, profile, settings)
    if isinstance(shown.preparation, Preparation):
        found.append(TrialPoint(document.key, document.leaf, "at the leaf"))
    return tuple(found)


class Trial:
    """Tries two texts under one name, place by place. One event loop's thread."""

    def __init__(
        self,
        open_document: Callable[[int], Document],
        client: ModelClient,
        name: str,
        texts: tuple[str, str],
        profile: Profile,
        settings: Settings,
    ) -> None:
        """``open_document``: gives the session of a key; called in a worker thread. Raises
        ValueError for a text that cannot be tried."""
        if not can_be_tried(name):
            raise ValueError("Only texts that a compaction's summary is made with can be tried.")
        self._open = open_document
        self._client = client
        info = TEMPLATES[name]
        if info.sections and info.sections != profile.sections:
            profile = replace(profile, sections=info.sections)
        self._name, self._texts = name, texts
        # The sentences for display are no part of what is audited.
        self._profile = replace(profile, short_summary=False)
        self._settings = settings
        self._auditors: dict[int, Auditor] = {}

    def cost(self, points: Sequence[TrialPoint], model: str) -> TrialCost:
        """What trying at these places would take at most. Blocks: payloads are read."""
        calls = given = written = 0
        for point in points:
            for which in (0, 1):
                prepared = self._prepared(point, which, model)
                requests = prepared.requests if prepared is not None else ()
                calls += len(requests)
                given += sum(estimate_text(r.system) + estimate_text(r.prompt) for r in requests)
                written += sum(request.max_output_tokens for request in requests)
        return TrialCost(calls, given, written, self._dollars(model, given, written))

    def _dollars(self, model: str, given: int, written: int) -> float | None:
        if model.startswith("offline/"):
            return 0.0
        info = self._client.info(model)
        if info.input_price is None or info.output_price is None:
            return None
        return given * info.input_price + written * info.output_price

    async def run(
        self,
        points: Sequence[TrialPoint],
        order: SummaryOrder,
        on_result: Callable[[TrialResult], None],
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> tuple[TrialResult, ...]:
        """Summarize at every place with either text. What fails is a result with its problem.
        Raises Cancelled; ``on_result`` had the results until then."""
        results: list[TrialResult] = []
        models: dict[int, Models] = {}
        total = 2 * len(points)
        for point in points:
            for which in (0, 1):
                result = await self._one(point, which, order, models)
                results.append(result)
                on_result(result)
                on_progress(len(results), total)
        return tuple(results)

    async def _one(
        self, point: TrialPoint, which: int, order: SummaryOrder, models: dict[int, Models]
    ) -> TrialResult:
        """``models``: by session, so that a session's consent is asked for once in a trial."""
        prepared = await asyncio.to_thread(self._prepared, point, which, order.model)
        if prepared is None:
            return TrialResult(point, which, problem=NOT_USED)
        review = await review_of(prepared.document, order.cancel)
        limits = prepared.document.compaction.plan(prepared.shown).limits(prepared.requests)
        if point.key not in models:
            models[point.key] = prepared.document.models.for_one_summary()
        call = SummaryCall(
            models[point.key], with_review(order, review), prepared.templates, self._profile,
            prepared.requests, limits,
        )  # fmt: skip
        try:
            await call.run()
        except DraftFailed as error:
            return TrialResult(point, which, problem=str(error))
        texts = {part.purpose: part.text for part in call.parts}
        summary = well_formed(
            finish(
                prepared.prepared, texts.get("history", ""), texts.get("turn_prefix", ""),
                prepared.previous,
            )
        )  # fmt: skip
        auditor = self._auditors.setdefault(point.key, Auditor(prepared.document))
        fidelity = await asyncio.to_thread(
            lambda: auditor.draft(prepared.shown, summary, cancelled=lambda: False).fidelity
        )
        return TrialResult(point, which, summary, fidelity)

    def _prepared(self, point: TrialPoint, which: int, model: str) -> _Prepared | None:
        """What is asked at a place; None where the text has no part in it."""
        document = self._open(point.key)
        shown = document.compaction.preview(point.leaf, self._profile, self._settings)
        prepared = shown.preparation
        if not isinstance(prepared, Preparation):
            return None
        previous = document.compaction.previous_summary(prepared)
        form = TEMPLATES[self._name].form
        if form == "history" and self._name.endswith("first") == bool(previous):
            return None
        if form == "turn_prefix" and not prepared.turn_prefix:
            return None
        templates = load_templates({self._name: self._texts[which]})
        requests = build_requests(
            prepared, document.payloads.sent.entries, previous, "", templates,
            model_limit=document.models.info(model).output_limit,
        )  # fmt: skip
        return _Prepared(document, shown, prepared, previous, templates, tuple(requests))


class _Prepared(Struct, frozen=True):
    document: Document
    shown: Partition
    prepared: Preparation
    previous: str | None
    templates: Templates
    requests: tuple[SummaryRequest, ...]


def changes(results: Sequence[TrialResult]) -> Mapping[str, tuple[int, int]]:
    """What is found of either version's summaries by group, and their tokens, over the places at
    which both gave a summary; empty where there is no such place."""
    pairs = _pairs(results)
    if not pairs:
        return {}
    found = {GROUP_TITLES[group].lower(): _sums(pairs, _count(group)) for group in Group}
    return {**found, "tokens": _sums(pairs, lambda found: found.tokens_after)}


def _count(group: Group) -> Callable[[Fidelity], int]:
    return lambda found: len(found.of(group))


def _pairs(results: Sequence[TrialResult]) -> list[tuple[Fidelity, Fidelity]]:
    by_place: dict[TrialPoint, dict[int, Fidelity]] = {}
    for result in results:
        if result.fidelity is not None:
            by_place.setdefault(result.point, {})[result.which] = result.fidelity
    return [(both[0], both[1]) for both in by_place.values() if len(both) == 2]


def _sums(
    pairs: Sequence[tuple[Fidelity, Fidelity]], number: Callable[[Fidelity], int]
) -> tuple[int, int]:
    return sum(number(one) for one, _ in pairs), sum(number(other) for _, other in pairs)
