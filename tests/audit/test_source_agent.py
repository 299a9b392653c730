"""By whose rules a session was compacted: files of pi, of oh-my-pi, and of which nothing tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.audit.provenance import Provenance
from explorer.audit.source_agent import source_agent
from explorer.session.tree import SessionTree
from tests.compaction.sessions import Session
from tests.conformance.vectors import load_session


def result_of(tool: str, **more: object) -> Callable[[Session], None]:
    def add(session: Session) -> None:
        content = [{"type": "text", "text": "done"}]
        session.message(role="toolResult", toolCallId="c", toolName=tool, content=content, **more)

    return add


def told(
    *adds: Callable[[Session], object], format_name: str = "pi"
) -> tuple[str, Provenance, str]:
    session = Session()
    session.user()
    session.reply()
    for add in adds:
        add(session)
    found = source_agent(session.tree, format_name)
    return found.profile.name, found.known.provenance, found.known.basis


def test_a_file_that_was_read_as_oh_my_pis_is_oh_my_pis() -> None:
    assert told(format_name="omp")[:2] == ("omp", Provenance.EXACT)


@pytest.mark.parametrize(
    ("add", "noun"),
    [
        (lambda session: session.add({"type": "reset_boundary"}), "#2 holds a new start"),
        (lambda session: session.message(role="pythonExecution", code="1"), "Python"),
        (lambda session: session.message(role="fileMention", files=[]), "files that the user"),
        (result_of("bash", prunedAt=1), "a note stands for the tool result #2"),
    ],
)
def test_what_only_oh_my_pi_writes_tells_it(add: Callable[[Session], object], noun: str) -> None:
    name, provenance, words = told(result_of("read"), add) if "#2" not in noun else told(add)
    assert (name, provenance) == ("omp", Provenance.EXACT)
    assert noun in words


def test_a_tool_that_only_oh_my_pi_has_makes_it_likely() -> None:
    name, provenance, words = told(result_of("read"), result_of("skill"))
    assert (name, provenance) == ("omp", Provenance.INFERRED)
    assert words.startswith("Inferred: its tool skill")


def test_what_only_pi_writes_tells_it_whatever_tools_were_added() -> None:
    edit = {"type": "context_edit", "targetId": "e0", "replacement": None}
    found = told(result_of("skill"), lambda session: session.add(edit))
    assert found[:2] == ("pi", Provenance.EXACT)


def test_where_nothing_tells_it_is_read_as_pis_and_said_to_be_inferred() -> None:
    name, provenance, words = told(result_of("read"), result_of("my_own_tool"))
    assert (name, provenance) == ("pi", Provenance.INFERRED)
    assert words.startswith("Inferred")


def test_a_prune_of_this_program_is_nobody_elses() -> None:
    prune = {
        "type": "custom", "customType": "session-explorer/prune",
        "data": {"results": [{"id": "e2", "tokens": 9, "text": "gone"}]},
    }  # fmt: skip
    assert told(result_of("bash"), lambda session: session.add(prune))[0] == "pi"


@pytest.mark.parametrize("format_name", ["opencode", "copilot-cli", "codex", "claude-code"])
def test_an_agent_whose_rules_are_in_no_profile_has_others_stand_for_them(
    format_name: str,
) -> None:
    session = Session()
    session.user()
    found = source_agent(session.tree, format_name)
    assert (found.is_own, found.profile.name) == (False, "explorer")
    assert "are in no profile" in found.known.basis
    assert source_agent(session.tree, "copilot-chat").is_own


def test_an_empty_session_is_judged_too() -> None:
    assert source_agent(SessionTree(), "pi").profile.name == "pi"


@pytest.mark.parametrize(
    ("file", "name"),
    [("omp-compacted", "omp"), ("omp-prune", "omp"), ("compacted", "pi"), ("real-session-a", "pi")],
)
def test_recorded_sessions_are_judged_by_their_own_agents_rules(
    conformance_dir: Path, file: str, name: str
) -> None:
    session = load_session(conformance_dir / f"{file}.jsonl")
    assert source_agent(session.tree, "pi").profile.name == name
