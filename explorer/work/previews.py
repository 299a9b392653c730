"""Previews cut where something was cut before, under the rules that are in force now."""

from __future__ import annotations

from bisect import bisect_left

from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Profile, Settings
from explorer.work.document import Document
from explorer.work.drafting import Draft


def preview_keeping(
    document: Document, at: int, first_kept_id: str, profile: Profile, settings: Settings
) -> Partition | None:
    """A compaction at an entry that keeps from another one on; its preparation is a ``Refusal``
    where the rules do not cut there. None where that entry is not on the path."""
    tree = document.tree
    first = tree.index_of(first_kept_id)
    wanted = tree.path(at).position(first) if at >= 0 and first >= 0 else -1
    if wanted < 0:
        return None
    free = document.preview(at, profile, settings)
    # Notes before the cut join the kept side: the cut itself is then at a later place.
    after = free.valid_cuts[bisect_left(free.valid_cuts, wanted) :]
    for cut in after[:1]:
        shown = document.preview(at, profile, settings, cut)
        if isinstance(shown.preparation, Preparation) and shown.cut == wanted:
            return shown
    return document.preview(at, profile, settings, wanted)


def waiting_previews(
    document: Document, profile: Profile, settings: Settings, most: int
) -> list[tuple[Draft, Partition, str]]:
    """The newest of the drafts that wait, what each tells of, and its text as it was last edited.

    Reads the database: meant for a worker thread. Raises StoreError.
    """
    known: dict[tuple[int, str], Partition] = {}
    found = []
    for draft, text in document.waiting_drafts()[-most:]:
        place = draft.leaf, draft.first_kept_id
        if place not in known:
            shown = preview_keeping(document, *place, profile, settings)
            if shown is None or not isinstance(shown.preparation, Preparation):
                shown = document.preview(draft.leaf, profile, settings)
            known[place] = shown
        found.append((draft, known[place], text))
    return found
