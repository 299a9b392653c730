"""The report in HTML and Markdown, by Jinja2 templates, as JSON for programs, and as what a team's
build may fail on.

Every text is untrusted. In HTML it is cleaned and escaped wherever it is printed; in Markdown it is
escaped unless a filter puts it into code. The page forbids scripts and every request by a policy.

``resources/audit-report.schema.json`` documents the JSON. Tokens are counted by the estimate or the
tokenizer that the report's session is counted by; shares are from 0 to 1; entries are named by
index (from 0 in the file) and id; places are UTF-16 units.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup
from msgspec import Struct

from explorer.audit import words
from explorer.audit.findings import LOSS_TITLES, Fidelity, Group, LossKind, Severity
from explorer.audit.needed_again import Expected
from explorer.audit.provenance import Known
from explorer.audit.report.model import (
    VERSION,
    CompactionPart,
    EntryRef,
    LossPart,
    NeedPart,
    Report,
    StripLane,
    cost_words,
    iso,
    moment,
    refs_words,
    verdict_words,
)
from explorer.audit.words import GROUP_TITLES, NEEDED_MEANING, headline, path_words
from explorer.compaction.reasons import count_text
from explorer.session import visible_text as markdown_words
from explorer.session.text import legible, well_formed
from explorer.session.usage_sums import UsageSum

MOST_LISTED = 60
"""Strings of a kind that are listed as not carried."""
LONGEST = 400
"""Characters of a finding's text that are shown."""
_SPACE = re.compile(r"\s+")


def html(report: Report, templates: Mapping[str, str]) -> str:
    """The report as one HTML file without scripts, which fetches nothing.

    ``templates``: the texts of ``resources/report`` by file name.
    """
    environment = template_environment(templates, is_html=True)
    sheet = templates["style.css"]
    page = environment.get_template("report.html.j2")
    return page.render(report=report, sheet=Markup(sheet), policy=policy(sheet)) + "\n"


def markdown(report: Report, templates: Mapping[str, str]) -> str:
    """The report as one Markdown document. ``templates``: as for `html`."""
    environment = template_environment(templates, is_html=False)
    return environment.get_template("report.md.j2").render(report=report) + "\n"


def policy(sheet: str, images: str = "'none'") -> str:
    """What a browser may do with the page: apply this style sheet, show what ``images`` names, and
    nothing else.

    The sheet is named by its hash, so that no style of another hand applies; shapes have classes,
    as attributes with style would need a weaker policy.
    """
    digest = b64encode(sha256(sheet.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src {images}; base-uri 'none'; "
        "form-action 'none'"
    )


def template_environment(templates: Mapping[str, str], *, is_html: bool) -> Environment:
    """An environment for templates of HTML or Markdown by file name, with the filters of reports
    and transcripts. What a template prints is made readable and escaped."""
    environment = Environment(
        loader=DictLoader(dict(templates)),
        autoescape=is_html, finalize=_readable if is_html else _markdown_escaped,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "number": lambda value: f"{value:,}",
        "moment": moment,
        "count": count_text,
        "refs": refs_words,
        "cost": cost_words,
        "group_counts": _group_counts,
        "size": words.size_text,
        "shrunk": words.shrunk_words,
        "headline": words.headline,
        "not_carried": words.not_carried_words,
        "none_found": words.none_sentence,
        "standing_lines": words.standing_lines,
        "verdict": verdict_words,
        "known": words.PROVENANCE_TITLES.get,
        "needs_words": words.needs_words,
        "before_words": words.before_words,
        "need_text": words.need_text,
        "needed_words": words.path_words,
        "expected_words": words.expected_words,
        "fidelity_sentences": _fidelity_sentences,
        "cut": _cut,
        "one_space": lambda text: _SPACE.sub(" ", readable(text)),
        "trim_left": str.lstrip,
        "trim_right": str.rstrip,
        "code": lambda text: Markup(markdown_words.code(text)),
        "block": lambda text: Markup(markdown_words.block(text)),
        "strip_chart": strip_chart,
        "ledger_title": words.LEDGER_TITLES.__getitem__,
    }
    environment.globals |= {
        "Severity": Severity,
        "SEVERITY_TITLES": words.SEVERITY_TITLES,
        "LEDGER_MEANINGS": words.LEDGER_MEANINGS,
        "LEDGER_TITLES": words.LEDGER_TITLES,
        "GROUP_MEANINGS": words.GROUP_MEANINGS,
        "GROUP_TITLES": words.GROUP_TITLES,
        "PROVENANCE_MEANINGS": words.PROVENANCE_MEANINGS,
        "NEED_TITLES": words.NEED_TITLES,
        "NEEDED_MEANING": words.NEEDED_MEANING,
        "TAIL_MEANING": words.TAIL_MEANING,
        "RULE_OF_THUMB": words.RULE_OF_THUMB,
        "LOSSES_MEANING": words.LOSSES_MEANING,
        "LOSSES_TITLE": words.LOSSES_TITLE,
        "KIND_TITLES": words.KIND_TITLES,
        "MOST_LISTED": MOST_LISTED,
        "MOST_LANES": MOST_LANES,
    }
    return environment


def readable(text: str) -> str:
    """A text of a session with its half surrogates, control characters and marks that turn the
    direction of writing replaced, so that what is read is what is there."""
    return legible(text.replace("\r\n", "\n"))


def _readable(value: object) -> object:
    return readable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _markdown_escaped(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return markdown_words.plain(value)
    return value


def _fidelity_sentences(fidelity: Fidelity) -> list[str]:
    """Remarks on a summary besides its figures."""
    sentences = (
        "" if fidelity.is_readable else words.UNREADABLE_SUMMARY,
        words.section_words(fidelity),
    )
    return [sentence for sentence in sentences if sentence]


def _group_counts(part: CompactionPart) -> list[str]:
    """How many findings each group has; a dash where the summary cannot be read."""
    found = part.fidelity
    return [f"{len(found.of(group)):,}" if found.is_readable else "–" for group in Group]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


MOST_LANES = 40
WIDTH = 880
_FILLS = {"verbatim": "kept", "told": "exact", "lost": "lost", "aside": "aside"}
"""The texture of each state of the strip."""


class Rect(NamedTuple):
    """A rectangle in user units; ``fill`` names a texture of the style sheet."""

    x: str
    y: str
    width: str
    height: str
    fill: str


class ChartLabel(NamedTuple):
    """A text at a place; ``anchor`` is that of SVG."""

    text: str
    x: str
    y: str
    anchor: str = "middle"


class RectChart(Struct, frozen=True):
    """A drawing of rectangles."""

    rects: Sequence[Rect]
    labels: Sequence[ChartLabel]
    height: int
    words: str
    width: int = WIDTH


def strip_chart(lanes: Sequence[StripLane]) -> RectChart:
    """The path before the first compaction and after each, from top to bottom."""
    chosen = lanes
    if len(lanes) > MOST_LANES:
        last = len(lanes) - 1
        wanted = sorted({round(at * last / (MOST_LANES - 1)) for at in range(MOST_LANES)})
        chosen = [lanes[at] for at in wanted]
    length = max((run.stop for lane in lanes for run in lane.runs), default=1)
    left, tall = 64, 18
    scale = (WIDTH - left - 2) / max(1, length)
    rects, labels = [], []
    for at, lane in enumerate(chosen):
        y = at * tall + 2
        labels.append(ChartLabel(lane.name, str(left - 8), str(y + 11), "end"))
        for run in sorted(lane.runs, key=lambda run: run.state == "lost"):
            least = 4.0 if run.state == "lost" else 0.0
            width = max(least, (run.stop - run.start) * scale)
            x = left + run.start * scale
            rects.append(Rect(f"{x:.2f}", str(y), f"{width:.2f}", str(tall - 5), _FILLS[run.state]))
    words = "The path after each compaction."
    return RectChart(rects, labels, len(chosen) * tall + 4, words)


Json = dict[str, Any]


def document(report: Report) -> Json:
    """The report as JSON values. Texts are well-formed: lone surrogates are replaced."""
    session, spending = report.session, report.spending
    found = {
        "version": VERSION,
        "program": report.program,
        "made": iso(report.made_ms),
        "session": {
            "title": session.title, "id": session.id, "format": session.format,
            "project": session.project, "leaf": session.leaf or None,
            "entries": session.entries, "path_entries": session.on_path, "turns": session.turns,
            "begun": iso(session.begun_ms), "ended": iso(session.ended_ms),
        },
        "rules": report.rules,
        "rules_known": report.rules_known,
        "counted_by": report.counted_by,
        "cost": {
            "usd": round(spending.total.cost, 6),
            "usd_by_list": round(spending.total.listed_cost, 6),
            "replies": _spent(spending.replies),
            "summaries": _spent(spending.summaries), **_known(report.cost),
        },
        "whole_path": report.is_whole,
        "needed_again": _needed(report),
        "compactions": [_compaction(compaction) for compaction in report.compactions],
        "losses": [_loss(loss) for loss in report.losses],
        "strip": [_lane(one) for one in report.strip],
    }  # fmt: skip
    clean: Json = _clean(found)
    return clean


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {key: _clean(each) for key, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, list) else value


def _spent(spent: UsageSum) -> Json:
    return {
        "usd": round(spent.cost, 6), "calls": spent.calls, "unpriced": spent.unpriced,
        "by_list": spent.listed, "usd_by_list": round(spent.listed_cost, 6),
        "uncounted": spent.uncounted, "input": spent.input, "output": spent.output,
        "cache_read": spent.cache_read, "cache_write": spent.cache_write,
    }  # fmt: skip


def _known(known: Known) -> Json:
    return {"provenance": known.provenance.value, "basis": known.basis}


def _entry(ref: EntryRef) -> Json:
    return {"index": ref.index, "id": ref.id, "kind": ref.kind, "preview": ref.preview}


def _needed(report: Report) -> Json:
    found = report.needed_again
    return {
        "number": len(found.needs),
        "tokens": sum(one.tokens for one in found.after),
        "expected": _expected(found.expected),
        "is": NEEDED_MEANING,
        "after": [
            {
                "compaction": part.found.compaction,
                "expected": _expected(part.found.expected),
                "needs": [_need(one) for one in part.needs],
            }
            for part in report.needed
        ],
    }


def _expected(expected: Expected | None) -> Json | None:
    if expected is None:
        return None
    return {
        "number": round(expected.number, 4), "found": expected.found, "soon": expected.soon,
        "before": expected.before, "after": expected.after, "places": expected.places,
    }  # fmt: skip


def _need(part: NeedPart) -> Json:
    repeat, tail = part.need.repeat, part.need.tail
    return {
        "kind": repeat.kind.value, "text": repeat.text,
        "lines": [repeat.first, repeat.last] if repeat.first else None,
        "line_count": repeat.lines or None,
        "tokens": repeat.tokens, "before": _entry(part.before), "after": _entry(part.after),
        "taken_by": part.need.taken_by,
        "tail": None if tail is None else tail._asdict(),
    }  # fmt: skip


def _compaction(part: CompactionPart) -> Json:
    fidelity = part.fidelity
    return {
        "number": part.number,
        "entry": _entry(part.entry),
        "time": iso(part.time_ms),
        "tokens": {
            "recorded_before": part.recorded_before or None, **_known(part.recorded_known),
            "counted_before": part.counted_before, "counted_after": part.counted_after,
            "summarized": fidelity.tokens_before,
            "summary": fidelity.tokens_after if fidelity.is_readable else None,
            "ratio": round(fidelity.ratio, 4) if fidelity.is_readable else None,
        },
        "told": _known(part.known),
        "kept_from": _entry(part.kept_from) if part.kept_from is not None else None,
        "summary": part.summary,
        "readable": fidelity.is_readable,
        "headline": headline(fidelity),
        "instructions": fidelity.instructions,
        "standing": [
            {
                "text": one.fact.text, "sources": list(one.fact.sources),
                "carriage": one.carriage.value, "line": one.line or None,
            }
            for one in fidelity.standing
        ],
        "findings": _findings(part),
        "not_carried": {kind.value: len(facts) for kind, facts in fidelity.not_carried.items()},
        "sections": [
            {"name": each.name, "count": each.count, "required": each.required}
            for each in fidelity.sections
        ],
        "losses": [_loss(loss) for loss in part.losses],
        **_ledger(part),
    }  # fmt: skip


def _ledger(part: CompactionPart) -> Json:
    return {
        "ledger": [
            {"verdict": _name(row.verdict.name), "entries": row.entries, "tokens": row.tokens}
            for row in part.ledger
        ],
        "runs": [
            {
                "first": run.first, "last": run.last, "entries": run.entries,
                "tokens": run.tokens, "verdict": _name(run.verdict.name), "rule": run.rule,
                **_known(run.known),
            }
            for run in part.runs
        ],
        "more_runs": part.more_runs,
    }  # fmt: skip


def _findings(part: CompactionPart) -> list[Json]:
    """The findings by their groups, each group the newest first."""
    return [
        {
            "id": one.id, "group": one.group.value, "kind": one.fact.kind.value,
            "text": one.fact.text, "stated": one.stated or None, "reason": one.reason,
            "sources": list(one.fact.sources), "stale": one.fact.stale,
            "in_summary": [{"start": place.start, "end": place.end} for place in one.places],
        }
        for group in part.groups
        for one in (quoted.finding for quoted in group.findings)
    ]  # fmt: skip


def _loss(part: LossPart) -> Json:
    loss = part.loss
    return {
        "kind": loss.kind.value, "title": loss.title, "gravity": loss.severity.name.lower(),
        "at": _entry(part.at), "entries": list(loss.entries), "tokens": loss.tokens,
        "cause": loss.cause, "prevention": loss.prevention,
        "provenance": loss.provenance.value, "basis": loss.basis,
    }  # fmt: skip


def _lane(lane: StripLane) -> Json:
    return {
        "moment": lane.name,
        "runs": [
            {"start": run.start, "stop": run.stop, "state": run.state} for run in lane.runs
        ],
    }  # fmt: skip


def _name(name: str) -> str:
    return name.lower().replace("_", "-")


class Failure(NamedTuple):
    """One reason to fail."""

    check: str
    """The name of the check."""
    text: str
    """What was found, in a sentence."""


def _checks() -> dict[str, str]:
    found = {
        "needed-again": "something was needed again after a compaction",
        "lost-entries": "entries that are neither kept nor summarized",
    }
    found |= {group.value: GROUP_TITLES[group] for group in Group}
    return found | {kind.value: LOSS_TITLES[kind] for kind in LossKind}


CHECKS = _checks()
"""What can be failed on, by name, in words."""


def failures(report: Report, on: Collection[str]) -> tuple[Failure, ...]:
    """Why a report fails: which of the checks ``on`` (names of ``CHECKS``) find something. Raises
    KeyError for another name."""
    return tuple(failure for name in on if (failure := _checked(report, name)) is not None)


def _checked(report: Report, name: str) -> Failure | None:
    title = CHECKS[name]
    if name == "needed-again":
        needed = report.needed_again
        return Failure(name, f"{title}: {path_words(needed)}") if needed.needs else None
    if name == "lost-entries":
        gone = [one.loss for one in report.losses if one.loss.severity is Severity.LOST]
        entries = {entry for loss in gone for entry in loss.entries}
        text = f"{title}: {count_text(len(entries), 'entry')}"
        return Failure(name, text) if gone else None
    if name in set(LossKind):
        these = [one.loss.at for one in report.losses if one.loss.kind == name]
        return Failure(name, f"{title}: at {_names(these)}") if these else None
    group = Group(name)
    found = [(one, len(one.fidelity.of(group))) for one in report.compactions]
    times = ", ".join(f"{number:,} at {one.name}" for one, number in found if number)
    return Failure(name, f"{title}: {times}") if times else None


def _names(entries: Sequence[int]) -> str:
    return ", ".join(f"#{entry}" for entry in dict.fromkeys(entries))
