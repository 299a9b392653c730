"""A template before it is put in force: the exact request in which it would be sent at an entry,
built by the functions that build what is sent; and two versions of it tried on saved sessions, with
what is found of either.

Reads payloads: meant for a worker thread. Nothing is stored in any session, and no draft is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.findings import Fidelity, Group
from explorer.audit.generations import compactions_on_path
from explorer.audit.words import GROUP_TITLES
from explorer.compaction.branch_summaries import branch_request
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import Lack, SummaryRequest, build_requests, build_verify_request
from explorer.compaction.summary import finish
from explorer.compaction.templates import Templates, fill
from explorer.models.client import ModelClient, Models
from explorer.services.agent import InFolder, system_prompt
from explorer.services.document import Document
from explorer.services.draft_records import DraftFailed, SummaryOrder
from explorer.services.extension_review import review_of, with_review
from explorer.services.summary_audit import Auditor
from explorer.services.summary_call import SummaryCall
from explorer.session.text import well_formed
from explorer.settings.prompt_templates import load_prompt, load_templates, shipped_prompt
from explorer.settings.template_catalogue import TEMPLATES, TemplateInfo
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
    for entry in compactions_on_path(tree, document.leaf):
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


NO_SESSION = "Open a session to see the request with its conversation."
_EARLIER = "(The earlier summary stands here. None is in force at this entry.)"
_SUMMARY = "(The stored summary stands here. None is in force at this entry.)"


class Where(Struct, frozen=True):
    """The entry that is previewed, and what would be asked there."""

    document: Document | None
    shown: Partition | None
    """What the compaction at the entry would do."""
    instructions: str = ""
    model: str = ""
    tools: InFolder | None = None
    """The agent's tools, as far as they name a folder."""
    date: str = ""


class PromptPreview(Struct, frozen=True):
    """What would be sent with a text in it."""

    system: str
    """The system prompt; empty where the text is one, or stands alone."""
    prompt: str
    tokens: int
    """Of both, by the estimate that compaction uses."""
    shipped_tokens: int
    """The same with the text that came with the program."""
    note: str = ""
    """What is not as it would be sent, in a sentence; empty when all of it is."""
    at: int = 0
    """Where the text, or what surrounds it, begins in ``prompt``, in characters."""

    @property
    def more(self) -> int:
        """Tokens that it takes more than with the text that came along."""
        return self.tokens - self.shipped_tokens


def preview_prompt(name: str, text: str, where: Where) -> PromptPreview:
    """The request that ``text`` would be sent in under a name. Nothing is stored."""
    info = TEMPLATES[name]
    system, prompt, note = _built(info, {name: text}, where)
    before = _built(info, {name: shipped_prompt(name)}, where)
    first = text.split("{{")[0].strip().split("\n")[0]
    return PromptPreview(
        system,
        prompt,
        estimate_text(system) + estimate_text(prompt),
        estimate_text(before[0]) + estimate_text(before[1]),
        note,
        max(0, prompt.rfind(first)) if first else 0,
    )


Built = tuple[str, str, str]
"""System prompt, prompt, and what is not as it would be sent."""


def _built(info: TemplateInfo, texts: dict[str, str], where: Where) -> Built:
    name, text = info.name, texts[info.name]
    if info.group == "agent":
        return _agent(name, texts, where)
    if info.group in ("tools", "copilot", "recall") and not info.form:
        return "", _alone(info, text), _alone_note(info)
    templates = load_templates(texts)
    if info.group == "context" or name in ("branch-preamble", "reminder"):
        return _context_message(name, templates, where)
    if where.document is None or where.shown is None:
        system, prompt = (text, "") if name == "system" else ("", _alone(info, text))
        return system, prompt, NO_SESSION
    found = _REQUESTS.get(name, _summaries)(name, templates, where)
    if found is None:
        return "", _alone(info, text), "No request at this entry uses this text; it stands alone."
    request, note = found
    return request.system, request.prompt, note


def _alone(info: TemplateInfo, text: str) -> str:
    """A text with its variables replaced by what they stand for."""
    return fill(
        text, {variable.name: f"({variable.about.rstrip('.')})" for variable in info.variables}
    )


def _alone_note(info: TemplateInfo) -> str:
    return "Variables stand for what they are filled with." if info.variables else ""


def _context_message(name: str, templates: Templates, where: Where) -> Built:
    if name == "reminder":
        reminder = templates.reminded(["The summarizer's answer is empty."])
        return "", reminder, "The problem named is an example."
    if name == "branch-preamble":
        return "", f"{templates.branch_preamble}\n\n{_SUMMARY}", ""
    summary, document, shown = "", where.document, where.shown
    if document is not None and shown is not None and isinstance(shown.preparation, Preparation):
        summary = document.compaction.previous_summary(shown.preparation) or ""
    note = "" if summary else "No summary is in force at this entry."
    if name == "branch-context":
        return "", templates.branch_message(_SUMMARY), ""
    if name == "conversation-summary-context":
        templates = replace(templates, compaction_context=templates.conversation_summary_context)
    return "", templates.compaction_message(summary or _SUMMARY), note


def _agent(name: str, texts: dict[str, str], where: Where) -> Built:
    template = load_prompt("agent", texts)
    values = {"folder": where.tools.folder if where.tools is not None else "(the workspace)"}
    if name in ("agent-changes", "agent-looks"):
        filled = fill(texts[name], values)
        return "", fill(template, {"workspace": filled, "date": ""}).strip(), ""
    if name == "agent-no-workspace":
        return "", fill(template, {"workspace": texts[name], "date": ""}).strip(), ""
    if name == "agent-date":
        today = fill(texts[name], {"date": where.date})
        workspace = load_prompt("agent-no-workspace")
        return "", fill(template, {"workspace": workspace, "date": today}).strip(), ""
    if name in ("continue", "omp-continue"):
        return "", texts[name], ""
    return "", system_prompt(template, None, where.date), "As without a workspace."


Found = tuple[SummaryRequest, str] | None


def _summaries(name: str, templates: Templates, where: Where) -> Found:
    """The request of a compaction that uses a text."""
    document, shown, info = where.document, where.shown, TEMPLATES[name]
    assert document is not None and shown is not None
    prepared, note = shown.preparation, ""
    if not isinstance(prepared, Preparation):
        return None
    if info.sections and info.sections != prepared.profile.sections:
        note = f"As with the sections of {info.sections}; the profile here asks for others."
        prepared = replace(prepared, profile=_with_sections(prepared.profile, info.sections))
    previous = document.compaction.previous_summary(prepared)
    if name.endswith("history-first") and previous:
        previous, note = None, "As if no summary came before; one is in force at this entry."
    if name.endswith("history-update") and not previous:
        previous, note = _EARLIER, "As if a summary came before; none is in force at this entry."
    instructions = where.instructions
    if name == "custom-instructions" and not instructions:
        instructions, note = "(What the person types.)", "No instructions are typed."
    limit = document.models.info(where.model).output_limit if where.model else None
    requests = build_requests(
        prepared,
        document.payloads.sent.entries,
        previous,
        instructions,
        templates,
        model_limit=limit,
    )
    wanted = {"turn-prefix": "turn_prefix", "short": "short"}.get(name, "history")
    found = next((request for request in requests if request.purpose == wanted), None)
    if found is None and name in ("system", "custom-instructions"):
        found = next(iter(requests), None)
    if found is not None and name == "continued" and found.material is not None:
        note = "As from the second part of a record that is read in parts."
        found = replace(found, prompt=templates.going_on(found.material.words))
    return (found, note) if found is not None else None


def _with_sections(profile: Profile, sections: str) -> Profile:
    return replace(profile, sections=sections)


def _branch(name: str, templates: Templates, where: Where) -> Found:
    """The request that would be sent on leaving the whole path."""
    document, shown, info = where.document, where.shown, TEMPLATES[name]
    assert document is not None and shown is not None
    if len(shown.path) < 2:
        return None
    plan = document.navigation.plan(shown.path[0], shown.path[-1])
    profile = _with_sections(shown.preparation.profile, info.sections)
    settings: Settings = shown.preparation.settings
    prepared = document.branches.preparation(plan, profile, settings)
    request = branch_request(
        prepared, document.payloads.sent.entries, where.instructions, templates, replace=False
    )
    note = "As on leaving this path for its beginning."
    return (request, note) if request is not None else None


def _verify(_name: str, templates: Templates, where: Where) -> Found:
    """The request with an example of what a check would find."""
    document, shown = where.document, where.shown
    assert document is not None and shown is not None
    prepared = shown.preparation
    if not isinstance(prepared, Preparation):
        return None
    summary = (
        document.compaction.previous_summary(prepared) or "## Goal\n(The draft's text stands here.)"
    )
    example = Lack("lost", "path", "src/example.py", "", -1, "")
    try:
        asked = build_verify_request(
            summary, [example], templates, prepared.profile, prepared.settings,
            max(estimate_text(summary) * 4, 1_000),
        )  # fmt: skip
    except ValueError:
        return None
    return asked.request, "The summary and what is lost are examples: check a draft to see its own."


_REQUESTS: dict[str, Callable[[str, Templates, Where], Found]] = {
    "branch": _branch,
    "omp-branch": _branch,
    "pi-branch": _branch,
    "verify": _verify,
    "verify-system": _verify,
}
