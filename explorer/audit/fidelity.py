"""How true a summary is to what it took the place of.

    table = scan([*earlier, *summarized, *kept], payloads.entries)
    found = fidelity(summary, summarized, kept, table)

One list of findings, which every view shows: what the user laid down for good and nothing says,
what is open and not named, what is stated wrongly. Precision comes first: what is in doubt is not
reported. Strings that are merely absent are listed by kind and count in no figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from explorer.audit.carried import Carried, telling_words
from explorer.audit.entry_mentions import EntryMentions
from explorer.audit.findings import Fidelity, Finding, Group, SectionCheck
from explorer.audit.open_state import open_state
from explorer.audit.stated_wrongly import Sources, stated_wrongly
from explorer.audit.summary_text import SummaryText
from explorer.compaction.summary import FREE, Form, section_counts
from explorer.facts import Fact, FactKind, Facts, FactTable
from explorer.tokens.estimate import estimate_text

_CANCEL_EVERY = 512
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
    tokens_before: int = 0,
    tokens_after: int | None = None,
    gathered: EntryMentions | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Fidelity:
    """The fidelity of a summary, or of several parts that stand for it together.

    ``summarized``, ``kept``: entry indices, the summarized ones with the compaction whose summary
    was updated; all scanned into ``table``. ``earlier``: entries that an earlier summary covers:
    what the user laid down there still holds. ``changed``: the files that calls of the summarized
    entries changed, with those entries. ``tokens_after``: None counts the estimate. ``gathered``:
    what the audit of another compaction of the session has read, and this one need not read again.

    When ``cancelled`` returns True the findings end early; ask it before they are shown.
    """
    parts = (summary,) if isinstance(summary, str) else tuple(summary)
    text = SummaryText(parts)
    facts = table.facts([*summarized, *kept])
    carried = Carried(text, table, kept, facts)
    known = [*earlier, *summarized, *kept]
    given = table.instructions(known)
    holding = [one for one in given if not one.stale and telling_words(one.text)]
    sources = Sources(table, facts, known, gathered or EntryMentions())
    wrong = stated_wrongly(text, sources, given)
    after = estimate_text("\n".join(parts)) if tokens_after is None else tokens_after
    return Fidelity(
        findings=(
            *_instructions(holding, wrong, frozenset(kept), carried),
            *open_state(table, summarized, kept, changed, carried),
            *wrong,
        ),
        instructions=len(holding),
        not_carried=_not_carried(facts, frozenset(summarized), carried, cancelled),
        sections=_sections(parts, form),
        tokens_before=tokens_before,
        tokens_after=after,
        standing=tuple(holding),
    )


def _instructions(
    holding: Sequence[Fact], wrong: Sequence[Finding], kept: frozenset[int], carried: Carried
) -> list[Finding]:
    """The standing instructions that nothing says, the newest first."""
    turned = {one.fact.key for one in wrong}
    found = []
    for fact in reversed(holding):
        if fact.key in turned or not kept.isdisjoint(fact.sources) or carried.says(fact.text):
            continue
        part = carried.part_of(fact.text)
        reason = "In neither the summary nor the kept tail, in these or other words"
        if part:
            reason = f"The summary says at most a part of it: “{part[:160]}”"
        if len(fact.sources) > 1:
            reason += f"; given {len(fact.sources)} times"
        reason += "."
        found.append(Finding(Group.INSTRUCTION, fact, reason))
    return found


def _not_carried(
    facts: Facts,
    summarized: frozenset[int],
    carried: Carried,
    cancelled: Callable[[], bool],
) -> Mapping[FactKind, tuple[Fact, ...]]:
    """Other facts of the summarized entries that are missing from the context, by kind."""
    found: dict[FactKind, list[Fact]] = {}
    for number, fact in enumerate(facts):
        if number % _CANCEL_EVERY == 0 and cancelled():
            break
        if fact.stale or summarized.isdisjoint(fact.sources) or carried.has(fact):
            continue
        found.setdefault(fact.kind, []).append(fact)
    return {kind: tuple(found[kind]) for kind in FactKind if kind in found}


def _sections(parts: Sequence[str], form: Form) -> tuple[SectionCheck, ...]:
    counts = section_counts("\n\n".join(parts), form)
    return tuple(
        SectionCheck(name, count, name in form.required)
        for name, count in counts.items()
        if count or name in form.required
    )
