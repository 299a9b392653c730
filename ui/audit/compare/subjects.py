"""Which summaries can be compared, which of them at first, and the job that compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from explorer.audit.difference import Candidate, Difference, Drift, difference, drift, shown_alone
from explorer.audit.generations import compactions_on_path
from explorer.compaction.partition import Partition
from explorer.services.document import Document
from explorer.services.draft_records import Draft
from explorer.services.summary_audit import Auditor, draft_candidate, entry_candidate, summary_text
from explorer.session.kinds import Kind
from ui.audit.known import around_words
from ui.audit.work import Job, Progress
from ui.widgets.figures import moment


class SummaryKey(NamedTuple):
    """Names a summary, or with ``NOW`` none in particular."""

    kind: str
    """``entry`` for one that is stored, ``draft``, ``now``."""
    number: int
    """The entry's index, or the draft's id."""

    @property
    def code(self) -> str:
        """The key as a text, for list boxes."""
        return f"{self.kind}:{self.number}"

    @classmethod
    def of(cls, code: str) -> SummaryKey:
        """The key of a ``code``."""
        kind, _, number = code.partition(":")
        return cls(kind, int(number))


NOW = SummaryKey("now", -1)
"""In place of a summary: the moment at the leaf."""


class CommitPlace(NamedTuple):
    """Where a draft is committed, in words."""

    button: str = "Co&mmit"
    words: str = ""
    """What becomes of the leaf; empty at the leaf."""
    leaving: int | None = None
    """The leaf that is left for it; None at the leaf."""


HERE = CommitPlace()


class Subject(Struct, frozen=True):
    """A summary that can be chosen for the comparison."""

    key: SummaryKey
    name: str
    facts: str
    """What tells it from others, in a few words."""
    place: CommitPlace = HERE
    """Of a draft."""


class ComparisonOutcome(Struct, frozen=True):
    """What a worker found out."""

    keys: tuple[SummaryKey, ...]
    """One per candidate."""
    difference: Difference | None
    """None of fewer than two."""
    alone: Difference | None
    """The text of one, beside nothing."""
    drift: Drift
    """Of all compactions on the path."""
    generations: tuple[SummaryKey, ...]
    """One per summary of ``drift``."""


MOST_BRANCHES = 12
"""Branch summaries that are offered, the newest first."""


def stored_subject(document: Document, entry: int) -> Subject:
    """A compaction or a branch summary as it is offered."""
    columns = document.tree.columns
    is_branch = document.tree.kind(entry) is Kind.BRANCH_SUMMARY
    name = f"{'branch summary' if is_branch else 'compaction'} #{entry}"
    facts = moment(columns.time[entry])
    if not is_branch:
        before, after = document.tokens.sizes_around(entry)
        facts += f" · entries {around_words(before, after)}"
    if not document.tree.is_ancestor(entry, document.leaf):
        facts += " · on another branch"
    return Subject(SummaryKey("entry", entry), name, facts.removeprefix(" · "))


def stored_summaries(document: Document) -> list[int]:
    """Compactions of the active path, of other branches, then branch summaries; newest first."""
    tree = document.tree
    on_path = list(reversed(compactions_on_path(tree, document.leaf)))
    off_path = [
        entry for entry in sorted(tree.columns.compactions, reverse=True) if entry not in on_path
    ]
    branches = [
        entry
        for entry in range(len(tree) - 1, -1, -1)
        if tree.columns.kind[entry] == Kind.BRANCH_SUMMARY
    ]
    return [*on_path, *off_path, *branches[:MOST_BRANCHES]]


def summaries_of_branches(document: Document, left: int, right: int) -> list[SummaryKey]:
    """The branch summaries of two branches, by where each was left: those of the left
    one first. A branch is what two paths do not share."""
    tree, found = document.tree, []
    ancestor = tree.common_ancestor(left, right)
    for end in (left, right):
        for entry in sorted(tree.columns.branches):
            at = tree.index_of(tree.columns.branches[entry].from_id)
            is_beyond = at >= 0 and at != ancestor and not tree.is_ancestor(at, ancestor)
            if is_beyond and (tree.is_ancestor(at, end) or tree.is_ancestor(end, at)):
                found.append(SummaryKey("entry", entry))
    return list(dict.fromkeys(found))


def likely(
    document: Document, keys: Sequence[SummaryKey], first: SummaryKey | None
) -> list[SummaryKey]:
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


DraftText = tuple[Draft, Partition, str]
"""A draft, what it was made from, and its text as it is edited by now."""
Stop = Callable[[], bool]


def comparison_job(
    document: Document,
    auditor: Auditor,
    keys: tuple[SummaryKey, ...],
    reference: int,
    texts: Mapping[int, DraftText],
    names: Mapping[SummaryKey, str],
) -> Job:
    """Audits, candidates, and what each generation changed; ``texts`` by the id of the draft."""
    tree, leaf = document.tree, document.leaf

    def candidate(
        key: SummaryKey, stop: Callable[[], bool], tell: Callable[[int, int], None]
    ) -> Candidate:
        if key.kind == "draft":
            draft, shown, text = texts[key.number]
            audited = auditor.draft(shown, text, names[key], stop, tell)
            return draft_candidate(document, draft, text, names[key], shown, audited)
        if tree.kind(key.number) is Kind.COMPACTION:
            return entry_candidate(document, key.number, auditor.compaction(key.number, stop, tell))
        return entry_candidate(document, key.number, auditor.branch(key.number, stop, tell))

    def job(cancelled: Stop, progress: Progress) -> ComparisonOutcome:
        found = [candidate(key, cancelled, progress) for key in keys]
        every = compactions_on_path(tree, leaf)
        made = [Candidate(f"compaction #{entry}", summary_text(document, entry)) for entry in every]
        return ComparisonOutcome(
            keys,
            difference(found, reference) if len(found) > 1 else None,
            shown_alone(found[0]) if len(found) == 1 else None,
            drift(made),
            tuple(SummaryKey("entry", entry) for entry in every),
        )

    return job
