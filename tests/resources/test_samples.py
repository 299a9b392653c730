"""The bundled session: whole, true to its format, and in agreement with itself.

It is the first thing that anybody sees, and lessons lean on it: what is tested here is what they
lean on. The replay at the end runs the session's own edits over the files that it shows.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from math import ceil
from typing import Any

import pytest

from explorer.formats.registry import open_source
from explorer.settings import paths

Entry = dict[str, Any]

NAME = "samples/retry-that-flakes.jsonl"
LINES = paths.resource_path(*NAME.split("/")).read_text(encoding="utf-8").splitlines()
HEADER: Entry = json.loads(LINES[0])
ENTRIES: list[Entry] = [json.loads(line) for line in LINES[1:]]
BY_ID = {entry["id"]: entry for entry in ENTRIES}

KNOWN = {
    "message",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
    "model_change",
    "thinking_level_change",
}
RULES = [
    "Never retry a 409, whatever the header says.",
    "At most 3 attempts per push.",
    "No new dependencies.",
    "Don't loosen the test. The 0.25 s limit stays.",
    "No test sleeps for longer than 50 ms.",
    "push() keeps its signature, the gateway calls it by keyword.",
]


def path_to(leaf: Entry) -> list[Entry]:
    path = [leaf]
    while path[-1]["parentId"] is not None:
        path.append(BY_ID[path[-1]["parentId"]])
    return path[::-1]


def leaves() -> list[Entry]:
    parents = {entry["parentId"] for entry in ENTRIES}
    return [entry for entry in ENTRIES if entry["id"] not in parents]


MAIN = path_to(ENTRIES[-1])
COMPACTIONS = [entry for entry in MAIN if entry["type"] == "compaction"]


def messages(role: str, entries: list[Entry] = ENTRIES) -> list[Entry]:
    return [e for e in entries if e["type"] == "message" and e["message"]["role"] == role]


def text_of(entry: Entry) -> str:
    content = entry["message"]["content"]
    return "".join(block["text"] for block in content if block["type"] == "text")


def calls(entry: Entry) -> list[Entry]:
    if entry["type"] != "message" or entry["message"]["role"] != "assistant":
        return []
    return [block for block in entry["message"]["content"] if block["type"] == "toolCall"]


def tokens(entry: Entry) -> int:
    """Characters / 4, as pi estimates; an image counts 1,200."""
    message = entry.get("message", {})
    units = len((entry.get("summary", "") or str(entry.get("content", ""))).encode("utf-16-le"))
    units += len((message.get("command", "") + message.get("output", "")).encode("utf-16-le"))
    for block in message.get("content", ()):
        if block["type"] == "toolCall":
            arguments = json.dumps(block["arguments"], ensure_ascii=False, separators=(",", ":"))
            units += len((block["name"] + arguments).encode("utf-16-le"))
        elif block["type"] == "image":
            units += 4 * 2 * 1200
        else:
            units += len(block[block["type"]].encode("utf-16-le"))
    return ceil(units / 2 / 4)


def context() -> list[Entry]:
    """What the model sees at the leaf: the last summary, what it kept, and what came after."""
    last = COMPACTIONS[-1]
    place = MAIN.index(last)
    kept = MAIN.index(BY_ID[last["firstKeptEntryId"]])
    return [last, *MAIN[kept:place], *MAIN[place + 1 :]]


def test_the_bundled_session_is_found() -> None:
    assert paths.resource_path(*NAME.split("/")).stat().st_size > 100_000


def test_a1_a4_the_reader_takes_every_line() -> None:
    with_problems = open_source(paths.resource_path(*NAME.split("/")))
    records = [record for batch in with_problems.batches() for record in batch]
    assert len(records) == len(ENTRIES)
    assert not with_problems.report.problems and not with_problems.report.asides


def test_ids_are_unique_and_parents_come_before() -> None:
    assert HEADER["type"] == "session" and HEADER["version"] == 3
    assert len(BY_ID) == len(ENTRIES)
    seen: set[str | None] = {None}
    for entry in ENTRIES:
        assert entry["parentId"] in seen, entry["id"]
        seen.add(entry["id"])


def test_times_grow_over_two_days() -> None:
    times = [datetime.fromisoformat(entry["timestamp"]) for entry in [HEADER, *ENTRIES]]
    assert times == sorted(times)
    assert len({time.date() for time in times}) == 2
    for entry in ENTRIES:
        if entry["type"] == "message":
            gap = datetime.fromisoformat(entry["timestamp"]).timestamp()
            assert 0 <= gap - entry["message"]["timestamp"] / 1000 < 120


def test_a4_every_kind_of_entry_is_there_and_one_from_the_future() -> None:
    kinds = Counter(entry["type"] for entry in ENTRIES)
    assert kinds.keys() >= KNOWN
    assert len(kinds.keys() - KNOWN) == 1
    assert kinds["label"] >= 4 and kinds["branch_summary"] == 1
    roles = {entry["message"]["role"] for entry in ENTRIES if entry["type"] == "message"}
    assert roles == {"user", "assistant", "toolResult", "bashExecution"}
    stops = {entry["message"]["stopReason"] for entry in messages("assistant")}
    assert stops == {"stop", "toolUse", "aborted", "error"}
    assert len(messages("bashExecution")) >= 4
    blocks = [b["type"] for e in messages("assistant") for b in e["message"]["content"]]
    assert blocks.count("thinking") >= 20
    (name,) = [e["name"] for e in ENTRIES if e["type"] == "session_info"]
    assert name == "Fix the flaky retry test"
    targets = [e["targetId"] for e in ENTRIES if e["type"] == "label"]
    assert BY_ID.keys() >= set(targets)


def test_calls_and_results_pair_on_every_branch() -> None:
    for leaf in leaves():
        open_calls: dict[str, str] = {}
        for entry in path_to(leaf):
            message = entry.get("message", {})
            if message.get("role") == "toolResult":
                assert open_calls.pop(message["toolCallId"]) == message["toolName"]
            elif entry["type"] == "message":
                assert not open_calls, entry["id"]
                open_calls = {call["id"]: call["name"] for call in calls(entry)}
        assert not open_calls
    used = {call["name"] for entry in ENTRIES for call in calls(entry)}
    assert used == {"read", "write", "edit", "bash", "grep", "ls"}
    assert sum(len(calls(entry)) >= 3 for entry in ENTRIES) >= 10
    assert any(entry["message"]["isError"] for entry in messages("toolResult"))


def test_an_abort_and_a_failed_request_are_followed_by_more() -> None:
    by_stop = {e["message"]["stopReason"]: e for e in messages("assistant", MAIN)}
    for stop in ("aborted", "error"):
        failed = by_stop[stop]
        assert failed["message"]["errorMessage"]
        assert failed["message"]["usage"]["totalTokens"] == 0
    after = MAIN[MAIN.index(by_stop["error"]) + 1]
    assert after["message"]["role"] == "assistant" and text_of(after)


def test_usage_adds_up_and_grows_between_compactions() -> None:
    last = 0
    for entry in MAIN:
        if entry["type"] == "compaction":
            assert entry["tokensBefore"] == last
            last = 0
        usage = entry.get("message", {}).get("usage")
        if not usage or not usage["totalTokens"]:
            continue
        parts = ("input", "output", "cacheRead", "cacheWrite")
        assert usage["totalTokens"] == sum(usage[part] for part in parts)
        assert min(usage[part] for part in parts) >= 0
        cost = usage["cost"]
        assert cost["total"] == pytest.approx(sum(cost[part] for part in parts), abs=1e-6)
        assert cost["total"] > 0
        assert usage["totalTokens"] > last
        last = usage["totalTokens"]


def test_the_image_is_a_png_of_a_size_to_look_at() -> None:
    (image,) = [
        block
        for entry in messages("user")
        for block in entry["message"]["content"]
        if block["type"] == "image"
    ]
    data = base64.b64decode(image["data"], validate=True)
    assert image["mimeType"] == "image/png"
    assert data.startswith(b"\x89PNG\r\n\x1a\n") and data.endswith(b"IEND\xaeB`\x82")
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert 400 <= width <= 1000 and 200 <= height <= 800
    assert len(image["data"]) < 20_000


def test_a14_a17_compactions_keep_from_a_valid_entry_before_them() -> None:
    assert len(COMPACTIONS) == 2
    for compaction in COMPACTIONS:
        before = path_to(compaction)[:-1]
        kept = BY_ID[compaction["firstKeptEntryId"]]
        assert any(entry is kept for entry in before)
        assert kept["message"]["role"] in ("user", "assistant")
        assert len(before) - before.index(kept) > 10


def test_a24_a28_summaries_have_their_sections_and_files() -> None:
    sections = [
        "## Goal",
        "## Constraints & Preferences",
        "## Progress",
        "### Done",
        "### In Progress",
        "### Blocked",
        "## Key Decisions",
        "## Next Steps",
        "## Critical Context",
    ]
    for compaction in COMPACTIONS:
        places = [compaction["summary"].index(f"{section}\n") for section in sections]
        assert places == sorted(places)
    for entry in [e for e in ENTRIES if "summary" in e]:
        for tag, key in (("read-files", "readFiles"), ("modified-files", "modifiedFiles")):
            found = re.search(rf"<{tag}>\n(.*)\n</{tag}>", entry["summary"], re.DOTALL)
            assert (found.group(1).split("\n") if found else []) == entry["details"][key]
    first, second = (set(c["details"]["modifiedFiles"]) for c in COMPACTIONS)
    assert first < second


def test_the_story_a_rule_is_half_lost_then_broken_then_kept() -> None:
    asked = text_of(messages("user")[0])
    assert [rule for rule in RULES if rule not in asked] == []
    first, second = (compaction["summary"] for compaction in COMPACTIONS)
    assert "409" in first and "whatever the header says" not in first
    assert RULES[0] in second
    assert "At most 3 attempts" in first and "At most 5 attempts per push." in second
    changed = [e for e in messages("user", MAIN) if "At most 5 attempts per push." in text_of(e)]
    places = [MAIN.index(COMPACTIONS[0]), MAIN.index(changed[0]), MAIN.index(COMPACTIONS[1])]
    assert len(changed) == 1 and places == sorted(places)
    # Between the first compaction and the breach, nothing brings the lost half back.
    label = next(e for e in ENTRIES if e.get("label") == "409 rule broken here")
    broken = MAIN.index(BY_ID[label["targetId"]])
    kept = MAIN.index(BY_ID[COMPACTIONS[0]["firstKeptEntryId"]])
    seen = json.dumps(MAIN[kept:broken], ensure_ascii=False)
    assert "whatever the header" not in seen


def test_a31_a35_the_branches() -> None:
    children: dict[str | None, list[Entry]] = {}
    for entry in ENTRIES:
        children.setdefault(entry["parentId"], []).append(entry)
    forks = {parent: found for parent, found in children.items() if parent and len(found) > 1}
    assert len(leaves()) == 5 and len(forks) == 4
    summary = next(e for e in ENTRIES if e["type"] == "branch_summary")
    left = BY_ID[summary["fromId"]]
    assert summary["parentId"] in forks and left in leaves() and left not in MAIN
    assert "fake clock" in summary["summary"]
    # On one user message two answers were given.
    twice = [BY_ID[p] for p in forks if BY_ID[p].get("message", {}).get("role") == "user"]
    assert len(twice) == 1
    assert {e["message"]["role"] for e in forks[twice[0]["id"]]} == {"assistant"}


def test_sizes_make_a_cut_worth_looking_at() -> None:
    assert 160 <= len(ENTRIES) <= 300
    assert sum(map(tokens, context())) in range(25_000, 40_000)
    longest = max(len(text_of(entry)) for entry in messages("toolResult"))
    assert longest > 35_000
    # A cut that keeps 20,000 tokens falls inside the long turn.
    total, inside = 0, MAIN[-1]
    for inside in reversed(MAIN):
        total += tokens(inside)
        if total >= 20_000:
            break
    starts = [MAIN.index(e) for e in messages("user", MAIN)]
    begin = max(start for start in starts if start < MAIN.index(inside))
    end = min(start for start in starts if start > MAIN.index(inside))
    turn = MAIN[begin:end]
    assert len(turn) > 30 and sum(map(tokens, turn)) > 8_000
    assert begin + 1 < MAIN.index(inside) < end - 5


def test_writing_of_many_kinds() -> None:
    everything = "\n".join(LINES)
    for text in ("牛乳を買う 🥛", "青木 蓮", "Zoë", "José", "ありがとう", "☕", "×"):
        assert text in everything
    assert "\\ud83e" not in everything  # written as UTF-8, not as escapes


def results(path: list[Entry]) -> Iterator[tuple[Entry, str, Entry]]:
    """Each call on a path with its result's text and message, in the order of the results."""
    named = {call["id"]: call for entry in path for call in calls(entry)}
    for entry in messages("toolResult", path):
        yield named[entry["message"]["toolCallId"]], text_of(entry), entry["message"]


def check_result(files: dict[str, str], call: Entry, text: str, failed: bool) -> None:
    """Apply one call to the files, and compare what the session shows with what they hold."""
    arguments = call["arguments"]
    name = arguments.get("path", "")
    if call["name"] == "read" and not failed:
        if "offset" in arguments:
            shown = text.partition("\n\n[")[0]
            assert shown in files[name], f"{name} from line {arguments['offset']}"
        else:
            assert files.setdefault(name, text) == text, name
    elif call["name"] == "write" and not failed:
        files[name] = arguments["content"]
    elif call["name"] == "edit":
        count = files[name].count(arguments["oldText"])
        assert (count != 1) == failed, f"{name}: {arguments['oldText'][:60]!r} found {count} times"
        if not failed:
            files[name] = files[name].replace(arguments["oldText"], arguments["newText"])
    elif call["name"] == "grep":
        for line in text.splitlines():
            found = re.fullmatch(r"([^:]+):(\d+): (.*)", line)
            if found and found.group(1) in files:
                held = files[found.group(1)].splitlines()[int(found.group(2)) - 1]
                assert held.strip() == found.group(3), line


@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: leaf["id"])
def test_files_shown_agree_with_the_edits_made(leaf: Entry) -> None:
    files: dict[str, str] = {}
    edits = 0
    for call, text, message in results(path_to(leaf)):
        check_result(files, call, text, message["isError"])
        edits += call["name"] == "edit"
    assert edits >= 4 and len(files) >= 4


def test_the_main_path_ends_with_the_code_it_talks_about() -> None:
    files: dict[str, str] = {}
    for call, text, message in results(MAIN):
        check_result(files, call, text, message["isError"])
    compile(files["src/retry.py"], "src/retry.py", "exec")
    assert "asyncio.Event()" in files["src/retry.py"]
    assert "attempts: int = 5" in files["src/retry.py"]
    rules = [*RULES[:1], "At most 5 attempts per push.", *RULES[2:]]
    assert [rule for rule in rules if rule not in files["AGENTS.md"]] == []
    assert "_at_most_5_attempts_per_push" in files["tests/test_client.py"]
