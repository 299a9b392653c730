"""A compaction of the session as what a draft of the same range would start from.

Another program may have made it, by other rules: what is previewed is cut where it was cut, under
the rules that are in force now.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from explorer.compaction.partition import Partition
from explorer.compaction.prepare import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.session.kinds import Kind
from explorer.session.text import text_of
from explorer.work.document import Document
from explorer.work.drafting import Draft

STORED = 0
"""The id of a draft that stands for a compaction of the session; recorded drafts start at 1."""


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A compaction as a draft. ``draft.id`` is ``STORED``: it is not among the drafts."""

    shown: Partition
    draft: Draft


def stored_summary(
    document: Document, entry: int, profile: Profile, settings: Settings
) -> StoredSummary:
    """A compaction as a draft of the range that it told, to be checked and mended.

    Raises ValueError, with the reason for the person, where it has no summary or where the rules
    cannot cut as it was cut.
    """
    tree = document.tree
    if not 0 <= entry < len(tree) or tree.kind(entry) is not Kind.COMPACTION:
        raise ValueError(f"#{entry} is no compaction.")
    told = document.entry(entry)
    summary = text_of(told.get("summary"))
    if not summary.strip():
        raise ValueError(f"Compaction #{entry} has no summary that could be mended.")
    shown = _as_it_was(document, entry, profile, settings)
    facts = tree.columns.compactions[entry]
    before = facts.tokens_before
    short = told.get("shortSummary")
    return StoredSummary(
        shown,
        Draft(
            STORED, "compaction", "committed", tree.columns.parent[entry], (), summary, "", "",
            first_kept_id=facts.first_kept_id,
            tokens_before=before if before > 0 else shown.tokens_before,
            short_summary=short if isinstance(short, str) else "",
            at_leaf=False,
        ),
    )  # fmt: skip


def _as_it_was(document: Document, entry: int, profile: Profile, settings: Settings) -> Partition:
    """What a compaction at the same place with the same cut would do. Raises ValueError."""
    tree = document.tree
    parent = tree.columns.parent[entry]
    first = tree.index_of(tree.columns.compactions[entry].first_kept_id)
    wanted = tree.path(parent).position(first) if parent >= 0 and first >= 0 else -1
    if wanted < 0:
        raise ValueError(
            f"What compaction #{entry} kept is not on its path, so no draft can be cut like it. "
            "Try another cut at that place instead."
        )
    free = document.preview(parent, profile, settings)
    # Notes before the cut join the kept side: the cut itself is then at a later place.
    after = free.valid_cuts[bisect_left(free.valid_cuts, wanted) :]
    for cut in after[:1]:
        shown = document.preview(parent, profile, settings, cut)
        if isinstance(shown.preparation, Preparation) and shown.cut == wanted:
            return shown
    refused = document.preview(parent, profile, settings, wanted).preparation
    raise ValueError(
        f"Compaction #{entry} was cut before #{first}, which the rules of “{profile.title}” do not "
        f"do: {refused.reason} Choose other rules, or try another cut at that place."
    )
