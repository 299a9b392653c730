"""The recall tests of a session that were run, as they are recorded with its drafts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.recall_result import RecallResult, RecallSubject, questions_from, result_of
from explorer.services.document import Document
from explorer.services.draft_records import attempts_of, entry_of
from explorer.services.recall import text_key
from explorer.services.summary_candidates import calls_cost
from explorer.store.drafts import STREAMING
from explorer.store.rows import DraftRow


class RecordedTest(Struct, frozen=True):
    """A recall test that was run, as far as it came."""

    id: int
    """The id of its record."""
    time_ms: float
    """When it began, since 1970."""
    result: RecallResult
    entry: int = -1
    """The compaction that was tested, or that the tested draft became; -1 for none."""

    def is_of(self, subject: RecallSubject) -> bool:
        """Whether it tested this summary."""
        if subject.entry >= 0:
            return self.entry == subject.entry
        return self.result.questions.subject == subject


def recorded_tests(document: Document) -> list[RecordedTest]:
    """The tests that were run and answered at least one call, the oldest first.

    Reads the database: for a worker thread. Raises StoreError.
    """
    rows = document.shared.store.drafts(document.key, with_requests=False)
    committed = {row.id: row for row in rows if row.status == "committed"}
    found = []
    for row in rows:
        if row.kind == "recall" and row.status != STREAMING:
            one = _recorded(document, row, committed.get(_draft_of(row)))
            if one is not None:
                found.append(one)
    return found


def of_subject(tests: Sequence[RecordedTest], subject: RecallSubject) -> list[RecordedTest]:
    """Those of one summary, the newest first."""
    return [one for one in reversed(tests) if one.is_of(subject)]


def _draft_of(row: DraftRow) -> int:
    questions = questions_from((row.facts or {}).get("recall"), row.leaf, row.model)
    return questions.subject.draft if questions is not None else 0


def _recorded(document: Document, row: DraftRow, draft: DraftRow | None) -> RecordedTest | None:
    """``draft``: the row of the tested draft, once it was committed."""
    questions = questions_from((row.facts or {}).get("recall"), row.leaf, row.model)
    if questions is None:
        return None
    attempts = attempts_of(row)
    replies = {one.purpose: one.text for one in attempts if not one.problem}
    if not replies:
        return None
    result = result_of(questions, replies, row.problem)
    entry = questions.subject.entry
    if draft is not None:
        text = draft.edited_text if draft.edited_text is not None else draft.summary
        is_same = text_key(text) == questions.subject.text
        entry = entry_of(document.tree, draft) if is_same else -1
    return RecordedTest(
        row.id,
        row.created_ms,
        replace(result, dollars=calls_cost(document, attempts)),
        entry,
    )
