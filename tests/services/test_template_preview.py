"""Each text is shown in the request that it would be sent in, before it is put in force."""

from __future__ import annotations

from msgspec.structs import replace

from explorer.compaction.partition import Partition
from explorer.compaction.profile import PROFILES, Profile, Settings
from explorer.compaction.requests import build_requests
from explorer.services.document import Document
from explorer.services.template_trials import NO_SESSION, Where, preview_prompt
from explorer.session.kinds import Kind
from explorer.settings.prompt_templates import shipped_prompt
from explorer.settings.template_catalogue import TEMPLATES
from explorer.tokens.estimate import estimate_text

EXPLORER, OMP = PROFILES["explorer"], PROFILES["omp"]
SETTINGS = replace(Settings.of(EXPLORER), keep_recent_tokens=2_000)
FIRST = "As if no summary came before; one is in force at this entry."
UPDATE = "As if a summary came before; none is in force at this entry."
OTHER = "As with the sections of pi; the profile here asks for others."
LEAVING = "As on leaving this path for its beginning."
CHECKED = "The summary and what is lost are examples: check a draft to see its own."
ALONE = "No request at this entry uses this text; it stands alone."


class Tools:
    folder = "/work/here"


def before(document: Document, profile: Profile = EXPLORER) -> Partition:
    """What would be compacted right before the first compaction."""
    columns = document.tree.columns
    return document.compaction.preview(
        columns.parent[columns.kind.index(Kind.COMPACTION)], profile, SETTINGS
    )


def test_every_text_is_in_its_request_and_counted(document: Document) -> None:
    shown = before(document)
    for where in (Where(None, None), Where(document, shown, tools=Tools(), date="2026-01-02")):
        for name, info in TEMPLATES.items():
            shipped = shipped_prompt(name)
            found = preview_prompt(name, f"{shipped}\n\nAdded here.", where)
            assert (found.system + found.prompt).count("Added here.") == 1, name
            assert found.tokens == estimate_text(found.system) + estimate_text(found.prompt)
            assert 2 <= found.more <= 4 and found.more == found.tokens - found.shipped_tokens
            first = shipped.split("{{")[0].strip().split("\n")[0]
            is_in_prompt = "Added here." in found.prompt
            assert found.prompt.startswith(first, found.at) == is_in_prompt or not first, name
            is_asked = info.group in ("compaction", "branch", "verify")
            asks_alone = is_asked and name not in ("reminder", "branch-preamble")
            assert (found.note == NO_SESSION) == (asks_alone and where.document is None), name


def test_a_note_says_what_is_not_as_it_would_be_sent(document: Document) -> None:
    first = Where(document, before(document))
    later = Where(document, document.compaction.preview(None, EXPLORER, SETTINGS))
    brief = Where(document, before(document, replace(OMP, short_summary=True)))
    refused = Where(document, document.compaction.preview(0, EXPLORER, SETTINGS))
    for name, where, note in (
        ("history-first", first, ""), ("history-first", later, FIRST),
        ("history-update", first, UPDATE), ("history-update", later, ""),
        ("pi-history-first", first, OTHER), ("pi-history-update", later, OTHER),
        ("branch", later, LEAVING), ("branch", refused, ALONE),
        ("turn-prefix", later, ""), ("system", later, ""), ("history-first", refused, ALONE),
        ("short", first, ALONE), ("short", brief, ""),
        ("continued", first, "As from the second part of a record that is read in parts."),
        ("reminder", first, "The problem named is an example."),
        ("custom-instructions", first, "No instructions are typed."),
        ("custom-instructions", replace(first, instructions="Be brief."), ""),
        ("compaction-context", first, "No summary is in force at this entry."),
        ("conversation-summary-context", later, ""), ("branch-context", later, ""),
        ("verify", first, CHECKED), ("verify-system", refused, ALONE),
        ("tools/read", first, ""), ("agent", first, "As without a workspace."),
        ("copilot-breadcrumb", first, "Variables stand for what they are filled with."),
    ):  # fmt: skip
        assert preview_prompt(name, shipped_prompt(name), where).note == note, name


def test_a_request_is_the_one_that_would_be_sent(document: Document) -> None:
    shown = document.compaction.preview(None, EXPLORER, SETTINGS)
    previous = document.compaction.previous_summary(shown.preparation)
    requests = build_requests(
        shown.preparation,
        document.payloads.shown.entries,
        previous,
        "Be brief.",
        document.shared.templates,
    )
    where = Where(document, shown, "Be brief.")
    for request, name in zip(requests, ("history-update", "turn-prefix"), strict=True):
        found = preview_prompt(name, shipped_prompt(name), where)
        assert (found.system, found.prompt) == (request.system, request.prompt)
    assert previous
    mended = preview_prompt("verify", shipped_prompt("verify"), where).prompt
    assert previous.partition("\n\n<")[0] in mended


def test_the_agents_texts_stand_in_its_prompt(document: Document) -> None:
    where = Where(None, None, tools=Tools(), date="2026-01-02")
    for name in ("agent-changes", "agent-looks"):
        assert "/work/here" in preview_prompt(name, shipped_prompt(name), where).prompt
        outside = preview_prompt(name, shipped_prompt(name), replace(where, tools=None)).prompt
        assert "(the workspace)" in outside and "2026" not in outside
    dated = preview_prompt("agent-date", shipped_prompt("agent-date"), where).prompt
    assert "2026-01-02" in dated and shipped_prompt("agent-no-workspace") in dated
    assert preview_prompt("continue", "Go on.", where).prompt == "Go on."
