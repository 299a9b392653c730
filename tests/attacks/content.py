"""Hostile texts in every place of a session: the reports that are written of it stay inert.

The HTML report may hold the elements and attributes of its own and nothing else, with the policy
that forbids the rest; the Markdown report and the comparison of two branches may hold no image,
no link and no HTML. The words that were put in must come out.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

from markdown_it import MarkdownIt

from explorer.audit.report.output import readable
from explorer.models.client import ModelClient
from explorer.services.audit_report import make_report
from explorer.services.document import Document
from explorer.session.branch_difference import as_markdown, compare_branches
from explorer.store import Store
from explorer.workbench import Workbench
from tests.attacks.attack import Attack
from tests.attacks.hostile_texts import hostile
from tests.audit.reported import html, markdown
from tests.store.sources import write_file

_ELEMENTS = """
html head meta title style body a svg defs pattern path circle rect line polyline text header h1 h2
h3 h4 p nav ul li main section dl div dt dd small strong span table caption thead tbody tr th td
figure figcaption details summary code pre blockquote mark footer
"""
_ATTRIBUTES = """
lang charset http-equiv content name class id aria-label aria-labelledby aria-hidden role tabindex
scope title href width height x y x1 x2 y1 y2 r cx cy d points viewbox text-anchor patternunits
"""
ELEMENTS, ATTRIBUTES = frozenset(_ELEMENTS.split()), frozenset(_ATTRIBUTES.split())
_VOID = frozenset({"meta"})


class _Page(HTMLParser):
    """What a browser would make of a report, as far as it must not."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.policies: list[str] = []
        self.texts: dict[str, list[str]] = {"title": [], "h1": [], "pre": []}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        if self._open:
            self.faults.append(f"left open: {self._open}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in _VOID:
            self._open.append(tag)
            if tag in self.texts:
                self.texts[tag].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ELEMENTS:
            self.faults.append(f"element {tag}")
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.faults.append(f"attribute {name} of {tag}")
            if name == "href" and not re.fullmatch(r"#\w+", value or ""):
                self.faults.append(f"link to {value}")
        found = dict(attrs)
        if tag == "meta" and found.get("http-equiv"):
            self.policies.append(found.get("content") or "")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"end of {tag} out of place")

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in self.texts:
            self.texts[self._open[-1]][-1] += data

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"comment {data}")

    def handle_pi(self, data: str) -> None:
        self.faults.append(f"instruction {data}")

    def unknown_decl(self, data: str) -> None:
        self.faults.append(f"declaration {data}")


_TOKENS = frozenset({"image", "link_open", "html_block", "html_inline", "code_block", "hr"})


def _rendered(text: str) -> tuple[list[str], list[str]]:
    """What may not come of a Markdown document, and the texts of its fences."""
    faults, fences = [], []
    for token in (
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    ):
        if token.type == "fence":
            fences.append(token.content)
        for one in (token, *(token.children or ())):
            if one.type in _TOKENS:
                faults.append(f"{one.type} {one.content[:80]!r} {one.attrs}")
    return faults, fences


def _entries(random: Random, root: str) -> tuple[list[dict[str, Any]], list[str], str]:
    """A session, its summaries from the first to the last, and its name."""
    found: list[dict[str, Any]] = []
    summaries: list[str] = []

    def text() -> str:
        return hostile(random, "http://192.0.2.1/x", f"file://{root}/x")

    def add(entry_type: str, above: str | None = None, **fields: Any) -> str:
        name = f"e{len(found)}{text() if random.random() < 0.2 else ''}"
        parent = above or (found[-1]["id"] if found else None)
        clock = f"2026-01-02T03:{len(found) % 60:02d}:00.000Z"
        entry = {"type": entry_type, "id": name, "parentId": parent, "timestamp": clock}
        found.append(entry | fields)
        return name

    def say(role: str, *blocks: dict[str, Any], **more: Any) -> str:
        return add("message", message={"role": role, "content": list(blocks), **more})

    def words(of: str) -> dict[str, Any]:
        return {"type": "text", "text": of}

    for turn in range(random.randint(2, 5)):
        say("user", words(f"Never open {text()}. Write src/{text()}.py within {turn}50 ms."))
        call = {"type": "toolCall", "id": f"c{turn}", "name": random.choice(("edit", text())),
                "arguments": {"path": text(), text(): text()}}  # fmt: skip
        say("assistant", words(f"We decided to use {text()}."), call, provider=text(),
            model=text(), errorMessage=text(),
            stopReason=random.choice(("stop", "error")))  # fmt: skip
        say("toolResult", words(f"Error: {text()}"), toolCallId=f"c{turn}", toolName=text(),
            isError=random.random() < 0.5)  # fmt: skip
        add(random.choice(("custom_message", "model_change", text())), customType=text(),
            content=text(), display=True, provider=text(), modelId=text())  # fmt: skip
        if random.random() < 0.6:
            kept = random.choice(found)["id"]
            summaries.append(f"## Goal\n{text()}\n- {text()}\n")
            add("compaction", summary=summaries[-1], firstKeptEntryId=kept, tokensBefore=99)
    title = text()
    add("label", targetId=found[0]["id"], label=text())
    add("session_info", name=title)
    return found, summaries, title


def _written(opened: Document) -> tuple[str, str]:
    asyncio.run(opened.usage.follow())
    report = make_report(opened, opened.leaf, opened.usage.branch(opened.leaf))
    return html(report), markdown(report)


def _page_faults(page: _Page, title: str, summaries: list[str]) -> Iterator[str]:
    yield from (f"HTML: {fault}" for fault in page.faults)
    policy = page.policies[0] if len(page.policies) == 1 else ""
    if not policy.startswith("default-src 'none'; style-src 'sha256-") or "unsafe" in policy:
        yield f"HTML: the policy is {page.policies}"
    for name in ("title", "h1"):
        if page.texts[name] != [f"Audit of {readable(title)}"]:
            yield f"HTML: {name} is {page.texts[name]}, of {title!r}"
    if page.texts["pre"] != [readable(summary) for summary in summaries]:
        yield f"HTML: summaries are {page.texts['pre']}, of {summaries}"


def round_of_reports(random: Random, folder: Path) -> Iterator[str]:
    """One session, its two reports and a comparison of two of its branches."""
    entries, summaries, name = _entries(random, str(folder))
    header = {"type": "session", "version": 3, "id": "s-1", "cwd": hostile(random),
              "timestamp": "2026-01-02T03:04:05.000Z"}  # fmt: skip
    path = folder / "session.jsonl"
    write_file(path, entries, header)
    bench = Workbench(Store.open(folder / "sessions.db"), ModelClient())
    try:
        opened = bench.open_blocking(bench.import_blocking(path).key)
        page, text = _written(opened)
        leaf = opened.leaf
        one = random.randrange(1, leaf + 1)
        compared = as_markdown(
            compare_branches(opened.tree, opened.payloads.shown, one, leaf), hostile(random), name
        )
        title = opened.title
    finally:
        bench.client.close()
        bench.store.close()
    yield from _page_faults(_Page(page), title, summaries)
    faults, fences = _rendered(text)
    yield from (f"Markdown: {fault}" for fault in faults)
    if fences != [f"{readable(summary).rstrip()}\n" for summary in summaries]:
        yield f"Markdown: summaries are {fences}, of {summaries}"
    yield from (f"comparison: {fault}" for fault in _rendered(compared)[0])


CONTENT = Attack("content", round_of_reports, 8)
