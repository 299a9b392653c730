"""A dialect that nobody uses, in one file: its sessions open, preview, compact and are audited."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import PROFILES, Settings
from explorer.formats import registry
from explorer.formats.adapter import FormatError, FoundSession, IsCancelled, Progress, Related
from explorer.formats.typed_source import ReadEntry, TypedSource
from explorer.models.catalogue import EXTRACTIVE
from explorer.models.client import CancelToken
from explorer.services.audit_report import make_report
from explorer.services.document import Document
from explorer.services.draft_records import SummaryOrder
from explorer.session.entries import (
    AssistantMessage,
    Body,
    CompactionSummary,
    Entry,
    TextBlock,
    TokenUsage,
    ToolCallBlock,
    ToolResultMessage,
    Unknown,
    UserMessage,
    text_content,
)
from explorer.session.kinds import Kind
from explorer.session.records import Aside, SessionHeader
from explorer.session.usage_sums import PartUsage
from explorer.workbench import Workbench

MAGIC = b"parley 1 "


class Parley:
    """One first line with the session's name; then a JSON list per line: number, number of the
    line above, who, what. A reply may go on in further lines of the same number."""

    name, title, writes, unknown = "parley", "Parley", False, ()

    def recognises(self, path: Path, head: bytes) -> bool:
        return head.startswith(MAGIC)

    def open(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
        session_id: str = "",
    ) -> TypedSource:
        lines = Path(path).read_text("utf-8").splitlines()
        if len(lines) < 2:
            raise FormatError(str(path), 1, "the file ends after its first line")
        name = lines[0].removeprefix(MAGIC.decode())
        header = SessionHeader(name, self.name, 1, "/parley", 0.0, "", lines[0])
        return TypedSource(path, header, self._entries(lines), progress, cancelled)

    def _entries(self, lines: list[str]) -> Iterator[ReadEntry | Aside]:
        record: list[str] = []
        first = 2
        for number, line in enumerate(lines[1:], 2):
            if not line.startswith("["):
                yield Aside(number, line.encode(), "a remark")
                continue
            if record and json.loads(record[0])[0] != json.loads(line)[0]:
                yield self._entry(record, first)
                record = []
            if not record:
                first = number
            record.append(line)
        yield self._entry(record, first)

    def _entry(self, record: list[str], first: int) -> ReadEntry:
        text = "\n".join(record)
        return ReadEntry(self.read(text), text, first)

    def read(self, record: str | bytes) -> Entry:
        text = record if isinstance(record, str) else record.decode()
        parts = [json.loads(line) for line in text.split("\n")]
        number, above, who, _ = parts[0]
        parent = None if above is None else f"p{above}"
        return Entry.of(_body(who, [part[3] for part in parts]), f"p{number}", parent, number * 1e3)

    def usage(self, record: str, context: int) -> TokenUsage | None:
        return self.read(record).usage

    def write(self, entry: Entry) -> str:
        raise ValueError("Parley's files are only read")

    def related(self, path: Path, session_id: str = "") -> tuple[()]:
        return ()

    def resume(self, header: SessionHeader) -> tuple[()]:
        return ()

    def find(self, home: Path, environment: Mapping[str, str]) -> Iterator[FoundSession]:
        yield from ()


def _body(who: str, said: list[Any]) -> Body:
    match who:
        case "me":
            return UserMessage(text_content(said[0]))
        case "bot":
            blocks = [
                TextBlock(one) if isinstance(one, str) else ToolCallBlock(*one) for one in said
            ]
            return AssistantMessage(tuple(blocks), "parley", "p-1", stop_reason="stop")
        case "tool":
            call_id, text = said[0]
            return ToolResultMessage(call_id, "read", text_content(text))
        case "shrunk":
            return CompactionSummary(said[0], certainty="inferred")
    return Unknown(who)


def talk(rounds: int) -> str:
    """A session of turns with a call each; the second turn also has a branch that was left."""
    lines = [MAGIC.decode() + "harbour"]
    at = 0
    for turn in range(rounds):
        above = at if turn else None
        path = f"src/harbour/berth_{turn}.py"
        step: list[Any] = [
            [at + 1, above, "me", f"Never use port {8000 + turn}. Look at {path}. " + "why " * 40],
            [at + 2, at + 1, "bot", f"I read {path} now. " + "because " * 40],
            [at + 2, at + 1, "bot", [f"c{turn}", "read", {"path": path}]],
            [at + 3, at + 2, "tool", [f"c{turn}", f"BERTH_{turn} = {turn * 7}\n" * 30]],
            [at + 4, at + 3, "bot", f"BERTH_{turn} is {turn * 7}. " + "so " * 40],
        ]
        lines += [json.dumps(one) for one in step]
        if turn == 1:
            lines += ["# the tide went out", json.dumps([90, at + 1, "me", "Or another way?"])]
        at += 4
    return "\n".join([*lines, json.dumps([at + 1, at, "bell", {"rings": 3}])]) + "\n"


@pytest.fixture
def parley(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setitem(registry.ADAPTERS, "parley", Parley())
    path = tmp_path / "harbour.parley"
    path.write_text(talk(12), "utf-8")
    return path


@pytest.fixture
def document(bench: Workbench, parley: Path) -> Document:
    return bench.open_blocking(bench.import_blocking(parley).key)


def rules() -> tuple[Any, Settings]:
    profile = PROFILES["explorer"]
    return profile, replace(Settings.of(profile), keep_recent_tokens=300)


def test_it_opens_with_its_tree_and_its_records(document: Document, parley: Path) -> None:
    tree, columns = document.tree, document.tree.columns
    assert (len(tree), document.leaf) == (50, 49)
    assert [tree.kind(at) for at in (0, 1, 2, 3, 49)] == [
        Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.ASSISTANT, Kind.UNKNOWN,
    ]  # fmt: skip
    assert len(tree.children(tree.index_of("p5"))) == 2, "a branch was left there"
    assert document.payloads.shown.raw(1).count("\n") == 1, "a reply of two lines is one record"
    assert "\n".join(document.payloads.shown.raw(at) for at in range(4)) in parley.read_text(
        "utf-8"
    )
    assert columns.models[columns.model[1]] == "parley/p-1"
    assert document.payloads.shown.entry(1).calls[0].arguments == {"path": "src/harbour/berth_0.py"}
    assert next(iter(document.shared.store.search("BERTH_3"))).key == document.key
    (aside,) = [
        line for _, line in document.shared.store.lines(document.key) if isinstance(line, bytes)
    ]
    assert aside == b"# the tide went out"


def test_it_compacts_and_what_is_added_is_read_back(
    bench: Workbench, document: Document, parley: Path, tmp_path: Path
) -> None:
    before = parley.read_bytes()
    shown = document.compaction.preview(None, *rules())
    assert isinstance(shown.preparation, Preparation)
    order = SummaryOrder("", EXTRACTIVE, lambda _purpose, _text: None, CancelToken())
    draft = asyncio.run(document.compaction.summarize(shown, order))
    assert "src/harbour/berth_0.py" in draft.summary
    index = asyncio.run(document.compaction.commit(draft))
    assert document.payloads.shown.entry(index).summary == draft.summary
    assert document.context().compaction == index
    assert len(document.agent.messages()) < 30
    asyncio.run(document.edits.set_label(3, "the berth"))
    bench.close(document.key)
    again = bench.open_blocking(document.key)
    assert again.payloads.shown.entry(
        index
    ).summary == draft.summary and again.payloads.shown.entry(0).text.startswith("Never")
    assert parley.read_bytes() == before, "another agent's file is only read"
    asyncio.run(bench.export(document.key, tmp_path / "as-pi.jsonl", "pi-v3"))
    copy = bench.open_blocking(bench.import_blocking(tmp_path / "as-pi.jsonl").key)
    assert copy.payloads.shown.entry(index).summary == draft.summary
    says = [[each.payloads.shown.entry(at).content for at in range(49)] for each in (again, copy)]
    assert says[0] == says[1]


def test_its_compaction_is_audited(document: Document) -> None:
    profile, settings = rules()
    shown = document.compaction.preview(None, profile, settings)
    order = SummaryOrder("", EXTRACTIVE, lambda _purpose, _text: None, CancelToken())
    draft = asyncio.run(document.compaction.summarize(shown, order))
    index = asyncio.run(document.compaction.commit(draft))
    report = make_report(document, document.leaf, PartUsage(), profile=profile)
    (part,) = report.compactions
    assert part.entry.index == index
    assert part.fidelity.is_readable and part.fidelity.tokens_before > part.fidelity.tokens_after
    assert not part.fidelity.findings


class WithCrew(Parley):
    """Parley whose sessions bring others along."""

    def related(self, path: Path, session_id: str = "") -> list[Related]:  # type: ignore[override]
        return [Related(path.with_name(name), "") for name in ("cook.parley", "gone.parley")]


def test_what_comes_with_a_session_and_cannot_be_read_is_named(
    bench: Workbench, parley: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.ADAPTERS, "parley", WithCrew())
    parley.with_name("cook.parley").write_text(talk(2).replace("harbour", "galley", 1), "utf-8")
    report = bench.import_blocking(parley)
    assert (report.created, report.added) == (True, 50)
    (problem,) = report.problems
    assert "gone.parley was not imported with it: No such file" in problem.reason
    assert len(bench.sessions()) == 2
