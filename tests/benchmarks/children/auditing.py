"""The audit of a session in memory: its entries scanned, its compactions judged."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from pathlib import Path

import orjson

from explorer.audit.fidelity import fidelity
from explorer.audit.generations import ChangedFiles, recorded_compaction
from explorer.audit.stated_wrongly import EntryMentions
from explorer.facts import scan
from explorer.formats.pi.entries import read_entry
from explorer.formats.registry import open_source
from explorer.session.entries import Entry
from explorer.session.tree import SessionTree

ROUNDS = 3


def audit_all(session: str) -> dict[str, list[float]]:
    """Times of the processor in ms: all entries read and scanned, then all compactions judged,
    from the table of the scan."""
    source, tree = open_source(session), SessionTree()
    for batch in source.batches():
        for record in batch:
            tree.append(record.entry_id, record.parent, record.facts, record.estimate)
    lines = Path(session).read_bytes().splitlines()[1:]

    def read(wanted: Sequence[int]) -> list[Entry]:
        return [read_entry(orjson.loads(lines[index])) for index in wanted]

    gc.freeze()
    found: dict[str, list[float]] = {
        "scan": [],
        "judge": [],
        "mb": [sum(map(len, lines)) / 1e6],
        "compactions": [float(len(tree.columns.compactions))],
    }
    for _ in range(ROUNDS):
        start = time.process_time()
        table = scan(range(len(tree)), read)
        found["scan"].append((time.process_time() - start) * 1000)
        start = time.process_time()
        gathered, changes = EntryMentions(), ChangedFiles(tree)
        for compaction in tree.columns.compactions:
            of = recorded_compaction(tree, compaction, changes)
            summary = orjson.loads(lines[compaction])["summary"]
            fidelity(
                summary,
                of.summarized,
                of.kept,
                table,
                earlier=of.earlier,
                changed=of.changed,
                gathered=gathered,
            )
        found["judge"].append((time.process_time() - start) * 1000)
    return found
