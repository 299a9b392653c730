"""How true a summary is to what it took the place of.

    table = scan([*summarized, *kept], payloads.entries)
    found = fidelity(summary, summarized, kept, table)

Survival of strings is an upper bound of what a model will recall: where string search finds most
facts of a summary, models asked for them recall few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from explorer.audit.claims import Sources, wrong_claims
from explorer.audit.entry_mentions import EntryMentions
from explorer.audit.fates import Fates, Kept
from explorer.audit.file_evidence import changed_by_command
from explorer.audit.findings import (
    SURVIVED,
    Fate,
    Fidelity,
    FileNamed,
    Finding,
    KindRow,
    RecencyBand,
    RequestCheck,
    SectionCheck,
)
from explorer.audit.summary_text import SummaryText
from explorer.compaction.validation import FREE, Form, section_counts
from explorer.facts import Fact, FactKind, FactTable
from explorer.facts.paths import base_name, path_key
from explorer.facts.text import terms
from explorer.tokens.estimate import estimate_text

BANDS = 5
_NO_FILES: Mapping[str, Sequence[int]] = {}


def fidelity(
    summary: str | Sequence[str],
    summarized: Sequence[int],
    kept: Sequence[int],
    table: FactTable,
    *,
    earlier: Sequence[int] = (),
    form: Form = FREE,
    changed: Mapping[str, Sequence[int]] = _NO_FILES,
    stated_changed: Sequence[str] = (),
    tokens_before: int = 0,
    tokens_after: int | None = None,
    transcript: str = "",
    bands: int = BANDS,
    gathered: EntryMentions | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Fidelity:
    """The fidelity of a summary, or of several parts that stand for it together.

    ``summarized``, ``kept``: entry indices, the summarized ones with the compaction whose summary
    was updated; all scanned into ``table``. ``earlier``: entries that an earlier summary covers,
    known to the summarizer through it: what they say is not invented. ``changed``: the files that
    calls of the summarized entries changed, with those entries. ``stated_changed``: the files
    that the summary's ``details`` say were changed. ``tokens_after``: None counts the estimate.
    ``transcript``: the path that a breadcrumb in the summary names. ``gathered``: what the audit of
    another compaction of the session has read, and this one need not read again.

    When ``cancelled`` returns True the findings end early; ask it before they are shown.
    """
    parts = (summary,) if isinstance(summary, str) else tuple(summary)
    text = SummaryText(parts)
    facts = table.facts([*summarized, *kept])
    summarized_set = frozenset(summarized)
    asked = [fact for fact in facts if not summarized_set.isdisjoint(fact.sources)]
    fates = Fates(text, Kept(table, kept), facts, transcript)
    findings = fates.findings(asked, cancelled)
    sources = Sources(table, facts, [*earlier, *summarized, *kept], gathered or EntryMentions())
    wrong = wrong_claims(text, sources, facts)
    after = estimate_text("\n".join(parts)) if tokens_after is None else tokens_after
    return Fidelity(
        findings=(*findings, *wrong),
        kinds=_rows(findings, wrong),
        sections=_sections(parts, form),
        request=_request(facts.request, fates, text, frozenset(kept)),
        files=_files(text, changed, stated_changed, _Commands(table, [*earlier, *summarized])),
        recency=_recency(findings, summarized, bands),
        tokens_before=tokens_before,
        tokens_after=after,
        counts=Counter(finding.fate for finding in (*findings, *wrong)),
    )


def _rows(findings: Sequence[Finding], wrong: Sequence[Finding]) -> tuple[KindRow, ...]:
    counts: dict[FactKind, Counter[Fate]] = {}
    for finding in (*findings, *wrong):
        if finding.fact.stale and finding.fate is not Fate.STALE:
            continue
        counts.setdefault(finding.fact.kind, Counter())[finding.fate] += 1
    return tuple(KindRow(kind, counts[kind]) for kind in FactKind if kind in counts)


def _sections(parts: Sequence[str], form: Form) -> tuple[SectionCheck, ...]:
    counts = section_counts("\n\n".join(parts), form)
    return tuple(
        SectionCheck(name, count, name in form.required)
        for name, count in counts.items()
        if count or name in form.required
    )


def _request(
    fact: Fact | None, fates: Fates, summary_text: SummaryText, kept: frozenset[int]
) -> RequestCheck | None:
    if fact is None:
        return None
    finding = fates.of(fact)
    fate = Fate.KEPT if fact.last in kept else finding.fate
    wanted = terms(fact.text)
    if fate in SURVIVED or not wanted:
        overlap = 1.0
    else:
        all_terms = frozenset().union(*(line.terms for line in summary_text.lines))
        overlap = len(wanted & all_terms) / len(wanted)
    return RequestCheck(fact, fate, overlap, finding.places)


class _Commands:
    """The commands of some entries, for files that no file tool changed."""

    def __init__(self, table: FactTable, entries: Sequence[int]) -> None:
        self._table = table
        self._entries = entries

    @cached_property
    def _all(self) -> list[tuple[int, str, str]]:
        """Of each command: its entry, its text, and the text in lower case."""
        return [
            (entry, item.text, item.text.lower())
            for entry in self._entries
            for item in self._table.entry(entry).items
            if item.kind is FactKind.COMMAND
        ]

    def that_change(self, path: str) -> tuple[int, ...]:
        """The entries with a command that changes a file."""
        name = base_name(path_key(path))
        found = (
            entry
            for entry, text, low in self._all
            if name in low and changed_by_command(path, text)
        )
        return tuple(dict.fromkeys(found))


def _files(
    summary_text: SummaryText,
    changed: Mapping[str, Sequence[int]],
    stated: Sequence[str],
    commands: _Commands,
) -> tuple[FileNamed, ...]:
    """The files that calls changed and those that the summary says were, each once."""
    by_key: dict[str, tuple[str, tuple[int, ...]]] = {
        path_key(path): (path, tuple(entries)) for path, entries in changed.items()
    }
    listed = {path_key(path): path for path in stated}
    for key, path in listed.items():
        if key not in by_key:
            by_key[key] = path, commands.that_change(path)
    out = []
    for key, (path, entries) in by_key.items():
        places = summary_text.exact(path) or tuple(
            place
            for item, place in summary_text.of(FactKind.PATH)
            if item.key == key or key.endswith("/" + item.key)
        )
        out.append(FileNamed(path, entries, places, key in listed))
    return tuple(out)


def _recency(
    findings: Sequence[Finding], summarized: Sequence[int], bands: int
) -> tuple[RecencyBand, ...]:
    """The summarized range in stretches of as many entries each, the oldest first."""
    if not summarized or bands < 1:
        return ()
    indices = sorted(summarized)
    within = frozenset(indices)
    total: Counter[int] = Counter()
    survived: Counter[int] = Counter()
    for finding in findings:
        last = max((index for index in finding.fact.sources if index in within), default=-1)
        if last < 0 or finding.fact.stale:
            continue
        total[last] += 1
        survived[last] += finding.fate in SURVIVED
    out = []
    for number in range(min(bands, len(indices))):
        first = number * len(indices) // min(bands, len(indices))
        stop = (number + 1) * len(indices) // min(bands, len(indices))
        part = indices[first:stop]
        out.append(
            RecencyBand(
                part[0], part[-1], sum(total[i] for i in part), sum(survived[i] for i in part)
            )
        )
    return tuple(out)
