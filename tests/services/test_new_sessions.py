"""A session that begins here: its header, its first entries, and the file that it becomes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random

from explorer.audit.provenance import Provenance
from explorer.formats.pi.export import new_header, session_uuid
from explorer.formats.registry import open_source
from explorer.models.client import ModelClient
from explorer.services.document import Document
from explorer.services.effective_rules import recorded_rules
from explorer.store import Store
from explorer.workbench import Workbench
from tests.pi_json import entry_body

NOW = 1_700_000_000_123


def test_an_id_is_a_uuid_of_version_7_that_sorts_by_time() -> None:
    random = Random(1)
    earlier, later = session_uuid(NOW, random), session_uuid(NOW + 1, random)
    assert earlier < later
    assert earlier[14] == "7" and earlier[19] in "89ab"
    assert [len(part) for part in earlier.split("-")] == [8, 4, 4, 4, 12]
    assert int(earlier.replace("-", "")[:12], 16) == NOW


def test_the_header_is_the_line_that_pi_writes() -> None:
    header = new_header("/home/ann/shop", NOW, Random(1))
    assert json.loads(header.raw) == {
        "type": "session",
        "version": 3,
        "id": header.session_id,
        "timestamp": "2023-11-14T22:13:20.123Z",
        "cwd": "/home/ann/shop",
    }


def test_a_session_begun_here_is_listed_named_and_exported(tmp_path: Path) -> None:
    with Store.open(tmp_path / "one.db") as store:
        client = ModelClient()
        bench = Workbench(store, client, clock_ms=lambda: NOW)

        async def begin() -> None:
            nameless = await bench.create(tmp_path)
            assert (nameless.leaf, len(nameless.tree)) == (-1, 0)
            assert recorded_rules(nameless).profile.name == "explorer"
            document = await bench.create(tmp_path, "  Prices ")
            assert document.title == "Prices"
            text = {"role": "user", "content": [{"type": "text", "text": "Hello."}]}
            await document.writer.append(entry_body("message", message=text), document.leaf)
            own = recorded_rules(document)
            assert (own.profile.name, own.known.provenance) == ("explorer", Provenance.EXACT)
            await bench.export(document.key, tmp_path / "out.jsonl")

        asyncio.run(begin())
        client.close()
        assert {row.cwd for row in bench.sessions()} == {str(tmp_path)}
    source = open_source(tmp_path / "out.jsonl")
    records = [record for batch in source.batches() for record in batch]
    assert source.header.format == "pi" and source.header.cwd == str(tmp_path)
    assert [json.loads(record.raw)["type"] for record in records] == ["session_info", "message"]
    assert not source.report.problems


def test_a_session_of_a_file_is_judged_by_what_the_file_tells(
    bench: Workbench, document: Document
) -> None:
    own = recorded_rules(document)
    assert (own.profile.name, own.known.provenance) == ("pi", Provenance.INFERRED)


def test_who_recorded_an_entry_is_asked_once_and_needs_no_database_that_can_be_read(
    bench: Workbench, document: Document
) -> None:
    """A window asks while it paints: a database that is gone must not reach it."""
    text = {"role": "user", "content": [{"type": "text", "text": "Hello."}]}
    entry = asyncio.run(document.writer.append(entry_body("message", message=text), document.leaf))
    assert document.writer.made_here(entry) and not document.writer.made_here(3)
    bench.store.close()
    assert document.writer.made_here(entry) and not document.writer.made_here(4)
