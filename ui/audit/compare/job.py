"""What a worker does to compare summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from explorer.audit.difference import Candidate, difference
from explorer.audit.drift import drift
from explorer.audit.recorded import compactions_on_path
from explorer.compaction.partition import Partition
from explorer.session.kinds import Kind
from explorer.work.document import Document
from explorer.work.draft_records import Draft
from explorer.work.summary_audit import Auditor, summary_text
from explorer.work.summary_candidates import draft_candidate, entry_candidate
from ui.audit.compare.subjects import Compared, Key
from ui.audit.work import Job, Progress

Held = tuple[Draft, Partition, str]
"""A draft, what it was made from, and its text as it is edited by now."""
Stop = Callable[[], bool]


def comparison_job(
    document: Document,
    auditor: Auditor,
    keys: tuple[Key, ...],
    reference: int,
    held: Mapping[int, Held],
    names: Mapping[Key, str],
) -> Job:
    """Audits, candidates, and what each generation changed; ``held`` by the id of the draft."""
    tree, leaf = document.tree, document.leaf

    def candidate(
        key: Key, stop: Callable[[], bool], tell: Callable[[int, int], None]
    ) -> Candidate:
        if key.kind == "draft":
            draft, shown, text = held[key.number]
            audited = auditor.draft(shown, text, names[key], stop, tell)
            return draft_candidate(document, draft, text, names[key], shown, audited)
        if tree.kind(key.number) is Kind.COMPACTION:
            return entry_candidate(document, key.number, auditor.compaction(key.number, stop, tell))
        return entry_candidate(document, key.number, auditor.branch(key.number, stop, tell))

    def job(cancelled: Stop, progress: Progress) -> Compared:
        found = [candidate(key, cancelled, progress) for key in keys]
        every = compactions_on_path(tree, leaf)
        made = [Candidate(f"compaction #{entry}", summary_text(document, entry)) for entry in every]
        return Compared(
            keys,
            difference(found, reference) if len(found) > 1 else None,
            drift(made),
            tuple(Key("entry", entry) for entry in every),
        )

    return job
