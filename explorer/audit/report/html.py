"""A report as one HTML file: no scripts, nothing fetched, readable without a network.

Whatever comes from the session is untrusted: it is only ever put in through ``markup``'s escape,
and the page forbids scripts and every request by a policy of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from explorer.audit.report import charts
from explorer.audit.report.html_compaction import compaction, losses
from explorer.audit.report.markup import Markup, Rows, head, join, number, table, tag
from explorer.audit.report.model import CompactionPart, Report, moment
from explorer.audit.report.style import policy, style, textures
from explorer.audit.words import GRAVITY_TITLES, PROVENANCE_MEANINGS, UPPER_BOUND, percent
from explorer.compaction.reasons import count_text


def html(report: Report) -> str:
    """The report as a whole document."""
    title = f"Audit of {report.session.title}"
    top = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy()),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        style(),
    )
    body = tag(
        "body",
        tag("a", "To the figures", href="#overview", class_="skip"),
        textures(),
        _header(report, title),
        tag("main", _overview(report), *_parts(report)),
        _footer(report),
    )
    return f"<!DOCTYPE html>\n{tag('html', top, body, lang='en')}\n"


def _header(report: Report, title: str) -> Markup:
    session = report.session
    began, ended = moment(session.begun_ms), moment(session.ended_ms)
    when = f", {began} to {ended}" if began else ""
    links = [tag("li", tag("a", "Overview", href="#overview"))]
    if report.losses:
        links.append(tag("li", tag("a", f"Losses ({len(report.losses):,})", href="#losses")))
    for part in report.compactions:
        survives = f": at most {percent(part.fidelity.survival)} survives" if part.things else ""
        words = f"Compaction #{part.entry.index}{survives}"
        links.append(tag("li", tag("a", words, href=f"#c{part.entry.index}")))
    return tag(
        "header",
        tag("h1", title),
        tag("p", f"{session.format} in {session.project}{when}. Session {session.id}.",
            class_="dim"),
        tag("nav", tag("ul", *links), aria_label="Contents"),
    )  # fmt: skip


def fact(name: str, value: str, more: str = "") -> Markup:
    """One figure with its name."""
    small = tag("small", more) if more else Markup("")
    return tag("div", tag("dt", name), tag("dd", value, small))


def cost_words(report: Report) -> tuple[str, str]:
    """What the path cost, and how that is known."""
    total = report.spending.total
    known = f"{report.cost.provenance}: {report.cost.told}"
    if not total.cost:
        return "not told", known
    summaries = report.spending.summaries.cost
    part = f" ${summaries:,.4f} of it by summaries." if summaries else ""
    return f"${total.cost:,.4f}", f"{known}{part}"


def verdict_words(report: Report) -> str:
    """The report in a sentence."""
    worst, entries = report.worst, {e for one in report.losses if one.loss.gravity == 2
                                    for e in one.loss.entries}  # fmt: skip
    if not report.compactions:
        said = "Nothing was compacted on this path: the model sees every message word for word."
    elif worst is None:
        said = "Nothing that could be lost was summarized."
    else:
        which = worst.name if report.is_one else f"{worst.name}, the worst of them"
        said = (
            f"At most {percent(worst.fidelity.survival)} of {count_text(worst.things, 'thing')} "
            f"{'survives' if worst.things == 1 else 'survive'} {which}."
        )
    if entries:
        is_are = "is" if len(entries) == 1 else "are"
        said += f" {count_text(len(entries), 'entry')} {is_are} neither kept nor summarized."
    return said


def _overview(report: Report) -> Markup:
    session = report.session
    cost, cost_known = cost_words(report)
    sizes = [(one.counted_before, one.counted_after) for one in report.compactions]
    before, after = sum(size[0] for size in sizes), sum(size[1] for size in sizes)
    facts = [
        fact("Entries on the path", f"{session.on_path:,}",
             f"of {session.entries:,} in all, {count_text(session.turns, 'turn')}"),
        fact("Compactions", f"{len(report.compactions):,}",
             "" if report.is_whole else "the one that was asked for"),
        fact("Losses", f"{len(report.losses):,}", "ways in which entries or words went missing"),
        fact("Cost of the path", cost, cost_known),
        fact("Judged by the rules of", report.rules, report.rules_known),
    ]  # fmt: skip
    if report.compactions:
        facts.insert(2, fact("Tokens before → after", f"{before:,} → {after:,}",
                             "of all contexts that were compacted, counted here"))  # fmt: skip
    return tag(
        "section",
        tag("h2", "Overview", id="overview"),
        tag("p", tag("strong", verdict_words(report))),
        tag("dl", *facts, class_="facts"),
        tag("p", UPPER_BOUND, class_="bound"),
        _generations(report),
        _strip(report),
        aria_labelledby="overview",
    )


def share_words(part: CompactionPart) -> str:
    """The share that survives a compaction; a dash where nothing could be lost."""
    return percent(part.fidelity.survival) if part.things else "–"


def _generations(report: Report) -> Markup:
    if not report.compactions:
        return Markup("")
    rows: Rows = [
        [
            head(f"#{part.entry.index}"), moment(part.time_ms), number(part.counted_before),
            number(part.counted_after), number(part.things), number(part.survived),
            number(share_words(part)),
            number(part.grave), number(len(part.losses)),
        ]
        for part in report.compactions
    ]  # fmt: skip
    heads = ("Compaction", "Time", "Tokens before", "Tokens after", "Things summarized",
             "Still seen", "Share", "Findings", "Losses")  # fmt: skip
    drawn = (
        tag("figure", charts.generations([part for part in report.compactions if part.things]),
            tag("figcaption", "The share of what was summarized that the model still sees, "
                "compaction by compaction; those that summarized nothing of the kind left out."))
        if sum(1 for part in report.compactions if part.things) > 1
        else Markup("")
    )  # fmt: skip
    return join([tag("h3", "Survival per generation"), drawn,
                 table("Each compaction of the report", heads, rows)])  # fmt: skip


def _strip(report: Report) -> Markup:
    if not report.strip:
        return Markup("")
    rows: Rows = [
        [head(_moment_words(lane.name)), number(lane.verbatim), number(lane.told),
         number(lane.lost), number(lane.aside)]
        for lane in report.strip
    ]  # fmt: skip
    heads = ("Moment", "Word for word", "Told by summaries", "Lost", "Set aside")
    fewer = (
        f" {charts.MOST_LANES} of {len(report.strip)} moments are drawn."
        if len(report.strip) > charts.MOST_LANES
        else ""
    )
    return join([
        tag("h3", "The survival strip"),
        tag("figure", charts.strip(report.strip), charts.strip_legend(),
            tag("figcaption", "The entries of the path from left to right, and what held for them "
                f"before the first compaction (top) and after each.{fewer}")),
        tag("details", tag("summary", "The strip in figures"),
            table("Messages of the path at each moment", heads, rows)),
    ])  # fmt: skip


def _moment_words(name: str) -> str:
    return "Before the first" if name == "before" else f"After {name}"


_LOSS_HEADS = ("What", "Gravity", "Times", "Tokens", "Where", "Known")


def _loss_rows(report: Report) -> Rows:
    told = {part.entry.index for part in report.compactions}
    rows: Rows = []
    for these in report.loss_kinds:
        first = these[0].loss
        places = [
            tag("a", f"#{at}", href=f"#c{at}") if at in told else Markup(f"#{at}")
            for at in dict.fromkeys(one.loss.at for one in these)
        ]
        known = ", ".join(dict.fromkeys(one.loss.provenance.value for one in these))
        rows.append([
            head(first.title), GRAVITY_TITLES[first.gravity], number(len(these)),
            number(sum(one.loss.tokens for one in these)), join(places, ", "), known,
        ])  # fmt: skip
    return rows


def _parts(report: Report) -> Sequence[Markup]:
    parts = []
    if report.losses:
        parts.append(
            tag(
                "section",
                tag("h2", "Losses", id="losses"),
                table("Kinds of losses, the gravest first", _LOSS_HEADS, _loss_rows(report)),
                losses(report.elsewhere),
                aria_labelledby="losses",
            )
        )  # fmt: skip
    parts += [compaction(part) for part in report.compactions]
    return parts


def _footer(report: Report) -> Markup:
    badges = [
        join([tag("span", name, class_="tag"), f" {meaning}"])
        for name, meaning in PROVENANCE_MEANINGS.items()
    ]
    return tag(
        "footer",
        tag("p", "How a figure is known: ", join(badges, " "), class_="dim"),
        tag("p", f"Written by {report.program}, {moment(report.made_ms)}. Entries are numbered "
            "as in the file, from 0.", class_="dim"),
    )  # fmt: skip
