"""The exact request in which a template would be sent at an entry, before it is put in force.

Built by the functions that build what is sent. Reads payloads: meant for a worker thread.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from explorer.compaction.branch_summaries import branch_request
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.compaction.requests import SummaryRequest, build_requests
from explorer.compaction.templates import Templates, fill
from explorer.compaction.verification_request import Lack, build_verify_request
from explorer.services.agent import InFolder, system_prompt
from explorer.services.document import Document
from explorer.settings.prompt_templates import load_prompt, load_templates, shipped_prompt
from explorer.settings.template_catalogue import TEMPLATES, TemplateInfo
from explorer.tokens.estimate import estimate_text

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
