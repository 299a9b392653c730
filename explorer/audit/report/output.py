"""The report in HTML and Markdown, by Jinja2 templates.

Every text is untrusted. In HTML it is cleaned and escaped wherever it is printed; in Markdown it is
escaped unless a filter puts it into code. The page forbids scripts and every request by a policy.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from explorer.audit import needed_words, words
from explorer.audit.findings import Fidelity, Group
from explorer.audit.loss import Severity
from explorer.audit.report import charts
from explorer.audit.report.model import (
    CompactionPart,
    Report,
    cost_words,
    moment,
    refs_words,
    verdict_words,
)
from explorer.compaction.reasons import count_text
from explorer.session import visible_text as markdown_words
from explorer.session.text import legible

MOST_LISTED = 60
"""Strings of a kind that are listed as not carried."""
LONGEST = 400
"""Characters of a finding's text that are shown."""
_SPACE = re.compile(r"\s+")


def html(report: Report, templates: Mapping[str, str]) -> str:
    """The report as one HTML file without scripts, which fetches nothing.

    ``templates``: the texts of ``resources/report`` by file name.
    """
    environment = template_environment(templates, _readable, autoescape=True)
    sheet = templates["style.css"]
    page = environment.get_template("report.html.j2")
    return page.render(report=report, sheet=Markup(sheet), policy=policy(sheet)) + "\n"


def markdown(report: Report, templates: Mapping[str, str]) -> str:
    """The report as one Markdown document. ``templates``: as for `html`."""
    environment = template_environment(templates, _markdown_escaped, autoescape=False)
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


def template_environment(
    templates: Mapping[str, str], finalize: Callable[[Any], Any], *, autoescape: bool
) -> Environment:
    """An environment for templates by file name, with the filters of reports and transcripts.
    ``finalize``: applied to each value that a template prints, before it is escaped."""
    environment = Environment(
        loader=DictLoader(dict(templates)),
        autoescape=autoescape,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": lambda value: f"{value:,}",
        "moment": moment,
        "count": count_text,
        "refs": refs_words,
        "cost": cost_words,
        "group_counts": _group_counts,
        "size": words.size_text,
        "headline": words.headline,
        "not_carried": words.not_carried_words,
        "verdict": verdict_words,
        "known": words.PROVENANCE_TITLES.get,
        "needs_words": needed_words.needs_words,
        "before_words": needed_words.before_words,
        "need_text": needed_words.need_text,
        "needed_words": needed_words.path_words,
        "expected_words": needed_words.expected_words,
        "fidelity_sentences": _fidelity_sentences,
        "cut": _cut,
        "one_space": lambda text: _SPACE.sub(" ", readable(text)),
        "trim_left": str.lstrip,
        "trim_right": str.rstrip,
        "code": lambda text: Markup(markdown_words.code(text)),
        "block": lambda text: Markup(markdown_words.block(text)),
        "strip_chart": charts.strip,
        "ledger_title": words.LEDGER_TITLES.__getitem__,
    }
    environment.globals |= {
        "Severity": Severity,
        "SEVERITY_TITLES": words.SEVERITY_TITLES,
        "LEDGER_MEANINGS": words.LEDGER_MEANINGS,
        "LEDGER_TITLES": words.LEDGER_TITLES,
        "GROUP_EMPTY": words.GROUP_EMPTY,
        "GROUP_MEANINGS": words.GROUP_MEANINGS,
        "GROUP_TITLES": words.GROUP_TITLES,
        "PROVENANCE_MEANINGS": words.PROVENANCE_MEANINGS,
        "NEED_TITLES": needed_words.NEED_TITLES,
        "NEEDED_MEANING": needed_words.MEANING,
        "TAIL_MEANING": needed_words.TAIL_MEANING,
        "RULE_OF_THUMB": words.RULE_OF_THUMB,
        "LOSSES_MEANING": words.LOSSES_MEANING,
        "KIND_TITLES": words.KIND_TITLES,
        "MOST_LISTED": MOST_LISTED,
        "MOST_LANES": charts.MOST_LANES,
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
        words.size_words(fidelity),
        words.section_words(fidelity),
    )
    return [sentence for sentence in sentences if sentence]


def _group_counts(part: CompactionPart) -> list[str]:
    """How many findings each group has; a dash where the summary cannot be read."""
    found = part.fidelity
    return [f"{len(found.of(group)):,}" if found.is_readable else "–" for group in Group]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
