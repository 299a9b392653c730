"""oh-my-pi's files: what they have beyond pi's version 3 (A1, A3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.formats.pi.omp import split_model
from explorer.session.kinds import Flag, Kind
from tests.formats.files import accounted, chain, entry, header, read, shape, user, write


def slot(title: str = "Fix the parser") -> dict[str, Any]:
    return {"type": "title", "v": 1, "title": title, "updatedAt": "", "pad": " " * 100}


def test_a_title_slot_before_the_header_is_kept_aside_without_complaint(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [slot(), header(title="older"), *chain(2)])
    source, records = read(path)
    assert source.header.format == "omp"
    assert source.header.title == "Fix the parser"
    assert source.header.session_id == "s-1"
    assert [record.line for record in records] == [3, 4]
    assert [(aside.line, aside.reason) for aside in source.report.asides] == [(1, "the title slot")]
    assert not source.report.problems
    assert b"".join(line + b"\n" for line in accounted(source, records)) == path.read_bytes()


@pytest.mark.parametrize(
    "sign",
    [
        entry("model_change", "z", None, model="anthropic/claude", role="default"),
        entry("service_tier_change", "z", None, serviceTier=None),
        entry("mode_change", "z", None, mode="plan"),
        entry("ttsr_injection", "z", None, injectedRules=[]),
        entry("mcp_tool_selection", "z", None, tools=[]),
        entry("reset_boundary", "z", None),
        entry("compaction", "z", None, summary="s", shortSummary="t", firstKeptEntryId=""),
        entry("compaction", "z", None, summary="s", fromExtension=True, firstKeptEntryId=""),
        entry("branch_summary", "z", None, summary="s", fromId="y", fromExtension=False),
        user("z", None) | {"message": {"role": "pythonExecution", "code": "1", "output": "1"}},
        user("z", None) | {"message": {"role": "fileMention", "files": []}},
    ],
    ids=lambda sign: f"{sign['type']}-{'-'.join(list(sign)[4:])}",
)
def test_a_file_is_known_by_what_only_oh_my_pi_writes(tmp_path: Path, sign: Any) -> None:
    source, records = read(write(tmp_path / "s.jsonl", [header(), *chain(2), sign]))
    assert source.header.format == "omp"
    assert len(records) == 3 and not source.report.problems


@pytest.mark.parametrize(("before", "known"), [(190, "omp"), (210, "pi")])
def test_a_file_is_known_by_its_first_lines(tmp_path: Path, before: int, known: str) -> None:
    sign = entry("model_change", "z", None, model="anthropic/claude", role="default")
    source, _ = read(write(tmp_path / "s.jsonl", [header(), *chain(before), sign]))
    assert source.header.format == known


def test_a_file_is_known_by_its_place(tmp_path: Path) -> None:
    place = tmp_path / ".omp" / "agent" / "sessions" / "-project"
    place.mkdir(parents=True)
    source, _ = read(write(place / "s.jsonl", [header(), *chain(1)]))
    assert source.header.format == "omp"


def test_a1_a3_its_entries_are_understood(tmp_path: Path) -> None:
    lines = [
        header(title="T"),
        user("a", None),
        entry("model_change", "b", "a", model="openrouter/meta/llama", role="smol"),
        user("c", "b") | {"message": {"role": "pythonExecution", "code": "1 + 1", "output": "2"}},
        user("d", "c")
        | {"message": {"role": "fileMention", "files": [{"path": "a.py", "content": "xxxx"}]}},
        entry(
            "compaction",
            "e",
            "d",
            summary="long",
            shortSummary="I did it.",
            firstKeptEntryId="",
            tokensBefore=50,
            tokensAfter=5,
            method="soft",
            fromExtension=True,
        ),
        entry("reset_boundary", "f", "e"),
        user("g", "f")
        | {
            "message": {
                "role": "toolResult",
                "toolCallId": "t",
                "content": [{"type": "image", "data": "blob:sha256:00ff", "mimeType": "image/png"}],
            }
        },
    ]
    source, records = read(write(tmp_path / "s.jsonl", lines))
    facts = [record.facts for record in records]
    assert [one.kind for one in facts] == [
        Kind.USER,
        Kind.MODEL_CHANGE,
        Kind.PYTHON_EXECUTION,
        Kind.FILE_MENTION,
        Kind.COMPACTION,
        Kind.RESET_BOUNDARY,
        Kind.TOOL_RESULT,
    ]
    assert facts[1].model == "openrouter/meta/llama"
    assert facts[2].preview == "1 + 1"
    assert records[3].estimate == 2
    compaction = facts[4].compaction
    assert compaction is not None and compaction.from_extension
    assert compaction.first_kept_id == "" and compaction.tokens_before == 50
    assert facts[4].preview == "I did it."
    assert facts[6].flags & Flag.HAS_IMAGE
    assert records[6].estimate == 1200
    assert shape(records)[-1] == ("g", "f")
    assert not source.report.problems


def test_a_model_id_may_hold_slashes_its_provider_does_not() -> None:
    assert split_model("openrouter/meta/llama") == ("openrouter", "meta/llama")
    assert split_model("llama") == ("", "llama")
