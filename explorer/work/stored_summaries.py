"""A compaction of the session as what a draft of the same range would start from.

Another program may have made it, by other rules: what is previewed is cut where it was cut, under
the rules that are in force now.
"""

from __future__ import annotations

from dataclasses import dataclass

from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.session.kinds import Kind
from explorer.session.text import text_of
from explorer.work.document import Document
from explorer.work.drafting import Draft
from explorer.work.previews import preview_keeping

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
    parent, first_id = tree.columns.parent[entry], tree.columns.compactions[entry].first_kept_id
    shown = preview_keeping(document, parent, first_id, profile, settings)
    if shown is None:
        raise ValueError(
            f"What compaction #{entry} kept is not on its path, so no draft can be cut like it. "
            "Try another cut at that place instead."
        )
    if isinstance(shown.preparation, Preparation):
        return shown
    raise ValueError(
        f"Compaction #{entry} was cut before #{tree.index_of(first_id)}, which the rules of "
        f"“{profile.title}” do not do: {shown.preparation.reason} Choose other rules, or try "
        "another cut at that place."
    )
