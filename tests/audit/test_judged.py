"""Standing instructions of published sessions against a list that was judged by hand."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import pytest

from explorer.facts import scan
from explorer.session.kinds import Kind
from explorer.workbench import Workbench
from tests.formats.test_agents import SESSIONS
from tests.services.conftest import close_bench, open_bench

_LIST = Path(__file__).with_name("judged.tsv")


def judged() -> dict[str, dict[int, bool]]:
    """By session: of each entry that was judged, whether it holds a standing instruction."""
    found: dict[str, dict[int, bool]] = defaultdict(dict)
    lines = [line for line in _LIST.read_text("utf-8").splitlines() if not line.startswith("#")]
    for name, entry, right, _worth, _reason in csv.reader(lines, delimiter="\t"):
        found[name][int(entry)] = right == "yes"
    return found


def instructed(bench: Workbench, path: Path) -> set[int]:
    document = bench.open_blocking(bench.import_blocking(path).key)
    path_entries = document.tree.path(document.leaf).indices()
    entries = [at for at in path_entries if document.tree.kind(at) is Kind.USER]
    facts = scan(entries, document.payloads.shown.entries).instructions(entries)
    return {fact.last for fact in facts}


def test_what_is_found_is_what_was_judged_to_be_one(tmp_path: Path) -> None:
    there = {name: rows for name, rows in judged().items() if (SESSIONS.parent / name).is_file()}
    if not there:
        pytest.skip(f"no published sessions at {SESSIONS.parent}")
    bench = open_bench(tmp_path / "sessions.db")
    try:
        for name, rows in there.items():
            wanted = {entry for entry, right in rows.items() if right}
            assert instructed(bench, SESSIONS.parent / name) == wanted, name
    finally:
        close_bench(bench)
