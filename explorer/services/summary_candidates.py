"""Summaries to be compared: drafts and stored ones, with how they came to be.

Reads payloads and recorded drafts: meant for a worker thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from explorer.audit.difference import Candidate
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.models.catalogue import cost_of
from explorer.services.draft_records import Draft, draft_of
from explorer.services.open_session import OpenedSession
from explorer.services.summary_audit import Audited, summary_text
from explorer.services.summary_request import Attempt
from explorer.session.kinds import Kind
from explorer.store.rows import DraftRow
from explorer.tokens.estimate import estimate_text

UNKNOWN = "not recorded"


def draft_candidate(
    document: OpenedSession,
    draft: Draft,
    text: str,
    name: str,
    shown: Partition | None = None,
    audited: Audited | None = None,
) -> Candidate:
    """A draft with its text as it is edited by now. ``shown``: what it was made from."""
    tokens = estimate_text(text)
    settings = _settings(draft.settings)
    settings["Instructions"] = draft.instructions or "none"
    settings["Model"] = draft.model
    if shown is not None and isinstance(shown.preparation, Preparation):
        settings["Keeps from"] = f"#{shown.preparation.first_kept}"
    settings["Made at"] = f"#{draft.leaf}"
    settings["Text"] = "edited" if text != draft.summary else "as it was written"
    return Candidate(
        name,
        text,
        tokens,
        shown.after(tokens) if shown is not None else -1,
        draft_cost(document, draft),
        draft.elapsed_ms,
        settings,
        audited.fidelity if audited is not None and audited.fidelity.is_readable else None,
    )


def entry_candidate(
    document: OpenedSession, entry: int, audited: Audited | None = None
) -> Candidate:
    """A stored compaction or branch summary; how it was made, where this program made it."""
    tree = document.tree
    text = summary_text(document, entry)
    is_branch = tree.kind(entry) is Kind.BRANCH_SUMMARY
    name = f"{'branch summary' if is_branch else 'compaction'} #{entry}"
    is_readable = audited is None or audited.fidelity.is_readable
    tokens = estimate_text(text) if is_readable else -1
    draft = committed_draft(document, entry, text)
    if draft is not None:
        candidate = draft_candidate(document, draft, text, name)
        settings = dict(candidate.settings)
        cost, elapsed = candidate.cost, candidate.elapsed_ms
    else:
        settings = dict.fromkeys(("Profile", "Instructions", "Model"), UNKNOWN)
        cost, elapsed = None, 0.0
    settings["Made at"] = f"#{tree.columns.parent[entry]}"
    if not is_branch:
        first = tree.index_of(tree.columns.compactions[entry].first_kept_id)
        none = "nothing" if is_readable else UNKNOWN
        settings["Keeps from"] = f"#{first}" if first >= 0 else none
    return Candidate(
        name,
        text,
        tokens,
        -1,
        cost,
        elapsed,
        settings,
        None if audited is None else audited.fidelity,
    )


def committed_draft(document: OpenedSession, entry: int, text: str) -> Draft | None:
    """The draft that an entry was stored from; None where another program made it."""
    compactions = document.tree.columns.compactions
    first = compactions[entry].first_kept_id if entry in compactions else ""
    for row in reversed(document.shared.store.drafts(document.key)):
        if row.status == "committed" and _stored_text(row) == text:
            draft = draft_of(row)
            if not first or draft.first_kept_id == first:
                return draft
    return None


def _stored_text(row: DraftRow) -> str:
    return row.edited_text if row.edited_text is not None else row.summary


def draft_cost(document: OpenedSession, draft: Draft) -> float | None:
    """Dollars that all calls of a draft took; None where a price or a usage is not known."""
    return calls_cost(document, draft.attempts)


def calls_cost(document: OpenedSession, attempts: Iterable[Attempt]) -> float | None:
    """Dollars that calls took; None where a price or a usage is not known."""
    total, known = 0.0, False
    for attempt in attempts:
        info = document.models.info(attempt.model)
        if attempt.usage is None:
            if attempt.model.startswith("offline/"):
                known = True
                continue
            return None
        cost = cost_of(attempt.usage, info)
        if not cost.known:
            return None
        total, known = total + cost.total, True
    return total if known else None


def _settings(recorded: Mapping[str, Any]) -> dict[str, str]:
    profile = recorded.get("profile")
    title = profile.get("title") or profile.get("name") if isinstance(profile, Mapping) else None
    found = {"Profile": str(title or UNKNOWN)}
    for key, name in (
        ("keep_recent_tokens", "Keeps recent tokens"),
        ("reserve_tokens", "Reserve"),
        ("context_window", "Context window"),
    ):
        value = recorded.get(key)
        if isinstance(value, int):
            found[name] = f"{value:,}"
    return found
