"""Which summaries of a session can be compared, and which of them at first."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.audit.recorded import compactions_on_path
from explorer.session.kinds import Kind
from explorer.work.document import Document
from ui.audit.compare.subjects import Key, Subject
from ui.audit.known import NOT_RECORDED
from ui.widgets.figures import full, moment

MOST_BRANCHES = 12
"""Branch summaries that are offered, the newest first."""


def stored_subject(document: Document, entry: int) -> Subject:
    """A compaction or a branch summary as it is offered."""
    columns = document.tree.columns
    is_branch = document.tree.kind(entry) is Kind.BRANCH_SUMMARY
    name = f"{'branch summary' if is_branch else 'compaction'} #{entry}"
    facts = moment(columns.time[entry])
    if not is_branch:
        before = columns.compactions[entry].tokens_before
        facts += f" · of {full(before)} tokens" if before > 0 else f" · size {NOT_RECORDED}"
    if not document.tree.is_ancestor(entry, document.leaf):
        facts += " · on another branch"
    return Subject(Key("entry", entry), name, facts.removeprefix(" · "))


def stored_summaries(document: Document) -> list[int]:
    """Compactions of the active path, of other branches, then branch summaries; newest first."""
    tree = document.tree
    on_path = list(reversed(compactions_on_path(tree, document.leaf)))
    elsewhere = [
        entry for entry in sorted(tree.columns.compactions, reverse=True) if entry not in on_path
    ]
    branches = [
        entry
        for entry in range(len(tree) - 1, -1, -1)
        if tree.columns.kind[entry] == Kind.BRANCH_SUMMARY
    ]
    return [*on_path, *elsewhere, *branches[:MOST_BRANCHES]]


def summaries_of_branches(document: Document, left: int, right: int) -> list[Key]:
    """The branch summaries that tell of two branches, by where each was left: those of the left
    one first. A branch is what two paths do not share."""
    tree, found = document.tree, []
    ancestor = tree.common_ancestor(left, right)
    told = [entry for entry in range(len(tree)) if tree.columns.kind[entry] == Kind.BRANCH_SUMMARY]
    for end in (left, right):
        for entry in told:
            name = document.entry(entry).get("fromId")
            at = tree.index_of(name) if isinstance(name, str) else -1
            is_beyond = at >= 0 and at != ancestor and not tree.is_ancestor(at, ancestor)
            if is_beyond and (tree.is_ancestor(at, end) or tree.is_ancestor(end, at)):
                found.append(Key("entry", entry))
    return list(dict.fromkeys(found))


def likely(document: Document, keys: Sequence[Key], first: Key | None) -> list[Key]:
    """What is checked at first: drafts beside each other, a compaction beside the one before it,
    a branch summary beside another."""
    tree = document.tree
    wanted = first if first is not None and first in keys else keys[0]
    if wanted.kind == "draft":
        others = [key for key in keys if key.kind == "draft" and key != wanted]
    else:
        kind = tree.kind(wanted.number)
        alike = [
            key
            for key in keys
            if key.kind == "entry" and key != wanted and tree.kind(key.number) is kind
        ]
        before = [key for key in alike if key.number < wanted.number]
        others = before or alike
    return [*others[:1], wanted]
