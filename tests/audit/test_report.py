"""The report: one set of figures in three forms, safe to open, and whole without a network."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from explorer.audit.findings import Group
from explorer.audit.ledger import LedgerVerdict
from explorer.audit.needed_again import Expected, NeededAfter
from explorer.audit.overview import overview
from explorer.audit.report import CHECKS, VERSION, Report, document, failures
from explorer.audit.report.model import NeededPart
from explorer.audit.words import GROUP_TITLES, LEDGER_TITLES, RULE_OF_THUMB, none_sentence
from explorer.compaction.profile import BASES
from explorer.facts import ScanCancelled
from explorer.models.client import ModelClient
from explorer.services.audit_report import (
    make_report,
    save_report,
)
from explorer.services.document import Document
from explorer.settings import paths
from explorer.store import Store
from explorer.workbench import Workbench
from tests.audit.reported import FIRST, HOSTILE, LIMIT, SECOND, html, markdown, write_losing

SCHEMA = json.loads(paths.resource_path("audit-report.schema.json").read_text("utf-8"))
OLD_PI = BASES["pi-0.58"]
"""Its compactions start after what the one before kept."""


@pytest.fixture
def losing(tmp_path: Path) -> Iterator[Document]:
    bench = Workbench(Store.open(tmp_path / "sessions.db"), ModelClient())
    try:
        yield bench.open_blocking(bench.import_blocking(write_losing(tmp_path / "l.jsonl")).key)
    finally:
        bench.client.close()
        bench.store.close()


def report_of(opened: Document, **more: Any) -> Report:
    asyncio.run(opened.usage.follow())
    spent = opened.usage.branch(opened.leaf)
    return make_report(opened, opened.leaf, spent, profile=OLD_PI, **more)


class Page(HTMLParser):
    """What a page is made of; fails on tags that do not close each other."""

    VOID = frozenset({"meta", "br", "col"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self.open[-1:] != ["style"] and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    @property
    def text(self) -> str:
        return "".join(self.texts)


def test_the_page_is_balanced_and_brings_no_script_and_fetches_nothing(losing: Document) -> None:
    page = Page(html(report_of(losing)))
    assert page.tags[:2] == ["html", "head"] and {"main", "table", "svg", "details"} <= {*page.tags}
    assert not {"script", "img", "link", "iframe", "object", "embed", "base", "form"} & {*page.tags}
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("src", "srcset", "action", "background", "xlink:href"), (tag, name)
        if name == "href":
            assert value.startswith("#"), value
        if name not in ("title", "aria-label"):  # which are only ever read
            assert "http" not in value.replace("http-equiv", ""), (tag, name, value)
    style = next(text for text in page.texts if ":root" in text)
    assert "@import" not in style and not re.search(r"url\((?!#)", style)
    assert not [name for _, name, _ in page.attributes if name == "style"]
    assert "prefers-color-scheme:dark" in style and "@media print" in style
    policies = [v for _, name, v in page.attributes if name == "content" and "default-src" in v]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policies == [
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src 'none'; base-uri 'none'; "
        "form-action 'none'"
    ]


def test_a_time_stands_in_one_line_and_headings_do_not_widen_a_table(losing: Document) -> None:
    page = html(report_of(losing))
    assert '<td class="word">02 Jan 2026, 03:10 UTC</td>' in page
    assert "thead .number{white-space:normal}" in page


def test_words_of_the_session_are_shown_as_they_are_and_never_run(losing: Document) -> None:
    written = html(report_of(losing))
    assert "<script" not in written and "<img" not in written
    page = Page(written)
    assert HOSTILE in page.text, "it is told, as text"
    assert "\u202e" not in written and "\x07" not in written
    for found in re.finditer(r"&(?!amp;|lt;|gt;|#34;|#39;)", written):
        raise AssertionError(written[found.start() - 20 : found.end() + 20])


def test_a_screen_reader_has_words_for_all_of_it(losing: Document) -> None:
    page = Page(html(report_of(losing)))
    assert ("html", "lang", "en") in page.attributes
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    links = [value[1:] for _, name, value in page.attributes if name == "href"]
    assert set(links) <= set(ids), "every link leads somewhere"
    drawings = page.tags.count("svg")
    told = [a for a in page.attributes if a[0] == "svg" and a[1] in ("aria-label", "aria-hidden")]
    assert len(told) == drawings
    assert page.tags.count("caption") == page.tags.count("table") == page.tags.count("thead")
    heads = page.tags.count("th")
    assert sum(1 for tag, name, _ in page.attributes if (tag, name) == ("th", "scope")) == heads
    bars = [v for tag, name, v in page.attributes if tag == "svg" and name == "aria-label"]
    assert any("path after each compaction" in words for words in bars)


def test_all_forms_tell_the_same_figures(losing: Document) -> None:
    report = report_of(losing)
    told = document(report)
    page, text = Page(html(report)), markdown(report)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    for one in told["compactions"]:
        name = f"#{one['entry']['index']}"
        row = [
            f"{number:,}"
            for number in (
                one["tokens"]["counted_before"], one["tokens"]["counted_after"],
            )
        ]  # fmt: skip
        groups = [finding["group"] for finding in one["findings"]]
        row += [str(groups.count(group.value)) for group in Group]
        row.append(str(len(one["losses"])))
        for form in (page.rows, rows):
            found = [cells for cells in form if cells[:1] == [name] and len(cells) == 10]
            assert [cells[4:] for cells in found] == [row]
            recorded = one["tokens"]["recorded_before"]
            assert found[0][2] == (f"{recorded:,}" if recorded else "–")
    titles = ["Instructions missing", "Open work not named", "Stated wrongly"]
    for form in (page.rows, rows):
        assert any(cells[6:9] == titles for cells in form), "a number of none is not one of all"
    none = [words for part in report.compactions if (words := none_sentence(part.fidelity))]
    assert none and all(words in form for words in none for form in (page.text, text))
    # How many entries fare how is the ledger's to say, in every form and as the window has it.
    for one in told["compactions"]:
        at = one["entry"]["index"]
        given = overview(losing.tree, losing.leaf, OLD_PI, moment=at).ledger
        counts = [each for each in given.counts if each]
        assert [each["entries"] for each in one["ledger"]] == counts
        cells = {name: f"{number:,}" for name, number in zip(
            (LEDGER_TITLES[verdict] for verdict in LedgerVerdict), given.counts, strict=True
        )}  # fmt: skip
        heads = next(row for row in rows if row[1:2] == ["word for word"])
        for form in (page.rows, rows):
            assert [f"#{at}", *(cells[name] for name in heads[1:])] in form
    assert any(rule["line"] for one in told["compactions"] for rule in one["standing"])
    for form in (page.text, text.replace("\\", "")):
        assert RULE_OF_THUMB in form
        assert "$1.7500" in form
        for loss in told["losses"]:
            assert loss["title"] in form
        for one in told["compactions"]:
            for loss in one["losses"]:
                assert loss["cause"] in form and loss["prevention"] in form
            assert one["headline"] in form
            for rule in one["standing"]:
                assert rule["carriage"] != "found" or f"found in “{rule['line']}”" in form
            for finding in one["findings"]:
                assert finding["reason"] in form


def test_the_planted_losses_are_told_with_their_sources(losing: Document) -> None:
    report = report_of(losing)
    first, second = report.compactions
    assert (first.entry.index, second.entry.index) == (FIRST, SECOND)
    found = {group.group: group.findings for group in first.groups}
    limit = next(one for one in found[Group.INSTRUCTION] if one.finding.text == LIMIT)
    assert limit.source is not None and limit.source.index == 0
    assert limit.source_excerpt is not None and limit.source_excerpt.text == LIMIT
    (wrong,) = found[Group.WRONG]
    assert wrong.finding.fact.text == "250 ms" and "900 ms" in wrong.finding.stated
    assert wrong.summary_excerpt is not None and wrong.summary_excerpt.text == "900 ms"
    page = Page(html(report))
    assert f"{GROUP_TITLES[Group.WRONG]} (1)" in page.text
    assert first.recorded_before == 1234 and first.recorded_known.provenance == "exact"
    assert second.losses[0].loss.kind == "kept-range-dropped"
    assert [lane.name for lane in report.strip] == ["before", f"#{FIRST}", f"#{SECOND}"]


def test_the_sizes_of_a_compaction_are_given_once(losing: Document) -> None:
    report = report_of(losing)
    assert any(part.is_part_summarized for part in report.compactions)
    for part in report.compactions:
        entries = f"{part.counted_before:,} → {part.counted_after:,}"
        found = part.fidelity
        whole = replace(found, tokens_before=part.counted_before, tokens_after=part.counted_after)
        same = replace(report, compactions=(replace(part, fidelity=whole),))
        for form in (Page(html(same)).text, markdown(same)):
            assert form.count(entries) == 1
            assert "Summarized:" not in form and "Summarized → summary" not in form
        if part.is_part_summarized:
            alone = replace(report, compactions=(part,))
            assert "Summarized:" in markdown(alone)
            assert "Summarized → summary" in Page(html(alone)).text


def test_json_fits_its_schema_and_names_its_version(losing: Document) -> None:
    told = document(report_of(losing))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(told, SCHEMA)
    assert told["version"] == VERSION == SCHEMA["properties"]["version"]["const"]
    for broken in ("version", "compactions", "losses"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({key: each for key, each in told.items() if key != broken}, SCHEMA)
    described = SCHEMA["$defs"]["compaction"]["properties"]
    assert set(told["compactions"][0]) == set(described), "nothing is left undescribed"
    assert set(told) == set(SCHEMA["properties"])


def test_json_says_what_came_soon_beside_what_can_be_compared(losing: Document) -> None:
    after = NeededAfter(FIRST, (), Expected(0.04, 1, 22, 21, 20, soon=6))
    told = document(replace(report_of(losing), needed=(NeededPart(after, ()),)))
    jsonschema.validate(told, SCHEMA)
    found = told["needed_again"]
    for one in (found["expected"], found["after"][0]["expected"]):
        assert (one["found"], one["soon"]) == (1, 6)
    assert set(found["expected"]) == set(SCHEMA["$defs"]["expected"]["properties"])


def test_one_compaction_is_reported_alone(losing: Document) -> None:
    report = report_of(losing, compaction=FIRST)
    assert [one.entry.index for one in report.compactions] == [FIRST]
    assert not report.is_whole and not document(report)["whole_path"]
    assert all(one.loss.at == FIRST or FIRST in one.loss.entries for one in report.losses)
    with pytest.raises(ValueError, match="no compaction"):
        report_of(losing, compaction=3)


def test_a_session_without_compactions_says_so(losing: Document) -> None:
    spent = losing.usage.branch(5)
    report = make_report(losing, 5, spent)
    assert (report.compactions, report.strip) == ((), ())
    for form in (Page(html(report)).text, markdown(report)):
        assert "Nothing was compacted on this path" in form
    jsonschema.validate(document(report), SCHEMA)
    jsonschema.validate(document(make_report(losing, -1, spent)), SCHEMA)


def test_checks_fail_on_what_is_there_and_on_nothing_else(losing: Document) -> None:
    report = report_of(losing)
    found = {name for name in CHECKS if failures(report, [name])}
    assert {"standing-instruction", "stated-wrongly", "kept-range-dropped", "lost-entries"} <= found
    assert not {"boundary-lost", "open-state", "empty-summary"} & found
    with pytest.raises(KeyError):
        failures(report, ["nonsense"])


def test_half_letters_of_a_session_break_no_form(losing: Document) -> None:
    """A summary may hold half a surrogate pair, which no file can."""
    report = report_of(losing)
    part = replace(report.compactions[0], summary="cut \ud83d here")
    broken = replace(report, compactions=(part,))
    assert document(broken)["compactions"][0]["summary"] == "cut \ufffd here"
    for written in (html(broken), markdown(broken)):
        assert "cut \ufffd here" in written
        assert written.encode("utf-8")


def test_a_file_is_written_whole_or_not_at_all(losing: Document, tmp_path: Path) -> None:
    report = report_of(losing)
    for form in ("html", "md", "json"):
        save_report(report, form, tmp_path / f"r.{form}")  # type: ignore[arg-type]
    assert json.loads((tmp_path / "r.json").read_text("utf-8")) == document(report)
    assert (tmp_path / "r.html").stat().st_mode & 0o777 == 0o600
    with pytest.raises(OSError):
        save_report(report, "html", tmp_path / "missing" / "r.html")
    (tmp_path / "d.html").mkdir()
    with pytest.raises(OSError):
        save_report(report, "html", tmp_path / "d.html")
    assert {path.name for path in tmp_path.iterdir() if path.name.startswith(".")} == set()


def test_it_is_cancelled_and_tells_how_far_it_is(losing: Document) -> None:
    told: list[tuple[int, int]] = []
    report_of(losing, progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] and told == sorted(told)
    with pytest.raises(ScanCancelled):
        report_of(losing, cancelled=lambda: True)


def test_words_of_the_session_are_code_or_escaped_in_markdown(losing: Document) -> None:
    text = markdown(report_of(losing))
    assert HOSTILE in text, "as code"
    bare = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.M | re.S)
    bare = re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", bare)
    assert not re.search(r"(?<!\\)<", bare)
    assert "://" not in bare.replace("\\://", "")
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (4, 6, 7, 11), line
