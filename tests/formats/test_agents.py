"""Other agents' sessions say what was worked out from their raw data without an importer.

``EXPLORER_SESSIONS_DIR`` names the folder: ``AGENT/SET/`` with files, ``expected/AGENT/SET.json``
with facts. Whatever sets are there are tried.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SESSIONS = Path(os.environ.get("EXPLORER_SESSIONS_DIR") or ROOT.parent / "shared" / "sessions")
AGENTS = {
    "claude": "claude_code",
    "codex": "codex",
    "opencode": "opencode",
    "vscode-copilot-chat": "copilot_chat",
    "copilot-cli": "copilot_cli",
    "gemini": "gemini",
    "cline": "cline",
    "roo": "roo",
    "aider": "aider",
}
"""Folder of an agent, and the module of ``tests.formats.agents`` that asks; each has a ``check``
that is given the set's folder and its facts."""
SETS = sorted(
    one for agent in AGENTS for one in (SESSIONS / "expected" / agent).glob("*.json")
)  # fmt: skip


@pytest.mark.skipif(not SETS, reason=f"no session files of other agents in {SESSIONS}")
@pytest.mark.parametrize("facts", SETS, ids=lambda one: f"{one.parent.name}/{one.stem}")
def test_the_facts_about_a_set_are_met(facts: Path) -> None:
    agent = facts.parent.name
    check: Callable[[Path, dict[str, Any]], None] = import_module(
        f"tests.formats.agents.{AGENTS[agent]}"
    ).check
    check(SESSIONS / agent / facts.stem, json.loads(facts.read_text("utf-8")))


@pytest.mark.skipif(not SETS, reason=f"no session files of other agents in {SESSIONS}")
def test_no_set_of_facts_is_passed_over_without_a_word() -> None:
    missing = [one for one in SETS if not (SESSIONS / one.parent.name / one.stem).is_dir()]
    assert not missing, "facts about files that are not there"
    every = {one.parent.name for one in (SESSIONS / "expected").glob("*/*.json")}
    if others := sorted(every - set(AGENTS)):
        pytest.skip(f"no importer is asked for the sets of {', '.join(others)}")
