"""A session as a page or as Markdown: what is in it, and what hostile texts cannot do in it."""

from __future__ import annotations

import asyncio
import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from explorer.services.session_export import ExportForm
from explorer.services.transcript import Numbered, Part, Turn, turns
from explorer.session.entries import (
    AssistantMessage,
    Body,
    CompactionSummary,
    Entry,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
    text_content,
)
from explorer.session.text import legible
from explorer.workbench import Workbench
from tests.attacks.hostile_texts import all_shapes
from tests.audit.browser import browse, browser
from tests.store.sources import message, write_file

CANARY = "canary.example"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(24)).decode()


def turns_of(*bodies: Body) -> list[Turn]:
    return list(turns(Numbered(at, Entry.of(body, f"e{at}")) for at, body in enumerate(bodies)))


def written(bench: Workbench, source: Path, form: ExportForm, *, whole: bool = False) -> str:
    key = bench.import_blocking(source).key
    out = source.with_name(f"out.{form}")
    asyncio.run(bench.export(key, out, form, whole=whole))
    return out.read_text("utf-8")


class Tags(HTMLParser):
    """The elements of a page, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


# what is in it ------------------------------------------------------------------------------------


def test_results_are_with_their_calls_whatever_their_order() -> None:
    calls = (ToolCallBlock("a", "read", {"path": "x"}), ToolCallBlock("b", "ls"))
    first, second = turns_of(
        UserMessage(text_content("Look")),
        AssistantMessage((TextBlock("I look."), *calls), "anthropic", "m-1"),
        ToolResultMessage("b", "ls", text_content("no such folder"), is_error=True),
        ToolResultMessage("a", "read", text_content("the text of x")),
        UserMessage(text_content("And?")),
        ToolResultMessage("a", "read", text_content("late")),
    )
    assert [item.index for item in first.items] == [0, 1]
    assert first.items[1].model == "anthropic/m-1"
    read, ls = [part for part in first.items[1].parts if part.kind == "call"]
    assert [part.text for part in read.results if part.kind == "result"] == ["the text of x"]
    assert (ls.results[0].words, ls.results[0].text) == ("failed", "")
    assert (second.number, [item.role for item in second.items]) == (2, ["user", "tool result"])


def test_what_a_program_put_in_the_users_place_begins_no_turn() -> None:
    note = UserMessage((TextBlock("<task-notification>"),), synthetic=True)
    asked = UserMessage((TextBlock("Go on"),))
    found = turns_of(asked, note, asked)
    assert [(turn.number, len(turn.items)) for turn in found] == [(1, 2), (2, 1)]
    assert "Nobody typed this" in found[0].items[1].parts[0].words


def test_only_what_is_long_is_folded_and_thinking_always() -> None:
    (turn,) = turns_of(
        AssistantMessage(
            (ThinkingBlock("Hm."), ToolCallBlock("a", "cat"), ToolCallBlock("b", "x"))
        ),
        ToolResultMessage("a", "cat", text_content("line\n" * 40)),
        ToolResultMessage("b", "x", text_content("short")),
    )
    thinking, *calls = turn.items[0].parts
    assert (turn.number, thinking.folded) == (0, True)
    assert [part.folded for call in calls for part in call.results if part.kind == "result"] == [
        True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            CompactionSummary("S", tokens_before=90_000, tokens_after=1_200, trigger="auto"),
            "90,000 → 1,200 tokens; trigger automatic; exact (recorded by its agent)",
        ),
        (CompactionSummary("S", certainty="inferred"), "not recorded; inferred (worked out"),
        (
            CompactionSummary("", certainty="unreadable"),
            "; its summary is encrypted or was not recorded",
        ),
    ],
)
def test_a_compaction_says_how_it_is_known(body: CompactionSummary, words: str) -> None:
    (turn,) = turns_of(body)
    note, *texts = turn.items[0].parts
    assert words in note.words
    assert texts == ([] if body.certainty == "unreadable" else [Part("text", "S")])


def test_a_picture_is_shown_only_where_its_data_can_be_one() -> None:
    shown = [
        turns_of(UserMessage((ImageBlock(mime, data),)))[0].items[0].parts[0].source
        for mime, data in (
            ("image/png", PNG), ("image/PNG", PNG), ("image/svg+xml", PNG), ("image/png", ""),
            ("image/png", 'AAAA" onerror="x'), ("text/html", PNG),
        )
    ]  # fmt: skip
    assert [one[:22] for one in shown] == ["data:image/png;base64,"] * 2 + [""] * 4


def branched(folder: Path) -> Path:
    """Two turns, of which the second was begun anew; a picture; a line that is no entry."""
    picture = {"type": "image", "mimeType": "image/png", "data": PNG}
    entries: list[Any] = [
        message(0, None, "Paint the fence"),
        message(1, "e0", "Which colour?", "assistant"),
        message(2, "e1", "Red, I think"),
        message(3, "e1", "Blue"),
        "a line that is no entry",
    ]
    entries[3]["message"]["content"] = [{"type": "text", "text": "Blue"}, picture]
    return write_file(folder / "fence.jsonl", entries)


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_the_path_alone_or_all_branches(bench: Workbench, tmp_path: Path, form: ExportForm) -> None:
    path = written(bench, branched(tmp_path), form)
    assert "Blue" in path and "Red" not in path
    assert "3 of 4 entries" in path and "1 line of the file is no entry" in path
    whole = written(bench, branched(tmp_path), form, whole=True)
    assert whole.index("Blue") < whole.index("A branch that leaves at") < whole.index("Red")
    assert whole.count("Paint the fence") - path.count("Paint the fence") == 0
    assert (f"data:image/png;base64,{PNG}" in path) == (form == "html")
    assert "image/png" in path and "32 bytes" in path


# hostile texts ------------------------------------------------------------------------------------


def hostile(folder: Path) -> tuple[Path, list[str]]:
    """A session that is nothing but hostile texts, wherever one can be."""
    texts = [
        *all_shapes(f"http://{CANARY}/x"),
        "</pre></details><script>document.title = 'run'</script>",
        "````\n# out of the fence\n<details>\n```",
        "\x1b[31mred\x07 and \u202egnp.exe\x00",
    ]
    entries = [message(0, None, texts[0])]
    for at, text in enumerate(texts):
        above = entries[-1]["id"]
        call = {"type": "toolCall", "id": f"c{at}", "name": text, "arguments": {text: text}}
        entries.append(message(3 * at + 1, above, text))
        entries.append(message(3 * at + 2, f"e{3 * at + 1}", "", "assistant"))
        blocks = [{"type": "thinking", "thinking": text}, {"type": "text", "text": text}, call]
        entries[-1]["message"] |= {"content": blocks, "model": text, "provider": text}
        entries.append(message(3 * at + 3, f"e{3 * at + 2}", ""))
        entries[-1]["message"] = {
            "role": "toolResult", "toolCallId": f"c{at}", "toolName": text,
            "content": [
                {"type": "text", "text": text},
                {"type": "image", "mimeType": text, "data": text},
            ],
        }  # fmt: skip
    entries.append({
        "type": "compaction", "id": "c", "parentId": entries[-1]["id"], "tokensBefore": 9,
        "timestamp": "2026-01-02T03:05:06.000Z", "summary": "\n".join(texts),
        "firstKeptEntryId": "",
    })  # fmt: skip
    return write_file(folder / "hostile.jsonl", entries), texts


_ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "main",
    "section", "article", "span", "div", "details", "summary", "pre", "code", "footer",
}  # fmt: skip


def test_nothing_of_a_hostile_text_is_taken_for_html(bench: Workbench, tmp_path: Path) -> None:
    source, texts = hostile(tmp_path)
    page = written(bench, source, "html")
    tags = Tags(page)
    assert {tag for tag, _ in tags.seen} == _ALLOWED
    assert {name for _, given in tags.seen for name in given} <= {
        "class", "lang", "charset", "http-equiv", "content", "name",
    }  # fmt: skip
    (policy,) = [given["content"] for _, given in tags.seen if given.get("http-equiv")]
    assert policy is not None and policy.startswith("default-src 'none'; style-src")
    for text in texts:
        assert legible(text) in tags.text
    assert not set("\x1b\x07\x00\u202e") & set(page) and "gnp.exe" in page


def test_nothing_of_a_hostile_text_is_taken_for_markdown(bench: Workbench, tmp_path: Path) -> None:
    source, _ = hostile(tmp_path)
    outside, fence = [], ""
    for line in written(bench, source, "markdown").split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif opened := re.match(r"(`{3,})text$", line):
            fence = opened[1]
        else:
            outside.append(line)
    assert not fence and len(outside) > 100
    for line in outside:
        bare = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", line)
        assert not re.search(r"(?<!\\)<(?!/?(details|summary)>)", bare), line
        assert not re.search(r"(?<!\\)!\[|(?<!\\)\]\(", bare), line
        assert not line.startswith("# out")


def test_a_browser_runs_and_fetches_nothing_of_it(bench: Workbench, tmp_path: Path) -> None:
    if browser() is None:
        pytest.skip("no Chromium is installed")
    source, _ = hostile(tmp_path)
    written(bench, source, "html")
    page = source.with_name("out.html")
    seen = browse(page, tmp_path / "profile")
    assert not [line for line in seen.asked if CANARY in line]
    assert "<title>run" not in seen.dom
    assert not [line for line in seen.console if "style" in line.lower()], "the sheet applies"


def test_a_browser_shows_the_pictures(bench: Workbench, tmp_path: Path) -> None:
    if browser() is None:
        pytest.skip("no Chromium is installed")
    written(bench, branched(tmp_path), "html")
    seen = browse(tmp_path / "out.html", tmp_path / "profile")
    assert "data:image/png" in seen.dom
    assert not [line for line in seen.console if "Content Security" in line]
