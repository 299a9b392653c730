"""What recorded compactions told and kept, and what the bundled session lost at its first one."""

from __future__ import annotations

from pathlib import Path

import resources
from explorer.audit.fidelity import fidelity
from explorer.audit.findings import Group
from explorer.audit.generations import (
    ChangedFiles,
    compactions_on_path,
    left_behind,
    recorded_compaction,
)
from explorer.facts import scan
from explorer.formats.pi.entries import read_entry
from tests.compaction.sessions import Session
from tests.conformance.vectors import Vector, load_session

SAMPLE = Path(resources.__file__).parent / "samples" / "retry-that-flakes.jsonl"


def sample() -> Vector:
    return load_session(SAMPLE)


def test_the_second_compaction_goes_on_where_the_first_kept() -> None:
    session = sample()
    first, second = sorted(session.tree.columns.compactions)
    one, two = recorded_compaction(session.tree, first), recorded_compaction(session.tree, second)
    assert compactions_on_path(session.tree, second) == (first, second)
    assert one.previous == -1 and two.previous == first and first in two.summarized
    assert min(one.kept) == session.tree.index_of(
        session.tree.columns.compactions[first].first_kept_id
    )
    assert set(one.kept) <= {*two.summarized, *two.kept}, "nothing of the kept range is dropped"
    assert two.earlier == one.summarized
    path = session.tree.path(second).indices()[:-1]
    assert sorted({*two.earlier, *two.summarized, *two.kept}) == path


def test_lists_of_files_go_on_from_summary_to_summary() -> None:
    """A28: the first compaction lists what the branch summary does, whose calls are on the branch
    that was left; the second one that and its own."""
    session = sample()
    tree = session.tree
    first, second = sorted(tree.columns.compactions)
    (branch,) = tree.columns.branches
    one, two = recorded_compaction(tree, first), recorded_compaction(tree, second)
    left = left_behind(tree, branch)
    assert left is not None and not set(left) & set(tree.path(first))
    for found in (one, two):
        stated = tree.columns.compactions[found.compaction].modified_files
        assert stated and set(stated) <= found.changed.keys()
    assert all(set(entries) <= set(left) for entries in one.changed.values())
    assert any(set(entries) <= set(two.summarized) for entries in two.changed.values())
    assert any(set(entries) <= set(left) for entries in two.changed.values())
    changes = ChangedFiles(tree)
    assert (
        recorded_compaction(tree, second, changes) == two
        and recorded_compaction(tree, first, changes) == one
    )


def branched(*, modified: list[str], from_id: str = "", by_extension: bool = False) -> Session:
    """A branch on which ``src/a.py`` was changed, left for one whose summary lists files."""
    session = Session()
    base = session.user(text="go")
    session.reply(calls=[("edit", "src/a.py")])
    left = session.result(call="c1.0")
    details = {"readFiles": [], "modifiedFiles": modified}
    entry = {
        "type": "branch_summary", "fromId": from_id or f"e{left}", "summary": "branch",
        "details": details, "fromHook": by_extension,
    }  # fmt: skip
    session.add(entry, under=base)
    return session


def test_a_file_that_nobody_touched_is_not_carried_on() -> None:
    session = branched(modified=["src/a.py", "src/ghost.py"])
    kept = session.user()
    first = session.compaction(kept, modified=["src/a.py", "src/ghost.py", "src/other.py"])
    session.reply()
    last = session.user()
    second = session.compaction(last, modified=["src/a.py", "src/ghost.py", "src/other.py"])
    for compaction in (first, second):
        assert recorded_compaction(session.tree, compaction).changed == {"src/a.py": (1,)}


def test_where_a_branch_cannot_be_found_its_summary_is_taken_at_its_word() -> None:
    session = branched(modified=["src/a.py"], from_id="gone")
    summary = session.leaf
    compaction = session.compaction(session.user())
    assert recorded_compaction(session.tree, compaction).changed == {"src/a.py": (summary,)}


def test_branch_summaries_that_tell_of_one_another_are_read_to_an_end() -> None:
    """A file may name a later entry as the branch that was left; two such names make a ring."""
    session = Session()
    base = session.user(text="go")
    session.reply(calls=[("edit", "src/a.py")])
    session.result(call="c1.0")
    end = session.leaf
    details = {"readFiles": [], "modifiedFiles": ["src/a.py"]}
    entry = {"type": "branch_summary", "summary": "branch", "details": details}
    one = session.add({**entry, "fromId": f"e{end + 2}"}, under=base)
    other = session.add({**entry, "fromId": f"e{one}"}, under=end)
    assert other == end + 2
    session.user()
    compaction = session.compaction(session.user())
    changes = ChangedFiles(session.tree)
    assert recorded_compaction(session.tree, compaction, changes).changed == {"src/a.py": (1,)}
    assert changes.of([one]) == {"src/a.py": (1,)}


def test_what_an_extension_listed_is_not_carried_on() -> None:
    session = branched(modified=["src/a.py"], by_extension=True)
    compaction = session.compaction(session.user())
    assert not recorded_compaction(session.tree, compaction).changed


def test_many_compactions_carry_on_without_end() -> None:
    session = Session()
    session.user()
    session.reply(calls=[("write", "src/a.py")])
    session.result(call="c1.0")
    for _ in range(1_200):
        session.compaction(session.user(), modified=["src/a.py"])
    assert recorded_compaction(session.tree, session.leaf).changed == {"src/a.py": (1,)}


def test_the_rule_of_which_the_bundled_session_loses_half_is_its_one_finding() -> None:
    session = sample()
    table = scan(
        range(len(session.entries)), lambda at: [read_entry(session.entries[i]) for i in at]
    )
    found = []
    for compaction in sorted(session.tree.columns.compactions):
        of = recorded_compaction(session.tree, compaction)
        summary = session.entries[compaction]["summary"]
        found += fidelity(
            summary, of.summarized, of.kept, table, earlier=of.earlier, changed=of.changed
        ).findings
    (one,) = found
    assert one.group is Group.INSTRUCTION and "409" in one.text and one.fact.sources == (2,)
