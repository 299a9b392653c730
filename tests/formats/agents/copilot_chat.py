"""What is known of a session file of VS Code Copilot Chat without an importer."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from explorer.session.entries import AssistantMessage, CompactionSummary, Entry, UserMessage
from tests.formats.agents.reading import Reading


def check(folder: Path, facts: dict[str, Any]) -> None:
    """Ask each file of the set. The facts speak of the final state: of the path to the leaf, not
    of the requests that were taken out of the conversation."""
    for name, known in facts["files"].items():
        _check_file(folder / name, known)


def _check_file(path: Path, known: dict[str, Any]) -> None:
    reading = Reading(path)
    assert reading.adapter.name == "copilot-chat"
    assert reading.header.session_id == (known["session_id"] or path.stem)
    if known["title"]:
        assert reading.header.title == known["title"]
    _check_log(reading, path, known)
    on_path = list(reading.tree.path(reading.report.leaf or 0)) if reading.records else []
    requests = _by_request([reading.entries[at] for at in on_path])
    assert len(requests) == known["requests"] == known["user_messages"]
    texts = [one[0].text for one in requests]
    assert [one[: len(first)] for one, first in zip(texts, known["first_texts"], strict=False)] == (
        known["first_texts"]
    )
    models = {one[0].recorded["request"].get("modelId") for one in requests} - {None}
    assert sorted(models) == known["models"]
    parts = [_response(one) for one in requests]
    assert sum(map(bool, parts)) == known["assistant_messages"]
    kinds = Counter(one.get("kind", "markdown") for each in parts for one in each)
    assert kinds == known["response_parts"]
    _check_rounds([one for each in requests for one in each], known)
    _check_summaries(requests, known)


def _check_log(reading: Reading, path: Path, known: dict[str, Any]) -> None:
    changes: Counter[str] = Counter()
    bad = 0
    for aside in reading.report.asides:
        try:
            value = json.loads(aside.raw)
        except ValueError:
            bad += bool(aside.raw.strip())
            continue
        if known["operations"]:  # Of a document it is what has a shape that is not known.
            changes[str(value["kind"])] += 1
    assert changes == known["operations"]
    assert bad == known["malformed"]
    if known["operations"]:
        lines = [one.raw for one in reading.report.asides]
        assert b"\n".join(lines) == path.read_bytes().removesuffix(b"\n")


def _by_request(entries: list[Entry]) -> list[list[Entry]]:
    """The entries of each request, the person's message first; what was sent, or summarised,
    before it belongs to it too."""
    requests: list[list[Entry]] = []
    ahead: list[Entry] = []
    for one in entries:
        if isinstance(one.body, UserMessage):
            requests.append([one, *ahead])
            ahead = []
        elif _is_next(one, requests):
            ahead.append(one)
        else:
            requests[-1].append(one)
    return requests


def _is_next(entry: Entry, requests: list[list[Entry]]) -> bool:
    request_id = entry.recorded["id"].partition("/")[0]
    return not requests or requests[-1][0].recorded["id"] != request_id


def _response(request: list[Entry]) -> list[dict[str, Any]]:
    """All that the window showed: the whole response, which is the reply where no rounds are."""
    shown = [one.recorded.get("response") for one in request if one.recorded["part"] == "shown"]
    replies = [one.recorded["response"] for one in request if one.recorded["part"] == "reply"]
    found = next((one for one in shown if one is not None), None)
    return found if found is not None else replies[0] if replies else []


def _check_rounds(entries: list[Entry], known: dict[str, Any]) -> None:
    rounds = [one for one in entries if one.recorded["part"] == "round"]
    assert len(rounds) == known["tool_rounds"]
    calls = [call.id for one in rounds for call in one.calls]
    assert len(calls) == known["tool_calls"]
    results = {
        one.recorded["toolCallId"]
        for one in entries
        if one.recorded["part"] in ("result", "uncalled")
    }
    assert len(results) == known["tool_results"]
    assert len(results - set(calls)) == known["orphan_results"]
    assert len(set(calls) - results) == known["calls_without_result"]
    replies = [one for one in entries if isinstance(one.body, AssistantMessage)]
    assert sum(one.usage.output for one in replies if one.usage) == known["output_tokens"]


def _check_summaries(requests: list[list[Entry]], known: dict[str, Any]) -> None:
    found = []
    for at, request in enumerate(requests):
        for one in request:
            body = one.body
            if not isinstance(body, CompactionSummary) or one.recorded["part"] != "summary":
                continue
            summary = one.recorded["summary"]
            name = summary.get("toolCallRoundId")
            holds = (
                number
                for number, each in enumerate(requests)
                for entry in each
                if entry.recorded["part"] == "round" and entry.recorded["round"].get("id") == name
            )
            assert body.certainty == "exact" and body.trigger == ""
            assert body.tokens_before == (summary.get("contextLengthBefore") or 0)
            found.append((at, name, next(holds, None), len(body.summary)))
    wanted = [
        (one["request"], one["toolCallRoundId"], one["round_in_request"], one["length"])
        for one in known["summaries"]
        if one["round_in_request"] is not None
    ]
    assert set(wanted) <= set(found), "what an agent restores of several in a request is the last"
