"""The summaries of a session, those it holds and drafts before their commit: their fidelity, and
how they came to be, where they are compared.

Reads payloads and recorded drafts and takes its time: all of it is meant for a worker thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from explorer.audit.branch_audit import Origin, branch_audit
from explorer.audit.difference import Candidate
from explorer.audit.fidelity import fidelity
from explorer.audit.findings import Fidelity
from explorer.audit.generations import ChangedFiles, recorded_compaction
from explorer.audit.stated_wrongly import EntryMentions
from explorer.compaction.partition import Partition
from explorer.compaction.preparation import Preparation
from explorer.compaction.profile import Settings
from explorer.compaction.summary import FREE, SECTION_SETS, Form, section_counts
from explorer.facts import NO_TABLE, ScanCancelled, scan
from explorer.models.catalogue import cost_of
from explorer.services.draft_records import Attempt, Draft, draft_of, recorded_inputs
from explorer.services.effective_rules import recorded_rules
from explorer.services.open_session import OpenedSession
from explorer.session.kinds import Kind
from explorer.store.rows import DraftRow

OnProgress = Callable[[int, int], None]
"""Called in the worker with entries done and entries in all."""
IsCancelled = Callable[[], bool]


def _never() -> bool:
    return False


def _say_nothing(_done: int, _total: int) -> None:
    """A progress callback that does nothing."""


class Audited(Struct, frozen=True):
    """A summary and what was found of it."""

    name: str
    """What it is called: ``compaction #12``, ``draft``."""
    entry: int
    """The compaction or branch summary; -1 of a draft."""
    summary: str
    fidelity: Fidelity
    leaf: int
    """The entry below which it is stored, or would be."""


class Auditor:
    """Audits one opened session; what was read once is cached. Any thread, one at a time.

    All methods raise ScanCancelled when ``cancelled`` returns true, and what reading payloads
    raises. ``progress`` gets entries done and in all.
    """

    def __init__(self, session: OpenedSession) -> None:
        self._session = session
        self._table = NO_TABLE
        self._gathered = EntryMentions()
        self._changes = ChangedFiles(session.tree)
        self._found: dict[tuple[int, str], Audited] = {}
        """By the entry and who counted the tokens of its figures."""

    def compaction(
        self,
        entry: int,
        cancelled: IsCancelled = _never,
        progress: OnProgress = _say_nothing,
    ) -> Audited:
        """The audit of a compaction of the session; of one whose text cannot be read nothing is
        counted."""
        session = self._session
        key = (entry, session.tokens.counted_by)
        if key in self._found:
            return self._found[key]
        made = recorded_compaction(session.tree, entry, self._changes)
        # What is pinned is repeated after the summary, word for word.
        kept = (*sorted(session.context(entry).again), *made.kept)
        summary = _summary_of(session, entry)
        certainty = session.tree.columns.compactions[entry].certainty
        if certainty == "unreadable" and not summary.strip():
            tokens = _tokens(session, [at for at in made.summarized if at not in set(kept)])
            result = Fidelity(tokens_before=tokens, is_readable=False, kept=len(kept))
        else:
            self._scan((*made.earlier, *made.summarized, *kept), cancelled, progress)
            result = self._fidelity(
                summary, made.summarized, kept, made.earlier, made.changed, cancelled
            )
        above = session.tree.columns.parent[entry]
        if above < 0:
            result = replace(result, is_comparable=False)
        audited = Audited(f"compaction #{entry}", entry, summary, result, above)
        self._found[key] = audited
        return audited

    def branch(
        self,
        entry: int,
        cancelled: IsCancelled = _never,
        progress: OnProgress = _say_nothing,
    ) -> Audited | None:
        """The audit of a branch summary, compared with the messages of the branch that was left:
        those that went to the summarizer, and those that did not fit. None where the file does not
        say which they are. Raises ValueError for another entry.
        """
        session = self._session
        key = (entry, session.tokens.counted_by)
        if key in self._found:
            return self._found[key]
        tree = session.tree
        rules = recorded_rules(session).profile
        inputs = recorded_inputs(tree, session.shared.store.drafts(session.key)).get(entry)
        audit = branch_audit(tree, entry, rules, Settings.of(rules), inputs)
        if audit.origin is not Origin.FOUND:
            return None
        summary = _summary_of(session, entry)
        sources = sorted({*audit.included, *audit.left_out})
        # What both branches share is seen below the summary anyway.
        kept = [index for index in audit.seen if index != entry]
        self._scan((*sources, *audit.excluded_by_rule, *kept), cancelled, progress)
        result = self._fidelity(
            summary, sources, kept, audit.excluded_by_rule, self._changes.of(audit.left), cancelled
        )
        name = f"branch summary #{entry}"
        audited = Audited(name, entry, summary, result, audit.placed_below)
        self._found[key] = audited
        return audited

    def draft(
        self,
        shown: Partition,
        summary: str,
        name: str = "draft",
        cancelled: IsCancelled = _never,
        progress: OnProgress = _say_nothing,
    ) -> Audited:
        """The audit of a summary that was not committed, of what a preview shows. Raises
        ValueError when the preview refuses."""
        prepared = shown.preparation
        if not isinstance(prepared, Preparation):
            raise ValueError(prepared.reason)
        path = shown.path.indices()
        before = {prepared.previous_compaction} - {-1}
        summarized = sorted({*path[prepared.boundary : prepared.cut], *before})
        # What is pinned is repeated after the summary, word for word.
        again = sorted(set(prepared.again) - before)
        kept = [*again, *(index for index in path[prepared.cut :] if index not in before)]
        earlier = [index for index in path[: prepared.boundary] if index not in before]
        self._scan((*earlier, *summarized, *kept), cancelled, progress)
        result = self._fidelity(
            summary, summarized, kept, earlier, self._changes.of(summarized), cancelled
        )
        return Audited(name, -1, summary, result, prepared.leaf)

    def _fidelity(
        self,
        summary: str,
        summarized: Sequence[int],
        kept: Sequence[int],
        earlier: Sequence[int],
        changed: Mapping[str, Sequence[int]],
        cancelled: IsCancelled,
    ) -> Fidelity:
        """The findings of a summary of the entries ``summarized``, after they were scanned."""
        result = fidelity(
            summary,
            summarized,
            kept,
            self._table,
            earlier=earlier,
            form=form_in(summary),
            changed=changed,
            tokens_before=_tokens(self._session, summarized),
            tokens_after=self._session.tokens.count_text(summary, self._session.tokens.profile),
            gathered=self._gathered,
            cancelled=cancelled,
        )
        if cancelled():
            raise ScanCancelled
        return result

    def _scan(self, entries: Sequence[int], cancelled: IsCancelled, progress: OnProgress) -> None:
        payloads = self._session.payloads.shown
        self._table = scan(
            entries, payloads.entries, self._table, cancelled=cancelled, progress=progress
        )


def summary_text(session: OpenedSession, entry: int) -> str:
    """The summary that a compaction or a branch summary holds; empty of any other entry."""
    kind = session.tree.kind(entry)
    return _summary_of(session, entry) if kind in (Kind.COMPACTION, Kind.BRANCH_SUMMARY) else ""


def form_in(summary: str) -> Form:
    """The form that a summary follows: the one of which it has most, ``FREE`` when it has less
    than half of any."""
    best, most = FREE, 0.5
    for forms in SECTION_SETS.values():
        form = forms["history"]
        counts = section_counts(summary, form)
        have = sum(counts[name] > 0 for name in form.required) / len(form.required)
        if have > most:
            best, most = form, have
    return best


def _summary_of(session: OpenedSession, entry: int) -> str:
    return session.payloads.shown.entry(entry).summary


def _tokens(session: OpenedSession, entries: Sequence[int]) -> int:
    """Tokens of entries by the counter of the session, which the summary is measured by too."""
    return sum(session.tokens.entry_tokens(index) for index in entries)


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
    tokens = document.tokens.count_text(text, document.tokens.profile)
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
    tokens = document.tokens.count_text(text, document.tokens.profile) if is_readable else -1
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
