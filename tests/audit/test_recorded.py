"""What recorded compactions told and kept, and what the bundled session lost at its first one."""

from __future__ import annotations

from pathlib import Path

import resources
from explorer.audit.atoms import AtomKind, scan
from explorer.audit.fidelity import fidelity
from explorer.audit.findings import Fate
from explorer.audit.recorded import compactions_on_path, recorded
from tests.conformance.vectors import Vector, load_session

SAMPLE = Path(resources.__file__).parent / "samples" / "retry-that-flakes.jsonl"


def sample() -> Vector:
    return load_session(SAMPLE)


def test_the_second_compaction_goes_on_where_the_first_kept() -> None:
    session = sample()
    first, second = sorted(session.tree.columns.compactions)
    one, two = recorded(session.tree, first), recorded(session.tree, second)
    assert compactions_on_path(session.tree, second) == (first, second)
    assert one.previous == -1 and two.previous == first and first in two.summarized
    assert min(one.kept) == session.tree.index_of(
        session.tree.columns.compactions[first].first_kept_id
    )
    assert set(one.kept) <= {*two.summarized, *two.kept}, "nothing of the kept range is dropped"
    assert two.earlier == one.summarized
    path = session.tree.path(second).indices()[:-1]
    assert sorted({*two.earlier, *two.summarized, *two.kept}) == path


def test_the_files_that_calls_changed_are_those_of_the_range() -> None:
    session = sample()
    second = max(session.tree.columns.compactions)
    found = recorded(session.tree, second)
    assert found.changed and found.stated_changed
    assert all(set(entries) <= set(found.summarized) for entries in found.changed.values())


def test_the_rules_that_the_bundled_session_lost_are_found_with_their_source() -> None:
    session = sample()
    table = scan(range(len(session.entries)), lambda at: [session.entries[i] for i in at])
    of = recorded(session.tree, min(session.tree.columns.compactions))
    summary = session.entries[of.compaction]["summary"]
    found = fidelity(summary, of.summarized, of.kept, table, changed=of.changed)
    lost = [one.atom for one in found.of(Fate.LOST) if one.atom.kind is AtomKind.CONSTRAINT]
    assert any("409" in atom.text for atom in lost)
    assert all(atom.sources and atom.spans[0].entry == atom.sources[0] for atom in lost)
    assert not found.of(Fate.INVENTED)
