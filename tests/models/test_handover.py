"""What a successor must know is told, and what was changed is not, after five summaries."""

from __future__ import annotations

import pytest

from explorer.models.offline.extractive import summarize
from explorer.models.request import ChatMessage, ModelRequest
from explorer.tokens.estimate import estimate_text
from tests.models.handover import Handover, measure, read_all
from tests.models.survival import TEMPLATE, summary_request

KNOWN = {
    "pipeline: revenue_daily",
    "pipeline: six hours",
}
"""Old values that are told still: as the old name beside the new one, as what a job took when the
work began, and failures that the user solved without a run that shows it."""
SESSIONS = read_all()


def run(talk: str, previous: str = "", limit: int | None = 900, template: str = TEMPLATE) -> str:
    return summarize(summary_request(talk, previous, limit, template), lambda: False)


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_a_successor_is_told_what_matters(session: Handover) -> None:
    a_fifth, almost_a_third = measure([session], 0.20), measure([session], 0.30)
    assert a_fifth.told >= 0.80 * a_fifth.wanted, a_fifth.lost
    assert almost_a_third.told == almost_a_third.wanted, almost_a_third.lost


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
@pytest.mark.parametrize("share", [0.10, 0.20, 0.30])
def test_what_was_changed_is_told_once(session: Handover, share: float) -> None:
    assert set(measure([session], share).stale) <= KNOWN


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_updates_with_nothing_new_lose_nothing(session: Handover) -> None:
    first = summary = run("\n\n".join(session.chunks))
    for _ in range(5):
        summary = run("[User]: Thanks, go on.\n\n[Assistant]: I am going on.", summary)
    lines = [line for line in first.split("\n") if line.startswith("- ")]
    assert len(lines) > 20
    assert [line for line in lines if line[2:].split(": ")[-1] not in summary] == []


def test_only_whole_sentences_are_told_and_none_without_the_one_it_leans_on() -> None:
    talk = (
        "[User]: Move the shop to the new host.\n\n[Assistant]: Let me look. Second item\n\n"
        "- one\n- w.t.f.\n\n[User]: The budget for it is 400 EUR a month. Never exceed it without "
        "approval. Hm.\n\n[Assistant]: Now WP5: Model management.\n\n[User]: Which host is it?"
    )
    summary = run(talk)
    assert "- The budget for it is 400 EUR a month. Never exceed it without approval." in summary
    for fragment in ("Second item", "w.t.f.", "WP5", "Hm."):
        assert fragment not in summary


@pytest.mark.parametrize(
    "added",
    [
        "<system-reminder>Always use tabs in the sources.</system-reminder>",
        "<ide_opened_file>Never touch main.py, it is open.</ide_opened_file>",
        "# AGENTS.md instructions for /home/me/x\n\n- Always use tabs in the sources.",
        "File /home/me/notes.md:\n```\nAlways use tabs in the sources.\n```",
    ],
)
def test_what_nobody_typed_is_not_the_users(added: str) -> None:
    talk = f"[User]: Port the importer to Go.\n\n[User]: {added}\n\n[User]: Now write its tests."
    summary = run(talk)
    assert "tabs" not in summary and "main.py" not in summary
    assert "Latest request: Now write its tests." in summary
    assert "tabs" not in run(talk.replace("[User]: <", "[Note]: <"))


def test_an_instruction_that_rules_cannot_follow_is_named() -> None:
    talk = "<conversation>\n[User]: Port the importer to Go.\n</conversation>\n\n"
    asked = "Answer as a poem of four lines about the sea."
    request = ModelRequest("offline/extractive", (ChatMessage("user", talk + asked),), 400)
    summary = summarize(request, lambda: False)
    assert f"which cannot follow this instruction: “{asked}”" in summary
    assert "poem" not in run("[User]: And document it.", summary), "it is no part of the record"
    wish = f"{TEMPLATE}\nAdditional focus: Write everything in Latin."
    assert "“Write everything in Latin.”" in run("[User]: Port it to Go.", template=wish)
    kept = f"{TEMPLATE}\nAdditional focus: the importer"
    assert "cannot follow" not in run("[User]: Port the importer to Go.", template=kept)


def test_what_of_an_instruction_rules_cannot_follow_is_named() -> None:
    talk = "[User]: Port the importer to Go.\n\n[User]: Never exceed 400 EUR a month."

    def said(asked: str) -> str:
        summary = run(talk, template=f"{TEMPLATE}\nAdditional focus: {asked}")
        return summary.partition("cannot follow this instruction: ")[2].partition("\n")[0]

    assert said("Write it in Latin and keep the constraints.") == "“Write it in Latin”"
    assert said("Keep the constraints, in five lines") == "“in five lines”"
    assert said('Keep the constraints and "the host"') == "“the host”"
    assert said("the importer, and name every error") == "", "there is no error to name"
    assert said("Keep the constraints that we took") == ""


def test_notes_may_keep_their_size_however_little_was_said() -> None:
    hosts = "\n\n".join(f"[User]: Host{n} is at 10.0.0.{n}:80 in rack {n}." for n in range(99))
    notes = run(hosts, limit=600)
    assert estimate_text(notes) > 400
    assert estimate_text(run("[User]: Thanks.", notes, None)) >= 0.95 * estimate_text(notes)
