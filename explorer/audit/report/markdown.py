"""A report as Markdown. What comes from the session stands in code, so that none of it is read
as Markdown or as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from explorer.audit.excerpt import Excerpt
from explorer.audit.findings import STATED_WRONGLY, Fate
from explorer.audit.report.html import cost_words, verdict_words
from explorer.audit.report.model import (
    CompactionPart,
    FindingGroup,
    LossPart,
    Quoted,
    Report,
    moment,
    refs_words,
)
from explorer.audit.words import (
    FATE_TITLES,
    GRAVITY_TITLES,
    KIND_TITLES,
    LEDGER_TITLES,
    ONE_KIND,
    PROVENANCE_MEANINGS,
    UPPER_BOUND,
    file_words,
    percent,
    request_words,
    section_words,
    size_words,
)
from explorer.compaction.reasons import count_text
from explorer.session.visible_text import block, code, plain


def markdown(report: Report) -> str:
    """The report as one document."""
    session = report.session
    began, ended = moment(session.begun_ms), moment(session.ended_ms)
    when = f", {began} to {ended}" if began else ""
    cost, known = cost_words(report)
    lines = [
        f"# Audit of {plain(session.title)}", "",
        f"{session.format} in {plain(session.project)}{when}. Session {code(session.id)}.", "",
        f"**{plain(verdict_words(report))}**", "",
        f"- Entries on the path: {session.on_path:,} of {session.entries:,}, "
        f"{count_text(session.turns, 'turn')}",
        f"- Compactions: {len(report.compactions):,}",
        f"- Losses: {len(report.losses):,}",
        f"- Cost of the path: {cost} ({plain(known)})",
        f"- Judged by the rules of: {plain(report.rules)} ({plain(report.rules_known)})", "",
        f"> {plain(UPPER_BOUND)}", "",
    ]  # fmt: skip
    if report.compactions:
        lines += ["## Survival per generation", "", *_generations(report), ""]
    if report.strip:
        lines += ["## Messages of the path at each moment", "", *_strip(report), ""]
    if report.losses:
        lines += ["## Losses", "", *_loss_kinds(report), "", *_losses(report.elsewhere), ""]
    for part in report.compactions:
        lines += _compaction(part)
    marks = " ".join(f"*{name}*: {words}" for name, words in PROVENANCE_MEANINGS.items())
    lines += [f"How a figure is known: {marks}", "",
              f"Written by {report.program}, {moment(report.made_ms)}.", ""]  # fmt: skip
    return "\n".join(lines)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int]) -> list[str]:
    marks = ["---:" if at in set(right) else "---" for at in range(len(heads))]
    return [f"| {' | '.join(row)} |" for row in (heads, marks, *rows)]


def _generations(report: Report) -> list[str]:
    heads = ("Compaction", "Time", "Tokens before", "Tokens after", "Things summarized",
             "Still seen", "Share", "Findings", "Losses")  # fmt: skip
    rows = [
        (
            f"#{part.entry.index}", moment(part.time_ms), f"{part.counted_before:,}",
            f"{part.counted_after:,}", f"{part.things:,}", f"{part.survived:,}",
            percent(part.fidelity.survival) if part.things else "–", f"{part.grave:,}",
            f"{len(part.losses):,}",
        )
        for part in report.compactions
    ]  # fmt: skip
    return _table(heads, rows, range(2, 9))


def _strip(report: Report) -> list[str]:
    heads = ("Moment", "Word for word", "Told by summaries", "Lost", "Set aside")
    rows = [
        ("before the first" if lane.name == "before" else f"after {lane.name}",
         f"{lane.verbatim:,}", f"{lane.told:,}", f"{lane.lost:,}", f"{lane.aside:,}")
        for lane in report.strip
    ]  # fmt: skip
    return _table(heads, rows, range(1, 5))


def _compaction(part: CompactionPart) -> list[str]:
    told, kept = part.fidelity, part.kept_from
    recorded = f"{part.recorded_before:,}" if part.recorded_before else "not told"
    lines = [
        f"## Compaction #{part.entry.index}", "",
        f"Number {part.number} on the path, {code(part.entry.id)}, {moment(part.time_ms)}", "",
        f"- Survives, at most: {percent(told.survival) if part.things else '–'}, "
        f"{part.survived:,} of {part.things:,} things",
        f"- Context: {part.counted_before:,} → {part.counted_after:,} tokens, counted here; "
        f"before, as recorded: {recorded} (*{part.recorded_known.provenance}*)",
        f"- Summarized: {told.tokens_before:,} → {told.tokens_after:,} tokens",
        f"- Kept from: {f'#{kept.index} {code(kept.preview)}' if kept else 'nothing kept'}",
        f"- What was told: *{part.told.provenance}*. {plain(part.told.told)}",
    ]  # fmt: skip
    words = (size_words(told), request_words(told), section_words(told), file_words(told))
    lines += [f"- {plain(line)}" for line in words if line]
    lines += ["", "### Survival per kind", "", *_kinds(part), "",
              f"### Findings ({part.grave:,}), the gravest first", ""]  # fmt: skip
    for group in part.groups:
        lines += _group(group)
    if not part.groups:
        lines += ["None.", ""]
    if part.losses:
        lines += [f"### Losses ({len(part.losses):,})", "", *_losses(part.losses), ""]
    lines += ["### The ledger right after it", "", *_ledger(part), ""]
    return [*lines, "### The summary", "", block(part.summary or "(The summary is empty.)"), ""]


def _kinds(part: CompactionPart) -> list[str]:
    heads = ("Kind", "Survives", "Still seen", "Summarized", "Lost", "Told wrongly")
    rows = []
    for row in part.fidelity.kinds:
        wrong = sum(row.counts.get(fate, 0) for fate in STATED_WRONGLY)
        rows.append((
            KIND_TITLES[row.kind], percent(row.rate) if row.total else "–", f"{row.survived:,}",
            f"{row.total:,}", f"{row.counts.get(Fate.LOST, 0):,}", f"{wrong:,}",
        ))  # fmt: skip
    return _table(heads, rows, range(1, 6))


def _group(group: FindingGroup) -> list[str]:
    lines = [f"#### {plain(group.title)} ({group.total:,})", ""]
    if words := f"{group.why} {group.note}".strip():
        lines += [plain(words), ""]
    for one in group.quoted:
        lines += _quoted(one, group.note)
    if group.rest:
        names = ", ".join(code(one.atom.text) for one in group.rest[:40])
        more = f" and {len(group.rest) - 40:,} more" if len(group.rest) > 40 else ""
        lines.append(f"- {len(group.rest):,} more: {names}{more}")
    return [*lines, ""]


def _quoted(one: Quoted, told_of_all: str) -> list[str]:
    finding, atom = one.finding, one.finding.atom
    said = f", entries {refs_words(atom.sources)}" if atom.sources else ", no source"
    said = "" if finding.source is not None else said
    lines = [f"- **{FATE_TITLES[finding.fate]}** {ONE_KIND[atom.kind]} {code(atom.text)}{said}"]
    if finding.source is not None:
        lines.append(
            f"  - the source, {refs_words(atom.sources)}, says {code(finding.source.text)}"
        )
    if one.said is not None and one.says_more and one.source is not None:
        lines.append(f"  - #{one.source.index}, {one.source.kind}: {code(_whole(one.said))}")
    if one.told is not None:
        lines.append(f"  - the summary: {code(_whole(one.told))}")
    if finding.note and finding.note != told_of_all and finding.source is None:
        lines.append(f"  - {plain(finding.note)}")
    return lines


def _whole(found: Excerpt) -> str:
    return "".join(found)


def _loss_kinds(report: Report) -> list[str]:
    rows = []
    for these in report.loss_kinds:
        first = these[0].loss
        known = ", ".join(dict.fromkeys(one.loss.provenance.value for one in these))
        rows.append((
            first.title, GRAVITY_TITLES[first.gravity], f"{len(these):,}",
            f"{sum(one.loss.tokens for one in these):,}",
            refs_words([one.loss.at for one in these], len(these)), known,
        ))  # fmt: skip
    return _table(("What", "Gravity", "Times", "Tokens", "Where", "Known"), rows, (2, 3))


def _losses(parts: Sequence[LossPart]) -> list[str]:
    lines = []
    for part in parts:
        loss = part.loss
        size = f", {count_text(len(loss.entries), 'entry')}" if loss.entries else ""
        tokens = f", {loss.tokens:,} tokens" if loss.tokens else ""
        lines += [
            f"- **{GRAVITY_TITLES[loss.gravity]}**: {plain(loss.title)} at #{part.at.index}"
            f"{size}{tokens} (*{loss.provenance}*)",
            f"  - {plain(loss.cause)}",
            f"  - What would have prevented it: {plain(loss.prevention)}",
            f"  - How it is known: {plain(loss.basis)}",
        ]
        lines += [f"  - #{ref.index} {ref.kind}: {code(ref.preview)}" for ref in part.shown]
    return lines


def _ledger(part: CompactionPart) -> list[str]:
    rows = [
        (LEDGER_TITLES[row.verdict], f"{row.entries:,}", f"{row.tokens:,}") for row in part.ledger
    ]
    return _table(("Verdict", "Entries", "Tokens"), rows, (1, 2))
