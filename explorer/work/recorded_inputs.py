"""What this program wrote down of its own requests: which entries a stored summary was told."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.session.kinds import Kind
from explorer.session.tree import SessionTree
from explorer.store import DraftRow
from explorer.work.recording import draft_of

_KINDS = {"compaction": Kind.COMPACTION, "branch": Kind.BRANCH_SUMMARY}


def recorded_inputs(tree: SessionTree, drafts: Iterable[DraftRow]) -> dict[int, frozenset[int]]:
    """By compaction or branch summary entry: the entries of the requests of the draft that it
    was committed from. Entries of other programs have none."""
    found: dict[int, frozenset[int]] = {}
    for row in drafts:
        if row.status != "committed":
            continue
        entry = _entry_of(tree, row)
        if entry < 0:
            continue
        sources = {
            span.entry
            for part in draft_of(row).attempts
            if not part.problem and part.purpose != "short"
            for span in part.sources
            if 0 <= span.entry < len(tree)
        }
        if sources:
            found[entry] = frozenset(sources)
    return found


def _entry_of(tree: SessionTree, row: DraftRow) -> int:
    """The entry that a draft became: below the leaf that it was made at, of its kind, and the
    first that keeps what it keeps."""
    kind = _KINDS.get(row.kind)
    facts = row.facts if isinstance(row.facts, dict) else {}
    if row.kind == "compaction":
        kept = facts.get("first_kept_id")
        for child in tree.children(row.leaf):
            if tree.kind(child) is kind:
                said = tree.columns.compactions[child].first_kept_id
                if not kept or said == kept:
                    return child
        return -1
    left = str(facts.get("from_id", ""))
    return next(
        (entry for entry, told in tree.columns.branches.items() if told.from_id == left), -1
    )
