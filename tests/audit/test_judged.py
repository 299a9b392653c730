"""What is found in published sessions against a list of findings that were judged."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.audit.needed_again import needed_again
from explorer.facts import scan
from explorer.services.document import Document
from explorer.session.kinds import Kind
from tests.formats.test_agents import SESSIONS
from tests.services.conftest import close_bench, open_bench

_LIST = Path(__file__).with_name("judged.tsv")


def judged(kind: str) -> dict[str, dict[int, bool]]:
    """By session: of each entry that was judged, whether what is found there is right."""
    found: dict[str, dict[int, bool]] = defaultdict(dict)
    lines = [line for line in _LIST.read_text("utf-8").splitlines() if not line.startswith("#")]
    for name, what, entry, right, _worth, _reason in csv.reader(lines, delimiter="\t"):
        if what == kind:
            found[name][int(entry)] = right == "yes"
    return found


def instructed(document: Document) -> set[int]:
    path_entries = document.tree.path(document.leaf).indices()
    entries = [at for at in path_entries if document.tree.kind(at) is Kind.USER]
    facts = scan(entries, document.payloads.shown.entries).instructions(entries)
    return {fact.last for fact in facts}


def needed(document: Document) -> set[int]:
    found = needed_again(document.tree, document.leaf, document.payloads.shown.entries)
    return {need.repeat.after for need in found.needs}


@pytest.mark.parametrize(("kind", "find"), [("instruction", instructed), ("needed", needed)])
def test_what_is_found_is_what_was_judged_to_be_one(
    tmp_path: Path, kind: str, find: Callable[[Document], set[int]]
) -> None:
    folder = SESSIONS.parent
    there = {name: rows for name, rows in judged(kind).items() if (folder / name).is_file()}
    if not there:
        pytest.skip(f"no published sessions at {folder}")
    bench = open_bench(tmp_path / "sessions.db")
    try:
        for name, rows in there.items():
            wanted = {entry for entry, right in rows.items() if right}
            document = bench.open_blocking(bench.import_blocking(folder / name).key)
            assert find(document) == wanted, name
    finally:
        close_bench(bench)
