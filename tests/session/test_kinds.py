"""Kinds and their groups (A4, A5, A16, A18)."""

from __future__ import annotations

from array import array

import pytest

from explorer.formats.pi.entries import kind_of
from explorer.session import entries
from explorer.session.entries import NoteMessage, ShellMessage, SummaryMessage, UserMessage
from explorer.session.kinds import (
    CONTEXT_KINDS,
    MESSAGE_KINDS,
    METADATA_KINDS,
    TURN_START_KINDS,
    Flag,
    Kind,
    selector,
    turn_starts,
)


def test_a5_every_kind_is_a_message_a_compaction_or_metadata() -> None:
    assert CONTEXT_KINDS | METADATA_KINDS | {Kind.COMPACTION} == set(Kind)
    assert not CONTEXT_KINDS & METADATA_KINDS
    assert {Kind.CUSTOM_MESSAGE, Kind.BRANCH_SUMMARY} == CONTEXT_KINDS - MESSAGE_KINDS
    assert TURN_START_KINDS <= CONTEXT_KINDS


def test_a18_turns_start_at_what_a_person_or_an_extension_says() -> None:
    assert {
        Kind.USER,
        Kind.BASH_EXECUTION,
        Kind.CUSTOM_MESSAGE,
        Kind.BRANCH_SUMMARY,
    } == TURN_START_KINDS


def test_a_turn_begins_with_what_somebody_said() -> None:
    """Not with what a program put in the user's place, whatever else its flags say."""
    kinds = bytes([Kind.USER, Kind.ASSISTANT, Kind.USER, Kind.BASH_EXECUTION, Kind.USER])
    every = sum(Flag) & ~Flag.SYNTHETIC
    flags = array("I", [0, 0, Flag.SYNTHETIC | Flag.HAS_TEXT, every, every])
    assert list(turn_starts(kinds, flags)) == [1, 0, 0, 1, 1]
    assert list(turn_starts(kinds[:2], flags[:2])) == [1, 0]
    assert turn_starts(b"", array("I")) == b""


def test_kinds_and_flags_have_the_numbers_that_are_stored() -> None:
    assert list(Kind) == list(range(len(Kind.__members__)))
    assert list(Flag) == [1 << bit for bit in range(len(Flag.__members__) - 1)]
    assert len(Kind) < 256 and sum(Flag) < 1 << 32, "they fit their columns"


def test_a_selector_marks_its_kinds_only() -> None:
    table = selector({Kind.USER, Kind.COMPACTION})
    marked = bytes(range(256)).translate(table)
    assert {at for at, one in enumerate(marked) if one} == {Kind.USER, Kind.COMPACTION}


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        ("user", Kind.USER),
        ("assistant", Kind.ASSISTANT),
        ("toolResult", Kind.TOOL_RESULT),
        ("bashExecution", Kind.BASH_EXECUTION),
        ("hookMessage", Kind.CUSTOM_ROLE),
        ("custom", Kind.CUSTOM_ROLE),
        ("system", Kind.SYSTEM),
        ("developer", Kind.SYSTEM),
        ("pythonExecution", Kind.PYTHON_EXECUTION),
        ("fileMention", Kind.FILE_MENTION),
        ("compactionSummary", Kind.COMPACTION_SUMMARY_ROLE),
        ("branchSummary", Kind.BRANCH_SUMMARY_ROLE),
        ("oracle", Kind.OTHER_ROLE),
        (None, Kind.OTHER_ROLE),
        (["user"], Kind.OTHER_ROLE),
    ],
)
def test_a4_the_kind_of_a_message_is_its_role(role: object, kind: Kind) -> None:
    assert kind_of({"type": "message", "message": {"role": role}}) is kind


@pytest.mark.parametrize(
    ("entry_type", "kind"),
    [
        ("compaction", Kind.COMPACTION),
        ("branch_summary", Kind.BRANCH_SUMMARY),
        ("custom_message", Kind.CUSTOM_MESSAGE),
        ("custom", Kind.CUSTOM),
        ("label", Kind.LABEL),
        ("session_info", Kind.SESSION_INFO),
        ("model_change", Kind.MODEL_CHANGE),
        ("thinking_level_change", Kind.THINKING_LEVEL_CHANGE),
        ("reset_boundary", Kind.RESET_BOUNDARY),
        ("context_edit", Kind.CONTEXT_EDIT),
        ("message", Kind.OTHER_ROLE),
        ("of the future", Kind.UNKNOWN),
        (None, Kind.UNKNOWN),
        ({}, Kind.UNKNOWN),
    ],
)
def test_a4_the_kind_of_an_entry_is_its_type(entry_type: object, kind: Kind) -> None:
    assert kind_of({"type": entry_type}) is kind


@pytest.mark.parametrize(
    ("body", "kind", "begins"),
    [
        (UserMessage("x"), Kind.USER, True),
        (NoteMessage("x"), Kind.CUSTOM_MESSAGE, True),
        (NoteMessage("x", display=False), Kind.CUSTOM_ROLE, False),
        (ShellMessage("ls", ""), Kind.BASH_EXECUTION, True),
        (ShellMessage("1", "", "python"), Kind.PYTHON_EXECUTION, False),
        (SummaryMessage("x", "branch"), Kind.BRANCH_SUMMARY_ROLE, False),
        (SummaryMessage("x", "compaction"), Kind.COMPACTION_SUMMARY_ROLE, False),
    ],
)
def test_what_an_agent_adds_unseen_begins_no_turn(
    body: entries.Body, kind: Kind, begins: bool
) -> None:
    assert entries.kind_of(body) is kind
    assert (kind in TURN_START_KINDS) is begins
