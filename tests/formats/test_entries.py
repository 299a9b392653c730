"""New entries in the spelling of their file (A3)."""

from __future__ import annotations

from random import Random

import pytest

from explorer.formats.pi.entries import read_entry
from explorer.formats.pi.entry_writer import iso_time, new_id, write_entry
from explorer.formats.registry import read_record, write_record
from explorer.session.entries import (
    AssistantMessage,
    Body,
    BranchSummary,
    CompactionSummary,
    CustomData,
    Entry,
    FileLists,
    FileMention,
    FilesMessage,
    ImageBlock,
    Label,
    ModelChange,
    NoteMessage,
    SessionName,
    ShellMessage,
    SummaryMessage,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ThinkingLevelChange,
    TokenUsage,
    ToolCallBlock,
    ToolResultMessage,
    UnknownBlock,
    UnknownMessage,
    UserMessage,
)


def test_a3_pi_spells_a_compaction() -> None:
    body = CompactionSummary(
        "s",
        "00000001",
        12,
        from_extension=True,
        details={"read_files": ["a"], "modifiedFiles": ["b"], "other_key": 1},
    )
    entry = write_entry(Entry.of(body, "0000000b", "0000000a", 1767603600497.0), "pi")
    assert entry == {
        "type": "compaction",
        "id": "0000000b",
        "parentId": "0000000a",
        "timestamp": "2026-01-05T09:00:00.497Z",
        "fromHook": True,
        "summary": "s",
        "firstKeptEntryId": "00000001",
        "tokensBefore": 12,
        "details": {"readFiles": ["a"], "modifiedFiles": ["b"], "other_key": 1},
    }
    assert list(entry)[:4] == ["type", "id", "parentId", "timestamp"]


def test_a3_oh_my_pi_spells_an_extension_and_a_model_its_way() -> None:
    made = write_entry(Entry.of(BranchSummary("s", "a", from_extension=True), "b"), "omp")
    assert made["fromExtension"] is True and "fromHook" not in made and made["parentId"] is None
    change = Entry.of(ModelChange("openrouter/meta/llama"), "c", "b")
    omp, pi = write_entry(change, "omp"), write_entry(change, "pi")
    assert omp["model"] == "openrouter/meta/llama"
    assert "provider" not in omp and "modelId" not in omp
    assert (pi["provider"], pi["modelId"]) == ("openrouter", "meta/llama")
    assert read_entry(omp).body == read_entry(pi).body == change.body


def test_a3_an_entry_not_made_by_an_extension_does_not_say_so() -> None:
    entry = write_entry(Entry.of(BranchSummary("s", "x"), "b", "a"), "pi")
    assert "fromHook" not in entry and "fromExtension" not in entry


BLOCKS = (
    TextBlock("said"),
    ThinkingBlock("thought", "signed"),
    ThinkingBlock("hidden", "signed too", redacted=True),
    ToolCallBlock("c1", "read", {"path": "a.py", "n": [1, 2.5, None]}),
    ToolCallBlock("c2", "read", {}, malformed='{"path": '),
    ImageBlock("image/png", "aGk="),
    UnknownBlock("audio", {"type": "audio", "length": 3}),
)
BODIES: tuple[Body, ...] = (
    UserMessage(BLOCKS),
    UserMessage((), synthetic=True),
    AssistantMessage(
        BLOCKS, "anthropic", "opus", TokenUsage(1, 2, 3, 4, 10, 0.5, (0.1, 0.2, 0.1, 0.1)),
        "tool_calls", api="messages",
    ),
    AssistantMessage(
        (), "p", "m", TokenUsage(context=0, costs=(0.0, 0.0, 0.0, 0.0)), "error", "too large",
        "overflow", "a",
    ),
    ToolResultMessage("c1", "read", BLOCKS, True, details={"lines": 3}),
    ShellMessage("make", "ok", exit_code=2, truncated=True, full_output_path="/tmp/o"),
    ShellMessage("1 + 1", "2", "python", excluded=True, cancelled=True),
    FilesMessage((FileMention("a", "b"), FileMention("c", ""))),
    NoteMessage(BLOCKS, "hook", display=False, details=[1]),
    SystemMessage(BLOCKS),
    SummaryMessage("of a branch", "branch"),
    SummaryMessage("of a context", "compaction"),
    UnknownMessage("robot", BLOCKS),
    CompactionSummary("s", "k", 9, files=FileLists(("r",), ("m", "n"), ("n",), ("m",), ("f",)),
                      short_summary="in short", user_tokens=7),
    CompactionSummary("s", "k", 9, from_extension=True, details={"mine": 1}),
    BranchSummary("s", "x", FileLists(("r",))),
    CustomData("theirs", {"any": ["thing"]}),
    Label("e1", "here"),
    Label("e1"),
    SessionName("a name"),
    ModelChange("anthropic/opus"),
    ThinkingLevelChange("high"),
)  # fmt: skip


@pytest.mark.parametrize("format_name", ["pi", "omp"])
@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_what_is_written_is_read_back(body: Body, format_name: str) -> None:
    entry = Entry.of(body, "e2", "e1", 1_767_603_600_497.0)
    assert read_record(format_name, write_record(format_name, entry)) == entry


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1767603614947.9998, "2026-01-05T09:00:14.948Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-62135596800000, "0001-01-01T00:00:00.000Z"),
    ],
)
def test_times_are_written_as_javascript_does(time_ms: float, text: str) -> None:
    assert iso_time(time_ms) == text


def test_a_time_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(ValueError, match="outside the years"):
        iso_time(1e18)


def test_ids_are_8_hexadecimal_digits_that_are_not_taken() -> None:
    first = new_id(set(), Random(1))
    assert len(first) == 8 and int(first, 16) >= 0
    second = new_id({first}, Random(1))
    assert second != first and len(second) == 8
    assert new_id(set(), Random(1)) == first


def test_a_message_that_a_person_typed_is_not_synthetic() -> None:
    typed = read_entry({"type": "message", "message": {"role": "user", "content": "x"}}).body
    assert isinstance(typed, UserMessage) and not typed.synthetic
    assert not UserMessage(typed.content).synthetic
