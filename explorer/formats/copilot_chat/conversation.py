"""The requests of a chat session as a tree of entries: what its agent sends to the model.

A request is a person's message, rounds of a reply with its calls and their results, and last what
the window showed. Where the model's view is not recorded, as in old versions, the response that was
shown makes one reply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from explorer.formats.copilot_chat.records import (
    PART,
    TOOL_PARTS,
    added_context,
    attached_files,
    ending,
    known_part,
    part_kind,
    read_part,
    rendered_blocks,
    shown_output,
    shown_text,
)
from explorer.formats.copilot_chat.state import Request, State
from explorer.formats.json_fields import list_field, object_field, text_field
from explorer.formats.typed_source import Leaf, ReadEntry
from explorer.session.entries import CompactionSummary
from explorer.session.json_values import recorded_count
from explorer.session.kinds import CONTEXT_KINDS
from explorer.session.records import Aside, Problem, remark

_MODEL_VIEW = (
    "renderedUserMessage", "renderedGlobalContext", "toolCallRounds", "toolCallResults",
    "summaries", "summary",
)  # fmt: skip
"""Fields of a result's metadata that become entries of their own."""


class _Placed(Struct):
    """A request whose entries were given out."""

    request: Request
    before: _Placed | None
    entries: list[tuple[str, str, bool]] = field(default_factory=list)
    """Of each entry: its id, the round that it belongs to, and whether it is sent."""
    rounds: int = 0
    environment: str = ""
    """What was sent last of the surroundings."""

    @property
    def last(self) -> str:
        """The last entry of it or of those before it; empty where there is none."""
        at: _Placed | None = self
        while at is not None and not at.entries:
            at = at.before
        return at.entries[-1][0] if at is not None else ""

    def chain(self) -> list[_Placed]:
        """It and those before it, the first one first."""
        found: list[_Placed] = []
        at: _Placed | None = self
        while at is not None:
            found.append(at)
            at = at.before
        return found[::-1]


class Conversation:
    """Gives the entries of a session; see ``read``."""

    def __init__(self, state: State, size: int) -> None:
        """``size``: bytes of the file."""
        self._state = state
        self._size = size
        self._line = state.lines
        self._ids: set[str] = set()
        self._unknown: Counter[str] = Counter()
        self._recorded: set[str] = set()
        """Of a document: the texts that are in some entry."""

    def read(self) -> Iterator[ReadEntry | Aside | Problem | Leaf]:
        """Everything: the lines of a log, the conversation, and the branches that were left."""
        yield from self._state.asides
        yield from self._state.problems
        for other in self._state.others:
            yield self._aside(other, "no request")
        requests = self._state.requests
        left: dict[str, list[Request]] = {}
        for removed in self._state.removed:
            left.setdefault(removed.after, []).append(removed.request)
        before: _Placed | None = None
        yield from self._branches(left, "", None)
        for at, request in enumerate(requests):
            following = requests[at + 1] if at + 1 < len(requests) else {}
            before = yield from self._request(request, following, before)
            yield from self._branches(left, text_field(request, "requestId"), before)
        for after in list(left):
            # What these followed is in no state that is known.
            yield from self._branches(left, after, None)
        for kind, count in self._unknown.items():
            parts = "1 part" if count == 1 else f"{count:,} parts"
            are = "is not known; it is kept" if count == 1 else "are not known; they are kept"
            yield remark(1, f"{parts} of a response of the kind {kind[:80]!r} {are}")
        if before is not None and before.last:
            yield Leaf(before.last)

    def _branches(
        self, left: dict[str, list[Request]], after: str, before: _Placed | None
    ) -> Iterator[ReadEntry | Aside | Problem]:
        """The requests that were removed behind one, and those behind these."""
        waiting = [(one, before) for one in reversed(left.pop(after, []))]
        while waiting:
            request, above = waiting.pop()
            request_id = text_field(request, "requestId")
            below = left.pop(request_id, []) if request_id else []
            placed = yield from self._request(request, below[0] if below else {}, above)
            waiting += [(one, placed) for one in reversed(below)]

    # one request ----------------------------------------------------------------------------------

    def _request(
        self, request: Request, following: Request, before: _Placed | None
    ) -> Generator[ReadEntry | Aside | Problem, None, _Placed]:
        """Yields its entries, and returns it as it was placed."""
        placed = _Placed(request, before)
        placed.environment = before.environment if before is not None else ""
        metadata = object_field(object_field(request, "result"), "metadata")
        rounds = [one for one in list_field(metadata, "toolCallRounds") if isinstance(one, dict)]
        summaries = self._summaries(placed, metadata, rounds)
        yield from self._write_summaries(placed, summaries.pop(0, []))
        yield from self._message(placed, metadata)
        if rounds:
            yield from self._rounds(placed, metadata, rounds, following, summaries)
        else:
            yield from self._shown_reply(placed, list_field(request, "response"))
            for more in summaries.values():
                yield from self._write_summaries(placed, more)
        yield from self._rest(placed, metadata)
        for part in list_field(request, "response"):
            if not known_part(part):
                self._unknown[part_kind(part)] += 1
        if not self._state.lines and not self._recorded.issuperset(_texts(request)):
            yield self._aside(request, "a request with a part of a shape that is not known")
            yield remark(
                self._line, "a part of a request has a shape that is not known; it is kept"
            )
        return placed

    def _aside(self, value: object, reason: str) -> Aside:
        """What a document has and no entry: it has no line that could be kept."""
        self._line += 1
        return Aside(self._line, orjson.dumps(value), reason)

    def _message(self, placed: _Placed, metadata: Mapping[str, Any]) -> Iterator[ReadEntry]:
        request = placed.request
        environment = metadata.get("renderedGlobalContext")
        text = orjson.dumps(environment).decode()
        if rendered_blocks(environment) and text != placed.environment:
            placed.environment = text
            yield self._entry(placed, "globalContext", {"renderedGlobalContext": environment})
        fields = {name: request[name] for name in request if name not in ("response", "result")}
        user = self._entry(placed, "request", {"request": fields})
        yield user
        variables = list_field(object_field(request, "variableData"), "variables")
        if attached_files(variables):
            yield self._entry(placed, "files", {"variables": variables})
        rendered = {
            "text": user.entry.text, "renderedUserMessage": metadata.get("renderedUserMessage"),
        }  # fmt: skip
        if added_context(rendered):
            yield self._entry(placed, "context", rendered)

    def _rounds(
        self,
        placed: _Placed,
        metadata: Mapping[str, Any],
        rounds: list[dict[str, Any]],
        following: Request,
        summaries: dict[int, list[dict[str, Any]]],
    ) -> Iterator[ReadEntry | Problem]:
        results = dict(object_field(metadata, "toolCallResults"))
        if metadata.get("maxToolCallsExceeded") is True:
            # The calls of the last round were run when the person had agreed to go on.
            after = object_field(object_field(following, "result"), "metadata")
            results = {**object_field(after, "toolCallResults"), **results}
        placed.rounds = len(rounds)
        for at, one in enumerate(rounds, 1):
            name = _round_id(placed, one, at)
            if isinstance(one.get("compaction"), dict):
                entry = self._entry(placed, "compaction", {"compaction": one["compaction"]})
                yield entry
                yield remark(entry.line, "the provider compacted here: its summary is encrypted")
            fields = {"round": one, "modelId": placed.request.get("modelId")}
            if at == len(rounds) and (usage := _usage(placed.request)):
                fields["usage"] = usage
            yield self._entry(placed, "round", fields, name, one.get("timestamp"))
            for call in list_field(one, "toolCalls"):
                call_id = text_field(call, "id")
                if call_id in results:
                    fields = {
                        "toolCallId": call_id, "name": text_field(call, "name"),
                        "result": results[call_id],
                    }  # fmt: skip
                    yield self._entry(placed, "result", fields, name, one.get("timestamp"))
            yield from self._write_summaries(placed, summaries.pop(at, []))
        yield from self._uncalled(placed, metadata, rounds)
        yield from self._unfinished(placed, rounds)

    def _uncalled(
        self, placed: _Placed, metadata: Mapping[str, Any], rounds: list[dict[str, Any]]
    ) -> Iterator[ReadEntry]:
        """Results that no round of it, or of the request before, asked for."""
        called = {text_field(call, "id") for one in rounds for call in list_field(one, "toolCalls")}
        if placed.before is not None:
            before = object_field(object_field(placed.before.request, "result"), "metadata")
            for one in list_field(before, "toolCallRounds"):
                called.update(text_field(call, "id") for call in list_field(one, "toolCalls"))
        for call_id, result in object_field(metadata, "toolCallResults").items():
            if call_id not in called:
                yield self._entry(placed, "uncalled", {"toolCallId": call_id, "result": result})

    def _unfinished(self, placed: _Placed, rounds: list[dict[str, Any]]) -> Iterator[ReadEntry]:
        """What was shown after the last call and is in no round; an entry also where the request
        failed or was stopped."""
        response = list_field(placed.request, "response")
        calls = [at for at, one in enumerate(response) if part_kind(one) in TOOL_PARTS]
        tail = response[calls[-1] + 1 :] if calls else response
        tail = [one for one in tail if shown_text(one)]
        text = "".join(map(shown_text, tail)).strip()
        recorded = "\n".join(text_field(one, "response") for one in rounds)
        is_new = bool(text) and text not in recorded and bool(list_field(rounds[-1], "toolCalls"))
        stop, _ = ending(placed.request)
        if is_new or stop:
            fields = {"response": tail if is_new else [], **_ending_fields(placed.request)}
            yield self._entry(placed, "reply", fields, _round_id(placed, {}, 0))

    def _shown_reply(self, placed: _Placed, response: Any) -> Iterator[ReadEntry]:
        """The reply of a version, or of an agent, that records no rounds."""
        request = placed.request
        stop, _ = ending(request)
        if not response and not stop:
            return
        fields = {"response": response, **_ending_fields(request)}
        if usage := _usage(request):
            fields["usage"] = usage
        name = text_field(request, "requestId")
        placed.rounds = 1
        yield self._entry(placed, "reply", fields, name)
        for part in response:
            if part_kind(part) in TOOL_PARTS and shown_output(part):
                yield self._entry(placed, "shownResult", {"invocation": part}, name)

    def _rest(self, placed: _Placed, metadata: Mapping[str, Any]) -> Iterator[ReadEntry]:
        """What is shown and never sent, where it is not the reply itself."""
        request = placed.request
        fields: dict[str, Any] = {}
        if placed.request.get("response") and list_field(metadata, "toolCallRounds"):
            fields["response"] = request["response"]
        result = request.get("result")
        if isinstance(result, dict):
            result = {name: result[name] for name in result if name != "metadata"}
            if rest := {name: metadata[name] for name in metadata if name not in _MODEL_VIEW}:
                result["metadata"] = rest
        if result:
            fields["result"] = result
        if fields:
            yield self._entry(placed, "shown", fields)

    # summaries ------------------------------------------------------------------------------------

    def _summaries(
        self, placed: _Placed, metadata: Mapping[str, Any], rounds: list[dict[str, Any]]
    ) -> dict[int, list[dict[str, Any]]]:
        """The summaries that were made during a request, by how many of its rounds there were."""
        listed = list_field(metadata, "summaries") or [metadata.get("summary")]
        found = [one for one in listed if isinstance(one, dict) and text_field(one, "text")]
        named = {text_field(one, "toolCallRoundId") for one in found}
        names = [_round_id(placed, one, at) for at, one in enumerate(rounds, 1)]
        for name, one in zip(names, rounds, strict=True):
            # Early versions wrote it to the round itself.
            if text_field(one, "summary") and name not in named:
                found.append({"toolCallRoundId": name, "text": one["summary"]})
        earlier = sum(max(1, one.rounds) for one in placed.chain()[:-1]) if found else 0
        places: dict[int, list[dict[str, Any]]] = {}
        least = 0
        for one in found:
            name = text_field(one, "toolCallRoundId")
            covered = names.index(name) + 1 if name in names else 0
            total = recorded_count(one.get("numRounds"))
            made = min(total - earlier, len(rounds)) if total is not None else covered
            # Each replaces those before it: the last one of the list has to come last.
            least = max(least, covered, made)
            places.setdefault(least, []).append(one)
        return places

    def _write_summaries(
        self, placed: _Placed, summaries: list[dict[str, Any]]
    ) -> Iterator[ReadEntry | Problem]:
        for summary in summaries:
            name = text_field(summary, "toolCallRoundId")
            sent = [one for each in placed.chain() for one in each.entries]
            last = max((at for at, one in enumerate(sent) if name and one[1] == name), default=-1)
            if last < 0:
                yield Problem(
                    self._line + 1,
                    f"a summary names the round {name[:80]!r}, which is not there: its agent passes"
                    " over it",
                )
                yield self._entry(placed, "unusedSummary", {"summary": summary})
                continue
            first = next((entry for entry, _, is_sent in sent[last + 1 :] if is_sent), "")
            yield self._entry(placed, "summary", {"summary": summary}, first_kept_id=first)

    # entries --------------------------------------------------------------------------------------

    def _entry(
        self,
        placed: _Placed,
        part: str,
        fields: Mapping[str, Any],
        round_id: str = "",
        time: object = None,
        first_kept_id: str = "",
    ) -> ReadEntry:
        """The next entry of a request, below the last one."""
        request_id = text_field(placed.request, "requestId") or "request"
        name = text_field(fields, "toolCallId") or round_id
        wanted = request_id if part == "request" else f"{request_id}/{part}/{name}".rstrip("/")
        entry_id, number = wanted, 1
        while entry_id in self._ids:
            number += 1
            entry_id = f"{wanted}~{number}"
        self._ids.add(entry_id)
        moment = time if time is not None else placed.request.get("timestamp")
        record = {PART: part, "id": entry_id, "time": moment, **fields}
        entry = replace(read_part(record), parent_id=placed.last or None)
        noted: tuple[str, ...] = ()
        if first_kept_id and isinstance(entry.body, CompactionSummary):
            noted = ("first_kept_id",)
            entry = replace(entry, body=replace(entry.body, first_kept_id=first_kept_id))
        self._line += 1
        if not self._state.lines:
            self._recorded.update(_texts(record))
        placed.entries.append((entry_id, round_id, entry.kind in CONTEXT_KINDS))
        return ReadEntry(entry, orjson.dumps(record).decode(), self._line, self._size, noted)


def _texts(value: object) -> Iterator[str]:
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)


def _round_id(placed: _Placed, round_: Mapping[str, Any], at: int) -> str:
    """What a summary names a round by."""
    return text_field(round_, "id") or f"{text_field(placed.request, 'requestId')}.{at}"


def _ending_fields(request: Request) -> dict[str, Any]:
    """What tells how a request ended, and who answered it."""
    names = ("modelId", "modelState", "isCanceled")
    fields = {name: request[name] for name in names if name in request}
    details = object_field(request, "result").get("errorDetails")
    return {**fields, "result": {"errorDetails": details}} if details else fields


def _usage(request: Request) -> dict[str, Any]:
    """The tokens of a request's last call."""
    result = object_field(request, "result")
    names = ("promptTokens", "outputTokens")
    for place in (object_field(result, "metadata"), result):
        found = {name: place[name] for name in names if place.get(name) is not None}
        if found:
            return found
    return {}
