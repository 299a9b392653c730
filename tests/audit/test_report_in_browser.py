"""The report, opened in a browser: it runs nothing and asks for nothing."""

from __future__ import annotations

import asyncio
from html import escape
from pathlib import Path

import pytest

from explorer.models.client import ModelClient
from explorer.services.audit_report import make_report
from explorer.store import Store
from explorer.workbench import Workbench
from tests.attacks.hostile_texts import all_shapes
from tests.audit.browser import browse, browser
from tests.audit.reported import html
from tests.store.sources import message, write_file

CANARY = "canary.example"
TEXTS = [*all_shapes(f"http://{CANARY}/x"), "</pre><script>document.title = 'run'</script>"]


@pytest.fixture(autouse=True)
def needs_a_browser() -> None:
    if browser() is None:
        pytest.skip("no Chromium is installed")


def hostile_report(folder: Path) -> str:
    """The report of a session that is nothing but hostile texts, and is called by all of them."""
    lines = [message(0, None, TEXTS[0])]
    for number, text in enumerate(TEXTS):
        said = f"Never open {text}. Write src/{text}.py within 250 ms."
        role = "assistant" if number % 2 else "user"
        lines.append(message(number + 1, lines[-1]["id"], said, role))
    above = {"timestamp": "2026-01-02T03:05:06.000Z"}
    lines.append({
        **above, "type": "compaction", "id": f"c{TEXTS[0]}", "parentId": lines[-1]["id"],
        "firstKeptEntryId": lines[-2]["id"], "tokensBefore": 900, "summary": "\n".join(TEXTS),
    })  # fmt: skip
    lines.append({
        **above, "type": "session_info", "id": "n", "parentId": lines[-1]["id"],
        "name": " ".join(TEXTS),
    })  # fmt: skip
    bench = Workbench(Store.open(folder / "sessions.db"), ModelClient())
    try:
        path = write_file(folder / "s.jsonl", lines)
        opened = bench.open_blocking(bench.import_blocking(path).key)
        asyncio.run(opened.usage.follow())
        return html(make_report(opened, opened.leaf, opened.usage.branch(opened.leaf)))
    finally:
        bench.client.close()
        bench.store.close()


def test_a_browser_runs_nothing_of_a_report_and_fetches_nothing_for_it(tmp_path: Path) -> None:
    written = hostile_report(tmp_path)
    page = tmp_path / "report.html"
    page.write_text(written, encoding="utf-8")
    seen = browse(page, tmp_path / "profile")
    assert [line for line in seen.asked if CANARY in line or "192.0.2.1" in line] == []
    assert seen.console == [], "the policy had nothing to refuse, the report's own style least"
    assert "<script" not in seen.dom and "<img" not in seen.dom
    assert "<title>Audit of" in seen.dom
    for text in TEXTS:
        if text.isprintable() and "\u202e" not in text:
            assert escape(text, quote=False) in seen.dom, "it is there to be read"


def test_the_policy_alone_would_stop_what_the_escape_let_through(tmp_path: Path) -> None:
    """With it nothing of a hostile page is loaded or run; without it all of it is."""
    policy = hostile_report(tmp_path).split("<title>")[0]
    hostile = (
        f"<img src='http://{CANARY}/image'><link rel=stylesheet href='http://{CANARY}/sheet'>"
        f"<style>body{{background:url(http://{CANARY}/ground)}}</style>"
        f"<iframe src='http://{CANARY}/frame'></iframe>"
        f"<script src='http://{CANARY}/script'></script>"
        "<script>document.title = 'run'</script><p onclick='' style='color:red'>"
    )
    asked, titles = [], []
    for name, head in (("with", policy), ("without", "<!DOCTYPE html><head>")):
        page = tmp_path / f"{name}.html"
        page.write_text(f"{head}<title>still</title></head><body>{hostile}", encoding="utf-8")
        seen = browse(page, tmp_path / name)
        asked.append({line.split("/")[3].split()[0] for line in seen.asked if CANARY in line})
        titles.append("<title>run</title>" in seen.dom)
    assert asked == [set(), {"image", "sheet", "ground", "frame", "script"}]
    assert titles == [False, True]
