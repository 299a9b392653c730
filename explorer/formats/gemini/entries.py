"""The entries of a replay: each message with the lines that it came from, the results of its tool
calls behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from explorer.formats.documents import compact, objects_of
from explorer.formats.gemini.messages import (
    call_result,
    entry_of,
    is_finished,
    merged,
    response_result,
    responses,
    tool_calls,
)
from explorer.formats.gemini.nodes import AsidePlace, Lines, Node
from explorer.formats.gemini.replay import Replay
from explorer.formats.json_fields import text_at
from explorer.formats.typed_source import Leaf, ReadEntry
from explorer.session.entries import CompactionSummary, CustomData, Entry
from explorer.session.json_values import time_ms
from explorer.session.records import Aside, Problem


class Entries:
    """Entries, asides and problems of a replay in the order of the file."""

    def __init__(self, replay: Replay, lines: Lines) -> None:
        self._replay = replay
        self._lines = lines
        nodes = [one for one in replay.found if isinstance(one, Node)]
        self._finished = {
            call for node in nodes for call, finished in node.calls.items() if finished
        }
        """Calls whose results their own replies record."""
        self._results: dict[str, str] = {}
        """By call: the entry of its result."""

    def __iter__(self) -> Iterator[ReadEntry | Aside | Problem | Leaf]:
        for one in self._replay.found:
            if isinstance(one, Node):
                yield from self._of_node(one)
            elif isinstance(one, AsidePlace):
                yield Aside(one.place.line, self._lines(one.place), one.reason)
            else:
                yield one
        tip = self._replay.tip
        if tip is not None and tip.last_id:
            yield Leaf(tip.last_id)

    def _of_node(self, node: Node) -> Iterator[ReadEntry | Aside]:
        node.last_id = node.parent.last_id if node.parent is not None else ""
        own = [self._lines(place) for place in node.places]
        record = "\n".join([*node.copies, *(line.decode() for line in own)])
        values = objects_of(record)
        message = merged(values)
        entry = entry_of(values, message)
        match node.kind:
            case "compaction":
                yield self._compaction(node, entry, record)
            case "rewind":
                body = CustomData("rewind", {**_data(entry), "removed": node.removed})
                yield self._put(node, replace(entry, body=body), record, node.key, ("data",))
            case "user":
                yield from self._answers(node, message)
                if node.says_more:
                    yield self._put(node, entry, record, node.key)
                else:
                    for place, line in zip(node.places, own, strict=True):
                        reason = "sends back the results that the calls' reply records"
                        yield Aside(place.line, line, reason)
            case _:
                yield self._put(node, entry, record, node.key)
                yield from self._call_results(node, message)

    def _put(
        self, node: Node, entry: Entry, record: str, key: str, noted: tuple[str, ...] = ()
    ) -> ReadEntry:
        """An entry behind what the node has given so far."""
        entry = replace(entry, id=key, parent_id=node.last_id or None)
        node.first_id = node.first_id or key
        node.last_id = key
        done = node.places[-1].end if node.places else 0
        return ReadEntry(entry, record, node.line, done, noted)

    def _compaction(self, node: Node, entry: Entry, record: str) -> ReadEntry:
        noted = ["first_kept_id"]
        first = node.first_kept
        first_id = ""
        if first is not None:
            # Of results alone, the first that a reply records.
            answers = (self._results.get(one, "") for one in first.answers)
            first_id = first.first_id or next(filter(None, answers), "")
        body = entry.body
        if isinstance(body, CompactionSummary):
            body = replace(body, first_kept_id=first_id)
            if not node.is_first_snapshot:
                body = replace(body, summary=node.summary)
                noted.append("summary")
        return self._put(node, replace(entry, body=body), record, node.key, tuple(noted))

    def _call_results(self, node: Node, message: Mapping[str, Any]) -> Iterator[ReadEntry]:
        calls = tool_calls(message) if node.calls else ()
        for number, call in enumerate(calls):
            if is_finished(call):
                entry = Entry.of(call_result(call), time_ms=time_ms(call.get("timestamp")))
                name = text_at(call, "id") or str(number)
                yield self._result(node, entry, compact(call), name)

    def _answers(self, node: Node, message: Mapping[str, Any]) -> Iterator[ReadEntry]:
        for number, response in enumerate(responses(message)):
            name = text_at(response, "id")
            if name and (name in self._finished or name in self._results):
                continue
            record = compact({"functionResponse": response})
            time = time_ms(message.get("timestamp"))
            entry = Entry.of(response_result(response), time_ms=time)
            yield self._result(node, entry, record, name or str(number), ("time_ms",))

    def _result(
        self, node: Node, entry: Entry, record: str, name: str, noted: tuple[str, ...] = ()
    ) -> ReadEntry:
        key = f"{node.key}/{name}"
        self._results.setdefault(name, key)
        return self._put(node, entry, record, key, noted)


def _data(entry: Entry) -> Mapping[str, Any]:
    data = entry.body.data if isinstance(entry.body, CustomData) else None
    return data if isinstance(data, dict) else {}
