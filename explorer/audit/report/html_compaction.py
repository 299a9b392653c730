"""One compaction of a report as HTML: figures, findings, losses, ledger, the summary itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from explorer.audit.excerpt import Excerpt
from explorer.audit.findings import STATED_WRONGLY, Fate, Finding
from explorer.audit.loss import Gravity
from explorer.audit.provenance import Known
from explorer.audit.report import charts
from explorer.audit.report.markup import Markup, Rows, head, join, number, shown, table, tag
from explorer.audit.report.model import (
    CompactionPart,
    EntryRef,
    FindingGroup,
    LossPart,
    Quoted,
    moment,
    refs_words,
)
from explorer.audit.words import (
    FATE_TITLES,
    GRAVITY_TITLES,
    LEDGER_MEANINGS,
    LEDGER_TITLES,
    ONE_KIND,
    file_words,
    kind_title,
    percent,
    request_words,
    section_words,
    size_words,
)

_SPACE = re.compile(r"\s+")
MOST_LISTED = 200
"""Findings of a group that are listed without quotes."""
LONGEST = 400
"""Letters of a finding's text that are shown."""


def compaction(part: CompactionPart) -> Markup:
    """The section of one compaction."""
    name = f"c{part.entry.index}"
    return tag(
        "section",
        tag("h2", f"Compaction #{part.entry.index}", id=name),
        tag("p", ", ".join(word for word in (f"Number {part.number} on the path", part.entry.id,
                                             moment(part.time_ms)) if word), class_="dim"),
        _figures(part),
        _kinds(part),
        _findings(part),
        _losses(part),
        _ledger(part),
        tag("h3", "The summary"),
        tag("pre", part.summary or "(The summary is empty.)"),
        aria_labelledby=name,
    )  # fmt: skip


def badge(known: Known) -> Markup:
    """How something is known: the word, and why on pointing."""
    return tag("span", known.provenance.value, class_="tag", title=known.told)


def _figures(part: CompactionPart) -> Markup:
    told = part.fidelity
    recorded = f"{part.recorded_before:,}" if part.recorded_before else "not told"
    kept = part.kept_from
    rows = [
        ("Survives, at most", percent(told.survival) if part.things else "–",
         f"{part.survived:,} of {part.things:,} things"),
        ("Context before → after", f"{part.counted_before:,} → {part.counted_after:,}",
         "tokens, counted here"),
        ("Context before, as recorded", recorded,
         f"{part.recorded_known.provenance}: {part.recorded_known.told}"),
        ("Summarized → summary", f"{told.tokens_before:,} → {told.tokens_after:,}", "tokens"),
        ("Kept from", f"#{kept.index}" if kept else "nothing kept", kept.preview if kept else ""),
        ("What was told", part.told.provenance.value, part.told.told),
    ]  # fmt: skip
    facts = [
        tag("div", tag("dt", name), tag("dd", value, tag("small", more)))
        for name, value, more in rows
    ]
    words = (size_words(told), request_words(told), section_words(told), file_words(told))
    return join([
        tag("dl", *facts, class_="facts"),
        *(tag("p", line) for line in words if line),
    ])  # fmt: skip


def _kinds(part: CompactionPart) -> Markup:
    if not part.fidelity.kinds:
        return tag("p", "Nothing was found in what was summarized that could be lost.")
    rows: Rows = []
    for row in part.fidelity.kinds:
        wrong = sum(row.counts.get(fate, 0) for fate in STATED_WRONGLY)
        rows.append([
            head(kind_title(row.kind)), charts.bar(row.counts),
            number(percent(row.rate) if row.total else "–"), number(row.survived),
            number(row.total),
            number(row.counts.get(Fate.LOST, 0)), number(wrong),
        ])  # fmt: skip
    heads = ("Kind", "What became of them", "Survives", "Still seen", "Summarized", "Lost",
             "Told wrongly")  # fmt: skip
    bands = [band for band in part.fidelity.recency if band.total]
    drawn = (
        tag("figure", charts.recency(bands), tag("figcaption", "By when a thing was said last: "
            "the oldest stretch of entries at the left."))
        if len(bands) > 1
        else Markup("")
    )  # fmt: skip
    return join([
        tag("h3", "Survival per kind"),
        charts.legend(),
        table("Things found in what was summarized, by kind", heads, rows),
        drawn,
    ])  # fmt: skip


# findings ------------------------------------------------------------------------------------


def _findings(part: CompactionPart) -> Markup:
    if not part.groups:
        said = "Nothing is lost, and nothing is told wrongly." if part.things else "None."
        return join([tag("h3", "Findings"), tag("p", said)])
    return join([
        tag("h3", f"Findings ({part.grave:,}), the gravest first"),
        *(_group(group) for group in part.groups),
    ])  # fmt: skip


def _group(group: FindingGroup) -> Markup:
    words = f"{group.why} {group.note}".strip()
    why = tag("p", words, class_="why") if words else Markup("")
    listed = group.rest[:MOST_LISTED]
    more = ""
    if len(group.rest) > len(listed):
        more = f" {len(group.rest) - len(listed):,} more are in the JSON form of this report."
    rest = (
        tag(
            "details",
            tag("summary", f"{len(group.rest):,} more"),
            table(
                f"{group.title}: the others.{more}", ("What", "Kind", "Entries"),
                [(tag("code", _short(one.atom.text)), ONE_KIND[one.atom.kind],
                  refs_words(one.atom.sources)) for one in listed],
            ),
        )
        if group.rest
        else Markup("")
    )  # fmt: skip
    return join([
        tag("h4", f"{group.title} ({group.total:,})"), why,
        tag("ul", *(_quoted(one, group.note) for one in group.quoted), class_="found"), rest,
    ])  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _quoted(one: Quoted, told_of_all: str) -> Markup:
    finding, atom = one.finding, one.finding.atom
    said_by = "" if finding.source is not None else _ref(one.source, "said last in")
    parts = [
        tag("p", _fate(finding), f" {ONE_KIND[atom.kind]} ", tag("code", _short(atom.text)),
            said_by),
    ]  # fmt: skip
    if finding.source is not None:
        parts.append(tag("p", "The source says: ", tag("code", _short(finding.source.text)),
                         _ref(one.source, "in")))  # fmt: skip
    if one.said is not None and one.says_more:
        parts.append(_quote(one.said))
    if one.told is not None:
        parts += [tag("p", "The summary says:", class_="why"), _quote(one.told)]
    if finding.note and finding.note != told_of_all and finding.source is None:
        parts.append(tag("p", finding.note, class_="why"))
    return tag("li", *parts)


def _fate(finding: Finding) -> Markup:
    css = "tag lost" if finding.fate is Fate.LOST else "tag wrong"
    return tag("span", FATE_TITLES[finding.fate], class_=css)


def _ref(ref: EntryRef | None, how: str) -> str:
    return f" {how} #{ref.index}, {ref.kind} ({ref.id})" if ref is not None else ""


def _quote(found: Excerpt) -> Markup:
    before, said, after = (_SPACE.sub(" ", shown(part)) for part in found)
    return tag("blockquote", before.lstrip(), tag("mark", _short(said)), after.rstrip())


# losses --------------------------------------------------------------------------------------


def _losses(part: CompactionPart) -> Markup:
    if not part.losses:
        return Markup("")
    return join([tag("h3", f"Losses ({len(part.losses):,})"), losses(part.losses)])


def losses(parts: Sequence[LossPart]) -> Markup:
    """Losses with cause, entries, and what would have prevented them."""
    return tag("ul", *(_loss(part) for part in parts), class_="found")


def _loss(part: LossPart) -> Markup:
    loss = part.loss
    css = "tag lost" if loss.gravity is Gravity.LOST else "tag wrong"
    tokens = f", {loss.tokens:,} tokens" if loss.tokens else ""
    size = f" {len(loss.entries):,} of the entries{tokens}." if loss.entries else ""
    named = [
        tag("li", f"#{ref.index} {ref.kind}: ", tag("code", _short(ref.preview)))
        for ref in part.shown
    ]
    if len(loss.entries) > len(part.shown):
        named.append(tag("li", f"and {len(loss.entries) - len(part.shown):,} more"))
    return tag(
        "li",
        tag("p", tag("span", GRAVITY_TITLES[loss.gravity], class_=css), " ",
            tag("strong", loss.title), f" at #{part.at.index}.{size} ",
            badge(Known(loss.provenance, loss.basis))),
        tag("p", loss.cause),
        tag("p", f"What would have prevented it: {loss.prevention}", class_="why"),
        tag("p", f"How it is known: {loss.basis}", class_="why"),
        tag("ul", *named) if named else Markup(""),
    )  # fmt: skip


# the ledger ----------------------------------------------------------------------------------


def _ledger(part: CompactionPart) -> Markup:
    rows: Rows = [
        [head(LEDGER_TITLES[row.verdict]), number(row.entries), number(row.tokens),
         LEDGER_MEANINGS[row.verdict]]
        for row in part.ledger
    ]  # fmt: skip
    total = f"{sum(row.entries for row in part.ledger):,} entries"
    runs: Rows = [
        [
            head(f"#{run.first}–{run.last}" if run.last > run.first else f"#{run.first}"),
            LEDGER_TITLES[run.verdict], number(run.entries), number(run.tokens), run.rule,
            badge(run.known),
        ]
        for run in part.runs
    ]  # fmt: skip
    more = f" {part.more_runs:,} more stretches are left out." if part.more_runs else ""
    return tag(
        "details",
        tag("summary", f"The ledger right after it: {total} with their verdicts"),
        table("Verdicts", ("Verdict", "Entries", "Tokens", "What it means"), rows),
        table(
            "Stretches of entries with one verdict; the rule is that of the first entry."
            f"{more}",
            ("Entries", "Verdict", "How many", "Tokens", "Rule", "Known"), runs,
        ),
    )  # fmt: skip
