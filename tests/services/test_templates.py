"""The words sent to models: the person's own, their versions, and what is sent where they break."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from explorer.compaction.profile import PROFILES, Settings
from explorer.compaction.requests import build_requests
from explorer.models.client import CancelToken, ModelClient, ModelClientConfig
from explorer.services.agent import system_prompt
from explorer.services.auto_compaction.prompt import CopilotWords
from explorer.services.changes import PromptsChanged
from explorer.services.document import Document
from explorer.services.draft_records import SummaryOrder
from explorer.settings.prompt_templates import (
    TemplateError,
    changed_prompts,
    load_prompt,
    load_templates,
    shipped_prompt,
    template_problems,
    user_prompts_dir,
)
from explorer.settings.template_catalogue import TEMPLATES, check_template, names_used_by
from explorer.store import Store
from explorer.workbench import Workbench
from tests.models.server import Answer, ChatServer
from tests.services.conftest import SAMPLE, Clock

EXPLORER = PROFILES["explorer"]
SETTINGS = replace(Settings.of(EXPLORER), keep_recent_tokens=5000)
OWN = "Sum it up in one breath.\n\n## Goal\n[the goal]\n\n## Next Steps\n1. [what comes]"


PREFIX = (
    "\n\n## Original Request\nRun it.\n\n## Early Progress\n- Ran."
    "\n\n## Context for Suffix\n- None."
)


def prompts_folder() -> Path:
    return user_prompts_dir()


def test_every_text_of_the_package_is_in_the_catalogue_and_nothing_is_wrong_with_it(
    repository: Path,
) -> None:
    top = repository / "prompts"
    found = {path.relative_to(top).with_suffix("").as_posix() for path in top.rglob("*.md")}
    assert {name for name in found if not name.startswith("profiles/")} == set(TEMPLATES)
    for name, info in TEMPLATES.items():
        assert check_template(name, shipped_prompt(name)) == (), name
        assert info.about.endswith((".", "{{date}} where the date is known.")), name
    for profile in PROFILES.values():
        assert set(names_used_by(profile)) <= set(TEMPLATES)


def test_a_saved_text_is_sent_everywhere_and_reset_puts_the_shipped_one_back(
    bench: Workbench, document: Document
) -> None:
    told: list[frozenset[str]] = []
    bench.subscribe(
        lambda change: told.append(change.names) if isinstance(change, PromptsChanged) else None
    )
    shown = document.compaction.preview(None, EXPLORER, SETTINGS)
    before = document.compaction.requests(shown)[0]
    first = bench.prompts.save("history-update", OWN, "one breath")
    bench.prompts.save("system", "You are brief.")
    bench.prompts.save("agent", "Be quick. {{workspace}}")
    bench.prompts.save("copilot-record", "A record:")
    bench.prompts.save("tools/read", "Reads.")
    after = document.compaction.requests(shown)[0]
    assert first.number == 1 and first.note == "one breath"
    assert after.prompt.endswith(OWN) and not before.prompt.endswith(OWN)
    assert after.system == "You are brief."
    assert system_prompt(document.shared.agent_prompt, None).startswith("Be quick. No workspace")
    assert CopilotWords.load().record == "A record:"
    assert load_prompt("tools/read") == "Reads."
    assert frozenset({"history-update"}) in told
    assert changed_prompts() == {
        "history-update", "system", "agent", "copilot-record", "tools/read"
    }  # fmt: skip
    bench.prompts.reset("history-update")
    bench.prompts.reset("system")
    assert document.compaction.requests(shown)[0] == before
    assert [one.kind for one in bench.prompts.history("history-update")[1:]] == ["saved", "reset"]
    assert bench.prompts.reset("history-update") is None, "it is as it came"


def test_versions_are_kept_with_time_and_note_and_can_be_compared(bench: Workbench) -> None:
    bench.prompts.save("short", "One sentence.", "shorter\nstill --> so")
    bench.prompts.save("short", "Two sentences.\n\nNo more.")
    shipped, first, second = bench.prompts.history("short")
    assert shipped.number == 0 and shipped.text == shipped_prompt("short")
    assert (first.text, first.note) == ("One sentence.", "shorter still → so")
    assert second.text == "Two sentences.\n\nNo more." and second.time_ms > first.time_ms > 1e12
    lines = bench.prompts.difference("short", 1, 2)
    assert [tuple(line) for line in lines] == [
        ("-", "One sentence."), ("+", "Two sentences."), ("+", ""), ("+", "No more."),
    ]  # fmt: skip
    with pytest.raises(TemplateError, match="no version 9"):
        bench.prompts.difference("short", 1, 9)


def test_a_text_edited_by_hand_is_sent_and_kept_before_the_next_one(bench: Workbench) -> None:
    path = prompts_folder() / "short.md"
    path.parent.mkdir(parents=True)
    path.write_text("<!-- mine -->\n\nBy hand.\r\n", encoding="utf-8")
    assert load_prompt("short") == "By hand."
    assert bench.prompts.refresh() and not bench.prompts.refresh()
    bench.prompts.save("short", "By the window.")
    kept = bench.prompts.history("short")[1:]
    assert [(one.kind, one.text) for one in kept] == [
        ("by-hand", "By hand."), ("saved", "By the window."),
    ]  # fmt: skip


BROKEN = {
    "empty": (b"  \n", "empty"),
    "a variable that is not known": (b"Again: {{problems}} {{problem}}", "{{problem}} is not"),
    "a variable that is missing": (b"Again, please.", "{{problems}} is missing"),
    "not UTF-8": (b"\xff\xfe{{problems}}", "not UTF-8"),
    "far too long": (b"{{problems}}" + b"x" * 300_000, "characters"),
}


@pytest.mark.parametrize("raw, told", BROKEN.values(), ids=BROKEN)
def test_a_broken_text_is_never_sent_and_said(raw: bytes, told: str) -> None:
    path = prompts_folder() / "reminder.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(raw)
    assert load_prompt("reminder") == shipped_prompt("reminder")
    assert load_templates().reminded(["It is empty."]).startswith("Your answer cannot be used")
    problems = template_problems()
    assert set(problems) == {"reminder"}
    assert told in problems["reminder"] and str(path) in problems["reminder"]


def test_a_broken_text_is_not_taken_and_what_was_in_force_stays(bench: Workbench) -> None:
    bench.prompts.save("compaction-context", "Earlier: {{summary}}")
    with pytest.raises(TemplateError, match=r"\{\{summary\}\} is missing"):
        bench.prompts.save("compaction-context", "Earlier.")
    assert load_prompt("compaction-context") == "Earlier: {{summary}}"
    assert len(bench.prompts.history("compaction-context")) == 2
    with pytest.raises(TemplateError, match="no prompt 'nothing'"):
        bench.prompts.save("nothing", "x")
    with pytest.raises(TemplateError, match="no prompt"):
        bench.prompts.text("profiles/pi")


def test_a_heading_that_is_not_asked_for_is_no_reason_to_refuse_an_answer(
    document: Document,
) -> None:
    shown = document.compaction.preview(None, EXPLORER, SETTINGS)
    own = load_templates({"history-first": OWN})
    entries = document.payloads.shown.entries
    [request, *_] = build_requests(shown.preparation, entries, None, "", own)  # type: ignore[arg-type]
    assert request.form.required == ("Goal", "Next Steps")
    [whole, *_] = build_requests(
        shown.preparation,  # type: ignore[arg-type]
        entries, None, "", load_templates(),
    )  # fmt: skip
    assert "Key Decisions" in whole.form.required
    problems = [one.message for one in check_template("history-first", OWN)]
    assert len(problems) == 1 and "Key Decisions" in problems[0]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def test_the_provider_is_sent_the_own_text_and_the_draft_records_it(
    server: ChatServer, tmp_path: Path
) -> None:
    server.plan(Answer(text="## Goal\nReliable retries.\n\n## Next Steps\n1. Ship." + PREFIX))
    client = ModelClient(ModelClientConfig(api_base=server.url))
    bench = Workbench(Store.open(tmp_path / "own.db"), client, clock_ms=Clock())
    try:
        document = bench.open_blocking(bench.import_blocking(SAMPLE).key)
        bench.prompts.save("history-update", OWN)
        order = SummaryOrder("", "openai/test-model", lambda _purpose, _text: None, CancelToken())
        profile = replace(EXPLORER, short_summary=False)
        shown = document.compaction.preview(
            None, profile, replace(SETTINGS, keep_recent_tokens=4000)
        )
        draft = asyncio.run(document.compaction.summarize(shown, order))
    finally:
        client.close()
        bench.store.close()
    # The turn is split: its first part is asked for at the same time.
    asked = [request["messages"][-1]["content"] for request in server.requests]
    assert sum(text.endswith(OWN) for text in asked) == 1
    assert draft.attempts[0].request.messages[-1].text.endswith(OWN)
